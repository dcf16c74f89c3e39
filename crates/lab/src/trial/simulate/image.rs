//! Loads each database once: trials, arms and sessions that load the same begin with a copy of it.
//!
//! The same means the same statements with the same arguments, on pages of the same size and with the same cache. Figures do not
//! depend on it: a trial begins with an image even if it is the first and only one.

use std::sync::Arc;

use model::store::{PageSize, Role};
use model::{Duration, Instant};
use parking_lot::Mutex;
use sqlite_vfs::virtual_time::Image;

use super::super::TrialId;
use super::super::sessions::{self, SessionContext};
use super::tapes::{Executed, Tapes};
use super::trial::{VirtualTrial, cache_kib, load_seed, tables};
use experiment::spec::Settings;
use workload::{Database, Driver, Statement, Value, Workload};

/// Most memory for images that no trial uses at present, in bytes.
const IDLE_MAX: u64 = 64 << 20;

/// Words of statements whose effect is not all in the database's file, or not the same every time: `temp` of a temporary
/// table, which is the connection's, and `random` of SQLite's own generator, which the whole process shares.
const NOT_IN_FILE: [&str; 5] = ["temp", "random", "pragma", "attach", "vacuum"];

/// What trials share: the databases loaded so far, those last used at the end, and what sessions executed on them.
#[derive(Default)]
pub struct Images {
    loaded: Mutex<Vec<(Load, Option<Arc<Image>>)>>,
    pub(super) tapes: Tapes,
}

/// What determines a loaded database.
#[derive(Clone, Debug, PartialEq)]
struct Load {
    tables: Role,
    page_size: PageSize,
    cache_kib: u64,
    /// How many connections are open when it is loaded, if sessions share it.
    shared_by: Option<u32>,
    statements: Vec<(String, Vec<Value>)>,
}

impl Images {
    /// None yet, for trials with these seeds: those of one seed execute the same statements, and do so once.
    pub fn for_seeds(seeds: impl IntoIterator<Item = u64>) -> Images {
        Images {
            tapes: Tapes::for_seeds(seeds),
            ..Images::default()
        }
    }

    /// What the sessions of `trial` execute on these images, if trials may share it.
    pub(super) fn executed(
        &self,
        trial: &VirtualTrial<'_>,
        images: &[Arc<Image>],
    ) -> Option<Arc<Executed>> {
        self.tapes.of(trial, images)
    }

    /// An image for each database of `trial`, in the order of the sessions; `None` if it has to load them itself. If the load is
    /// measured, a trial begins with none.
    pub(super) fn of(&self, trial: &VirtualTrial<'_>) -> Option<Vec<Arc<Image>>> {
        if trial.workload.load.measured {
            return Some(Vec::new());
        }
        let loads = loads(trial.id, trial.settings, trial.workload);
        let loads: Vec<Load> = loads.collect::<Option<_>>()?;
        let mut images = self.loaded.lock();
        forget_idle(&mut images, &loads, IDLE_MAX);
        let image = |(number, load): (u32, Load)| {
            let place = images.iter().position(|(known, _)| *known == load);
            let known = match place {
                Some(place) => images.remove(place),
                None => (load, trial.load_image(number).map(Arc::new)),
            };
            images.push(known.clone());
            known.1
        };
        (0_u32..).zip(loads).map(image).collect()
    }
}

/// Drops the images that are neither wanted nor in use, those first that were not used for longest, until they fit into
/// `room` bytes.
fn forget_idle(images: &mut Vec<(Load, Option<Arc<Image>>)>, wanted: &[Load], mut room: u64) {
    let mut kept: Vec<_> = images
        .drain(..)
        .rev()
        .filter(|(load, image)| {
            let Some(image) = image else {
                return true;
            };
            if Arc::strong_count(image) > 1 || wanted.contains(load) {
                return true;
            }
            let fits = image.memory() <= room;
            room -= if fits { image.memory() } else { 0 };
            fits
        })
        .collect();
    kept.reverse();
    *images = kept;
}

