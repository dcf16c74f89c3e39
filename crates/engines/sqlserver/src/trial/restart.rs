//! Restarting a server: by a command that its owner gave, or by the owner.

use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::capture;
use crate::session::Driver;
use crate::tsql::question;
use model::Duration;
use volume::child;
use volume::clock::Clock;

use super::OBSERVER;
use crate::trial::access::Access;
use engine::EngineError;
use engine::hooks::{Progress, Prompt};

/// Restarts the server.
pub(crate) struct Restart {
    pub(crate) by: By,
    /// Set once the run is to end.
    pub(crate) interrupted: Arc<AtomicBool>,
    /// Longest that a restart may take, as the user said.
    pub(crate) limit: Option<Duration>,
    /// Shows what is waited for.
    pub(crate) progress: Progress,
}

/// A server that is waited for.
#[derive(Clone, Copy)]
pub(crate) struct Awaited<'a> {
    /// A script for a server that does not come back.
    pub(crate) rescue: &'a Path,
    pub(crate) way: Way,
    /// Bytes of tempdb that it has to zero when it starts.
    pub(crate) zeroed: u64,
}

/// Who does.
pub(crate) enum By {
    /// A command for the shell.
    Command(String),
    /// The user, who is asked to.
    User(Prompt),
    /// Nobody: there is no command, and nobody to ask.
    Nobody,
}

/// Which way tempdb goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Way {
    /// To an arm's place: Ctrl-C ends the waiting.
    There,
    /// Home: nothing ends it.
    Back,
}

/// How long a server may take to come back, where it has nothing to zero.
const STARTS_WITHIN: Duration = Duration::from_secs(300);

/// How fast a server is assumed to zero files at least: the least throughput that Azure provisions for a premium SSD
/// (P1 to P6, as in the catalogue). Nobody publishes the rate of zeroing; too low a rate only means a longer patience.
const ZEROED_PER_SECOND: u64 = 25_000_000;

/// `CREATE_NEW_PROCESS_GROUP`. Source: Microsoft, "Process creation flags" (read 2026-11).
#[cfg(windows)]
const NEW_PROCESS_GROUP: u32 = 0x200;

const LOOK_EVERY: Duration = Duration::from_millis(500);

/// How often it is said what is waited for, where that stays the same.
const SAY_EVERY: Duration = Duration::from_secs(30);

/// How often it is looked whether the command has ended.
const COMMAND_EVERY: Duration = Duration::from_millis(20);

/// When the service started, in its own words.
pub(crate) fn started(access: &Access) -> Result<String, EngineError> {
    started_in(&mut access.connect(OBSERVER)?)
}

/// The same, on a connection that is there.
pub(crate) fn started_in(session: &mut Driver) -> Result<String, EngineError> {
    let rows = capture::read(session, &question::STARTED, |row| row.word("started"));
    let rows = rows.map_err(|error| EngineError::failed("ask when the server started", error))?;
    Ok(rows.into_iter().next().unwrap_or_default())
}

/// Whether tempdb can be used; a server answers before that.
fn ready(access: &Access) -> Result<(), EngineError> {
    let answer = capture::ask(&mut access.connect(OBSERVER)?, &question::READY);
    answer
        .map(|_| ())
        .map_err(|failure| EngineError::failed("use tempdb", failure))
}

/// What a server that is waited for does.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Seen {
    Back,
    /// It does not answer: why.
    Down(String),
    /// It is the one that was to be restarted.
    Before,
    /// tempdb cannot be used: why.
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

/// How long a server that has to zero so many bytes may take to come back.
fn limit(zeroed: u64) -> Duration {
    STARTS_WITHIN + Duration::from_secs(zeroed.div_ceil(ZEROED_PER_SECOND))
}

impl Restart {
    /// Waits until a server can be used that has to have something put back. One that does not answer is restarted
    /// first, where there is a command for it: a restart may have been cut in two.
    pub(crate) fn revive(&self, access: &Access, awaited: Awaited<'_>) -> Result<(), EngineError> {
        match (&self.by, started(access)) {
            (_, Ok(_)) => self.wait(access, None, awaited),
            (By::User(_) | By::Nobody, Err(error)) => Err(error),
            (By::Command(command), Err(_)) => {
                self.run(command, awaited)?;
                self.wait(access, None, awaited)
            }
        }
    }

    /// The same, but a server that its user restarts is waited for.
    pub(crate) fn await_it(
        &self,
        access: &Access,
        awaited: Awaited<'_>,
    ) -> Result<(), EngineError> {
        match &self.by {
            By::Command(_) | By::Nobody => self.revive(access, awaited),
            By::User(_) => self.wait(access, None, awaited),
        }
    }

    /// Restarts the server, and waits until it and its tempdb can be used; `what` tells the user what to do first, if
    /// anything.
    pub(crate) fn execute(
        &self,
        access: &Access,
        what: &str,
        awaited: Awaited<'_>,
    ) -> Result<(), EngineError> {
        let before = started(access)?;
        if awaited.way == Way::There && self.is_interrupted() {
            // What was asked of tempdb counts from the next start on, so that one restart fewer takes it back.
            return Err(EngineError::failed("restart the server", "interrupted"));
        }
        match &self.by {
            By::Command(command) => self.run(command, awaited)?,
            By::User(prompt) => ask(prompt, access, what, &before)?,
            By::Nobody => return Err(nobody(what)),
        }
        self.wait(access, Some(&before), awaited)
    }

    /// Whether the server can be restarted at all: before anything is changed that only a restart takes back.
    pub(crate) fn check(&self) -> Result<(), EngineError> {
        match &self.by {
            By::Command(_) | By::User(_) => Ok(()),
            By::Nobody => Err(nobody("move tempdb and restart the server")),
        }
    }

    /// Shows a line on what is done to the server.
    pub(crate) fn say(&self, text: &str) {
        (self.progress)(text);
    }

    /// Whether the run is to end.
    pub(crate) fn is_interrupted(&self) -> bool {
        self.interrupted.load(Ordering::Relaxed)
    }

    /// How long it may take.
    fn limit(&self, awaited: Awaited<'_>) -> Duration {
        self.limit.unwrap_or_else(|| limit(awaited.zeroed))
    }

    /// Waits until the server can be used, with another start than `before`.
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

    /// Runs the command in a process group of its own: Ctrl-C is for dbstow, and a service that is stopped has
    /// to be started again. Of what the command says only errors are shown.
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

/// What helps a server that does not start any more.
pub(crate) fn does_not_start(rescue: &Path) -> String {
    format!(
        "if it does not start because of tempdb's files, start it with -f -T3608, run {}, and start it again",
        rescue.display()
    )
}

fn nobody(what: &str) -> EngineError {
    EngineError::Missing(format!(
        "tempdb moves at a restart of the server, and nobody can be asked to restart it (stdin or stderr is not a \
         terminal): give --restart-command. What would be asked:\n{what}"
    ))
}

/// Asks the user, again and again, until the server was restarted or is down.
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

/// With `/S`, `cmd` takes away the outer quotes and nothing else; it does not know the escapes that std would put
/// before inner ones. Source: `cmd /?`.
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
