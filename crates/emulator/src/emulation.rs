//! Mounted modelled volumes, from start to stop.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::contents::Kept;
use super::environment;
use super::error::{EmulationError, not_written_down};
use super::fault::Fault;
use super::mounted::{Mounted, Parts};
use super::pace::Pace;
use super::prepare;
use super::setup::{EmulationSpec, Front, MountSpec};
use super::trace::Trace;
use super::transport::{Chosen, Replies, Transport as _};
use host::clock::Clock;
use host::mounts;
use host::orphans::Registration;
use paced::PacedStorage;
use reading::{Pacing, Reading};

/// Mounted volumes that share a machine. Dropping it unmounts them.
pub struct Emulation {
    /// In the order of the specification; torn down in reverse order.
    volumes: Vec<Box<dyn Mounted>>,
    parts: Parts,
    /// Names of the volumes and where they are mounted.
    places: Vec<(String, PathBuf)>,
    environment: Vec<(String, String)>,
}

impl Emulation {
    /// Mounts every volume of `spec`; if one fails, those before it are torn down again.
    ///
    /// # Errors
    /// When the machine lacks a requirement, or a directory cannot be used.
    pub fn start(spec: &EmulationSpec) -> Result<Emulation, EmulationError> {
        prepare::check(spec)?;
        let clock = Clock::start();
        let failed = |source| EmulationError::system("cannot start the emulator's threads", source);
        let transport = Chosen::new(spec.transport).map_err(EmulationError::Transport)?;
        let pace = Pace::calibrate(clock, transport.answers()).map_err(failed)?;
        let pace = Arc::new(pace);
        let volumes: Vec<_> = spec
            .volumes
            .iter()
            .map(|mount| mount.volume.clone())
            .collect();
        let parts = Parts {
            storage: Arc::new(PacedStorage::new(clock, &spec.machine, &volumes, spec.seed)),
            replies: Replies::start(Arc::clone(&pace)).map_err(failed)?,
            transport,
            trace: trace(spec)?,
            kept: Kept::of(spec)?,
            registration: Arc::new(Registration::new().map_err(not_written_down)?),
            pace,
        };
        let mut emulation = Emulation {
            volumes: Vec::new(),
            environment: environment::of(spec, parts.transport.name()),
            parts,
            places: spec
                .volumes
                .iter()
                .map(|mount| (mount.volume.name.clone(), mount.directory.clone()))
                .collect(),
        };
        for (place, mount) in spec.volumes.iter().enumerate() {
            let volume = front(mount, place, &emulation.parts)?;
            emulation.volumes.push(volume);
        }
        Ok(emulation)
    }

    /// Counters so far.
    pub fn reading(&self) -> Reading {
        Reading {
            pacing: Some(self.pacing()),
            ..self.parts.storage.reading()
        }
    }

    fn pacing(&self) -> Pacing {
        self.parts.pace.reading(self.parts.transport.name())
    }

    /// Drops the content of the modelled host caches.
    pub fn empty_host_cache(&self) {
        self.parts.storage.empty_host_cache();
    }

    /// Names of the volumes and where they are mounted, in the order of the specification.
    pub fn volumes(&self) -> &[(String, PathBuf)] {
        &self.places
    }

    /// Facts about the place by name: kernel, transport, and the underlying storage of each volume.
    pub fn environment(&self) -> &[(String, String)] {
        &self.environment
    }

    /// A folder for files of this emulation, removed when it stops.
    pub fn folder(&self) -> &Path {
        self.parts.registration.folder()
    }

    /// Writes back and drops what the kernel caches of the volumes' files. Returns what could not be
    /// done, human-readable.
    ///
    /// # Errors
    /// When a volume is gone.
    pub fn drop_caches(&mut self) -> io::Result<Vec<String>> {
        let dropped = self.volumes.iter_mut().map(|volume| volume.drop_caches());
        let notes: Vec<Vec<String>> = dropped.collect::<io::Result<_>>()?;
        Ok(notes.concat())
    }

