//! A volume that comes back empty, and one that is full.

use std::fs::{self, File};
use std::io;
use std::os::unix::fs::chown;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use model::Duration;
use nix::errno::Errno;
use nix::fcntl::posix_fallocate;
use parking_lot::Mutex;
use volume::clock::Clock;
use volume::site::Site;

use experiment::spec::Role;

use super::ledger::{Found, Verdict};
use super::server::{LOST, Server};
use super::{DrillError, DrillSpec, Recorded};

/// Space that a full volume still has when clients begin to write: they are to fill it themselves.
const SPACE_LEFT: u64 = 24 << 20;

/// The same where there are temporary files alone.
const SPACE_LEFT_TEMP: u64 = 1 << 20;

/// Space from which on a volume is not full.
const FULL_BELOW: u64 = 64 << 10;

/// How long clients write until half of the space that is left is taken from them: they may be slow, or write where there was
/// space before.
const ROUND: Duration = Duration::from_secs(5);

/// How long clients write to a volume that fills up, at most.
const FILL_MAX: Duration = Duration::from_secs(120);

/// Between two looks at whether a server has ended.
const LOOK_EVERY: Duration = Duration::from_millis(50);

/// How long a server may take to end that its clients have lost.
const END_MAX: Duration = Duration::from_secs(20);

/// Name of the file that fills a volume.
const BALLAST: &str = "ballast";

/// A file that takes a volume's space.
struct Ballast {
    file: File,
    directory: PathBuf,
}

/// What happens to one volume.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Trouble {
    /// It comes back empty, as disks inside a machine do after a stop.
    Lost,
    /// It is full, and clients go on; then there is space again.
    Full,
}

/// What became of a server when something happened to one of its volumes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Troubled {
    /// What happened.
    pub trouble: Trouble,
    /// Name of the volume.
    pub volume: String,
    /// What the server has in the end.
    pub verdict: Verdict,
    /// What clients noticed.
    pub noticed: Noticed,
    /// The server's words; empty where it has none.
    pub message: String,
}

/// What clients notice of a volume that is lost or full.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Noticed {
    /// Nothing.
    Nothing,
    /// Nothing, as the volume did not get full.
    NotFull,
    /// Something is refused, while the server goes on.
    Refused,
    /// The server ends.
    Ended,
    /// The server does not start.
    NoStart,
}

