//! Database workloads: folders of data, and their script language.
//!
//! A script is read once into a [`Script`], in which every variable is a numbered slot; an engine then runs it through the
//! [`Driver`] it implements. Nothing here depends on an engine.
//!
//! ```
//! use workload::{Dialect, Workload};
//!
//! let trade = Workload::builtin("trade", Dialect::SQLITE).expect("it is built in");
//! assert!(!trade.about.is_empty());
//! ```

/// The embedded workloads.
mod builtin;
/// Its files as a value.
mod carried;
/// A workload, resolved and checked.
mod definition;
/// Errors in a workload.
mod error;
/// Expressions of `\set` and `\if`.
pub mod expression;
/// From a folder to a [`Workload`].
mod folder;
/// Scripts: statements, branches, waits.
pub mod script;
/// The file format of SQLQueryStress's settings.
mod settings_file;
/// Settings and single SQL files of SQLQueryStress users.
mod sqlquerystress;
/// How a workload that is a single query file runs.
mod stress;
mod suggest;
/// Numbers, texts and NULL.
mod value;
/// Variables: names at reading time, slots at run time.
mod variables;
/// The file format of `workload.toml`.
mod wire;

pub use carried::Files;
pub use definition::{
    Claim, Database, LOOP_COUNT, LOOP_FIRST, Length, Load, OperationKind, ParameterUse, Run,
    RunLength, Setting, Tables, Weighted, Workload,
};
pub use error::WorkloadError;
pub use products::Dialect;
pub use script::{
    Branch, Command, Driver, ExecutionError, Pause, PauseUnit, Script, ScriptError, ScriptProblem,
    Statement,
};
pub use stress::{ParameterQuery, Stress};
pub use value::Value;
pub use variables::{BUILTIN_VARIABLES, Names, Slot, Variables};

#[cfg(test)]
mod tests;
