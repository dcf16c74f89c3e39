//! A server to which clients write, while its volumes are recorded.

use std::io::BufReader;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use emulator::crash::{Action, Event, History};
use emulator::{Contents, RecordSpec};
use files::{Folder, Readers, input};
use host::clock::Clock;
use host::site::Site;
use model::{Duration, Instant};
use parking_lot::Mutex;

use super::place::VOLUME;
use super::recording::Recording;
use super::{DrillError, DrillSpec, Ledger, Placed, Recorded, Tools};
use engine::EngineError;
use engine::drilled::{Server, ServerSpec};

/// Interval of checkpoints: the pages of every few hundred commits reach the data's disk.
const CHECKPOINT_EVERY: Duration = Duration::from_millis(1_500);

/// Polling interval for the end.
const LOOK_EVERY: Duration = Duration::from_millis(20);

/// Most write pieces per disk of a recording: each takes some 60 bytes of memory while a state is checked.
const PIECES_MAX: u64 = 1 << 24;

/// Names in a placement's folder; the second is also the name of the file within the first.
const WRITES: &str = "writes";
pub(super) const ABOUT: &str = "recording.json";

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
        let Written {
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
struct Written {
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
) -> Result<Written, DrillError> {
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
    Ok(Written {
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

/// Reads what is stored in the folder of a placement, including the history of its writes.
///
/// # Errors
/// When it does not exist, is of another version, or contains impossible values.
pub(super) fn read(own: &Folder) -> Result<(Recording, History), DrillError> {
    let text = input::inside(own, ABOUT, input::BYTES_MAX)?;
    let file = own.path().join(ABOUT);
    let recording = Recording::parse(&text).map_err(|why| no_recording(&file, why))?;
    let history = read_history(own)?;
    let volumes = recording.placed.volumes.iter();
    let names: Vec<&String> = volumes.map(|volume| &volume.name).collect();
    let no = |why: String| no_recording(&own.path().join(WRITES), why);
    if history.volumes.iter().collect::<Vec<_>>() != names {
        return Err(no(format!(
            "its history is of the volumes {:?}, and {ABOUT} of {names:?}",
            history.volumes
        )));
    }
    check(&history, &recording.placed, own).map_err(no)?;
    Ok((recording, history))
}

/// Checks that all writes lie within the volumes, and that their bytes exist.
fn check(history: &History, placed: &Placed, own: &Folder) -> Result<(), String> {
    let beyond = |event: &&Event| event.range.end > VOLUME.0;
    if let Some(event) = history.events.iter().find(beyond) {
        return Err(format!(
            "its history has a request up to byte {} of a volume of {VOLUME}",
            event.range.end
        ));
    }
    let length = |event: &Event| event.range.end - event.range.start;
    let pieces = history.events.iter().map(|event| {
        let volume = &placed.volumes[event.volume];
        match volume.disks.len() {
            1 => 1,
            _ => length(event) / volume.interleave.0.max(1) + 2,
        }
    });
    let pieces: u64 = pieces.fold(0, u64::saturating_add);
    if pieces > PIECES_MAX {
        return Err(format!(
            "its history has {pieces} parts of writes, and at most {PIECES_MAX} are looked at; record for less time"
        ));
    }
    let writes = own.inner(WRITES.as_ref());
    let writes = writes.and_then(|folder| folder.regular_file(WRITES.as_ref()));
    let there = writes.map_err(|error| error.to_string())?.metadata();
    let there = there.map_err(|error| error.to_string())?.len();
    let events = history.events.iter();
    let events = events.filter(|event| event.action == Action::Write);
    let written: u64 = events.map(length).fold(0, u64::saturating_add);
    if written > there {
        return Err(format!(
            "its history has {written} bytes of writes, and its writes are {there} bytes; copy it again"
        ));
    }
    Ok(())
}

/// Reads the history of the writes in the folder of a placement.
fn read_history(own: &Folder) -> Result<History, DrillError> {
    let writes = own.inner(WRITES.as_ref())?;
    let file = writes.regular_file("history".as_ref())?;
    let history = History::read(&mut BufReader::new(file));
    history.map_err(|error| no_recording(writes.path(), error.to_string()))
}

fn no_recording(place: &Path, why: String) -> DrillError {
    DrillError::NoRecording {
        place: place.to_owned(),
        why,
    }
}

/// Path of the recorded writes in a placement's folder.
pub(super) fn writes(folder: &Path) -> std::path::PathBuf {
    folder.join(WRITES)
}
