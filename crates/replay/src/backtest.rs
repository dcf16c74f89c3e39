//! Compares a profile with a replay on the disks that its server reportedly has.

use std::collections::BTreeMap;
use std::fmt;

use model::Duration;
use profile::{Profile, Rates, RequestRates, summary};
use reading::Role;

use super::demand::Demand;
use super::series::{DemandSeries, Period};

/// Maximum deviation of a figure, as a share of the recorded value.
pub const OFF_MAX: f64 = 0.2;

/// The share of all disk wait time from which requests of a kind decide: below it, their latency hardly matters.
const DECIDES_FROM: f64 = 0.05;

/// Results of a replay.
#[derive(Clone, Debug, PartialEq)]
pub struct Replayed {
    /// Operations per second.
    pub operations_per_s: f64,
    /// Requests per second, and their latency.
    pub roles: BTreeMap<Role, Rates>,
}

/// Recorded figures next to simulated ones.
#[derive(Clone, Debug, PartialEq)]
pub struct BackTest {
    /// Figures that both have; operations first, then by role.
    pub figures: Vec<Figure>,
    /// Assumptions made for the replay, as sentences.
    pub assumptions: Vec<String>,
}

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
    /// Whether the profile fits only if this figure does: sessions wait for it.
    pub decides: bool,
}

/// The measure of a figure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Measure {
    /// Operations per second.
    Operations,
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

/// Why a profile probably does not fit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Misfit {
    /// Requests took longer than these disks would take.
    Slower,
    /// Requests completed sooner than these disks could serve them.
    Faster,
    /// Latencies and operations fit, but requests per operation do not.
    Requests,
    /// Latencies fit, but operations do not.
    Otherwise,
}

impl BackTest {
    /// Compares `profile`, whose demand this is, with replays of it that differ only in their seeds.
    ///
    /// # Panics
    /// Without replays.
    pub fn of(profile: &Profile, demand: &DemandSeries, replays: &[Replayed]) -> BackTest {
        assert!(!replays.is_empty(), "a back-test is of replays");
        let summary = summary(profile);
        let recorded: BTreeMap<Role, Rates> = summary
            .roles
            .iter()
            .map(|role| (role.role, role.mean))
            .collect();
        let simulated = |figure: &dyn Fn(&Replayed) -> Option<f64>| {
            let sum: Option<f64> = replays.iter().map(figure).sum();
            Some(sum? / replays.len() as f64)
        };
        let mut figures = Vec::new();
        let mut add = |role, measure, recorded: Option<f64>, simulated: Option<f64>, decides| {
            // Unrecorded figures cannot be compared, and a share of zero is undefined.
            if let (Some(recorded), Some(simulated)) = (recorded.filter(|at| *at > 0.0), simulated)
            {
                figures.push(Figure {
                    role,
                    measure,
                    recorded,
                    simulated,
                    decides,
                });
            }
        };
        let operations = summary.operations.map(|operations| operations.mean);
        let of_replay = simulated(&|replay| Some(replay.operations_per_s));
        add(None, Measure::Operations, operations, of_replay, true);
        for (measure, total) in [
            (Measure::Iops, iops as fn(&Rates) -> Option<f64>),
            (Measure::Throughput, megabytes),
        ] {
            let all = sum(recorded.values(), total);
            // Roles that were not recorded are not replayed either.
            let replayed = simulated(&|replay| {
                let roles = recorded.keys().map(|role| &replay.roles[role]);
                sum(roles, |rates| Some(total(rates).unwrap_or(0.0)))
            });
            add(None, measure, all, replayed, true);
        }
        let waits = Waits::of(demand, &recorded);
        for role in Role::COMMON {
            let Some(rates) = recorded.get(&role) else {
                continue;
            };
            for kind in Kind::ALL {
                let of = |rates: &Rates| kind.rates(rates);
                let decides = waits.decide(role, kind);
                let [count, latency] = kind.measures();
                let replayed = simulated(&|replay| of(&replay.roles[&role]).per_second);
                add(Some(role), count, of(rates).per_second, replayed, decides);
                let ms = |rates: RequestRates| rates.latency.map(Duration::as_millis_f64);
                let replayed = simulated(&|replay| ms(of(&replay.roles[&role])));
                add(Some(role), latency, ms(of(rates)), replayed, decides);
            }
        }
        BackTest {
            figures,
            assumptions: demand.assumptions().to_vec(),
        }
    }

    /// Whether every figure that decides is within [`OFF_MAX`].
    pub fn fits(&self) -> bool {
        self.figures
            .iter()
            .all(|figure| !figure.decides || figure.fits())
    }

