//! Why plain I/O could not be run.

use std::io;
use std::path::PathBuf;

use files::FileError;
use model::Bytes;
use reading::Role;

/// The error, its location and the remedy.
#[derive(Debug, thiserror::Error)]
pub enum RawError {
    /// An invalid parameter.
    #[error("workload parameter \"{name}\" is {given}, which is not {wanted}")]
    Parameter {
        /// Which one.
        name: &'static str,
        /// What it says.
        given: String,
        /// What it may be.
        wanted: &'static str,
    },
    /// A directory in which other users could replace a file.
    #[error(transparent)]
    File(FileError),
    /// A run that ends after a number of operations.
    #[error(
        "the raw engine runs for a time, not for {0} operations; set workload.duration in the place of workload.operations"
    )]
    Operations(u64),
    /// A modelled disk without any limit or latency.
    #[error(
        "a request takes no time on volume \"{0}\", so it would be asked for ever; give its disk a limit or a latency"
    )]
    Timeless(String),
    /// More requests in flight than can be modelled.
    #[error(
        "{files} files with {depth} requests in flight each are more than {most} in all; use fewer files, or a smaller \"depth\""
    )]
    TooMany {
        /// Data files.
        files: usize,
        /// Requests in flight per file.
        depth: u32,
        /// The maximum.
        most: u64,
    },
    /// Larger files than can be modelled.
    #[error(
        "{files} files of {span} are larger than the {most} that can be modelled; use fewer files, or a smaller \"span\""
    )]
    TooLarge {
        /// Data files.
        files: usize,
        /// The size of each.
        span: Bytes,
        /// The maximum.
        most: Bytes,
    },
    /// A profile without request sizes.
    #[error(
        "the profile counts requests for {0}, but not their bytes; record with a tool that counts both"
    )]
    NoSizes(Role),
    /// A profile, files and time that require more jobs than fio supports.
    #[error(
        "making these requests takes {jobs} jobs of fio, which has {most} at most; give a shorter workload.duration, or use \
         fewer files"
    )]
    TooManyJobs {
        /// How many.
        jobs: usize,
        /// The maximum.
        most: usize,
    },
    /// No fio on this machine.
    #[error(
        "fio, which runs plain I/O, was not found in PATH ({0}); install it (Debian and Ubuntu: apt-get install fio, macOS: brew install fio)"
    )]
    NoFio(io::Error),
    /// fio has none of the supported I/O engines.
    #[error(
        "this fio ({version}) has none of the I/O engines {wanted}; install the package of the distribution"
    )]
    NoIoEngine {
        /// Its version.
        version: String,
        /// What was looked for.
        wanted: String,
    },
    /// fio failed.
    #[error("fio failed ({status}) at {what}: {why}")]
    Failed {
        /// Its exit status.
        status: String,
        /// The task.
        what: String,
        /// fio's error text.
        why: String,
    },
    /// fio's output is not in the expected format.
    #[error("the output of fio {what} cannot be read: {why}")]
    Output {
        /// The task.
        what: String,
        /// The parse error.
        why: String,
    },
    /// Files would not fit.
    #[error("{} has {free} free, but {needed} are needed; make room or ask for less", directory.display())]
    Space {
        /// Where.
        directory: PathBuf,
        /// Required space.
        needed: Bytes,
        /// Free space.
        free: Bytes,
    },
    /// A file of another run exists.
    #[error("{} is there already: another run is at work, or one was killed; then remove it", .0.display())]
    Exists(PathBuf),
    /// A file or directory cannot be used.
    #[error("{}: {source}", path.display())]
    Io {
        /// Which one.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// It was stopped from outside.
    #[error("cancelled")]
    Cancelled,
}

impl RawError {
    /// The error `source` at `path`.
    #[cfg(feature = "fio")]
    pub(crate) fn at(path: impl Into<PathBuf>) -> impl FnOnce(io::Error) -> RawError {
        let path = path.into();
        move |source| RawError::Io { path, source }
    }
}
