//! The scripts: the values for each template, and why.

use askama::Template;

use super::{Placement, filters, start_up};
use experiment::spec::Role;
use layout::{Folder, README, Script};

/// The scripts that this layout needs.
pub(super) fn all(placement: &Placement<'_>) -> Vec<Script> {
    let mut scripts = vec![
        Script::new(README, &Readme::new(placement)),
        Script::new("0-folders.sh", &Folders { placement }),
    ];
    if placement.tablespaces().next().is_some() {
        let tag = tag(placement.request.database.as_deref().unwrap_or_default());
        scripts.push(Script::new("1-check.sql", &Check { placement, tag }));
        scripts.push(Script::new("2-apply.sql", &Apply { placement }));
        scripts.push(Script::new("3-verify.sql", &Verify { placement }));
        scripts.push(Script::new("undo.sql", &Undo { placement }));
    }
    if let Some(log) = &placement.log {
        scripts.push(Script::new(
            &placement.move_wal(),
            &MoveWal { placement, log },
        ));
        scripts.push(Script::new("undo-wal.sh", &UndoWal { placement, log }));
    }
    scripts.extend(start_up::scripts(placement));
    scripts
}

/// The order, what can go wrong, and how to roll back.
#[derive(Template)]
#[template(path = "layout/readme.md")]
struct Readme<'a> {
    placement: &'a Placement<'a>,
    /// Whether several files of a role were requested on one volume.
    several: bool,
    /// A volume of data or log that comes back empty.
    lost: Option<&'a String>,
}

/// Source: <https://www.postgresql.org/docs/current/sql-createtablespace.html>, read 2026-11: the directory must exist,
/// be empty, and belong to the server's user.
#[derive(Template)]
#[template(path = "layout/folders.sh", escape = "none")]
struct Folders<'a> {
    placement: &'a Placement<'a>,
}

/// Stops where a precondition fails, and changes nothing.
#[derive(Template)]
#[template(path = "layout/check.sql", escape = "none")]
struct Check<'a> {
    placement: &'a Placement<'a>,
    tag: String,
}

/// `ALTER SYSTEM` and tablespaces cannot run in a transaction.
#[derive(Template)]
#[template(path = "layout/apply.sql", escape = "none")]
struct Apply<'a> {
    placement: &'a Placement<'a>,
}

#[derive(Template)]
#[template(path = "layout/verify.sql", escape = "none")]
struct Verify<'a> {
    placement: &'a Placement<'a>,
}

/// A tablespace can only be dropped when it is empty, including temporary files.
#[derive(Template)]
#[template(path = "layout/undo.sql", escape = "none")]
struct Undo<'a> {
    placement: &'a Placement<'a>,
}

/// Moves the write-ahead log to another volume: a symbolic link, created while the server is stopped.
///
/// Source: <https://www.postgresql.org/docs/current/wal-internals.html>, read 2026-11.
#[derive(Template)]
#[template(path = "layout/move-wal.sh", escape = "none")]
struct MoveWal<'a> {
    placement: &'a Placement<'a>,
    log: &'a Folder,
}

#[derive(Template)]
#[template(path = "layout/undo-wal.sh", escape = "none")]
struct UndoWal<'a> {
    placement: &'a Placement<'a>,
    log: &'a Folder,
}

impl<'a> Readme<'a> {
    fn new(placement: &'a Placement<'a>) -> Readme<'a> {
        let several = Role::COMMON.iter().any(|role| {
            let files = placement.request.files(*role);
            let volumes: std::collections::BTreeSet<_> =
                files.iter().map(|file| &file.volume).collect();
            placement.request.has(*role) && files.len() > volumes.len()
        });
        let roles = [Role::Data, Role::Log];
        let roles = roles
            .into_iter()
            .filter(|role| placement.request.has(*role));
        let mut kept = roles
            .flat_map(|role| placement.request.files(role))
            .map(|file| &file.volume);
        let lost = kept.find(|volume| placement.request.ephemeral.contains(*volume));
        Readme {
            placement,
            several,
            lost,
        }
    }
}

/// A dollar quote that does not occur in a database's name, which may contain any.
fn tag(name: &str) -> String {
    let tags = (0..).map(|number| format!("$check{number}$"));
    let mut free = tags.filter(|tag| !name.contains(tag.as_str()));
    free.next().expect("there is always another number")
}
