//! Executes the statements of a move of tempdb, handling Ctrl-C, harmless errors, and errors that require another restart.

use crate::session::{Driver, Failure};
use crate::tsql::{Name, Size, Statement, question};

use super::OBSERVER;
use crate::capture;
use crate::trial::execute::{Refusal, try_execute};
use crate::trial::restart::{Awaited, By, Way};
use crate::trial::run::ServerRun;
use engine::EngineError;

/// Maximum number of restarts to remove files that were used again.
const RESTARTS_MAX: u32 = 2;

/// Page headers in tempdb that a shrink left in an odd state while something used it: "Table error .. contains an
/// incorrect page ID in its page header". It is not damage, and the next start recreates all files.
///
/// Source: Microsoft, "Shrink the tempdb database" (read 2026-11).
const PAGE_HEADER: u32 = 8909;

/// A file to be removed is in use: 2555 its contents cannot be moved to the others, 5042 it is not empty, 5054 it has cached
/// worktables.
///
/// Source: Microsoft, "Database engine events and errors" (read 2026-11).
const IN_USE: [u32; 3] = [2555, 5042, 5054];

/// Executes statements in order, on a separate connection.
pub(crate) fn execute(
    run: &ServerRun,
    statements: &[Statement],
    way: Way,
) -> Result<(), EngineError> {
    Ok(attempt(run, statements, way)?)
}

/// Executes statements after a restart. A file to be removed may have been used since; then the server is restarted once more,
/// after which the file is empty.
pub(crate) fn execute_after_restart(
    run: &ServerRun,
    statements: &[Statement],
    awaited: Awaited<'_>,
) -> Result<(), EngineError> {
    for _ in 0..RESTARTS_MAX {
        match attempt(run, statements, awaited.way) {
            Err(refusal) if is_in_use(&refusal.failure) => {
                let what = format!(
                    "{}: the file was used after the restart; restart the server again, and it is removed at once",
                    refusal.error
                );
                if let By::Command(_) = run.restart().by {
                    run.restart().say(&what);
                }
                run.restart().execute(run.to_restore(), &what, awaited)?;
            }
            done => return Ok(done?),
        }
    }
    Ok(attempt(run, statements, awaited.way)?)
}

fn attempt(run: &ServerRun, statements: &[Statement], way: Way) -> Result<(), Refusal> {
    let mut session = run.to_restore().connect(OBSERVER).map_err(Refusal::from)?;
    for statement in statements {
        let done = match way {
            Way::There => run.try_execute(&mut session, statement),
            Way::Back => try_execute(&mut session, statement),
        };
        let Err(refusal) = done else { continue };
        match shrunk(statement) {
            Some((file, size))
                if is_page_header(&refusal.failure) && is_at_most(&mut session, file, size)? =>
            {
                run.restart().say(&format!(
                    "{}: the file was shrunk all the same, and the next start makes it anew",
                    refusal.error
                ));
            }
            Some(_) | None => return Err(refusal),
        }
    }
    Ok(())
}

fn is_in_use(failure: &Option<Failure>) -> bool {
    let number = failure.as_ref().and_then(Failure::number);
    number.is_some_and(|number| IN_USE.contains(&number))
}

/// Whether this is the only error.
fn is_page_header(failure: &Option<Failure>) -> bool {
    let Some(Failure::Refused(errors)) = failure else {
        return false;
    };
    errors.iter().all(|error| error.number == PAGE_HEADER)
}

/// The file and size that a statement shrinks to.
fn shrunk(statement: &Statement) -> Option<(&Name, Size)> {
    match statement {
        Statement::Shrink { file, size } => Some((file, *size)),
        Statement::If { then, .. } => shrunk(then),
        Statement::Use(_)
        | Statement::Create(_)
        | Statement::Alter { .. }
        | Statement::Drop(_)
        | Statement::Checkpoint
        | Statement::DropCleanBuffers
        | Statement::Empty { .. }
        | Statement::MaxServerMemory { .. } => None,
    }
}

/// Whether a tempdb file in use has at most this size.
fn is_at_most(session: &mut Driver, file: &Name, size: Size) -> Result<bool, EngineError> {
    let sizes = capture::read(session, &question::TEMPDB_IN_USE, |row| {
        Ok((row.word("name")?, row.count("size_pages")?))
    });
    let sizes = sizes.map_err(|error| EngineError::failed("look at tempdb's files", error))?;
    let name = file.text();
    let same = |(known, _): &&(String, i64)| known.eq_ignore_ascii_case(name);
    let known = sizes.iter().find(same);
    Ok(known
        .is_some_and(|(_, pages)| u64::try_from(*pages).is_ok_and(|pages| pages <= size.pages())))
}

#[cfg(test)]
mod tests {
    use crate::session::Message;

    use super::*;

    fn refused(numbers: &[u32]) -> Option<Failure> {
        let message = |number: &u32| Message {
            number: *number,
            class: 16,
            state: 1,
            line: 1,
            text: String::new(),
        };
        Some(Failure::Refused(numbers.iter().map(message).collect()))
    }

    #[test]
    fn page_headers_are_no_failure_where_nothing_else_is_said() {
        assert!(is_page_header(&refused(&[8909, 8909])));
        // 2501: the file was not shrunk.
        assert!(!is_page_header(&refused(&[8909, 2501])));
        assert!(!is_page_header(&Some(Failure::Timeout)));
        assert!(!is_page_header(&None));
    }
}
