//! Finds fio, queries its version, and runs it.

use std::fs::File;
use std::io::{Read, Seek};
use std::path::PathBuf;
use std::process::{Child, ExitStatus, Stdio};

use host::child;
#[cfg(target_os = "linux")]
use host::child::{ParentDeath, ends_with_parent};
use host::clock::Clock;
use model::Duration;

use super::RawError;

/// Polling interval for the end of fio or a stop request.
const LOOK_EVERY: Duration = Duration::from_millis(20);

/// The fio of this machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fio {
    program: PathBuf,
    /// Such as `fio-3.33`.
    pub version: String,
    /// Its I/O engine for several requests at a time, such as `libaio`.
    pub queued: String,
    /// Its synchronous I/O engine, such as `pvsync`.
    pub synchronous: String,
}

/// I/O engines for several requests at a time on this platform; the first one that fio has is used.
///
/// libaio before io_uring, which many containers forbid.
fn queued() -> &'static [&'static str] {
    match std::env::consts::OS {
        "linux" => &["libaio", "io_uring", "posixaio"],
        "windows" => &["windowsaio"],
        _ => &["posixaio"],
    }
}

/// Synchronous I/O engines on this platform.
fn synchronous() -> &'static [&'static str] {
    match std::env::consts::OS {
        "windows" => &["windowsaio"],
        _ => &["pvsync", "psync"],
    }
}

impl Fio {
    /// The one in PATH.
    ///
    /// # Errors
    /// When it is missing, or cannot do direct I/O as required here.
    pub fn find() -> Result<Fio, RawError> {
        let program = PathBuf::from("fio");
        let ask = |argument: &str| {
            let output = child::command(&program).arg(argument).output();
            let output = output.map_err(RawError::NoFio)?;
            Ok(String::from_utf8_lossy(&output.stdout).into_owned())
        };
        let version = ask("--version")?.trim().to_owned();
        let known = ask("--enghelp")?;
        let first = |wanted: &[&str]| {
            let has = |name: &&&str| known.lines().any(|line| line.trim() == **name);
            let found = wanted.iter().find(has).map(|name| (*name).to_owned());
            found.ok_or_else(|| RawError::NoIoEngine {
                version: version.clone(),
                wanted: wanted.join(", "),
            })
        };
        Ok(Fio {
            queued: first(queued())?,
            synchronous: first(synchronous())?,
            program,
            version: version.clone(),
        })
    }

    /// Runs it to completion with `arguments`, and returns its output. `what` names the task in errors.
    ///
    /// # Errors
    /// When it fails, or `stop` is set before it ends: it is then killed.
    pub(crate) fn run(
        &self,
        what: &str,
        arguments: &[String],
        stop: &dyn Fn() -> bool,
    ) -> Result<String, RawError> {
        let spool = || tempfile::tempfile().map_err(RawError::at(std::env::temp_dir()));
        let (mut output, mut errors) = (spool()?, spool()?);
        let handle = |file: &File| file.try_clone().map_err(RawError::at(std::env::temp_dir()));
        let mut command = child::command(&self.program);
        command
            .args(arguments)
            .stdin(Stdio::null())
            .stdout(handle(&output)?)
            .stderr(handle(&errors)?);
        // A surviving process would write to the next run's files under the same path.
        #[cfg(target_os = "linux")]
        ends_with_parent(&mut command, ParentDeath::Kill);
        let child = command.spawn().map_err(RawError::NoFio)?;
        let status = wait(Running(child), stop)?;
        let text = |file: &mut File| -> Result<String, RawError> {
            let mut bytes = Vec::new();
            file.rewind()
                .and_then(|()| file.read_to_end(&mut bytes))
                .map_err(RawError::at(std::env::temp_dir()))?;
            Ok(String::from_utf8_lossy(&bytes).into_owned())
        };
        if !status.success() {
            let (printed, errors) = (text(&mut output)?, text(&mut errors)?);
            // Its first error is the cause; the following ones are consequences. Its report is not an error.
            let words = errors.lines().chain(printed.lines());
            let why = words.map(str::trim).find(|line| line.starts_with("fio:"));
            return Err(RawError::Failed {
                status: status.to_string(),
                what: what.to_owned(),
                why: why.unwrap_or("it gave no reason").to_owned(),
            });
        }
        text(&mut output)
    }
}

/// A fio process that is killed on drop.
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        if matches!(self.0.try_wait(), Ok(None)) {
            // It is our child: neither can fail unless the process has already ended.
            let _ = self.0.kill();
            let _ = self.0.wait();
        }
    }
}

fn wait(mut running: Running, stop: &dyn Fn() -> bool) -> Result<ExitStatus, RawError> {
    loop {
        if stop() {
            return Err(RawError::Cancelled);
        }
        if let Some(status) = running.0.try_wait().map_err(RawError::at("fio"))? {
            return Ok(status);
        }
        Clock::sleep(LOOK_EVERY);
    }
}
