//! The load on a layout: a profile's demand, in parts of similar intensity.
//!
//! What disks do depends on how busy they are. Twelve steady parts show that with few simulated requests, and run in parallel; the
//! series in its order would take as long as its quiet hours. In return, the effects of one interval on the next are not simulated.

use model::Bytes;
use model::cores::Speed;
use profile::Profile;
use reading::Role;
use replay::{Access, Demand, DemandError, DemandSeries, Each};

/// Number of parts that a profile's time is divided into, by how busy it was.
const PARTS: u32 = 12;

/// The load on a layout.
#[derive(Clone, Debug, PartialEq)]
pub struct Load {
    /// Never empty.
    pub parts: Vec<Part>,
    /// Operations per second, on average over the recorded time; what is paid by request goes by it.
    pub operations_per_s: f64,
}

/// Intervals of similar load, as one steady demand.
#[derive(Clone, Debug, PartialEq)]
pub struct Part {
    /// Share of all operations.
    pub share: f64,
    /// Demand of one operation, and the number of sessions.
    pub demand: Demand,
}

impl Load {
    /// The demand of a profile.
    ///
    /// # Errors
    /// When the profile lacks data that a demand needs.
    pub fn of(profile: &Profile) -> Result<Load, DemandError> {
        Ok(Load::of_series(&DemandSeries::by_load(profile, PARTS)?))
    }

    /// Each period of a series as a part.
    pub fn of_series(series: &DemandSeries) -> Load {
        let periods = series.periods().iter();
        let operations =
            periods.map(|period| period.operations_per_s * period.length.as_secs_f64());
        let operations: Vec<f64> = operations.collect();
        let all: f64 = operations.iter().sum();
        let parts = series.periods().iter().zip(operations);
        let parts = parts.map(|(period, operations)| Part {
            share: operations / all,
            demand: period.demand.clone(),
        });
        let length_s = series.periods().iter();
        let length_s: f64 = length_s.map(|period| period.length.as_secs_f64()).sum();
        Load {
            parts: parts.collect(),
            operations_per_s: all / length_s,
        }
    }

    /// Sessions of the part that has the most.
    pub fn sessions_max(&self) -> u32 {
        let sessions = self.parts.iter().map(|part| part.demand.sessions);
        sessions.max().unwrap_or(1)
    }

    /// The load on processors of this speed.
    pub(crate) fn on(&self, speed: Speed) -> Load {
        let mut load = self.clone();
        for part in &mut load.parts {
            part.demand.processor = speed.time(part.demand.processor);
        }
        load
    }

    /// The load with `factor` times the sessions.
    pub fn grown(&self, factor: f64) -> Load {
        let mut grown = self.clone();
        for part in &mut grown.parts {
            part.demand.sessions = grown_sessions(part.demand.sessions, factor);
        }
        grown.operations_per_s *= factor;
        grown
    }
}

/// `factor` times the sessions, rounded up except for floating-point error of the product.
pub(crate) fn grown_sessions(sessions: u32, factor: f64) -> u32 {
    ((f64::from(sessions) * factor - 1e-6).ceil() as u32).max(1)
}

/// Requests of an operation, of one kind.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Requests {
    /// Whether they read.
    pub(crate) reads: bool,
    /// Minimum count: sessions that commit at the same time share a log write.
    pub(crate) per_operation: f64,
    /// Maximum count: each commit has its own write.
    pub(crate) most: f64,
    /// Minimum bytes of all of them.
    pub(crate) bytes: f64,
    /// Maximum bytes of all of them: each log write fills its pages.
    pub(crate) most_bytes: f64,
    /// Minimum bytes of one that is waited for.
    pub(crate) size: Bytes,
    /// How many of them the operation waits for, one after the other.
    pub(crate) waited: f64,
    /// Flushes that it waits for.
    pub(crate) flushes: f64,
}

/// Demand of an operation on the files of a role.
pub(crate) fn requests(demand: &Demand, role: Role) -> Vec<Requests> {
    let of = |reads, each: Each, is_waited: bool| Requests {
        reads,
        per_operation: each.per_operation,
        most: each.per_operation,
        bytes: each.per_operation * each.size.0 as f64,
        most_bytes: each.per_operation * each.size.0 as f64,
        size: each.size,
        waited: if is_waited { each.per_operation } else { 0.0 },
        flushes: 0.0,
    };
    let access = |access: &Access| {
        vec![
            of(true, access.reads, true),
            of(true, access.background_reads, false),
            of(false, access.writes, true),
            of(false, access.background_writes, false),
        ]
    };
    let mut all = match role {
        Role::Data => access(&demand.data),
        Role::Temp => access(&demand.temp),
        Role::Log => {
            let log = &demand.log;
            let commits = log.commits_per_operation;
            // At most one per session at the same time.
            let writes = commits / f64::from(demand.sessions);
            let bytes = match commits > 0.0 {
                true => log.bytes_per_operation,
                false => 0.0,
            };
            vec![Requests {
                reads: false,
                per_operation: writes,
                most: commits,
                bytes,
                most_bytes: bytes + commits * log.page.0 as f64,
                size: Bytes(bytes as u64),
                waited: commits,
                flushes: if log.is_flushed { commits } else { 0.0 },
            }]
        }
        // Profiles do not record these.
        Role::Binlog | Role::Undo | Role::Doublewrite => Vec::new(),
    };
    all.retain(|requests| requests.per_operation > 0.0);
    all
}
