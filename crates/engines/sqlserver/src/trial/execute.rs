//! Executes our own statements, and reports the remedy if one fails.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::Duration;

use crate::session::{Batch, Driver, Failure, Session};

use engine::EngineError;

/// A statement that was not executed.
#[derive(Debug)]
pub(crate) struct Refusal {
    /// The failure of the server or the connection, if any.
    pub(crate) failure: Option<Failure>,
    /// The human-readable error, with the remedy.
    pub(crate) error: EngineError,
}

impl From<EngineError> for Refusal {
    fn from(error: EngineError) -> Refusal {
        Refusal {
            failure: None,
            error,
        }
    }
}

impl From<Refusal> for EngineError {
    fn from(refusal: Refusal) -> EngineError {
        refusal.error
    }
}

/// Executes one of our own statements.
pub(crate) fn execute(
    session: &mut dyn Session,
    statement: &impl ToString,
) -> Result<(), EngineError> {
    Ok(try_execute(session, statement)?)
}

/// As [`execute`], but returns the refusal.
pub(crate) fn try_execute(
    session: &mut dyn Session,
    statement: &impl ToString,
) -> Result<(), Refusal> {
    let text = statement.to_string();
    let done = session.batch(&text, None).and_then(Batch::refused);
    done.map(|_| ()).map_err(|failure| Refusal {
        error: EngineError::failed(first_line(statement), in_words(&failure)),
        failure: Some(failure),
    })
}

/// Executes one of our own statements, cancelled when the run ends: creating a large file may take minutes. The next statement on
/// the session may be cancelled as well: undo changes on another one.
pub(crate) fn try_execute_until(
    interrupted: &AtomicBool,
    session: &mut Driver,
    statement: &impl ToString,
) -> Result<(), Refusal> {
    if interrupted.load(Ordering::Relaxed) {
        return Err(EngineError::failed(first_line(statement), INTERRUPTED_BEFORE).into());
    }
    let canceller = session.canceller();
    let (under_way, ended) = mpsc::channel::<()>();
    thread::scope(|scope| {
        scope.spawn(move || {
            while ended.recv_timeout(LOOK_EVERY) == Err(RecvTimeoutError::Timeout) {
                if interrupted.load(Ordering::Relaxed) {
                    canceller.cancel();
                }
            }
        });
        let done = try_execute(session, statement);
        drop(under_way);
        done
    })
}

/// Polling interval for the end of the run.
const LOOK_EVERY: Duration = Duration::from_millis(50);

const INTERRUPTED_BEFORE: &str = "not executed: interrupted";

/// A statement as shown in messages.
fn first_line(statement: &impl ToString) -> String {
    let text = statement.to_string();
    match text.split_once('\n') {
        Some((first, _)) => format!("{first} .."),
        None => text,
    }
}

/// The failure as text, with the remedy.
pub(crate) fn in_words(failure: &Failure) -> String {
    if *failure == Failure::Cancelled {
        return "interrupted; SQL Server rolls back what this statement did".to_owned();
    }
    let text = failure.to_string();
    let remedy = failure.number().and_then(|number| remedy(number, &text));
    match remedy {
        Some(remedy) => format!("{text}; {remedy}"),
        None => text,
    }
}

const FULL: &str = "the volume is full: make room, or give smaller files";

/// The remedy for errors with files and names. Source: Microsoft, "Database engine events and errors" and "System error
/// codes" (read 2026-11).
fn remedy(number: u32, text: &str) -> Option<&'static str> {
    match number {
        // For the operating system's reason; here ERROR_DISK_FULL, and ENOSPC.
        5123 | 5133 | 5149
            if ["error 112(", "error 28("]
                .iter()
                .any(|full| text.contains(full)) =>
        {
            Some(FULL)
        }
        5123 | 5133 | 5149 => Some(
            "the directory has to be there, as the server sees it, and the account of its service needs full control \
             of it (icacls DIR /grant \"ACCOUNT:(OI)(CI)F\"; on Linux chown mssql:mssql DIR)",
        ),
        1101 | 1105 | 9002 => Some(FULL),
        3702 => Some("end its sessions (KILL); the next run on this server drops it then"),
        2555 | 5042 | 5054 => Some(
            "restart the server and run this first: a file that is unused since the start is empty",
        ),
        5170 => Some("a file of that name already exists: check what uses it, and move it away"),
        208 => Some(
            "a trial's database holds what its workload loads: put its database before the name of a table that is there \
             already (DATABASE.SCHEMA.TABLE), or load it (load.scripts in workload.toml)",
        ),
        262 | 300 | 297 | 229 | 5011 | 15247 => {
            Some("`dbstow doctor` says which permission is missing")
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use crate::session::{Message, Scripted};

    use super::*;

    fn refused(number: u32, text: &str) -> String {
        let message = Message {
            number,
            class: 16,
            state: 1,
            line: 1,
            text: text.to_owned(),
        };
        in_words(&Failure::Refused(vec![message]))
    }

    #[test]
    fn a_refusal_is_told_with_what_helps_against_its_reason() {
        for (number, text, remedy) in [
            (
                5123,
                "operating system error 112(There is not enough space on the disk.)",
                "make room",
            ),
            (
                5123,
                "operating system error 28(No space left on device)",
                "make room",
            ),
            (
                5123,
                "operating system error 5(Access is denied.)",
                "full control",
            ),
            (
                5133,
                "operating system error 3(The system cannot find the path specified.)",
                "has to be there",
            ),
            (
                5149,
                "MODIFY FILE encountered operating system error 112(..)",
                "make room",
            ),
            (
                5170,
                "Cannot create file 'D:\\a.mdf' because it already exists.",
                "move it away",
            ),
            (
                262,
                "CREATE DATABASE permission denied in database 'master'.",
                "dbstow doctor",
            ),
            (
                208,
                "Invalid object name 'Customers'.",
                "DATABASE.SCHEMA.TABLE",
            ),
        ] {
            let words = refused(number, text);
            assert!(words.contains(text) && words.contains(remedy), "{words}");
        }
        assert!(refused(1205, "deadlock").ends_with("deadlock"));
    }

    #[test]
    fn of_a_long_statement_the_first_line_is_told() {
        let mut session = Scripted::default();
        let error = execute(&mut session, &"CREATE DATABASE [a]\nON PRIMARY (..)");
        let text = error.expect_err("nothing is scripted").to_string();
        assert!(text.starts_with("CREATE DATABASE [a] ..: "), "{text}");
    }
}
