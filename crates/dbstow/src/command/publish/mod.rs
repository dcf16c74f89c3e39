//! `--metrics` and `--listen`: metrics of this process, once a second, in a file and by HTTP.
//!
//! One thread renders the text. Readers, however slow, get the last rendered one: neither a scraper nor a slow disk can
//! delay what is measured.

mod accept;
mod listen;
mod page;

use std::ffi::OsString;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use anyhow::{Context, Result};
use clap::ValueHint;
use files::{FileError, Folder, Readers};
use parking_lot::Mutex;

use super::UsageError;
use crate::metrics::{self, Sample, TextFormat};
use listen::Listener;
use page::Page;

/// Render interval.
const EVERY: Duration = Duration::from_secs(1);

/// Files with this suffix are read by the textfile collector of `node_exporter`, which does not support OpenMetrics.
const OLDER: &str = "prom";

/// Where metrics go.
#[derive(Clone, Debug, Default, clap::Args)]
pub struct PublishArgs {
    /// Write metrics to this file every second, in OpenMetrics (in Prometheus' text format if the name ends in .prom)
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub metrics: Option<PathBuf>,
    /// Serve metrics at http://ADDRESS/metrics, for Prometheus, such as 127.0.0.1:9187
    #[arg(long, value_name = "ADDRESS", value_parser = address)]
    pub listen: Option<SocketAddr>,
    /// Let --listen take an address that other machines reach; there is no password
    #[arg(long, requires = "listen")]
    pub allow_remote: bool,
}

/// The source of metrics, called once a second.
pub(super) type Source = Box<dyn Fn() -> Vec<Sample> + Send>;

/// Messages while metrics are published.
pub(super) type Note = Box<dyn Fn(&str) + Send>;

/// The targets of metrics, all checked.
pub(super) struct Outlet {
    file: Option<PathBuf>,
    listener: Option<Listener>,
}

/// The file, in its directory, which is held open so that another one cannot take its place.
struct Target {
    folder: Folder,
    name: OsString,
    format: TextFormat,
}

/// Metrics, published until this is dropped, and once more then.
pub(super) struct Publishing {
    stop: Option<Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl PublishArgs {
    /// Checks the options, and binds the address; `None` where none was given.
    ///
    /// # Errors
    /// When other machines could read it without the option that allows this, or the address cannot be bound.
    pub(super) fn open(&self) -> Result<Option<Outlet>> {
        if self.metrics.is_none() && self.listen.is_none() {
            return Ok(None);
        }
        if let Some(file) = self.metrics.as_ref().filter(|file| !is_replaceable(file)) {
            let file = file.display();
            let message = format!(
                "--metrics {file} is not a regular file, and metrics replace it every second; give a regular file"
            );
            return Err(UsageError(message).into());
        }
        if let Some(address) = self.listen {
            self.check(address)?;
        }
        Ok(Some(Outlet {
            file: self.metrics.clone(),
            listener: self.listen.map(Listener::bind).transpose()?,
        }))
    }

    /// Where metrics are to be served.
    #[cfg(all(target_os = "linux", feature = "emulator"))]
    pub(super) fn address(&self) -> Option<SocketAddr> {
        self.listen
    }

    fn check(&self, address: SocketAddr) -> Result<(), UsageError> {
        if self.allow_remote || address.ip().to_canonical().is_loopback() {
            return Ok(());
        }
        let port = address.port();
        Err(UsageError(format!(
            "--listen {address} would be readable without a password by anyone who can reach this machine; give \
             127.0.0.1:{port}, or add --allow-remote"
        )))
    }

    /// The same as arguments for another process, which may have another current directory.
    ///
    /// # Errors
    /// When the current directory no longer exists.
    #[cfg(all(target_os = "linux", feature = "emulator"))]
    pub(super) fn arguments(&self) -> Result<Vec<std::ffi::OsString>> {
        let mut arguments = Vec::new();
        if let Some(file) = &self.metrics {
            let file = std::path::absolute(file).context("the current directory")?;
            arguments.extend(["--metrics".into(), file.into()]);
        }
        if let Some(address) = self.listen {
            arguments.extend(["--listen".into(), address.to_string().into()]);
        }
        arguments.extend(self.allow_remote.then(|| "--allow-remote".into()));
        Ok(arguments)
    }
}

fn address(text: &str) -> Result<SocketAddr, String> {
    text.parse()
        .map_err(|_| "not an address with a port; give one such as 127.0.0.1:9187".to_owned())
}

/// Whether the path does not exist, or is a file or a link, which is replaced.
fn is_replaceable(file: &Path) -> bool {
    let is_other = |there: std::fs::Metadata| !there.is_file() && !there.is_symlink();
    !files::is_stream(file) && !std::fs::symlink_metadata(file).is_ok_and(is_other)
}

impl Target {
    /// # Errors
    /// When its directory cannot be opened.
    fn open(file: &Path) -> Result<Target> {
        let name = file.file_name().context("a path that names no file")?;
        let parent = file.parent().filter(|parent| *parent != Path::new(""));
        Ok(Target {
            folder: Folder::open(parent.unwrap_or(Path::new(".")))?,
            name: name.to_owned(),
            format: match file.extension().is_some_and(|end| end == OLDER) {
                true => TextFormat::Prometheus,
                false => TextFormat::OpenMetrics,
            },
        })
    }

