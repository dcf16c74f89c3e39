//! What a placement survives: a real server on modelled disks, whose power is cut.
//!
//! ```text
//! placement ──► server with a ledger ──► recorded ───────────► cuts ───────► outcomes
//!               made, stopped            clients write and     crash states   the server is started on each, and what it
//!                                        note what is          of the disks   has is held against what was acknowledged
//!                                        acknowledged
//! ```

mod cut;
mod ledger;
mod place;
mod record;
mod recorded;
mod trouble;

use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;

use crash::Cache;
use files::Folder;
use model::{Bytes, Duration};
use parking_lot::Mutex;

pub use cut::{Cut, Kind};
pub(crate) use ledger::Ledger;
pub use ledger::{Found, Verdict};
pub use place::{Placed, Tools};
pub use recorded::{DrillError, Missing, Recorded, Summary, Took};
pub use trouble::{Noticed, Trouble, Troubled};

/// How to drill.
#[derive(Clone, Debug)]
pub struct DrillSpec {
    /// States to look at, of each kind.
    pub cuts: u32,
    /// Seed of when power is cut, and of what the disks have then.
    pub seed: u64,
    /// How long clients write.
    pub record: Duration,
    /// How many clients write.
    pub sessions: u32,
    /// What disks do with what they have acknowledged.
    pub cache: Cache,
    /// How long a host cache for writes keeps what it has acknowledged, at most, before the disk has it.
    pub write_back: Duration,
    /// Bytes that a disk writes whole or not at all.
    pub atomic: Bytes,
    /// How far snapshots of volumes are apart.
    pub skew: Duration,
    /// States at a time.
    pub jobs: usize,
}

/// What became of one state.
#[derive(Clone, Debug, PartialEq)]
pub struct Outcome {
    /// Which state.
    pub cut: Cut,
    /// What became of it.
    pub verdict: Verdict,
    /// What each volume lacks.
    pub missing: Vec<Missing>,
    /// How long the look took.
    pub took: Took,
}

/// What a drill found.
#[derive(Clone, Debug)]
pub struct Drilled {
    /// The server's version.
    pub version: String,
    /// Of each placement.
    pub placements: Vec<DrilledPlacement>,
    /// Whether it notices what it has to.
    pub controls: Vec<Control>,
}

/// What a drill found of one placement.
#[derive(Clone, Debug)]
pub struct DrilledPlacement {
    /// Its name.
    pub name: String,
    /// The folder of its recording, within that of the drill.
    pub folder: String,
    /// What was recorded.
    pub recorded: Summary,
    /// Every state, in the order of their numbers.
    pub outcomes: Vec<Outcome>,
    /// What became of it when a volume came back empty, or was full.
    pub troubled: Vec<Troubled>,
}

/// A server that must not survive.
#[derive(Clone, Debug)]
pub struct Control {
    /// The setting that makes it lose or spoil data.
    pub setting: &'static str,
    /// What happens to its volumes.
    pub kind: Kind,
    /// How many states were looked at.
    pub states: usize,
    /// What was noticed; `None`: nothing, so that the drill proves nothing.
    pub noticed: Option<Verdict>,
}

/// Settings under which a PostgreSQL must not survive, and what it does not survive.
/// <https://www.postgresql.org/docs/current/runtime-config-wal.html> (`fsync`, `full_page_writes`), read 2026-11-24.
const CONTROLS: [(&str, &str, Kind); 2] = [
    ("fsync", "off", Kind::Power),
    ("full_page_writes", "off", Kind::Torn),
];

/// States of a control that are looked at, at most.
const CONTROL_CUTS: u32 = 60;

