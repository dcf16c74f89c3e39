//! MariaDB's servers, as processes.

use model::Bytes;
use nix::sys::signal::Signal;

use engine::EngineError;
use engine::managed_server::{self, Owner, Product};

/// A MariaDB server. `SIGTERM` is a shutdown with all written; `SIGQUIT` would be the same, so that it is killed where its
/// files are not needed any more: <https://mariadb.com/docs/server/server-management/starting-and-stopping-mariadb/what-to-do-if-mariadb-doesnt-start>,
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
};

/// As whom a private server has to run: MariaDB refuses root, so that root needs another; `mysql` where there is such a
/// user, `nobody` otherwise. `None`: as whom dbstow runs itself.
///
/// # Errors
/// When it is root and there is no other user.
pub fn owner() -> Result<Option<Owner>, EngineError> {
    managed_server::owner(&MARIADB)
}

/// Why a server cannot go on, where a line says so.
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
