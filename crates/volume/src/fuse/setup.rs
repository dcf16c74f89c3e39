//! What is to be emulated, and where.

use std::path::PathBuf;

use crash::{Choice, Rules};
use model::{Bytes, Instant, MachineSpec, VolumeSpec};
use serde::{Deserialize, Serialize};

/// Volumes that share one machine, each mounted at a directory of its own.
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
    /// What becomes of the bytes.
    #[serde(default)]
    pub contents: Contents,
}

/// What becomes of the bytes of an emulation's volumes.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Contents {
    /// They stay in the volumes.
    #[default]
    InPlace,
    /// Block mode only. The volumes' images stay as they are; what is written, and when, is recorded.
    Recorded(RecordSpec),
    /// Block mode only. The volumes begin as those of a recording were when power was cut. No request takes modelled time, and
    /// what is written is gone in the end.
    Crashed(CrashSpec),
}

/// Where writes are recorded, and how many.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RecordSpec {
    /// The directory.
    pub directory: PathBuf,
    /// Most bytes. Where there are more, or the disk is full, recording ends, every later write and flush fails as on a broken disk,
    /// and the recording says up to when it goes.
    pub most: Bytes,
}

/// A crash state of a recording.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CrashSpec {
    /// Directory of the recording. The volumes have the backing directories that they had when it was made.
    pub recording: PathBuf,
    /// How the disks of each volume behave.
    pub rules: Vec<Rules>,
    /// When each volume stops, by the recording's clock.
    pub at: Vec<Instant>,
    /// Which of the open writes it has.
    pub choice: Choice,
    /// A bit that is not as it was written.
    #[serde(default)]
    pub flipped: Option<FlippedBit>,
}

/// A bit of a volume.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FlippedBit {
    /// Place of the volume.
    pub volume: usize,
    /// Its byte.
    pub byte: u64,
    /// The bit within the byte, 0 the lowest, 7 the highest.
    pub bit: u8,
}

/// One emulated volume.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct MountSpec {
    /// The model.
    pub volume: VolumeSpec,
    /// What programs see.
    pub front: Front,
    /// Where it is mounted; it exists and is empty.
    pub directory: PathBuf,
    /// Real directory that holds the bytes; made if missing, and must be empty or this volume's own.
    pub backing: PathBuf,
    /// How large the volume says it is. In block mode, the image's size (a sparse file).
    pub size: Bytes,
    /// User and group that own the volume's root; `None`: who mounts.
    pub owner: Option<(u32, u32)>,
    /// What users besides the owner can do at the volume's root.
    #[serde(default)]
    pub others: Others,
}

/// What users besides its owner and root can do at a volume's root. Of what is in it, each file's own mode says so.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Others {
    /// See what is in it, as at the root of every new file system.
    #[default]
    List,
    /// Pass through it to what they know the name of.
    Pass,
    /// Nothing.
    Nothing,
}

impl Others {
    /// The mode that the root gets; `None`: what it has, since a volume that was used before may have another one.
    pub(super) fn mode(self) -> Option<u32> {
        match self {
            Others::List => None,
            Others::Pass => Some(0o711),
            Others::Nothing => Some(0o700),
        }
    }
}

/// Read-ahead where none is given: the kernel's own for a disk that says nothing about it. A loop
/// device's differs from that with the disk under its image, which is none of a modelled one's.
pub(super) const READ_AHEAD: Bytes = Bytes::kib(128);

/// What programs see of an emulated volume.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase", tag = "kind")]
pub enum Front {
    /// A directory tree without page cache: one request of a program is one modelled request.
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
    /// FUSE over io_uring; an error where the kernel does not allow it.
    #[serde(rename = "io_uring")]
    IoUring,
}
