//! What Windows has to do for a move: folders and rights, a restart, a way back for a service that does not
//! start, and folders that come back with an empty disk.

use askama::Template;

use super::super::Script;
use super::super::folder::Folder;
use super::super::quote as filters;
use super::kit::Kit;
use super::service::Service;

/// A service's own account (`NT SERVICE\..`) is among those of the service, whichever account it runs as.
///
/// Source: <https://learn.microsoft.com/sql/database-engine/configure-windows/configure-file-system-permissions-for-database-engine-access>,
/// read 2026-11.
#[derive(Template)]
#[template(path = "sqlserver/windows/folders.ps1", escape = "none")]
struct Folders<'a> {
    service: &'a Service,
    folders: &'a [Folder],
}

/// The Agent depends on the service: it is stopped with it, and started again if it ran.
#[derive(Template)]
#[template(path = "sqlserver/windows/restart.ps1", escape = "none")]
struct Restart<'a> {
    service: &'a Service,
}

/// Source: <https://learn.microsoft.com/sql/relational-databases/databases/move-system-databases> (failure
/// recovery), read 2026-11.
#[derive(Template)]
#[template(path = "sqlserver/windows/rescue.cmd", escape = "none")]
struct Rescue<'a> {
    service: &'a Service,
}

/// Makes the folders and then starts the service, which no longer starts by itself.
#[derive(Template)]
#[template(path = "sqlserver/windows/start-up.ps1", escape = "none")]
struct StartUp<'a> {
    service: &'a Service,
    folders: &'a [Folder],
    drives: Vec<String>,
}

/// A task at start-up runs it.
#[derive(Template)]
#[template(path = "sqlserver/windows/start-up-register.ps1", escape = "none")]
struct Register<'a> {
    service: &'a Service,
}

/// The script that makes folders; `prefix` begins its name.
pub(super) fn folders(prefix: &str, service: &Service, folders: &[Folder]) -> Script {
    let template = Folders { service, folders };
    Script::new(&format!("{prefix}0-folders.ps1"), &template)
}

/// Everything but the folders.
pub(super) fn scripts(kit: &Kit<'_>) -> Vec<Script> {
    let service = &kit.service;
    let mut scripts = vec![
        Script::new("3-restart.ps1", &Restart { service }),
        Script::new("rescue.cmd", &Rescue { service }),
    ];
    if !kit.ephemeral.is_empty() {
        let start_up = StartUp {
            service,
            folders: &kit.ephemeral,
            drives: kit.ephemeral.iter().map(drive).collect(),
        };
        scripts.push(Script::new("start-up.ps1", &start_up));
        scripts.push(Script::new("start-up-register.ps1", &Register { service }));
    }
    scripts
}

fn drive(folder: &Folder) -> String {
    let before = folder.text().split('\\').next().unwrap_or_default();
    format!("{before}\\")
}
