//! The state of a server: databases, files, volumes, counters, logins.

use std::collections::{BTreeMap, BTreeSet};

use super::text::{Growth, Max};

/// `database_id` of tempdb.
pub const TEMPDB: i64 = 2;

/// The server's identity.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Edition {
    /// `ProductVersion`, such as 16.0.4085.2
    pub version: String,
    /// `Edition`
    pub name: String,
    /// `EngineEdition`: 2 Standard, 3 Enterprise and Developer, 4 Express, 5 Azure SQL Database, 8 Managed Instance
    pub engine: i64,
    /// `Windows` or `Linux`
    pub platform: String,
    /// `Windows Server 2022 Standard`, `Ubuntu`
    pub distribution: String,
    /// Logical processors
    pub processors: i64,
    /// Memory of the machine
    pub memory_kb: i64,
}

/// A volume.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Volume {
    /// `C:\` or `/`, with the separator at its end
    pub mount_point: String,
    /// Its name
    pub label: String,
    /// `NTFS`, `ext4`
    pub file_system: String,
    /// Total size
    pub total_bytes: u64,
    /// Bytes used by other programs
    pub other_bytes: u64,
    /// Whether the service's account may create files there
    pub writable: bool,
}

/// A database.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Database {
    /// Its name
    pub name: String,
    /// The login that created it, which may alter and drop it
    pub owner: String,
    /// `SIMPLE`, `FULL`
    pub recovery: String,
    /// `READ_COMMITTED_SNAPSHOT`
    pub read_committed_snapshot: bool,
    /// Other options that are set
    pub options: BTreeSet<String>,
    /// By `file_id`
    pub files: BTreeMap<i64, File>,
    /// Pages in memory: clean and dirty
    pub clean_pages: u64,
    /// Changed since they were last written
    pub dirty_pages: u64,
}

/// A full backup of a database.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Backup {
    /// Name of the database
    pub database: String,
    /// Major version of its server
    pub major: i64,
    /// Its files: logical name, type (`D`, `L`, `S`), and pages
    pub files: Vec<(String, char, u64)>,
}

/// A file of a database.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct File {
    /// Whether it is a log
    pub log: bool,
    /// As currently in use
    pub now: FileState,
    /// As in the catalog, and at the next start; equal except in tempdb, or where a path was changed
    pub next: FileState,
    /// `MAXSIZE`
    pub max: Max,
    /// `FILEGROWTH`
    pub growth: Growth,
    /// Pages with content
    pub used_pages: u64,
    /// Reads and writes since the start
    pub io: Io,
}

/// Location and size of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileState {
    /// Logical name
    pub name: String,
    /// Path as the server sees it
    pub path: String,
    /// Pages
    pub pages: u64,
}

/// Counters of `sys.dm_io_virtual_file_stats`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Io {
    /// Requests
    pub reads: i64,
    /// Bytes
    pub read_bytes: i64,
    /// Total milliseconds
    pub read_stall_ms: i64,
    /// Requests
    pub writes: i64,
    /// Bytes
    pub written_bytes: i64,
    /// Total milliseconds
    pub write_stall_ms: i64,
}

impl Io {
    /// The sum of both.
    pub fn add(&mut self, other: Io) {
        self.reads += other.reads;
        self.read_bytes += other.read_bytes;
        self.read_stall_ms += other.read_stall_ms;
        self.writes += other.writes;
        self.written_bytes += other.written_bytes;
        self.write_stall_ms += other.write_stall_ms;
    }
}

/// A kind of wait, since the start.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Wait {
    /// How often
    pub tasks: i64,
    /// How long
    pub wait_ms: i64,
    /// Of that, waiting for a processor
    pub signal_ms: i64,
}

/// What a session is currently waiting for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Waiting {
    /// `session_id`
    pub session: i64,
    /// Status of its request; `None` without one
    pub status: Option<String>,
    /// Type of wait
    pub kind: Option<String>,
    /// The resource
    pub resource: Option<String>,
}

