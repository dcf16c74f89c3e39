//! A server as a value: its identity, files, volumes, settings and counters, at one moment. `dbstow doctor` writes it to a file,
//! and rules check it, on any machine, at any later time.

mod capability;
mod greeting;
mod host;
mod kind;
mod product;
mod redact;
mod report;
mod take;

pub use capability::{
    Can, Capability, MAKE_ADMINISTRATOR, MOVES_TEMPDB, Obstacle, obstacle_to_moving_tempdb,
};
pub use greeting::Greeting;
pub use host::{HostFacts, VolumeFacts};
pub use kind::Product;
pub use product::Captures;
pub use rules::capture::CaptureError;
pub use take::{
    AskError, ask, buffer_pool, capture, file_statistics, files, identity,
    instant_file_initialization, read, services, tempdb_space, wait_statistics,
};

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// Version of the file format; readers reject a higher one.
pub const FORMAT: u32 = 1;

/// What a server reported about itself. Missing parts are empty or `None`, and [`Capture::unanswered`] has the reasons.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Capture {
    /// [`FORMAT`].
    pub format: u32,
    /// The dbstow version that wrote it.
    pub dbstow: String,
    /// Time of the capture in the server's local time with offset, ISO 8601.
    pub taken: String,
    /// Whether names of people, hosts, databases and folders were replaced.
    pub redacted: bool,
    /// Its identity.
    pub identity: Identity,
    /// Its machine.
    pub machine: Machine,
    /// Its services on Windows and Linux.
    #[serde(default)]
    pub services: Vec<Service>,
    /// `sys.configurations` by name: the value in use.
    #[serde(default)]
    pub settings: BTreeMap<String, i64>,
    /// Trace flags on for all sessions.
    #[serde(default)]
    pub trace_flags: Vec<i64>,
    /// Databases.
    #[serde(default)]
    pub databases: Vec<Database>,
    /// Files of all databases, from `sys.master_files`: for tempdb, as of the next start.
    #[serde(default)]
    pub files: Vec<File>,
    /// Files of tempdb in use now.
    #[serde(default)]
    pub tempdb_in_use: Vec<FileInUse>,
    /// Volumes that hold a file.
    #[serde(default)]
    pub volumes: Vec<MountedVolume>,
    /// I/O of each file since the service started.
    #[serde(default)]
    pub file_io: Vec<FileIo>,
    /// Waits since the service started (or since they were cleared).
    #[serde(default)]
    pub waits: Vec<Wait>,
    /// Contents of the buffer pool, by database id.
    #[serde(default)]
    pub cached: Vec<Cached>,
    /// Space in tempdb by use.
    pub tempdb_space: Option<TempdbSpace>,
    /// Permissions of the capturing session.
    #[serde(default)]
    pub permissions: BTreeMap<String, bool>,
    /// User-supplied properties that T-SQL cannot see.
    #[serde(default, skip_serializing_if = "Option::is_none", alias = "told")]
    pub supplied: Option<HostFacts>,
    /// Queries that the server did not answer.
    #[serde(default)]
    pub unanswered: Vec<Unanswered>,
    /// The login that queried, where that was just now; not part of the file.
    #[serde(skip)]
    pub asked: Option<Greeting>,
}

/// Identity of a server.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Identity {
    /// `SERVERPROPERTY('ProductVersion')`, such as `16.0.4135.4`.
    pub version: String,
    /// `SERVERPROPERTY('Edition')`, such as `Developer Edition (64-bit)`.
    pub edition: String,
    /// `SERVERPROPERTY('EngineEdition')`.
    pub engine_edition: i64,
    /// Whether tempdb's system tables are in memory; `None` before 2019.
    pub tempdb_metadata_in_memory: Option<bool>,
    /// Whether it is a failover cluster instance.
    pub clustered: Option<bool>,
    /// Default folder of data files.
    pub data_path: Option<String>,
    /// Default folder of logs.
    pub log_path: Option<String>,
    /// `SERVERPROPERTY('BabelfishVersion')`, such as `4.4.0`; `None` on SQL Server.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub babelfish: Option<String>,
}

impl Identity {
    /// The kind, by `EngineEdition`, of which Babelfish has that of an installed SQL Server. Source: Microsoft,
    /// "SERVERPROPERTY" (read 2026-11).
    pub fn product(&self) -> Product {
        if self.babelfish.is_some() {
            return Product::Babelfish;
        }
        match self.engine_edition {
            1..=4 => Product::Boxed,
            5 => Product::AzureDatabase,
            8 => Product::ManagedInstance,
            _ => Product::Other,
        }
    }

