//! Where a user wants a run in real time to have its files, and on what.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

use super::asked::name_and_path;
use crate::trial::real::{FrontKind, Options, TransportKind};

/// Where a run in real time has its files, and on what.
#[derive(Clone, Debug, Default, clap::Args)]
#[command(next_help_heading = "Real time (--mode emulate or measure)")]
pub struct Place {
    /// Real directory of a volume (measure); one for every volume. dbstow works in a directory of its own
    /// in it
    #[arg(long, value_name = "VOLUME=DIR", value_parser = name_and_path)]
    pub volume: Vec<(String, PathBuf)>,
    /// Where the bytes of modelled volumes are (emulate) [default: the temporary directory]
    #[arg(long, value_name = "DIR")]
    pub backing: Option<PathBuf>,
    /// What programs see of modelled volumes (emulate) [default: block for PostgreSQL, file for raw]
    #[arg(long, value_enum)]
    pub front: Option<FrontKind>,
    /// How requests reach the emulator [default: io_uring where the kernel allows it]
    #[arg(long, value_enum)]
    pub transport: Option<TransportKind>,
    /// Use a server that runs on this machine already: postgresql://USER@HOST/; its password comes from
    /// PGPASSWORD or ~/.pgpass
    #[arg(long, value_name = "URL")]
    pub server: Option<String>,
    /// Where PostgreSQL's programs are [default: the newest that is found]
    #[arg(long, value_name = "DIR")]
    pub postgres_bin: Option<PathBuf>,
}

impl Place {
    /// What was given.
    pub fn options(&self) -> Options {
        Options {
            volumes: self.volume.iter().cloned().collect(),
            backing: self.backing.clone(),
            front: self.front,
            transport: self.transport,
            server: self.server.clone(),
            postgres_bin: self.postgres_bin.clone(),
        }
    }

    /// What of it decides the outcome of a trial, with whole paths.
    ///
    /// # Errors
    /// When the current directory is not known.
    pub(super) fn facts(&self) -> Result<BTreeMap<String, String>> {
        let whole = |path: &Path| std::path::absolute(path).context("the current directory");
        let mut options = self.options();
        for directory in options.volumes.values_mut() {
            *directory = whole(directory)?;
        }
        for path in [&mut options.backing, &mut options.postgres_bin] {
            if let Some(given) = path {
                *path = Some(whole(given)?);
            }
        }
        Ok(options.facts())
    }
}
