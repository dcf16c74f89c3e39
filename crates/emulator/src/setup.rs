//! Specification of an emulation.

use std::path::PathBuf;

use crate::crash::{Choice, Rules};
use model::{Bytes, Instant, MachineSpec, VolumeSpec};
use serde::{Deserialize, Serialize};

/// Volumes that share one machine, each mounted at its own directory.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct EmulationSpec {
    /// The machine whose limits and host cache they share.
    pub machine: MachineSpec,
    /// The volumes.
    pub volumes: Vec<MountSpec>,
    /// Seed of the latencies.
    pub seed: u64,
    /// How requests reach the emulator.
    pub transport: TransportChoice,
    /// Where to write every request, as JSON lines; `None`: nowhere.
    pub trace: Option<PathBuf>,
    /// What happens to the bytes.
    #[serde(default)]
    pub contents: Contents,
}

/// What happens to the bytes of an emulation's volumes.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Contents {
    /// They stay in the volumes.
    #[default]
    InPlace,
    /// Block mode only. The volumes' images stay unchanged; writes and their times are recorded.
    Recorded(RecordSpec),
    /// Block mode only. The volumes' images stay unchanged; what is written is discarded at the end.
    Discarded,
    /// Block mode only. The volumes start as those of a recording were when power was cut. Requests take no modelled
    /// time, and what is written is discarded at the end.
    Crashed(CrashSpec),
}

/// Where writes are recorded, and how many.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RecordSpec {
    /// The directory.
    pub directory: PathBuf,
    /// Most bytes. When that is exceeded, or the disk is full, recording ends, every later write and flush fails as on
    /// a broken disk, and the recording notes when it ended.
    pub most: Bytes,
}

/// A crash state of a recording.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CrashSpec {
    /// Directory of the recording. The volumes have the same backing directories as when it was made.
    pub recording: PathBuf,
    /// How the disks of each volume behave.
    pub rules: Vec<Rules>,
    /// When each volume stops, by the recording's clock.
    pub at: Vec<Instant>,
    /// Which of the open writes it contains.
    pub choice: Choice,
    /// A flipped bit.
    #[serde(default)]
    pub flipped: Option<FlippedBit>,
}

/// A bit of a volume.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FlippedBit {
    /// Index of the volume.
    pub volume: usize,
    /// Index of the byte.
    pub byte: u64,
    /// The bit within the byte, 0 the lowest, 7 the highest.
    pub bit: u8,
}

/// One emulated volume.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct MountSpec {
    /// The model.
    pub volume: VolumeSpec,
    /// The front.
    pub front: Front,
    /// The mount point; it must exist and be empty.
    pub directory: PathBuf,
    /// Real directory that holds the bytes; created if missing, else it must be empty or belong to this volume.
    pub backing: PathBuf,
    /// Size that the volume reports. In block mode, the image's size (a sparse file).
    pub size: Bytes,
    /// User and group that own the volume's root; `None`: the user who mounts it.
    pub owner: Option<(u32, u32)>,
    /// What users besides the owner can do at the volume's root.
    #[serde(default)]
    pub others: Others,
}

/// What users besides its owner and root can do at a volume's root. Its content is governed by each file's own mode.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Others {
    /// List its content, as at the root of every new file system.
    #[default]
    List,
    /// Traverse it to names they know.
    Pass,
    /// Nothing.
    Nothing,
}

impl Others {
    /// The mode of the root; `None`: unchanged, since a reused volume may have another one.
    pub(super) fn mode(self) -> Option<u32> {
        match self {
            Others::List => None,
            Others::Pass => Some(0o711),
            Others::Nothing => Some(0o700),
        }
    }
}

/// Default read-ahead: the kernel's own for a disk that does not specify any. A loop device's
/// default depends on the disk under its image, which does not apply to a modelled disk.
pub(super) const READ_AHEAD: Bytes = Bytes::kib(128);

/// What programs see of an emulated volume.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase", tag = "kind")]
pub enum Front {
    /// A directory tree without page cache: each request of a program is one modelled request.
    File,
    /// A real filesystem on a loop device: page cache, read-ahead, journal and flushes are real. Needs
    /// root.
    Block {
        /// Which filesystem.
        filesystem: Filesystem,
        /// How far the kernel reads ahead; `None`: 128 KiB, its default for a disk.
        read_ahead: Option<Bytes>,
    },
}

/// Filesystem of a volume in block mode.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Filesystem {
    /// ext4
    #[default]
    Ext4,
    /// XFS
    Xfs,
}

/// How requests reach the emulator.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum TransportChoice {
    /// The `fuser` crate: reads and writes of `/dev/fuse`.
    #[default]
    #[serde(rename = "fuser")]
    Fuser,
    /// FUSE over io_uring; an error if the kernel does not allow it.
    #[serde(rename = "io_uring")]
    IoUring,
}
