//! Live counters of a run, a mount or a recording, as families of metrics in OpenMetrics.
//!
//! ```text
//! readings of disks ──► totals ──► volumes ─┐
//! events of a run ──────────────► run ──────┼─► samples ──► text
//! intervals of a server ────────► server ───┘
//! ```
//!
//! Nothing here waits, prints or opens anything: `command/publish` collects samples once a second. Values are sums over
//! trials, so that counters only grow.

mod buckets;
mod family;
mod run;
mod server;
#[cfg(feature = "metrics")]
mod text;
mod totals;
mod volumes;

pub use buckets::{BOUNDS_S, Latency};
pub use family::{FAMILIES, Family, Kind, Scope, family};
pub use run::RunMetrics;
pub use server::ServerMetrics;
#[cfg(feature = "metrics")]
pub use text::TextFormat;
pub use totals::{ClockKind, Totals};

/// The label value that collects everything beyond the maximum number of values of a label.
pub const OTHER: &str = "other";

/// A label and its value.
pub type Label = (&'static str, String);

/// A member of a family at a point in time.
#[derive(Clone, Debug, PartialEq)]
pub struct Sample {
    /// Name of the family, see [`FAMILIES`].
    pub family: &'static str,
    /// Its labels, in the order of the family's.
    pub labels: Vec<Label>,
    /// Its value.
    pub value: Value,
}

/// A value.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// Of an integer counter.
    Count(u64),
    /// Of any other counter, and of a gauge.
    Number(f64),
    /// Of a histogram.
    Latency(Latency),
    /// Of an info: its labels contain everything.
    Info,
}

impl Sample {
    /// A member of the family called `family`.
    ///
    /// # Panics
    /// When the family does not exist, or has other labels.
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

/// Information about the process, exported by every one.
pub fn build() -> Vec<Sample> {
    let version = ("version", env!("CARGO_PKG_VERSION").to_owned());
    vec![Sample::new("dbstow_build", vec![version], Value::Info)]
}
