//! What a placement survives: a real server on modelled disks, whose power is cut.
//!
//! ```text
//! placement ──► server with a ledger ──► recorded ───────────► cuts ───────► outcomes ─────────────────────► document
//!               made, stopped            clients write and     crash states   the server is started on each, and what it
//!                                        note what is          of the disks   has is held against what was acknowledged
//!                                        acknowledged
//! ```
//!
//! A [`DrillRequest`] resolves to placements, and running them returns the whole document; a [`Replay`] checks a state of
//! one again.

#![cfg(target_os = "linux")]

mod cut;
mod document;
mod error;
mod fault;
mod faults;
mod ledger;
mod place;
mod placed;
mod record;
mod recorded;
mod recording;
mod replay;
mod request;
mod result;
mod spec;
mod stored;
mod timeline;

use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;

use engine::drilled::ControlSpec;
use files::Folder;
use parking_lot::Mutex;

pub use cut::{Cut, Power};
pub use engine::drilled::{Found, Kind, Origin, SESSIONS_MAX, Verdict};
pub use error::DrillError;
pub use fault::{FaultOutcome, Noticed, VolumeFault};
pub(crate) use ledger::Ledger;
pub use place::Tools;
pub use placed::Placed;
pub use recorded::{Missing, Recorded, Summary, Took};
pub use recording::Recording;
pub use replay::{Replay, ReplayError, Replayed};
pub use request::{DrillRequest, DrillRequestError, DrilledEngine, ResolvedDrill, check_machine};
pub use result::DrillResult;
pub use spec::{Atomic, DrillSpec, WriteCache};
pub use timeline::{Fate, Lane, Mark};

/// The outcome of one state.
#[derive(Clone, Debug, PartialEq)]
pub struct Outcome {
    /// The state.
    pub cut: Cut,
    /// The verdict.
    pub verdict: Verdict,
    /// What each volume lacks.
    pub missing: Vec<Missing>,
    /// Hash of the volumes' content if the state was not survived: see [`Recorded::digest`].
    pub digest: Option<String>,
    /// The last requests of each volume, if the state was not survived.
    pub timeline: Vec<Lane>,
    /// How long the check took.
    pub took: Took,
}

/// The result of a drill.
#[derive(Debug)]
pub struct Drilled {
    /// The server's version.
    pub version: String,
    /// Of each placement.
    pub placements: Vec<DrilledPlacement>,
    /// Whether the drill detects what it must.
    pub controls: Vec<Control>,
    /// Whether it ran to completion.
    pub is_complete: bool,
    /// The error that ended it early.
    pub failed: Option<DrillError>,
}

/// The result of a drill for one placement.
#[derive(Clone, Debug)]
pub struct DrilledPlacement {
    /// Its name.
    pub name: String,
    /// The folder of its recording, within that of the drill.
    pub folder: String,
    /// What was recorded.
    pub recorded: Summary,
    /// What can happen to it.
    pub kinds: Vec<Kind>,
    /// Every state, in the order of their numbers.
    pub outcomes: Vec<Outcome>,
    /// The outcomes of volume faults: a volume that came back empty, or was full.
    pub faults: Vec<FaultOutcome>,
}

/// A server that must not survive.
#[derive(Clone, Debug)]
pub struct Control {
    /// The setting that makes it lose or corrupt data.
    pub setting: &'static str,
    /// What happens to its volumes.
    pub kind: Kind,
    /// How many states were checked.
    pub states: usize,
    /// What was detected; `None`: nothing, so the drill proves nothing.
    pub noticed: Option<Verdict>,
}

/// Most states checked for a control.
const CONTROL_CUTS: u32 = 200;

