//! Modelled volumes under real files, through FUSE.

use super::Subject;
#[cfg(not(all(target_os = "linux", feature = "emulator")))]
use super::preflight::MISSING;
use super::run_volumes::{RunVolumes, Sited};
use engine::FrontKind;

#[cfg(not(all(target_os = "linux", feature = "emulator")))]
impl RunVolumes {
    pub(super) fn emulated(
        &self,
        _subject: &Subject<'_>,
        _front: FrontKind,
        _owner: Option<&str>,
    ) -> Result<Sited, String> {
        Err(MISSING.to_owned())
    }

    pub(super) fn clear_lost(&self) -> Vec<String> {
        Vec::new()
    }
}

#[cfg(all(target_os = "linux", feature = "emulator"))]
mod linux {
    use std::sync::Arc;

    use emulator::{
        Contents, EmulationSpec, Filesystem, Front, MountSpec, Others, RemoteSite, TransportChoice,
    };
    use model::{Bytes, VolumeSpec, random};

    use host::orphans;

    use super::super::run_volumes::Part;
    use super::super::work_dir::Open;
    use super::*;
    use engine::TransportKind;

    /// Most space that an emulated volume reports beyond the files of fixed size on it: enough for any
    /// built-in workload, and quick to format.
    const SPARE: Bytes = Bytes::gib(16);

    impl RunVolumes {
        /// Mounts modelled volumes, served by a separate process.
        ///
        /// They are presented as the user requested, or by the `front` that suits the engine; `owner` is the
        /// system user that writes to them.
        pub(in super::super) fn emulated(
            &self,
            subject: &Subject<'_>,
            front: FrontKind,
            owner: Option<&str>,
        ) -> Result<Sited, String> {
            // Only the emulator uses the bytes, and volumes are entered once they are mounted.
            let make = |part| {
                let made = self.make(subject, part, Open::ToNobody);
                made.map_err(|error| error.to_string())
            };
            let (backing, mounts) = (make(Part::Bytes)?, make(Part::Mounts)?);
            let front = self.front(subject, front);
            let owner = owner.and_then(user);
            let volumes = subject.stage.volumes.iter().zip(backing).zip(mounts);
            let volumes = volumes.map(|((volume, backing), directory)| MountSpec {
                volume: volume.clone(),
                front,
                directory,
                backing,
                size: size(subject, volume),
                owner,
                others: match (self.open(), owner) {
                    (Open::ToPass, None) => Others::Pass,
                    (Open::ToPass, Some(_)) | (Open::ToNobody, _) => Others::Nothing,
                },
            });
            let spec = EmulationSpec {
                machine: subject.stage.machine.clone(),
                volumes: volumes.collect(),
                seed: random::derive(subject.id.seed, "store", 0),
                transport: match self.options().transport {
                    Some(TransportKind::Fuser) | None => TransportChoice::Fuser,
                    Some(TransportKind::IoUring) => TransportChoice::IoUring,
                },
                trace: None,
                contents: Contents::InPlace,
            };
            let command = (self.emulator)().map_err(|error| format!("the emulator: {error}"))?;
            let trial = format!("block {}, {}", subject.id.block + 1, subject.id.arm);
            let site = RemoteSite::start(command, &spec).map_err(|error| {
                if error.kind() == std::io::ErrorKind::UnexpectedEof {
                    self.lost.lock().push(format!("{trial}: {error}"));
                }
                format!("mounting the volumes: {error}")
            })?;
            if let Err(error) = self.let_in(subject) {
                let stopped = site.stop().map_err(|error| error.to_string());
                return Err([Err(error.to_string()), stopped]
                    .into_iter()
                    .filter_map(Result::err)
                    .collect::<Vec<_>>()
                    .join("; "));
            }
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
                        // What it leaves is cleaned up afterwards.
                        Some(how) => {
                            lost.lock().push(format!("{trial}: {how}"));
                            Ok(())
                        }
                    }
                }),
            })
        }

        /// Cleans up after emulators that ended before they were stopped: of this run, or of any that no longer runs.
        pub(in super::super) fn clear_lost(&self) -> Vec<String> {
            if self.lost.lock().is_empty() {
                return Vec::new();
            }
            match orphans::clear() {
                Ok(cleared) => cleared.failed,
                Err(error) => vec![error.to_string()],
            }
        }

        /// The front requested by the user, or else the one that `suits` the engine; only root can
        /// use block mode.
        fn front(&self, subject: &Subject<'_>, suits: FrontKind) -> Front {
            let possible = || is_root() && host::loop_device::exist();
            let front = match (self.options().front, suits) {
                (Some(asked), _) => asked,
                (None, FrontKind::Block) if possible() => FrontKind::Block,
                (None, FrontKind::Block | FrontKind::File) => FrontKind::File,
            };
            match front {
                FrontKind::Block => Front::Block {
                    filesystem: Filesystem::Ext4,
                    read_ahead: Some(subject.settings.engine.read_ahead),
                },
                FrontKind::File => Front::File,
            }
        }
    }

    /// User and group id of a system user; only root can give files to another user.
    fn user(name: &str) -> Option<(u32, u32)> {
        if !is_root() {
            return None;
        }
        let user = nix::unistd::User::from_name(name).ok().flatten()?;
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
