//! A server with a state: texts change it, queries show it.
//!
//! ```text
//! text ──► text: statement ──► change, upkeep: state ──► answer: rows of dbstow's questions
//!                                       ▲
//!            space: restart ────────────┘  tempdb recreated, pending paths and sizes in force, counters at zero
//! ```
//!
//! It recognizes the queries of `sqlserver::tsql::question` by their exact texts, statements about databases, files and
//! settings by their grammar, and other texts only where a test defines their effect ([`SqlServer::works`]). All of it is
//! based on Microsoft's documentation. None of its figures are those of SQL Server.

mod answer;
mod change;
mod error;
mod restore;
mod served;
mod space;
mod state;
#[cfg(test)]
mod tests;
pub mod text;
mod upkeep;

use std::collections::{BTreeMap, BTreeSet};

use crate::model::Question;
use crate::reply::Reply;

pub use error::System;
pub use served::{RestartError, restart};
pub use space::NotStarted;
pub use state::{
    Account, Backup, Database, Edition, File, FileState, Io, Setting, TEMPDB, Volume, Wait,
    Waiting, Work,
};

use text::PAGE;

/// `EngineEdition` of Azure SQL Database.
const AZURE_DATABASE: i64 = 5;
/// `EngineEdition` of Azure SQL Managed Instance.
const MANAGED_INSTANCE: i64 = 8;

/// Milliseconds of processor time used by a start.
const START_MS: i64 = 1_200;

/// A server.
pub struct SqlServer {
    /// Its identity
    pub edition: Edition,
    /// `BabelfishVersion`, for Babelfish
    pub babelfish: Option<String>,
    /// `ServerName`
    pub name: String,
    /// Identifier made up by setup
    pub instance: String,
    /// Whether it is an instance of a failover cluster
    pub clustered: bool,
    /// Number of starts, from which the start time is derived
    pub starts: u32,
    /// By `database_id`
    pub databases: BTreeMap<i64, Database>,
    /// Volumes
    pub volumes: Vec<Volume>,
    /// By type
    pub waits: BTreeMap<String, Wait>,
    /// By name, as in `sys.configurations`
    pub settings: BTreeMap<String, Setting>,
    /// Accounts that may log in
    pub accounts: Vec<Account>,
    /// An access token that logs in as the first account
    pub token: Option<String>,
    /// Milliseconds of processor time used by its process since the start
    pub processor_ms: i64,
    /// By object, counter and instance: value and type, as in `sys.dm_os_performance_counters`. Batches and commits are
    /// counted; everything else is set by tests
    pub performance: BTreeMap<[String; 3], (i64, i64)>,
    /// Of dbstow's sessions: logical reads, reads, writes, milliseconds of processor; `None` while there are none
    pub session_reads: Option<[i64; 4]>,
    /// Of dbstow's sessions
    pub waiting: Vec<Waiting>,
    /// Backups by their paths
    pub backups: BTreeMap<String, Backup>,
    /// Path prefixes at which other programs have files
    pub in_the_way: Vec<String>,
    /// Whether something in tempdb is in use that prevents removing its files, such as cached worktables, until the
    /// restart after a refusal
    pub tempdb_in_use: bool,
    /// Whether that was reported since the start
    refused_in_use: bool,
    /// Whether a shrink of tempdb, which succeeds, reports wrong page headers
    pub page_headers: bool,
    /// Number of texts that need tempdb and are refused at each start, before tempdb is recovered
    pub tempdb_recovers: u32,
    /// Number of refusals left
    recovering: u32,
    /// Whether instant file initialization is on
    pub instant_file_initialization: bool,
    /// Other texts executed since the start: most threads, and total pages spilled
    pub plan_cache: BTreeMap<String, (i64, i64)>,
    works: Vec<Rule>,
    hangs: Vec<(Known, Waiting)>,
    /// When each session sent its last text, by number: counted in texts of all sessions
    asked: BTreeMap<u16, u64>,
    /// Unanswered requests, by session
    under_way: BTreeMap<u16, Waiting>,
    /// The current database of each session, by number; a database in use cannot be dropped
    pub inside: BTreeMap<u16, String>,
    /// Sessions that `SINGLE_USER WITH ROLLBACK IMMEDIATE` ended
    severed: BTreeSet<u16>,
    /// `@shown` of the current batch
    kept: i64,
}

type Known = Box<dyn Fn(&Question) -> bool + Send>;

struct Rule {
    known: Known,
    work: Work,
    reply: Reply,
}

