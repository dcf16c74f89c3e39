//! Directories for the volumes of every trial of a run, and the engine on them.

use std::collections::BTreeMap;
use std::env;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use model::{Bytes, random};
use volume::leftovers::Registration;
use volume::plain::{PlainSite, PlainVolume, free_space};
use volume::real_time::{PacedSite, Pacer};
use volume::site::Site;

use super::work_dir::{self, WorkDir, WorkDirError};
use super::{Options, Placed, Subject, Supply, engines};
use crate::engine::sqlserver::{Access, Prompt, ServerRun, ServerSite};
use experiment::plan::Plan;
use experiment::spec::{Arm, EngineKind, Mode};

/// Where the volumes of a run are.
pub struct Places {
    options: Options,
    /// Where the bytes are; for emulated volumes, and where they are mounted.
    grounds: Vec<WorkDir>,
    /// Which ground each volume is on, by name; none where all are on the first.
    on: BTreeMap<String, usize>,
    keep: bool,
    /// The SQL Server of the run, where it has one.
    server: Option<Arc<ServerRun>>,
    /// Volumes of trials that a server could not leave yet.
    held: Mutex<Vec<Held>>,
    /// Emulators that ended before they were stopped: the trial, and how.
    pub(super) lost: Arc<Mutex<Vec<String>>>,
    #[cfg_attr(
        not(target_os = "linux"),
        expect(dead_code, reason = "only Linux mounts modelled volumes")
    )]
    pub(super) emulator: Emulator,
    pub(super) registration: Arc<Registration>,
}

/// Volumes that stay beyond their trial.
struct Held {
    stop: StopVolumes,
    /// Where the trial has its directories.
    trial: PathBuf,
}

/// What somebody has to see to once a run is over, for people.
#[derive(Debug, Default)]
pub struct Leftovers {
    /// What was changed on a server and could not be put back.
    pub not_put_back: Vec<String>,
    /// Emulators that ended before they were stopped: the trial, and how.
    pub lost_emulators: Vec<String>,
    /// Everything else.
    pub others: Vec<String>,
}

/// Gives the command that starts an emulator in a process of its own.
pub type Emulator = fn() -> std::io::Result<Command>;

/// What only the program around can do.
#[derive(Clone)]
pub struct HostHooks {
    /// Starts emulators.
    pub emulator: Emulator,
    /// Asks the user to do something.
    pub prompt: Prompt,
    /// Is set once the run is to end.
    pub interrupted: Arc<AtomicBool>,
}

/// Why a run cannot have its volumes where it should.
#[derive(Debug, thiserror::Error)]
pub enum PlacesError {
    /// A directory cannot be used.
    #[error(transparent)]
    WorkDir(#[from] WorkDirError),
    /// The server cannot be used.
    #[error(transparent)]
    Server(#[from] crate::engine::EngineError),
    /// There is too little room.
    #[error(
        "{directory} has {free} free, and the volumes of an arm may take {needed}; make room, or give another directory"
    )]
    Full {
        /// Which directory.
        directory: PathBuf,
        /// What is free.
        free: Bytes,
        /// What may be needed.
        needed: Bytes,
    },
    /// The system refused something.
    #[error("{what}: {source}")]
    Io {
        /// What was tried.
        what: String,
        /// Why it did not work.
        source: std::io::Error,
    },
}

/// Least free space a run asks for, where the experiment does not say how large its files are.
const SPACE_LEAST: Bytes = Bytes::gib(1);

impl Places {
    /// Makes dbstow's own directory in each that the user gave. With `keep`, they stay in the end.
    ///
    /// # Errors
    /// When one cannot be used, or has not enough room.
    pub fn claim(
        plan: &Plan,
        options: &Options,
        keep: bool,
        outside: HostHooks,
    ) -> Result<Places, PlacesError> {
        let temporary = env::temp_dir();
        let mut parents: Vec<PathBuf> = Vec::new();
        let mut on = BTreeMap::new();
        match (plan.variant.mode, plan.variant.engine) {
            // The server makes its files itself, in directories as it sees them.
            (Mode::Measure, EngineKind::SqlServer) => {}
            (Mode::Measure, _) => {
                for (volume, directory) in &options.volumes {
                    let whole = whole(directory)?;
                    let known = parents.iter().position(|parent| *parent == whole);
                    let place = known.unwrap_or(parents.len());
                    if known.is_none() {
                        parents.push(whole);
                    }
                    on.insert(volume.clone(), place);
                }
            }
            (Mode::Simulate | Mode::Emulate, _) => {
                parents.push(whole(options.backing.as_ref().unwrap_or(&temporary))?);
                parents.push(whole(&temporary)?);
                parents.dedup();
            }
        }
        for (place, parent) in parents.iter().enumerate() {
            let holds = |volume: &str| on.get(volume).map_or(place == 0, |on| *on == place);
            check_space(parent, space(&plan.arms, holds))?;
        }
        let digest = &plan.digest()[..8];
        let mut places = Places {
            options: options.clone(),
            grounds: Vec::new(),
            on,
            keep,
            server: None,
            held: Mutex::default(),
            lost: Arc::default(),
            emulator: outside.emulator,
            registration: Arc::new(registration()?),
        };
        for parent in &parents {
            match places.ground_in(parent, digest) {
                Ok(ground) => places.grounds.push(ground),
                Err(error) => {
                    // Those before it are empty still; what cannot be taken away is taken over next time.
                    places.close();
                    return Err(error);
                }
            }
        }
        if plan.variant.engine == EngineKind::SqlServer {
            match server(plan, options, outside) {
                Ok(server) => places.server = Some(Arc::new(server)),
                Err(error) => {
                    places.close();
                    return Err(error.into());
                }
            }
        }
        Ok(places)
    }

