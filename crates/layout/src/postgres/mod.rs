//! Scripts for PostgreSQL on Linux: tablespaces for temporary space and data, another directory for the
//! write-ahead log.
//!
//! PostgreSQL has no number of files to choose: a role has one tablespace a volume. Temporary files take the
//! tablespaces in turn; a table lives in one.

mod check;
mod readme;
mod wal;

use std::collections::BTreeSet;

use super::folder::{Folder, Style};
use super::quote::{line, sh};
use super::{LayoutError, LayoutRequest, Platform, Script, Target};
use experiment::spec::Role;

/// A tablespace to be.
struct Tablespace {
    name: String,
    folder: Folder,
}

/// What is laid out.
struct Kit<'a> {
    wish: &'a LayoutRequest,
    temp: Vec<Tablespace>,
    data: Vec<Tablespace>,
    /// Where the write-ahead log goes, and where the server's data is.
    log: Option<(Folder, Folder)>,
    service: String,
}

/// Data directory of Debian's packages, with the newest version that dbstow drives.
const DATA_DIRECTORY: &str = "/var/lib/postgresql/18/main";

/// All scripts for what is wished.
pub(super) fn scripts(wish: &LayoutRequest, target: &Target) -> Result<Vec<Script>, LayoutError> {
    if target.on != Platform::Linux {
        return Err(LayoutError::Impossible(format!(
            "the scripts for PostgreSQL are for Linux, and this is {}; give folders of Linux, and no --on",
            target.on
        )));
    }
    wish.check_folders()?;
    let kit = Kit::new(wish)?;
    let mut scripts = vec![readme::script(&kit), folders(&kit)];
    if !kit.temp.is_empty() || !kit.data.is_empty() {
        scripts.push(check::script(&kit));
        scripts.push(apply(&kit));
        scripts.push(check::verify(&kit));
        scripts.push(undo(&kit));
    }
    if let Some((folder, directory)) = &kit.log {
        scripts.extend(wal::scripts(&kit.service, folder, directory));
    }
    Ok(scripts)
}

