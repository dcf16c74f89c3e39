//! Kinds of requests that the files of an arm can cause on a volume, where it is simulated.
//! A real engine, and a file system below it, may read, write and flush each of their files.

use std::collections::BTreeMap;

use model::Operation;

use super::known::Known;
use super::mode::{EngineName, PLAIN_IO};
use super::placement::Role;
use super::settings::{Commit, Engine, Parameter, Script, Settings};

/// Whether the volume called `volume` can get requests of this kind.
pub(super) fn can_reach(
    settings: &Settings,
    name: &EngineName,
    known: &dyn Known,
    volume: &str,
    operation: Operation,
) -> bool {
    let mut roles = Role::ALL.into_iter();
    roles.any(|role| {
        let mut files = settings.placement.files(role).iter();
        files.any(|file| file.volume == volume)
            && match &settings.workload.script {
                script @ Script::Profile { .. } => known.records(script, role, operation),
                Script::BuiltIn(_) | Script::Folder(_) if name.as_str() == PLAIN_IO => {
                    role == Role::Data && is_plain(&settings.workload.parameters, operation)
                }
                Script::BuiltIn(_) | Script::Folder(_) if *name == EngineName::SQLITE => {
                    is_of_store(&settings.engine, role, operation)
                }
                Script::BuiltIn(_) | Script::Folder(_) => true,
            }
    })
}

/// Whether plain I/O with these parameters has such requests.
pub(super) fn is_plain(parameters: &BTreeMap<String, Parameter>, operation: Operation) -> bool {
    let reads = match parameters.get("read_percent") {
        Some(Parameter::Integer(percent)) => *percent,
        // It is refused elsewhere.
        Some(Parameter::Number(_) | Parameter::Text(_)) | None => return true,
    };
    let flushes = match parameters.get("sync") {
        Some(Parameter::Text(text)) => text.trim() != "none",
        Some(Parameter::Integer(_) | Parameter::Number(_)) | None => true,
    };
    match operation {
        Operation::Read => reads > 0,
        Operation::Write => reads < 100,
        Operation::Flush => flushes && reads < 100,
    }
}

/// Whether the simulated store has such requests for files of `role`. Its logs are not read, and it flushes nothing else.
fn is_of_store(engine: &Engine, role: Role, operation: Operation) -> bool {
    match (role, operation) {
        (_, Operation::Write) => true,
        (Role::Data | Role::Temp | Role::Undo, Operation::Read) => true,
        (Role::Log | Role::Binlog | Role::Doublewrite, Operation::Read) => false,
        (Role::Log, Operation::Flush) => engine.log_flush && engine.commit == Commit::Durable,
        (Role::Binlog, Operation::Flush) => engine.binlog_sync(),
        (Role::Data | Role::Temp | Role::Undo | Role::Doublewrite, Operation::Flush) => false,
    }
}
