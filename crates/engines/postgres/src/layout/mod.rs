//! Scripts for PostgreSQL on Linux: tablespaces for temporary space and data, another volume for the data directory and for the
//! write-ahead log.
//!
//! PostgreSQL has no number of files to choose: a role has one tablespace per volume. Temporary files rotate through the
//! tablespaces; a table lives in one. The data directory moves as a whole, unless one database is to move, or data goes to several
//! volumes.

mod filters;
mod scripts;
mod start_up;

use std::collections::BTreeSet;

use experiment::spec::Role;
use layout::{
    CaptureFile, Folder, LayoutError, LayoutProvider, LayoutRequest, Moves, Script, Style,
};

/// A tablespace to create.
struct Tablespace {
    name: String,
    folder: Folder,
    /// Whether its volume is empty after the machine was stopped.
    forgets: bool,
}

/// The placement.
struct Placement<'a> {
    request: &'a LayoutRequest,
    temp: Vec<Tablespace>,
    data: Vec<Tablespace>,
    /// Where the whole data directory moves to.
    whole: Option<Folder>,
    /// Where the write-ahead log moves to.
    log: Option<Folder>,
    /// The server's data directory.
    data_directory: Folder,
    service: String,
}

/// Data directory of Debian's packages, for the newest version that dbstow supports.
const DATA_DIRECTORY: &str = "/var/lib/postgresql/18/main";

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

impl<'a> Placement<'a> {
    fn new(request: &'a LayoutRequest) -> Result<Placement<'a>, LayoutError> {
        let whole = whole(request);
        // What shares its volume with the data directory moves with it.
        let is_apart = |role: Role| {
            let mut files = request.files(role).iter();
            request.has(role) && files.any(|file| Some(file.volume.as_str()) != whole)
        };
        let of = |role: Role| match is_apart(role) {
            true => tablespaces(request, role),
            false => Ok(Vec::new()),
        };
        if request.database.is_some() && !request.has(Role::Data) {
            return Err(LayoutError::Database(
                "--database is about data; add --role data, or leave it out".to_owned(),
            ));
        }
        if let Some(name) = request.database.as_ref().filter(|name| !is_name(name)) {
            return Err(LayoutError::Database(format!(
                "--database {name:?}: PostgreSQL has names of 1 to {NAME_MAX} bytes; give one, without control characters"
            )));
        }
        let directory = request.data_directory.as_deref().unwrap_or(DATA_DIRECTORY);
        let data_directory =
            Folder::new(directory, Style::Unix).map_err(|why| LayoutError::Folder {
                volume: "the data directory".to_owned(),
                folder: directory.to_owned(),
                why,
            })?;
        let log = match (is_apart(Role::Log), request.files(Role::Log).first()) {
            (true, Some(file)) => Some(folder_in(request, &file.volume, "pg_wal")?),
            (_, _) => None,
        };
        let service = request.service.clone().unwrap_or("postgresql".to_owned());
        let allowed = |letter: char| letter.is_ascii_alphanumeric() || "@._:-".contains(letter);
        if !service.chars().all(allowed) {
            return Err(LayoutError::Impossible(format!(
                "\"{service}\" is not a unit of systemd; give --service postgresql, or postgresql@18-main"
            )));
        }
        Ok(Placement {
            request,
            temp: of(Role::Temp)?,
            data: of(Role::Data)?,
            whole: whole
                .map(|volume| folder_in(request, volume, "pg_data"))
                .transpose()?,
            log,
            data_directory,
            service,
        })
    }

    fn tablespaces(&self) -> impl Iterator<Item = &Tablespace> {
        self.temp.iter().chain(&self.data)
    }

    /// The script that moves the write-ahead log, numbered by its step: tablespaces take three.
    fn move_wal(&self) -> String {
        format!("{}-move-wal.sh", self.after_tablespaces())
    }

    /// The step after those of tablespaces, counting from the folders, which are step 0.
    fn after_tablespaces(&self) -> usize {
        match self.tablespaces().next() {
            Some(_) => 4,
            None => 1,
        }
    }

    /// The step that moves the data directory: after the log, which is not copied with it then.
    fn move_data_step(&self) -> usize {
        self.after_tablespaces() + usize::from(self.log.is_some())
    }

    /// The script that does.
    fn move_data(&self) -> String {
        format!("{}-move-data.sh", self.move_data_step())
    }

    /// The step that recreates the folders at every start: the last one.
    fn start_up_step(&self) -> usize {
        self.move_data_step() + usize::from(self.whole.is_some())
    }

    /// The database that moves, and its target.
    fn database(&self) -> Option<(&str, &Tablespace)> {
        Some((self.request.database.as_deref()?, self.data.first()?))
    }
}

/// The volume that the whole data directory moves to: the only one of data, where no database is named.
fn whole(request: &LayoutRequest) -> Option<&str> {
    let is_asked = request.has(Role::Data) && request.database.is_none();
    let (first, others) = request.files(Role::Data).split_first()?;
    let is_only = others.iter().all(|file| file.volume == first.volume);
    (is_asked && is_only).then_some(first.volume.as_str())
}

/// The folder `name` in that of a volume.
fn folder_in(request: &LayoutRequest, volume: &str, name: &str) -> Result<Folder, LayoutError> {
    let folder = request.folder(volume, Style::Unix)?;
    let folder = Folder::new(&folder.file(name), Style::Unix);
    Ok(folder.expect("a folder in a folder is one"))
}

/// One tablespace for each volume of a role, in a new folder inside the volume's.
fn tablespaces(request: &LayoutRequest, role: Role) -> Result<Vec<Tablespace>, LayoutError> {
    let mut seen = BTreeSet::new();
    let mut all = Vec::new();
    for file in request.files(role) {
        if !seen.insert(&file.volume) {
            continue;
        }
        let folder = request.folder(&file.volume, Style::Unix)?;
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
        all.push(Tablespace {
            name,
            folder,
            forgets: request.ephemeral.contains(&file.volume),
        });
    }
    Ok(all)
}

/// Longest name in bytes: `NAMEDATALEN` less one.
///
/// Source: <https://www.postgresql.org/docs/current/limits.html>, read 2026-11.
const NAME_MAX: usize = 63;

fn is_name(name: &str) -> bool {
    (1..=NAME_MAX).contains(&name.len()) && !name.chars().any(char::is_control)
}
