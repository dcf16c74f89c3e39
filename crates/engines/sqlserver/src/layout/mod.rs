//! Scripts that move tempdb, create a database, or set the files of a managed instance.

mod changes;
mod check;
mod database;
mod drives;
#[cfg(any(test, feature = "examples"))]
mod examples;
mod files;
mod filters;
mod linux;
mod managed;
mod mount_point;
mod placement;
mod readme;
mod service;
mod steps;
mod target;
mod windows;

use std::collections::BTreeMap;

use crate::lint::tempdb_files_advised;
use crate::tsql::tempdb::{PresentError, TempdbError};
use crate::tsql::{NameError, PathError, SizeError};
use experiment::spec::Role;
use layout::{CaptureFile, LayoutError, LayoutProvider, LayoutRequest, Moves, Platform, Script};
use placement::Placement;
use target::Target;

#[cfg(any(test, feature = "examples"))]
pub use examples::examples;

/// SQL Server to `dbstow layout`.
#[derive(Clone, Copy, Debug)]
pub struct Layout;

impl LayoutProvider for Layout {
    fn name(&self) -> &'static str {
        "sqlserver"
    }

    fn product(&self) -> &'static str {
        "SQL Server"
    }

    fn about(&self) -> &'static str {
        "SQL Server 2016 or later, and Azure SQL Managed Instance"
    }

    fn roles(&self) -> &'static [Role] {
        &Role::COMMON
    }

    /// Existing databases are moved by hand.
    fn moves(&self) -> Moves {
        Moves {
            roles: &[Role::Temp],
            what: Some("tempdb"),
            arguments: &["--role", "temp", "--size", "SIZE"],
            temp_files_max: tempdb_files_advised(i64::MAX) as u32,
            needs_server: true,
        }
    }

    fn unused(&self) -> &'static [(&'static str, &'static str)] {
        &[(
            "--data-directory",
            " is of a PostgreSQL server; leave it out, or add --engine postgres",
        )]
    }

    fn scripts(
        &self,
        request: &LayoutRequest,
        capture: Option<&CaptureFile>,
    ) -> Result<Vec<Script>, LayoutError> {
        scripts(request, &Target::new(capture, request)?)
    }

    fn on_drives(
        &self,
        request: &LayoutRequest,
        places: &BTreeMap<String, String>,
    ) -> Result<Vec<Script>, LayoutError> {
        drives::scripts(request, places)
    }
}

macro_rules! mistakes {
    ($($error:ty),*) => {
        $(impl From<$error> for LayoutError {
            fn from(error: $error) -> LayoutError {
                LayoutError::Impossible(error.to_string())
            }
        })*
    };
}
mistakes!(NameError, PathError, PresentError, SizeError, TempdbError);

fn scripts(request: &LayoutRequest, target: &Target) -> Result<Vec<Script>, LayoutError> {
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
