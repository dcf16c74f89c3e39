//! Directories for the volumes of every trial of a run, and the engine on them.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use files::PlainName;
use host::orphans::Registration;
use host::plain::{PlainSite, PlainVolume};
use host::site::Site;
use model::random;
use paced::{PacedSite, Pacer};
use parking_lot::Mutex;

use super::error::VolumesError;
use super::preflight::{self, Parents};
use super::work_dir::{self, Open, WorkDir, WorkDirError};
use super::{Placed, Subject, Supply};
use engine::hooks::{Emulator, HostHooks};
use engine::{EngineProvider, EngineRun, Modelled, Opening, Options, TrialVolumes};
use experiment::plan::Plan;
use experiment::spec::Mode;

/// The volumes of a run.
pub struct RunVolumes {
    options: Options,
    /// Where the bytes are and, for emulated volumes, the mount points.
    work_dirs: Vec<WorkDir>,
    /// Which directory each volume is on, by name; empty if all are on the first.
    on: BTreeMap<String, usize>,
    keep: bool,
    /// Who has access to its directories.
    open: Open,
    engine: Box<dyn EngineRun>,
    /// Volumes of trials that a server could not leave yet.
    held: Mutex<Vec<Held>>,
    /// Emulators that ended before they were stopped: the trial, and how.
    pub(super) lost: Arc<Mutex<Vec<String>>>,
    #[cfg_attr(
        not(all(target_os = "linux", feature = "emulator")),
        expect(dead_code, reason = "only the emulator mounts modelled volumes")
    )]
    pub(super) emulator: Emulator,
    pub(super) registration: Arc<Registration>,
}

/// Volumes that outlive their trial.
struct Held {
    stop: StopVolumes,
    /// The trial's directories.
    trial: String,
}

/// What the user must take care of after a run, human-readable.
#[derive(Debug, Default)]
pub struct Orphans {
    /// Changes on a server that could not be restored.
    pub not_put_back: Vec<String>,
    /// Emulators that ended before they were stopped: the trial, and how.
    pub lost_emulators: Vec<String>,
    /// Everything else.
    pub others: Vec<String>,
}

impl RunVolumes {
    /// Opens the engine, and creates dbstow's own directory in each parent given by the user. With `keep`, they
    /// stay at the end.
    ///
    /// # Errors
    /// When one cannot be used, or has not enough space, or the engine is not usable.
    pub fn claim(
        plan: &Plan,
        engine: &dyn EngineProvider,
        options: &Options,
        keep: bool,
        hooks: &HostHooks,
    ) -> Result<RunVolumes, VolumesError> {
        let Parents { paths, on } = preflight::look(plan, engine, options)?;
        let digest = &plan.digest()[..8];
        let registration = Arc::new(registration()?);
        let open = Open::to(engine.users());
        // Before any directory is claimed: files of a server may still lie in one that a killed run left.
        let opened = engine.open(&Opening {
            options,
            mode: plan.variant.mode,
            arms: &plan.arms,
            hooks,
            registration: &registration,
        });
        let engine = match opened {
            Ok(engine) => engine,
            Err(error) => {
                // Nothing is registered yet; an empty registration that stays is cleared next time.
                let _ = registration.finish();
                return Err(error.into());
            }
        };
        let mut volumes = RunVolumes {
            options: options.clone(),
            work_dirs: Vec::new(),
            on,
            keep,
            open,
            engine,
            held: Mutex::default(),
            lost: Arc::default(),
            emulator: hooks.emulator,
            registration,
        };
        for parent in &paths {
            match volumes.claim_in(parent, digest) {
                Ok(work_dir) => volumes.work_dirs.push(work_dir),
                Err(error) => {
                    // Earlier directories are still empty, and the run has not changed anything on a server yet;
                    // what cannot be removed is taken over next time.
                    volumes.close();
                    return Err(error);
                }
            }
        }
        Ok(volumes)
    }

    /// Claims a directory, and registers it before it is created, unless it is kept or an existing server has
    /// files in it, which must not be removed from under it.
    fn claim_in(&self, parent: &Path, plan: &str) -> Result<WorkDir, VolumesError> {
        let root = WorkDir::path(parent, plan);
        let stays = self.keep || self.options.server.is_some();
        let not_written = |source| VolumesError::Io {
            what: format!("writing down {}", root.display()),
            source,
        };
        if !stays {
            let written = self.registration.claiming(&root, work_dir::MARK);
            written.map_err(not_written)?;
        }
        match WorkDir::claim(parent, plan, self.open, self.keep) {
            Ok(work_dir) if stays => Ok(work_dir),
            Ok(work_dir) => {
                self.registration.claimed(&root).map_err(not_written)?;
                Ok(work_dir)
            }
            Err(error) => {
                self.registration.removed(&root).map_err(not_written)?;
                Err(error.into())
            }
        }
    }

