//! Processes identified beyond their process id.

use std::io;

use procfs::process::{ProcState, Process};
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
        let stat = Process::new(self.pid).and_then(|process| process.stat());
        let Ok(stat) = stat else { return false };
        let ended = matches!(stat.state(), Ok(ProcState::Zombie | ProcState::Dead));
        !ended && stat.starttime == self.start_ticks && boot().is_ok_and(|boot| boot == self.boot)
    }
}

fn boot() -> io::Result<String> {
    procfs::sys::kernel::random::boot_id().map_err(io::Error::other)
}

#[cfg(test)]
mod tests {
    use super::*;

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
}
