//! Figures of a back-test: recorded, and replayed.

use std::fmt;

use reading::Role;

use crate::parts::TimePart;

/// Maximum deviation of a figure, as a share of the recorded value.
pub const OFF_MAX: f64 = 0.2;

/// A figure, recorded and simulated.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Figure {
    /// Scope: files of one role, or all.
    pub role: Option<Role>,
    /// What it is.
    pub measure: Measure,
    /// Recorded value; above 0.
    pub recorded: f64,
    /// Mean over the replays.
    pub simulated: f64,
    /// Whether sessions wait for it, so that it is a detail that matters.
    pub decides: bool,
    /// Of requests of one kind: their share of the time that sessions wait for disks, 0 to 1; `None`: of all requests, or their
    /// latency was not recorded.
    pub waited: Option<f64>,
}

/// The measure of a figure.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Measure {
    /// Operations per second.
    Operations,
    /// Mean time of an operation, in milliseconds.
    OperationTime,
    /// Reads and writes per second.
    Iops,
    /// Megabytes per second, read and written.
    Throughput,
    /// Reads per second.
    Reads,
    /// Mean latency of reads, in milliseconds.
    ReadLatency,
    /// Writes per second.
    Writes,
    /// Mean latency of writes, in milliseconds.
    WriteLatency,
    /// Flushes per second.
    Flushes,
    /// Mean latency of flushes, in milliseconds.
    FlushLatency,
}

impl Figure {
    /// Relative deviation of the simulated figure from the recorded one.
    pub fn off(&self) -> f64 {
        self.simulated / self.recorded - 1.0
    }

    /// Whether it is within [`OFF_MAX`].
    pub fn fits(&self) -> bool {
        self.off().abs() <= OFF_MAX
    }
}

impl Measure {
    /// Whether it is a latency.
    pub fn is_latency(self) -> bool {
        match self {
            Measure::ReadLatency | Measure::WriteLatency | Measure::FlushLatency => true,
            Measure::Operations
            | Measure::OperationTime
            | Measure::Iops
            | Measure::Throughput
            | Measure::Reads
            | Measure::Writes
            | Measure::Flushes => false,
        }
    }
}

impl fmt::Display for Measure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Measure::Operations => "operations/s",
            Measure::OperationTime => "operation ms",
            Measure::Iops => "IOPS",
            Measure::Throughput => "MB/s",
            Measure::Reads => "reads/s",
            Measure::ReadLatency => "read ms",
            Measure::Writes => "writes/s",
            Measure::WriteLatency => "write ms",
            Measure::Flushes => "flushes/s",
            Measure::FlushLatency => "flush ms",
        })
    }
}

/// Something that is off.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Detail {
    /// A figure.
    Figure(Figure),
    /// The share of a part in the time of an operation.
    Share {
        /// Which part.
        part: TimePart,
        /// Its recorded share, 0 to 1.
        recorded: f64,
        /// Its share in the replay.
        simulated: f64,
    },
    /// What a part takes of an operation.
    Time {
        /// Which part.
        part: TimePart,
        /// Seconds, as recorded.
        recorded_s: f64,
        /// Seconds, in the replay.
        simulated_s: f64,
    },
}

impl Detail {
    /// The part of an operation's time that it is about.
    pub fn part(&self) -> Option<TimePart> {
        match self {
            Detail::Figure(_) => None,
            Detail::Share { part, .. } | Detail::Time { part, .. } => Some(*part),
        }
    }

    /// How far it is off: a figure as a share of the recorded one, a share in points, a time in seconds.
    pub fn off(&self) -> f64 {
        match self {
            Detail::Figure(figure) => figure.off(),
            Detail::Share {
                recorded,
                simulated,
                ..
            } => simulated - recorded,
            Detail::Time {
                recorded_s,
                simulated_s,
                ..
            } => simulated_s - recorded_s,
        }
    }
}

impl fmt::Display for Detail {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Detail::Figure(figure) => {
                if let Some(role) = figure.role {
                    write!(f, "{role} ")?;
                }
                write!(
                    f,
                    "{} is {:+.0} % off",
                    figure.measure,
                    100.0 * figure.off()
                )
            }
            Detail::Share {
                part,
                recorded,
                simulated,
            } => write!(
                f,
                "{part} is {:.0} % of an operation's time, and {:.0} % in the replay",
                100.0 * recorded,
                100.0 * simulated
            ),
            Detail::Time {
                part,
                recorded_s,
                simulated_s,
            } => write!(
                f,
                "{part} takes {:.2} ms of an operation, and {:.2} ms in the replay",
                1e3 * recorded_s,
                1e3 * simulated_s
            ),
        }
    }
}
