//! A real MariaDB on plain directories, for tests.

use std::path::Path;
use std::process::Command;

use engine::EngineError;
use experiment::spec::Settings;
use host::site::Site;
use mariadb::{self, MariaDb, Programs};
use workload::{Dialect, Workload};

use crate::private::Private;
use crate::server::Folders;

/// The programs; `None`, with a message, on a machine without them.
pub fn programs() -> Option<Programs> {
    crate::or_skip(Programs::find(None))
}

/// MariaDB's private server.
pub struct PrivateMariaDb;

impl Private for PrivateMariaDb {
    const ENGINE: &'static str = "mariadb";
    const PRODUCT: &'static str = "MariaDB";
    const READY: &'static str = "ready for connections";
    const DIALECT: Dialect = Dialect::MARIADB;

    type Server = MariaDb;

    fn start(
        site: &Folders,
        settings: &Settings,
        workload: &Workload,
    ) -> Option<Result<MariaDb, EngineError>> {
        let programs = programs()?;
        let owner = mariadb::owner().expect("a user for MariaDB");
        let asked = (site as &dyn Site, settings, workload);
        Some(MariaDb::private(
            &programs,
            owner,
            &site.registration,
            asked,
        ))
    }

    fn process(server: &MariaDb) -> Option<u32> {
        server.process()
    }
}

/// A server for an experiment on two volumes.
pub fn start(site: &Folders, settings: &Settings, workload: &Workload) -> Option<MariaDb> {
    let made = PrivateMariaDb::start(site, settings, workload)?;
    Some(made.unwrap_or_else(|error| panic!("{error}")))
}

/// What `mariadb` answers on a socket: a line a row, columns with tabs between them.
pub fn query(socket: &Path, sql: &str) -> Vec<String> {
    let output = Command::new("mariadb")
        .args(["--no-defaults", "--batch", "--skip-column-names", "--raw"])
        .arg(format!("--socket={}", socket.display()))
        .args(["--execute", sql])
        .output()
        .expect("mariadb starts");
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{sql}: {error}");
    let text = String::from_utf8(output.stdout).expect("UTF-8");
    text.lines().map(str::to_owned).collect()
}