impl SqlServer {
    /// SQL Server 2022 Developer on Windows: data on C:, an empty and faster D:, a small tempdb. The login `sa` with this
    /// password has every permission.
    pub fn windows(password: &str) -> SqlServer {
        let edition = Edition {
            version: "16.0.4085.2".to_owned(),
            name: "Developer Edition (64-bit)".to_owned(),
            engine: 3,
            platform: "Windows".to_owned(),
            distribution: "Windows Server 2022 Standard".to_owned(),
            processors: 4,
            memory_kb: 16 << 20,
        };
        let volumes = vec![
            volume("C:\\", "System", "NTFS", 128),
            volume("D:\\", "Temporary Storage", "NTFS", 32),
        ];
        SqlServer::new(edition, volumes, "C:\\Data\\", password)
    }

    /// SQL Server 2022 Developer on Linux: data on the root, an empty and faster /nvme.
    pub fn linux(password: &str) -> SqlServer {
        let edition = Edition {
            version: "16.0.4085.2".to_owned(),
            name: "Developer Edition (64-bit)".to_owned(),
            engine: 3,
            platform: "Linux".to_owned(),
            distribution: "Ubuntu".to_owned(),
            processors: 4,
            memory_kb: 16 << 20,
        };
        let volumes = vec![
            volume("/", "", "ext4", 128),
            volume("/nvme/", "", "xfs", 32),
        ];
        SqlServer::new(edition, volumes, "/var/opt/mssql/data/", password)
    }

    fn new(edition: Edition, volumes: Vec<Volume>, folder: &str, password: &str) -> SqlServer {
        let pages = |mib: u64| mib * (1 << 20) / PAGE;
        let file = |log, name: &str, file: &str, mib| {
            File::new(log, name, &format!("{folder}{file}"), pages(mib))
        };
        let database = |name: &str, files: Vec<File>| Database {
            name: name.to_owned(),
            files: (1..).zip(files).collect(),
            clean_pages: 100,
            ..Database::empty()
        };
        let pair = |name: &str, data: &str, log: &str| {
            let files = [(false, data, "mdf"), (true, log, "ldf")];
            let files = files.map(|(is_log, logical, ending)| {
                file(is_log, logical, &format!("{logical}.{ending}"), 8)
            });
            database(name, files.into())
        };
        let tempdb = vec![
            file(false, "tempdev", "tempdb.mdf", 8),
            file(true, "templog", "templog.ldf", 8),
            file(false, "temp2", "tempdb_mssql_2.ndf", 8),
        ];
        let databases = [
            pair("master", "master", "mastlog"),
            database("tempdb", tempdb),
            pair("model", "modeldev", "modellog"),
            pair("msdb", "MSDBData", "MSDBLog"),
        ];
        let settings = [
            ("cost threshold for parallelism", 5, true),
            ("max degree of parallelism", 0, true),
            ("max server memory (MB)", i64::from(i32::MAX), true),
            ("min server memory (MB)", 0, true),
            ("optimize for ad hoc workloads", 0, true),
            ("recovery interval (min)", 0, true),
            ("show advanced options", 0, false),
            ("tempdb metadata memory-optimized", 0, true),
        ];
        let setting = |(name, value, advanced): (&str, i64, bool)| {
            (name.to_owned(), Setting::new(value, advanced))
        };
        SqlServer {
            edition,
            babelfish: None,
            name: "DOUBLE".to_owned(),
            instance: "5D1E8A3C-0000-4000-8000-000000000001".to_owned(),
            clustered: false,
            starts: 1,
            databases: (1..).zip(databases).collect(),
            volumes,
            waits: BTreeMap::new(),
            settings: settings.map(setting).into(),
            accounts: vec![account("sa", password, &["CONTROL SERVER"])],
            token: None,
            processor_ms: START_MS,
            performance: state::counters(),
            session_reads: None,
            waiting: Vec::new(),
            backups: BTreeMap::new(),
            in_the_way: Vec::new(),
            tempdb_in_use: false,
            refused_in_use: false,
            page_headers: false,
            tempdb_recovers: 0,
            recovering: 0,
            instant_file_initialization: true,
            plan_cache: BTreeMap::new(),
            works: Vec::new(),
            hangs: Vec::new(),
            asked: BTreeMap::new(),
            under_way: BTreeMap::new(),
            inside: BTreeMap::new(),
            severed: BTreeSet::new(),
            kept: 0,
        }
    }

    /// Another version or product of the same server.
    #[must_use]
    pub fn edition(mut self, version: &str, engine: i64) -> SqlServer {
        self.edition.version = version.to_owned();
        self.edition.engine = engine;
        self
    }

