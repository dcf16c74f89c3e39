//! Compares a profile with a replay on the disks that its server reportedly has.

mod evidence;
mod figure;
mod fit;
mod notices;
mod reason;
mod waits;

use std::collections::BTreeMap;
use std::ops::Add;

use model::split::Spent;
use model::{Duration, MachineSpec, Operation, VolumeSpec};
use profile::{Profile, Rates, RequestRates, summary};
use reading::Role;

use super::own_disks::{OwnLatency, Served, UntimedLog};
use super::parts::{Parts, TimePart};
use super::replay::{Outcome, Places, Service};
use super::series::{DemandSeries, Period, log_writer_of};
use evidence::Evidence;
use waits::{DECIDES_FROM, Kind, Waits};

pub use evidence::Reason;
pub use figure::{Detail, Figure, Measure, OFF_MAX};
pub use fit::Fit;

/// Results of a replay.
#[derive(Clone, Debug, PartialEq)]
pub struct Replayed {
    /// Operations per second.
    pub operations_per_s: f64,
    /// Requests per second, and their latency.
    pub roles: BTreeMap<Role, Rates>,
    /// Mean time that requests took in the disks themselves.
    pub service: BTreeMap<Role, Service>,
    /// An operation's time, by what its session waits for, without delays.
    pub parts: Parts,
    /// The delay between operations, in seconds.
    pub delay_s: f64,
}

impl Replayed {
    /// From a replay's outcome.
    pub fn of(outcome: &Outcome) -> Replayed {
        let think = |(spent, time): (Spent, Duration)| (spent == Spent::Think).then_some(time);
        let delay: Duration = outcome.split.iter().filter_map(think).sum();
        Replayed {
            operations_per_s: outcome.operations_per_s(),
            roles: Role::COMMON.map(|role| (role, outcome.rates(role))).into(),
            service: outcome.service.clone(),
            parts: outcome.parts,
            delay_s: delay.as_secs_f64() / (outcome.operations as f64).max(1.0),
        }
    }
}

/// Recorded figures next to simulated ones.
#[derive(Clone, Debug, PartialEq)]
pub struct BackTest {
    /// Figures that both have; operations first, then by role.
    pub figures: Vec<Figure>,
    /// An operation's time by what its session waits for, recorded and simulated; `None` if it was not recorded.
    pub parts: Option<[Parts; 2]>,
    /// An operation's time in the replay, by what its session waits for.
    pub simulated: Parts,
    /// The replayed delay between operations, in seconds.
    pub delay_s: f64,
    /// What was unusual while it was recorded, as sentences; more important than the figures.
    pub notices: Vec<String>,
    /// Assumptions made for the replay, as sentences.
    pub assumptions: Vec<String>,
    /// The volumes that it was replayed on.
    pub volumes: Vec<VolumeSpec>,
    /// Latencies of their disks that were recorded, in place of the declared ones.
    pub own_latencies: Vec<OwnLatency>,
    /// Whether burst credits ran out while it was recorded.
    pub ran_out: bool,
    /// What tells one reason of a misfit from another.
    evidence: Evidence,
}

