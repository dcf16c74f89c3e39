//! User options of a run in real time.

use std::collections::BTreeMap;
use std::path::PathBuf;

use model::Duration;

use crate::product_options::ProductOptions;

/// Where a run in real time has its files, and on which server.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Options {
    /// Measure: the real directory of each volume.
    pub volumes: BTreeMap<String, PathBuf>,
    /// Emulate: where the bytes of modelled volumes are; `None`: in the temporary directory.
    pub backing: Option<PathBuf>,
    /// Emulate: what programs see of modelled volumes; `None`: the front that suits the engine.
    pub front: Option<FrontKind>,
    /// Emulate: how requests reach the emulator; `None`: as the kernel allows.
    pub transport: Option<TransportKind>,
    /// An existing server; without its password where it may be displayed.
    pub server: Option<String>,
    /// A backup that the existing server restores for each trial, by its path as the server sees it; `None`: the trial's workload
    /// loads its data.
    pub backup: Option<String>,
    /// Longest time for an answer to dbstow's own queries; `None`: the default. It does not affect what a trial measures.
    pub timeout: Option<Duration>,
    /// Options of single products.
    pub of_product: ProductOptions,
}

/// What programs see of an emulated volume.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FrontKind {
    /// A real filesystem on a modelled disk: page cache and journal are real; needs root
    Block,
    /// Files whose every request is one of the modelled disk
    File,
}

/// How requests reach the emulator.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TransportKind {
    /// Reads and writes of /dev/fuse
    Fuser,
    /// FUSE over io_uring
    IoUring,
}

impl FrontKind {
    /// The word in records and options.
    pub fn name(self) -> &'static str {
        match self {
            FrontKind::Block => "block",
            FrontKind::File => "file",
        }
    }
}

impl TransportKind {
    /// The word in records and options.
    pub fn name(self) -> &'static str {
        match self {
            TransportKind::Fuser => "fuser",
            TransportKind::IoUring => "io_uring",
        }
    }
}
