//! A volume that comes back empty, one that is full, and one whose disk fails once.

use std::fs::{self, File};
use std::io;
use std::mem::discriminant;
use std::os::unix::fs::chown;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use emulator::{Fault, RemoteSite, UNMOUNTABLE};
use host::clock::Clock;
use host::site::Site;
use model::{Duration, Instant};
use nix::errno::Errno;
use nix::fcntl::posix_fallocate;
use parking_lot::Mutex;

use experiment::spec::Role;

use super::{DrillError, DrillSpec, FaultOutcome, Noticed, Recorded, VolumeFault};
use emulator::when_unused;
use engine::drilled::{Found, Server, Verdict};

/// Space left on a full volume when clients begin to write: they are to fill it themselves.
const SPACE_LEFT: u64 = 24 << 20;

/// The same for a volume with only temporary files.
const SPACE_LEFT_TEMP: u64 = 1 << 20;

/// A volume with more space than this is not full.
const FULL_BELOW: u64 = 64 << 10;

/// How long clients write before half of the remaining space is taken from them: they may be slow, or write where there
/// was space before.
const ROUND: Duration = Duration::from_secs(5);

/// Longest time that clients write to a volume that fills up.
const FILL_MAX: Duration = Duration::from_secs(120);

/// Polling interval for the end of a server.
const LOOK_EVERY: Duration = Duration::from_millis(50);

/// Requests before the one that fails, in successive attempts: the first ones after a pause are rarely for data.
const FAULTS_AFTER: [u32; 5] = [0, 2, 8, 30, 100];

/// How long to wait for a request that fails.
const FAULT_MAX: Duration = Duration::from_secs(20);

/// Interval of checkpoints while something fails.
const CHECKPOINT_EVERY: Duration = Duration::from_millis(500);

/// How long a server that has refused something may take to end although it still accepts clients.
const END_MIN: Duration = Duration::from_secs(1);

/// How long it may take if it does not.
const END_MAX: Duration = Duration::from_secs(20);

/// Name of the file that fills a volume.
const BALLAST: &str = "ballast";

/// A file that occupies a volume's space.
struct Ballast {
    file: File,
    directory: PathBuf,
}

/// The outcome for a server, and what its clients noticed.
struct Seen {
    verdict: Verdict,
    noticed: Noticed,
    message: String,
}

impl Seen {
    fn no_start(why: String) -> Seen {
        Seen {
            message: why.clone(),
            verdict: Verdict::DoesNotStart { why },
            noticed: Noticed::NoStart,
        }
    }
}

impl Recorded {
    /// Removes each volume, and fills each, one after the other; with faults, makes a write and a flush of each fail.
    /// Appends the outcomes to `all`.
    ///
    /// # Errors
    /// When that cannot be tried; outcomes until then are in `all`.
    pub fn inject_faults(
        &self,
        spec: &DrillSpec,
        all: &mut Vec<FaultOutcome>,
    ) -> Result<(), DrillError> {
        let mut faults = vec![VolumeFault::Lost, VolumeFault::Full];
        if spec.faults {
            faults.extend(FAULTS_AFTER.map(|after| VolumeFault::WriteFails { after }));
            faults.extend(FAULTS_AFTER.map(|after| VolumeFault::FlushFails { after }));
        }
        for (volume, placed) in self.about().placed.volumes.iter().enumerate() {
            let volume_name = placed.name.as_str();
            for fault in faults.iter().copied() {
                if self.is_interrupted() {
                    return Ok(());
                }
                let seen = match fault {
                    VolumeFault::Lost => self.lose(volume, spec)?,
                    VolumeFault::Full => self.fill(volume, spec)?,
                    // If there were fewer, there are fewer again.
                    VolumeFault::WriteFails { .. } | VolumeFault::FlushFails { .. }
                        if is_like_last(all, fault, volume_name) =>
                    {
                        continue;
                    }
                    VolumeFault::WriteFails { after } => {
                        self.fail(volume, Fault::Write { after }, spec)?
                    }
                    VolumeFault::FlushFails { after } => {
                        self.fail(volume, Fault::Flush { after }, spec)?
                    }
                };
                all.push(FaultOutcome {
                    fault,
                    volume: volume_name.to_owned(),
                    verdict: seen.verdict,
                    noticed: seen.noticed,
                    message: seen.message,
                });
            }
        }
        Ok(())
    }

    fn lose(&self, volume: usize, spec: &DrillSpec) -> Result<Seen, DrillError> {
        let uncut = self.uncut();
        let at = uncut.at[volume];
        let empty = |site: &dyn Site| make_empty(site.directory(volume));
        let lost = self.with_server(&uncut, spec, &empty, &mut |server| match server {
            Err(why) => Seen::no_start(why),
            Ok((drilled, _)) => {
                let verdict = self.verdict(at, drilled);
                let (noticed, message) = match drilled.spill() {
                    Ok(()) => (Noticed::Nothing, String::new()),
                    Err(error) => (Noticed::Refused, error.to_string()),
                };
                Seen {
                    verdict,
                    noticed,
                    message,
                }
            }
        });
        Ok(lost?.0)
    }

