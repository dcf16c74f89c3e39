//! The engine interface of a trial in real time.

use std::collections::BTreeMap;

use model::Duration;

use crate::error::EngineError;

#[cfg(target_os = "linux")]
use crate::logged::{LogSession, Login};
#[cfg(target_os = "linux")]
use crate::recorder::Recorder;
use experiment::record::{EngineRecord, Note};
use experiment::spec::Temperature;
#[cfg(target_os = "linux")]
use reading::object::ObjectUse;
use workload::{Driver, Value};

/// Reported when a cold start is requested of an external server.
pub const NOT_RESTARTED: &str =
    "the given server was not restarted: its memory is as the load left it";

/// The remedy when a statement names a missing table.
pub const NOT_LOADED: &str = "a trial's database holds what its workload loads: load the table (load.scripts in workload.toml)";

/// An engine's own instance for one trial: placed on the volumes' directories, and removed again.
///
/// Its methods are called in the order of a trial: `connect` and `spread` while loading, then `quiesce`
/// and `start`, then `connect` for the sessions of the run, `counters` and `waits` around and during it,
/// and `stop`. Dropping it stops it too, without reporting failures.
pub trait Engine: Sync {
    /// Its name, version, relevant settings, and its term for a file.
    fn describe(&self) -> EngineRecord;

    /// Opens the connection of session `session`, from 0.
    ///
    /// # Errors
    /// When the engine refuses the connection.
    fn connect(&self, session: u32) -> Result<Box<dyn Client + '_>, EngineError>;

    /// Opens a connection that plays the statements of a logged session; by default there are none.
    ///
    /// # Errors
    /// When the engine refuses the connection.
    #[cfg(target_os = "linux")]
    fn log_session(&self, _login: &Login) -> Result<Box<dyn LogSession + '_>, EngineError> {
        Err(EngineError::Missing(
            "this engine plays no statements of a log".to_owned(),
        ))
    }

    /// A recorder of its server, which logs in by itself; by default there is none.
    #[cfg(target_os = "linux")]
    fn recorder(&self) -> Option<Box<dyn Recorder>> {
        None
    }

    /// Tables and indexes that were used since [`Engine::start`], once all logged sessions are closed; by default they are not counted.
    ///
    /// # Errors
    /// When the engine does not answer.
    #[cfg(target_os = "linux")]
    fn objects(&self) -> Result<Vec<ObjectUse>, EngineError> {
        Ok(Vec::new())
    }

    /// Called after the schema scripts of session `session` have run and before anything is loaded:
    /// distributes over the data files what must be distributed.
    ///
    /// # Errors
    /// When the engine refuses.
    fn distribute_tables(&self, _session: u32) -> Result<(), EngineError> {
        Ok(())
    }

    /// Called when loading is over and every client is dropped: statistics, vacuum, checkpoint.
    ///
    /// # Errors
    /// When the engine refuses.
    fn quiesce(&self) -> Result<(), EngineError> {
        Ok(())
    }

    /// Makes the engine's own memory cold (restart) or leaves it warm; `forget` drops the operating
    /// system's caches, and is called while the engine is down. Returns what could not be done. By
    /// default the engine has no memory of its own.
    ///
    /// # Errors
    /// When it does not start again.
    fn start(
        &self,
        _temperature: Temperature,
        forget: &mut dyn FnMut() -> Result<Vec<String>, EngineError>,
    ) -> Result<Vec<String>, EngineError> {
        forget()
    }

    /// Counters so far, by name with the unit as suffix; only their differences are recorded.
    ///
    /// # Errors
    /// When the engine does not answer.
    fn counters(&self) -> Result<BTreeMap<String, f64>, EngineError> {
        Ok(BTreeMap::new())
    }

    /// A sampler of what sessions are waiting for, on its own connection; `None` if the engine cannot report it.
    ///
    /// # Errors
    /// When the engine refuses the connection.
    fn waits(&self) -> Result<Option<Box<dyn WaitSampler + '_>>, EngineError> {
        Ok(None)
    }

    /// A sampler that reads the counters once a second during a run, on its own connection; `None` if they
    /// have no meaningful series.
    ///
    /// # Errors
    /// When the engine refuses the connection.
    fn counter_sampler(&self) -> Result<Option<Box<dyn CounterSampler + '_>>, EngineError> {
        Ok(None)
    }

    /// Deviations from what was requested, and other notes for a record: called once, when the sessions have ended.
    fn notes(&self) -> Vec<Note> {
        Vec::new()
    }

    /// Interrupts current statements, so that sessions return at once with an error; by default they are too short for that.
    fn interrupt(&self) {}

    /// Aborts [`Engine::quiesce`] or [`Engine::start`], on any thread: nothing will run any more. Called repeatedly
    /// until they have returned; by default there is nothing to abort.
    fn abandon(&self) {}

    /// From now on, [`Engine::stop`] leaves the files of a managed engine in place.
    fn keep(&mut self) {}

    /// Stops it and removes what it created outside of the volumes; by default there is nothing.
    ///
    /// # Errors
    /// When something is left; the message names it.
    fn stop(&mut self) -> Result<(), EngineError> {
        Ok(())
    }
}

