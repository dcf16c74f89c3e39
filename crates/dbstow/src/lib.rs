//! Finds out where a database's files should live: temp space, data and log; on which disks, in how many
//! files.
//!
//! The modules stand in the order in which data flows through them, and import only what stands before
//! them (and the wire types of [`record`] and [`findings`]).

// What was asked, and what there is to ask for.
pub mod catalogue;
pub mod spec;
pub mod workload;

// What will be done.
pub mod plan;

// Carrying it out.
pub mod engine;
pub mod trial;

// What a volume of one's own is like.
pub mod calibrate;

// What happened, and what that says.
pub mod findings;
pub mod lint;
pub mod quantity;
pub mod record;
pub mod report;
pub mod results;

// What follows from it on a server.
pub mod layout;

// What a user types.
pub mod command;
pub mod inventory;