impl BackTest {
    /// Compares `profile`, whose demand this is, with replays of it on `machine` and `volumes` that differ only in their seeds.
    ///
    /// # Panics
    /// Without replays.
    pub fn of(
        profile: &Profile,
        demand: &DemandSeries,
        replays: &[Replayed],
        (machine, volumes): (&MachineSpec, &[VolumeSpec]),
    ) -> BackTest {
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
        let mut add = |of: (Option<Role>, Measure), recorded: Option<f64>, simulated, waited| {
            // Unrecorded figures cannot be compared, and a share of zero is undefined.
            if let (Some(recorded), Some(simulated)) = (recorded.filter(|at| *at > 0.0), simulated)
            {
                let (role, measure) = of;
                figures.push(Figure {
                    role,
                    measure,
                    recorded,
                    simulated,
                    decides: role.is_none() || waited >= Some(DECIDES_FROM),
                    waited,
                });
            }
        };
        let operations = summary.operations.map(|operations| operations.mean);
        let of_replay = simulated(&|replay| Some(replay.operations_per_s));
        add((None, Measure::Operations), operations, of_replay, None);
        let parts = parts(profile, demand, replays);
        let [recorded_ms, simulated_ms] = match &parts {
            Some(parts) => parts.map(|parts| Some(parts.total() * 1e3)),
            None => [None, None],
        };
        let of_time = (None, Measure::OperationTime);
        add(of_time, recorded_ms, simulated_ms, None);
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
            add((None, measure), all, replayed, None);
        }
        let waits = Waits::of(demand, &recorded);
        for role in Role::COMMON {
            let Some(rates) = recorded.get(&role) else {
                continue;
            };
            for kind in Kind::ALL {
                let of = |rates: &Rates| kind.rates(rates);
                let waited = waits.share(role, kind);
                let [count, latency] = kind.measures();
                let replayed = simulated(&|replay| of(&replay.roles[&role]).per_second);
                let recorded = of(rates).per_second;
                add((Some(role), count), recorded, replayed, waited);
                let ms = |rates: RequestRates| rates.latency.map(Duration::as_millis_f64);
                let replayed = simulated(&|replay| ms(of(&replay.roles[&role])));
                add((Some(role), latency), ms(of(rates)), replayed, waited);
            }
        }
        let notices = notices::of(profile, machine);
        let log_write = |replay: &Replayed| replay.roles[&Role::Log].writes.latency;
        BackTest {
            evidence: Evidence {
                service: service(replays),
                log_write_ms: simulated(&|replay| log_write(replay).map(Duration::as_millis_f64)),
                bursts: volumes.iter().any(bursts),
                is_busy: notices::is_busy(profile, machine),
                as_recorded: false,
                commits_lacking: log_writer_of(profile).commits_lacking(profile),
            },
            figures,
            parts,
            simulated: mean_parts(replays),
            delay_s: mean_delay_s(replays),
            notices,
            assumptions: demand.assumptions().to_vec(),
            volumes: volumes.to_vec(),
            own_latencies: Vec::new(),
            ran_out: false,
        }
    }

    /// Latencies of the disks that this recording shows, in place of the declared ones: of requests that sessions wait for, and
    /// that nothing but the disk held up.
    pub fn latencies_of_disks(&self, places: &Places) -> Vec<OwnLatency> {
        let find = |role, measure| {
            let mut figures = self.figures.iter();
            figures.find(move |figure| (figure.role, figure.measure) == (Some(role), measure))
        };
        let mut served = Vec::new();
        for role in Role::COMMON {
            for (operation, count, latency) in [
                (Operation::Read, Measure::Reads, Measure::ReadLatency),
                (Operation::Write, Measure::Writes, Measure::WriteLatency),
                (Operation::Flush, Measure::Flushes, Measure::FlushLatency),
            ] {
                let service = self.evidence.service.get(&(role, latency));
                if let (Some(count), Some(took), Some(service)) =
                    (find(role, count), find(role, latency), service)
                    && took.decides
                {
                    served.push(Served {
                        role,
                        operation,
                        per_second: count.recorded,
                        recorded_ms: took.recorded,
                        simulated_ms: took.simulated,
                        service_ms: *service,
                    });
                }
            }
        }
        let mut all = OwnLatency::all(&served, places, &self.volumes);
        let log = self.untimed_log();
        all.extend(log.and_then(|log| OwnLatency::implied(&log, places, &self.volumes)));
        all
    }

    /// Volumes and operations whose latency was recorded, of requests that sessions wait for: what is known of these disks.
    pub fn timed(&self, places: &Places) -> Vec<(usize, Operation)> {
        let mut all = Vec::new();
        for figure in self.figures.iter().filter(|figure| figure.decides) {
            let operation = match figure.measure {
                Measure::ReadLatency => Operation::Read,
                Measure::WriteLatency => Operation::Write,
                Measure::FlushLatency => Operation::Flush,
                _ => continue,
            };
            let volumes = figure.role.map_or(&[][..], |role| places.of(role));
            all.extend(volumes.iter().map(|volume| (*volume, operation)));
        }
        let implied = self.own_latencies.iter();
        all.extend(implied.map(|own| (own.volume, own.operation)));
        all
    }

    /// The log, if sessions were seen waiting for it, and the server timed neither its writes nor its flushes.
    fn untimed_log(&self) -> Option<UntimedLog> {
        let is_timed = |figure: &Figure| {
            let timed = [Measure::WriteLatency, Measure::FlushLatency];
            figure.role == Some(Role::Log) && timed.contains(&figure.measure)
        };
        let [recorded, simulated] = self.parts?;
        let service = |measure| self.evidence.service.get(&(Role::Log, measure)).copied();
        (!self.figures.iter().any(is_timed)).then_some(UntimedLog {
            recorded: recorded[TimePart::Log],
            simulated: simulated[TimePart::Log],
            write_ms: self.evidence.log_write_ms?,
            write_service_ms: service(Measure::WriteLatency)?,
            flush_service_ms: service(Measure::FlushLatency)?,
        })
    }

    /// How long an operation took when it was recorded, as a share of its time in the replay; above 0. Where its time was not
    /// recorded, it follows from the rate: as many sessions, and as long between operations, as in the replay. `None` where the rate
    /// is not known, or where the delay between operations alone would explain it.
    pub fn recorded_time(&self) -> Option<f64> {
        if let Some([recorded, simulated]) = self.parts {
            let share = recorded.total() / simulated.total();
            return (share > 0.0 && share.is_finite()).then_some(share);
        }
        let mut figures = self.figures.iter();
        let operations = figures.find(|figure| figure.measure == Measure::Operations)?;
        let simulated_s = self.simulated.total();
        let cycle_s = (simulated_s + self.delay_s) * operations.simulated / operations.recorded;
        let share = (cycle_s - self.delay_s) / simulated_s;
        (share > 0.0 && share.is_finite()).then_some(share)
    }

    /// Its volumes in the long run: without burst credits, where these ran out while it was recorded.
    pub fn volumes_in_the_long_run(&self) -> Vec<VolumeSpec> {
        let mut volumes = self.volumes.clone();
        let disks = volumes.iter_mut().flat_map(|volume| &mut volume.disks);
        for limit in disks.flat_map(|disk| &mut disk.limits) {
            if let Some(burst) = &mut limit.burst
                && self.ran_out
            {
                burst.credits_initial = 0;
            }
        }
        volumes
    }

    /// The same, on disks that are as the recording shows them.
    #[must_use]
    pub fn on_recorded_disks(mut self) -> BackTest {
        self.evidence.as_recorded = true;
        self
    }

    /// The same with the recorded latencies that it was replayed with, and sentences about credits that ran out.
    #[must_use]
    pub fn with_own_disks(mut self, latencies: Vec<OwnLatency>, credits: Vec<String>) -> BackTest {
        self.ran_out = !credits.is_empty();
        self.assumptions.extend(credits);
        self.assumptions
            .extend(latencies.iter().map(OwnLatency::sentence));
        self.own_latencies = latencies;
        self
    }
}

