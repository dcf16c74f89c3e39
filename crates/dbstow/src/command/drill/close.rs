//! The end of a drill.

use drill::Tools;

use crate::command::output::note;

/// Removes what a drill created, and reports what cannot be removed.
pub(super) fn close(tools: &Tools) {
    if let Err(left) = tools.finish() {
        note(&format!("dbstow: left behind: {}", left.join("; ")));
    }
}
