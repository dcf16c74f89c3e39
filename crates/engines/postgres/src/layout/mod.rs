//! Scripts for PostgreSQL on Linux: tablespaces for temporary space and data, another volume for the data directory and for the
//! write-ahead log.
//!
//! PostgreSQL has no number of files to choose: a role has one tablespace per volume. Temporary files rotate through the
//! tablespaces; a table lives in one. The data directory moves as a whole, unless one database is to move, or data goes to several
//! volumes.

mod filters;
mod placement;
mod scripts;
mod start_up;

use experiment::spec::Role;
use layout::{CaptureFile, LayoutError, LayoutProvider, LayoutRequest, Moves, Script};
use placement::Placement;

/// PostgreSQL to `dbstow layout`.
#[derive(Clone, Copy, Debug)]
pub struct Layout;

impl LayoutProvider for Layout {
    fn name(&self) -> &'static str {
        "postgres"
    }

    fn product(&self) -> &'static str {
        "PostgreSQL"
    }

    fn about(&self) -> &'static str {
        "PostgreSQL on Linux"
    }

    fn roles(&self) -> &'static [Role] {
        &Role::COMMON
    }

    fn moves(&self) -> Moves {
        Moves {
            roles: &Role::COMMON,
            what: None,
            arguments: &["--role", "data,temp,log", "--data-directory", "FOLDER"],
            temp_files_max: 1,
            needs_server: false,
        }
    }

    fn unused(&self) -> &'static [(&'static str, &'static str)] {
        const OF_SIZES: &str =
            " is of SQL Server's files; PostgreSQL has no such setting for its own: leave it out";
        &[
            (
                "--capture",
                ": the scripts for PostgreSQL use no capture; leave it out: 1-check.sql asks the server what is in the way, \
                 and --data-directory says where its data is",
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
        Ok(scripts::all(&Placement::new(request)?))
    }
}
