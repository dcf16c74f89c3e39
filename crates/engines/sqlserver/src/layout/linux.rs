//! Linux scripts for a move: folders and permissions, a restart, a rollback for a service that does not start, and
//! folders that are recreated on an empty disk.

use askama::Template;

use super::filters;
use super::placement::Placement;
use super::service::Service;
use layout::Folder;
use layout::Script;

/// Access only for the service's user.
#[derive(Template)]
#[template(path = "layout/linux/folders.sh", escape = "none")]
struct Folders<'a> {
    folders: &'a [Folder],
}

#[derive(Template)]
#[template(path = "layout/linux/restart.sh", escape = "none")]
struct Restart<'a> {
    service: &'a Service,
}

#[derive(Template)]
#[template(path = "layout/linux/rescue.sh", escape = "none")]
struct Rescue<'a> {
    service: &'a Service,
}

/// A unit that creates the folders before the service starts; the service does not start without them.
///
/// Source: systemd.unit(5), `RequiresMountsFor=`, `Before=`, `RequiredBy=`.
#[derive(Template)]
#[template(path = "layout/linux/dbstow-folders.service", escape = "none")]
struct StartUp<'a> {
    folders: &'a [Folder],
    unit: String,
}

/// The script that creates folders; `prefix` begins its name.
pub(super) fn folders(prefix: &str, folders: &[Folder]) -> Script {
    Script::new(&format!("{prefix}0-folders.sh"), &Folders { folders })
}

/// Everything except the folders.
pub(super) fn scripts(placement: &Placement<'_>) -> Vec<Script> {
    let service = &placement.service;
    let mut scripts = vec![
        Script::new("3-restart.sh", &Restart { service }),
        Script::new("rescue.sh", &Rescue { service }),
    ];
    if !placement.ephemeral.is_empty() {
        let name = &service.name;
        let name = name.strip_suffix(".service").unwrap_or(name);
        let start_up = StartUp {
            folders: &placement.ephemeral,
            unit: format!("{name}.service"),
        };
        scripts.push(Script::new("dbstow-folders.service", &start_up));
    }
    scripts
}
