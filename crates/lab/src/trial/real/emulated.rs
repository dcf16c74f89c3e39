//! Modelled volumes under real files, through FUSE.

use super::Subject;
use super::places::{Places, Sited};

#[cfg(not(target_os = "linux"))]
impl Places {
    pub(super) fn emulated(&self, _subject: &Subject<'_>) -> Result<Sited, String> {
        Err("modelled disks under real files need Linux (FUSE)".to_owned())
    }

    pub(super) fn clear_lost(&self) -> Vec<String> {
        Vec::new()
    }
}

#[cfg(target_os = "linux")]
mod linux {
    use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

    use model::{Bytes, VolumeSpec, random};
    use volume::fuse::{
        EmulationSpec, Filesystem, Front, MountSpec, RemoteSite, TransportChoice, leftovers,
    };

    use super::super::options::{FrontKind, TransportKind};
    use super::super::places::Part;
    use super::*;
    use experiment::spec::EngineKind;

    /// How large an emulated volume says it is, at most, beyond the files of fixed size on it: enough for
    /// any built-in workload, and quick to format.
    const SPARE: Bytes = Bytes::gib(16);

    impl Places {
        /// Mounts modelled volumes, served by a process of its own.
        pub(in super::super) fn emulated(&self, subject: &Subject<'_>) -> Result<Sited, String> {
            let make = |part| self.make(subject, part).map_err(|error| error.to_string());
            let (backing, mounts) = (make(Part::Bytes)?, make(Part::Mounts)?);
            let front = self.front(subject);
            let volumes = subject.stage.volumes.iter().zip(backing).zip(mounts);
            let volumes = volumes.map(|((volume, backing), directory)| MountSpec {
                volume: volume.clone(),
                front,
                directory,
                backing,
                size: size(subject, volume),
                owner: owner(subject.variant.engine),
            });
            let spec = EmulationSpec {
                machine: subject.stage.machine.clone(),
                volumes: volumes.collect(),
                seed: random::derive(subject.id.seed, "store", 0),
                transport: match self.options().transport {
                    Some(TransportKind::Auto) | None => TransportChoice::Auto,
                    Some(TransportKind::Fuser) => TransportChoice::Fuser,
                    Some(TransportKind::IoUring) => TransportChoice::IoUring,
                },
                trace: None,
            };
            let command = (self.emulator)().map_err(|error| format!("the emulator: {error}"))?;
            let trial = format!("block {}, {}", subject.id.block + 1, subject.id.arm);
            let site = RemoteSite::start(command, &spec).map_err(|error| {
                if error.kind() == std::io::ErrorKind::UnexpectedEof {
                    self.note_lost(&format!("{trial}: {error}"));
                }
                format!("mounting the volumes: {error}")
            })?;
            let site = Arc::new(site);
            let mounted = Arc::clone(&site);
            let lost = Arc::clone(&self.lost);
            Ok(Sited {
                site,
                pacer: None,
                stop: Box::new(move || {
                    let stopped = mounted.stop();
                    match mounted.lost().filter(|_| stopped.is_err()) {
                        None => stopped,
                        // What it leaves is cleared behind it.
                        Some(how) => {
                            note(&lost, format!("{trial}: {how}"));
                            Ok(())
                        }
                    }
                }),
            })
        }

        fn note_lost(&self, what: &str) {
            note(&self.lost, what.to_owned());
        }

        /// Takes away what emulators left that ended before they were stopped: of this run, or of any that
        /// is no more.
        pub(in super::super) fn clear_lost(&self) -> Vec<String> {
            if lock(&self.lost).is_empty() {
                return Vec::new();
            }
            match leftovers::clear() {
                Ok(cleared) => cleared.failed,
                Err(error) => vec![error.to_string()],
            }
        }

        /// Block mode where it is possible and of use: for engines that read through the page cache.
        fn front(&self, subject: &Subject<'_>) -> Front {
            let block = Front::Block {
                filesystem: Filesystem::Ext4,
                read_ahead: Some(subject.settings.engine.read_ahead),
            };
            match (self.options().front, subject.variant.engine) {
                (Some(FrontKind::Block), _) => block,
                (Some(FrontKind::File), _) | (None, EngineKind::Raw | EngineKind::Sqlite) => {
                    Front::File
                }
                (None, EngineKind::Postgres | EngineKind::SqlServer)
                    if is_root() && volume::fuse::loop_devices_exist() =>
                {
                    block
                }
                (None, EngineKind::Postgres | EngineKind::SqlServer) => Front::File,
            }
        }
    }

    fn lock(lost: &Mutex<Vec<String>>) -> MutexGuard<'_, Vec<String>> {
        lost.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn note(lost: &Mutex<Vec<String>>, what: String) {
        lock(lost).push(what);
    }

    /// As whom a server that is there already writes to its volumes: SQL Server's packages make a user for it.
    /// Other engines get directories of their own on them.
    fn owner(engine: EngineKind) -> Option<(u32, u32)> {
        if engine != EngineKind::SqlServer || !is_root() {
            return None;
        }
        let user = nix::unistd::User::from_name("mssql").ok().flatten()?;
        Some((user.uid.as_raw(), user.gid.as_raw()))
    }

    fn is_root() -> bool {
        nix::unistd::geteuid().is_root()
    }

    fn size(subject: &Subject<'_>, volume: &VolumeSpec) -> Bytes {
        let disks = volume.disks.iter().map(|disk| disk.size.0);
        let whole = disks.fold(0, u64::saturating_add);
        let files = subject.settings.placement.size_on(&volume.name).0;
        Bytes(whole.min(files.saturating_add(SPARE.0)))
    }
}