/// Progress of a drill.
#[derive(Debug)]
pub enum Step<'a> {
    /// A server is being created and recorded.
    Recording(&'a str),
    /// This many states of it will be checked.
    Cutting(&'a str, usize),
    /// One was checked.
    Looked(&'a Outcome),
}

/// Drills placements, each recorded in its own folder within `folder`. Results before an error are kept.
///
/// # Errors
/// When a server did not run, something could not be written, or the user pressed Ctrl-C, before any result.
fn drill(
    tools: &Tools,
    placements: &[Placed],
    spec: &DrillSpec,
    folder: &Path,
    observe: &(dyn Fn(Step<'_>) + Sync),
) -> Result<Drilled, DrillError> {
    let mut drilled = Drilled {
        version: String::new(),
        placements: Vec::new(),
        controls: Vec::new(),
        is_complete: false,
        failed: None,
    };
    match drill_all(tools, placements, spec, folder, observe, &mut drilled) {
        Err(error) if drilled.placements.is_empty() => return Err(error),
        Err(error) => drilled.failed = Some(error),
        Ok(()) => drilled.is_complete = !tools.is_interrupted(),
    }
    Ok(drilled)
}

/// Adds the results of each placement, and of the controls, to `drilled`.
fn drill_all(
    tools: &Tools,
    placements: &[Placed],
    spec: &DrillSpec,
    folder: &Path,
    observe: &(dyn Fn(Step<'_>) + Sync),
    drilled: &mut Drilled,
) -> Result<(), DrillError> {
    let own = Folder::open(folder)?;
    let mut next = 1;
    for (place, placed) in placements.iter().enumerate() {
        if tools.is_interrupted() && place > 0 {
            return Ok(());
        }
        observe(Step::Recording(&placed.name));
        let name = format!("placement-{}", place + 1);
        own.new_folder(name.as_ref())?;
        let recorded = Recorded::record(tools, placed, &[], spec, &folder.join(&name))?;
        recorded.check(spec)?;
        let kinds = cut::kinds(placed, spec.faults);
        let mut cuts: Vec<Cut> = kinds
            .iter()
            .flat_map(|kind| recorded.cuts(*kind, spec.cuts, spec))
            .collect();
        for cut in &mut cuts {
            cut.number = next;
            next += 1;
        }
        drilled.version = recorded.version().to_owned();
        observe(Step::Cutting(&placed.name, cuts.len()));
        let (outcomes, failed) = recorded.drill(&cuts, spec, &|outcome| {
            observe(Step::Looked(outcome));
            true
        });
        drilled.placements.push(DrilledPlacement {
            name: placed.name.clone(),
            folder: name,
            recorded: recorded.summary(),
            kinds,
            outcomes,
            faults: Vec::new(),
        });
        if let Some(error) = failed {
            return Err(error);
        }
        if let Some(last) = drilled.placements.last_mut() {
            recorded.inject_faults(spec, &mut last.faults)?;
        }
    }
    for control in tools.product.controls() {
        let Some(placed) = placements.first().filter(|_| !tools.is_interrupted()) else {
            break;
        };
        let looked = look_at(tools, placed, control, spec, folder, observe)?;
        drilled.controls.push(looked);
    }
    Ok(())
}

/// Checks whether a control is detected.
fn look_at(
    tools: &Tools,
    placed: &Placed,
    control: &ControlSpec,
    spec: &DrillSpec,
    folder: &Path,
    observe: &(dyn Fn(Step<'_>) + Sync),
) -> Result<Control, DrillError> {
    let ControlSpec {
        setting,
        value,
        kind,
        page,
        is_noticed,
    } = *control;
    // On disks on which it would survive, it proves nothing.
    let spec = &DrillSpec {
        atomic: match spec.atomic {
            Atomic::Bytes(unit) if unit < page => spec.atomic,
            Atomic::Bytes(_) | Atomic::OfDisk => Atomic::Bytes(Placed::ATOMIC_DEFAULT),
        },
        ..spec.clone()
    };
    observe(Step::Recording(setting));
    let name = format!("control-{setting}");
    Folder::open(folder)?.new_folder(name.as_ref())?;
    let server = [(setting, value)];
    let recorded = Recorded::record(tools, placed, &server, spec, &folder.join(&name))?;
    // One whose disks refused the rest because space ran out was cut there, and need not survive that.
    if !recorded.summary().ended_early {
        recorded.check(spec)?;
    }
    let cuts = recorded.cuts(kind, CONTROL_CUTS, spec);
    observe(Step::Cutting(setting, cuts.len()));
    let (outcomes, failed) = recorded.drill(&cuts, spec, &|outcome| {
        observe(Step::Looked(outcome));
        !is_noticed(&outcome.verdict)
    });
    if let Some(error) = failed {
        return Err(error);
    }
    let mut verdicts = outcomes.iter().map(|outcome| &outcome.verdict);
    Ok(Control {
        setting,
        kind,
        states: outcomes.len(),
        noticed: verdicts.find(|verdict| is_noticed(verdict)).cloned(),
    })
}

impl Recorded {
    /// Starts the server on every state, several at a time, and checks its data. `each` receives every outcome as it
    /// comes, and ends the drill by returning false; so does Ctrl-C, after the states in progress. So does an error,
    /// which is returned beside the outcomes: a state could not be checked, for a reason other than the server.
    pub fn drill(
        &self,
        cuts: &[Cut],
        spec: &DrillSpec,
        each: &(dyn Fn(&Outcome) -> bool + Sync),
    ) -> (Vec<Outcome>, Option<DrillError>) {
        let next = AtomicUsize::new(0);
        let ended = AtomicBool::new(false);
        let done = Mutex::new(Vec::new());
        let failed = Mutex::new(None);
        let work = || {
            while !ended.load(Ordering::Relaxed)
                && !self.is_interrupted()
                && let Some(cut) = cuts.get(next.fetch_add(1, Ordering::Relaxed))
            {
                match self.outcome(cut, spec) {
                    Ok(outcome) => {
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
        let mut done = done.into_inner();
        done.sort_by_key(|outcome| outcome.cut.number);
        (done, failed.into_inner())
    }

    fn outcome(&self, cut: &Cut, spec: &DrillSpec) -> Result<Outcome, DrillError> {
        let (verdict, took) = self.look_twice(cut, spec)?;
        let (digest, timeline) = match verdict {
            Verdict::Intact => (None, Vec::new()),
            _ => (Some(self.digest(cut, spec)?), self.timeline(cut, spec)),
        };
        Ok(Outcome {
            cut: cut.clone(),
            verdict,
            missing: self.missing(cut, spec),
            digest,
            timeline,
            took,
        })
    }
}
