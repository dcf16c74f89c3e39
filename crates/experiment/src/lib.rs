//! Experiments, plans, records and results.
//!
//! ```text
//! experiment ──spec──> Spec ──plan──> Plan ──(trials)──> Record ──results──> folder
//! ```
//!
//! An [experiment](spec) is read and checked, a [plan] decides all that it leaves open, a [record] has the results of one trial,
//! and a [results] folder holds both. Nothing here runs a trial.

// What is asked.
pub mod build;
pub mod kind;
pub mod question;
pub mod spec;

// What will be done.
pub mod plan;
pub mod shell;

// What happened.
pub mod record;
pub mod results;

#[cfg(any(test, feature = "examples"))]
pub mod examples;
