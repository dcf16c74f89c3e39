//! A product from outside: a key-value store on real files, by the traits of `engine` alone. `PUT key` writes a page and
//! its log record, `GET key` reads a page.

use std::collections::BTreeMap;
use std::fs::{self, File, OpenOptions};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use engine::recorder::{
    self, RecordError, Recorded, RecordedServers, Recorder, Recording, Samples, Watcher,
};
use engine::{
    Client, Engine, EngineError, EngineProvider, EngineRun, FrontKind, Modelled, Opening, Patience,
    ProductOptions, Started, TrialVolumes,
};
use experiment::record::EngineRecord;
use experiment::spec::{File as Placed, Mode};
use host::clock::Clock;
use model::Duration;
use profile::{Draft, Interval, Io, Lost, Profile, Requests, Timestamp};
use reading::Role;
use workload::{Dialect, Driver, Statement, Value};

const PAGE: usize = 8192;

pub(crate) struct KeyValue;

static SERVERS: RecordedServers = RecordedServers {
    title: "KeyValue",
    schemes: &["kv"],
    url: "kv://FOLDER",
};

impl EngineProvider for KeyValue {
    fn name(&self) -> &'static str {
        "kv"
    }
    fn about(&self) -> &'static str {
        "A key-value store"
    }
    fn dialect(&self) -> Dialect {
        Dialect::SQLITE
    }
    fn modelled(&self) -> Modelled {
        Modelled::Mounted {
            front: FrontKind::File,
            owner: None,
        }
    }
    fn keys(&self, _: Mode) -> Option<&'static [&'static str]> {
        Some(&["memory"])
    }
    fn open(&self, _: &Opening<'_>) -> Result<Box<dyn EngineRun>, EngineError> {
        Ok(Box::new(Run))
    }
    fn recorded(&self) -> Option<&'static RecordedServers> {
        Some(&SERVERS)
    }
    fn recorder(&self, url: &str, _: &ProductOptions) -> Result<Box<dyn Recorder>, EngineError> {
        Ok(Box::new(Server(url.trim_start_matches("kv://").into())))
    }
}

struct Run;

impl EngineRun for Run {
    fn start(&self, trial: TrialVolumes<'_>) -> Result<Started, EngineError> {
        let settings = trial.settings;
        let used = settings.placement.volumes();
        let names = settings.volumes.iter().map(|volume| volume.name.as_str());
        let names: Vec<&str> = names.filter(|name| used.contains(name)).collect();
        let directory = |file: &Placed| {
            let place = names.iter().position(|name| *name == file.volume);
            trial
                .site
                .directory(place.expect("a checked placement names its volumes"))
        };
        let (data, log) = (&settings.placement.data[0], &settings.placement.log);
        Ok(Started::Engine(Box::new(Store::make(
            directory(data),
            directory(log),
        )?)))
    }
}

/// The store: an engine for trials, and what a server of it would be.
pub(crate) struct Store {
    data: File,
    log: File,
    counters: File,
    puts: AtomicU64,
}

impl Store {
    pub(crate) fn make(data: &Path, log: &Path) -> Result<Store, EngineError> {
        let open = |path: PathBuf| {
            let file = OpenOptions::new()
                .read(true)
                .write(true)
                .create_new(true)
                .open(&path);
            file.map_err(|error| EngineError::failed(format!("make {}", path.display()), error))
        };
        Ok(Store {
            data: open(data.join("kv.data"))?,
            log: open(log.join("kv.log"))?,
            counters: open(data.join("counters"))?,
            puts: AtomicU64::new(0),
        })
    }

    pub(crate) fn put(&self, key: u64) -> std::io::Result<()> {
        let number = self.puts.fetch_add(1, Ordering::Relaxed);
        self.log.write_all_at(&[1; 512], number * 512)?;
        self.log.sync_data()?;
        self.data.write_all_at(&[1; PAGE], key * PAGE as u64)?;
        // Fixed width: a reader never sees a part of it.
        self.counters
            .write_all_at(format!("{:020}", number + 1).as_bytes(), 0)
    }

