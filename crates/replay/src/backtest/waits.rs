//! Which requests sessions wait for, so that their latency decides.

use std::collections::BTreeMap;

use profile::{Rates, RequestRates};
use reading::Role;

use super::figure::Measure;
use crate::demand::Demand;
use crate::series::{DemandSeries, Period};

/// The share of all disk wait time from which requests of a kind decide: below it, their latency hardly matters.
pub(super) const DECIDES_FROM: f64 = 0.05;

/// A kind of request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Reads,
    Writes,
    Flushes,
}

impl Kind {
    pub(super) const ALL: [Kind; 3] = [Kind::Reads, Kind::Writes, Kind::Flushes];

    pub(super) fn rates(self, rates: &Rates) -> RequestRates {
        match self {
            Kind::Reads => rates.reads,
            Kind::Writes => rates.writes,
            Kind::Flushes => rates.flushes,
        }
    }

    /// The measures of their count and latency.
    pub(super) fn measures(self) -> [Measure; 2] {
        match self {
            Kind::Reads => [Measure::Reads, Measure::ReadLatency],
            Kind::Writes => [Measure::Writes, Measure::WriteLatency],
            Kind::Flushes => [Measure::Flushes, Measure::FlushLatency],
        }
    }
}

/// Time per second that sessions wait for requests of each kind; `None` if not recorded.
pub(super) struct Waits(Vec<(Role, Kind, Option<f64>)>);

impl Waits {
    pub(super) fn of(demand: &DemandSeries, recorded: &BTreeMap<Role, Rates>) -> Waits {
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

    /// Share of all disk wait time that is for requests of a kind, 0 to 1: 0 where no session waits for them; `None` where their
    /// latency was not recorded.
    pub(super) fn share(&self, role: Role, kind: Kind) -> Option<f64> {
        let all: f64 = self.0.iter().filter_map(|(_, _, waited)| *waited).sum();
        let mut waits = self.0.iter();
        let own = waits.find(|wait| (wait.0, wait.1) == (role, kind));
        match own.map_or(Some(0.0), |(_, _, waited)| *waited)? {
            0.0 => Some(0.0),
            waited => Some(waited / all),
        }
    }
}
