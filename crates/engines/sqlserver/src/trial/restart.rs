//! Restarting a server: by a command from its owner, or by the owner.

use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::capture;
use crate::session::Driver;
use crate::tsql::question;
use host::child;
use host::clock::Clock;
use model::Duration;

use super::OBSERVER;
use crate::trial::access::Access;
use engine::EngineError;
use engine::hooks::{Progress, Prompt};

/// Restarts the server.
pub(crate) struct Restart {
    pub(crate) by: By,
    /// Set when the run should end.
    pub(crate) interrupted: Arc<AtomicBool>,
    /// The user's time limit of a restart.
    pub(crate) limit: Option<Duration>,
    /// Reports the progress of the wait.
    pub(crate) progress: Progress,
}

/// A server to wait for.
#[derive(Clone, Copy)]
pub(crate) struct Awaited<'a> {
    /// A script for a server that does not come up again.
    pub(crate) rescue: &'a Path,
    pub(crate) way: Way,
    /// Bytes of tempdb that it must zero at startup.
    pub(crate) zeroed: u64,
}

/// Who restarts the server.
pub(crate) enum By {
    /// A command for the shell.
    Command(String),
    /// The user, by prompt.
    User(Prompt),
    /// Not possible: no command, and no user to prompt.
    NoOne,
}

/// Direction of a move of tempdb.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Way {
    /// To an arm's place: Ctrl-C ends the waiting.
    There,
    /// Home: it cannot be interrupted.
    Back,
}

/// Time limit for a server to come up again, if it has nothing to zero.
const STARTS_WITHIN: Duration = Duration::from_secs(300);

/// Assumed minimum rate of zeroing files: the least throughput that Azure provisions for a premium SSD
/// (P1 to P6, as in the catalogue). The rate of zeroing is not published; too low a rate only means a longer time limit.
const ZEROED_PER_SECOND: u64 = 25_000_000;

/// `CREATE_NEW_PROCESS_GROUP`. Source: Microsoft, "Process creation flags" (read 2026-11).
#[cfg(windows)]
const NEW_PROCESS_GROUP: u32 = 0x200;

const LOOK_EVERY: Duration = Duration::from_millis(500);

/// Interval of progress messages while the state is unchanged.
const SAY_EVERY: Duration = Duration::from_secs(30);

/// Polling interval for the end of the command.
const COMMAND_EVERY: Duration = Duration::from_millis(20);

/// Start time of the service, in the server's format.
pub(crate) fn started(access: &Access) -> Result<String, EngineError> {
    started_in(&mut access.connect(OBSERVER)?)
}

/// The start time, on an existing connection.
pub(crate) fn started_in(session: &mut Driver) -> Result<String, EngineError> {
    let rows = capture::read(session, &question::STARTED, |row| row.word("started"));
    let rows = rows.map_err(|error| EngineError::failed("ask when the server started", error))?;
    Ok(rows.into_iter().next().unwrap_or_default())
}

/// Whether tempdb is available; a server accepts queries before that.
fn ready(access: &Access) -> Result<(), EngineError> {
    let answer = capture::ask(&mut access.connect(OBSERVER)?, &question::READY);
    answer
        .map(|_| ())
        .map_err(|failure| EngineError::failed("use tempdb", failure))
}

/// State of a server being waited for.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Seen {
    Back,
    /// It does not respond: the reason.
    Down(String),
    /// It has not been restarted yet.
    Before,
    /// tempdb is not available: the reason.
    Recovers(String),
}

impl Seen {
    fn now(access: &Access, before: Option<&str>) -> Seen {
        match started(access) {
            Err(error) => Seen::Down(error.to_string()),
            Ok(now) if before == Some(now.as_str()) => Seen::Before,
            Ok(_) => match ready(access) {
                Ok(()) => Seen::Back,
                Err(error) => Seen::Recovers(error.to_string()),
            },
        }
    }