    fn fill(&self, volume: usize, spec: &DrillSpec) -> Result<Seen, DrillError> {
        let placement = &self.about().placed.settings.placement;
        let name = self.about().placed.volumes[volume].name.as_str();
        let has = |role: Role| placement.files(role).iter().any(|file| file.volume == name);
        // A single client uses some megabytes.
        let holds_more_than_temp = Role::ALL
            .into_iter()
            .any(|role| role != Role::Temp && has(role));
        let space = match holds_more_than_temp {
            true => SPACE_LEFT,
            false => SPACE_LEFT_TEMP,
        };
        let prepared = |_: &dyn Site| Ok(());
        let filled = self.with_server(&self.uncut(), spec, &prepared, &mut |server| match server {
            Err(why) => Ok(Seen::no_start(why)),
            Ok((drilled, site)) => filled(drilled, site.directory(volume), space),
        });
        filled?.0.map_err(DrillError::volumes)
    }

    fn fail(&self, volume: usize, fault: Fault, spec: &DrillSpec) -> Result<Seen, DrillError> {
        let prepared = |_: &dyn Site| Ok(());
        let failed = self.with_server(&self.uncut(), spec, &prepared, &mut |server| match server {
            Err(why) => Ok(Seen::no_start(why)),
            Ok((drilled, site)) => failed(drilled, site, volume, fault),
        });
        failed?.0.map_err(DrillError::volumes)
    }
}

/// Whether the volume had no such request the last time, with fewer required before it.
fn is_like_last(all: &[FaultOutcome], fault: VolumeFault, volume: &str) -> bool {
    let last = all.last().filter(|last| last.volume == volume);
    last.is_some_and(|last| {
        discriminant(&last.fault) == discriminant(&fault) && last.noticed == Noticed::NotReached
    })
}

/// Makes a request of the volume fail once while clients write; then runs checkpoints, and restarts everything.
fn failed(
    drilled: &dyn Server,
    site: &RemoteSite,
    volume: usize,
    fault: Fault,
) -> io::Result<Seen> {
    let before = drilled.look();
    let clock = Clock::start();
    let mut checkpointed = clock.now();
    let mut armed = false;
    let mut checkpoint_refused = None;
    let Written {
        acknowledged,
        refused,
    } = write(drilled, &before, &mut || {
        let now = clock.now();
        if !armed && now - Instant::ZERO >= CHECKPOINT_EVERY {
            site.fail_next(volume, fault)?;
            armed = true;
        }
        if site.failed()? > 0 {
            return Ok(false);
        }
        if now - checkpointed >= CHECKPOINT_EVERY {
            checkpointed = now;
            if let Err(error) = drilled.checkpoint() {
                checkpoint_refused.get_or_insert(error.to_string());
            }
        }
        Ok(now - Instant::ZERO < FAULT_MAX)
    })?;
    // One to detect the fault, and one that may wrongly rely on data that was never written.
    for _ in 0..2 {
        if let Err(error) = drilled.checkpoint() {
            checkpoint_refused.get_or_insert(error.to_string());
        }
    }
    let refused = checkpoint_refused.or(refused);
    let exit_reason = awaited_end(drilled, refused.is_some());
    let (noticed, message) = match (refused, exit_reason) {
        (_, Some(why)) => (Noticed::Ended, why),
        (Some(why), None) => (Noticed::Refused, why),
        (None, None) => (Noticed::Nothing, String::new()),
    };
    // Only what is on the disks counts, not what the kernel has cached.
    drilled.end().map_err(io::Error::other)?;
    let verdict = match when_unused(|| site.mount_again()) {
        Err(error) if error.to_string().contains(UNMOUNTABLE) => Verdict::DoesNotStart {
            why: error.to_string(),
        },
        Err(error) => return Err(error),
        Ok(()) => started_again(drilled, &acknowledged)?,
    };
    // The request may have come at any time until the remount.
    let noticed = match site.failed()? {
        0 => Noticed::NotReached,
        _ => noticed,
    };
    Ok(Seen {
        verdict,
        noticed,
        message,
    })
}

/// Restarts a server, and checks its data.
fn started_again(drilled: &dyn Server, acknowledged: &[u64]) -> io::Result<Verdict> {
    Ok(match drilled.start().map_err(io::Error::other)? {
        Ok(()) => Verdict::of(acknowledged, &drilled.look()),
        Err(why) => Verdict::DoesNotStart { why },
    })
}

/// Why a server has ended. If it has refused something, it may be about to end: waits for that, as long as it accepts
/// no clients.
fn awaited_end(drilled: &dyn Server, has_refused: bool) -> Option<String> {
    let clock = Clock::start();
    let goes_on = || {
        let passed = clock.now() - Instant::ZERO;
        passed < END_MIN || (passed < END_MAX && drilled.version().is_err())
    };
    while has_refused && drilled.exit_reason().is_none() && goes_on() {
        Clock::sleep(LOOK_EVERY);
    }
    drilled.exit_reason()
}

