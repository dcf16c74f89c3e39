//! The simulation: the loop that resumes the session whose time is earliest.

use std::io;
use std::rc::Rc;

use corosensei::stack::DefaultStack;
use corosensei::{Coroutine, CoroutineResult};
use model::store::Store;
use model::{Duration, Instant};
use thiserror::Error;

use super::files;
use super::inode::Inodes;
use super::session::{Session, enter, leave};
use super::spool::Held;
use super::world::World;
use model::CpuCosts;

/// Stack of a session; SQLite needs a small part of it.
const STACK: usize = 1 << 20;

/// The code of one session.
pub type Body<'a> = Box<dyn FnOnce(&Session) + 'a>;

/// A store, processors and files, and the virtual time they live in.
///
/// At most one per thread. Connections opened in it must be closed before it is dropped.
pub struct Simulation {
    pub(super) world: Rc<World>,
    pub(super) files: Rc<Inodes>,
}

/// Why sessions did not run to completion.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum RunError {
    /// Every session waits for another one.
    #[error("{sessions} sessions wait for each other's locks for ever")]
    Stalled {
        /// How many sessions wait.
        sessions: usize,
    },
    /// Not enough memory for the sessions' stacks.
    #[error(
        "no memory for the stacks of {sessions} sessions ({why}); use fewer sessions, or run fewer trials at the same time (--jobs \
         1)"
    )]
    Stack {
        /// The number of sessions.
        sessions: usize,
        /// The system's error.
        why: String,
    },
}

impl RunError {
    fn no_stacks(sessions: usize, error: &io::Error) -> RunError {
        RunError::Stack {
            sessions,
            why: error.to_string(),
        }
    }
}

/// Whether there is memory for the stacks of so many sessions: before databases are loaded for them.
///
/// # Errors
/// When there is not.
pub fn check_stacks(sessions: usize) -> Result<(), RunError> {
    let stacks = (0..sessions).map(|_| DefaultStack::new(STACK));
    let stacks: io::Result<Vec<DefaultStack>> = stacks.collect();
    stacks
        .map(drop)
        .map_err(|error| RunError::no_stacks(sessions, &error))
}

impl Simulation {
    /// A simulation at time zero.
    ///
    /// # Errors
    /// None at present: the temporary file is created when a page first needs it, and a failure then is an
    /// I/O error of the statement.
    pub fn new(store: Store, cores: u32, costs: CpuCosts) -> io::Result<Simulation> {
        files::register();
        Ok(Simulation {
            world: Rc::new(World::new(store, cores, costs)),
            files: Rc::default(),
        })
    }

    /// Runs sessions that all start at the current end of virtual time; returns when the last one ends.
    ///
    /// # Errors
    /// When sessions wait for each other's locks in a cycle, in which case they have been stopped; or when there
    /// is not enough memory for their stacks, in which case none has begun.
    pub fn run(&self, bodies: Vec<Body<'_>>) -> Result<Instant, RunError> {
        let start = self.world.end.get();
        let sessions = bodies.len();
        let spawned = (0_u32..).zip(bodies).map(|(id, body)| {
            let session = self.session(id, start);
            spawn(Rc::new(session), body).map(Some)
        });
        let mut running = spawned
            .collect::<io::Result<Vec<_>>>()
            .map_err(|error| RunError::no_stacks(sessions, &error))?;
        (0_u32..)
            .zip(&running)
            .for_each(|(id, _)| self.world.wake(id, start));
        let mut stalled = None;
        loop {
            while let Some((now, id)) = self.world.next() {
                let Some((session, coroutine)) = &mut running[id as usize] else {
                    continue;
                };
                enter(session);
                let result = coroutine.resume(now);
                leave();
                if let CoroutineResult::Return(()) = result {
                    self.world.end.set(self.world.end.get().max(session.now()));
                    running[id as usize] = None;
                }
            }
            let waiting: Vec<u32> = (0_u32..)
                .zip(&running)
                .filter(|(_, session)| session.is_some())
                .map(|(id, _)| id)
                .collect();
            if waiting.is_empty() {
                break;
            }
            stalled.get_or_insert(RunError::Stalled {
                sessions: waiting.len(),
            });
            self.stop();
            waiting
                .into_iter()
                .for_each(|id| self.world.wake(id, self.world.end.get()));
        }
        stalled.map_or(Ok(self.world.end.get()), Err)
    }

