//! Recreates what is missing from a disk that is empty after a stop: folders of temporary tablespaces, before the server
//! starts.

use askama::Template;

use super::filters;
use super::placement::{Placement, Tablespace};
use layout::Script;

/// Restores the tablespaces, or removes them from use.
///
/// Sources, read 2026-11: <https://www.postgresql.org/docs/current/storage-file-layout.html> (`pg_tblspc`, the folder `PG_..` in a
/// tablespace), `src/include/catalog/pg_control.h` of PostgreSQL (where the catalog's version is),
/// <https://www.postgresql.org/docs/current/config-setting.html> (`postgresql.auto.conf`).
#[derive(Template)]
#[template(path = "layout/restore-temp.sh", escape = "none")]
struct Restore<'a> {
    placement: &'a Placement<'a>,
    /// Names of all temporary tablespaces, with a space before and after each.
    all: String,
    /// Those on persistent volumes, as `temp_tablespaces` lists them.
    kept: String,
}

/// Runs it before the server. The server does not require it: it also starts without its temporary tablespaces.
///
/// Source: systemd.unit(5), `Wants=`, `Before=`, `WantedBy=`; systemd.service(5), the prefixes `-` and `+`.
#[derive(Template)]
#[template(path = "layout/dbstow-postgres-temp.service", escape = "none")]
struct Unit<'a> {
    placement: &'a Placement<'a>,
}

/// Both, where a volume is volatile.
pub(super) fn scripts(placement: &Placement<'_>) -> Vec<Script> {
    if placement.forgetting().next().is_none() {
        return Vec::new();
    }
    let names = |forgets: &[bool]| -> Vec<&str> {
        let of = placement.temp.iter();
        let of = of.filter(|tablespace| forgets.contains(&tablespace.forgets));
        of.map(|tablespace| tablespace.name.as_str()).collect()
    };
    let restore = Restore {
        placement,
        all: format!(" {} ", names(&[true, false]).join(" ")),
        kept: names(&[false]).join(", "),
    };
    vec![
        Script::new("restore-temp.sh", &restore),
        Script::new("dbstow-postgres-temp.service", &Unit { placement }),
    ]
}

impl Placement<'_> {
    /// Temporary tablespaces whose folders are lost after a stop.
    pub(super) fn forgetting(&self) -> impl Iterator<Item = &Tablespace> {
        self.temp.iter().filter(|tablespace| tablespace.forgets)
    }

    /// Units of the mounts that their folders may be on.
    fn mounts(&self) -> Vec<String> {
        let mut mounts: Vec<String> = self
            .forgetting()
            .flat_map(|tablespace| tablespace.folder.mount_units())
            .collect();
        mounts.sort();
        mounts.dedup();
        mounts
    }

    /// Units that start the server. Debian's `postgresql.service` starts nothing itself: `postgresql@VERSION-CLUSTER` does,
    /// before it.
    ///
    /// Source: `postgresql@.service` of Debian's postgresql-common, read 2026-11.
    pub(super) fn units(&self) -> Vec<String> {
        let service = self.service.strip_suffix(".service");
        let service = service.unwrap_or(&self.service);
        let cluster = self
            .data_directory
            .text()
            .strip_prefix("/var/lib/postgresql/")
            .and_then(|rest| rest.split_once('/'))
            .filter(|(version, name)| {
                let plain = |letter: char| letter.is_ascii_alphanumeric() || letter == '_';
                !name.is_empty()
                    && version.chars().all(|letter| letter.is_ascii_digit())
                    && name.chars().all(plain)
            });
        let mut units = vec![format!("{service}.service")];
        if let ("postgresql", Some((version, name))) = (service, cluster) {
            units.push(format!("postgresql@{version}-{name}.service"));
        }
        units
    }
}
