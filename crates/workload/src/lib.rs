//! What is asked of a database: workloads as folders of data, and the script language they are in.
//!
//! A script is read once into a [`Script`], in which every variable is a numbered slot; an engine
//! then runs it through the [`Driver`] it implements. Nothing here knows an engine.

/// The workloads inside the program.
mod builtin;
/// Its files as a value.
mod carried;
/// What a workload is, resolved and checked.
mod definition;
/// Whose SQL scripts are in.
mod dialect;
/// What can be wrong with a workload.
mod error;
/// Expressions of `\set` and `\if`.
pub mod expression;
/// From a folder to a [`Workload`].
mod folder;
/// Scripts: statements, branches, waits.
pub mod script;
/// A settings file of SQLQueryStress as it stands.
mod settings_file;
/// Settings and single SQL files of SQLQueryStress users.
mod sqlquerystress;
/// How a query runs that is a file by itself.
mod stress;
mod suggest;
/// Numbers, texts and NULL.
mod value;
/// Variables: names at reading time, slots at run time.
mod variables;
/// `workload.toml` as it stands in the file.
mod wire;

pub use carried::Files;
pub use definition::{
    Claim, Database, LOOP_COUNT, LOOP_FIRST, Length, Load, OperationKind, ParameterUse, Run,
    RunLength, Setting, Tables, Weighted, Workload,
};
pub use dialect::Dialect;
pub use error::WorkloadError;
pub use script::{
    Branch, Command, Driver, ExecutionError, Pause, PauseUnit, Script, ScriptError, ScriptProblem,
    Statement,
};
pub use stress::{ParameterQuery, Stress};
pub use value::Value;
pub use variables::{BUILTIN_VARIABLES, Names, Slot, Variables};

#[cfg(test)]
mod tests;