    /// Runs `work` outside of the measurement: files are placed and caches filled as usual, but it takes
    /// no virtual time and reaches no modelled disk.
    pub fn timeless<T>(&self, work: impl FnOnce(&Session) -> T) -> T {
        self.world.store.borrow_mut().set_timeless(true);
        let session = Rc::new(self.session(0, self.now()));
        enter(&session);
        let result = work(&session);
        leave();
        self.world.store.borrow_mut().set_timeless(false);
        result
    }

    pub(super) fn session(&self, id: u32, now: Instant) -> Session {
        Session::new(id, now, Rc::clone(&self.world), Rc::clone(&self.files))
    }

    /// Lets virtual time pass until `then` while the store does its background work.
    pub fn pass(&self, then: Instant) {
        self.world.store.borrow_mut().advance(then);
        self.world.end.set(self.world.end.get().max(then));
    }

    /// The end of virtual time so far.
    pub fn now(&self) -> Instant {
        self.world.end.get()
    }

    /// Ends all sessions, as [`Simulation::stop`] does, once `cancelled` returns true. It is checked at every file
    /// access and within long statements, so that nothing continues for long.
    pub fn stop_when(&self, cancelled: Rc<dyn Fn() -> bool>) {
        self.world.cancelled.replace(cancelled);
    }

    /// Ends all sessions as soon as possible: from now on every access to a file fails.
    pub fn stop(&self) {
        self.world.stopping.set(true);
    }

    /// Inspects or changes the store between runs.
    pub fn with_store<T>(&self, look: impl FnOnce(&mut Store) -> T) -> T {
        look(&mut self.world.store.borrow_mut())
    }

    /// CPU time used so far.
    pub fn cpu_busy(&self) -> Duration {
        self.world.cores.borrow().busy
    }

    /// Packs what was written last to databases, as it will be once more is written.
    pub fn pack(&self) {
        let mut spool = self.world.spool.borrow_mut();
        for inode in self.files.borrow().values() {
            // What cannot be packed stays as it is, and counts as such.
            let _ = spool.pack(&mut inode.bytes.borrow_mut(), 0);
        }
    }

    /// Memory and disk space of this machine that all files currently take.
    pub fn held(&self) -> Held {
        self.world.spool.borrow().held()
    }

    /// Pages that SQLite requested so far, found in its own small cache or not.
    pub fn logical_reads(&self) -> u64 {
        self.world.logical_reads.get()
    }

    /// How often a session had to wait for a lock so far.
    pub fn lock_waits(&self) -> u64 {
        self.world.lock_waits.get()
    }

    /// How often a transaction released its rows and started over, because sessions would have waited for each other
    /// in a cycle.
    pub fn deadlocks(&self) -> u64 {
        self.world.deadlocks.get()
    }
}

type Running = (Rc<Session>, Coroutine<Instant, (), ()>);

fn spawn<'a>(session: Rc<Session>, body: Body<'a>) -> io::Result<Running> {
    // SAFETY: the coroutine does not outlive the call of `run` that was given the body: the loop
    // there resumes it until it returns.
    let body: Body<'static> = unsafe { std::mem::transmute::<Body<'a>, Body<'static>>(body) };
    let own = Rc::clone(&session);
    let stack = DefaultStack::new(STACK)?;
    let coroutine = Coroutine::with_stack(stack, move |yielder, now| {
        own.begin(yielder, now);
        body(&own);
        own.finish();
    });
    Ok((session, coroutine))
}