    /// Claims a ground, written down before it is made. Not one that is kept; nor one in which a server that
    /// is there already has files, from under which nothing may be taken.
    fn ground_in(&self, parent: &Path, plan: &str) -> Result<WorkDir, PlacesError> {
        let root = WorkDir::path(parent, plan);
        let stays = self.keep || self.options.server.is_some();
        let not_written = |source| PlacesError::Io {
            what: format!("writing down {}", root.display()),
            source,
        };
        if !stays {
            let written = self.registration.claiming(&root, work_dir::MARK);
            written.map_err(not_written)?;
        }
        match WorkDir::claim(parent, plan, self.keep) {
            Ok(ground) if stays => Ok(ground),
            Ok(ground) => {
                self.registration.claimed(&root).map_err(not_written)?;
                Ok(ground)
            }
            Err(error) => {
                self.registration.removed(&root).map_err(not_written)?;
                Err(error.into())
            }
        }
    }

    /// Takes them away again, once a server has everything back.
    pub fn close(self) -> Leftovers {
        let server = self.server.as_ref();
        let mut not_put_back = server.map(|server| server.close()).unwrap_or_default();
        not_put_back.extend(server.and_then(|server| server.stranded()));
        // While tempdb is not back, some of these may be in use.
        let behind = server.filter(|_| not_put_back.is_empty());
        let behind = behind.and_then(|server| server.left_behind());
        let mut others: Vec<String> = behind.into_iter().collect();
        for Held { stop, trial } in std::mem::take(&mut *self.held()) {
            others.extend(self.take_away(stop, &trial));
        }
        others.extend(self.clear_lost());
        let lost_emulators =
            std::mem::take(&mut *self.lost.lock().unwrap_or_else(PoisonError::into_inner));
        let closed = self.grounds.into_iter().map(WorkDir::close);
        let left = closed.filter_map(|closed| closed.err().map(|error| error.to_string()));
        others.extend(left);
        // Behind them: it takes away what is still there of what is written down.
        others.extend(self.registration.finish().err().into_iter().flatten());
        Leftovers {
            not_put_back,
            lost_emulators,
            others,
        }
    }

