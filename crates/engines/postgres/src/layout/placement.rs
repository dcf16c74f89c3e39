//! A placement of a cluster: what moves where.

use std::collections::BTreeSet;

use experiment::spec::Role;
use layout::{Folder, LayoutError, LayoutRequest, Style};

/// A tablespace to create.
pub(super) struct Tablespace {
    pub(super) name: String,
    pub(super) folder: Folder,
    /// Whether its volume is empty after the machine was stopped.
    pub(super) forgets: bool,
}

/// The placement.
pub(super) struct Placement<'a> {
    pub(super) request: &'a LayoutRequest,
    pub(super) temp: Vec<Tablespace>,
    pub(super) data: Vec<Tablespace>,
    /// Where the whole data directory moves to.
    pub(super) whole: Option<Folder>,
    /// Where the write-ahead log moves to.
    pub(super) log: Option<Folder>,
    /// The server's data directory.
    pub(super) data_directory: Folder,
    pub(super) service: String,
}

impl<'a> Placement<'a> {
    pub(super) fn new(request: &'a LayoutRequest) -> Result<Placement<'a>, LayoutError> {
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

    pub(super) fn tablespaces(&self) -> impl Iterator<Item = &Tablespace> {
        self.temp.iter().chain(&self.data)
    }

    /// The script that moves the write-ahead log, numbered by its step: tablespaces take three.
    pub(super) fn move_wal(&self) -> String {
        format!("{}-move-wal.sh", self.after_tablespaces())
    }

    /// The step after those of tablespaces, counting from the folders, which are step 0.
    pub(super) fn after_tablespaces(&self) -> usize {
        match self.tablespaces().next() {
            Some(_) => 4,
            None => 1,
        }
    }

    /// The step that moves the data directory: after the log, which is not copied with it then.
    pub(super) fn move_data_step(&self) -> usize {
        self.after_tablespaces() + usize::from(self.log.is_some())
    }

    /// The script that does.
    pub(super) fn move_data(&self) -> String {
        format!("{}-move-data.sh", self.move_data_step())
    }

    /// The step that recreates the folders at every start: the last one.
    pub(super) fn start_up_step(&self) -> usize {
        self.move_data_step() + usize::from(self.whole.is_some())
    }

    /// The database that moves, and its target.
    pub(super) fn database(&self) -> Option<(&str, &Tablespace)> {
        Some((self.request.database.as_deref()?, self.data.first()?))
    }
}

/// Data directory of Debian's packages, for the newest version that dbstow supports.
const DATA_DIRECTORY: &str = "/var/lib/postgresql/18/main";

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
