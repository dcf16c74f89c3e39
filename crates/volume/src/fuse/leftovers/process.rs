//! Processes that cannot be mistaken for later ones of the same number.

use std::io;

use procfs::process::{ProcState, Process};
use rustix::process::{Pid, Signal, kill_process};
use serde::{Deserialize, Serialize};

use super::wait_until;

/// A process by number, start and boot: numbers are used again, the three together are not.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Identity {
    /// Its number.
    pub(crate) pid: i32,
    /// When it started, in clock ticks since the boot.
    pub(crate) start_ticks: u64,
    /// Which boot.
    pub(crate) boot: String,
}

impl Identity {
    /// This process.
    pub(crate) fn own() -> io::Result<Identity> {
        let stat = Process::myself().and_then(|own| own.stat());
        let stat = stat.map_err(io::Error::other)?;
        Ok(Identity {
            pid: stat.pid,
            start_ticks: stat.starttime,
            boot: boot()?,
        })
    }

    /// The process numbered `pid`.
    ///
    /// # Errors
    /// When there is none.
    pub(crate) fn of(pid: i32) -> io::Result<Identity> {
        let stat = Process::new(pid).and_then(|process| process.stat());
        let stat = stat.map_err(io::Error::other)?;
        Ok(Identity {
            pid,
            start_ticks: stat.starttime,
            boot: boot()?,
        })
    }

    /// Whether it still runs. One that has ended and was not waited for does not.
    pub(crate) fn is_alive(&self) -> bool {
        let stat = Process::new(self.pid).and_then(|process| process.stat());
        let Ok(stat) = stat else { return false };
        let ended = matches!(stat.state(), Ok(ProcState::Zombie | ProcState::Dead));
        !ended && stat.starttime == self.start_ticks && boot().is_ok_and(|boot| boot == self.boot)
    }

    /// Asks it to quit, and kills it if it does not within a few seconds.
    ///
    /// `SIGQUIT` is how a PostgreSQL server is told to go at once and take its sessions along.
    ///
    /// # Errors
    /// When it cannot be signalled, or survives.
    pub(crate) fn end(&self) -> io::Result<()> {
        for signal in [Signal::QUIT, Signal::KILL] {
            let pid = Pid::from_raw(self.pid).filter(|_| self.is_alive());
            let Some(pid) = pid else { return Ok(()) };
            match kill_process(pid, signal) {
                Ok(()) | Err(rustix::io::Errno::SRCH) => {}
                Err(error) => return Err(error.into()),
            }
            if wait_until(PATIENCE, || !self.is_alive()) {
                return Ok(());
            }
        }
        Err(io::Error::other("it does not end, not even when killed"))
    }
}

/// How long a server has to end after a signal.
const PATIENCE: model::Duration = model::Duration::from_secs(5);

fn boot() -> io::Result<String> {
    procfs::sys::kernel::random::boot_id().map_err(io::Error::other)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::{Command, Stdio};

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
    fn a_process_that_ignores_sigquit_is_ended_all_the_same() {
        let mut child = Command::new("sh")
            .args([
                "-c",
                "trap '' QUIT; echo ready; while :; do sleep 0.1; done",
            ])
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut line = String::new();
        let stdout = child.stdout.take().unwrap();
        io::BufRead::read_line(&mut io::BufReader::new(stdout), &mut line).unwrap();
        let identity = Identity::of(child.id().cast_signed()).unwrap();

        identity.end().unwrap();

        assert!(!identity.is_alive());
        child.wait().unwrap();
    }
}