/// An operation's time, by what its session waits for; mean over replays.
fn mean_parts(replays: &[Replayed]) -> Parts {
    let all = replays.iter().map(|replay| replay.parts);
    let sum = all.fold(Parts::default(), Add::add);
    sum.times(1.0 / replays.len() as f64)
}

/// The delay between operations, in seconds; mean over replays.
fn mean_delay_s(replays: &[Replayed]) -> f64 {
    let all: f64 = replays.iter().map(|replay| replay.delay_s).sum();
    all / replays.len() as f64
}

/// An operation's time, recorded and simulated.
fn parts(profile: &Profile, demand: &DemandSeries, replays: &[Replayed]) -> Option<[Parts; 2]> {
    let recorded = Parts::recorded(profile)?;
    let mut simulated = mean_parts(replays);
    // A replay's delay is also what was recorded within an operation and is replayed as it was.
    let per_s = demand.operations_per_s();
    let sessions =
        |period: &Period| f64::from(period.demand.sessions) * period.length.as_secs_f64();
    let sessions: f64 = demand.periods().iter().map(sessions).sum();
    let idle_s = sessions / demand.length().as_secs_f64() / per_s - recorded.total();
    simulated[TimePart::Other] += (mean_delay_s(replays) - idle_s.max(0.0)).max(0.0);
    Some([recorded, simulated])
}

/// Mean times in the disks themselves, over replays.
fn service(replays: &[Replayed]) -> BTreeMap<(Role, Measure), f64> {
    let mut times: BTreeMap<(Role, Measure), Vec<f64>> = BTreeMap::new();
    for (role, service) in replays.iter().flat_map(|replay| &replay.service) {
        for (measure, time) in [
            (Measure::ReadLatency, service.read),
            (Measure::WriteLatency, service.write),
            (Measure::FlushLatency, service.flush),
        ] {
            let all = times.entry((*role, measure)).or_default();
            all.extend(time.map(Duration::as_millis_f64));
        }
    }
    times.retain(|_, all| !all.is_empty());
    let mean = |all: Vec<f64>| all.iter().sum::<f64>() / all.len() as f64;
    times.into_iter().map(|(at, all)| (at, mean(all))).collect()
}

fn bursts(volume: &VolumeSpec) -> bool {
    let mut limits = volume.disks.iter().flat_map(|disk| &disk.limits);
    limits.any(|limit| limit.burst.is_some())
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
