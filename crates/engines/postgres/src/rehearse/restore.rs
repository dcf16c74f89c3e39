//! Restores dumps into a new data directory, as `pg_restore` does, by a private server without a network.
//!
//! ```text
//! dump ──copy──► pg_restore --list, --schema-only ──► what is restored, roles ──► pg_restore --jobs ──► VACUUM, ANALYZE ──► stop
//! ```
//!
//! A dump has no roles, no memberships, and no settings of a server: roles are made without any rights of their own.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;

use files::{Folder, Readers};
use host::orphans::Registration;
use nix::unistd::{Uid, User};

use super::configuration::CHECKSUMS;
use super::contents::{Entries, Names};
use super::tool::{self, Watch};
use super::{backup, dump};
use crate::session::wire::Connection;
use crate::trial::Binaries;
use crate::trial::cluster::Cluster;
use engine::EngineError;
use engine::managed_server::{Directories, Owner, Purpose};
use engine::rehearsed::{BackupFacts, RestoreVolume};

/// The superuser of a private server.
const SUPERUSER: &str = "dbstow";

/// The database in which everything begins: every cluster has it.
const FIRST: &str = "template1";

/// Most entries of a dump: ten thousand tables with a hundred columns, indexes and rights each.
const ENTRIES_MAX: usize = 1_000_000;

/// Most jobs of `pg_restore`.
const JOBS_MAX: usize = 16;

/// Settings of the server that restores: what it writes is needed only if it ends well.
const SETTINGS: &[(&str, &str)] = &[
    ("fsync", "off"),
    ("full_page_writes", "off"),
    ("synchronous_commit", "off"),
    ("wal_level", "minimal"),
    ("max_wal_senders", "0"),
    ("archive_mode", "off"),
    ("max_wal_size", "4GB"),
    ("checkpoint_timeout", "1h"),
    ("maintenance_work_mem", "128MB"),
    ("autovacuum", "off"),
    ("max_logical_replication_workers", "0"),
    ("huge_pages", "off"),
    ("logging_collector", "off"),
    ("log_min_messages", "fatal"),
    ("log_min_error_statement", "panic"),
    ("restart_after_crash", "off"),
    ("ssl", "off"),
    ("shared_preload_libraries", ""),
    ("session_preload_libraries", ""),
    ("local_preload_libraries", ""),
];

/// What restores dumps.
#[derive(Clone, Copy)]
pub(crate) struct Programs<'a> {
    pub(crate) binaries: &'a Binaries,
    /// The user it runs as.
    pub(crate) owner: Option<Owner>,
    pub(crate) registration: &'a Arc<Registration>,
}

/// Restores `dumps`; returns the data directory, and what is known of it.
///
/// # Errors
/// When a dump cannot be restored whole, with the first errors.
pub(crate) fn restore(
    programs: Programs<'_>,
    dumps: &[PathBuf],
    facts: &BackupFacts,
    on: &RestoreVolume<'_>,
) -> Result<(PathBuf, BackupFacts), EngineError> {
    let owner = programs.owner;
    let data = on.directory.join("cluster");
    let copies: Vec<PathBuf> = (1..=dumps.len())
        .map(|number| on.directory.join(format!("dump-{number}")))
        .collect();
    let mut directories = Directories::new(owner);
    directories.make(&data)?;
    for (dump, copy) in dumps.iter().zip(&copies) {
        (on.observe)("copying the dump");
        directories.make(copy)?;
        dump::copy(dump, copy, owner)
            .map_err(|error| EngineError::failed(format!("copy {}", dump.display()), error))?;
    }
    // They vanish with the volume.
    directories.keep();
    (on.let_in)().map_err(|error| {
        EngineError::failed("give PostgreSQL's user access to the volume", error)
    })?;
    let client = owner.and_then(|(user, _)| User::from_uid(Uid::from_raw(user)).ok()?);
    let client = client.map(|user| user.name);
    let settings = SETTINGS.iter();
    let settings = settings.map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
    let cluster = Cluster::to_fill(
        (programs.binaries, owner),
        programs.registration,
        &data,
        on.settings,
        (settings.collect(), client.as_deref()),
    )?;
    let checksums = facts.settings.get(CHECKSUMS).map(String::as_str);
    let checksums = match checksums {
        Some("on") => Some("--data-checksums"),
        // Before, it is what happens without the option.
        Some(_) if programs.binaries.major >= 18 => Some("--no-data-checksums"),
        Some(_) | None => None,
    };
    (on.observe)("making a database cluster");
    cluster.initialise(None, checksums.as_slice())?;
    let restoring = Restoring {
        programs,
        cluster: &cluster,
        on,
    };
    let restored = restoring.all(dumps, &copies, facts);
    let stopped = match &restored {
        Ok(_) => cluster.server().shut_down(),
        Err(_) => Ok(()),
    };
    let ended = cluster.server().end(false);
    let mut facts = restored?;
    stopped?;
    ended.map_err(|left| EngineError::failed("restore a dump", left))?;
    let size = Folder::open(&data)
        .map_err(|error| error.to_string())
        .and_then(|folder| backup::size_of(&folder));
    facts.size = size.map_err(|why| EngineError::failed("measure the restored database", why))?;
    Ok((data, facts))
}

