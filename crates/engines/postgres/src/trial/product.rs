//! PostgreSQL's servers, as processes.

use model::Bytes;
use nix::sys::signal::Signal;

use engine::EngineError;
use engine::managed_server::{self, Owner, Product};

/// A PostgreSQL server. `SIGINT` is a fast shutdown, which ends all sessions first; `SIGQUIT` an immediate one, which is
/// forwarded to all its processes:
/// <https://www.postgresql.org/docs/16/server-shutdown.html>, read 2026-11-25.
pub(crate) static POSTGRESQL: Product = Product {
    name: "PostgreSQL",
    process: "postgres",
    users: ["postgres", "nobody"],
    shut_down: Signal::SIGINT,
    quit: Signal::SIGQUIT,
    memory: Bytes::mib(64),
    cause,
    tells_of_crash: |line| line.contains("PANIC"),
    has_statement,
};

/// The user that a private server must run as: PostgreSQL refuses root, so root needs another user; `postgres` if it exists,
/// `nobody` otherwise. `None`: dbstow's own user.
///
/// # Errors
/// When running as root and no other user exists.
pub fn owner() -> Result<Option<Owner>, EngineError> {
    managed_server::owner(&POSTGRESQL)
}

/// The user that a private server must run as on untrusted files: as [`owner`], but preferring `nobody`, which does not own
/// databases of this machine as `postgres` may.
///
/// # Errors
/// As [`owner`].
#[cfg(target_os = "linux")]
pub fn least_owner() -> Result<Option<Owner>, EngineError> {
    managed_server::least_owner(&POSTGRESQL)
}

/// Why a server cannot continue, if a log line says so; ignores its messages to clients that connect too early.
fn cause(line: &str) -> Option<String> {
    let words = ["PANIC:", "FATAL:"].into_iter();
    let at = words.filter_map(|word| line.find(word)).min()?;
    let is_early = line.contains("the database system is ");
    (!is_early).then(|| line[at..].split_whitespace().collect::<Vec<_>>().join(" "))
}

/// Whether a line is of `log_min_duration_statement` or `log_statement`, or continues a message.
fn has_statement(line: &str) -> bool {
    let of_one = [
        "LOG:  duration: ",
        "LOG:  statement: ",
        "LOG:  execute ",
        "DETAIL:  parameters: ",
        "DETAIL:  Parameters: ",
        "DETAIL:  prepare: ",
    ];
    line.starts_with('\t') || of_one.iter().any(|part| line.contains(part))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_or_a_fatal_error_is_a_cause_and_a_client_that_came_too_early_is_none() {
        assert_eq!(cause("1 FATAL:  the database system is starting up"), None);
        let no_space = cause("2 PANIC:  no space");
        assert_eq!(no_space.as_deref(), Some("PANIC: no space"));
        assert_eq!(cause("3 FATAL:  gone").as_deref(), Some("FATAL: gone"));
        assert_eq!(cause("LOG:  all is well"), None);
    }

    #[test]
    fn statements_are_told_from_what_a_server_says_of_itself() {
        assert!(has_statement(
            "1 LOG:  duration: 0.1 ms  statement: SELECT 'PANIC:'"
        ));
        assert!(has_statement("\tFROM t"));
        assert!(has_statement("1 DETAIL:  Parameters: $1 = '7'"));
        assert!(!has_statement(
            "1 LOG:  server process (PID 7) was terminated by signal 9"
        ));
        assert!(!has_statement("1 PANIC:  could not write"));
    }
}
