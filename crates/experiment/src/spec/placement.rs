//! The location of the files of each role.

use std::collections::BTreeSet;

use model::Bytes;
pub use reading::Role;
use serde::{Deserialize, Serialize};

/// The location of the files of each role.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Placement {
    /// Its name in the experiment.
    pub name: String,
    /// Files of tables and indexes; at least one.
    pub data: Vec<File>,
    /// Files of temporary space; at least one.
    pub temp: Vec<File>,
    /// The file of the log.
    pub log: File,
    /// The binary log; `None`: not written.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub binlog: Option<File>,
    /// Undo records; `None`: the engine's default location.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub undo: Option<File>,
    /// The doublewrite area; `None`: on the volume of the first data file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub doublewrite: Option<File>,
}

/// One file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct File {
    /// The volume it is on.
    pub volume: String,
    /// The size it is created with; `None`: it grows as needed.
    pub size: Option<Bytes>,
}

impl Placement {
    /// The files of `role`.
    pub fn files(&self, role: Role) -> &[File] {
        match role {
            Role::Data => &self.data,
            Role::Temp => &self.temp,
            Role::Log => std::slice::from_ref(&self.log),
            Role::Binlog => self.binlog.as_slice(),
            Role::Undo => self.undo.as_slice(),
            Role::Doublewrite => self.doublewrite.as_slice(),
        }
    }

    /// Names of the volumes that contain a file.
    pub fn volumes(&self) -> BTreeSet<&str> {
        let files = Role::ALL.into_iter().flat_map(|role| self.files(role));
        files.map(|file| file.volume.as_str()).collect()
    }

    /// Sum of the predefined sizes of the files on `volume`.
    pub fn size_on(&self, volume: &str) -> Bytes {
        let files = Role::ALL.into_iter().flat_map(|role| self.files(role));
        let sizes = files
            .filter(|file| file.volume == volume)
            .filter_map(|file| file.size);
        Bytes(sizes.fold(0, |sum, size| sum.saturating_add(size.0)))
    }
}
