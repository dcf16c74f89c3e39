//! Why plain I/O could not be run.

use std::io;
use std::path::PathBuf;

use files::FileError;
use model::Bytes;
use reading::Role;

/// What was wrong, where, and what to do about it.
#[derive(Debug, thiserror::Error)]
pub enum RawError {
    /// A parameter that makes no sense.
    #[error("workload parameter \"{name}\" is {given}, which is not {wanted}")]
    Parameter {
        /// Which one.
        name: &'static str,
        /// What it says.
        given: String,
        /// What it may be.
        wanted: &'static str,
    },
    /// A directory in which others could replace a file.
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
        /// At each of them.
        depth: u32,
        /// What is possible.
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
        /// What is possible.
        most: Bytes,
    },
    /// A profile that does not say how large requests are.
    #[error(
        "the profile counts requests for {0}, but not their bytes; record with a tool that counts both"
    )]
    NoSizes(Role),
    /// A profile, files and time that take more jobs than fio has.
    #[error(
        "making these requests takes {jobs} jobs of fio, which has {most} at most; give a shorter workload.duration, or use \
         fewer files"
    )]
    TooManyJobs {
        /// How many.
        jobs: usize,
        /// What is possible.
        most: usize,
    },
    /// No fio on this machine.
    #[error(
        "fio, which runs plain I/O, was not found in PATH ({0}); install it (Debian and Ubuntu: apt-get install fio, macOS: brew install fio)"
    )]
    NoFio(io::Error),
    /// fio has none of the ways to do asynchronous I/O that are known here.
    #[error(
        "this fio ({version}) has none of the I/O engines {wanted}; install the package of the distribution"
    )]
    NoIoEngine {
        /// Its version.
        version: String,
        /// What was looked for.
        wanted: String,
    },
    /// fio refused, or came to a bad end.
    #[error("fio failed ({status}) at {what}: {why}")]
    Failed {
        /// Its exit status.
        status: String,
        /// What it was at.
        what: String,
        /// Its own words.
        why: String,
    },
    /// fio's output is not what is known.
    #[error("the output of fio {what} cannot be read: {why}")]
    Output {
        /// What it was at.
        what: String,
        /// Where it goes wrong.
        why: String,
    },
    /// Files would not fit.
    #[error("{} has {free} free, but {needed} are needed; make room or ask for less", directory.display())]
    Space {
        /// Where.
        directory: PathBuf,
        /// What the files take.
        needed: Bytes,
        /// What is there.
        free: Bytes,
    },
    /// A file of another run is there.
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
    /// What `source` says of `path`.
    pub(crate) fn at(path: impl Into<PathBuf>) -> impl FnOnce(io::Error) -> RawError {
        let path = path.into();
        move |source| RawError::Io { path, source }
    }
}