    fn in_words(&self) -> String {
        match self {
            Seen::Back => "it is back".to_owned(),
            Seen::Down(why) => why.clone(),
            Seen::Before => "it answers, but was not restarted".to_owned(),
            Seen::Recovers(why) => format!("it answers, but tempdb cannot be used yet: {why}"),
        }
    }
}

/// Time limit for a server to come up again if it must zero this many bytes.
fn limit(zeroed: u64) -> Duration {
    STARTS_WITHIN + Duration::from_secs(zeroed.div_ceil(ZEROED_PER_SECOND))
}

impl Restart {
    /// Waits until a server with changes to restore is available. One that does not respond is restarted first, if a command is
    /// given: a restart may have been interrupted.
    pub(crate) fn revive(&self, access: &Access, awaited: Awaited<'_>) -> Result<(), EngineError> {
        match (&self.by, started(access)) {
            (_, Ok(_)) => self.wait(access, None, awaited),
            (By::User(_) | By::NoOne, Err(error)) => Err(error),
            (By::Command(command), Err(_)) => {
                self.run(command, awaited)?;
                self.wait(access, None, awaited)
            }
        }
    }

    /// As [`Restart::revive`], but also waits for a server that its user restarts.
    pub(crate) fn await_it(
        &self,
        access: &Access,
        awaited: Awaited<'_>,
    ) -> Result<(), EngineError> {
        match &self.by {
            By::Command(_) | By::NoOne => self.revive(access, awaited),
            By::User(_) => self.wait(access, None, awaited),
        }
    }

    /// Restarts the server, and waits until it and its tempdb are available; `what` tells the user what to do first, if anything.
    pub(crate) fn execute(
        &self,
        access: &Access,
        what: &str,
        awaited: Awaited<'_>,
    ) -> Result<(), EngineError> {
        let before = started(access)?;
        if awaited.way == Way::There && self.is_interrupted() {
            // Changes of tempdb apply at the next start, so they can be undone without this restart.
            return Err(EngineError::failed("restart the server", "interrupted"));
        }
        match &self.by {
            By::Command(command) => self.run(command, awaited)?,
            By::User(prompt) => ask(prompt, access, what, &before)?,
            By::NoOne => return Err(cannot_restart(what)),
        }
        self.wait(access, Some(&before), awaited)
    }

    /// Checks that the server can be restarted, before any change that only a restart can undo.
    pub(crate) fn check(&self) -> Result<(), EngineError> {
        match &self.by {
            By::Command(_) | By::User(_) => Ok(()),
            By::NoOne => Err(cannot_restart("move tempdb and restart the server")),
        }
    }

    /// Shows a progress message about the server.
    pub(crate) fn say(&self, text: &str) {
        (self.progress)(text);
    }

    /// Whether the run should end.
    pub(crate) fn is_interrupted(&self) -> bool {
        self.interrupted.load(Ordering::Relaxed)
    }

    /// Its time limit.
    fn limit(&self, awaited: Awaited<'_>) -> Duration {
        self.limit.unwrap_or_else(|| limit(awaited.zeroed))
    }

    /// Waits until the server is available, with a start time other than `before`.
    fn wait(
        &self,
        access: &Access,
        before: Option<&str>,
        awaited: Awaited<'_>,
    ) -> Result<(), EngineError> {
        let begun = Clock::start();
        let limit = self.limit(awaited);
        let mut said: Option<(Seen, u64)> = None;
        loop {
            let seen = Seen::now(access, before);
            if seen == Seen::Back {
                return Ok(());
            }
            let waited = begun.now().as_nanos();
            let late = waited > limit.as_nanos();
            let ended = awaited.way == Way::There && self.is_interrupted();
            if late || ended {
                let last = seen.in_words();
                let why = match late {
                    true => format!("{last} after {limit} (--restart-limit)"),
                    false => format!("interrupted; {last}"),
                };
                return Err(EngineError::failed(
                    "wait for the server to come back",
                    format!("{why}; {}", does_not_start(awaited.rescue)),
                ));
            }
            let is_new = said.as_ref().is_none_or(|(before, at)| {
                std::mem::discriminant(before) != std::mem::discriminant(&seen)
                    || waited - at > SAY_EVERY.as_nanos()
            });
            if is_new {
                self.say(&format!(
                    "waiting for the server for {} s, at most {limit}: {}",
                    waited / Duration::SECOND.as_nanos(),
                    seen.in_words()
                ));
                said = Some((seen, waited));
            }
            Clock::sleep(LOOK_EVERY);
        }
    }