/// A restore on a private server.
struct Restoring<'a> {
    programs: Programs<'a>,
    cluster: &'a Cluster,
    on: &'a RestoreVolume<'a>,
}

impl Restoring<'_> {
    fn all(
        &self,
        dumps: &[PathBuf],
        copies: &[PathBuf],
        facts: &BackupFacts,
    ) -> Result<BackupFacts, EngineError> {
        let mut facts = facts.clone();
        self.cluster.start()?;
        let mut server = self.connection()?;
        let failed =
            |why: &dyn ToString| EngineError::failed("prepare the new cluster", why.to_string());
        // A dump may be of a database that is called like this, and creates it.
        server
            .work("DROP DATABASE postgres")
            .map_err(|error| failed(&error))?;
        let extensions = server
            .work("SELECT name FROM pg_available_extensions")
            .map_err(|error| failed(&error))?;
        let extensions: BTreeSet<String> = extensions
            .iter()
            .filter_map(|row| row.columns().first()?.clone())
            .collect();
        let mut named = Names::default();
        for (dump, copy) in dumps.iter().zip(copies) {
            let place = dump.display();
            let unread = |why| EngineError::failed(format!("read {place}"), why);
            self.names(copy, &mut named).map_err(unread)?;
        }
        for statement in self.roles(&named.roles) {
            server.work(&statement).map_err(|error| failed(&error))?;
        }
        for (dump, copy) in dumps.iter().zip(copies) {
            let failed = |why: String| restore_failed(dump, &why);
            let entries = self.entries(copy, &extensions).map_err(failed)?;
            self.restore(copy, &entries).map_err(failed)?;
            facts.changed.extend(entries.left_out);
        }
        self.check_databases(&mut server, facts.databases.as_deref().unwrap_or_default())?;
        (self.on.observe)("gathering statistics");
        self.analyze().map_err(|why| {
            EngineError::failed("gather statistics of the restored database", why)
        })?;
        facts.changed.extend(self.changed(&named));
        Ok(facts)
    }

    fn connection(&self) -> Result<Connection, EngineError> {
        crate::session::login::open(&self.cluster.target(FIRST), SUPERUSER)
    }

    /// A program that works on the server.
    fn program(&self, name: &str) -> Command {
        let server = self.cluster.server();
        let program = self.programs.binaries.program(name);
        server.command(&program, Purpose::Initialise)
    }

    /// The same, logged in as the superuser.
    fn client(&self, name: &str) -> Command {
        let mut command = self.program(name);
        command
            .arg("--host")
            .arg(self.cluster.server().run().socket_directory())
            .args(["--port", "5432", "--username", SUPERUSER, "--no-password"]);
        command
    }

    fn watched(&self, command: Command, each: &mut (dyn FnMut(&str) + Send)) -> Result<(), String> {
        let watch = Watch {
            interrupted: self.on.interrupted,
            steps: &[],
            observe: &|_| {},
        };
        tool::run(command, &watch, each)
    }

    /// Roles and tablespaces that a dump names.
    fn names(&self, copy: &Path, named: &mut Names) -> Result<(), String> {
        let mut command = self.program("pg_restore");
        command
            .args(["--create", "--schema-only", "--file=-"])
            .arg(copy);
        self.watched(command, &mut |line| named.add(line))
    }

    /// The roles of the dumps and of the log. A dump has no memberships: a user of the log has what the dumps' roles may do that do
    /// not log in, and all that they may do where no dump names it.
    fn roles(&self, named: &BTreeSet<String>) -> Vec<String> {
        let logins = self.logins();
        let mut statements: Vec<String> = Vec::new();
        for role in named.iter().filter(|role| *role != SUPERUSER) {
            statements.push(format!("CREATE ROLE {}", quoted(role)));
        }
        for login in &logins {
            match named.contains(*login) {
                true => statements.push(format!("ALTER ROLE {} LOGIN", quoted(login))),
                false => statements.push(format!("CREATE ROLE {} LOGIN", quoted(login))),
            }
            let others = named.iter().filter(|role| {
                *role != SUPERUSER && (!named.contains(*login) || !logins.contains(role.as_str()))
            });
            for role in others {
                statements.push(format!("GRANT {} TO {}", quoted(role), quoted(login)));
            }
        }
        statements
    }

    fn logins(&self) -> BTreeSet<&str> {
        let users = self
            .on
            .logins
            .iter()
            .filter_map(|login| login.user.as_deref());
        users.filter(|user| *user != SUPERUSER).collect()
    }

    fn entries(&self, copy: &Path, extensions: &BTreeSet<String>) -> Result<Entries, String> {
        let mut command = self.program("pg_restore");
        command.args(["--create", "--list"]).arg(copy);
        let mut lines = Vec::new();
        self.watched(command, &mut |line| {
            if lines.len() <= ENTRIES_MAX {
                lines.push(line.to_owned());
            }
        })?;
        if lines.len() > ENTRIES_MAX {
            return Err(format!("it has more than {ENTRIES_MAX} entries"));
        }
        Ok(Entries::chosen(&lines, extensions))
    }

    fn restore(&self, copy: &Path, entries: &Entries) -> Result<(), String> {
        // The server's user reads it, and cannot change it.
        let list = format!("{}.list", copy.file_name().unwrap_or_default().display());
        let folder = Folder::open(self.on.directory).map_err(|error| error.to_string())?;
        let readers = match self.programs.owner {
            Some((_, group)) => Readers::Group(group),
            None => Readers::OwnerOnly,
        };
        folder
            .write_new(list.as_ref(), entries.list.as_bytes(), readers)
            .map_err(|error| error.to_string())?;
        let mut command = self.client("pg_restore");
        command
            .args(["--create", "--no-tablespaces", "--verbose"])
            .args(["--dbname", FIRST])
            .arg(format!("--jobs={}", jobs()))
            .arg("--use-list")
            .arg(self.on.directory.join(list))
            .arg(copy);
        let watch = Watch {
            interrupted: self.on.interrupted,
            steps: &["pg_restore: creating ", "pg_restore: processing data "],
            observe: &|done| {
                (self.on.observe)(&format!(
                    "restoring the dump: {done} of {} parts",
                    entries.count
                ));
            },
        };
        tool::run(command, &watch, &mut |_| {})
    }

    /// What a dump is called is what it has made.
    fn check_databases(
        &self,
        server: &mut Connection,
        wanted: &[String],
    ) -> Result<(), EngineError> {
        let rows = server.work("SELECT datname FROM pg_database WHERE datallowconn");
        let rows = rows.map_err(|error| EngineError::failed("restore a dump", error))?;
        let has = |name: &String| {
            let mut names = rows
                .iter()
                .filter_map(|row| row.columns().first()?.as_deref());
            names.any(|found| found == name)
        };
        match wanted.iter().find(|name| !has(name)) {
            None => Ok(()),
            Some(name) => Err(EngineError::failed(
                "restore a dump",
                format!(
                    "it has not made database {}; make it again with pg_dump",
                    name.escape_debug()
                ),
            )),
        }
    }

    /// A dump has no statistics, and a server that has run for some time has noted which rows all see.
    fn analyze(&self) -> Result<(), String> {
        let mut command = self.client("vacuumdb");
        command
            .args(["--all", "--analyze", "--quiet"])
            .arg(format!("--jobs={}", jobs()));
        self.watched(command, &mut |_| {})
    }

    fn changed(&self, named: &Names) -> Vec<String> {
        let mut changed = Vec::new();
        let roles = named.roles.iter().map(String::as_str);
        let roles: BTreeSet<&str> = roles.chain(self.logins()).collect();
        if !roles.is_empty() {
            changed.push(format!(
                "a dump has no roles: those that it or the log names were made, none of them a superuser ({})",
                roles.into_iter().collect::<Vec<_>>().join(", ")
            ));
        }
        if !named.tablespaces.is_empty() {
            let names = named.tablespaces.iter().map(String::as_str);
            changed.push(format!(
                "tables of tablespaces are with the other data ({})",
                names.collect::<Vec<_>>().join(", ")
            ));
        }
        changed
    }
}

fn restore_failed(dump: &Path, why: &str) -> EngineError {
    let remedy = match why {
        "interrupted" => "",
        why if why.contains("locale") => {
            "; install that locale on this machine, as with localedef, since order and plans depend on it"
        }
        why if why.contains("No space left") => "; make room, or name another folder by --out",
        _ => {
            "; leave what cannot be restored out of the dump (pg_dump --exclude-table), or make the dump again"
        }
    };
    EngineError::failed(
        format!("restore {}", dump.display()),
        format!("{why}{remedy}"),
    )
}

fn jobs() -> usize {
    std::thread::available_parallelism()
        .map_or(1, usize::from)
        .min(JOBS_MAX)
}

fn quoted(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}