/// What became of a server, and what its clients noticed.
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
    /// Takes each volume away, and fills each, one after the other.
    ///
    /// # Errors
    /// When that cannot be tried.
    pub fn trouble(&self, spec: &DrillSpec) -> Result<Vec<Troubled>, DrillError> {
        let mut all = Vec::new();
        for volume in 0..self.about().placed.volumes.len() {
            for trouble in [Trouble::Lost, Trouble::Full] {
                if self.is_interrupted() {
                    return Ok(all);
                }
                let seen = match trouble {
                    Trouble::Lost => self.lose(volume, spec)?,
                    Trouble::Full => self.fill(volume, spec)?,
                };
                all.push(Troubled {
                    trouble,
                    volume: self.about().placed.volumes[volume].name.clone(),
                    verdict: seen.verdict,
                    noticed: seen.noticed,
                    message: seen.message,
                });
            }
        }
        Ok(all)
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
        // One client at a time uses some megabytes.
        let space = match has(Role::Data) || has(Role::Log) {
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
}

/// Fills the volume while clients write, and makes space again.
fn filled(drilled: &dyn Server, directory: &Path, space: u64) -> io::Result<Seen> {
    let before = drilled.look();
    let ballast = Ballast::load(directory, space)?;
    let Filled {
        acknowledged,
        refused,
    } = write(drilled, &before, &ballast)?;
    // It ends a moment after its clients have lost it.
    let is_lost = refused.as_ref().is_some_and(|why| why.contains(LOST));
    let patience = match is_lost {
        true => END_MAX,
        false => Duration::ZERO,
    };
    let clock = Clock::start();
    while drilled.obituary().is_none() && clock.now().as_nanos() < patience.as_nanos() {
        Clock::sleep(LOOK_EVERY);
    }
    let (noticed, message) = match (refused, drilled.obituary()) {
        (_, Some(why)) => (Noticed::Ended, why),
        (Some(why), None) => (Noticed::Refused, why),
        (None, None) if ballast.space()? > FULL_BELOW => (Noticed::NotFull, String::new()),
        (None, None) => (Noticed::Nothing, String::new()),
    };
    ballast.remove()?;
    if drilled.obituary().is_none() {
        // One that ends just now is started again all the same.
        drilled
            .shut_down()
            .or_else(|error| match drilled.obituary() {
                Some(_) => Ok(()),
                None => Err(io::Error::other(error)),
            })?;
    }
    let verdict = match drilled.start().map_err(io::Error::other)? {
        Ok(()) => Verdict::of(&acknowledged, &drilled.look()),
        Err(why) => Verdict::DoesNotStart { why },
    };
    Ok(Seen {
        verdict,
        noticed,
        message,
    })
}

/// What clients wrote to a volume that filled up.
struct Filled {
    /// Commits of each session that were acknowledged, those before it too.
    acknowledged: Vec<u64>,
    /// Why the first commit was refused, or else the first that needs temporary space.
    refused: Option<String>,
}

/// Lets clients write until a commit is refused, and use temporary space meanwhile.
fn write(drilled: &dyn Server, before: &Found, ballast: &Ballast) -> io::Result<Filled> {
    let ended = AtomicBool::new(false);
    let refused = Mutex::new(None);
    let mut sort_refused = None;
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
    let mut loaded = Ok(());
    let acknowledged = thread::scope(|scope| {
        let clients: Vec<_> = (0..)
            .zip(&before.last)
            .map(|(session, last)| scope.spawn(move || client(session, *last)))
            .collect();
        let clock = Clock::start();
        let mut round = 1;
        while !ended.load(Ordering::Relaxed) {
            if let Err(error) = drilled.spill() {
                sort_refused.get_or_insert(error.to_string());
            }
            Clock::sleep(LOOK_EVERY);
            let passed = clock.now().as_nanos();
            if passed < round * ROUND.as_nanos() {
                continue;
            }
            round += 1;
            let is_full = match ballast.space() {
                Ok(space) if space > FULL_BELOW => {
                    loaded = ballast.leave(space / 2);
                    false
                }
                Ok(_) => true,
                Err(error) => {
                    loaded = Err(error);
                    true
                }
            };
            // Who waits for temporary space only has been refused it.
            if is_full || sort_refused.is_some() || loaded.is_err() || passed > FILL_MAX.as_nanos()
            {
                ended.store(true, Ordering::Relaxed);
            }
        }
        let join = |client: thread::ScopedJoinHandle<'_, u64>| {
            client.join().expect("a client does not panic")
        };
        clients.into_iter().map(join).collect()
    });
    loaded?;
    Ok(Filled {
        acknowledged,
        refused: refused.into_inner().or(sort_refused),
    })
}

impl Ballast {
    /// Leaves so much space on the volume that is mounted at `directory`.
    fn load(directory: &Path, space: u64) -> io::Result<Ballast> {
        let ballast = Ballast {
            file: File::create_new(directory.join(BALLAST))?,
            directory: directory.to_owned(),
        };
        ballast.leave(space)?;
        Ok(ballast)
    }

    /// Space that others have.
    fn space(&self) -> io::Result<u64> {
        fs4::available_space(&self.directory)
    }

    /// Leaves so much space, where there is more.
    fn leave(&self, space: u64) -> io::Result<()> {
        let more = self.space()?.saturating_sub(space);
        let size = self.file.metadata()?.len() + more;
        match posix_fallocate(&self.file, 0, size.cast_signed()) {
            // Somebody else was faster.
            Err(Errno::ENOSPC) => Ok(()),
            allocated => Ok(allocated?),
        }
    }

    fn remove(self) -> io::Result<()> {
        fs::remove_file(self.directory.join(BALLAST))
    }
}

/// Leaves a volume as a new one is: empty, and root's.
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
