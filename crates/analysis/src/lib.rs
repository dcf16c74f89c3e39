//! What the records of trials say.
//!
//! Nothing here runs a trial or knows a server.

pub mod statistics;
