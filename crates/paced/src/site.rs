//! Modelled volumes for SQLite alone: plain directories, and a model that paces its requests.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use model::{MachineSpec, VolumeSpec};

use crate::Pacer;
use host::site::Site;
use reading::Reading;

/// Directories that represent modelled volumes. Only files opened with [`PacedSite::pacer`] are paced:
/// nothing is mounted, so it works on every system and for every user.
pub struct PacedSite {
    directories: Vec<PathBuf>,
    pacer: Arc<Pacer>,
}

impl PacedSite {
    /// Volumes that share a machine, each in its own directory, which must exist and be empty.
    ///
    /// # Panics
    /// When a volume has no disk.
    pub fn new(machine: &MachineSpec, volumes: Vec<(VolumeSpec, PathBuf)>, seed: u64) -> PacedSite {
        let (volumes, directories): (Vec<_>, Vec<_>) = volumes.into_iter().unzip();
        PacedSite {
            directories,
            pacer: Arc::new(Pacer::start(machine, &volumes, seed)),
        }
    }

    /// Paces the files of a database on these volumes.
    pub fn pacer(&self) -> Arc<Pacer> {
        Arc::clone(&self.pacer)
    }
}

impl Site for PacedSite {
    fn directory(&self, volume: usize) -> &Path {
        &self.directories[volume]
    }

    fn reading(&self) -> io::Result<Reading> {
        Ok(self.pacer.reading())
    }

    /// The operating system's cache is kept: real files under a model must be as fast as possible.
    fn go_cold(&self, host_cache: bool) -> io::Result<Vec<String>> {
        if host_cache {
            self.pacer.empty_host_cache();
        }
        Ok(Vec::new())
    }

    fn environment(&self) -> Vec<(String, String)> {
        let places = (0..).zip(&self.directories);
        let place = |(volume, directory): (usize, &PathBuf)| {
            let what = format!("modelled in the engine; bytes in {}", directory.display());
            (format!("volume.{volume}"), what)
        };
        places.map(place).collect()
    }
}
