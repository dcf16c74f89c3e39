//! An operation's time in the worlds that what is not known of disks allows.
//!
//! Latencies of disks are what was published, limits what is documented, and volumes of one kind differ from that, as machines do. As in
//! a simulated experiment, each such unknown has a factor in each world, and layouts on one kind of disk share it.

use std::collections::{BTreeMap, BTreeSet};

use catalogue::{Spreads, delivered_by, limit_spread};
use model::{Operation, STRATA, Spread, World};
use replay::ReplayError;

use super::load::Load;
use super::simulate::{Effort, Placed};

/// Worlds in which a layout is simulated: those that divide what an unknown may be among them.
const WORLDS: usize = STRATA as usize;

/// Standard deviations from the middle to either end of an interval that holds 95 of 100 worlds.
const DEVIATIONS: f64 = 1.96;

/// Seed of the worlds.
const SEED: u64 = 1;

/// A value that is not known exactly.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Unknown {
    /// The same on all layouts that share it: `write latency of azure-premium`.
    name: String,
    spread: Spread,
    what: What,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum What {
    /// The latency of a volume's disks, by the index of the volume.
    Latency { volume: usize, operation: Operation },
    /// What a volume's disks deliver of their limits, by its index.
    Limits { volume: usize },
    /// What the machine delivers of its limits.
    MachineLimits,
}

/// How far a time may be from the one with typical latencies.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Drawn {
    /// Factors between that time and the ends of an interval that holds 95 of 100 worlds.
    pub(crate) factors: [f64; 2],
    /// The unknown that explains most of the differences between worlds, and its share of their variance: the squared correlation of
    /// logarithms, which is that of the first order.
    pub(crate) mostly: (String, f64),
}

/// The unknowns of the disks of a volume, apart from those whose names are `known`.
pub(crate) fn of_volume(
    volume: usize,
    spreads: &Spreads,
    known: &BTreeSet<String>,
) -> Vec<Unknown> {
    let all = [Operation::Read, Operation::Write, Operation::Flush].into_iter();
    let all = all.map(|operation| Unknown {
        name: spreads.name_of(operation),
        spread: spreads.of(operation),
        what: What::Latency { volume, operation },
    });
    let limits = Unknown {
        name: delivered_by(&spreads.kind),
        spread: spreads.of_limits(),
        what: What::Limits { volume },
    };
    all.chain([limits])
        .filter(|unknown| unknown.spread != Spread::NONE && !known.contains(&unknown.name))
        .collect()
}

/// The unknown of a machine of the catalogue.
pub(crate) fn of_machine(kind: &str) -> Unknown {
    Unknown {
        name: delivered_by(kind),
        spread: limit_spread(),
        what: What::MachineLimits,
    }
}

/// Logarithms of the factors between an operation's time in each world and the one with typical latencies.
///
/// # Errors
/// When an operation takes no time.
pub(crate) fn logs(
    placed: &Placed,
    load: &Load,
    unknowns: &[Unknown],
) -> Result<Vec<f64>, ReplayError> {
    if unknowns.is_empty() {
        return Ok(vec![0.0; WORLDS]);
    }
    let seconds = |placed: &Placed| -> Result<f64, ReplayError> {
        Ok(placed.simulate(load, Effort::Brief, 1)?.operation_s)
    };
    let typical_s = seconds(placed)?;
    let worlds = (0..WORLDS).map(|world| in_world(placed, unknowns, world));
    worlds
        .map(|placed| Ok(libm::log(seconds(&placed)? / typical_s)))
        .collect()
}

/// The layout in one of the worlds.
fn in_world(placed: &Placed, unknowns: &[Unknown], world: usize) -> Placed {
    let mut placed = placed.clone();
    for unknown in unknowns {
        let factor = unknown.spread.reach(deviations(&unknown.name)[world]);
        match unknown.what {
            What::Latency { volume, operation } => {
                for disk in &mut placed.volumes[volume].disks {
                    let latency = disk.latency_mut(operation);
                    *latency = latency.times(factor);
                }
            }
            What::Limits { volume } => {
                let disks = placed.volumes[volume].disks.iter_mut();
                let limits = disks.flat_map(|disk| &mut disk.limits);
                limits.for_each(|limit| *limit = limit.times(factor));
            }
            What::MachineLimits => {
                let limits = placed.machine.limits.values_mut().flatten();
                limits.for_each(|limit| *limit = limit.times(factor));
            }
        }
    }
    placed
}

/// Standard deviations between an unknown and its typical value, by world.
fn deviations(name: &str) -> [f64; WORLDS] {
    let world = |number| World { seed: SEED, number };
    core::array::from_fn(|number| world(number as u32).deviations(name))
}

impl Drawn {
    /// Of a layout with `unknowns`, at least one, from its logarithms and those of the layout that it is compared with.
    pub(crate) fn of(own: &[f64], others: &[f64], unknowns: &[Unknown]) -> Option<Drawn> {
        let logs: Vec<f64> = own
            .iter()
            .zip(others)
            .map(|(own, other)| own - other)
            .collect();
        let (mean, deviation) = moments(&logs);
        let shares: BTreeMap<&str, f64> = unknowns
            .iter()
            .map(|unknown| {
                let r = correlation(&logs, &deviations(&unknown.name));
                (unknown.name.as_str(), r * r)
            })
            .collect();
        let mostly = shares
            .into_iter()
            .max_by(|(_, one), (_, other)| one.total_cmp(other));
        let (name, share) = mostly.filter(|_| deviation > 0.0)?;
        Some(Drawn {
            factors: [-DEVIATIONS, DEVIATIONS].map(|ends| libm::exp(mean + ends * deviation)),
            mostly: (name.to_owned(), share),
        })
    }
}

