//! A program of PostgreSQL that works on a private server: run without a network as the server's user, its output read line by
//! line, ended when the user asks to stop.

use std::io::{BufRead as _, BufReader, Read};
use std::process::{Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;

use host::clock::Clock;
use model::Duration;
use nix::sys::signal::{Signal, killpg};
use nix::unistd::Pid;

/// Longest part of a line that is looked at as one.
const LINE_BYTES: u64 = 64 << 10;

/// Most lines that are kept of what it says.
const SAID_MAX: usize = 3;

const LOOK_EVERY: Duration = Duration::from_millis(20);

/// How a program is watched.
pub(super) struct Watch<'a> {
    /// Whether the user asked to stop.
    pub(super) interrupted: &'a dyn Fn() -> bool,
    /// Lines on its error output that count as progress begin with one of these.
    pub(super) steps: &'a [&'a str],
    /// Is given how many there were.
    pub(super) observe: &'a dyn Fn(u64),
}

/// Runs `command`, and gives each line of its output to `each`.
///
/// # Errors
/// Its first errors, if it fails.
pub(super) fn run(
    mut command: Command,
    watch: &Watch<'_>,
    each: &mut (dyn FnMut(&str) + Send),
) -> Result<(), String> {
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    let spawned = host::network::without_network(|| command.spawn()).and_then(|spawned| spawned);
    let mut process = spawned.map_err(|error| error.to_string())?;
    let output = process.stdout.take().expect("it is piped");
    let errors = process.stderr.take().expect("it is piped");
    let (steps, step) = (AtomicU64::new(0), watch.steps);
    let mut was_interrupted = false;
    let (status, said) = thread::scope(|scope| {
        scope.spawn(|| each_line(output, each));
        let said = scope.spawn(|| {
            let mut said = Said::default();
            each_line(errors, &mut |line| {
                if step.iter().any(|step| line.starts_with(step)) {
                    steps.fetch_add(1, Ordering::Relaxed);
                }
                said.add(line);
            });
            said
        });
        let status = loop {
            if (watch.interrupted)() && !was_interrupted {
                was_interrupted = true;
                // It leads a group, of which others may hold its output open.
                if let Ok(group) = i32::try_from(process.id()) {
                    let _ = killpg(Pid::from_raw(group), Signal::SIGKILL);
                }
            }
            match process.try_wait() {
                Ok(None) => Clock::sleep(LOOK_EVERY),
                Ok(Some(status)) => break Ok(status),
                Err(error) => break Err(error.to_string()),
            }
            (watch.observe)(steps.load(Ordering::Relaxed));
        };
        (status, said.join().unwrap_or_default())
    });
    match (was_interrupted, status?) {
        (true, _) => Err("interrupted".to_owned()),
        (false, status) if status.success() => Ok(()),
        (false, status) => Err(said.text(status)),
    }
}

/// Gives each line to `each`; of a longer one, its parts.
fn each_line(from: impl Read, each: &mut dyn FnMut(&str)) {
    let mut from = BufReader::new(from);
    let mut line = Vec::new();
    loop {
        line.clear();
        match from.by_ref().take(LINE_BYTES).read_until(b'\n', &mut line) {
            // What it said until then counts.
            Ok(0) | Err(_) => return,
            Ok(_) => each(String::from_utf8_lossy(&line).trim_end_matches('\n')),
        }
    }
}

/// What a program said of its errors.
#[derive(Default)]
struct Said {
    errors: Vec<String>,
    more: u64,
    /// The last line that is none.
    other: String,
}

impl Said {
    fn add(&mut self, line: &str) {
        // The program's name, and what kind of message it is.
        let error = line
            .split_once(": ")
            .and_then(|(_, message)| message.strip_prefix("error: "));
        match error {
            None => line.clone_into(&mut self.other),
            Some(error) if self.errors.len() < SAID_MAX => self.errors.push(rules::said(error)),
            Some(_) => self.more += 1,
        }
    }

    fn text(&self, status: ExitStatus) -> String {
        match self.errors.is_empty() {
            true => format!("it ended with {status}: {}", rules::said(&self.other)),
            false => {
                let more = match self.more {
                    0 => String::new(),
                    more => format!("; and {more} more"),
                };
                self.errors.join("; ") + &more
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::process::CommandExt as _;

    use super::*;

    fn ran(script: &str, interrupted: bool) -> (Result<(), String>, Vec<String>) {
        let mut command = Command::new("sh");
        command.args(["-c", script]).process_group(0);
        let watch = Watch {
            interrupted: &|| interrupted,
            steps: &["step"],
            observe: &|_| {},
        };
        let mut lines = Vec::new();
        let ended = run(command, &watch, &mut |line| lines.push(line.to_owned()));
        (ended, lines)
    }

    #[test]
    fn its_lines_are_read_and_of_its_errors_the_first() {
        if !nix::unistd::geteuid().is_root() {
            // Only root takes a process' network away.
            return;
        }
        let (ended, lines) = ran("echo a; echo step 1 >&2; printf b", false);
        assert_eq!(
            (ended, lines),
            (Ok(()), vec!["a".to_owned(), "b".to_owned()])
        );
        let (ended, _) = ran(
            "for n in 1 2 3 4 5; do echo \"sh: error: no $n\" >&2; done; exit 1",
            false,
        );
        assert_eq!(ended, Err("no 1; no 2; no 3; and 2 more".to_owned()));
        let (ended, _) = ran("echo gone >&2; exit 3", false);
        assert_eq!(ended, Err("it ended with exit status: 3: gone".to_owned()));
    }

    #[test]
    fn one_that_is_stopped_ends_with_all_that_it_started() {
        if !nix::unistd::geteuid().is_root() {
            return;
        }
        let (ended, _) = ran("sleep 600 & sleep 600", true);
        assert_eq!(ended, Err("interrupted".to_owned()));
    }
}
