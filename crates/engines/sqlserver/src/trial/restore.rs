//! Restoring what runs changed on a server: from their journal, at the start of the next run, at the end of a trial,
//! and at the end of the run.

use crate::session::Driver;

use super::OBSERVER;
use crate::trial::run::ServerRun;
use crate::trial::tempdb;
use engine::EngineError;

/// Restores the changes of a killed run; this may end `session`.
///
/// # Errors
/// The first change that could not be restored.
pub(crate) fn earlier(run: &ServerRun, mut session: Driver) -> Result<(), EngineError> {
    match all(run, &mut session).into_iter().next() {
        None => Ok(()),
        Some(left) => Err(EngineError::failed(
            "put back what an earlier run changed on the server",
            left,
        )),
    }
}

/// Restores everything at the end of a run. Returns what could not be restored.
pub(crate) fn close(run: &ServerRun) -> Vec<String> {
    if run.journal().changes().is_empty() {
        return Vec::new();
    }
    let rescue = run.rescue();
    let answers = run.restart().revive(run.to_restore(), run.awaited(&rescue));
    match answers.and_then(|()| run.to_restore().connect(OBSERVER)) {
        Ok(mut session) => all(run, &mut session),
        Err(error) => vec![format!(
            "{error}; the original state is in {}, and the next run on this server restores it",
            run.journal().path().display()
        )],
    }
}

/// Moves tempdb off volumes that are removed with the trial.
pub(crate) fn leave_volumes(run: &ServerRun) -> Result<(), EngineError> {
    match run.is_on_volumes() {
        true => tempdb::put_back(run),
        false => Ok(()),
    }
}

/// Restores the changes in the journal. Returns what could not be restored.
fn all(run: &ServerRun, session: &mut Driver) -> Vec<String> {
    let changes = run.journal().changes().clone();
    let mut left = Vec::new();
    for name in &changes.databases {
        left.extend(run.drop_database(session, name).err());
    }
    if let Some(mib) = changes.memory_mib {
        left.extend(run.set_memory(session, mib).err());
    }
    if !changes.tempdb.is_empty() {
        left.extend(tempdb::put_back(run).err().map(|error| error.to_string()));
    }
    left
}
