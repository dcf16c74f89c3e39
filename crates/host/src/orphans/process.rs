//! Processes identified beyond their process id.

use std::io;

use procfs::process::{ProcState, Process, Stat};
use rustix::process::getppid;
use serde::{Deserialize, Serialize};

/// A process by id, start time and boot: ids are reused, the combination is not.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Identity {
    /// Its process id.
    pub pid: i32,
    /// When it started, in clock ticks since the boot.
    pub start_ticks: u64,
    /// The boot.
    pub boot: String,
}

impl Identity {
    /// This process.
    pub fn own() -> io::Result<Identity> {
        let stat = Process::myself().and_then(|own| own.stat());
        let stat = stat.map_err(io::Error::other)?;
        Ok(Identity {
            pid: stat.pid,
            start_ticks: stat.starttime,
            boot: boot()?,
        })
    }

    /// The process that started this one, if it still runs and is visible.
    pub fn parent() -> Option<Identity> {
        Identity::of(getppid()?.as_raw_nonzero().get()).ok()
    }

    /// The process with id `pid`.
    ///
    /// # Errors
    /// When it does not exist.
    pub fn of(pid: i32) -> io::Result<Identity> {
        let stat = Process::new(pid).and_then(|process| process.stat());
        let stat = stat.map_err(io::Error::other)?;
        Ok(Identity {
            pid,
            start_ticks: stat.starttime,
            boot: boot()?,
        })
    }

    /// Whether it still runs. A zombie does not.
    pub fn is_alive(&self) -> bool {
        self.stat().is_some_and(|stat| !is_zombie(&stat))
    }

    /// Whether it no longer runs, and some of its threads are still ending, which hold its files and the locks on them.
    ///
    /// A process counts as a zombie as soon as its first thread has ended.
    pub(super) fn is_ending(&self) -> bool {
        self.stat()
            .is_some_and(|stat| is_zombie(&stat) && stat.num_threads > 1)
    }

    fn stat(&self) -> Option<Stat> {
        let stat = Process::new(self.pid).and_then(|process| process.stat());
        let same = stat.ok().filter(|stat| stat.starttime == self.start_ticks);
        same.filter(|_| boot().is_ok_and(|boot| boot == self.boot))
    }
}

fn is_zombie(stat: &Stat) -> bool {
    matches!(stat.state(), Ok(ProcState::Zombie | ProcState::Dead))
}

fn boot() -> io::Result<String> {
    procfs::sys::kernel::random::boot_id().map_err(io::Error::other)
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use model::Duration;

    use super::*;
    use crate::clock::wait_until;

    const PATIENCE: Duration = Duration::from_secs(60);

    #[test]
    fn this_process_is_alive_and_one_of_its_number_from_another_time_is_not() {
        let own = Identity::own().unwrap();
        let earlier = Identity {
            start_ticks: own.start_ticks + 1,
            ..own.clone()
        };
        let before_boot = Identity {
            boot: "another".to_owned(),
            ..own.clone()
        };

        assert!(own.is_alive());
        assert!(!earlier.is_alive());
        assert!(!before_boot.is_alive());
    }

    #[test]
    fn a_process_whose_first_thread_ended_is_ending_until_its_last_one_has() {
        let program = "import ctypes, threading, time\n\
            threading.Thread(target=time.sleep, args=(600,)).start()\n\
            ctypes.CDLL(None).pthread_exit(None)";
        let mut child = Command::new("python3")
            .args(["-c", program])
            .spawn()
            .unwrap();
        let pid = i32::try_from(child.id()).unwrap();
        let state = || Process::new(pid).unwrap().stat().unwrap().state().unwrap();
        let identity = Identity::of(pid).unwrap();

        assert!(wait_until(PATIENCE, || state() == ProcState::Zombie));
        assert!(identity.is_ending() && !identity.is_alive());

        child.kill().unwrap();
        // Not waited for: as a zombie it still has its id.
        assert!(wait_until(PATIENCE, || !identity.is_ending()));
        child.wait().unwrap();
    }
}
