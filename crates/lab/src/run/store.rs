//! Storage of records.

use std::collections::BTreeMap;

use experiment::plan::{Plan, Trial};
use experiment::record::Record;
use experiment::results::{Results, ResultsError};
use model::Duration;
use parking_lot::Mutex;

/// Stores the records of a run.
pub trait Store: Sync {
    /// Trials that have no record yet, in the order of the plan.
    fn outstanding(&self) -> Vec<Trial>;

    /// How long a whole trial of each arm took, if known from earlier ones.
    fn durations(&self) -> BTreeMap<String, Duration>;

    /// Stores a record.
    ///
    /// # Errors
    /// When it cannot be written.
    fn keep(&self, record: &Record) -> Result<(), ResultsError>;
}

impl Store for Results {
    fn outstanding(&self) -> Vec<Trial> {
        Results::outstanding(self)
    }

    fn durations(&self) -> BTreeMap<String, Duration> {
        Results::durations(self)
    }

    fn keep(&self, record: &Record) -> Result<(), ResultsError> {
        self.write(record)
    }
}

/// A results folder in which a subset of the trials is run; others may run there at the same time.
#[derive(Debug)]
pub struct Chosen<'a> {
    /// The folder.
    pub results: &'a Results,
    /// The trials, in the order of the plan.
    pub trials: Vec<Trial>,
}

impl Store for Chosen<'_> {
    fn outstanding(&self) -> Vec<Trial> {
        self.trials.clone()
    }

    // That would require reading all records of a folder, which may be very many.
    fn durations(&self) -> BTreeMap<String, Duration> {
        BTreeMap::new()
    }

    fn keep(&self, record: &Record) -> Result<(), ResultsError> {
        self.results.write(record)
    }
}

/// Records in memory.
#[derive(Debug)]
pub struct Memory {
    trials: Vec<Trial>,
    records: Mutex<Vec<Record>>,
}

impl Memory {
    /// Empty, for `plan`.
    pub fn of(plan: &Plan) -> Memory {
        Memory {
            trials: plan.trials().to_vec(),
            records: Mutex::default(),
        }
    }

    /// The records, in the order of the plan.
    pub fn records(self) -> Vec<Record> {
        let mut records = self.records.into_inner();
        records.sort_by_key(|record| (record.block, record.position));
        records
    }
}

impl Store for Memory {
    fn outstanding(&self) -> Vec<Trial> {
        self.trials.clone()
    }

    fn durations(&self) -> BTreeMap<String, Duration> {
        BTreeMap::new()
    }

    fn keep(&self, record: &Record) -> Result<(), ResultsError> {
        self.records.lock().push(record.clone());
        Ok(())
    }
}