    /// Major version: 13 is 2016, 14 2017, 15 2019, 16 2022, 17 2025. Azure's services stay at 12.
    pub fn major(&self) -> u32 {
        let major = self.version.split('.').next().unwrap_or_default();
        major.parse().unwrap_or(0)
    }

    /// Its common name: `SQL Server 2022`, `Azure SQL Database`.
    pub fn title(&self) -> &'static str {
        match (self.product(), self.major()) {
            (Product::AzureDatabase, _) => "Azure SQL Database",
            (Product::ManagedInstance, _) => "Azure SQL Managed Instance",
            (Product::Boxed, 11) => "SQL Server 2012",
            (Product::Boxed, 12) => "SQL Server 2014",
            (Product::Boxed, 13) => "SQL Server 2016",
            (Product::Boxed, 14) => "SQL Server 2017",
            (Product::Boxed, 15) => "SQL Server 2019",
            (Product::Boxed, 16) => "SQL Server 2022",
            (Product::Boxed, 17) => "SQL Server 2025",
            (Product::Boxed, _) => "SQL Server",
            (Product::Babelfish, _) => "Babelfish, not SQL Server",
            (Product::Other, _) => "something that speaks T-SQL",
        }
    }
}

/// The machine of a server.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Machine {
    /// `Windows` or `Linux`; empty if not reported.
    pub platform: String,
    /// Name and version of the system.
    pub system: String,
    /// Logical processors.
    pub processors: Option<i64>,
    /// Main memory.
    pub memory_bytes: Option<i64>,
    /// The server's memory target.
    pub memory_target_bytes: Option<i64>,
    /// When the service started, as [`Capture::taken`].
    pub started: String,
    /// `sys.dm_os_sys_info.virtual_machine_type_desc`.
    pub virtual_machine: String,
    /// Whether it is an Azure virtual machine; `None`: unknown, T-SQL cannot determine it reliably.
    pub azure: Option<bool>,
}

/// A service.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Service {
    /// Its name.
    pub name: String,
    /// The account it runs as.
    pub account: String,
    /// Whether it may create files without zeroing them.
    pub instant_file_initialization: Option<bool>,
}

/// A database.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Database {
    /// Its number; 1 to 4 are master, tempdb, model, msdb.
    pub id: i64,
    /// Its name.
    pub name: String,
    /// `SIMPLE`, `FULL`, `BULK_LOGGED`.
    pub recovery: String,
    /// Whether read committed reads row versions.
    pub read_committed_snapshot: bool,
    /// Whether it is encrypted at rest.
    pub encrypted: bool,
}

/// The number of tempdb.
pub const TEMPDB: i64 = 2;

/// Purpose of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "UPPERCASE")]
pub enum FileKind {
    /// Rows.
    Rows,
    /// The log.
    Log,
    /// Files of FILESTREAM and of memory-optimised tables.
    Filestream,
    /// A full-text catalogue.
    FullText,
}

/// A file of a database.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct File {
    /// Its database.
    pub database_id: i64,
    /// Its number in the database.
    pub id: i64,
    /// Its purpose.
    pub kind: FileKind,
    /// Its logical name.
    pub name: String,
    /// Its path, for tempdb as of the next start.
    pub path: String,
    /// Its size; for tempdb at the next start.
    pub size_bytes: i64,
    /// Its maximum size; `None`: limited by the volume.
    pub max_bytes: Option<i64>,
    /// By how much it grows.
    pub growth: Growth,
    /// `ONLINE` and so on.
    pub state: String,
}

/// By how much a file grows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Growth {
    /// Not at all.
    None,
    /// By this many bytes.
    Bytes(i64),
    /// By this percentage of its size.
    Percent(i64),
}

/// A file of tempdb that is in use.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FileInUse {
    /// Its number.
    pub id: i64,
    /// Its purpose.
    pub kind: FileKind,
    /// Its logical name.
    pub name: String,
    /// Where it is.
    pub path: String,
    /// Its size now.
    pub size_bytes: i64,
}

