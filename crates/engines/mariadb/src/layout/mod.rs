//! Scripts that move MariaDB's files on Linux to other volumes, role by role, and back.
//!
//! The scripts query the current file locations when they run, so that a set fits any server of these releases: names of
//! binary logs, files of the system tablespace, the user. Only the targets are decided here.

mod placement;

use askama::Template;

use experiment::spec::Role;
use layout::quote as filters;
use layout::{CaptureFile, LayoutError, LayoutProvider, LayoutRequest, Moves, README, Script};
use placement::Placement;

/// Undo tablespaces of a server that has none: MariaDB 11's default.
/// Source: <https://mariadb.com/docs/reference/mdb/system-variables/innodb_undo_tablespaces/>, read 2026-11-25.
const UNDO_TABLESPACES: u32 = 3;

/// MariaDB to `dbstow layout`.
#[derive(Clone, Copy, Debug)]
pub struct Layout;

impl LayoutProvider for Layout {
    fn name(&self) -> &'static str {
        "mariadb"
    }

    fn product(&self) -> &'static str {
        "MariaDB"
    }

    fn about(&self) -> &'static str {
        "MariaDB 10.6 to 11.8 on Linux"
    }

    fn roles(&self) -> &'static [Role] {
        &Role::ALL
    }

    /// The data directory moves as a whole, and every other role has one place.
    fn roles_of_volumes(&self) -> &'static [Role] {
        self.roles()
    }

    /// The scripts query the server for the location of its files.
    fn moves(&self) -> Moves {
        Moves {
            roles: &Role::COMMON,
            what: None,
            arguments: &["--role", "data,temp,log"],
            temp_files_max: 1,
            needs_server: false,
        }
    }

    fn unused(&self) -> &'static [(&'static str, &'static str)] {
        const OF_SIZES: &str =
            " is of SQL Server's files; MariaDB has no such setting for its own: leave it out";
        &[
            (
                "--capture",
                ": the scripts for MariaDB use no capture; leave it out: 1-check.sh asks the server where its files are, and \
                 what is in the way",
            ),
            ("--size", OF_SIZES),
            ("--log-size", OF_SIZES),
            ("--growth", OF_SIZES),
            ("--allow-fewer-files", OF_SIZES),
        ]
    }

    fn scripts(
        &self,
        request: &LayoutRequest,
        _: Option<&CaptureFile>,
    ) -> Result<Vec<Script>, LayoutError> {
        request.check_linux(self.product())?;
        request.check_folders()?;
        let placement = &Placement::new(request)?;
        let mut scripts = vec![
            Script::new(README, &Readme { placement }),
            Script::new("places.sh", &PlacesScript { placement }),
            Script::new("system.sh", &System),
            Script::new("1-check.sh", &Check),
            Script::new("2-apply.sh", &Apply),
            Script::new("undo.sh", &Undo),
            Script::new("dbstow-places.conf", &DropIn { placement }),
        ];
        if !placement.homes().is_empty() {
            scripts.push(Script::new("dbstow-home.conf", &Home { placement }));
        }
        if !placement.ephemeral().is_empty() {
            scripts.push(Script::new(
                "dbstow-mariadb-folders.service",
                &StartUp { placement },
            ));
        }
        Ok(scripts)
    }
}

/// The order, what can go wrong, and how to roll back.
///
/// Sources, read 2026-11-25: <https://dev.mysql.com/doc/refman/8.0/en/innodb-redo-log.html>,
/// <https://dev.mysql.com/doc/refman/8.0/en/innodb-doublewrite-buffer.html>,
/// <https://docs.oracle.com/cd/E17952_01/mysql-9.0-en/innodb-undo-tablespaces.html>,
/// <https://dev.mysql.com/doc/en/innodb-moving-data-files-offline.html>,
/// <https://dev.mysql.com/doc/en/innodb-temporary-tablespace.html>,
/// <https://dev.mysql.com/blog-archive/new-consistency-for-datafile-locations-in-mysql-8-0-21/>. What MariaDB does with undo tablespaces after a
/// slow shutdown, and with `ALTER TABLE .. DATA DIRECTORY`, was seen on 10.11.19.
#[derive(Template)]
#[template(path = "layout/readme.md", escape = "none")]
struct Readme<'a> {
    placement: &'a Placement<'a>,
}

/// The targets of files, and what the scripts share.
///
/// Sources, read 2026-11-25: index and names of binary logs (`.idx` since 11.4)
/// <https://mariadb.com/kb/en/activating-the-binary-log/>; `tmpdir` and where a replica needs its files after a restart
/// <https://dev.mysql.com/doc/en/temporary-files.html>.
#[derive(Template)]
#[template(path = "layout/places.sh", escape = "none")]
struct PlacesScript<'a> {
    placement: &'a Placement<'a>,
}

/// Labels, profiles and units for the new folders.
///
/// Source of the label: <https://dev.mysql.com/doc/en/selinux-file-context.html>, read 2026-11-25: binary logs have it
/// too, `mysqld_log_t` is for error logs.
#[derive(Template)]
#[template(path = "layout/system.sh", escape = "none")]
struct System;

/// Stops where a precondition fails, and changes nothing.
#[derive(Template)]
#[template(path = "layout/check.sh", escape = "none")]
struct Check;

#[derive(Template)]
#[template(path = "layout/apply.sh", escape = "none")]
struct Apply;

#[derive(Template)]
#[template(path = "layout/undo.sh", escape = "none")]
struct Undo;

/// Orders mounts first, and grants write access.
///
/// Source: <https://mariadb.com/docs/server/server-management/starting-and-stopping-mariadb/systemd/configuring>, read 2026-11-25;
/// systemd.unit(5), `RequiresMountsFor=`; systemd.exec(5), `ReadWritePaths=`.
#[derive(Template)]
#[template(path = "layout/dbstow-places.conf", escape = "none")]
struct DropIn<'a> {
    placement: &'a Placement<'a>,
}

/// `ProtectHome=no` would expose all home directories to the server.
#[derive(Template)]
#[template(path = "layout/dbstow-home.conf", escape = "none")]
struct Home<'a> {
    placement: &'a Placement<'a>,
}

/// Creates folders before the server starts; the server does not start without them.
#[derive(Template)]
#[template(path = "layout/dbstow-mariadb-folders.service", escape = "none")]
struct StartUp<'a> {
    placement: &'a Placement<'a>,
}
