//! Scripts for SQL Server.

mod changes;
mod check;
mod database;
mod files;
mod linux;
mod managed;
mod placement;
mod readme;
mod service;
mod steps;
mod windows;

use placement::Placement;

use super::{LayoutError, LayoutRequest, Platform, Script, Target};
use experiment::spec::Role;

/// All scripts for what is requested.
pub(super) fn scripts(
    request: &LayoutRequest,
    target: &Target,
) -> Result<Vec<Script>, LayoutError> {
    match target.on {
        Platform::AzureSqlDatabase => Err(LayoutError::Impossible(NO_FILES.to_owned())),
        Platform::ManagedInstance => managed::scripts(request, target),
        Platform::Windows | Platform::Linux => {
            request.check_folders()?;
            boxed(request, target)
        }
    }
}

const NO_FILES: &str = "Azure SQL Database has no files to place: neither tempdb nor data nor log. What \
    changes its I/O there is the service objective (ALTER DATABASE .. MODIFY (SERVICE_OBJECTIVE = ..)) or the \
    tier (General Purpose has remote storage, Business Critical a local SSD); `dbstow disks` lists what they do";

fn boxed(request: &LayoutRequest, target: &Target) -> Result<Vec<Script>, LayoutError> {
    let mut scripts = Vec::new();
    if request.has(Role::Temp) {
        let placement = Placement::new(request, target)?;
        scripts.push(readme::tempdb(&placement));
        scripts.push(match target.on {
            Platform::Linux => linux::folders("", &placement.fresh),
            Platform::Windows | Platform::ManagedInstance | Platform::AzureSqlDatabase => {
                windows::folders("", &placement.service, &placement.fresh, &placement.raw)
            }
        });
        scripts.push(check::script(&placement));
        scripts.extend(steps::scripts(&placement));
        scripts.extend(match target.on {
            Platform::Linux => linux::scripts(&placement),
            Platform::Windows | Platform::ManagedInstance | Platform::AzureSqlDatabase => {
                windows::scripts(&placement)
            }
        });
    }
    if request.has(Role::Data) {
        scripts.extend(database::scripts(request, target)?);
    } else if request.has(Role::Log) && !request.has(Role::Temp) {
        return Err(LayoutError::Impossible(
            "a log alone is of no database; add --role temp for tempdb's log, or --role data and --database \
             for a new database"
                .to_owned(),
        ));
    }
    Ok(scripts)
}