    /// Removes them, once a server has everything restored.
    pub fn close(self) -> Orphans {
        let closed = self.engine.close();
        let mut others: Vec<String> = closed.left_behind.into_iter().collect();
        for Held { stop, trial } in std::mem::take(&mut *self.held.lock()) {
            others.extend(self.take_away(stop, &trial));
        }
        others.extend(self.clear_lost());
        let lost_emulators = std::mem::take(&mut *self.lost.lock());
        let work_dirs = self.work_dirs.into_iter().map(WorkDir::close);
        let left = work_dirs.filter_map(|closed| closed.err().map(|error| error.to_string()));
        others.extend(left);
        // After the others: it removes what is left of what is registered.
        others.extend(self.registration.finish().err().into_iter().flatten());
        Orphans {
            not_put_back: closed.not_put_back,
            lost_emulators,
            others,
        }
    }

    /// The volumes of a server that creates its files itself, as it sees them.
    fn served(&self, subject: &Subject<'_>) -> Option<Sited> {
        let volumes = subject.settings.volumes.iter();
        let directory = |name: &str| self.options.volumes.get(name).cloned().unwrap_or_default();
        let directories = volumes.map(|volume| directory(&volume.name)).collect();
        let site = self.engine.site(subject.settings, directories)?;
        Some(Sited {
            site: Arc::from(site),
            pacer: None,
            stop: Box::new(|| Ok(())),
        })
    }

    #[cfg(all(target_os = "linux", feature = "emulator"))]
    pub(super) fn options(&self) -> &Options {
        &self.options
    }

    /// Creates a directory for each of the trial's volumes, below one with access for others if `open`; `part`
    /// distinguishes several directories of a volume.
    pub(super) fn make(
        &self,
        subject: &Subject<'_>,
        part: Part,
        open: Open,
    ) -> Result<Vec<PathBuf>, WorkDirError> {
        let volumes = subject.stage.volumes.iter();
        let trial = trial_name(subject);
        let make = |volume: &model::VolumeSpec| {
            let (trial, name) = (PlainName::new(&trial)?, PlainName::new(&volume.name)?);
            let work_dir = self.work_dir(&volume.name, part);
            work_dir.make(trial, (part.name(), open), name)
        };
        volumes.map(make).collect()
    }

    /// Gives a server access to the volumes of a trial, now that they are mounted and their roots cannot be listed.
    #[cfg(all(target_os = "linux", feature = "emulator"))]
    pub(super) fn let_in(&self, subject: &Subject<'_>) -> Result<(), WorkDirError> {
        let mounts = self
            .work_dirs
            .last()
            .expect("modelled disks are mounted somewhere");
        let trial = trial_name(subject);
        mounts.let_in(PlainName::new(&trial)?, Part::Mounts.name())
    }

    /// Who has access to its directories.
    #[cfg(all(target_os = "linux", feature = "emulator"))]
    pub(super) fn open(&self) -> Open {
        self.open
    }

    /// Ends the volumes of a trial, unless a server still uses them, and removes its directories.
    fn end(&self, stop: StopVolumes, trial: String) -> Vec<String> {
        if self.engine.holds_volumes() {
            self.held.lock().push(Held { stop, trial });
            return vec![
                "the server still has files on the trial's volumes: they stay until it has left them".to_owned(),
            ];
        }
        self.take_away(stop, &trial)
    }

    fn take_away(&self, stop: StopVolumes, trial: &str) -> Vec<String> {
        let stopped = stop().err().map(|error| format!("the volumes: {error}"));
        let cleared = self.clear_lost();
        let left = stopped.into_iter().chain(cleared);
        left.chain(self.remove(trial)).collect()
    }

    /// Removes a trial's directories. Returns what is left.
    fn remove(&self, trial: &str) -> Vec<String> {
        let remove = |work_dir: &WorkDir| work_dir.remove(PlainName::new(trial)?);
        let removed = self.work_dirs.iter().map(remove);
        removed
            .filter_map(|removed| removed.err().map(|error| error.to_string()))
            .collect()
    }