    /// Runs the command in its own process group: Ctrl-C is for dbstow, and a stopped service must be started again. Only errors
    /// of the command are shown.
    fn run(&self, command: &str, awaited: Awaited<'_>) -> Result<(), EngineError> {
        let limit = self.limit(awaited);
        let failed =
            |why: String| EngineError::failed("restart the server with --restart-command", why);
        let mut shell = shell(command);
        shell.stdin(Stdio::null()).stdout(Stdio::null());
        let child = shell.spawn().map_err(|error| failed(error.to_string()));
        let mut child = child?;
        let begun = Clock::start();
        loop {
            let status = child
                .try_wait()
                .map_err(|error| failed(error.to_string()))?;
            match status {
                Some(status) if status.success() => return Ok(()),
                Some(status) => return Err(failed(status.to_string())),
                None if begun.now().as_nanos() > limit.as_nanos() => {
                    return Err(failed(format!(
                        "it still runs after {limit} (--restart-limit); end it before you run dbstow again"
                    )));
                }
                None => Clock::sleep(COMMAND_EVERY),
            }
        }
    }
}

/// The remedy for a server that no longer starts.
pub(crate) fn does_not_start(rescue: &Path) -> String {
    format!(
        "if it does not start because of tempdb's files, start it with -f -T3608, run {}, and start it again",
        rescue.display()
    )
}

fn cannot_restart(what: &str) -> EngineError {
    EngineError::Missing(format!(
        "tempdb moves at a restart of the server, and dbstow cannot ask for one (stdin or stderr is not a \
         terminal): give --restart-command. What would be asked:\n{what}"
    ))
}

/// Prompts the user repeatedly until the server was restarted or is down.
fn ask(prompt: &Prompt, access: &Access, what: &str, before: &str) -> Result<(), EngineError> {
    let mut text = what.to_owned();
    loop {
        prompt(&text)
            .map_err(|error| EngineError::failed("wait for the restart of the server", error))?;
        match started(access) {
            Ok(now) if now == before => {
                text = format!("The server has not been restarted yet: {what}");
            }
            Ok(_) | Err(_) => return Ok(()),
        }
    }
}

#[cfg(not(windows))]
fn shell(command: &str) -> Command {
    let mut shell = child::of_user("sh");
    shell.arg("-c").arg(command);
    #[cfg(unix)]
    std::os::unix::process::CommandExt::process_group(&mut shell, 0);
    shell
}

/// With `/S`, `cmd` removes only the outer quotes; it does not support the escapes that std would add before inner ones. Source:
/// `cmd /?`.
#[cfg(windows)]
fn shell(command: &str) -> Command {
    use std::os::windows::process::CommandExt;

    let mut shell = child::of_user("cmd");
    shell
        .raw_arg(format!("/S /C \"{command}\""))
        .creation_flags(NEW_PROCESS_GROUP);
    shell
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_that_zeroes_more_may_take_longer() {
        assert_eq!(limit(0), Duration::from_secs(300));
        // 9,288 MiB = 9,739,173,888 B; at 25 MB/s that is 389.6 s, in whole seconds 390.
        assert_eq!(limit(9288 << 20), Duration::from_secs(690));
    }
}
