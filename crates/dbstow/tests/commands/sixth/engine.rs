//! A product from outside: a key-value store on real files. `PUT key` writes a log record and a page, `GET key` reads a page.

use std::fs::{self, File};
use std::io::{self, Write};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use engine::recorder::{Recorded, RecordedServers, RecordedSession, Samples};
use engine::{
    Client, Engine, EngineError, EngineProvider, EngineRun, Opening, Started, TrialVolumes,
};
use experiment::{record::EngineRecord, spec::Role};
use host::clock::Clock;
use model::Duration;
use profile::{Draft, Interval, Io, Lost, Timestamp};
use workload::{Driver, Statement, Value};

pub(crate) struct KeyValue;

impl EngineProvider for KeyValue {
    fn name(&self) -> &'static str {
        "kv"
    }
    fn open(&self, _: &Opening<'_>) -> Result<Box<dyn EngineRun>, EngineError> {
        Ok(Box::new(KeyValue))
    }
    fn recorded(&self) -> Option<&'static RecordedServers> {
        Some(&RecordedServers {
            title: "KeyValue",
            schemes: &["kv"],
            url: "kv://FOLDER",
            open: |url, _, _| Ok(Box::new(Log(url.trim_start_matches("kv://").into()))),
        })
    }
}

impl EngineRun for KeyValue {
    fn start(&self, trial: TrialVolumes<'_>) -> Result<Started, EngineError> {
        let store = Store::make(trial.directory(Role::Data), trial.directory(Role::Log));
        let store = store.map_err(|error| EngineError::failed("make the store", error))?;
        Ok(Started::Engine(Box::new(store)))
    }
}

/// The store: an engine for trials, and what a server of it would be.
pub(crate) struct Store {
    data: File,
    log: File,
}

impl Store {
    pub(crate) fn make(data: &Path, log: &Path) -> io::Result<Store> {
        Ok(Store {
            data: File::create_new(data.join("kv.data"))?,
            log: File::create_new(log.join("kv.log"))?,
        })
    }
    pub(crate) fn put(&self, key: u64) -> io::Result<()> {
        (&self.log).write_all(&[1; 512])?;
        self.log.sync_data()?;
        self.data.write_all_at(&[1; 8192], key * 8192)
    }
    fn get(&self, key: u64) -> io::Result<()> {
        self.data.read_at(&mut [0; 8192], key * 8192).map(drop)
    }
}

impl Engine for Store {
    fn describe(&self) -> EngineRecord {
        EngineRecord {
            name: "kv".to_owned(),
            ..EngineRecord::default()
        }
    }
    fn connect(&self, _: u32) -> Result<Box<dyn Client + '_>, EngineError> {
        Ok(Box::new(Session(self, 0)))
    }
}

struct Session<'a>(&'a Store, u64);

impl Driver for Session<'_> {
    type Error = String;
    fn statement(&mut self, _: usize, text: &Statement, values: &[Value]) -> Result<(), String> {
        self.1 += 1;
        let Some(Value::Int(key)) = values.first() else {
            return Err(format!("line {}: give a key", text.line));
        };
        let done = match text.text.starts_with("PUT") {
            true => self.0.put(*key as u64),
            false => self.0.get(*key as u64),
        };
        done.map_err(|error| error.to_string())
    }
    fn sleep(&mut self, span: Duration) -> Result<(), String> {
        Clock::sleep(span);
        Ok(())
    }
}

impl Client for Session<'_> {
    fn statements(&self) -> u64 {
        self.1
    }
}

/// When a log was looked at, and its records.
type Taken = (Duration, f64);

/// A store in use, by the folder of its log.
struct Log(PathBuf);

impl RecordedSession for Log {
    type Snapshot = Taken;
    type Error = String;
    fn snapshot(&mut self, clock: &Clock) -> Result<Taken, String> {
        let log = fs::metadata(self.0.join("kv.log")).map_err(|why| why.to_string())?;
        Ok((
            Duration::from_nanos(clock.now().as_nanos()),
            log.len() as f64 / 512.0,
        ))
    }
}

impl Recorded for Log {
    type Session = Log;
    fn name(&self) -> String {
        self.0.display().to_string()
    }
    fn connect(&self, _: u32) -> Result<Log, EngineError> {
        Ok(Log(self.0.clone()))
    }
    fn at(snapshot: &Taken) -> Duration {
        snapshot.0
    }
    fn describe(&mut self, _: &mut Log, _: &mut Taken, to: &mut Draft) -> Timestamp {
        to.origin.product = Some("KeyValue".to_owned());
        Timestamp::now()
    }
    fn interval(&self, before: &Taken, after: &Taken, _: &Samples) -> Result<Interval, Lost> {
        let puts = after.1 - before.1;
        let mut log = Io::default();
        log.writes.count = Some(puts);
        Ok(Interval {
            operations: Some(puts),
            roles: [(Role::Log, log)].into(),
            ..Interval::default()
        })
    }
}
