//! A server that clients write to, while its volumes are recorded.

use std::fs::File;
use std::io::BufReader;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use crash::History;
use files::{Folder, Readers};
use model::{Duration, Instant};
use parking_lot::Mutex;
use serde::{Deserialize, Serialize};
use volume::clock::Clock;
use volume::fuse::{Contents, RecordSpec};
use volume::site::Site;

use super::server::{Server, ServerSpec};
use super::{DrillError, DrillSpec, Ledger, Placed, Recorded, Tools};
use crate::engine::EngineError;

/// Between two checkpoints: the pages of every few hundred commits reach the data's disk.
const CHECKPOINT_EVERY: Duration = Duration::from_millis(1_500);

/// Between two looks at whether it is over.
const LOOK_EVERY: Duration = Duration::from_millis(20);

/// Names in a placement's folder.
const WRITES: &str = "writes";
const ABOUT: &str = "recording.json";

/// Version of what a recording is stored as.
const FORMAT: &str = "dbstow.crash-recording/1";

/// What is stored about a recording, beside what was written.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct About {
    format: String,
    /// What was recorded.
    pub(super) placed: Placed,
    /// What the server was started with besides.
    pub(super) server: Vec<(String, String)>,
    /// The server's version.
    pub(super) version: String,
    /// When each session's commits were acknowledged.
    pub(super) ledger: Ledger,
    /// When clients began, by the recording's clock.
    pub(super) from: Instant,
    /// When they had ended.
    pub(super) until: Instant,
    /// Where the volumes were mounted, each below its name.
    pub(super) mounted: String,
}

impl Recorded {
    /// Makes a server in `folder`, an empty one, and records what clients have it write. `server` are settings that it is
    /// started with.
    ///
    /// # Errors
    /// When the server does not come up, a client is refused, or something cannot be written.
    pub fn record(
        tools: &Tools,
        placed: &Placed,
        server: &[(&str, &str)],
        spec: &DrillSpec,
        folder: &Path,
    ) -> Result<Recorded, DrillError> {
        // The emulator works in a directory of its own.
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
        // A full backing disk, say: what clients were told follows from it.
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
        // What disks refuse for want of space is in no state.
        let until = history.ended.map_or(until, |ended| ended.min(until));
        if until <= from {
            return Err(DrillError::NoSpace(folder.to_owned()));
        }
        ended.map_err(|why| EngineError::failed("end the server", why))?;
        let about = About {
            format: FORMAT.to_owned(),
            placed: placed.clone(),
            server,
            version: format!("{} {}", tools.product.name(), version?),
            ledger,
            from,
            until,
            mounted,
        };
        let text = serde_json::to_string(&about).expect("it is plain data");
        own.write_new(ABOUT.as_ref(), text.as_bytes(), Readers::OwnerOnly)?;
        Recorded::open(tools, folder)
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

/// Lets clients write for as long as is recorded, and has checkpoints in between.
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
    /// What the emulator's clock said, and this one before it was asked.
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

    /// The emulator's time, or a little later: by how long it took to ask.
    fn now(&self) -> Instant {
        self.theirs + self.clock.now().since(self.ours)
    }
}

impl About {
    /// Reads what is stored in the folder of a placement, with the history of its writes.
    ///
    /// # Errors
    /// When it is not there, or of another version.
    pub(super) fn read(folder: &Path) -> Result<(About, History), DrillError> {
        let no = |why: String| no_recording(folder, why);
        let own = Folder::open(folder)?;
        let about = BufReader::new(found(&own, ABOUT)?);
        let about: About = serde_json::from_reader(about).map_err(|error| no(error.to_string()))?;
        if about.format != FORMAT {
            return Err(no(format!("it is of another version ({})", about.format)));
        }
        Ok((about, read_history(&own)?))
    }
}

/// Reads the history of the writes in the folder of a placement.
fn read_history(own: &Folder) -> Result<History, DrillError> {
    let writes = own.folder(WRITES.as_ref())?;
    let history = History::read(&mut BufReader::new(found(&writes, "history")?));
    history.map_err(|error| no_recording(own.path(), error.to_string()))
}

/// A file that has to be there.
fn found(folder: &Folder, name: &str) -> Result<File, DrillError> {
    let file = folder.found_file(name.as_ref())?;
    file.ok_or_else(|| no_recording(folder.path(), format!("there is no {name}")))
}

fn no_recording(folder: &Path, why: String) -> DrillError {
    DrillError::NoRecording {
        folder: folder.to_owned(),
        why,
    }
}

/// Where in a placement's folder what was written is.
pub(super) fn writes(folder: &Path) -> std::path::PathBuf {
    folder.join(WRITES)
}
