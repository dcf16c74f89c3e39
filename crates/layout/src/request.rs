//! What to place where.

use std::collections::{BTreeMap, BTreeSet};

use catalogue::{AfterStop, Catalogue};
use model::Bytes;

use super::LayoutError;
use super::folder::{Folder, Style};
use super::platform::Platform;
use experiment::spec::{File, Role, Settings, Volume};

/// What to place where, independent of the request's origin.
#[derive(Clone, Debug)]
pub struct LayoutRequest {
    /// Its origin, as text.
    pub title: String,
    /// The roles to lay out.
    pub roles: BTreeSet<Role>,
    /// Files of tables and indexes.
    pub data: Vec<File>,
    /// Files of temporary space.
    pub temp: Vec<File>,
    /// The file of the log.
    pub log: Vec<File>,
    /// The binary log, for MariaDB.
    pub binlog: Vec<File>,
    /// Undo tablespaces, for MariaDB.
    pub undo: Vec<File>,
    /// The doublewrite area, for MariaDB.
    pub doublewrite: Vec<File>,
    /// Folders of volumes, on the server.
    pub folders: BTreeMap<String, String>,
    /// Volumes that are empty after the machine was moved or stopped.
    pub ephemeral: BTreeSet<String>,
    /// Those of them that come back without a file system, and the number of disks in each stripe.
    pub raw: BTreeMap<String, u32>,
    /// Growth increment of files.
    pub growth: Bytes,
    /// Whether tempdb may be left with fewer data files than advised.
    pub allow_fewer_files: bool,
    /// Size of the log of temporary space; `None`: unchanged.
    pub log_size: Option<Bytes>,
    /// Service to restart, where its name is not the default.
    pub service: Option<String>,
    /// The database whose data and log are laid out.
    pub database: Option<String>,
    /// The server's platform, where no capture has it.
    pub on: Option<Platform>,
    /// Data directory of a PostgreSQL server.
    pub data_directory: Option<String>,
}

impl LayoutRequest {
    /// Default growth of files: the value that SQL Server's setup gives tempdb (2016 and later).
    ///
    /// Source: <https://learn.microsoft.com/sql/relational-databases/databases/tempdb-database>, read 2026-11.
    pub const GROWTH: Bytes = Bytes::mib(64);

    /// An empty request, to be filled.
    pub fn new(title: impl Into<String>) -> LayoutRequest {
        LayoutRequest {
            title: title.into(),
            roles: [Role::Temp].into(),
            data: Vec::new(),
            temp: Vec::new(),
            log: Vec::new(),
            binlog: Vec::new(),
            undo: Vec::new(),
            doublewrite: Vec::new(),
            folders: BTreeMap::new(),
            ephemeral: BTreeSet::new(),
            raw: BTreeMap::new(),
            growth: LayoutRequest::GROWTH,
            allow_fewer_files: false,
            log_size: None,
            service: None,
            database: None,
            on: None,
            data_directory: None,
        }
    }

    /// The placement of an experiment's arm. `catalogue` says which of its disks are volatile.
    pub fn of(
        title: impl Into<String>,
        settings: &Settings,
        catalogue: &Catalogue,
    ) -> LayoutRequest {
        let placement = &settings.placement;
        let machine = settings.machine.kind.as_deref();
        let after = |volume: &Volume| catalogue.after_stop(&volume.disk.to_string(), machine);
        let volumes = || settings.volumes.iter();
        let ephemeral = volumes().filter(|volume| after(volume).forgets());
        let raw = volumes().filter(|volume| after(volume) == AfterStop::Raw);
        LayoutRequest {
            data: placement.data.clone(),
            temp: placement.temp.clone(),
            log: vec![placement.log.clone()],
            binlog: placement.files(Role::Binlog).to_vec(),
            undo: placement.files(Role::Undo).to_vec(),
            doublewrite: placement.files(Role::Doublewrite).to_vec(),
            ephemeral: ephemeral.map(|volume| volume.name.clone()).collect(),
            raw: raw
                .map(|volume| (volume.name.clone(), volume.count))
                .collect(),
            ..LayoutRequest::new(title)
        }
    }

    /// Files of a role.
    pub fn files(&self, role: Role) -> &[File] {
        match role {
            Role::Data => &self.data,
            Role::Temp => &self.temp,
            Role::Log => &self.log,
            Role::Binlog => &self.binlog,
            Role::Undo => &self.undo,
            Role::Doublewrite => &self.doublewrite,
        }
    }

    /// Volumes that hold a file of the layout and come back without a file system.
    pub(super) fn raw_in_use(&self) -> impl Iterator<Item = &str> {
        let is_used = |volume: &&String| {
            let mut roles = self.roles.iter();
            roles.any(|role| self.files(*role).iter().any(|file| file.volume == **volume))
        };
        self.raw.keys().filter(is_used).map(String::as_str)
    }

    /// Whether a role is part of the layout.
    pub(super) fn has(&self, role: Role) -> bool {
        self.roles.contains(&role)
    }

    /// The folder of a volume.
    pub(super) fn folder(&self, volume: &str, style: Style) -> Result<Folder, LayoutError> {
        let Some(given) = self.folders.get(volume) else {
            // Files that no experiment placed have a volume without a name.
            let volume = if volume.is_empty() { "d" } else { volume };
            return Err(LayoutError::NoFolder {
                volume: volume.to_owned(),
                example: style.example(),
            });
        };
        Folder::new(given, style).map_err(|why| LayoutError::Folder {
            volume: volume.to_owned(),
            folder: given.clone(),
            why,
        })
    }

    /// Refuses folders of volumes that hold no file: most often a typo in the volume's name.
    pub(super) fn check_folders(&self) -> Result<(), LayoutError> {
        let roles = self.roles.iter();
        let used: BTreeSet<&str> = roles
            .flat_map(|role| self.files(*role))
            .map(|file| file.volume.as_str())
            .collect();
        let unused = self
            .folders
            .keys()
            .find(|name| !used.contains(name.as_str()));
        match unused {
            None => Ok(()),
            Some(volume) => Err(LayoutError::Unused {
                volume: volume.clone(),
                used: format!(
                    "volumes that hold one: {}; see --role",
                    used.into_iter().collect::<Vec<_>>().join(", ")
                ),
            }),
        }
    }
}