/// Mean and standard deviation.
fn moments(all: &[f64]) -> (f64, f64) {
    let count = all.len() as f64;
    let mean = all.iter().sum::<f64>() / count;
    let squares: f64 = all.iter().map(|one| (one - mean) * (one - mean)).sum();
    (mean, (squares / (count - 1.0)).sqrt())
}

fn correlation(a: &[f64], b: &[f64]) -> f64 {
    let ((a_mean, a_deviation), (b_mean, b_deviation)) = (moments(a), moments(b));
    let products = a.iter().zip(b).map(|(a, b)| (a - a_mean) * (b - b_mean));
    let covariance = products.sum::<f64>() / (a.len() as f64 - 1.0);
    match a_deviation * b_deviation > 0.0 {
        true => covariance / (a_deviation * b_deviation),
        false => 0.0,
    }
}

#[cfg(test)]
mod tests {
    use model::{
        Bytes, DiskSpec, HostCacheMode, Iops, LimitSpec, MachineSpec, Throughput, VolumeSpec,
    };
    use replay::Places;

    use super::*;

    fn unknown(name: &str, factor: f64) -> Unknown {
        Unknown {
            name: name.to_owned(),
            spread: Spread::new(factor).expect("it is a factor"),
            what: What::Latency {
                volume: 0,
                operation: Operation::Read,
            },
        }
    }

    /// Logarithms of a time that is a product: each unknown to the power beside it.
    fn product(of: &[(&Unknown, f64)]) -> Vec<f64> {
        let log = |world: usize| -> f64 {
            let logs = of.iter().map(|(unknown, power)| {
                power * unknown.spread.reach(deviations(&unknown.name)[world]).ln()
            });
            logs.sum()
        };
        (0..WORLDS).map(log).collect()
    }

    #[test]
    fn an_interval_holds_95_of_100_and_is_wider_for_a_wider_spread() {
        let nothing = [0.0; WORLDS];
        let ends = |factor: f64| {
            let one = unknown("one", factor);
            let drawn = Drawn::of(&product(&[(&one, 1.0)]), &nothing, &[one]);
            drawn.map(|drawn| drawn.factors)
        };
        // 1.96 standard deviations of a log-normal with a factor of 1.4: 1.93 times as much.
        let [low, high] = ends(1.4).expect("it is spread");
        assert!(
            (high - 1.93).abs() < 0.03 && (low * high - 1.0).abs() < 0.01,
            "{low} {high}"
        );
        let [_, higher] = ends(1.9).expect("it is spread");
        assert!(higher > 1.5 * high, "{higher}");
        assert_eq!(ends(1.0), None);
    }

    #[test]
    fn what_disks_and_machine_deliver_of_their_limits_is_drawn_of_each_kind() {
        let disk = |rate| DiskSpec::limited(Iops(rate), Throughput(1_000_000));
        let volume = |rate| VolumeSpec {
            name: "d".into(),
            disks: vec![disk(rate); 2],
            interleave: Bytes::kib(64),
            host_cache: HostCacheMode::None,
        };
        let mut machine = MachineSpec::unlimited();
        machine
            .limits
            .insert("all".into(), vec![LimitSpec::iops(Iops(9_000))]);
        let placed = Placed {
            machine,
            volumes: vec![volume(3_000), volume(500)],
            places: Places {
                data: vec![0],
                temp: vec![0],
                log: 1,
            },
        };
        let spreads = |factor| Spreads {
            kind: "aws-gp".into(),
            read: Spread::new(factor).expect("it is a factor"),
            write: Spread::NONE,
            flush: Spread::NONE,
            are_assumed: false,
        };
        let known = BTreeSet::from(["read latency of aws-gp".to_owned()]);
        let unknowns = [of_volume(1, &spreads(1.4), &known), vec![of_machine("m")]].concat();
        let names: Vec<&str> = unknowns
            .iter()
            .map(|unknown| unknown.name.as_str())
            .collect();
        assert_eq!(names, [delivered_by("aws-gp"), delivered_by("m")]);

        for world in 0..WORLDS {
            let factor = |name: &str| limit_spread().reach(deviations(name)[world]);
            let drawn = in_world(&placed, &unknowns, world);
            assert_eq!(drawn.volumes[0], placed.volumes[0]);
            let delivered = factor(names[0]);
            let limits = placed.volumes[1].disks[0].limits.iter();
            let limits: Vec<LimitSpec> = limits.map(|limit| limit.times(delivered)).collect();
            let drawn_disks = &drawn.volumes[1].disks;
            assert!(drawn_disks.iter().all(|disk| disk.limits == limits));
            let machine = LimitSpec::iops(Iops(9_000)).times(factor(names[1]));
            assert_eq!(drawn.machine.limits["all"], [machine]);
        }
        // Measured on the very volume: its limits, too.
        assert_eq!(of_volume(0, &spreads(1.0), &BTreeSet::new()), []);
    }

    #[test]
    fn what_both_layouts_have_in_common_is_no_difference() {
        let (shared, own) = (unknown("shared", 1.9), unknown("own", 1.2));
        let today = product(&[(&shared, 1.0)]);
        let other = product(&[(&shared, 1.0), (&own, 1.0)]);
        let drawn = Drawn::of(&other, &today, &[shared, own.clone()]).expect("one is drawn");
        assert_eq!(drawn.mostly.0, "own");
        assert!(drawn.mostly.1 > 0.99, "{drawn:?}");
        let alone = Drawn::of(&product(&[(&own, 1.0)]), &[0.0; WORLDS], &[own]);
        let [of_both, of_one] = [drawn, alone.expect("one is drawn")].map(|drawn| drawn.factors[1]);
        assert!((of_both - of_one).abs() < 1e-9);
    }
}
