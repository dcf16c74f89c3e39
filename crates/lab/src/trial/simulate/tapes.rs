//! Executes the statements of sessions once for all arms of a block, and for all blocks if they draw nothing.
//!
//! Arms of a block share its seed: where they load the same, their sessions execute the same statements, and wait for
//! different disks. A thread executes them, operation by operation and as far as the fastest trial gets, and the trials replay them
//! ([`sqlite_vfs::virtual_time::Tape`]). It executes while a trial waits for it: both together use one processor.
//! A load that is measured is the first operation of its session.
//!
//! If every session has a database of its own, what SQLite does is the same in all these trials. Figures do not
//! depend on the tape: a trial that cannot replay to its end executes all its statements itself, from the start.
//!
//! If sessions share a database, what a transaction finds there depends on those before it, and their order on the disks. On a tape they
//! take effect in one order, which follows from the seed alone; each trial replays them in its own time, with their locks. A trial
//! whose sessions overtake each other then finds rows as they were in that order. So the tape belongs to what is simulated: a trial replays
//! it even if no other does, and how far it reaches depends on nothing but the seed.

mod executed;
mod replaying;

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use model::store::PageSize;
use parking_lot::Mutex;
use sqlite_vfs::virtual_time::Image;

pub(super) use executed::Executed;
pub(super) use replaying::ReplayingSession;

use super::super::parameters;
use super::trial::{VirtualTrial, cache_kib};
use workload::{Command, Database, Load, Script, Tables, Value, Weighted, Workload};

/// Tapes that no trial uses at present and that are kept for arms that follow. Each also keeps its databases.
const IDLE_MAX: usize = 1;

/// Words of statements whose results do not follow from the session's database: the generator of `random` and what is
/// attached are shared.
const SHARED: [&str; 4] = ["random", "pragma", "attach", "vacuum"];

/// What was executed so far.
#[derive(Default)]
pub(super) struct Tapes {
    /// How many trials have a seed; without those whose operations cannot be kept on a tape.
    trials: Mutex<HashMap<u64, usize>>,
    /// Those last used at the end.
    kept: Mutex<Vec<Kept>>,
}

struct Kept {
    key: Key,
    executed: Arc<Executed>,
    /// Trials of its seed that have not begun.
    left: usize,
}

/// What determines the operations of a trial's sessions.
struct Key {
    /// `None` if nothing is drawn.
    seed: Option<u64>,
    images: Vec<Arc<Image>>,
    /// If it is measured.
    load: Option<Load>,
    scripts: Vec<Weighted>,
    parameters: BTreeMap<String, Value>,
    sessions: u32,
    page_size: PageSize,
    database: Database,
    tables: Tables,
    cache_kib: u64,
}

impl Key {
    fn of(trial: &VirtualTrial<'_>, images: &[Arc<Image>]) -> Key {
        let VirtualTrial {
            workload, settings, ..
        } = trial;
        let load = &workload.load;
        Key {
            seed: draws(workload).then_some(trial.id.seed),
            images: images.to_vec(),
            load: load.measured.then(|| load.clone()),
            scripts: workload.run.scripts.clone(),
            parameters: workload.parameters().clone(),
            sessions: settings.workload.sessions,
            page_size: settings.engine.page_size,
            database: workload.database,
            tables: workload.tables,
            cache_kib: cache_kib(settings),
        }
    }

    fn is(&self, other: &Key) -> bool {
        let same_images = self.images.len() == other.images.len()
            && self
                .images
                .iter()
                .zip(&other.images)
                .all(|(one, other)| Arc::ptr_eq(one, other));
        let plain = |key: &Key| {
            (
                key.seed,
                key.sessions,
                key.page_size,
                key.database,
                key.tables,
                key.cache_kib,
            )
        };
        same_images
            && plain(self) == plain(other)
            && self.load == other.load
            && self.scripts == other.scripts
            && self.parameters == other.parameters
    }
}

