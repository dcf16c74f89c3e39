//! Ends processes that are identified by their working directory, not by id.
//!
//! A server's process id is known only once it already runs, and reveals nothing about the processes that it
//! starts in turn: initdb has shells, which briefly run servers. All of them run in directories that are
//! known in advance.
//!
//! A process counts as one of the server's if its working directory is the server's or lies beneath it, it
//! runs as the server's user, and it has no terminal. Another user can only place their own processes
//! there, so this one, possibly root, cannot be tricked into ending those of a third user; and someone who
//! only inspects a server's directory is spared by the other two conditions.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::fs;
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use model::Duration;
use procfs::process::{Process, all_processes};
use rustix::io::Errno;
use rustix::process::{Pid, PidfdFlags, Signal, kill_process, pidfd_open, pidfd_send_signal};

use super::made::Work;
use crate::clock::wait_until;

/// How long processes may take that end on their own because their parent is gone: a server that does so
/// frees what it shares with its sessions.
const BY_THEMSELVES: Duration = Duration::from_secs(1);

/// How long they may take after a signal.
const PATIENCE: Duration = Duration::from_secs(5);

/// Ends the processes of a server, and waits until none are left; returns their names and process ids.
///
/// # Errors
/// When some are left.
pub(super) fn end(work: &Work) -> io::Result<Vec<String>> {
    // By process id: one that just started changes its name in between.
    let mut seen = BTreeMap::new();
    // `SIGQUIT` stops a server of several processes at once, with its sessions; then `SIGKILL`.
    let steps = [
        (None, BY_THEMSELVES),
        (Some(Signal::QUIT), PATIENCE),
        (Some(Signal::KILL), PATIENCE),
    ];
    let mut left = Vec::new();
    for (signal, patience) in steps {
        let mut signalled = BTreeSet::new();
        let gone = wait_until(patience, || {
            left = processes(|process| is_of(process, work));
            for one in &left {
                seen.insert(one.pid, one.to_string());
                if signalled.insert(one.pid)
                    && let Some(signal) = signal
                {
                    one.signal(signal);
                }
            }
            left.is_empty()
        });
        if gone {
            return Ok(seen.into_values().collect());
        }
    }
    Err(survived(&left, &work.directory))
}

/// Ends the processes in a control group, and removes it; returns whether it existed. Only root can have
/// put a process there.
///
/// # Errors
/// When it cannot be removed.
pub(super) fn remove_group(group: &Path) -> io::Result<bool> {
    let mut left = Vec::new();
    let mut outcome = Ok(false);
    let gone = wait_until(PATIENCE, || {
        let members = fs::read_to_string(group.join("cgroup.procs")).unwrap_or_default();
        let members: BTreeSet<i32> = members
            .lines()
            .filter_map(|line| line.trim().parse().ok())
            .collect();
        left = processes(|process| members.contains(&process.pid) && is_in(process, group));
        left.iter().for_each(|one| one.signal(Signal::KILL));
        outcome = match fs::remove_dir(group) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
            removed => removed.map(|()| true),
        };
        outcome.is_ok()
    });
    if gone || left.is_empty() {
        return outcome;
    }
    Err(survived(&left, group))
}

fn survived(left: &[LeftProcess], place: &Path) -> io::Error {
    let names: Vec<String> = left.iter().map(ToString::to_string).collect();
    io::Error::other(format!(
        "in {}, these do not end, not even when killed: {}",
        place.display(),
        names.join(", ")
    ))
}

/// A leftover process, held so that a later one with its id is not mistaken for it.
struct LeftProcess {
    pid: i32,
    name: String,
    /// Not available on kernels before 5.3.
    held: Option<OwnedFd>,
}

/// Human-readable.
impl std::fmt::Display for LeftProcess {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} {}", self.name, self.pid)
    }
}

impl LeftProcess {
    fn signal(&self, signal: Signal) {
        // One that has ended in the meantime needs no signal; one that may not be signalled is reported as left.
        let _ = match (&self.held, Pid::from_raw(self.pid)) {
            (Some(held), _) => pidfd_send_signal(held, signal),
            (None, Some(pid)) => kill_process(pid, signal),
            (None, None) => Err(Errno::SRCH),
        };
    }
}

/// Running processes for which `wanted` holds.
fn processes(wanted: impl Fn(&Process) -> bool) -> Vec<LeftProcess> {
    let all = all_processes().into_iter().flatten().flatten();
    all.filter(|process| wanted(process))
        .filter_map(|process| {
            let held = pidfd_open(Pid::from_raw(process.pid)?, PidfdFlags::empty()).ok();
            // Check again: what was read before may belong to a process that has ended since.
            let stat = process.stat().ok().filter(|_| wanted(&process))?;
            Some(LeftProcess {
                pid: process.pid,
                name: stat.comm,
                held,
            })
        })
        .collect()
}

