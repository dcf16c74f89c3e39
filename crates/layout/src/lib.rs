//! From a placement to scripts that apply it on a server, and to those that roll it back. Nothing here runs them.
//!
//! ```text
//! arm, folders ──► LayoutRequest ─┐
//!                                 ├─► sqlserver: tempdb, a new database, a managed instance ─► scripts, README
//! capture ──► Target ─────────────┤
//!                                 └─► postgres: tablespaces, the write-ahead log            ─► scripts, README
//! ```

mod error;
mod examples;
mod folder;
mod postgres;
mod quote;
mod request;
mod sqlserver;
mod target;

pub use error::LayoutError;
pub use examples::examples;
pub use folder::{Folder, Style};
pub use request::LayoutRequest;
pub use target::{Platform, Target};

/// What is to be read first.
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
    fn new(name: &str, text: impl Into<String>) -> Script {
        Script {
            name: name.to_owned(),
            text: text.into(),
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
}

/// All scripts for what is wished, the README first.
///
/// # Errors
/// When it cannot be done on such a server, or too little of it is known.
pub fn scripts(
    engine: Engine,
    wish: &LayoutRequest,
    target: &Target,
) -> Result<Vec<Script>, LayoutError> {
    let mut scripts = match engine {
        Engine::Sqlserver => sqlserver::scripts(wish, target)?,
        Engine::Postgres => postgres::scripts(wish, target)?,
    };
    scripts.sort_by_key(|script| (script.name != README, script.name.clone()));
    Ok(scripts)
}