    fn work_dir(&self, volume: &str, part: Part) -> &WorkDir {
        let place = match part {
            Part::Bytes => self.on.get(volume).copied().unwrap_or(0),
            Part::Mounts => self.work_dirs.len() - 1,
        };
        &self.work_dirs[place]
    }

    /// Real directories, unchanged.
    fn measured(&self, subject: &Subject<'_>) -> Result<Sited, String> {
        let directories = self.make(subject, Part::Bytes, self.open);
        let directories = directories.map_err(|error| error.to_string())?;
        let volumes = subject.stage.volumes.iter().zip(directories);
        let volumes = volumes.map(|(volume, directory)| PlainVolume {
            name: volume.name.clone(),
            directory,
        });
        let site = PlainSite::new(volumes.collect());
        Ok(Sited::new(site.map_err(|error| error.to_string())?))
    }

    /// Real directories whose requests are paced by an engine inside this process.
    fn paced(&self, subject: &Subject<'_>) -> Result<Sited, String> {
        let directories = self.make(subject, Part::Bytes, self.open);
        let directories = directories.map_err(|error| error.to_string())?;
        let stage = subject.stage;
        let volumes = stage.volumes.iter().cloned().zip(directories).collect();
        let seed = random::derive(subject.id.seed, "store", 0);
        let site = PacedSite::new(&stage.machine, volumes, seed);
        let pacer = Some(site.pacer());
        Ok(Sited {
            pacer,
            ..Sited::new(site)
        })
    }
}

/// The purpose of a directory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Part {
    /// The bytes of a volume.
    Bytes,
    /// Where an emulated volume is mounted.
    #[cfg_attr(
        not(all(target_os = "linux", feature = "emulator")),
        expect(dead_code, reason = "only the emulator mounts modelled volumes")
    )]
    Mounts,
}

impl Part {
    fn name(self) -> &'static str {
        match self {
            Part::Bytes => "bytes",
            Part::Mounts => "volumes",
        }
    }
}

impl Supply for RunVolumes {
    fn place<'a>(&'a self, subject: &'a Subject<'a>) -> Result<Placed<'a>, String> {
        let modelled = subject.mode != Mode::Measure;
        let made = match (modelled, subject.engine.modelled()) {
            (false, _) => match self.served(subject) {
                Some(served) => Ok(served),
                None => self.measured(subject),
            },
            (true, Modelled::Paced) => self.paced(subject),
            (true, Modelled::Mounted { front, owner }) => self.emulated(subject, front, owner),
        };
        let sited = made.map_err(|error| {
            let cleared = self.clear_lost();
            let left = self.remove(&trial_name(subject));
            [vec![error], cleared, left].concat().join("; ")
        })?;
        let (site, pacer, stop) = (sited.site, sited.pacer, sited.stop);
        let on = Arc::clone(&site);
        Ok(Placed {
            disks: match modelled {
                true => subject.stage.disks.clone(),
                false => vec!["real".to_owned(); subject.stage.volumes.len()],
            },
            engine: Box::new(move || {
                self.engine.start(TrialVolumes {
                    settings: subject.settings,
                    statements: subject.work.statements(),
                    site: &*on,
                    pacer,
                })
            }),
            site,
            close: Box::new(move || self.end(stop, trial_name(subject))),
            keep: self.keep,
            player: None,
        })
    }
}

/// A site, and the pacer of an engine inside this process.
pub(super) struct Sited {
    pub(super) site: Arc<dyn Site + Send + Sync>,
    /// SQLite on modelled disks only.
    pub(super) pacer: Option<Arc<Pacer>>,
    /// Removes the volumes, once they are unused.
    pub(super) stop: StopVolumes,
}

type StopVolumes = Box<dyn FnOnce() -> std::io::Result<()> + Send>;

impl Sited {
    pub(super) fn new(site: impl Site + Send + 'static) -> Sited {
        Sited {
            site: Arc::new(site),
            pacer: None,
            stop: Box::new(|| Ok(())),
        }
    }
}

fn registration() -> Result<Registration, VolumesError> {
    let made = Registration::new();
    made.map_err(|source| VolumesError::Io {
        what: "writing down what is made, so that it can be cleared".to_owned(),
        source,
    })
}

/// The directory of a trial: block and arm.
fn trial_name(subject: &Subject<'_>) -> String {
    let arm = subject
        .id
        .arm
        .replace(|c: char| !c.is_ascii_alphanumeric(), "-");
    format!("{:03}-{arm}", subject.id.block)
}
