//! Child processes: a restricted environment, and an end tied to that of the parent.
//!
//! The environment of a process can be read in `/proc/PID/environ` by the user it runs as, and a managed server runs
//! as a different user than dbstow. It holds passwords and keys, under names that cannot be listed: a child therefore
//! starts with an empty environment plus a short list of what programs need.

use std::ffi::{OsStr, OsString};
use std::io;
use std::process::Command;

#[cfg(target_os = "linux")]
pub use parent::{ParentDeath, ends_with_parent};

/// Variables passed on to every child if set:
///
/// - `PATH`: where it finds other programs, such as the shell for `initdb`.
/// - `LANG` and `LANGUAGE` (and everything that begins with `LC_`): the language of its messages.
/// - `TZ`: the time zone of its log.
/// - `TMPDIR`: where its temporary files go, possibly on another disk than `/tmp`.
/// - `LD_LIBRARY_PATH`: where a program built into its own folder finds its libraries.
#[cfg(not(windows))]
const PASSED_ON: &[&str] = &[
    "PATH",
    "LANG",
    "LANGUAGE",
    "TZ",
    "TMPDIR",
    "LD_LIBRARY_PATH",
];

/// Variables passed on to every child if set: where programs, their libraries and temporary files are. A process
/// without `SystemRoot` cannot load the encryption and network libraries:
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

/// Prefix of further variables passed on to every child: locale settings for numbers, text and so on.
const PASSED_ON_FAMILY: &str = "LC_";

/// Additional variables passed on when this program starts itself: the state directory ([`crate::orphans`]), in which
/// each must find what the other created, and whether a panic prints a backtrace.
const PASSED_ON_TO_ITSELF: [&str; 2] = ["XDG_RUNTIME_DIR", "RUST_BACKTRACE"];

/// A child that runs `program` with only the environment variables that programs need.
pub fn command(program: impl AsRef<OsStr>) -> Command {
    let mut command = Command::new(program);
    command.env_clear();
    command.envs(variables(|name| {
        PASSED_ON.iter().any(|known| is(name, known)) || name.starts_with(PASSED_ON_FAMILY)
    }));
    command
}

/// A child that runs this program itself.
///
/// # Errors When the path of the executable cannot be determined.
pub fn itself() -> io::Result<Command> {
    let mut command = command(std::env::current_exe()?);
    command.envs(variables(|name| PASSED_ON_TO_ITSELF.contains(&name)));
    Ok(command)
}

/// A child that runs a command written by the user, such as `--restart-command`: it gets the user's whole environment,
/// since it may need any of it (an agent's socket, cloud keys), and runs as the user who set it.
pub fn of_user(program: impl AsRef<OsStr>) -> Command {
    Command::new(program)
}

fn variables(passes: impl Fn(&str) -> bool) -> impl Iterator<Item = (OsString, OsString)> {
    std::env::vars_os().filter(move |(name, _)| name.to_str().is_some_and(&passes))
}

/// On Windows, variable names are case-insensitive.
fn is(name: &str, known: &str) -> bool {
    match cfg!(windows) {
        true => name.eq_ignore_ascii_case(known),
        false => name == known,
    }
}

/// Children that end with their parent, which only the Linux kernel enforces.
#[cfg(target_os = "linux")]
mod parent {
    use std::io;
    use std::os::unix::process::CommandExt;
    use std::process::Command;

    use rustix::process::{Signal, getpid, getppid, set_parent_process_death_signal, setsid};

    /// The signal that a child gets when its parent is gone.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum ParentDeath {
        /// `SIGQUIT`: a server of several processes stops at once, ends its sessions, and frees its shared memory.
        Quit,
        /// `SIGKILL`: no code of the child runs any more, such as cleanup in a directory that may belong to
        /// another run by then.
        Kill,
    }

    /// Starts `command` in its own session, out of reach of the terminal's Ctrl-C, and makes the kernel
    /// signal it when its parent is gone, even if that was killed.
    ///
    /// The kernel treats the *thread* that calls `spawn` as the parent: call it on one that lives as long as the
    /// child is needed. Processes started by the child are not covered.
    pub fn ends_with_parent(command: &mut Command, signal: ParentDeath) {
        let parent = getpid();
        let signal = match signal {
            ParentDeath::Quit => Signal::QUIT,
            ParentDeath::Kill => Signal::KILL,
        };
        let prepare = move || {
            setsid()?;
            // After a change of user, which therefore comes first, the kernel would drop this setting.
            set_parent_process_death_signal(Some(signal))?;
            // A parent that exited before that never sends it.
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

    /// The environment that a child prints.
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
        // The test's own environment: `HOME` and cargo's variables, among others.
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
                // The test runner may ignore signals, and children inherit that.
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
