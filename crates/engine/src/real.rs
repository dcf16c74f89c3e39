//! What a trial in real time needs of an engine.

use std::collections::BTreeMap;

use model::Duration;

use experiment::record::{EngineRecord, Note};
use experiment::spec::Temperature;
use workload::{Driver, Value};

/// What to say of a cold start that is asked of a server that others own.
pub const NOT_RESTARTED: &str =
    "the given server was not restarted: its memory is as the load left it";

/// What helps where a statement names a table that is not there.
pub const NOT_LOADED: &str = "a trial's database holds what its workload loads: load the table (load.scripts in workload.toml)";

/// An engine's own instance for one trial: placed on the volumes' directories, and taken away again.
///
/// Its methods are called in the order of a trial: `connect` and `loaded` while loading, then `quiesce`
/// and `start`, then `connect` for the sessions of the run, `counters` and `waits` around and during it,
/// and `stop`. Dropping it stops it too, as far as that can be done without an answer.
pub trait Engine: Sync {
    /// What it is: name, version, settings that matter, and what it calls a file.
    fn describe(&self) -> EngineRecord;

    /// Opens the connection of session `session`, from 0.
    ///
    /// # Errors
    /// When the engine does not let it in.
    fn connect(&self, session: u32) -> Result<Box<dyn Client + '_>, EngineError>;

    /// Called after the schema scripts of session `session` have run and before anything is loaded:
    /// spreads over the data files what is to be spread.
    ///
    /// # Errors
    /// When the engine refuses.
    fn spread(&self, session: u32) -> Result<(), EngineError>;

    /// Loading is over and every client is dropped: statistics, vacuum, checkpoint.
    ///
    /// # Errors
    /// When the engine refuses.
    fn quiesce(&self) -> Result<(), EngineError>;

    /// Makes the engine's own memory cold (restart) or leaves it warm; `forget` lets go what the
    /// operating system caches, and is called while the engine is down. Gives what could not be done.
    ///
    /// # Errors
    /// When it does not come up again.
    fn start(
        &self,
        temperature: Temperature,
        forget: &mut dyn FnMut() -> Result<Vec<String>, EngineError>,
    ) -> Result<Vec<String>, EngineError>;

    /// Counters so far, by name with the unit as suffix; only their differences are recorded.
    ///
    /// # Errors
    /// When the engine does not answer.
    fn counters(&self) -> Result<BTreeMap<String, f64>, EngineError>;

    /// Something that looks at what sessions are waiting for, on a connection of its own; `None` where
    /// the engine cannot tell.
    ///
    /// # Errors
    /// When the engine does not let it in.
    fn waits(&self) -> Result<Option<Box<dyn WaitSampler + '_>>, EngineError>;

    /// Something that reads the counters once a second of a run, on a connection of its own; `None` where they
    /// say nothing over time.
    ///
    /// # Errors
    /// When the engine does not let it in.
    fn counter_sampler(&self) -> Result<Option<Box<dyn CounterSampler + '_>>, EngineError> {
        Ok(None)
    }

    /// What was done otherwise than asked, and what else a record should say: asked once, when the sessions have ended.
    fn notes(&self) -> Vec<Note> {
        Vec::new()
    }

    /// Ends statements under way, so that sessions come back at once with an error.
    fn interrupt(&self);

    /// Ends what [`Engine::quiesce`] or [`Engine::start`] does, on any thread: nothing will run any more. Called again and
    /// again until they have come back, by default with nothing to end.
    fn abandon(&self) {}

    /// From now on, [`Engine::stop`] leaves the files of an engine of our own where they are.
    fn keep(&mut self);

    /// Stops it and takes away what it made.
    ///
    /// # Errors
    /// When something is left; the message says what.
    fn stop(&mut self) -> Result<(), EngineError>;
}

/// One session's connection.
pub trait Client: Driver<Error = String> + Send {
    /// Says which script's statements come next: with their index, a key for prepared statements.
    fn enter(&mut self, script: usize);

    /// Ends an operation that failed: nothing of it stays.
    fn roll_back(&mut self);

    /// Statements executed so far: what SQL Server counts as batch requests.
    fn statements(&self) -> u64;

    /// The rows of a query of the workload's: of its first statement that gives any columns. It is no statement of a
    /// session's.
    ///
    /// # Errors
    /// When it fails, or gives more than an answer may take.
    fn table(&mut self, query: &str) -> Result<Table, String>;

    /// Ends statements of its own dialect that leave a transaction open: called once an operation is
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

/// Samples at what the sessions are waiting for, again and again.
pub trait WaitSampler: Send {
    /// What each session of the run does at this moment.
    ///
    /// # Errors
    /// When the engine does not answer.
    fn sample(&mut self) -> Result<Vec<Waiting>, EngineError>;
}

/// Reads an engine's counters, again and again.
pub trait CounterSampler: Send {
    /// What they are at this moment.
    ///
    /// # Errors
    /// When the engine does not answer.
    fn sample(&mut self) -> Result<CounterSample, EngineError>;
}

/// An engine's counters at a moment.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CounterSample {
    /// What only grows, as [`Engine::counters`] gives it: differences are recorded.
    pub counters: BTreeMap<String, f64>,
    /// What goes up and down, such as space in use: recorded as it is.
    pub levels: BTreeMap<String, f64>,
}

/// What a session does at a moment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Waiting {
    /// For what.
    pub kind: WaitKind,
    /// The engine's own name of the wait, such as `IO/DataFileRead`; empty while it computes.
    pub event: String,
}

/// Kinds of waits, as a record's time split names them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum WaitKind {
    /// None: it computes, or waits for a processor.
    Cpu,
    /// A read of data or temp files.
    Read,
    /// A write of data or temp files.
    Write,
    /// The log.
    Log,
    /// A lock of another session.
    Lock,
    /// The client: the engine has nothing to do for it.
    Client,
    /// Something else inside the engine.
    Other,
}

/// What an engine could not do.
#[derive(Debug, thiserror::Error)]
pub enum EngineError {
    /// It is not on this machine, or not usable, and what to do about it.
    #[error("{0}")]
    Missing(String),
    /// It refused, or came to an end; with its own words.
    #[error("{what}: {why}")]
    Failed {
        /// What was tried.
        what: String,
        /// Why it did not work.
        why: String,
    },
}

impl EngineError {
    /// `what` was tried and did not work because of `why`.
    pub fn failed(what: impl Into<String>, why: impl ToString) -> EngineError {
        EngineError::Failed {
            what: what.into(),
            why: why.to_string(),
        }
    }
}

/// How often [`WaitSampler::sample`] is asked: often enough for a second's share within a few per cent,
/// seldom enough to cost the engine next to nothing.
pub const SAMPLE_EVERY: Duration = Duration::from_millis(20);