/// Whether it is a running process of the server.
fn is_of(process: &Process, work: &Work) -> bool {
    // Cheapest first; only root can see this for processes of other users.
    let Ok(directory) = process.cwd() else {
        return false;
    };
    if !is_within(&directory, &work.directory) {
        return false;
    }
    let user = process.status().map(|status| status.euid);
    let stat = process.stat();
    process.is_alive()
        && user.is_ok_and(|user| user == work.user)
        && stat.is_ok_and(|stat| stat.tty_nr == 0)
}

fn is_within(directory: &Path, outer: &Path) -> bool {
    // The kernel's suffix for a removed directory.
    let bytes = directory.as_os_str().as_bytes();
    let removed = bytes.strip_suffix(b" (deleted)");
    let removed = removed.map(|bytes| Path::new(OsStr::from_bytes(bytes)));
    directory.starts_with(outer) || removed.is_some_and(|removed| removed.starts_with(outer))
}

/// Whether it is a running process of a control group.
fn is_in(process: &Process, group: &Path) -> bool {
    let Some(name) = group.file_name() else {
        return false;
    };
    let groups = process.cgroups().into_iter().flatten();
    process.is_alive()
        && groups
            .into_iter()
            .any(|one| Path::new(&one.pathname).ends_with(name))
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;
    use std::process::{Child, Command, Stdio};

    use rustix::process::geteuid;

    use super::*;
    use crate::child::{ParentDeath, ends_with_parent};

    fn work(directory: &Path) -> Work {
        Work {
            name: "a server".to_owned(),
            directory: directory.canonicalize().unwrap(),
            user: geteuid().as_raw(),
        }
    }

    /// A process that works in `directory`: a shell with its own process.
    fn start(directory: &Path, text: &str) -> Child {
        let mut command = Command::new("sh");
        command
            .args(["-c", &format!("{text} echo ready; cat")])
            .current_dir(directory)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped());
        ends_with_parent(&mut command, ParentDeath::Kill);
        let mut child = command.spawn().unwrap();
        let mut line = String::new();
        let stdout = child.stdout.as_mut().unwrap();
        io::BufRead::read_line(&mut io::BufReader::new(stdout), &mut line).unwrap();
        child
    }

    fn is_alive(child: &mut Child) -> bool {
        child.try_wait().unwrap().is_none()
    }

    /// With its child, which ends when its input closes.
    fn finish(mut child: Child) {
        child.kill().unwrap();
        drop(child.stdin.take());
        child.wait().unwrap();
    }

    #[test]
    fn processes_beneath_a_directory_are_ended_and_those_beside_it_are_not() {
        let place = tempfile::tempdir().unwrap();
        let (inner, beside) = (place.path().join("run/data"), place.path().join("run2"));
        fs::create_dir_all(&inner).unwrap();
        fs::create_dir(&beside).unwrap();
        let mut ours = start(&inner, "");
        let mut other = start(&beside, "");

        let ended = end(&work(&place.path().join("run"))).unwrap();

        assert_eq!(ended.len(), 2, "the shell and its child: {ended:?}");
        assert!(!is_alive(&mut ours) && is_alive(&mut other));
        finish(other);
    }

    #[test]
    fn a_process_that_ignores_sigquit_is_ended_all_the_same() {
        let place = tempfile::tempdir().unwrap();
        let mut ours = start(place.path(), "trap '' QUIT;");

        end(&work(place.path())).unwrap();

        assert!(!is_alive(&mut ours));
    }

    #[test]
    fn a_process_is_found_whose_directory_was_removed() {
        let place = tempfile::tempdir().unwrap();
        let directory = place.path().join("data");
        fs::create_dir(&directory).unwrap();
        let work = work(&directory);
        let mut ours = start(&directory, "");
        fs::remove_dir(&directory).unwrap();

        end(&work).unwrap();

        assert!(!is_alive(&mut ours));
    }

    #[test]
    fn a_process_of_another_user_is_left_alone() {
        let place = tempfile::tempdir().unwrap();
        let work = Work {
            user: geteuid().as_raw() + 1,
            ..work(place.path())
        };
        let mut theirs = start(place.path(), "");

        assert_eq!(end(&work).unwrap(), [""; 0]);

        assert!(is_alive(&mut theirs));
        finish(theirs);
    }

    #[test]
    fn nothing_is_ended_where_nothing_was_made() {
        let nowhere = Work {
            directory: PathBuf::from("/nonexistent/data"),
            name: "a server".to_owned(),
            user: geteuid().as_raw(),
        };
        assert_eq!(end(&nowhere).unwrap(), [""; 0]);
        assert!(!remove_group(Path::new("/sys/fs/cgroup/dbstow-none")).unwrap());
    }
}
