//! A recording of a server, and its outcome in a crash state.

use std::io;
use std::mem::discriminant;
use std::path::{Path, PathBuf};

use emulator::crash::{Action, Cache, Choice, Event, History, Moment, Rules};
use emulator::{Contents, CrashSpec, RemoteSite, UNMOUNTABLE, digest};
use files::Folder;
use host::clock::Clock;
use host::site::Site;
use model::{Bytes, Duration, HostCacheMode, Instant};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::cut::{Cut, Draw, StoredCut};
use super::place::{self, Tools};
use super::recording::{Recording, check_settings};
use super::stored::{self, ABOUT, writes};
use super::{Atomic, DrillError, DrillSpec};
use engine::EngineError;
use engine::drilled::{Kind, Origin, Server, ServerSpec, Verdict};

/// What clients had a server write, in the order in which its disks received it.
pub struct Recorded {
    tools: Tools,
    folder: PathBuf,
    about: Recording,
    history: History,
}

/// Writes that a volume lacks.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Missing {
    /// Name of the volume.
    pub volume: String,
    /// When it stopped, in milliseconds after clients began.
    pub at_ms: u64,
    /// Writes that were open.
    pub open: u64,
    /// Of these, those missing completely.
    pub missing: u64,
    /// Of these, those present only in part.
    pub torn: u64,
}

/// A running server and its volumes.
pub(super) type OnVolumes<'a> = (&'a dyn Server, &'a RemoteSite);

/// How long the check of one state took.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Took {
    /// Until its volumes were mounted.
    pub mount: Duration,
    /// From then until the server accepted clients, or had ended.
    pub start: Duration,
    /// To read and check all its data.
    pub look: Duration,
    /// To end the server, and to unmount.
    pub stop: Duration,
}

/// Measures consecutive times.
struct Laps {
    clock: Clock,
    last: Instant,
    took: Took,
}

impl Laps {
    fn start() -> Laps {
        let clock = Clock::start();
        Laps {
            last: clock.now(),
            clock,
            took: Took::default(),
        }
    }

    /// Time since the last one.
    fn lap(&mut self) -> Duration {
        let now = self.clock.now();
        let lap = now - self.last;
        self.last = now;
        lap
    }
}

/// Summary of a recording.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Summary {
    /// How long clients wrote.
    pub lasted: Duration,
    /// Commits acknowledged to them.
    pub commits: u64,
    /// Writes of all disks.
    pub writes: u64,
    /// Their bytes.
    pub bytes: Bytes,
    /// Flushes of all disks.
    pub flushes: u64,
    /// Whether it ended early because space ran out.
    pub ended_early: bool,
}

impl Recorded {
    /// Opens what is stored in `folder`; if this run has not created it, nothing in it is used before it was checked.
    ///
    /// # Errors
    /// When it does not exist, is of another version, contains impossible values, or requests something
    /// that is not permitted.
    pub fn open(tools: &Tools, folder: &Folder) -> Result<Recorded, DrillError> {
        let (about, history) = stored::read(folder)?;
        let may_set = |name: &str, value: &str| tools.product.may_set(name, value);
        check_settings(&about, tools.origin, &may_set).map_err(|why| DrillError::Refused {
            file: folder.path().join(ABOUT),
            why,
        })?;
        match tools.origin {
            Origin::ThisRun => {}
            Origin::Folder => place::check_disks(folder, &about.placed)?,
        }
        Ok(Recorded {
            tools: tools.clone(),
            // The emulator works in its own directory.
            folder: folder.path().canonicalize().map_err(DrillError::volumes)?,
            about,
            history,
        })
    }

    /// The state that a document contains as `stored`.
    ///
    /// # Errors
    /// When it does not belong to this recording.
    pub fn state(&self, stored: &Value, spec: &DrillSpec) -> Result<Cut, DrillError> {
        let none = |why: String| DrillError::NoState {
            folder: self.folder.clone(),
            why,
        };
        let stored = StoredCut::deserialize(stored).map_err(|error| none(error.to_string()))?;
        let (events, rules) = (&self.history.events, self.rules(spec));
        stored.check(events, &rules).map_err(none)
    }