/// A volume with database files.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct MountedVolume {
    /// Where it is mounted, such as `D:\` or `C:\mnt\data\`, or a mount point of Linux.
    pub mount_point: String,
    /// Its label.
    pub label: String,
    /// `NTFS`, `ReFS`, `ext4`, `xfs`.
    pub file_system: String,
    /// Its size.
    pub total_bytes: i64,
    /// Free space.
    pub available_bytes: i64,
    /// Files on it: database number and file number.
    pub files: Vec<(i64, i64)>,
}

/// I/O of a file since the service started. Stalls are sums of whole milliseconds: a mean of few requests on a fast device is not
/// meaningful.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FileIo {
    /// Its database.
    pub database_id: i64,
    /// Which.
    pub file_id: i64,
    /// Reads.
    pub reads: i64,
    /// Bytes read.
    pub read_bytes: i64,
    /// Total time of reads.
    pub read_stall_ms: i64,
    /// Part of it that the server's own governance added.
    pub read_governed_ms: i64,
    /// Writes.
    pub writes: i64,
    /// Bytes written.
    pub written_bytes: i64,
    /// Total time of writes.
    pub write_stall_ms: i64,
    /// Part of it that the server's own governance added.
    pub write_governed_ms: i64,
    /// Its size on disk.
    pub size_bytes: i64,
}

/// A kind of wait.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Wait {
    /// Its name, such as `PAGEIOLATCH_SH`.
    pub kind: String,
    /// How often.
    pub count: i64,
    /// How long, with the wait for a processor after it.
    pub wait_ms: i64,
    /// The wait for a processor after it.
    pub signal_ms: i64,
}

/// Pages of a database in the buffer pool.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Cached {
    /// Its database.
    pub database_id: i64,
    /// Pages, in bytes.
    pub bytes: i64,
    /// Of these, dirty pages.
    pub dirty_bytes: i64,
}

/// Space in tempdb.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TempdbSpace {
    /// All data files together.
    pub total_bytes: i64,
    /// Not in use.
    pub free_bytes: i64,
    /// Temporary tables and variables.
    pub user_bytes: i64,
    /// Sorts, hashes, spools.
    pub internal_bytes: i64,
    /// Row versions.
    pub version_bytes: i64,
}

/// A query without a result.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Unanswered {
    /// The query's name.
    pub question: String,
    /// The server's error.
    pub why: String,
    /// The remedy, such as a GRANT; empty if there is none.
    pub remedy: String,
}

impl Unanswered {
    /// Whether the time was too short, so that no permission helps. Captures hold it in words alone.
    pub fn timed_out(&self) -> bool {
        let why = self.why.to_lowercase();
        let said = ["no answer within", "timed out", "timeout"];
        said.iter().any(|words| why.contains(words))
    }
}

impl Capture {
    /// Reads the text of `file`.
    ///
    /// # Errors
    /// When it is not JSON, not a capture, of a later format, or a member is missing or invalid.
    pub fn from_json(file: &str, text: &str) -> Result<Capture, CaptureError> {
        let mut capture: Capture = rules::capture::from_json(file, text, FORMAT)?;
        let machine = &mut capture.machine;
        let counts = [
            &mut machine.processors,
            &mut machine.memory_bytes,
            &mut machine.memory_target_bytes,
        ];
        for count in counts {
            // No machine has none: the number was not known.
            *count = count.filter(|count| *count > 0);
        }
        Ok(capture)
    }

    /// The database's name, or its number if unknown.
    pub fn database(&self, id: i64) -> String {
        let named = self.databases.iter().find(|database| database.id == id);
        named.map_or_else(
            || format!("database {id}"),
            |database| database.name.clone(),
        )
    }

    /// Files of tempdb, as of the next start.
    pub fn tempdb(&self) -> impl Iterator<Item = &File> {
        self.files.iter().filter(|file| file.database_id == TEMPDB)
    }

    /// The volume that a file is on.
    pub fn volume_of(&self, file: &File) -> Option<&MountedVolume> {
        let key = (file.database_id, file.id);
        self.volumes
            .iter()
            .find(|volume| volume.files.contains(&key))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_capture_comes_back_as_it_was_written() {
        let capture = Capture {
            format: FORMAT,
            dbstow: "0.1.0".into(),
            ..Capture::default()
        };
        let text = serde_json::to_string_pretty(&capture).expect("its keys are texts");
        let read = Capture::from_json("c.json", &text);
        assert_eq!(read.expect("it is one"), capture);
    }
}