    /// Unmounts every volume and mounts it again, as after a restart of its machine. Block mode only.
    ///
    /// # Errors
    /// When one is in use, or cannot be mounted any more.
    pub fn mount_again(&mut self) -> io::Result<()> {
        let mut volumes = self.volumes.iter_mut();
        volumes.try_for_each(|volume| volume.mount_again())
    }

    /// Makes the next request of a kind to the volume with index `place` fail, once. Block mode only.
    ///
    /// # Errors
    /// In file mode.
    ///
    /// # Panics
    /// When no volume has that index.
    pub fn arm(&self, place: usize, fault: Fault) -> io::Result<()> {
        self.volumes[place].arm(fault)
    }

    /// How many requests have failed on demand.
    pub fn failed(&self) -> u64 {
        self.volumes.iter().map(|volume| volume.failed()).sum()
    }

    /// Problems with real files so far, human-readable: a full backing disk, ..
    pub fn problems(&self) -> Vec<String> {
        let problems = self.volumes.iter().map(|volume| volume.problem());
        problems.flatten().collect()
    }

    /// Processes that use a volume, by name and process id, and the volume's directory.
    pub fn users(&self) -> Vec<(PathBuf, Vec<String>)> {
        let users = self.places.iter().map(|(_, directory)| {
            let nested = mounts::within(directory).unwrap_or_default();
            let nested = nested.into_iter().filter(|other| other != directory);
            let nested = nested.map(|other| format!("a mount at {}", other.display()));
            let users = mounts::users(directory).into_iter().chain(nested);
            (directory.clone(), users.collect::<Vec<_>>())
        });
        users.filter(|(_, users)| !users.is_empty()).collect()
    }

    /// Unmounts every volume, even while programs still use it.
    ///
    /// # Errors
    /// All failures, combined; the other volumes are torn down all the same.
    pub fn stop(mut self) -> Result<(), EmulationError> {
        self.take_down()
    }

    /// Like [`Emulation::stop`], but also returns the final counters, including what unmounting wrote back.
    pub(super) fn stop_and_count(mut self) -> (Result<(), EmulationError>, Reading) {
        let stopped = self.take_down();
        (stopped, self.reading())
    }

    fn take_down(&mut self) -> Result<(), EmulationError> {
        let mut failures = Vec::new();
        while let Some(volume) = self.volumes.pop() {
            failures.extend(volume.stop().err());
        }
        let trace = self
            .parts
            .trace
            .as_ref()
            .and_then(|trace| trace.finish().err());
        failures.extend(
            trace.map(|source| {
                EmulationError::system("the trace of requests is not complete", source)
            }),
        );
        let recorded = self.parts.kept.finish().err();
        failures.extend(recorded.map(|source| {
            EmulationError::system("what was written is not completely recorded", source)
        }));
        let left = self.parts.registration.finish().err();
        failures.extend(left.into_iter().flatten().map(EmulationError::Left));
        match failures.len() {
            0 => Ok(()),
            1 => Err(failures.remove(0)),
            _ => {
                let texts: Vec<String> = failures.iter().map(ToString::to_string).collect();
                Err(EmulationError::Left(texts.join("; ")))
            }
        }
    }
}

impl Drop for Emulation {
    fn drop(&mut self) {
        // No caller to report to; whatever is left stays registered for the next start.
        let _ = self.take_down();
    }
}

fn trace(spec: &EmulationSpec) -> Result<Option<Arc<Trace>>, EmulationError> {
    let create = |path: &PathBuf| {
        Trace::create(path).map(Arc::new).map_err(|source| {
            EmulationError::system(
                format!("cannot write a trace to {}", path.display()),
                source,
            )
        })
    };
    spec.trace.as_ref().map(create).transpose()
}

fn front(
    mount: &MountSpec,
    place: usize,
    parts: &Parts,
) -> Result<Box<dyn Mounted>, EmulationError> {
    match mount.front {
        Front::File => super::file::mount(mount, place, parts),
        Front::Block { .. } => super::block::mount(mount, place, parts),
    }
}
