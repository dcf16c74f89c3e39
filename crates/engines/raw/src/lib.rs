//! The raw engine: plain reads, writes and flushes of one size, mix and depth, to measure a volume alone.
//!
//! ```text
//! RawSpec ─► simulate: a closed loop over model::Storage, in virtual time ─┐
//!        └─► Files::lay_out ─► measure: fio on real files ─────────────────┼─► RawOutcome ─► Record
//! Profile ─► Files::lay_out ─► play: fio, at the recorded rates ────────────┘
//! ```

mod error;
mod job;
mod outcome;
mod provider;
mod simulate;

// On real files, by fio.
#[cfg(feature = "fio")]
mod fio;
#[cfg(feature = "fio")]
mod measure;
#[cfg(feature = "fio")]
mod output;
#[cfg(feature = "fio")]
mod recorded;

pub use error::RawError;
#[cfg(feature = "fio")]
pub use fio::Fio;
pub use job::{Pattern, RawSpec, SyncSpec, Window};
#[cfg(feature = "fio")]
pub use measure::{Files, measure};
pub use outcome::{RawOutcome, Tally};
pub use provider::Provider;
#[cfg(not(feature = "fio"))]
pub use provider::WITHOUT_FIO;
#[cfg(feature = "fio")]
pub use recorded::{RawRecording, RoleFiles, play};
pub use simulate::simulate;

/// Whether `text` is what fio prints; for its fuzz target.
///
/// # Errors
/// When it cannot be parsed, or fio reported an error.
#[cfg(feature = "fio")]
#[doc(hidden)]
pub fn check_output(text: &str) -> Result<(), RawError> {
    output::read("of a test", text).map(drop)
}