/// Counts the databases that trials load: each that differs from those counted before.
#[derive(Default)]
pub struct Loads(Vec<Load>);

impl Loads {
    /// How many databases a trial loads after those that were counted before.
    pub fn count(&mut self, id: &TrialId, settings: &Settings, workload: &Workload) -> u32 {
        let loads = loads(id, settings, workload);
        let mut is_new = |load: Option<Load>| match load {
            Some(load) if self.0.contains(&load) => false,
            Some(load) => {
                self.0.push(load);
                true
            }
            None => true,
        };
        loads.map(|load| u32::from(is_new(load))).sum()
    }
}

/// The load of each database of a trial; `None` for one that is measured, or whose effect is not all in its file.
fn loads<'a>(
    id: &'a TrialId,
    settings: &'a Settings,
    workload: &'a Workload,
) -> impl Iterator<Item = Option<Load>> + 'a {
    let databases = match workload.database {
        Database::PerSession => settings.workload.sessions,
        Database::Shared => 1,
    };
    (0..databases).map(move |number| Load::of(id, settings, workload, number))
}

impl Load {
    fn of(id: &TrialId, settings: &Settings, workload: &Workload, number: u32) -> Option<Load> {
        if workload.load.measured {
            return None;
        }
        let sessions = settings.workload.sessions;
        let mut asked = LoadStatements {
            statements: Vec::new(),
        };
        let mut variables = workload.variables(number, sessions);
        let seed = load_seed(id, number);
        sessions::load(&mut asked, workload, &mut variables, seed, || Ok(())).ok()?;
        Some(Load {
            tables: tables(workload),
            page_size: settings.engine.page_size,
            cache_kib: cache_kib(settings),
            shared_by: (workload.database == Database::Shared).then_some(sessions),
            statements: asked.statements,
        })
    }
}

impl VirtualTrial<'_> {
    /// Loads database `number` in a simulation of its own. `None` if that fails, which the trial then reports when it loads
    /// itself, or if its effect is not all in its file.
    fn load_image(&self, number: u32) -> Option<Image> {
        let simulation = self.simulation().ok()?;
        simulation.into_image(|session| {
            let connections = match self.workload.database {
                Database::PerSession => vec![self.prepare_one(session, number).ok()?],
                Database::Shared => self.prepare(session).ok()?,
            };
            let first = connections.first()?;
            let row = first.last_insert_rowid();
            first.is_autocommit().then_some((connections, row))
        })
    }
}

/// Keeps the statements of a load instead of executing them.
struct LoadStatements {
    statements: Vec<(String, Vec<Value>)>,
}

impl Driver for LoadStatements {
    type Error = String;

    fn statement(
        &mut self,
        _: usize,
        statement: &Statement,
        arguments: &[Value],
    ) -> Result<(), String> {
        let text = statement.text.to_ascii_lowercase();
        if let Some(word) = NOT_IN_FILE.iter().find(|word| text.contains(**word)) {
            return Err(format!("{word} is not all in the database's file"));
        }
        self.statements
            .push((statement.text.clone(), arguments.to_vec()));
        Ok(())
    }

    fn sleep(&mut self, _: Duration) -> Result<(), String> {
        Ok(())
    }
}

impl SessionContext for LoadStatements {
    fn now(&self) -> Instant {
        Instant::ZERO
    }

    fn enter(&mut self, _: usize) {}

    fn settle(&mut self) -> Result<(), String> {
        Ok(())
    }

    fn roll_back(&mut self) {}

    fn statements(&self) -> u64 {
        self.statements.len() as u64
    }

    fn measure(&mut self) {}

    fn ended(&mut self, _: Instant, _: bool) {}

    fn stopping(&self) -> bool {
        false
    }
}

#[cfg(test)]
mod tests;
