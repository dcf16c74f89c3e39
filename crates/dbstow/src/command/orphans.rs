//! What killed runs left: mounts, directories, servers.

use anyhow::{Context, Result};
use host::orphans;

use super::output::note;

/// Removes what killed runs left behind, and reports it.
///
/// # Errors
/// When the state directory cannot be used.
pub(super) fn clear() -> Result<()> {
    let cleared = orphans::clear().context("looking for what killed runs left")?;
    for what in cleared.done {
        note(&format!("dbstow: a run was killed; {what}"));
    }
    for what in cleared.failed {
        note(&format!("dbstow: a run was killed; {what}"));
    }
    Ok(())
}