    fn held(&self) -> MutexGuard<'_, Vec<Held>> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn server(&self) -> Option<&Arc<ServerRun>> {
        self.server.as_ref()
    }

    /// The volumes of a server, as it sees them.
    fn served(&self, subject: &Subject<'_>) -> Sited {
        let server = self.server.as_ref().expect("a run on SQL Server has one");
        let directory = |volume: &str| {
            self.options
                .volumes
                .get(volume)
                .cloned()
                .unwrap_or_default()
        };
        Sited::new(ServerSite::new(
            Arc::clone(server),
            subject.settings,
            directory,
        ))
    }

    #[cfg(unix)]
    pub(super) fn options(&self) -> &Options {
        &self.options
    }

    /// Makes a directory for each of the trial's volumes; `part` tells several of a volume apart.
    pub(super) fn make(
        &self,
        subject: &Subject<'_>,
        part: Part,
    ) -> Result<Vec<PathBuf>, WorkDirError> {
        let volumes = subject.stage.volumes.iter();
        let make = |volume: &model::VolumeSpec| {
            let name = trial_name(subject).join(part.name()).join(&volume.name);
            self.ground(&volume.name, part).make(&name)
        };
        volumes.map(make).collect()
    }

    /// Ends the volumes of a trial, unless a server is still on them, and takes its directories away.
    fn end(&self, stop: StopVolumes, trial: PathBuf) -> Vec<String> {
        if self
            .server
            .as_ref()
            .is_some_and(|server| server.is_on_volumes())
        {
            self.held().push(Held { stop, trial });
            return vec![
                "tempdb is on the trial's volumes still: they stay until it has left".to_owned(),
            ];
        }
        self.take_away(stop, &trial)
    }

    fn take_away(&self, stop: StopVolumes, trial: &Path) -> Vec<String> {
        let stopped = stop().err().map(|error| format!("the volumes: {error}"));
        let cleared = self.clear_lost();
        let left = stopped.into_iter().chain(cleared);
        left.chain(self.remove(trial)).collect()
    }

    /// Takes a trial's directories away. Gives what is left.
    fn remove(&self, trial: &Path) -> Vec<String> {
        let removed = self.grounds.iter().map(|ground| ground.remove(trial));
        removed
            .filter_map(|removed| removed.err().map(|error| error.to_string()))
            .collect()
    }

    fn ground(&self, volume: &str, part: Part) -> &WorkDir {
        let place = match part {
            Part::Bytes => self.on.get(volume).copied().unwrap_or(0),
            Part::Mounts => self.grounds.len() - 1,
        };
        &self.grounds[place]
    }

    /// Real directories, as they are.
    fn measured(&self, subject: &Subject<'_>) -> Result<Sited, String> {
        let directories = self.make(subject, Part::Bytes);
        let directories = directories.map_err(|error| error.to_string())?;
        let volumes = subject.stage.volumes.iter().zip(directories);
        let volumes = volumes.map(|(volume, directory)| PlainVolume {
            name: volume.name.clone(),
            directory,
        });
        let site = PlainSite::new(volumes.collect());
        Ok(Sited::new(site.map_err(|error| error.to_string())?))
    }

    /// Real directories whose requests an engine inside this process paces itself.
    fn paced(&self, subject: &Subject<'_>) -> Result<Sited, String> {
        let directories = self.make(subject, Part::Bytes);
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

/// What a directory is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Part {
    /// The bytes of a volume.
    Bytes,
    /// Where an emulated volume is mounted.
    #[cfg_attr(
        not(target_os = "linux"),
        expect(dead_code, reason = "only Linux mounts modelled volumes")
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

impl Supply for Places {
    fn place<'a>(&'a self, subject: &'a Subject<'a>) -> Result<Placed<'a>, String> {
        let (mode, engine) = (subject.variant.mode, subject.variant.engine);
        let modelled = mode != Mode::Measure;
        let made = match (modelled, engine) {
            (false, EngineKind::SqlServer) => Ok(self.served(subject)),
            (false, _) => self.measured(subject),
            (true, EngineKind::Sqlite) => self.paced(subject),
            (true, EngineKind::Postgres | EngineKind::SqlServer | EngineKind::Raw) => {
                self.emulated(subject)
            }
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
            engine: Box::new(move || engines::start(self, subject, &*on, pacer)),
            site,
            close: Box::new(move || self.end(stop, trial_name(subject))),
            keep: self.keep,
        })
    }
}

/// A site, and what an engine inside this process is paced by.
pub(super) struct Sited {
    pub(super) site: Arc<dyn Site + Send + Sync>,
    /// SQLite on modelled disks only.
    pub(super) pacer: Option<Arc<Pacer>>,
    /// Takes the volumes away, once nobody uses them.
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

/// Logs in to the run's SQL Server.
fn server(
    plan: &Plan,
    options: &Options,
    outside: HostHooks,
) -> Result<ServerRun, crate::engine::EngineError> {
    let name = options.server.as_deref().unwrap_or_default();
    let access = Access::new(name, &options.login)?;
    ServerRun::open(
        access,
        &options.sqlserver,
        plan.variant.mode,
        &plan.arms,
        outside.prompt,
        outside.interrupted,
    )
}

fn registration() -> Result<Registration, PlacesError> {
    let made = Registration::new();
    made.map_err(|source| PlacesError::Io {
        what: "writing down what is made, so that it can be cleared".to_owned(),
        source,
    })
}

/// What the files on those volumes for which `holds` may take, for the arm that needs most.
fn space(arms: &[Arm], holds: impl Fn(&str) -> bool) -> Bytes {
    let of_arm = |arm: &Arm| {
        let volumes = arm.settings.volumes.iter();
        let volumes = volumes.filter(|volume| holds(&volume.name));
        volumes
            .map(|volume| arm.settings.placement.size_on(&volume.name).0)
            .sum()
    };
    Bytes(arms.iter().map(of_arm).max().unwrap_or(0)).max(SPACE_LEAST)
}

fn check_space(directory: &Path, needed: Bytes) -> Result<(), PlacesError> {
    if !directory.is_dir() {
        return Err(WorkDirError::NoDirectory(directory.to_owned()).into());
    }
    let free = free_space(directory).map_err(|source| PlacesError::Io {
        what: format!("the free space of {}", directory.display()),
        source,
    })?;
    if free >= needed {
        return Ok(());
    }
    Err(PlacesError::Full {
        directory: directory.to_owned(),
        free,
        needed,
    })
}

fn whole(directory: &Path) -> Result<PathBuf, PlacesError> {
    match directory.canonicalize() {
        Ok(whole) => Ok(whole),
        Err(source) if source.kind() == std::io::ErrorKind::NotFound => {
            Err(WorkDirError::NoDirectory(directory.to_owned()).into())
        }
        Err(source) => Err(PlacesError::Io {
            what: directory.display().to_string(),
            source,
        }),
    }
}

/// The directory of a trial: block and arm.
fn trial_name(subject: &Subject<'_>) -> PathBuf {
    let arm = subject
        .id
        .arm
        .replace(|c: char| !c.is_ascii_alphanumeric(), "-");
    PathBuf::from(format!("{:03}-{arm}", subject.id.block))
}
