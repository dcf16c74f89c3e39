//! An arm's volumes as the server sees them: reported I/O of its files, summed by volume.
//!
//! The server may be on another machine, with paths that are invalid here; so only its own reports are used. Its stalls are whole
//! milliseconds: sums of many are meaningful, distributions are not.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::capture;
use crate::session::{Driver, Session};
use host::clock::Clock;
use host::site::Site;
use parking_lot::Mutex;
use reading::{DiskReading, Reading};

use super::OBSERVER;
use crate::trial::run::{Files, ServerRun};
use experiment::spec::Settings;

/// Volumes of one trial.
pub struct ServerSite {
    run: Arc<ServerRun>,
    names: Vec<String>,
    directories: Vec<PathBuf>,
    clock: Clock,
    /// Opened at the first reading: by then the server has been restarted, if necessary.
    session: Mutex<Option<Driver>>,
}

impl ServerSite {
    /// The volumes of `settings`, in directories as the server sees them, one for each.
    pub fn new(run: Arc<ServerRun>, settings: &Settings, directories: Vec<PathBuf>) -> ServerSite {
        run.set_files(Files::new());
        let volumes = settings.volumes.iter();
        ServerSite {
            names: volumes.map(|volume| volume.name.clone()).collect(),
            directories,
            clock: Clock::start(),
            session: Mutex::new(None),
            run,
        }
    }
}

impl Site for ServerSite {
    fn directory(&self, volume: usize) -> &Path {
        &self.directories[volume]
    }

    fn reading(&self) -> io::Result<Reading> {
        let mut session = self.session.lock();
        if !session.as_ref().is_some_and(Session::is_usable) {
            *session = Some(
                self.run
                    .access()
                    .connect(OBSERVER)
                    .map_err(io::Error::other)?,
            );
        }
        let session = session.as_mut().expect("it was opened above");
        let statistics = capture::file_statistics(session).map_err(io::Error::other)?;
        let files = self.run.files();
        let count = |value: i64| u64::try_from(value).unwrap_or(0);
        let mut disks: Vec<DiskReading> = (0..)
            .zip(&self.names)
            .map(|(volume, name)| blank(volume, name))
            .collect();
        for file in statistics {
            let Some(filed) = files.get(&(file.database_id, file.file_id)) else {
                continue;
            };
            let disk = &mut disks[filed.volume];
            let ns = |ms: i64| count(ms).saturating_mul(1_000_000);
            // A server may return anything.
            for (sum, more) in [
                (&mut disk.reads, count(file.reads)),
                (&mut disk.writes, count(file.writes)),
                (&mut disk.read_bytes, count(file.read_bytes)),
                (&mut disk.write_bytes, count(file.written_bytes)),
                (&mut disk.read_ns, ns(file.read_stall_ms)),
                (&mut disk.write_ns, ns(file.write_stall_ms)),
            ] {
                *sum = sum.saturating_add(more);
            }
        }
        Ok(Reading {
            at: self.clock.now(),
            disks,
            limits: Vec::new(),
            pacing: None,
        })
    }

    /// SQL Server bypasses the system's cache: there is nothing to evict.
    fn go_cold(&self, _host_cache: bool) -> io::Result<Vec<String>> {
        Ok(Vec::new())
    }

    fn environment(&self) -> Vec<(String, String)> {
        let volumes = self.names.iter().zip(&self.directories);
        let mut facts: Vec<(String, String)> = volumes
            .map(|(name, directory)| (format!("volume.{name}"), directory.display().to_string()))
            .collect();
        facts.push(("server".to_owned(), self.run.access().server()));
        facts
    }
}

fn blank(volume: usize, name: &str) -> DiskReading {
    DiskReading {
        volume,
        name: format!("{name}.1"),
        ..DiskReading::default()
    }
}
