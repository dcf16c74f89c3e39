//! Who may log in to a private server, and where: files and settings of its run directory.
//!
//! ```text
//!   /tmp/dbstow-AbC123/
//!       pg_hba.conf       permits only the user `dbstow`, and only ..
//!       pg_ident.conf     .. for the operating system user that dbstow runs as
//!       postgresql.conf   empty: for servers on an untrusted data directory
//!       socket/           the server's
//! ```
//!
//! Source: <https://www.postgresql.org/docs/18/auth-peer.html> and
//! <https://www.postgresql.org/docs/18/auth-username-maps.html>, read 2026-11-21.

use std::path::PathBuf;
use std::sync::Arc;

use host::orphans::Registration;

use crate::trial::product::POSTGRESQL;
use engine::EngineError;
use engine::managed_server::{Owner, RunDirectory, own_name};

/// The superuser of a private server, and the map of users that leads to it.
pub(crate) const USER: &str = "dbstow";

const LOGINS: &str = "pg_hba.conf";

const NAMES: &str = "pg_ident.conf";

const SETTINGS: &str = "postgresql.conf";

/// Creates the run directory of a server that runs as `owner`.
pub(crate) fn run_directory(
    registration: &Arc<Registration>,
    owner: Option<Owner>,
) -> Result<RunDirectory, EngineError> {
    run_directory_for(registration, owner, &[])
}

/// The same, where these roles may log in too.
pub(crate) fn run_directory_for(
    registration: &Arc<Registration>,
    owner: Option<Owner>,
    roles: &[&str],
) -> Result<RunDirectory, EngineError> {
    let own = own_name(&POSTGRESQL)?;
    let (mut logins, mut names) = (String::new(), String::new());
    for role in [USER].iter().chain(roles) {
        // A slash would begin an expression, and a plus a group.
        let is_name = |c: char| !c.is_control() && !"/+\"".contains(c);
        if !role.chars().all(is_name) {
            return Err(EngineError::failed(
                "let a user in",
                format!("{role:?} is not a plain name"),
            ));
        }
        logins += &format!("local all {} peer map={USER}\n", quoted(role));
        names += &format!("{USER} {} {}\n", quoted(&own), quoted(role));
    }
    let files = [(LOGINS, logins), (NAMES, names), (SETTINGS, String::new())];
    RunDirectory::make(registration, owner, &files)
}

/// Where the server listens.
pub(crate) fn socket(run: &RunDirectory) -> PathBuf {
    run.socket_directory().join(".s.PGSQL.5432")
}

/// Settings that the server must be started with.
pub(crate) fn settings(run: &RunDirectory) -> [(&'static str, String); 6] {
    let file = |name: &str| run.path().join(name).display().to_string();
    let socket = run.socket_directory().display().to_string();
    [
        ("listen_addresses", String::new()),
        ("unix_socket_directories", quoted(&socket)),
        ("unix_socket_permissions", "0700".to_owned()),
        ("port", "5432".to_owned()),
        ("hba_file", file(LOGINS)),
        ("ident_file", file(NAMES)),
    ]
}

/// The setting that keeps the server from reading settings from its data directory, except `postgresql.auto.conf`.
pub(crate) fn settings_file(run: &RunDirectory) -> (String, String) {
    let file = run.path().join(SETTINGS).display().to_string();
    ("config_file".to_owned(), file)
}

/// Quotes a value that may contain a blank or a comma for PostgreSQL's files and lists.
fn quoted(text: &str) -> String {
    format!("\"{}\"", text.replace('"', "\"\""))
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::MetadataExt;

    use nix::unistd::geteuid;

    use super::*;

    #[test]
    fn who_may_log_in_is_not_for_the_server_to_change() {
        let registration = Arc::new(Registration::new().unwrap());
        let owner = geteuid().is_root().then_some((65_534, 65_534));

        let run = run_directory(&registration, owner).unwrap();

        for name in ["pg_hba.conf", "pg_ident.conf", "postgresql.conf"] {
            let found = fs::symlink_metadata(run.path().join(name)).unwrap();
            let wanted = if owner.is_some() { 0o640 } else { 0o600 };
            assert_eq!(found.mode() & 0o7777, wanted);
            assert_eq!(found.uid(), geteuid().as_raw());
        }
        drop(run);
        registration.finish().unwrap();
    }

    #[test]
    fn names_are_quoted_as_postgresql_does() {
        assert_eq!(quoted("a b"), "\"a b\"");
        assert_eq!(quoted("a\"b"), "\"a\"\"b\"");
    }
}