/// One session's connection.
pub trait Client: Driver<Error = String> + Send {
    /// Says which script's statements come next: with their index, a key for prepared statements.
    fn enter(&mut self, _script: usize) {}

    /// Rolls back an operation that failed; by default, its statements are all that it did.
    fn roll_back(&mut self) {}

    /// Statements executed so far; a batch of statements that is sent at once counts as one.
    fn statements(&self) -> u64;

    /// The rows of a query of the workload: of its first statement that returns columns. It does not count as a
    /// statement of a session.
    ///
    /// # Errors
    /// When it fails, or gives more than an answer may take.
    fn table(&mut self, _query: &str) -> Result<Table, String> {
        Err("this engine has no queries".to_owned())
    }

    /// Commits a transaction left open by statements of its own dialect: called once an operation is
    /// over.
    ///
    /// # Errors
    /// When the commit fails: the operation failed.
    fn settle(&mut self) -> Result<(), String> {
        Ok(())
    }
}

/// The rows of a query.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Table {
    /// Names of the columns.
    pub columns: Vec<String>,
    /// A value for each; `None` for one that is neither a number nor a text nor NULL.
    pub rows: Vec<Vec<Option<Value>>>,
}

/// Samples what the sessions are waiting for, repeatedly.
pub trait WaitSampler: Send {
    /// What each session of the run is currently doing.
    ///
    /// # Errors
    /// When the engine does not answer.
    fn sample(&mut self) -> Result<Vec<Waiting>, EngineError>;
}

/// Samples an engine's counters, repeatedly.
pub trait CounterSampler: Send {
    /// Their current values.
    ///
    /// # Errors
    /// When the engine does not answer.
    fn sample(&mut self) -> Result<CounterSample, EngineError>;
}

/// An engine's counters at an instant.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CounterSample {
    /// Monotonic counters, as from [`Engine::counters`]: differences are recorded.
    pub counters: BTreeMap<String, f64>,
    /// Gauges, such as space in use: recorded as they are.
    pub levels: BTreeMap<String, f64>,
}

/// What a session does at an instant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Waiting {
    /// The kind of wait.
    pub kind: WaitKind,
    /// The engine's own name of the wait, such as `IO/DataFileRead`; empty while it computes.
    pub event: String,
}

/// Kinds of waits, as named in a record's time split.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum WaitKind {
    /// None: computing, or waiting for a processor.
    Cpu,
    /// A read of data or temp files.
    Read,
    /// A write of data or temp files.
    Write,
    /// The log.
    Log,
    /// A lock of another session.
    Lock,
    /// The client: the engine is idle for this session.
    Client,
    /// Something else inside the engine.
    Other,
}

/// How often [`WaitSampler::sample`] is called: often enough for a second's share within a few per
/// cent, seldom enough to cost the engine next to nothing.
pub const SAMPLE_EVERY: Duration = Duration::from_millis(20);
