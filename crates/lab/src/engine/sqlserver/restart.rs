//! Restarting a server: by a command that its owner gave, or by the owner.

use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use model::Duration;
use sqlserver::capture;
use sqlserver::session::Driver;
use sqlserver::tsql::question;
use volume::clock::Clock;

use super::OBSERVER;
use super::access::Access;
use crate::engine::EngineError;
use crate::hooks::Prompt;

/// Restarts the server.
pub(super) struct Restart {
    pub(super) by: By,
    /// Set once the run is to end.
    pub(super) interrupted: Arc<AtomicBool>,
}

/// Who does.
pub(super) enum By {
    /// A command for the shell.
    Command(String),
    /// The user, who is asked to.
    User(Prompt),
}

/// Which way tempdb goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Way {
    /// To an arm's place: Ctrl-C ends the waiting.
    There,
    /// Home: nothing ends it.
    Back,
}

/// How long a server may take to come back.
const BACK_LIMIT: Duration = Duration::from_secs(300);

/// `CREATE_NEW_PROCESS_GROUP`. Source: Microsoft, "Process creation flags" (read 2026-11).
#[cfg(windows)]
const NEW_PROCESS_GROUP: u32 = 0x200;

const LOOK_EVERY: Duration = Duration::from_millis(500);

/// How often it is looked whether the command has ended.
const COMMAND_EVERY: Duration = Duration::from_millis(20);

/// When the service started, in its own words.
pub(super) fn started(access: &Access) -> Result<String, EngineError> {
    started_in(&mut access.connect(OBSERVER)?)
}

/// The same, on a connection that is there.
pub(super) fn started_in(session: &mut Driver) -> Result<String, EngineError> {
    let rows = capture::read(session, &question::STARTED, |row| row.word("started"));
    let rows = rows.map_err(|error| EngineError::failed("ask when the server started", error))?;
    Ok(rows.into_iter().next().unwrap_or_default())
}

impl Restart {
    /// Restarts a server that does not answer, where there is a command for it: a restart may have been cut in two.
    pub(super) fn revive(&self, access: &Access, rescue: &Path) -> Result<(), EngineError> {
        match (&self.by, started(access)) {
            (_, Ok(_)) => Ok(()),
            (By::User(_), Err(error)) => Err(error),
            (By::Command(command), Err(_)) => {
                run(command)?;
                self.wait(access, None, rescue, Way::Back)
            }
        }
    }

    /// The same for a server that has to have something put back: one that its user restarts is waited for.
    pub(super) fn await_it(&self, access: &Access, rescue: &Path) -> Result<(), EngineError> {
        match &self.by {
            By::Command(_) => self.revive(access, rescue),
            By::User(_) => self.wait(access, None, rescue, Way::Back),
        }
    }

    /// Restarts the server, and waits until it is back; `what` tells the user what to do first, if anything, and
    /// `rescue` is a script for a server that does not come back.
    pub(super) fn execute(
        &self,
        access: &Access,
        what: &str,
        rescue: &Path,
        way: Way,
    ) -> Result<(), EngineError> {
        let before = started(access)?;
        match &self.by {
            By::Command(command) => run(command)?,
            By::User(prompt) => ask(prompt, access, what, &before)?,
        }
        self.wait(access, Some(&before), rescue, way)
    }

    /// Waits until the server answers, with another start than `before`.
    fn wait(
        &self,
        access: &Access,
        before: Option<&str>,
        rescue: &Path,
        way: Way,
    ) -> Result<(), EngineError> {
        let begun = Clock::start();
        loop {
            let last = match started(access) {
                Ok(now) if before != Some(now.as_str()) => return Ok(()),
                Ok(_) => "it answers, but was not restarted".to_owned(),
                Err(error) => error.to_string(),
            };
            let late = begun.now().as_nanos() > BACK_LIMIT.as_nanos();
            let ended = way == Way::There && self.interrupted.load(Ordering::Relaxed);
            if late || ended {
                let why = match late {
                    true => format!("{last} after {BACK_LIMIT}"),
                    false => format!("interrupted; {last}"),
                };
                return Err(EngineError::failed(
                    "wait for the server to come back",
                    format!("{why}; {}", does_not_start(rescue)),
                ));
            }
            Clock::sleep(LOOK_EVERY);
        }
    }
}

/// What helps a server that does not start any more.
pub(super) fn does_not_start(rescue: &Path) -> String {
    format!(
        "if it does not start because of tempdb's files, start it with -f -T3608, run {}, and start it again",
        rescue.display()
    )
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

/// Runs the command in a process group of its own: Ctrl-C is for dbstow, and a service that is stopped has
/// to be started again. Of what the command says only errors are shown.
fn run(command: &str) -> Result<(), EngineError> {
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
            None if begun.now().as_nanos() > BACK_LIMIT.as_nanos() => {
                return Err(failed(format!(
                    "it still runs after {BACK_LIMIT}; end it before you run dbstow again"
                )));
            }
            None => Clock::sleep(COMMAND_EVERY),
        }
    }
}

#[cfg(not(windows))]
fn shell(command: &str) -> Command {
    let mut shell = Command::new("sh");
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

    let mut shell = Command::new("cmd");
    shell
        .raw_arg(format!("/S /C \"{command}\""))
        .creation_flags(NEW_PROCESS_GROUP);
    shell
}
