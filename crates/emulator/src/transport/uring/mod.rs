//! FUSE over io_uring: requests and replies in memory shared with the kernel, a ring for each processor.
//!
//! ```text
//!   kernel ── reads, writes, flushes ──► ring of the asking processor ─► data path, at once
//!     │ ◄──────── when due ───────────── (one thread: requests, deadlines, replies)
//!     │                                        │ everything else
//!     │                                        ▼
//!     │                          socket ─► fuser session ─► filesystem
//!     └── what is forgotten ─► /dev/fuse ─► fuser session ──────┘
//! ```
//!
//! Compared with `/dev/fuse` it saves two system calls and most processor switches per request: measured, a
//! third of the latency and half of the processor time.

mod gate;
mod protocol;
mod relay;
mod ring;
mod slots;
mod syncs;

use std::fs;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::sync::mpsc::{self, Sender};
use std::sync::{Arc, OnceLock};
use std::thread::{self, JoinHandle};

use ::fuser::{Filesystem, InitFlags, SessionACL};
use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};

use super::fuser::Device;
use super::mount::{MountPoint, MountedFilesystem, REQUEST_MAX, Transport};
use crate::front::DataPath;
use crate::pace::{self, Answers, Pace};
use gate::{Gate, refused};
use relay::Relay;
use ring::Ring;

/// Whether the kernel allows FUSE over io_uring at all; `Y` or `N`.
const SWITCH: &str = "/sys/module/fuse/parameters/enable_uring";

/// Processors that this machine may ever have: the kernel requires a queue for each.
const POSSIBLE: &str = "/sys/devices/system/cpu/possible";

/// Requests that a processor's queue holds: more than that wait, unseen, in the kernel, as if they had arrived later.
const SLOTS_PER_QUEUE: usize = 256;

/// The same on machines with so many processors that their slots would take too much memory.
const SLOTS_PER_QUEUE_MIN: usize = 64;

/// Target number of slots on a machine with many processors.
const SLOTS_TARGET: usize = 4096;

/// FUSE over io_uring.
pub(super) struct Uring {
    /// Number of the kernel's queues.
    queues: u16,
}

impl Uring {
    /// The transport, if it may be used.
    ///
    /// # Errors
    /// When the kernel does not support or allow it, with the remedy.
    pub(super) fn new() -> io::Result<Uring> {
        allowed(fs::read_to_string(SWITCH).ok().as_deref())?;
        ring::build(1).map_err(|error| {
            refused(&format!(
                "this process may have no io_uring ({error}); see /proc/sys/kernel/io_uring_disabled, and \
                 the seccomp profile of a container"
            ))
        })?;
        Ok(Uring {
            queues: possible()?,
        })
    }
}

/// Checks the kernel's switch; `None`: it does not exist.
fn allowed(switch: Option<&str>) -> io::Result<()> {
    match switch.map(str::trim) {
        Some("Y") => Ok(()),
        Some(_) => Err(refused(&format!(
            "it is switched off; as root, `echo Y > {SWITCH}` allows it until the next start of the machine"
        ))),
        None => Err(refused("the kernel has none; it came with Linux 6.14")),
    }
}

impl Transport for Uring {
    fn name(&self) -> &'static str {
        "io_uring"
    }

    fn answers(&self) -> Answers {
        Answers::WhereAsked
    }

    fn mount<F: Filesystem + Clone>(
        &self,
        at: &MountPoint<'_>,
        filesystem: F,
        data: Arc<dyn DataPath>,
        pace: &Arc<Pace>,
    ) -> io::Result<Box<dyn MountedFilesystem>> {
        let offered = Arc::new(OnceLock::new());
        let gate = Gate {
            filesystem: filesystem.clone(),
            offered: Arc::clone(&offered),
        };
        let session = ::fuser::Session::new(gate, at.directory, &at.config())?;
        let device = session.as_fd().try_clone_to_owned()?;
        // From here on dropping what is mounted unmounts, which ends its rings.
        let mut mounted = Mounted {
            device: Device::start(at.directory, session)?,
            rings: Vec::new(),
        };
        let shared = Shared {
            filesystem,
            data,
            pace: Arc::clone(pace),
            acl: at.acl(),
            offered: offered.get().copied().unwrap_or(InitFlags::empty()),
        };
        mounted.start(&shared, &device, self.queues)?;
        Ok(Box::new(mounted))
    }
}

/// What all rings of a mount share.
#[derive(Clone)]
struct Shared<F> {
    filesystem: F,
    data: Arc<dyn DataPath>,
    pace: Arc<Pace>,
    acl: SessionACL,
    offered: InitFlags,
}

/// Where a ring's thread runs, and which of the kernel's queues it serves.
struct Station {
    processor: usize,
    queues: Vec<u16>,
}

struct Mounted {
    device: Device,
    rings: Vec<JoinHandle<io::Result<()>>>,
}

