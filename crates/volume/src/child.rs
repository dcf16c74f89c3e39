//! Child processes: what they see of the environment, and that they end with the process that started them.
//!
//! What stands in the environment of a process can be read in `/proc/PID/environ` by the user that it runs as, and a
//! private server runs as another user than dbstow. Passwords and keys stand there, under names that nobody can list:
//! a child therefore starts with an empty environment, and with a short list of what programs need.

use std::ffi::{OsStr, OsString};
use std::io;
use std::process::Command;

#[cfg(target_os = "linux")]
pub use parent::{ParentDeath, ends_with_parent};

/// What every child gets of the environment, where it is set:
///
/// - `PATH`: where it finds other programs, as `initdb` its shell.
/// - `LANG` and `LANGUAGE` (with all that begins with `LC_`): the language of its messages.
/// - `TZ`: the time zone of its log.
/// - `TMPDIR`: where its temporary files are, which may have to be on another disk than `/tmp`.
/// - `LD_LIBRARY_PATH`: where a program that was built into a folder of its own finds its libraries.
#[cfg(not(windows))]
const PASSED_ON: &[&str] = &[
    "PATH",
    "LANG",
    "LANGUAGE",
    "TZ",
    "TMPDIR",
    "LD_LIBRARY_PATH",
];

/// What every child gets of the environment, where it is set: where programs, their libraries and temporary files are. A
/// process without `SystemRoot` cannot load what encrypts and connects:
/// <https://learn.microsoft.com/windows/win32/procthread/creating-processes>, read 2026-11-26.
#[cfg(windows)]
const PASSED_ON: &[&str] = &[
    "PATH",
    "PATHEXT",
    "SystemRoot",
    "SystemDrive",
    "ComSpec",
    "TEMP",
    "TMP",
    "TZ",
];

/// How the names of more variables begin that every child gets: what a language is for numbers, text and the like.
const PASSED_ON_FAMILY: &str = "LC_";

/// What this program gets besides where it starts itself: where the state directory is ([`crate::orphans`]), in which the
/// one has to find what the other has made; and whether a panic is shown with its callers.
const PASSED_ON_TO_ITSELF: [&str; 2] = ["XDG_RUNTIME_DIR", "RUST_BACKTRACE"];

/// A child that runs `program`, and sees of the environment what programs need, and nothing else.
pub fn command(program: impl AsRef<OsStr>) -> Command {
    let mut command = Command::new(program);
    command.env_clear();
    command.envs(variables(|name| {
        PASSED_ON.iter().any(|known| is(name, known)) || name.starts_with(PASSED_ON_FAMILY)
    }));
    command
}

/// A child that is this program itself.
///
/// # Errors
/// When it does not know where it is.
pub fn itself() -> io::Result<Command> {
    let mut command = command(std::env::current_exe()?);
    command.envs(variables(|name| PASSED_ON_TO_ITSELF.contains(&name)));
    Ok(command)
}

/// A child that runs what the user has written, as `--restart-command`: it sees all of the user's environment, since it may
/// need any of it (an agent's socket, the keys of a cloud), and runs as the user who has set it.
pub fn of_user(program: impl AsRef<OsStr>) -> Command {
    Command::new(program)
}

fn variables(passes: impl Fn(&str) -> bool) -> impl Iterator<Item = (OsString, OsString)> {
    std::env::vars_os().filter(move |(name, _)| name.to_str().is_some_and(&passes))
}

/// On Windows, names of variables are the same in capitals.
fn is(name: &str, known: &str) -> bool {
    match cfg!(windows) {
        true => name.eq_ignore_ascii_case(known),
        false => name == known,
    }
}

/// Children that end with their parent, which only Linux has the kernel do.
#[cfg(target_os = "linux")]
mod parent {
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
}

#[cfg(all(test, unix))]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    /// What a child that prints its environment has.
    fn seen(mut command: Command) -> BTreeMap<String, String> {
        let output = command.output().expect("it starts");
        assert!(output.status.success(), "{output:?}");
        let text = String::from_utf8(output.stdout).expect("it prints text");
        let pairs = text.lines().filter_map(|line| line.split_once('='));
        pairs
            .map(|(name, value)| (name.to_owned(), value.to_owned()))
            .collect()
    }

    #[test]
    fn a_child_sees_the_list_and_nothing_else() {
        // What a test is started with: `HOME` and cargo's own variables, among others.
        assert!(std::env::vars_os().any(|(name, _)| name == "CARGO_MANIFEST_DIR"));

        let seen = seen(command("env"));

        assert_eq!(seen.get("PATH"), std::env::var("PATH").ok().as_ref());
        for (name, value) in &seen {
            let is_listed = PASSED_ON.contains(&name.as_str()) || name.starts_with("LC_");
            assert!(is_listed, "{name}={value}");
        }
    }

    #[test]
    fn a_command_of_the_users_own_sees_all_of_the_environment() {
        let seen = seen(of_user("env"));
        assert!(seen.contains_key("CARGO_MANIFEST_DIR"), "{seen:?}");
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests_of_parents {
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