    /// Why it probably does not fit, and the figure that shows it: among those that decide, the latency that is furthest off, or
    /// else the rate. `None` where it fits.
    pub fn misfit(&self) -> Option<(Misfit, &Figure)> {
        let furthest = |is_latency: bool| {
            let off = self.figures.iter().filter(|figure| {
                figure.decides && !figure.fits() && figure.measure.is_latency() == is_latency
            });
            off.max_by(|a, b| a.off().abs().total_cmp(&b.off().abs()))
        };
        let by_latency = |figure: &Figure| match figure.off() > 0.0 {
            true => Misfit::Faster,
            false => Misfit::Slower,
        };
        let operations = |figure: &Figure| figure.measure == Measure::Operations;
        let by_rate = || match self.figures.iter().find(|figure| operations(figure)) {
            Some(figure) if !figure.fits() => Misfit::Otherwise,
            Some(_) | None => Misfit::Requests,
        };
        furthest(true)
            .map(|figure| (by_latency(figure), figure))
            .or_else(|| Some((by_rate(), furthest(false)?)))
    }
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

impl Misfit {
    /// The probable cause.
    pub fn reason(self) -> &'static str {
        match self {
            Misfit::Slower => {
                "the server waited longer than these disks take: its disks are slower, burst credits were spent, or other \
                 machines share them"
            }
            Misfit::Faster => {
                "the server was answered sooner than these disks answer: its disks are faster, or a cache answered in \
                 between"
            }
            Misfit::Requests => {
                "the disks' latencies and the operations fit, and the requests do not: other programs' requests were counted, or \
                 the server gathers its requests otherwise"
            }
            Misfit::Otherwise => {
                "the disks' latencies fit, and the rate does not: something else held the server up that was not recorded, \
                 such as locks, or an hour of different loads counts as one"
            }
        }
    }

    /// What to do about it.
    pub fn remedy(self) -> &'static str {
        match self {
            Misfit::Slower => {
                "check disk, size and provisioned rates, try --sustained, or measure a disk (`dbstow calibrate`) and name it \
                 in the layout (--catalogue FILE)"
            }
            Misfit::Faster => {
                "check disk, size and provisioned rates, or measure a disk (`dbstow calibrate`) and name it in the layout \
                 (--catalogue FILE)"
            }
            Misfit::Requests => {
                "record the server itself (`dbstow record`), with the log on a disk that nothing else uses"
            }
            Misfit::Otherwise => {
                "record a time of one kind of load, with sessions (`dbstow record`)"
            }
        }
    }
}

/// A kind of request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Reads,
    Writes,
    Flushes,
}

impl Kind {
    const ALL: [Kind; 3] = [Kind::Reads, Kind::Writes, Kind::Flushes];

    fn rates(self, rates: &Rates) -> RequestRates {
        match self {
            Kind::Reads => rates.reads,
            Kind::Writes => rates.writes,
            Kind::Flushes => rates.flushes,
        }
    }

    /// The measures of their count and latency.
    fn measures(self) -> [Measure; 2] {
        match self {
            Kind::Reads => [Measure::Reads, Measure::ReadLatency],
            Kind::Writes => [Measure::Writes, Measure::WriteLatency],
            Kind::Flushes => [Measure::Flushes, Measure::FlushLatency],
        }
    }
}

/// Time per second that sessions wait for requests of each kind; `None` if not recorded.
struct Waits(Vec<(Role, Kind, Option<f64>)>);

impl Waits {
    fn of(demand: &DemandSeries, recorded: &BTreeMap<Role, Rates>) -> Waits {
        // Requests per second that sessions wait for.
        let per_second = |per_operation: fn(&Demand) -> f64| {
            let of = |period: &Period| {
                let operations = period.operations_per_s * period.length.as_secs_f64();
                per_operation(&period.demand) * operations
            };
            let all: f64 = demand.periods().iter().map(of).sum();
            all / demand.length().as_secs_f64()
        };
        // A commit waits for a write and a flush.
        let commits = per_second(|demand| demand.log.commits_per_operation);
        let waited_for = [
            (
                Role::Data,
                Kind::Reads,
                per_second(|demand| demand.data.reads.per_operation),
            ),
            (
                Role::Data,
                Kind::Writes,
                per_second(|demand| demand.data.writes.per_operation),
            ),
            (
                Role::Temp,
                Kind::Reads,
                per_second(|demand| demand.temp.reads.per_operation),
            ),
            (
                Role::Temp,
                Kind::Writes,
                per_second(|demand| demand.temp.writes.per_operation),
            ),
            (Role::Log, Kind::Writes, commits),
            (Role::Log, Kind::Flushes, commits),
        ];
        let waited = |(role, kind, per_second): (Role, Kind, f64)| {
            let latency = kind.rates(recorded.get(&role)?).latency;
            let waited = latency.map(|latency| per_second * latency.as_secs_f64());
            (per_second > 0.0).then_some((role, kind, waited))
        };
        Waits(waited_for.into_iter().filter_map(waited).collect())
    }

    fn decide(&self, role: Role, kind: Kind) -> bool {
        let all: f64 = self.0.iter().filter_map(|(_, _, waited)| *waited).sum();
        let mut own = self
            .0
            .iter()
            .filter(|wait| (wait.0, wait.1) == (role, kind));
        own.any(|(_, _, waited)| {
            waited.is_some_and(|waited| waited > 0.0 && waited >= DECIDES_FROM * all)
        })
    }
}

/// The sum over roles; `None` if one lacks it.
fn sum<'a>(
    roles: impl Iterator<Item = &'a Rates>,
    of: impl Fn(&Rates) -> Option<f64>,
) -> Option<f64> {
    roles.map(of).sum()
}

fn iops(rates: &Rates) -> Option<f64> {
    either(rates.reads.per_second, rates.writes.per_second)
}

fn megabytes(rates: &Rates) -> Option<f64> {
    let bytes = either(rates.reads.bytes_per_second, rates.writes.bytes_per_second)?;
    Some(bytes / 1e6)
}

/// The sum of the known values.
fn either(a: Option<f64>, b: Option<f64>) -> Option<f64> {
    a.or(b)?;
    Some(a.unwrap_or(0.0) + b.unwrap_or(0.0))
}

#[cfg(test)]
mod tests;