impl Mounted {
    /// Starts the rings and waits until the kernel has registered them all.
    fn start<F: Filesystem + Clone>(
        &mut self,
        shared: &Shared<F>,
        device: &OwnedFd,
        queues: u16,
    ) -> io::Result<()> {
        let (ready, started) = mpsc::channel();
        let slots =
            (SLOTS_TARGET / usize::from(queues)).clamp(SLOTS_PER_QUEUE_MIN, SLOTS_PER_QUEUE);
        for station in stations(queues)? {
            let (shared, device) = (shared.clone(), device.try_clone()?);
            let ready = ready.clone();
            let name = format!("dbstow-ring{}", station.processor);
            let thread = thread::Builder::new()
                .name(name)
                .spawn(move || serve(shared, device, &station, slots, &ready))?;
            self.rings.push(thread);
        }
        drop(ready);
        for _ in 0..self.rings.len() {
            started
                .recv()
                .unwrap_or_else(|_| Err(io::Error::other("a ring's thread ended")))?;
        }
        Ok(())
    }
}

/// A ring's thread.
fn serve<F: Filesystem>(
    shared: Shared<F>,
    device: OwnedFd,
    station: &Station,
    slots: usize,
    ready: &Sender<io::Result<()>>,
) -> io::Result<()> {
    let mut here = CpuSet::new();
    here.set(station.processor);
    // Elsewhere it is slower, but works.
    let _ = sched_setaffinity(None, &here);
    pace::exact_timers();
    let queues = station.queues.iter();
    let queues = queues.flat_map(|queue| std::iter::repeat_n(*queue, slots));
    let ring = Relay::start(shared.filesystem, shared.acl, shared.offered).and_then(|relay| {
        let length = REQUEST_MAX as usize;
        Ring::register(
            device,
            queues.collect(),
            length,
            shared.data,
            shared.pace,
            relay,
        )
    });
    match ring {
        Ok(ring) => {
            // The starting thread waits for this, or has failed and unmounts.
            let _ = ready.send(Ok(()));
            ring.serve()
        }
        Err(error) => {
            let _ = ready.send(Err(error));
            Ok(())
        }
    }
}

impl MountedFilesystem for Mounted {
    fn unmount(mut self: Box<Self>) -> io::Result<()> {
        let unmounted = self.device.unmount();
        if unmounted.is_err() {
            // Its threads stay with its users, and end with them.
            self.rings.clear();
            return unmounted;
        }
        let result = self.device.join();
        let rings = self.rings.drain(..).map(|ring| {
            let ended = ring.join();
            ended.unwrap_or_else(|_| Err(io::Error::other("a ring's thread panicked")))
        });
        rings.fold(result, Result::and)
    }
}

/// How many processors the machine may have.
fn possible() -> io::Result<u16> {
    let text = fs::read_to_string(POSSIBLE)?;
    count(&text).ok_or_else(|| refused(&format!("{POSSIBLE} holds no list of processors: {text}")))
}

/// Length of a list such as `0-3,8`.
fn count(list: &str) -> Option<u16> {
    list.trim().split(',').try_fold(0_u16, |count, range| {
        let (first, last) = range.split_once('-').unwrap_or((range, range));
        let (first, last): (u16, u16) = (first.parse().ok()?, last.parse().ok()?);
        count.checked_add(last.checked_sub(first)?.checked_add(1)?)
    })
}

/// A thread for each processor that this process may use; queues of other processors are distributed among
/// them.
fn stations(queues: u16) -> io::Result<Vec<Station>> {
    let allowed = sched_getaffinity(None)?;
    let mut stations: Vec<_> = (0..CpuSet::MAX_CPU)
        .filter(|processor| allowed.is_set(*processor))
        .map(|processor| Station {
            processor,
            queues: Vec::new(),
        })
        .collect();
    for queue in 0..queues {
        let own = stations
            .iter()
            .position(|station| station.processor == usize::from(queue));
        let place = own.unwrap_or(usize::from(queue) % stations.len());
        stations[place].queues.push(queue);
    }
    stations.retain(|station| !station.queues.is_empty());
    Ok(stations)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_switch_that_is_off_says_how_to_turn_it_on() {
        assert!(allowed(Some("Y\n")).is_ok());
        let off = allowed(Some("N\n")).unwrap_err().to_string();
        assert!(off.contains("`echo Y > /sys/module/fuse/"), "{off}");
        let none = allowed(None).unwrap_err().to_string();
        assert!(none.contains("Linux 6.14"), "{none}");
    }

    #[test]
    fn processors_are_counted_over_gaps() {
        assert_eq!(count("0\n"), Some(1));
        assert_eq!(count("0-3,8,10-11"), Some(7));
        assert_eq!(count("3-1"), None);
        assert_eq!(count("all"), None);
    }

    #[test]
    fn every_queue_has_one_station() {
        let allowed = stations(1).unwrap().len();
        assert_eq!(allowed, 1);
        let mut queues: Vec<u16> = stations(40)
            .unwrap()
            .into_iter()
            .flat_map(|station| station.queues)
            .collect();
        queues.sort_unstable();
        assert_eq!(queues, (0..40).collect::<Vec<_>>());
    }
}