    fn write(&self, page: &Page) -> Result<(), FileError> {
        let text = page.text(self.format);
        self.folder
            .write_often(&self.name, text.as_bytes(), Readers::Umask)
    }
}

impl Outlet {
    /// The bound address, including a port chosen by the system.
    pub(super) fn address(&self) -> Option<SocketAddr> {
        self.listener.as_ref().map(Listener::address)
    }

    /// Publishes the output of `source` from now on.
    ///
    /// # Errors
    /// When the file cannot be written, or no thread can be started.
    pub(super) fn start(self, source: Source, note: Note) -> Result<Publishing> {
        let page = make(&source);
        let target = self.file.as_deref().map(Target::open).transpose();
        let target = target.context("--metrics")?;
        if let Some(target) = &target {
            target.write(&page).context("--metrics")?;
        }
        let shared = Arc::new(Mutex::new(Arc::new(page)));
        if let Some(listener) = self.listener {
            listener.serve(&shared)?;
        }
        let (stop, stopped) = mpsc::channel();
        let work = move || {
            let mut has_failed = false;
            loop {
                let is_over = stopped.recv_timeout(EVERY) != Err(RecvTimeoutError::Timeout);
                let page = Arc::new(make(&source));
                *shared.lock() = Arc::clone(&page);
                if let Some(target) = &target {
                    let written = target.write(&page);
                    if let Err(error) = &written
                        && !has_failed
                    {
                        note(&format!("--metrics: {error}; retrying every second"));
                    }
                    has_failed = written.is_err();
                }
                if is_over {
                    return;
                }
            }
        };
        let thread = thread::Builder::new().name("dbstow-metrics".to_owned());
        Ok(Publishing {
            stop: Some(stop),
            thread: Some(thread.spawn(work).context("a thread for metrics")?),
        })
    }
}

fn make(source: &Source) -> Page {
    let mut samples = metrics::build();
    samples.extend(source());
    Page {
        prometheus: TextFormat::Prometheus.text(&samples),
        openmetrics: TextFormat::OpenMetrics.text(&samples),
    }
}

impl Drop for Publishing {
    fn drop(&mut self) {
        drop(self.stop.take());
        if let Some(thread) = self.thread.take() {
            // A panic was already reported.
            let _ = thread.join();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_loopback_is_listened_on_unless_asked_for() {
        let asked = |text: &str, allow_remote| {
            let args = PublishArgs {
                allow_remote,
                ..PublishArgs::default()
            };
            args.check(address(text).expect(text))
        };
        for text in [
            "127.0.0.1:9187",
            "127.9.9.9:1",
            "[::1]:9187",
            "[::ffff:127.0.0.1]:1",
        ] {
            asked(text, false).expect(text);
        }
        for text in ["0.0.0.0:9187", "[::]:9187", "192.0.2.1:9187"] {
            let error = asked(text, false).expect_err(text).to_string();
            assert!(error.contains("--allow-remote"), "{error}");
            asked(text, true).expect(text);
        }
        for text in ["9187", ":9187", "localhost", "127.0.0.1", ""] {
            let error = address(text).expect_err(text);
            assert!(error.contains("127.0.0.1:9187"), "{error}");
        }
    }
}
