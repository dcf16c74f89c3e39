//! How much more load a layout can carry.

use replay::ReplayError;

use super::load::Load;
use super::simulate::{Effort, Placed, Stepwise};

/// Multiple of today's sessions that a layout can carry before its operations exceed the allowed time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Headroom {
    /// It is too slow already.
    None,
    /// Up to this many times the sessions.
    Up(f64),
    /// Beyond the largest factor tried.
    Beyond(f64),
}

impl Headroom {
    /// The factor, 0 where it is too slow already, and whether higher ones were not tried.
    pub(crate) fn factor(self) -> (f64, bool) {
        match self {
            Headroom::None => (0.0, false),
            Headroom::Up(factor) => (factor, false),
            Headroom::Beyond(factor) => (factor, true),
        }
    }
}

/// Factors that are tried.
const FACTORS: [f64; 8] = [1.1, 1.25, 1.5, 1.75, 2.0, 2.5, 3.0, 4.0];

/// Multiple of the sessions that `placed` can carry before an operation takes longer than `most_s`.
///
/// # Errors
/// When an operation takes zero time.
pub fn headroom(placed: &Placed, load: &Load, most_s: f64) -> Result<Headroom, ReplayError> {
    let holds = |factor: f64| -> Result<bool, ReplayError> {
        let is_open = |at_least_s: f64| at_least_s <= most_s;
        let operation_s =
            Stepwise::new(Effort::Short, 1).go_on((placed, &load.grown(factor)), &is_open)?;
        Ok(is_open(operation_s))
    };
    if !holds(1.0)? {
        return Ok(Headroom::None);
    }
    // Factors that bring less than one additional session are those before them.
    let mut factors = vec![1.0];
    for factor in FACTORS {
        let last = factors.last().copied().unwrap_or(1.0);
        if load.grown(factor).parts != load.grown(last).parts {
            factors.push(factor);
        }
    }
    // More sessions take longer: of those that hold, the last.
    let (mut holding, mut too_many) = (0, factors.len());
    while holding + 1 < too_many {
        let middle = usize::midpoint(holding, too_many);
        match holds(factors[middle])? {
            true => holding = middle,
            false => too_many = middle,
        }
    }
    Ok(match too_many == factors.len() {
        true => Headroom::Beyond(factors[holding]),
        false => Headroom::Up(factors[holding]),
    })
}

#[cfg(test)]
mod tests {
    use model::{Bytes, DiskSpec, Duration, Iops, LimitSpec, MachineSpec, VolumeSpec};
    use replay::{Access, Demand, DemandSeries, Each, LogDemand, Places};

    use super::*;

    #[test]
    fn headroom_is_the_last_factor_of_those_that_hold() {
        // One read of a disk of 1,000 IOPS: with N sessions N ms, once they wait for the limit.
        let disk = DiskSpec {
            limits: vec![LimitSpec::iops(Iops(1_000))],
            ..DiskSpec::unlimited()
        };
        let placed = Placed {
            machine: MachineSpec::unlimited(),
            volumes: vec![VolumeSpec::of("v", disk)],
            places: Places {
                data: vec![0],
                temp: vec![0],
                log: 0,
            },
        };
        let reads = Each {
            per_operation: 1.0,
            size: Bytes::kib(8),
        };
        let demand = Demand {
            sessions: 20,
            processor: Duration::from_micros(1),
            lock: Duration::ZERO,
            delay: Duration::ZERO,
            data: Access {
                reads,
                ..Access::default()
            },
            temp: Access::default(),
            log: LogDemand::default(),
        };
        let load = Load::of_series(&DemandSeries::steady(demand, 1_000.0));
        let of = |most_ms: f64| headroom(&placed, &load, most_ms / 1e3).expect("it takes time");
        assert_eq!(of(19.0), Headroom::None);
        assert_eq!(of(21.0), Headroom::Up(1.0));
        // 1.5 times 20 sessions take 30 ms, and 1.75 times 35.
        assert_eq!(of(31.0), Headroom::Up(1.5));
        assert_eq!(of(90.0), Headroom::Beyond(4.0));
    }
}
