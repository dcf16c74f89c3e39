//! The raw engine: plain reads, writes and flushes of one size, mix and depth, to measure a volume alone.
//!
//! ```text
//! RawSpec ─► simulate: a closed loop over model::Storage, in virtual time ─┐
//!        └─► Files::lay_out ─► measure: fio on real files ─────────────────┼─► RawOutcome ─► Record
//! Profile ─► Files::lay_out ─► play: fio, at the recorded rates ────────────┘
//! ```

mod error;
mod fio;
mod job;
mod measure;
mod outcome;
mod output;
mod provider;
mod recorded;
mod simulate;

pub use error::RawError;
pub use fio::Fio;
pub use job::{Pattern, RawSpec, SyncSpec, Window};
pub use measure::{Files, measure};
pub use outcome::{RawOutcome, Tally};
pub use provider::Provider;
pub use recorded::{RawRecording, RoleFiles, play};
pub use simulate::simulate;

/// Whether `text` is what fio prints; for its fuzz target.
///
/// # Errors
/// When it cannot be parsed, or fio reported an error.
#[doc(hidden)]
pub fn check_output(text: &str) -> Result<(), RawError> {
    output::read("of a test", text).map(drop)
}
