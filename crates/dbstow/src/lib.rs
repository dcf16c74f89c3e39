//! Finds out where a database's files should live: temp space, data and log; on which disks, in how many
//! files.
//!
//! The modules stand in the order in which data flows through them, and import only what stands before
//! them (and the wire types of [`record`] and [`findings`]).

// What was asked, and what there is to ask for.
pub mod spec;
pub mod catalogue;
pub mod workload;

// Carrying it out.
pub mod engine;
pub mod record;
pub mod trial;

// What it says.
pub mod stats;
pub mod findings;
pub mod quantity;
pub mod report;

// What a user types.
pub mod command;
