//! Before a run: writes and, for a cold start, evicts the buffer pool, and verifies it.

use crate::capture::{self, Product, TEMPDB};
use crate::session::{Driver, Session};
use crate::tsql::{Name, Statement};

use crate::trial::run::ServerRun;
use engine::EngineError;

/// Maximum size of a database still in memory: system tables are read again by the verification itself.
const LEFT_BYTES_MAX: i64 = 16 << 20;

/// Writes the dirty pages of `databases`. A checkpoint affects the current database, and a manual one writes those of tempdb too,
/// which automatic ones do not.
///
/// Source: Randal, "What does checkpoint do for tempdb?" (sqlskills.com, read 2026-11).
pub(crate) fn checkpoint(
    run: &ServerRun,
    session: &mut Driver,
    databases: [&Name; 2],
) -> Result<(), EngineError> {
    for database in databases {
        run.execute(session, &Statement::Use(database.clone()))?;
        if let Err(error) = run.execute(session, &Statement::Checkpoint) {
            // In tempdb it requires a permission that a database creator may lack: remaining pages are counted when the pool is
            // emptied.
            let ours = database.text() != "tempdb";
            if ours || run.restart().is_interrupted() || !session.is_usable() {
                return Err(error);
            }
        }
    }
    Ok(())
}

/// Empties the buffer pool. Returns what could not be done.
pub(crate) fn empty(
    run: &ServerRun,
    session: &mut Driver,
    database: i64,
) -> Result<Vec<String>, EngineError> {
    let statement = Statement::DropCleanBuffers;
    if let Err(error) = run.execute(session, &statement) {
        if run.restart().is_interrupted() || !session.is_usable() {
            return Err(error);
        }
        let remedy = match (run.product(), run.major()) {
            (Product::AzureDatabase, _) => {
                "ALTER SERVER ROLE ##MS_ServerStateManager## ADD MEMBER [login]"
            }
            (_, 16..) => "GRANT ALTER SERVER STATE TO [login]",
            (_, _) => "it takes a member of sysadmin",
        };
        return Ok(vec![format!(
            "the buffer pool was not emptied ({error}): {remedy}; until then take data that is at least four times \
             the server's memory"
        )]);
    }
    let pools = capture::buffer_pool(session);
    let pools = pools.map_err(|error| EngineError::failed("look into the buffer pool", error))?;
    let left: i64 = pools
        .iter()
        .filter(|pool| pool.database_id == database || pool.database_id == TEMPDB)
        .map(|pool| pool.bytes)
        .sum();
    if left <= LEFT_BYTES_MAX {
        return Ok(Vec::new());
    }
    Ok(vec![format!(
        "{} MiB of the run's pages were still in the buffer pool after it was emptied: something else uses them",
        left >> 20
    )])
}
