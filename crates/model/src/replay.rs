//! A recorded run over other disks, memory or processors: a sweep without executing a statement again.
//!
//! Sessions take the same turns as in a simulated run. Whoever is earliest goes on: it spends its CPU time
//! on a core where it has to, then asks the store until that says done, and waits as told.
//!
//! The result is exact only where the order of page references does not depend on time: one session, a
//! database for each, or nothing but reads. What a trace shows to be otherwise is refused. A trace does not
//! show everything: a run that ended after a given time, a shared queue of work and checkpoints by the
//! clock would also have gone another way, and must not be replayed.

use alloc::collections::BinaryHeap;
use alloc::vec;
use alloc::vec::Vec;
use core::cmp::Reverse;
use core::fmt;

use crate::cores::{Cores, QUANTUM};
use crate::split::{Spent, TimeSplit};
use crate::storage::Storage;
use crate::store::{CommitTicket, Counters, FileId, Full, Step, Store, StoreSpec};
use crate::time::{Duration, Instant};
use crate::trace::{Access, Event, Temperature, Trace};

/// What came of a replay.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Replayed {
    /// When the last session ended.
    pub end: Instant,
    /// Where each session's time went.
    pub splits: Vec<TimeSplit>,
    /// What the store counted since the sessions began.
    pub counters: Counters,
}

/// Why a replay would not tell what a run does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unfaithful {
    /// Sessions waited for locks.
    LockWaits(u64),
    /// Two sessions wrote one file, as the recorder saw it.
    SharedWrites,
    /// Two sessions used one file, and at least one of them wrote it.
    SharedFile(u32),
    /// A role's files filled up, on which a statement would have failed.
    Full(Full),
}

/// Replays `trace` from time zero over an empty store of `spec`.
///
/// # Errors
/// When the run might have gone another way here.
///
/// # Panics
/// When an event names a file that the trace does not have, or a file's volume is not in `storage`.
pub fn replay(
    trace: &Trace,
    spec: &StoreSpec,
    storage: Storage,
    cores: u32,
    seed: u64,
) -> Result<Replayed, Unfaithful> {
    check(trace)?;
    let mut store = Store::new(spec, storage, seed);
    let files: Vec<_> = trace.files.iter().map(|role| store.create(*role)).collect();
    load(trace, &mut store, &files).map_err(Unfaithful::Full)?;
    let before = store.counters();
    let mut world = World {
        store,
        cores: Cores::new(cores),
        files,
        ready: BinaryHeap::new(),
        order: 0,
    };
    let mut sessions: Vec<_> = (0_u32..)
        .zip(&trace.sessions)
        .map(|(id, events)| Session::new(id, events))
        .collect();
    sessions
        .iter()
        .for_each(|session| world.wake(Instant::ZERO, session.id));
    let mut end = Instant::ZERO;
    while let Some(Reverse((now, _, id))) = world.ready.pop() {
        let session = &mut sessions[id as usize];
        session.now = now;
        match session.resume(&mut world).map_err(Unfaithful::Full)? {
            Turn::Suspended(until) => world.wake(until, id),
            Turn::Ended => end = end.max(session.now),
        }
    }
    Ok(Replayed {
        end,
        splits: sessions.into_iter().map(|session| session.split).collect(),
        counters: since(&world.store.counters(), &before),
    })
}

/// Whether the events would have been the same at any speed, as far as the trace shows.
fn check(trace: &Trace) -> Result<(), Unfaithful> {
    if trace.lock_waits > 0 {
        return Err(Unfaithful::LockWaits(trace.lock_waits));
    }
    if trace.shared_writes {
        return Err(Unfaithful::SharedWrites);
    }
    let mut uses = vec![Use::None; trace.files.len()];
    for (id, session) in trace.sessions.iter().enumerate() {
        for access in session.iter().map(|event| &event.access) {
            let Some(file) = access.file() else { continue };
            let known = &mut uses[file as usize];
            *known = known
                .and(id, access.writes().is_some())
                .ok_or(Unfaithful::SharedFile(file))?;
        }
    }
    Ok(())
}