    /// Summary of what was recorded while clients wrote.
    pub fn summary(&self) -> Summary {
        let (from, until) = (self.about.from, self.about.until);
        let mut summary = Summary {
            lasted: until - from,
            commits: self.about.ledger.commits(),
            writes: 0,
            bytes: Bytes::ZERO,
            flushes: 0,
            ended_early: self.history.ended.is_some(),
        };
        let events = self.history.events.iter();
        for event in events.filter(|event| from <= event.arrived && event.arrived <= until) {
            match event.action {
                Action::Write => {
                    summary.writes += 1;
                    summary.bytes.0 += event.range.end - event.range.start;
                }
                Action::Flush => summary.flushes += 1,
                Action::Discard => {}
            }
        }
        summary
    }

    /// The server's version.
    pub fn version(&self) -> &str {
        &self.about.version
    }

    /// Whether the user pressed Ctrl-C.
    pub(super) fn is_interrupted(&self) -> bool {
        self.tools.is_interrupted()
    }

    /// States of a kind, at most `count`, drawn from the seed of `spec`.
    pub fn cuts(&self, kind: Kind, count: u32, spec: &DrillSpec) -> Vec<Cut> {
        let draw = Draw {
            events: &self.history.events,
            rules: &self.rules(spec),
            from: self.about.from,
            until: self.about.until,
            skew: spec.skew,
            power: spec.power,
            seed: spec.seed,
        };
        draw.cuts(kind, count)
    }

    /// The state without a power cut.
    pub(super) fn uncut(&self) -> Cut {
        let last = || self.history.events.iter().map(|event| event.done).max();
        let end = self.history.ended.or_else(last);
        Cut {
            number: 0,
            kind: Kind::Power,
            at: vec![end.unwrap_or(Instant::ZERO); self.about.placed.volumes.len()],
            choice: Choice::Everything,
            flipped: None,
        }
    }

    /// Checks that the server starts without a power cut.
    ///
    /// # Errors
    /// When it does not.
    pub fn check(&self, spec: &DrillSpec) -> Result<(), DrillError> {
        match self.look(&self.uncut(), spec)?.0 {
            Verdict::Intact => Ok(()),
            verdict => Err(DrillError::Uncut {
                placement: self.about.placed.name.clone(),
                verdict,
            }),
        }
    }

    /// Starts the server on a state, and checks its data.
    ///
    /// # Errors
    /// When the state cannot be checked, for a reason other than the server.
    pub fn look(&self, cut: &Cut, spec: &DrillSpec) -> Result<(Verdict, Took), DrillError> {
        let earliest = cut.at.iter().copied().min().unwrap_or(Instant::ZERO);
        self.with_server(cut, spec, &|_| Ok(()), &mut |server| match server {
            Err(why) => Verdict::DoesNotStart { why },
            Ok((drilled, _)) => self.verdict(earliest, drilled),
        })
    }

    /// Like [`Recorded::look`]; what is not intact is checked once more.
    ///
    /// # Errors
    /// As for that function, or when the two checks differ.
    pub(super) fn look_twice(
        &self,
        cut: &Cut,
        spec: &DrillSpec,
    ) -> Result<(Verdict, Took), DrillError> {
        let (first, took) = self.look(cut, spec)?;
        if first == Verdict::Intact {
            return Ok((first, took));
        }
        let (second, _) = self.look(cut, spec)?;
        match discriminant(&first) == discriminant(&second) {
            true => Ok((first, took)),
            false => Err(DrillError::Unstable {
                number: cut.number,
                first,
                second,
            }),
        }
    }

    /// The verdict on a server that stopped at this time.
    pub(super) fn verdict(&self, at: Instant, drilled: &dyn Server) -> Verdict {
        Verdict::of(&self.about.ledger.acknowledged(at), &drilled.look())
    }

