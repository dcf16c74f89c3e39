//! Findings from records: estimates, comparisons with a verdict, the reason, and warnings.
//!
//! `document` and `comparison` are the document that `--format json` prints (`schema/findings.schema.json`); the terminal table and
//! CSV use the same values, so that no figure is computed twice.

mod advice;
mod agreement;
mod bound;
mod bound_by;
mod burst;
mod cheapest;
mod checkpoint;
mod compared;
mod comparison;
mod conditions;
mod curves;
mod default_decides;
mod diagnosis;
mod disks;
mod document;
mod environment;
mod in_question;
mod inconclusive;
mod limits;
mod local_data;
mod make;
mod metrics;
mod no_write_back;
mod not_as_asked;
mod not_exercised;
mod number_of_files;
mod one_writer;
mod published;
mod reason;
mod same_disk;
mod split;
mod stress;
mod survived;
mod sweeps;
mod timing;
mod too_little_io;
mod trials;
mod unknown;
mod warnings;
mod withheld;

pub use bound_by::BoundBy;
pub use comparison::{
    Comparison, NoiseFloor, Ratio, StopsHelping, Unknown, UnknownCause, Verdict, Withheld,
};
pub use curves::{Chart, Curves, Dots, DotsOfArm, Line, Span, curves};
pub(crate) use curves::{POINTS_MAX, extremes};
pub use document::{
    Agreement, Arm, ArmVolume, Cheapest, CheapestSustained, Counted, Disk, Engine, Findings,
    Latency, Lateness, Metric, PublishedPoint, SCHEMA, Undecided, Utilisation,
};
pub use experiment::question::{
    ArmQuestion, Fitted, Published, Question, SweepValue, Warning, twin_of,
};
pub use make::make;
pub(crate) use metrics::better;
pub(crate) use reason::without_next;
pub(crate) use split::Family;
pub use survived::Survived;