/// Who used a file so far.
#[derive(Clone, Copy)]
enum Use {
    None,
    /// One session, that wrote it or did not.
    One(usize, bool),
    /// Several, which only read it.
    Readers,
}

impl Use {
    /// With one more use; `None` where somebody's reads then depend on another's writes.
    fn and(self, session: usize, writes: bool) -> Option<Use> {
        match self {
            Use::None => Some(Use::One(session, writes)),
            Use::One(only, written) if only == session => Some(Use::One(only, written || writes)),
            Use::One(_, false) | Use::Readers if !writes => Some(Use::Readers),
            Use::One(..) | Use::Readers => None,
        }
    }
}

/// Executes what came before the run.
fn load(trace: &Trace, store: &mut Store, files: &[FileId]) -> Result<(), Full> {
    store.set_timeless(true);
    let mut now = Instant::ZERO;
    for access in &trace.loaded {
        let mut asked = Asked::new(0, access);
        while let Step::Wait(wait) = asked.ask(store, files, now)? {
            now = wait.until;
        }
    }
    store.set_timeless(false);
    if trace.start.pool == Temperature::Cold {
        store.empty_pool();
    }
    if trace.start.host_cache == Temperature::Cold {
        store.empty_host_cache();
    }
    Ok(())
}

/// What sessions share.
struct World {
    store: Store,
    cores: Cores,
    files: Vec<FileId>,
    /// Sessions that can go on, by when and in which order they came to be.
    ready: BinaryHeap<Reverse<(Instant, u64, u32)>>,
    order: u64,
}

impl World {
    fn wake(&mut self, when: Instant, id: u32) {
        self.ready.push(Reverse((when, self.order, id)));
        self.order += 1;
    }

    /// Whether nobody else can go on before `when`.
    fn is_turn(&self, when: Instant) -> bool {
        self.ready
            .peek()
            .is_none_or(|Reverse((first, _, _))| *first > when)
    }
}

/// One session on its way through its events.
struct Session<'a> {
    id: u32,
    now: Instant,
    events: core::slice::Iter<'a, Event>,
    /// What it is at.
    stage: Stage,
    /// CPU time counted and not yet spent.
    cpu: Duration,
    split: TimeSplit,
}

/// How far a session is with its event.
#[derive(Clone, Copy)]
enum Stage {
    /// It has none, or is done with it.
    Next,
    /// Its CPU time is to be spent, if it has to be.
    Burst(Asked),
    /// Its access is to be executed.
    Access(Asked),
}

/// Why a session gives up its turn.
enum Turn {
    Suspended(Instant),
    Ended,
}