    /// Starts the server on a state, after a change to its volumes; `judge` receives it, or the reason why it does not start.
    ///
    /// # Errors
    /// When the state cannot be checked, for a reason other than the server.
    pub(super) fn with_server<T>(
        &self,
        cut: &Cut,
        spec: &DrillSpec,
        prepare: &dyn Fn(&dyn Site) -> io::Result<()>,
        judge: &mut dyn FnMut(Result<OnVolumes<'_>, String>) -> T,
    ) -> Result<(T, Took), DrillError> {
        let mut laps = Laps::start();
        let Recording {
            placed,
            server,
            ledger,
            mounted,
            ..
        } = &self.about;
        let contents = self.contents(cut, spec);
        let volumes = match self.tools.mount(placed, &self.folder, contents) {
            Ok(volumes) => volumes,
            // All other errors are caused by this machine, not by the state.
            Err(error) if error.to_string().contains(UNMOUNTABLE) => {
                return Ok((judge(Err(error.to_string())), laps.took));
            }
            Err(error) => return Err(DrillError::volumes(error)),
        };
        prepare(&volumes.site).map_err(DrillError::volumes)?;
        laps.took.mount = laps.lap();
        let moved = [(PathBuf::from(mounted), volumes.directory().to_owned())];
        let sessions = ledger.sessions.len() as u32;
        let asked = ServerSpec {
            settings: &placed.settings,
            sessions,
            own: server,
            origin: self.tools.origin,
        };
        let judged = match self.tools.product.found(&asked, &volumes.site, &moved)? {
            Err(why) => judge(Err(why)),
            Ok(drilled) => {
                volumes.let_in().map_err(DrillError::volumes)?;
                let started = drilled.start()?;
                laps.took.start = laps.lap();
                let judged = match started {
                    Err(why) => judge(Err(why)),
                    Ok(()) => judge(Ok((&*drilled, &volumes.site))),
                };
                laps.took.look = laps.lap();
                drilled
                    .end()
                    .map_err(|why| EngineError::failed("end the server", why))?;
                judged
            }
        };
        // An emulator's failure is not a fault of the state.
        volumes.site.reading().map_err(DrillError::volumes)?;
        volumes.stop().map_err(DrillError::volumes)?;
        laps.took.stop = laps.lap();
        Ok((judged, laps.took))
    }

    fn contents(&self, cut: &Cut, spec: &DrillSpec) -> Contents {
        Contents::Crashed(CrashSpec {
            recording: writes(&self.folder),
            rules: self.rules(spec),
            at: cut.at.clone(),
            choice: cut.choice.clone(),
            flipped: cut.flipped,
        })
    }

    /// SHA-256 of the volumes' content in a state, before anything is started on it; in hexadecimal.
    ///
    /// # Errors
    /// When the recording cannot be read.
    pub fn digest(&self, cut: &Cut, spec: &DrillSpec) -> Result<String, DrillError> {
        let contents = self.contents(cut, spec);
        let placed = &self.about.placed;
        let spec = self
            .tools
            .emulation(placed, &self.folder, Path::new(""), contents);
        digest(&spec).map_err(DrillError::volumes)
    }

    /// What each volume lacks in a state.
    pub fn missing(&self, cut: &Cut, spec: &DrillSpec) -> Vec<Missing> {
        let rules = self.rules(spec);
        let moment = Moment::new(&self.history.events, &rules, &cut.at);
        let volumes = self.about.placed.volumes.iter().zip(&cut.at);
        let mut all: Vec<Missing> = volumes
            .map(|(volume, at)| Missing {
                volume: volume.name.clone(),
                at_ms: at.as_nanos().saturating_sub(self.about.from.as_nanos()) / 1_000_000,
                open: 0,
                missing: 0,
                torn: 0,
            })
            .collect();
        for (piece, kept) in moment.fates(&cut.choice) {
            let volume = &mut all[piece.volume];
            volume.open += 1;
            match kept.as_slice() {
                [] => volume.missing += 1,
                [whole] if *whole == piece.range => {}
                _ => volume.torn += 1,
            }
        }
        all
    }

    /// The recorded requests.
    pub(super) fn events(&self) -> &[Event] {
        &self.history.events
    }

    /// Names of the volumes.
    pub(super) fn volume_names(&self) -> &[String] {
        &self.history.volumes
    }

    /// The metadata of the recording.
    pub(super) fn about(&self) -> &Recording {
        &self.about
    }

    pub(super) fn rules(&self, spec: &DrillSpec) -> Vec<Rules> {
        let volumes = self.about.placed.volumes.iter();
        let volumes = volumes.zip(&self.about.placed.atomic);
        let rules = volumes.map(|(volume, of_disk)| Rules {
            disks: volume.disks.len(),
            interleave: volume.interleave,
            cache: match (volume.host_cache, spec.cache()) {
                // "For premium storage disks with cache set to ReadWrite, enable barriers for write durability."
                // https://learn.microsoft.com/azure/virtual-machines/premium-storage-performance, read 2026-11-24
                (HostCacheMode::ReadWrite, Cache::Safe) => Cache::Volatile,
                (_, cache) => cache,
            },
            atomic: match spec.atomic {
                Atomic::Bytes(unit) => unit,
                Atomic::OfDisk => *of_disk,
            },
        });
        rules.collect()
    }
}
