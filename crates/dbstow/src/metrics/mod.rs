//! Counters of a run, a mount or a recording while it goes on, as families of metrics in OpenMetrics.
//!
//! ```text
//! readings of disks ──► totals ──► volumes ─┐
//! events of a run ──────────────► run ──────┼─► samples ──► text
//! intervals of a server ────────► server ───┘
//! ```
//!
//! Nothing here waits, prints or opens anything: `command/publish` asks for samples once a second.

mod buckets;
mod family;
mod run;
mod server;
mod text;
mod totals;
mod volumes;

pub use buckets::{BOUNDS_S, Latency};
pub use family::{FAMILIES, Family, Kind, Scope, family};
pub use run::RunMetrics;
pub use server::ServerMetrics;
pub use text::{openmetrics, prometheus};
pub use totals::{ClockKind, Totals};

/// What stands in a label for all that is past the number of values that a label may have.
pub const OTHER: &str = "other";

/// A label and its value.
pub type Label = (&'static str, String);

/// One member of a family at an instant.
#[derive(Clone, Debug, PartialEq)]
pub struct Sample {
    /// Name of the family, see [`FAMILIES`].
    pub family: &'static str,
    /// Its labels, in the order of the family's.
    pub labels: Vec<Label>,
    /// How much.
    pub value: Value,
}

/// How much.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// Of a counter in whole numbers.
    Count(u64),
    /// Of any other counter, and of a gauge.
    Number(f64),
    /// Of a histogram.
    Latency(Latency),
    /// Of an info: its labels say all.
    Info,
}

impl Sample {
    /// A member of the family called `family`.
    ///
    /// # Panics
    /// When there is no such family, or its labels are others.
    pub fn new(family: &'static str, labels: Vec<Label>, value: Value) -> Sample {
        let known = self::family(family);
        let names = labels.iter().map(|(name, _)| *name);
        assert!(
            names.eq(known.labels.iter().copied()),
            "{family} has the labels {:?}, not {labels:?}",
            known.labels
        );
        Sample {
            family,
            labels,
            value,
        }
    }
}

/// What every process says of itself.
pub fn build() -> Vec<Sample> {
    let version = ("version", env!("CARGO_PKG_VERSION").to_owned());
    vec![Sample::new("dbstow_build", vec![version], Value::Info)]
}