impl<'a> Session<'a> {
    fn new(id: u32, events: &'a [Event]) -> Session<'a> {
        Session {
            id,
            now: Instant::ZERO,
            events: events.iter(),
            stage: Stage::Next,
            cpu: Duration::ZERO,
            split: TimeSplit::default(),
        }
    }

    /// Goes on until somebody else is earlier.
    fn resume(&mut self, world: &mut World) -> Result<Turn, Full> {
        loop {
            let (until, stage) = match self.stage {
                Stage::Next => {
                    let Some(event) = self.events.next() else {
                        return Ok(Turn::Ended);
                    };
                    self.cpu += event.cpu;
                    self.stage = Stage::Burst(Asked::new(self.id, &event.access));
                    continue;
                }
                Stage::Burst(asked) => {
                    self.stage = Stage::Access(asked);
                    match self.settle(world, &asked) {
                        Some(until) => (until, self.stage),
                        None => continue,
                    }
                }
                Stage::Access(asked) => match self.access(world, asked)? {
                    Some(waiting) => waiting,
                    None => {
                        self.stage = Stage::Next;
                        continue;
                    }
                },
            };
            self.stage = stage;
            if !world.is_turn(until) {
                return Ok(Turn::Suspended(until));
            }
            self.now = until;
        }
    }

    /// Spends the CPU time counted so far: at once where the access may reach a disk or takes time, and
    /// for a page in memory only when a quantum is up. When that ends.
    fn settle(&mut self, world: &mut World, asked: &Asked) -> Option<Instant> {
        let due = match asked.access {
            Access::Read { file, page } | Access::Write { file, page } => {
                self.cpu >= QUANTUM || !world.store.holds(world.files[file as usize], page)
            }
            Access::Release { .. } => false,
            Access::Commit { .. } | Access::Sleep(_) => true,
        };
        if !due || self.cpu == Duration::ZERO {
            return None;
        }
        let burst = core::mem::take(&mut self.cpu);
        let end = world.cores.run(self.now, burst);
        self.split.add(Spent::Cpu, burst);
        self.split
            .add(Spent::CpuQueued, (end - self.now).saturating_sub(burst));
        Some(end)
    }

    /// Executes the access, or says until when it waits and what it is at then.
    fn access(
        &mut self,
        world: &mut World,
        mut asked: Asked,
    ) -> Result<Option<(Instant, Stage)>, Full> {
        if let Access::Sleep(span) = asked.access {
            self.split.add(Spent::Think, span);
            return Ok(Some((self.now + span, Stage::Next)));
        }
        match asked.ask(&mut world.store, &world.files, self.now)? {
            Step::Done => Ok(None),
            Step::Wait(wait) => {
                self.split.add_wait(&wait);
                Ok(Some((wait.until, Stage::Access(asked))))
            }
        }
    }
}

/// An access that the store is asked for until it is done.
#[derive(Clone, Copy)]
struct Asked {
    access: Access,
    /// Of the session, and of its commit if this is one.
    ticket: CommitTicket,
}

impl Asked {
    fn new(session: u32, access: &Access) -> Asked {
        let (log_bytes, rows) = match access {
            Access::Commit { log_bytes, rows } => (*log_bytes, u64::from(*rows)),
            Access::Read { .. }
            | Access::Write { .. }
            | Access::Release { .. }
            | Access::Sleep(_) => (0, 0),
        };
        Asked {
            access: *access,
            ticket: CommitTicket::new(session, log_bytes, rows),
        }
    }

    fn ask(&mut self, store: &mut Store, files: &[FileId], now: Instant) -> Result<Step, Full> {
        match self.access {
            Access::Read { file, page } => {
                Ok(store.read(now, self.ticket.session, files[file as usize], page))
            }
            Access::Write { file, page } => store.write(now, files[file as usize], page),
            Access::Release { file, first } => {
                store.release(files[file as usize], first);
                Ok(Step::Done)
            }
            Access::Commit { .. } => store.commit(now, &mut self.ticket),
            Access::Sleep(_) => Ok(Step::Done),
        }
    }
}

fn since(now: &Counters, before: &Counters) -> Counters {
    Counters {
        page_requests: now.page_requests - before.page_requests,
        physical_reads: now.physical_reads - before.physical_reads,
        pages_written: now.pages_written - before.pages_written,
        pages_discarded: now.pages_discarded - before.pages_discarded,
        log_bytes: now.log_bytes - before.log_bytes,
    }
}

impl fmt::Display for Unfaithful {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Unfaithful::LockWaits(count) => {
                write!(f, "sessions of the recorded run waited for locks ({count})")?;
            }
            Unfaithful::SharedWrites => {
                f.write_str("two sessions of the recorded run wrote one file")?
            }
            Unfaithful::SharedFile(file) => write!(
                f,
                "a session of the recorded run wrote file {file}, which another one used too"
            )?,
            Unfaithful::Full(full) => write!(
                f,
                "the {:?} files are full at {}, on which a statement would have failed",
                full.role, full.capacity
            )?,
        }
        f.write_str(", so its page references depend on time; run it instead of replaying it")
    }
}

impl core::error::Error for Unfaithful {}