/// Object, counter and instance in `sys.dm_os_performance_counters`.
pub(super) const BATCHES: [&str; 3] = ["SQLServer:SQL Statistics", "Batch Requests/sec", ""];
/// The same of all databases.
pub(super) const COMMITS: [&str; 3] = ["SQLServer:Databases", "Write Transactions/sec", "_Total"];
/// The same of tempdb.
pub(super) const COMMITS_OF_TEMPDB: [&str; 3] =
    ["SQLServer:Databases", "Write Transactions/sec", "tempdb"];

/// `cntr_type` of a cumulative 64-bit counter.
const CUMULATIVE: i64 = 272_696_576;

/// Counters that grow with executed work, at the start of a server.
pub(super) fn counters() -> BTreeMap<[String; 3], (i64, i64)> {
    let counted = [BATCHES, COMMITS, COMMITS_OF_TEMPDB];
    let zero = |name: [&str; 3]| (name.map(str::to_owned), (0, CUMULATIVE));
    counted.map(zero).into()
}

/// The effect of an executed text on the counters.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Work {
    /// Each data file of these databases
    pub data: BTreeMap<String, Io>,
    /// Each log of these databases
    pub log: BTreeMap<String, Io>,
    /// Waits by type
    pub waits: BTreeMap<String, Wait>,
    /// Committed write transactions in these databases
    pub commits: BTreeMap<String, i64>,
    /// Growth of the sums over dbstow's sessions: logical reads, reads, writes, milliseconds of processor time, which the
    /// process uses too
    pub session_reads: [i64; 4],
    /// Pages of these databases that are read into memory unchanged
    pub cached_pages: BTreeMap<String, u64>,
    /// Pages of these databases that are modified
    pub dirty_pages: BTreeMap<String, u64>,
    /// Threads of the execution; 0 counts as 1
    pub threads: i64,
    /// Pages that it spills into tempdb
    pub spilled_pages: i64,
    /// Pages that become used, spread over the data files of these databases, which grow where allowed
    pub filled_pages: BTreeMap<String, u64>,
}

/// A login.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Account {
    /// Its name
    pub name: String,
    /// Its password
    pub password: String,
    /// Its permissions; `CONTROL SERVER` implies all, as for a sysadmin
    pub permissions: BTreeSet<String>,
}

/// A setting of `sp_configure`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Setting {
    /// As configured
    pub value: i64,
    /// As in use, since the last `RECONFIGURE`
    pub in_use: i64,
    /// Only visible with `show advanced options`
    pub advanced: bool,
}

impl Setting {
    pub(super) fn new(value: i64, advanced: bool) -> Setting {
        Setting {
            value,
            in_use: value,
            advanced,
        }
    }
}

impl Database {
    /// A database without a name and files.
    pub fn empty() -> Database {
        Database {
            name: String::new(),
            owner: "sa".to_owned(),
            recovery: "SIMPLE".to_owned(),
            read_committed_snapshot: false,
            options: BTreeSet::new(),
            files: BTreeMap::new(),
            clean_pages: 0,
            dirty_pages: 0,
        }
    }

    /// Number of the file with this logical name in the catalog.
    pub(super) fn file(&self, name: &str) -> Option<i64> {
        let same = |(_, file): &(&i64, &File)| file.next.name.eq_ignore_ascii_case(name);
        self.files.iter().find(same).map(|(id, _)| *id)
    }
}

impl File {
    /// A file whose state in use equals the catalog.
    pub fn new(log: bool, name: &str, path: &str, pages: u64) -> File {
        let state = FileState {
            name: name.to_owned(),
            path: path.to_owned(),
            pages,
        };
        File {
            log,
            next: state.clone(),
            now: state,
            max: Max::Unlimited,
            growth: Growth::Pages(64 * 128), // 64 MiB, as set up since 2016
            used_pages: 0,
            io: Io::default(),
        }
    }

    /// Size after growing by one step; `None` where it may not grow.
    pub fn grown(&self) -> Option<u64> {
        let step = match self.growth {
            Growth::Pages(0) | Growth::Percent(0) => return None,
            Growth::Pages(pages) => pages,
            Growth::Percent(percent) => (self.now.pages * percent / 100).max(1),
        };
        let pages = self.now.pages + step;
        match self.max {
            Max::Unlimited => Some(pages),
            Max::Pages(max) => (pages <= max).then_some(pages),
        }
    }
}