impl Tapes {
    /// None yet, for trials with these seeds.
    pub(super) fn for_seeds(seeds: impl IntoIterator<Item = u64>) -> Tapes {
        let mut trials = HashMap::new();
        for seed in seeds {
            *trials.entry(seed).or_default() += 1;
        }
        Tapes {
            trials: Mutex::new(trials),
            kept: Mutex::default(),
        }
    }

    /// What the sessions of `trial` execute, if that can be known without its disks.
    pub(super) fn of(
        &self,
        trial: &VirtualTrial<'_>,
        images: &[Arc<Image>],
    ) -> Option<Arc<Executed>> {
        let key = Key::of(trial, images);
        let trials = self.sharing(trial.id.seed, &key);
        let is_shared = key.database == Database::Shared;
        if !is_known(trial.workload) || !is_shared && trials <= 1 {
            return None;
        }
        let mut kept = self.kept.lock();
        let place = kept.iter().position(|known| known.key.is(&key));
        let mut known = match place {
            Some(place) => kept.remove(place),
            None => Kept {
                key,
                executed: Arc::new(Executed::begin(trial, images.to_vec())?),
                left: trials.max(1),
            },
        };
        if known.executed.has_ended() && !is_shared {
            // Most trials would replay it in vain.
            let is_given_up = |seed: &u64| known.key.seed.is_none_or(|drawn| drawn == *seed);
            self.trials.lock().retain(|seed, _| !is_given_up(seed));
            return None;
        }
        let executed = Arc::clone(&known.executed);
        known.left -= 1;
        if known.left > 0 {
            kept.push(known);
        }
        forget_idle(&mut kept);
        Some(executed)
    }

    /// How many trials may execute what a trial with this seed and `key` does; 0 after none could replay it.
    fn sharing(&self, seed: u64, key: &Key) -> usize {
        let trials = self.trials.lock();
        match (key.seed, trials.contains_key(&seed)) {
            (_, false) => 0,
            (Some(_), true) => trials[&seed],
            (None, true) => trials.values().sum(),
        }
    }
}

/// Drops the tapes that no trial uses, but for those last used.
fn forget_idle(kept: &mut Vec<Kept>) {
    let is_idle = |known: &Kept| Arc::strong_count(&known.executed) == 1;
    let idle = kept.iter().filter(|known| is_idle(known));
    let mut too_many = idle.count().saturating_sub(IDLE_MAX);
    kept.retain(|known| {
        let is_dropped = too_many > 0 && is_idle(known);
        too_many -= usize::from(is_dropped);
        !is_dropped
    });
}

/// Whether what sessions execute follows from their databases.
fn is_known(workload: &Workload) -> bool {
    let is_placed = workload.database == Database::PerSession || !workload.load.measured;
    is_placed
        && workload.run.per_turn == 1
        && parameters::query(workload).is_none()
        && executed_scripts(workload).all(|script| are_known(&script.commands))
}

/// Whether what sessions execute is drawn: which script comes next, or a number in one.
fn draws(workload: &Workload) -> bool {
    workload.run.scripts.len() > 1 || executed_scripts(workload).any(Script::draws)
}

/// The scripts that are executed while a trial runs.
fn executed_scripts(workload: &Workload) -> impl Iterator<Item = &Script> {
    let load = Some(&workload.load).filter(|load| load.measured);
    let load = load
        .into_iter()
        .flat_map(|load| load.schema.iter().chain(&load.scripts));
    let run = workload.run.scripts.iter().map(|weighted| &weighted.script);
    load.chain(run)
}

fn are_known(commands: &[Command]) -> bool {
    commands.iter().all(|command| match command {
        Command::Sql(statement) => {
            let text = statement.text.to_ascii_lowercase();
            !SHARED.iter().any(|word| text.contains(word))
        }
        Command::If {
            branches,
            otherwise,
        } => are_known(otherwise) && branches.iter().all(|branch| are_known(&branch.commands)),
        Command::Set { .. } | Command::Sleep { .. } => true,
    })
}

#[cfg(test)]
mod tests;
