//! Restarting a server: by a command that its owner gave, or by the owner.

use std::process::Command;

use model::Duration;
use sqlserver::capture;
use sqlserver::tsql::question;
use volume::clock::Clock;

use super::OBSERVER;
use super::access::Access;
use crate::engine::EngineError;

/// Shows a text and waits until the user has done what it says.
pub type Prompt = fn(&str) -> std::io::Result<()>;

/// Who restarts the server.
#[derive(Clone, Debug)]
pub(super) enum Restart {
    /// A command for the shell.
    Command(String),
    /// The user, who is asked to.
    Ask(Prompt),
}

/// How long a server may take to come back.
const BACK_LIMIT: Duration = Duration::from_secs(300);

const LOOK_EVERY: Duration = Duration::from_millis(500);

/// When the service started, in its own words.
pub(super) fn started(access: &Access) -> Result<String, EngineError> {
    let mut session = access.connect(OBSERVER)?;
    let rows = capture::read(&mut session, &question::STARTED, |row| row.word("started"));
    let rows = rows.map_err(|error| EngineError::failed("ask when the server started", error))?;
    Ok(rows.into_iter().next().unwrap_or_default())
}

impl Restart {
    /// Restarts the server, and waits until it is back; `what` tells the user what to do first, if anything.
    pub(super) fn carry_out(&self, access: &Access, what: &str) -> Result<(), EngineError> {
        let before = started(access)?;
        match self {
            Restart::Command(command) => run(command)?,
            Restart::Ask(prompt) => prompt(what).map_err(|error| {
                EngineError::failed("wait for the restart of the server", error)
            })?,
        }
        let begun = Clock::start();
        loop {
            let last = match started(access) {
                Ok(now) if now != before => return Ok(()),
                Ok(_) => "it answers, but was not restarted".to_owned(),
                Err(error) => error.to_string(),
            };
            if begun.now().as_nanos() > BACK_LIMIT.as_nanos() {
                return Err(EngineError::failed(
                    format!("wait {BACK_LIMIT} for the server to come back"),
                    format!(
                        "{last}; if it does not start because of tempdb's files, `dbstow layout` has the \
                             steps of a rescue (start with -f -T3608)"
                    ),
                ));
            }
            Clock::sleep(LOOK_EVERY);
        }
    }
}

fn run(command: &str) -> Result<(), EngineError> {
    let mut shell = match cfg!(windows) {
        true => Command::new("cmd"),
        false => Command::new("sh"),
    };
    shell
        .arg(if cfg!(windows) { "/C" } else { "-c" })
        .arg(command);
    let what = || format!("restart the server with `{command}`");
    let output = shell
        .output()
        .map_err(|error| EngineError::failed(what(), error))?;
    if output.status.success() {
        return Ok(());
    }
    let said = String::from_utf8_lossy(&output.stderr);
    Err(EngineError::failed(
        what(),
        format!("{}: {}", output.status, said.trim()),
    ))
}
