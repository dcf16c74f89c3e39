//! A server to which clients write, while its volumes are recorded.

use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use emulator::{Contents, RecordSpec};
use files::{Folder, Readers};
use host::clock::Clock;
use host::site::Site;
use model::{Duration, Instant};
use parking_lot::Mutex;

use super::recording::Recording;
use super::stored::{ABOUT, WRITES, read_history};
use super::{DrillError, DrillSpec, Ledger, Placed, Recorded, Tools};
use engine::EngineError;
use engine::drilled::{Server, ServerSpec};

/// Interval of checkpoints: the pages of every few hundred commits reach the data's disk.
const CHECKPOINT_EVERY: Duration = Duration::from_millis(1_500);

/// Polling interval for the end.
const LOOK_EVERY: Duration = Duration::from_millis(20);

impl Recorded {
    /// Creates a server in `folder`, which must be empty, and records what clients write. `server` contains settings
    /// that it is started with.
    ///
    /// # Errors
    /// When the server does not start, a client is refused, or something cannot be written.
    pub fn record(
        tools: &Tools,
        placed: &Placed,
        server: &[(&str, &str)],
        spec: &DrillSpec,
        folder: &Path,
    ) -> Result<Recorded, DrillError> {
        // The emulator works in its own directory.
        let folder = &folder.canonicalize().map_err(DrillError::volumes)?;
        let own = Folder::open(folder)?;
        own.new_folder(WRITES.as_ref())?;
        let more = server.iter();
        let more = more.map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
        let server: Vec<(String, String)> = placed.server.iter().cloned().chain(more).collect();
        let volumes = tools
            .mount(placed, folder, Contents::InPlace)
            .map_err(DrillError::volumes)?;
        volumes.let_in().map_err(DrillError::volumes)?;
        let asked = ServerSpec {
            settings: &placed.settings,
            sessions: spec.sessions,
            own: &server,
            origin: tools.origin,
        };
        let made = tools.product.make(&asked, &volumes.site);
        let mounted = volumes.directory().to_owned();
        volumes.stop().map_err(DrillError::volumes)?;
        made?;

        let record = RecordSpec {
            directory: folder.join(WRITES),
            most: spec.space,
        };
        let volumes = tools
            .mount(placed, folder, Contents::Recorded(record))
            .map_err(DrillError::volumes)?;
        let moved = [(mounted, volumes.directory().to_owned())];
        let drilled = tools
            .product
            .found(&asked, &volumes.site, &moved)?
            .map_err(|why| EngineError::failed("start the server", why))?;
        volumes.let_in().map_err(DrillError::volumes)?;
        drilled
            .start()?
            .map_err(|why| EngineError::failed("start the server", why))?;
        let version = drilled.version();
        let written = write(&*drilled, &volumes.site, spec, &tools.hooks.interrupted);
        let ended = drilled.end();
        let mounted = volumes.directory().display().to_string();
        drop(drilled);
        // The backing disk may be full: what clients saw follows from that.
        volumes.site.reading().map_err(DrillError::volumes)?;
        volumes.stop().map_err(DrillError::volumes)?;
        let ClientWrites {
            ledger,
            from,
            until,
            failed,
        } = written?;
        let history = read_history(&own)?;
        if let Some(error) = failed.filter(|_| history.ended.is_none()) {
            return Err(error.into());
        }
        // Requests refused because space ran out are in no state.
        let until = history.ended.map_or(until, |ended| ended.min(until));
        if until <= from {
            return Err(DrillError::NoSpace(folder.to_owned()));
        }
        ended.map_err(|why| EngineError::failed("end the server", why))?;
        let recording = Recording::new(
            (placed.clone(), server),
            format!("{} {}", tools.product.name(), version?),
            ledger,
            (from, until),
            mounted,
        );
        let text = recording.text();
        own.write_new(ABOUT.as_ref(), text.as_bytes(), Readers::OwnerOnly)?;
        Recorded::open(tools, &own)
    }
}

/// What clients wrote.
struct ClientWrites {
    ledger: Ledger,
    from: Instant,
    until: Instant,
    /// Why it ended early.
    failed: Option<EngineError>,
}

/// Lets clients write for the recorded time, with checkpoints in between.
fn write(
    drilled: &dyn Server,
    site: &dyn Site,
    spec: &DrillSpec,
    interrupted: &AtomicBool,
) -> Result<ClientWrites, DrillError> {
    let times = Times::of(site)?;
    let ended = AtomicBool::new(false);
    let failed: Mutex<Option<EngineError>> = Mutex::new(None);
    let client = |session: u32| {
        let mut acknowledged = Vec::new();
        let mut all = || {
            let mut writer = drilled.writer(session)?;
            while !ended.load(Ordering::Relaxed) {
                writer.commit(acknowledged.len() as u64 + 1)?;
                acknowledged.push(times.now());
            }
            Ok(())
        };
        if let Err(error) = all() {
            failed.lock().get_or_insert(error);
            ended.store(true, Ordering::Relaxed);
        }
        acknowledged
    };
    let from = times.now();
    let sessions = thread::scope(|scope| {
        let clients: Vec<_> = (0..spec.sessions)
            .map(|session| scope.spawn(move || client(session)))
            .collect();
        let mut checkpointed = from;
        while !ended.load(Ordering::Relaxed) {
            Clock::sleep(LOOK_EVERY);
            let now = times.now();
            if now - from >= spec.record || interrupted.load(Ordering::Relaxed) {
                ended.store(true, Ordering::Relaxed);
            } else if now - checkpointed >= CHECKPOINT_EVERY {
                checkpointed = now;
                if let Err(error) = drilled.checkpoint() {
                    failed.lock().get_or_insert(error);
                    ended.store(true, Ordering::Relaxed);
                }
            }
        }
        let join = |client: thread::ScopedJoinHandle<'_, Vec<Instant>>| {
            client.join().expect("a client does not panic")
        };
        clients.into_iter().map(join).collect()
    });
    let until = times.now();
    if interrupted.load(Ordering::Relaxed) {
        return Err(DrillError::Interrupted);
    }
    Ok(ClientWrites {
        ledger: Ledger { sessions },
        from,
        until,
        failed: failed.into_inner(),
    })
}

/// The clock of an emulator, in this process.
#[derive(Clone, Copy)]
struct Times {
    clock: Clock,
    /// The time of the emulator's clock, and the time of this one before the query.
    theirs: Instant,
    ours: Instant,
}

impl Times {
    fn of(site: &dyn Site) -> Result<Times, DrillError> {
        let clock = Clock::start();
        let ours = clock.now();
        let theirs = site.reading().map_err(DrillError::volumes)?.at;
        Ok(Times {
            clock,
            theirs,
            ours,
        })
    }

    /// The emulator's time, possibly later by the duration of the query.
    fn now(&self) -> Instant {
        self.theirs + self.clock.now().since(self.ours)
    }
}