/// What a drill is doing.
#[derive(Debug)]
pub enum Step<'a> {
    /// A server is made, and recorded.
    Recording(&'a str),
    /// So many states of it are to be looked at.
    Cutting(&'a str, usize),
    /// One was.
    Looked(&'a Outcome),
}

/// Drills placements, each recorded in a folder of its own within `folder`.
///
/// # Errors
/// When a server does not run, something cannot be written, or somebody pressed Ctrl-C.
pub fn drill(
    tools: &Tools,
    placements: &[Placed],
    spec: &DrillSpec,
    folder: &Path,
    observe: &(dyn Fn(Step<'_>) + Sync),
) -> Result<Drilled, DrillError> {
    let own = Folder::open(folder)?;
    let mut drilled = Drilled {
        version: String::new(),
        placements: Vec::new(),
        controls: Vec::new(),
    };
    let mut next = 1;
    for (place, placed) in placements.iter().enumerate() {
        observe(Step::Recording(&placed.name));
        let name = format!("placement-{}", place + 1);
        own.new_folder(name.as_ref())?;
        let recorded = Recorded::record(tools, placed, &[], spec, &folder.join(&name))?;
        recorded.check(spec)?;
        let mut cuts: Vec<Cut> = Kind::of(placed)
            .into_iter()
            .flat_map(|kind| recorded.cuts(kind, spec.cuts, spec))
            .collect();
        for cut in &mut cuts {
            cut.number = next;
            next += 1;
        }
        drilled.version = recorded.version().to_owned();
        observe(Step::Cutting(&placed.name, cuts.len()));
        let outcomes = recorded.drill(&cuts, spec, &|outcome| {
            observe(Step::Looked(outcome));
            true
        })?;
        let troubled = recorded.trouble(spec)?;
        drilled.placements.push(DrilledPlacement {
            name: placed.name.clone(),
            folder: name,
            recorded: recorded.summary(),
            outcomes,
            troubled,
        });
    }
    for (setting, value, kind) in CONTROLS {
        let Some(placed) = placements.first() else {
            break;
        };
        observe(Step::Recording(setting));
        let name = format!("control-{setting}");
        own.new_folder(name.as_ref())?;
        let server = [(setting, value)];
        let recorded = Recorded::record(tools, placed, &server, spec, &folder.join(&name))?;
        let cuts = recorded.cuts(kind, CONTROL_CUTS, spec);
        observe(Step::Cutting(setting, cuts.len()));
        let outcomes = recorded.drill(&cuts, spec, &|outcome| {
            observe(Step::Looked(outcome));
            outcome.verdict == Verdict::Intact
        })?;
        let mut verdicts = outcomes.iter().map(|outcome| &outcome.verdict);
        drilled.controls.push(Control {
            setting,
            kind,
            states: outcomes.len(),
            noticed: verdicts
                .find(|verdict| **verdict != Verdict::Intact)
                .cloned(),
        });
    }
    Ok(drilled)
}

impl Recorded {
    /// Starts the server on every state, several at a time, and judges what it has. `each` hears of every outcome as it comes,
    /// and ends the drill by `false`.
    ///
    /// # Errors
    /// When a state cannot be looked at, for another reason than the server, or somebody pressed Ctrl-C.
    pub fn drill(
        &self,
        cuts: &[Cut],
        spec: &DrillSpec,
        each: &(dyn Fn(&Outcome) -> bool + Sync),
    ) -> Result<Vec<Outcome>, DrillError> {
        let next = AtomicUsize::new(0);
        let ended = AtomicBool::new(false);
        let done = Mutex::new(Vec::new());
        let failed = Mutex::new(None);
        let work = || {
            while !ended.load(Ordering::Relaxed)
                && let Some(cut) = cuts.get(next.fetch_add(1, Ordering::Relaxed))
            {
                let verdict = match self.is_interrupted() {
                    true => Err(DrillError::Interrupted),
                    false => self.look(cut, spec),
                };
                match verdict {
                    Ok((verdict, took)) => {
                        let outcome = Outcome {
                            cut: cut.clone(),
                            verdict,
                            missing: self.missing(cut, spec),
                            took,
                        };
                        if !each(&outcome) {
                            ended.store(true, Ordering::Relaxed);
                        }
                        done.lock().push(outcome);
                    }
                    Err(error) => {
                        ended.store(true, Ordering::Relaxed);
                        failed.lock().get_or_insert(error);
                    }
                }
            }
        };
        thread::scope(|scope| {
            for _ in 0..spec.jobs.clamp(1, cuts.len().max(1)) {
                scope.spawn(work);
            }
        });
        if let Some(error) = failed.into_inner() {
            return Err(error);
        }
        let mut done = done.into_inner();
        done.sort_by_key(|outcome| outcome.cut.number);
        Ok(done)
    }
}