    fn get(&self, key: u64) -> std::io::Result<()> {
        self.data
            .read_at(&mut [0; PAGE], key * PAGE as u64)
            .map(drop)
    }
}

impl Engine for Store {
    fn describe(&self) -> EngineRecord {
        let (name, version) = ("kv".to_owned(), "1".to_owned());
        EngineRecord {
            name,
            version,
            file: "a file of pages".to_owned(),
            settings: BTreeMap::new(),
        }
    }
    fn connect(&self, _: u32) -> Result<Box<dyn Client + '_>, EngineError> {
        Ok(Box::new(Session(self, 0)))
    }
    fn counters(&self) -> Result<BTreeMap<String, f64>, EngineError> {
        Ok([("puts".to_owned(), self.puts.load(Ordering::Relaxed) as f64)].into())
    }
    fn interrupt(&self) {}
    fn keep(&mut self) {}
    fn stop(&mut self) -> Result<(), EngineError> {
        Ok(())
    }
}

struct Session<'a>(&'a Store, u64);

impl Driver for Session<'_> {
    type Error = String;

    fn statement(
        &mut self,
        _: usize,
        asked: &Statement,
        arguments: &[Value],
    ) -> Result<(), String> {
        self.1 += 1;
        let key = match arguments.first() {
            Some(Value::Int(key)) => *key as u64,
            _ => return Err(format!("line {}: give a key", asked.line)),
        };
        let put = asked.text.starts_with("PUT");
        (if put {
            self.0.put(key)
        } else {
            self.0.get(key)
        })
        .map_err(|error| error.to_string())
    }

    fn sleep(&mut self, span: Duration) -> Result<(), String> {
        Clock::sleep(span);
        Ok(())
    }
}

impl Client for Session<'_> {
    fn roll_back(&mut self) {}
    fn statements(&self) -> u64 {
        self.1
    }
}

/// A store in use, by the folder of its counters.
struct Server(PathBuf);

impl Recorder for Server {
    fn record(
        &self,
        _: Patience,
        asked: Recording,
        watcher: &dyn Watcher,
    ) -> Result<Profile, RecordError> {
        recorder::record(Server(self.0.clone()), asked, watcher)
    }
}

impl Recorded for Server {
    type Session = ();
    type Snapshot = (Duration, f64);
    fn name(&self) -> String {
        self.0.display().to_string()
    }
    fn connect(&self, _: u32) -> Result<(), EngineError> {
        Ok(())
    }
    fn snapshot(&self, (): &mut (), clock: &Clock) -> Result<(Duration, f64), String> {
        let text =
            fs::read_to_string(self.0.join("counters")).map_err(|error| error.to_string())?;
        Ok((
            Duration::from_nanos(clock.now().as_nanos()),
            text.parse().unwrap_or_default(),
        ))
    }
    fn at(snapshot: &(Duration, f64)) -> Duration {
        snapshot.0
    }
    fn sample(&self, (): &mut (), samples: &mut Samples) -> Result<(), String> {
        samples.add([(0, None)].into_iter());
        Ok(())
    }
    fn describe(&mut self, (): &mut (), _: &mut (Duration, f64), draft: &mut Draft) -> Timestamp {
        draft.origin.product = Some("KeyValue".to_owned());
        Timestamp::UNIX_EPOCH
    }
    fn interval(
        &self,
        before: &(Duration, f64),
        after: &(Duration, f64),
        samples: &Samples,
    ) -> Result<Interval, Lost> {
        let (length, puts) = (after.0.saturating_sub(before.0), after.1 - before.1);
        let writes = Requests {
            count: Some(puts),
            bytes: Some(puts * 512.0),
            ..Requests::default()
        };
        let log = Io {
            writes,
            ..Io::default()
        };
        Ok(Interval {
            at: before.0,
            length,
            operations: Some(puts),
            commits: Some(puts),
            roles: [(Role::Log, log)].into(),
            ..samples.interval([].into_iter())
        })
    }
}
