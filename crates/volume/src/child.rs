//! Child processes that end with the process that started them.

use std::io;
use std::os::unix::process::CommandExt;
use std::process::Command;

use rustix::process::{Signal, getpid, getppid, set_parent_process_death_signal, setsid};

/// The signal that a child gets when its parent is gone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ParentDeath {
    /// `SIGQUIT`: a PostgreSQL server ends at once, takes its sessions along, and frees its shared memory.
    Quit,
    /// `SIGKILL`: nothing of the child's own runs any more, such as cleaning up in a directory that may be
    /// another run's by then.
    Kill,
}

/// Starts `command` in a session of its own, out of reach of the terminal's Ctrl-C, and has the kernel
/// signal it when its parent is gone, also when that was killed.
///
/// The kernel takes the *thread* that calls `spawn` for the parent: call it on one that lives as long as the
/// child is needed. What the child starts itself is not covered.
pub fn ends_with_parent(command: &mut Command, signal: ParentDeath) {
    let parent = getpid();
    let signal = match signal {
        ParentDeath::Quit => Signal::QUIT,
        ParentDeath::Kill => Signal::KILL,
    };
    let prepare = move || {
        setsid()?;
        // Of a change of user, which comes before this, the kernel would make it forget the signal.
        set_parent_process_death_signal(Some(signal))?;
        // A parent that was gone before that never sends it.
        if getppid() == Some(parent) {
            Ok(())
        } else {
            Err(io::ErrorKind::Interrupted.into())
        }
    };
    // SAFETY: between fork and exec, only three system calls are made, and a simple `io::Error` is built from
    // their results: nothing allocates, takes a lock, or touches memory that other threads share.
    unsafe { command.pre_exec(prepare) };
}

#[cfg(test)]
mod tests {
    use std::io::{BufRead, BufReader};
    use std::os::unix::process::ExitStatusExt;
    use std::process::Stdio;
    use std::thread;

    use super::*;

    #[test]
    fn a_child_is_signalled_when_the_thread_that_started_it_ends() {
        for (signal, number) in [(ParentDeath::Quit, 3), (ParentDeath::Kill, 9)] {
            let started = thread::spawn(move || {
                // Whoever runs the tests may ignore signals, which children inherit.
                let mut command = Command::new("env");
                command.args(["--default-signal=QUIT", "sh", "-c"]);
                command.arg("echo ready; exec sleep 600");
                command.stdin(Stdio::null()).stdout(Stdio::piped());
                ends_with_parent(&mut command, signal);
                let mut child = command.spawn().unwrap();
                let mut line = String::new();
                let stdout = child.stdout.take().unwrap();
                BufReader::new(stdout).read_line(&mut line).unwrap();
                child
            });
            let mut child = started.join().unwrap();

            assert_eq!(child.wait().unwrap().signal(), Some(number));
        }
    }

    #[test]
    fn a_child_leads_a_session_of_its_own() {
        let mut command = Command::new("sleep");
        command.arg("600").stdin(Stdio::null());
        ends_with_parent(&mut command, ParentDeath::Kill);
        let mut child = command.spawn().unwrap();

        let stat = procfs::process::Process::new(child.id().cast_signed())
            .and_then(|process| process.stat())
            .unwrap();

        assert_eq!((stat.session, stat.tty_nr), (stat.pid, 0));
        child.kill().unwrap();
        child.wait().unwrap();
    }
}
