//! Generates scripts that apply a placement on a server, and scripts that roll it back. Nothing here runs them.
//!
//! ```text
//! arm, folders ──► LayoutRequest ─┐
//!                                 ├─► sqlserver: tempdb, a new database, a managed instance ─► scripts, README
//! capture ──► Target ─────────────┼─► postgres: tablespaces, the write-ahead log            ─► scripts, README
//!                                 └─► mariadb: every role's files, my.cnf, systemd          ─► scripts, README
//! ```
//!
//! [`job`] does the same for the trials of a plan: scripts that run them on a cluster.
//!
//! The texts are files in `templates`, which look like the scripts; the code here decides the values, and `quote` how
//! they are quoted.

mod error;
#[cfg(any(test, feature = "examples"))]
mod examples;
mod folder;
pub mod job;
mod mariadb;
mod platform;
mod postgres;
mod quote;
mod request;
mod sqlserver;
mod target;

use askama::Template;

pub use error::LayoutError;
#[cfg(any(test, feature = "examples"))]
pub use examples::examples;
pub use folder::{Folder, Style};
pub use platform::Platform;
pub use request::LayoutRequest;
pub use target::Target;

/// The file to read first.
const README: &str = "README.md";

/// A file of a set, most of them scripts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Script {
    /// Its name.
    pub name: String,
    /// Its text, ending in a line feed.
    pub text: String,
}

impl Script {
    /// Renders a template of `templates` in the encoding that files of this name need: `cmd` wants carriage returns, and
    /// Windows PowerShell reads UTF-8 only behind a byte order mark.
    fn new(name: &str, template: &impl Template) -> Script {
        let text = template.render().expect("a template of texts and numbers") + "\n";
        let text = match name.rsplit_once('.') {
            Some((_, "cmd")) => text.replace('\n', "\r\n"),
            Some((_, "ps1")) if !text.is_ascii() => format!("\u{feff}{text}"),
            Some(_) | None => text,
        };
        Script {
            name: name.to_owned(),
            text,
        }
    }
}

/// Which database product the scripts are for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Engine {
    /// SQL Server 2016 or later, and Azure SQL Managed Instance
    #[default]
    Sqlserver,
    /// PostgreSQL on Linux
    Postgres,
    /// MariaDB 10.6 to 11.8 on Linux
    Mariadb,
}

/// All scripts for what is requested, the README first.
///
/// # Errors
/// When such a server does not support it, or too little about it is known.
pub fn scripts(
    engine: Engine,
    request: &LayoutRequest,
    target: &Target,
) -> Result<Vec<Script>, LayoutError> {
    let mut scripts = match engine {
        Engine::Sqlserver => sqlserver::scripts(request, target)?,
        Engine::Postgres => postgres::scripts(request, target)?,
        Engine::Mariadb => mariadb::scripts(request, target)?,
    };
    scripts.sort_by_key(|script| (script.name != README, script.name.clone()));
    Ok(scripts)
}
