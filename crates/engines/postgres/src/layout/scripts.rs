//! The scripts: the values for each template, and why.

use askama::Template;

use super::placement::Placement;
use super::{filters, start_up};
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
    if let Some(new) = &placement.whole {
        scripts.push(Script::new(
            &placement.move_data(),
            &MoveData { placement, new },
        ));
        scripts.push(Script::new("undo-data.sh", &UndoData { placement, new }));
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
    /// The steps back, each as a reader runs it.
    back: Vec<&'static str>,
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

/// Moves the data directory to another volume: a symbolic link, created while the server is stopped, so that no setting and no
/// unit has to name another path.
///
/// Source: <https://www.postgresql.org/docs/current/backup-file.html>, read 2026-11: a copy of the whole directory is usable where
/// the server was shut down.
#[derive(Template)]
#[template(path = "layout/move-data.sh", escape = "none")]
struct MoveData<'a> {
    placement: &'a Placement<'a>,
    new: &'a Folder,
}

#[derive(Template)]
#[template(path = "layout/undo-data.sh", escape = "none")]
struct UndoData<'a> {
    placement: &'a Placement<'a>,
    new: &'a Folder,
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
        let back = [
            (
                placement.forgetting().next().is_some(),
                "`systemctl disable dbstow-postgres-temp.service`, as root",
            ),
            (
                placement.tablespaces().next().is_some(),
                "`psql -f undo.sql`",
            ),
            (placement.whole.is_some(), "`undo-data.sh`, as root"),
            (placement.log.is_some(), "`undo-wal.sh`, as root"),
        ];
        let back = back.into_iter().filter(|(is_needed, _)| *is_needed);
        Readme {
            placement,
            several,
            lost,
            back: back.map(|(_, step)| step).collect(),
        }
    }
}

/// A dollar quote that does not occur in a database's name, which may contain any.
fn tag(name: &str) -> String {
    let tags = (0..).map(|number| format!("$check{number}$"));
    let mut free = tags.filter(|tag| !name.contains(tag.as_str()));
    free.next().expect("there is always another number")
}
