//! MariaDB's servers, as processes.

use model::Bytes;
use nix::sys::signal::Signal;

use engine::EngineError;
use engine::managed_server::{self, Owner, Product};

/// A MariaDB server. `SIGTERM` is a clean shutdown; `SIGQUIT` would be the same, so it is killed if its files are no longer
/// needed:
/// <https://mariadb.com/docs/server/server-management/starting-and-stopping-mariadb/what-to-do-if-mariadb-doesnt-start>,
/// read 2026-11-25.
pub(crate) static MARIADB: Product = Product {
    name: "MariaDB",
    process: "mariadbd",
    users: ["mysql", "nobody"],
    shut_down: Signal::SIGTERM,
    quit: Signal::SIGKILL,
    // 10.11 grew to 220 MB with 16 MiB of buffers and as many of Aria's, and was killed at a limit of 192 MiB.
    memory: Bytes::mib(256),
    cause,
    tells_of_crash: |line| line.contains("got signal"),
    // Those are in logs of their own.
    has_statement: |_| false,
};

/// The user that a private server must run as: MariaDB refuses root, so root needs another user; `mysql` if it exists, `nobody`
/// otherwise. `None`: dbstow's own user.
///
/// # Errors
/// When running as root and no other user exists.
pub fn owner() -> Result<Option<Owner>, EngineError> {
    managed_server::owner(&MARIADB)
}

/// The user for files of unknown origin, who owns least: `nobody`.
///
/// # Errors
/// As for [`owner`].
#[cfg(target_os = "linux")]
pub(crate) fn least_owner() -> Result<Option<Owner>, EngineError> {
    managed_server::least_owner(&MARIADB)
}

/// Why a server cannot continue, if a log line says so.
fn cause(line: &str) -> Option<String> {
    let (_, said) = line.split_once("[ERROR] ")?;
    Some(said.split_whitespace().collect::<Vec<_>>().join(" "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_is_a_cause_and_a_note_is_none() {
        let line = "2026-11-25 11:05:34 0 [ERROR] mariadbd: Can't  create file";
        assert_eq!(cause(line).as_deref(), Some("mariadbd: Can't create file"));
        assert_eq!(
            cause("2026-11-25 11:05:34 0 [Note] Plugin 'FEEDBACK' is disabled."),
            None
        );
    }
}