/// Fills the volume while clients write, and frees the space again.
fn filled(drilled: &dyn Server, directory: &Path, space: u64) -> io::Result<Seen> {
    let before = drilled.look();
    let ballast = Ballast::load(directory, space)?;
    let clock = Clock::start();
    let mut round = 1;
    let mut sort_refused = None;
    let Written {
        acknowledged,
        refused,
    } = write(drilled, &before, &mut || {
        if let Err(error) = drilled.spill() {
            sort_refused.get_or_insert(error.to_string());
        }
        let passed = clock.now().as_nanos();
        if passed < round * ROUND.as_nanos() {
            return Ok(true);
        }
        round += 1;
        let left = ballast.space()?;
        let is_full = left <= FULL_BELOW;
        if !is_full {
            ballast.leave(left / 2)?;
        }
        // Clients that need temporary space only have been refused it.
        Ok(!is_full && sort_refused.is_none() && passed < FILL_MAX.as_nanos())
    })?;
    let refused = refused.or(sort_refused);
    let exit_reason = awaited_end(drilled, refused.is_some());
    let (noticed, message) = match (refused, exit_reason) {
        (_, Some(why)) => (Noticed::Ended, why),
        (Some(why), None) => (Noticed::Refused, why),
        (None, None) if ballast.space()? > FULL_BELOW => (Noticed::NotFull, String::new()),
        (None, None) => (Noticed::Nothing, String::new()),
    };
    ballast.remove()?;
    if drilled.exit_reason().is_none() {
        // One that is just ending is restarted all the same.
        drilled
            .shut_down()
            .or_else(|error| match drilled.exit_reason() {
                Some(_) => Ok(()),
                None => Err(io::Error::other(error)),
            })?;
    }
    Ok(Seen {
        verdict: started_again(drilled, &acknowledged)?,
        noticed,
        message,
    })
}

/// The result of clients writing during a fault.
struct Written {
    /// Acknowledged commits of each session, including earlier ones.
    acknowledged: Vec<u64>,
    /// Why the first commit was refused.
    refused: Option<String>,
}

/// Lets clients write until a commit is refused, or until `goes_on`, which is polled, returns false.
fn write(
    drilled: &dyn Server,
    before: &Found,
    goes_on: &mut dyn FnMut() -> io::Result<bool>,
) -> io::Result<Written> {
    let ended = AtomicBool::new(false);
    let refused = Mutex::new(None);
    let refuse = |why: String| {
        refused.lock().get_or_insert(why);
        ended.store(true, Ordering::Relaxed);
    };
    let client = |session: u32, mut last: u64| {
        let mut writer = match drilled.writer(session) {
            Ok(writer) => writer,
            Err(error) => {
                refuse(error.to_string());
                return last;
            }
        };
        while !ended.load(Ordering::Relaxed) {
            match writer.commit(last + 1) {
                Ok(()) => last += 1,
                Err(error) => refuse(error.to_string()),
            }
        }
        last
    };
    let mut went_on = Ok(true);
    let acknowledged = thread::scope(|scope| {
        let clients: Vec<_> = (0..)
            .zip(&before.last)
            .map(|(session, last)| scope.spawn(move || client(session, *last)))
            .collect();
        while !ended.load(Ordering::Relaxed) {
            went_on = goes_on();
            if !matches!(went_on, Ok(true)) {
                ended.store(true, Ordering::Relaxed);
            }
            Clock::sleep(LOOK_EVERY);
        }
        let join = |client: thread::ScopedJoinHandle<'_, u64>| {
            client.join().expect("a client does not panic")
        };
        clients.into_iter().map(join).collect()
    });
    went_on?;
    Ok(Written {
        acknowledged,
        refused: refused.into_inner(),
    })
}

impl Ballast {
    /// Leaves this much space on the volume mounted at `directory`.
    fn load(directory: &Path, space: u64) -> io::Result<Ballast> {
        let ballast = Ballast {
            file: File::create_new(directory.join(BALLAST))?,
            directory: directory.to_owned(),
        };
        ballast.leave(space)?;
        Ok(ballast)
    }

    /// Space available to others.
    fn space(&self) -> io::Result<u64> {
        fs4::available_space(&self.directory)
    }

    /// Leaves this much space, if there is more.
    fn leave(&self, space: u64) -> io::Result<()> {
        let more = self.space()?.saturating_sub(space);
        let size = self.file.metadata()?.len() + more;
        match posix_fallocate(&self.file, 0, size.cast_signed()) {
            // Another process was faster.
            Err(Errno::ENOSPC) => Ok(()),
            allocated => Ok(allocated?),
        }
    }

    fn remove(self) -> io::Result<()> {
        fs::remove_file(self.directory.join(BALLAST))
    }
}

/// Leaves a volume like a new one: empty, and owned by root.
fn make_empty(directory: &Path) -> io::Result<()> {
    for entry in fs::read_dir(directory)? {
        let path = entry?.path();
        match fs::symlink_metadata(&path)?.is_dir() {
            true => fs::remove_dir_all(&path)?,
            false => fs::remove_file(&path)?,
        }
    }
    chown(directory, Some(0), Some(0))
}
