//! Limits a managed server's memory, so that the machine's page cache does not act as a second buffer pool.
//!
//! A server without direct I/O reads and writes through the operating system's page cache, which
//! takes all free memory: on a machine with much of it, data of the experiment's size would reach its disks only once.
//! A control group counts the pages that its processes bring in, together with their own memory, and reclaims them at
//! the limit.
//!
//! Sources: <https://docs.kernel.org/admin-guide/cgroup-v2.html> (`memory.max`) and
//! <https://docs.kernel.org/admin-guide/cgroup-v1/memory.html> (`memory.limit_in_bytes`), read 2026-11-21.

use std::ffi::OsStr;
use std::fmt;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use host::orphans::Registration;
use model::Bytes;
use sysinfo::{MemoryRefreshKind, RefreshKind, System};

use super::product::Product;
use crate::EngineError;
use experiment::record::NOT_LIMITED;
use experiment::spec::Settings;

/// Memory of a session: catalogue caches, plans, stack.
const SESSION: Bytes = Bytes::mib(8);

/// Prefix of our groups' names; the creating process's id follows.
const PREFIX: &str = "dbstow-";

/// Where each version of control groups keeps this limit.
const VERSIONS: [Version; 2] = [
    Version {
        root: "/sys/fs/cgroup",
        limit: "memory.max",
        offer: Some("cgroup.subtree_control"),
    },
    Version {
        root: "/sys/fs/cgroup/memory",
        limit: "memory.limit_in_bytes",
        offer: None,
    },
];

struct Version {
    root: &'static str,
    /// The file of a group that contains its limit.
    limit: &'static str,
    /// The root's file that offers controllers to groups, if they do not have all of them.
    offer: Option<&'static str>,
}

/// The state of a server's memory limit.
#[derive(Debug)]
pub(crate) enum Memory {
    /// Its processes and their page cache are limited.
    Limited(Group),
    /// They are not, for this reason.
    Unlimited(String),
}

/// A control group, removed when it is not needed any more.
#[derive(Debug)]
pub(crate) struct Group {
    folder: PathBuf,
    /// The file in it that contains its limit.
    file: &'static str,
    limit: Bytes,
    registration: Arc<Registration>,
}

impl Memory {
    /// A limit for the server of these `settings`, if this machine allows one. `name` is part of the
    /// group's name, and unique to the server.
    pub(crate) fn limited(
        product: &Product,
        settings: &Settings,
        name: &OsStr,
        registration: &Arc<Registration>,
    ) -> Memory {
        let limit = limit(product, settings);
        let mut why = "no control groups for memory here".to_owned();
        for version in &VERSIONS {
            match Group::make(version, limit, name, registration) {
                Ok(group) => return Memory::Limited(group),
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                Err(error) => why = format!("{}: {error}", version.root),
            }
        }
        Memory::Unlimited(why)
    }

    /// Adds a process, and whatever it starts from now on.
    pub(crate) fn hold(&mut self, process: u32) {
        self.write("cgroup.procs", process.to_string());
    }

    /// Applies the limit. Not before the load is done: gathering statistics may take as much memory as 30,000 rows are
    /// long, which is not part of any trial.
    pub(crate) fn tighten(&mut self) {
        if let Memory::Limited(group) = self {
            let (file, limit) = (group.file, group.limit.0.to_string());
            self.write(file, limit);
        }
    }

    fn write(&mut self, file: &str, text: String) {
        let Memory::Limited(group) = self else { return };
        let path = group.folder.join(file);
        if let Err(error) = fs::write(&path, text) {
            *self = Memory::Unlimited(format!("{}: {error}", path.display()));
        }
    }
}

/// For the record's settings.
impl fmt::Display for Memory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Memory::Limited(group) => {
                write!(f, "within {} with the server's own memory", group.limit)
            }
            Memory::Unlimited(why) => write!(f, "{NOT_LIMITED} ({why})"),
        }
    }
}

impl Group {
    fn make(
        version: &Version,
        limit: Bytes,
        name: &OsStr,
        registration: &Arc<Registration>,
    ) -> io::Result<Group> {
        let root = Path::new(version.root);
        if let Some(offer) = version.offer {
            if !fs::read_to_string(root.join("cgroup.controllers"))?.contains("memory") {
                return Err(io::ErrorKind::NotFound.into());
            }
            fs::write(root.join(offer), "+memory")?;
        } else if !root.join(version.limit).exists() {
            return Err(io::ErrorKind::NotFound.into());
        }
        let folder = root.join(format!("{PREFIX}{}-{}", std::process::id(), name.display()));
        registration.grouping(&folder)?;
        if let Err(error) = fs::create_dir(&folder) {
            registration.ungrouped(&folder)?;
            return Err(error);
        }
        Ok(Group {
            folder,
            file: version.limit,
            limit,
            registration: Arc::clone(registration),
        })
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        // A group that still contains a process stays, and remains registered.
        if fs::remove_dir(&self.folder).is_ok() {
            let _ = self.registration.ungrouped(&self.folder);
        }
    }
}

/// Refuses settings that do not fit this machine's memory, which a server would report less clearly.
pub fn check(settings: &Settings) -> Result<(), EngineError> {
    let wanted = settings.engine.memory;
    let ram = RefreshKind::nothing().with_memory(MemoryRefreshKind::nothing().with_ram());
    // If the system does not report it, the server will.
    let there = System::new_with_specifics(ram).map_or(u64::MAX, |system| system.total_memory());
    let there = Bytes(there);
    if wanted < there {
        return Ok(());
    }
    Err(EngineError::Missing(format!(
        "engine.memory is {wanted}, and this machine has {there}; lower it, and the workload's rows with it: \
         --set engine.memory=\"{} MiB\"",
        (there.0 / 4) >> 20
    )))
}

/// Buffers, sort memory of sessions, and base memory of processes.
fn limit(product: &Product, settings: &Settings) -> Bytes {
    let engine = &settings.engine;
    // A statement may sort twice at once: a merge join.
    let session = SESSION.0 + 2 * engine.sort_memory.0;
    Bytes(engine.memory.0 + product.memory.0 + u64::from(settings.workload.sessions) * session)
}

#[cfg(test)]
mod tests {
    use super::super::stand_in::{STAND_IN, settings};
    use super::*;

    #[test]
    fn a_limit_has_room_for_buffers_server_and_sessions() {
        let settings = settings("32 MiB");
        let sort = settings.engine.sort_memory.0;
        let sessions = u64::from(settings.workload.sessions);
        let session = Bytes::mib(8).0 + 2 * sort;
        assert_eq!(
            limit(&STAND_IN, &settings).0,
            Bytes::mib(96).0 + sessions * session
        );
    }

    #[test]
    fn more_memory_than_there_is_is_refused_with_the_key() {
        assert!(check(&settings("32 MiB")).is_ok());
        let error = check(&settings("31 TiB")).unwrap_err().to_string();
        assert!(error.contains("engine.memory is 31 TiB"), "{error}");
        assert!(error.contains("--set engine.memory="), "{error}");
    }
}