    /// Babelfish's identity: SQL Server 2014 Standard, with a version of its own.
    #[must_use]
    pub fn babelfish(mut self, version: &str) -> SqlServer {
        self.babelfish = Some(version.to_owned());
        self.edition("12.0.2000.8", 2)
    }

    /// Adds a login with these server permissions.
    pub fn add_login(&mut self, name: &str, password: &str, permissions: &[&str]) {
        self.accounts.push(account(name, password, permissions));
    }

    /// Adds texts that are executed with this reply and this work. Rules apply in the order in which they were added.
    pub fn works(
        &mut self,
        known: impl Fn(&Question) -> bool + Send + 'static,
        work: Work,
        reply: Reply,
    ) {
        let known = Box::new(known);
        self.works.push(Rule { known, work, reply });
    }

    /// Adds texts that never end: a client must give up with an attention. They have no effect, since the server rolls
    /// back what an attention ends.
    pub fn hangs(&mut self, known: impl Fn(&Question) -> bool + Send + 'static) {
        let computes = Waiting {
            status: Some("running".to_owned()),
            ..Waiting::default()
        };
        self.hangs.push((Box::new(known), computes));
    }

    /// The same for texts that wait for something: type of wait, and resource.
    pub fn waits_for(
        &mut self,
        known: impl Fn(&Question) -> bool + Send + 'static,
        kind: &str,
        resource: &str,
    ) {
        let waiting = Waiting {
            status: Some("suspended".to_owned()),
            kind: Some(kind.to_owned()),
            resource: Some(resource.to_owned()),
            ..Waiting::default()
        };
        self.hangs.push((Box::new(known), waiting));
    }

    /// Numbers of the sessions with a request in progress.
    pub fn under_way(&self) -> impl Iterator<Item = u16> {
        self.under_way.keys().copied()
    }

    /// Increases a performance counter.
    fn count(&mut self, [object, counter, instance]: [&str; 3], more: i64) {
        let name = [object, counter, instance].map(str::to_owned);
        if let Some((value, _)) = self.performance.get_mut(&name) {
            *value += more;
        }
    }

    /// Major version: 14 is 2017, 15 is 2019, 16 is 2022, 17 is 2025.
    pub fn major(&self) -> u8 {
        let major = self.edition.version.split('.').next();
        major
            .and_then(|major| major.parse().ok())
            .expect("a version begins with a number")
    }

    /// The database of this name, with its id.
    pub fn database(&self, name: &str) -> Option<(i64, &Database)> {
        let same = |(_, database): &(&i64, &Database)| database.name.eq_ignore_ascii_case(name);
        self.databases
            .iter()
            .find(same)
            .map(|(id, database)| (*id, database))
    }

    fn id_of(&self, name: &str) -> Option<i64> {
        self.database(name).map(|(id, _)| id)
    }

    fn may(&self, login: &str, permission: &str) -> bool {
        let same = |account: &&Account| account.name.eq_ignore_ascii_case(login);
        self.accounts.iter().find(same).is_some_and(|account| {
            let has = |permission: &str| account.permissions.contains(permission);
            // Implied permissions:
            // https://learn.microsoft.com/sql/relational-databases/security/permissions-database-engine
            let implied = match permission {
                "VIEW SERVER PERFORMANCE STATE" | "VIEW SERVER SECURITY STATE" => {
                    has("VIEW SERVER STATE") || has("ALTER SERVER STATE")
                }
                "VIEW SERVER STATE" => has("ALTER SERVER STATE"),
                "CREATE ANY DATABASE" => has("ALTER ANY DATABASE"),
                _ => false,
            };
            has(permission) || implied || has("CONTROL SERVER")
        })
    }

    /// The permission that a login needs to see server state in this version.
    fn state_permission(&self) -> &'static str {
        if self.major() >= 16 {
            "VIEW SERVER PERFORMANCE STATE"
        } else {
            "VIEW SERVER STATE"
        }
    }

    /// The permission that a login needs to see security-related server state.
    fn security_permission(&self) -> &'static str {
        if self.major() >= 16 {
            "VIEW SERVER SECURITY STATE"
        } else {
            "VIEW SERVER STATE"
        }
    }
}

fn volume(mount_point: &str, label: &str, file_system: &str, gib: u64) -> Volume {
    Volume {
        mount_point: mount_point.to_owned(),
        label: label.to_owned(),
        file_system: file_system.to_owned(),
        total_bytes: gib << 30,
        other_bytes: 0,
        writable: true,
    }
}

fn account(name: &str, password: &str, permissions: &[&str]) -> Account {
    Account {
        name: name.to_owned(),
        password: password.to_owned(),
        permissions: permissions.iter().map(|name| (*name).to_owned()).collect(),
    }
}
