//! The interface between transports, which carry requests, and fronts, which know the files they belong to.

use model::Instant;

/// An `errno` for the calling program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Errno(pub i32);

/// A request executed on the real file; the reply must be sent at `due`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Done {
    /// Bytes read or written.
    pub length: usize,
    /// When the modelled disk is done; `None`: the request costs nothing and is answered at once.
    pub due: Option<Instant>,
}

/// Reads, writes and flushes of open files: what is paced, and what a fast transport carries itself.
/// A front answers everything else through [`fuser::Filesystem`].
///
/// Calls come from several threads, and return once the real file is done, not when the model is: they never sleep.
pub trait DataPath: Send + Sync {
    /// Reads into `buffer`; less than its length only at the end of the file.
    ///
    /// # Errors
    /// The error of the real file, or `ESTALE` for a handle that is not open.
    fn read(&self, handle: u64, offset: u64, buffer: &mut [u8]) -> Result<Done, Errno>;

    /// Writes all of `data`.
    ///
    /// # Errors
    /// The error of the real file, or `ESTALE` for a handle that is not open.
    fn write(&self, handle: u64, offset: u64, data: &[u8]) -> Result<Done, Errno>;

    /// Makes what was written durable; its size and times too unless `data_only`.
    ///
    /// # Errors
    /// The error of the real file, or `ESTALE` for a handle that is not open.
    fn sync(&self, handle: u64, data_only: bool) -> Result<Done, Errno>;
}
