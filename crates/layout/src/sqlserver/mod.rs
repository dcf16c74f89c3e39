//! Scripts for SQL Server.

mod changes;
mod check;
mod database;
mod files;
mod kit;
mod linux;
mod managed;
mod readme;
mod service;
mod steps;
mod windows;

use kit::Kit;

use super::{LayoutError, LayoutRequest, Platform, Script, Target};
use experiment::spec::Role;

/// All scripts for what is wished.
pub(super) fn scripts(wish: &LayoutRequest, target: &Target) -> Result<Vec<Script>, LayoutError> {
    match target.on {
        Platform::AzureSqlDatabase => Err(LayoutError::Impossible(NO_FILES.to_owned())),
        Platform::ManagedInstance => managed::scripts(wish, target),
        Platform::Windows | Platform::Linux => {
            wish.check_folders()?;
            boxed(wish, target)
        }
    }
}

const NO_FILES: &str = "Azure SQL Database has no files to place: neither tempdb nor data nor log. What \
    changes its I/O there is the service objective (ALTER DATABASE .. MODIFY (SERVICE_OBJECTIVE = ..)) or the \
    tier (General Purpose has remote storage, Business Critical a local SSD); `dbstow disks` lists what they do";

fn boxed(wish: &LayoutRequest, target: &Target) -> Result<Vec<Script>, LayoutError> {
    let mut scripts = Vec::new();
    if wish.has(Role::Temp) {
        let kit = Kit::new(wish, target)?;
        scripts.push(readme::tempdb(&kit));
        scripts.push(match target.on {
            Platform::Linux => linux::folders("", &kit.fresh),
            Platform::Windows | Platform::ManagedInstance | Platform::AzureSqlDatabase => {
                windows::folders("", &kit.service, &kit.fresh, &kit.raw)
            }
        });
        scripts.push(check::script(&kit));
        scripts.extend(steps::scripts(&kit));
        scripts.extend(match target.on {
            Platform::Linux => linux::scripts(&kit),
            Platform::Windows | Platform::ManagedInstance | Platform::AzureSqlDatabase => {
                windows::scripts(&kit)
            }
        });
    }
    if wish.has(Role::Data) {
        scripts.extend(database::scripts(wish, target)?);
    } else if wish.has(Role::Log) && !wish.has(Role::Temp) {
        return Err(LayoutError::Impossible(
            "a log alone is of no database; add --role temp for tempdb's log, or --role data and --database \
             for a new database"
                .to_owned(),
        ));
    }
    Ok(scripts)
}