impl<'a> Kit<'a> {
    fn new(wish: &'a LayoutRequest) -> Result<Kit<'a>, LayoutError> {
        let of = |role: Role| match wish.has(role) {
            true => tablespaces(wish, role),
            false => Ok(Vec::new()),
        };
        if wish.database.is_some() && !wish.has(Role::Data) {
            return Err(LayoutError::Database(
                "--database is about data; add --role data, or leave it out".to_owned(),
            ));
        }
        if let Some(name) = wish.database.as_ref().filter(|name| !is_name(name)) {
            return Err(LayoutError::Database(format!(
                "--database {name:?}: PostgreSQL has names of 1 to {NAME_MAX} bytes; give one, without control characters"
            )));
        }
        let directory = wish.data_directory.as_deref().unwrap_or(DATA_DIRECTORY);
        let directory = Folder::new(directory, Style::Unix).map_err(|why| LayoutError::Folder {
            volume: "the data directory".to_owned(),
            folder: directory.to_owned(),
            why,
        })?;
        let log = match (wish.has(Role::Log), wish.log.first()) {
            (true, Some(file)) => {
                let folder = wish.folder(&file.volume, Style::Unix)?;
                let folder = Folder::new(&folder.file("pg_wal"), Style::Unix)
                    .expect("a folder in a folder is one");
                Some((folder, directory))
            }
            (_, _) => None,
        };
        let service = wish.service.clone().unwrap_or("postgresql".to_owned());
        let allowed = |letter: char| letter.is_ascii_alphanumeric() || "@._:-".contains(letter);
        if !service.chars().all(allowed) {
            return Err(LayoutError::Impossible(format!(
                "\"{service}\" is no unit of systemd; give --service postgresql, or postgresql@18-main"
            )));
        }
        Ok(Kit {
            wish,
            temp: of(Role::Temp)?,
            data: of(Role::Data)?,
            log,
            service,
        })
    }

    fn tablespaces(&self) -> impl Iterator<Item = &Tablespace> {
        self.temp.iter().chain(&self.data)
    }
}

/// One for each volume of a role: a folder of its own in the volume's.
fn tablespaces(wish: &LayoutRequest, role: Role) -> Result<Vec<Tablespace>, LayoutError> {
    let mut seen = BTreeSet::new();
    let mut all = Vec::new();
    for file in wish.files(role) {
        if !seen.insert(&file.volume) {
            continue;
        }
        let folder = wish.folder(&file.volume, Style::Unix)?;
        if folder.text().contains('\'') {
            return Err(LayoutError::Folder {
                volume: file.volume.clone(),
                folder: folder.text().to_owned(),
                why: "PostgreSQL allows no ' in a tablespace's path; give another folder"
                    .to_owned(),
            });
        }
        let name = format!("dbstow_{role}_{}", all.len() + 1);
        let folder = folder.file(&name);
        let folder = Folder::new(&folder, Style::Unix).expect("a folder in a folder is one");
        all.push(Tablespace { name, folder });
    }
    Ok(all)
}

/// `0-folders.sh`.
///
/// Source: <https://www.postgresql.org/docs/current/sql-createtablespace.html>, read 2026-11: the directory
/// has to be there, empty, and the server's own.
fn folders(kit: &Kit<'_>) -> Script {
    let mut text = String::from(
        "#!/bin/sh\n# Makes the folders for the server's user. Run as root.\nset -eu\n",
    );
    for tablespace in kit.tablespaces() {
        text += &install(&tablespace.folder);
    }
    if let Some((folder, _)) = &kit.log {
        text += &install(folder);
    }
    Script::new("0-folders.sh", text)
}

fn install(folder: &Folder) -> String {
    format!(
        "install -d -o postgres -g postgres -m 0700 -- {}\n",
        sh(folder.text())
    )
}

/// `2-apply.sql`. `ALTER SYSTEM` and tablespaces take no transaction.
fn apply(kit: &Kit<'_>) -> Script {
    let mut text = format!("-- {}\n\\set ON_ERROR_STOP on\n", line(&kit.wish.title));
    for Tablespace { name, folder } in kit.tablespaces() {
        text += &format!(
            "CREATE TABLESPACE {name} LOCATION {};\n",
            literal(folder.text())
        );
    }
    if !kit.temp.is_empty() {
        text += "\n-- Sorts, hashes and temporary tables of everybody; who may not use a tablespace stays where it was.\n";
        for Tablespace { name, .. } in &kit.temp {
            text += &format!("GRANT CREATE ON TABLESPACE {name} TO PUBLIC;\n");
        }
        let names: Vec<&str> = kit.temp.iter().map(|space| space.name.as_str()).collect();
        text += &format!(
            "ALTER SYSTEM SET temp_tablespaces = {};\n",
            names.join(", ")
        );
        text += "SELECT pg_reload_conf();\n";
    }
    if let (Some(database), Some(first)) = (&kit.wish.database, kit.data.first()) {
        text += &format!(
            "\n-- Copies all of it, while nobody is connected to it.\nALTER DATABASE {} SET TABLESPACE {};\n",
            identifier(database),
            first.name
        );
    }
    Script::new("2-apply.sql", text)
}

/// `undo.sql`. A tablespace goes only when it is empty, also of temporary files.
fn undo(kit: &Kit<'_>) -> Script {
    let mut text = String::from(
        "-- The way back. A tablespace goes only when nothing is in it: sessions that use temporary files have to end.\n\
         \\set ON_ERROR_STOP on\n",
    );
    if !kit.temp.is_empty() {
        text += "ALTER SYSTEM RESET temp_tablespaces;\nSELECT pg_reload_conf();\n";
    }
    if let (Some(database), false) = (&kit.wish.database, kit.data.is_empty()) {
        let database = identifier(database);
        text += &format!("ALTER DATABASE {database} SET TABLESPACE pg_default;\n");
    }
    for Tablespace { name, .. } in kit.tablespaces() {
        text += &format!("DROP TABLESPACE IF EXISTS {name};\n");
    }
    Script::new("undo.sql", text)
}

/// Longest name in bytes: `NAMEDATALEN` less one.
///
/// Source: <https://www.postgresql.org/docs/current/limits.html>, read 2026-11.
const NAME_MAX: usize = 63;

fn is_name(name: &str) -> bool {
    (1..=NAME_MAX).contains(&name.len()) && !name.chars().any(char::is_control)
}

/// A name that PostgreSQL takes as it is.
fn identifier(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}

/// A text that PostgreSQL takes as it is, whatever `standard_conforming_strings` says.
fn literal(text: &str) -> String {
    let quoted = text.replace('\'', "''");
    match text.contains('\\') {
        true => format!("E'{}'", quoted.replace('\\', "\\\\")),
        false => format!("'{quoted}'"),
    }
}
