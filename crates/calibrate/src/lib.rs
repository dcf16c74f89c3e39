//! From measurements of a volume to a catalogue entry that behaves like it.
//!
//! ```text
//! sweep: which jobs, one after the other ─► samples ─► fit ─► entry (TOML) ─► model::DiskSpec
//!                                              └────────────► check: the same jobs on that disk
//! ```
//!
//! [`CalibrationRequest`] runs all of it on a directory, with fio. [`sweep`] itself does not depend on what runs the jobs: fio, or the
//! model in tests.

mod check;
mod entry;
mod fit;
mod job;
mod request;
mod sweep;
mod view;

pub use check::{Agreement, DEVIATION_MAX, Figures, check};
pub use entry::{About, EntryError, disk_of, entry};
pub use fit::{Fitted, Rates, fit};
pub use job::{Job, LARGE, Purpose, SMALL, Sample, Side};
pub use request::{CalibrateError, Calibration, CalibrationRequest, Step};
pub use sweep::{JOBS_MAX, Runner, sweep};
