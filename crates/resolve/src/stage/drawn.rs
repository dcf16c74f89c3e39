//! An arm in one of the worlds that its unknowns allow.

use std::collections::BTreeMap;

use catalogue::Known;
use experiment::record::Drawn;
use model::{Duration, LatencySpec, Spread, World};
use workload::Workload;

use super::Stage;
use super::unknowns::{self, What};

impl Stage {
    /// What was assumed about the unknowns themselves.
    pub fn assumed_spreads(&self) -> Vec<String> {
        let note = |kind: &String| {
            format!(
                "the catalogue file does not say how far disks of {kind} differ: a factor of {} is assumed; add `between` or \
                 `known` to their latencies",
                Known::Assumed.spread().factor()
            )
        };
        self.assumed.iter().map(note).collect()
    }

    /// The arm with what is not known of its statements.
    pub(crate) fn with_workload(mut self, workload: &Workload) -> Stage {
        self.unknowns.push(unknowns::of_workload(workload));
        self
    }

    /// The arm as it is in one of the worlds that its unknowns allow, and what was drawn, by name.
    pub fn drawn(&self, world: World) -> (Stage, BTreeMap<String, Drawn>) {
        let (mut stage, mut all) = (self.clone(), BTreeMap::new());
        for unknown in &self.unknowns {
            let typical = self.typical(unknown.what);
            if unknown.spread == Spread::NONE || !self.has(unknown.what) {
                continue;
            }
            let factor = unknown.spread.reach(world.deviations(&unknown.name));
            stage.multiply(unknown.what, factor);
            let drawn = Drawn {
                factor,
                between: unknown.spread.factor(),
                typical_ns: typical.map(Duration::as_nanos),
            };
            all.insert(unknown.name.clone(), drawn);
        }
        (stage, all)
    }

    /// The typical value, if it is a latency.
    fn typical(&self, what: What) -> Option<Duration> {
        match what {
            What::Latency { volume, operation } => {
                let disk = self.volumes[volume].disks.first()?;
                Some(disk.latency(operation).typical())
            }
            What::CacheHit => {
                let cache = self.machine.host_cache.as_ref()?;
                Some(cache.hit_latency.typical())
            }
            What::Limits { .. }
            | What::MachineLimits
            | What::Io
            | What::Processor
            | What::LogBytes => None,
        }
    }

    /// Whether there is anything to multiply: a kind without a latency stays without one.
    fn has(&self, what: What) -> bool {
        match what {
            What::Limits { volume } => {
                let mut disks = self.volumes[volume].disks.iter();
                disks.any(|disk| !disk.limits.is_empty())
            }
            What::MachineLimits => self.machine.limits.values().flatten().next().is_some(),
            What::Latency { .. } | What::CacheHit | What::Io | What::Processor | What::LogBytes => {
                self.typical(what) != Some(Duration::ZERO)
            }
        }
    }

    fn multiply(&mut self, what: What, factor: f64) {
        let longer = |latency: &mut LatencySpec| *latency = latency.times(factor);
        match what {
            What::Latency { volume, operation } => {
                let disks = self.volumes[volume].disks.iter_mut();
                disks.for_each(|disk| longer(disk.latency_mut(operation)));
            }
            What::Limits { volume } => {
                let disks = self.volumes[volume].disks.iter_mut();
                let limits = disks.flat_map(|disk| &mut disk.limits);
                limits.for_each(|limit| *limit = limit.times(factor));
            }
            What::MachineLimits => {
                let limits = self.machine.limits.values_mut().flatten();
                limits.for_each(|limit| *limit = limit.times(factor));
            }
            // As many requests more are as much more time and allowance for each.
            What::Io => {
                let mut disks: Vec<_> = self
                    .volumes
                    .iter_mut()
                    .flat_map(|it| &mut it.disks)
                    .collect();
                disks
                    .iter_mut()
                    .for_each(|disk| longer(&mut disk.read_latency));
                let limits = disks.into_iter().flat_map(|disk| &mut disk.limits);
                let limits = limits.chain(self.machine.limits.values_mut().flatten());
                limits.for_each(|limit| *limit = limit.shared(factor));
            }
            What::CacheHit => {
                let cache = self.machine.host_cache.as_mut();
                cache
                    .into_iter()
                    .for_each(|cache| longer(&mut cache.hit_latency));
            }
            What::Processor => {
                let costs = &mut self.costs;
                for cost in [
                    &mut costs.statement,
                    &mut costs.logical_read,
                    &mut costs.vm_step,
                ] {
                    *cost = Duration::from_secs_f64(cost.as_secs_f64() * factor);
                }
            }
            What::LogBytes => self.log_bytes_factor *= factor,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use catalogue::Catalogue;
    use experiment::build::{Experiment, Placement, Volume, Workload};
    use experiment::spec;
    use experiment::spec::Variant;

    const SOME: World = World { seed: 7, number: 0 };
    const OTHER: World = World { seed: 7, number: 1 };
    const DELIVERED: &str = "delivered part of the limits of aws-gp";

    /// An arm on each of these disks, on one machine.
    fn stages(disks: &[&str]) -> Vec<Stage> {
        let disks = disks
            .iter()
            .map(|disk| Volume::of(disk).size("100 GiB"))
            .collect();
        let first = Experiment::new("mine", "Where?");
        arms(first.machine_of(4, "16 GiB"), disks)
    }

    /// An arm on each of these volumes.
    fn arms(first: Experiment, disks: Vec<Volume>) -> Vec<Stage> {
        let names: Vec<String> = (0..disks.len())
            .map(|number| format!("v{number}"))
            .collect();
        let experiment = disks
            .into_iter()
            .zip(&names)
            .fold(first, |experiment, (disk, name)| {
                let placement = Placement::on(name);
                let experiment = experiment.volume(name, disk);
                experiment.placement(name, placement)
            });
        let spec = experiment
            .workload(Workload::builtin("trade").operations(8))
            .memory("64 MiB")
            .build(Variant::default())
            .expect("it makes sense");
        let stage = |arm: &spec::Arm| Stage::new(&arm.settings, &Catalogue::builtin());
        spec.arms
            .iter()
            .map(|arm| stage(arm).expect("it is sold"))
            .collect()
    }

    #[test]
    fn arms_on_one_kind_of_disk_share_its_draw_and_those_on_others_do_not() {
        let stages = stages(&["aws.gp3", "aws.gp3", "azure.premium_v2"]);
        let drawn: Vec<_> = stages.iter().map(|stage| stage.drawn(SOME).1).collect();

        assert_eq!(drawn[0], drawn[1]);
        assert!(drawn[0].contains_key(DELIVERED), "{:?}", drawn[0]);
        let common = |name: &&String| drawn[2].contains_key(*name);
        let common: Vec<_> = drawn[0].keys().filter(common).collect();
        assert_eq!(
            common,
            ["log of a changed row", "processor time of statements"]
        );
    }

    #[test]
    fn a_block_draws_another_world_and_the_same_one_again() {
        let stage = &stages(&["aws.gp3"])[0];
        assert_eq!(stage.drawn(SOME).1, stage.drawn(SOME).1);
        assert_ne!(stage.drawn(SOME).1, stage.drawn(OTHER).1);
    }

    #[test]
    fn a_draw_makes_latencies_longer_by_its_factor() {
        let stage = &stages(&["aws.gp3"])[0];
        let (drawn, all) = stage.drawn(SOME);
        let name = all
            .keys()
            .find(|name| name.starts_with("write latency of "));
        let factor = all[name.expect("writes have one")].factor;
        let before = stage.volumes[0].disks[0].write_latency;
        assert_eq!(
            drawn.volumes[0].disks[0].write_latency,
            before.times(factor)
        );
        assert_eq!(drawn.volumes[0].disks[0].limits, {
            let delivered = all[DELIVERED].factor;
            let limits = stage.volumes[0].disks[0].limits.iter();
            limits
                .map(|limit| limit.times(delivered))
                .collect::<Vec<_>>()
        });
    }

    #[test]
    fn limits_of_a_disk_that_are_stated_are_not_drawn() {
        let stated = toml_edit::InlineTable::from_iter([("throughput_limit", "90 MB/s")]);
        let volume = Volume::of("aws.gp3").size("100 GiB");
        let first = Experiment::new("mine", "Where?").machine_of(4, "16 GiB");
        let stage = arms(first, vec![volume.set("override", stated)]).remove(0);
        let (drawn, all) = stage.drawn(SOME);
        assert!(!all.contains_key(DELIVERED), "{all:?}");
        let limits = |stage: &Stage| stage.volumes[0].disks[0].limits.clone();
        assert_eq!(limits(&drawn), limits(&stage));
    }

    #[test]
    fn arms_on_one_machine_share_what_it_delivers_and_those_on_others_do_not() {
        let on = |machine: &str| {
            let first = Experiment::new("mine", "Where?").machine(machine);
            let disks = ["aws.gp3", "aws.gp2"].map(|disk| Volume::of(disk).size("100 GiB"));
            let name = format!("delivered part of the limits of {machine}");
            let delivered = |stage: &Stage| {
                let (drawn, all) = stage.drawn(SOME);
                let factor = all[&name].factor;
                let limits = |stage: &Stage| -> Vec<_> {
                    let limits = stage.machine.limits.values().flatten();
                    limits.copied().collect()
                };
                let expected = limits(stage).into_iter().map(|limit| limit.times(factor));
                assert_eq!(limits(&drawn), expected.collect::<Vec<_>>());
                factor
            };
            let of_arms: Vec<f64> = arms(first, disks.into()).iter().map(delivered).collect();
            of_arms
        };
        let (one, other) = (on("aws.m5.2xlarge"), on("aws.r5.2xlarge"));
        assert_eq!(one[0], one[1]);
        assert_ne!(one[0], other[0]);
    }

    #[test]
    fn io_is_drawn_for_a_workload_that_stands_for_another_load_alone() {
        let of = |name: &str| {
            let workload = workload::Workload::builtin(name, workload::Dialect::SQLITE);
            let stage = stages(&["aws.gp3"]).remove(0);
            let stage = stage.with_workload(&workload.expect("it is built in"));
            let (drawn, all) = stage.drawn(SOME);
            let delivered = all[DELIVERED].factor;
            let io = all.get(&format!("I/O of {name}")).map(|io| io.factor);
            let limits = |stage: &Stage| stage.volumes[0].disks[0].limits.clone();
            let expected = limits(&stage).into_iter();
            let expected = expected.map(|limit| limit.times(delivered).shared(io.unwrap_or(1.0)));
            assert_eq!(limits(&drawn), expected.collect::<Vec<_>>());
            let read = all["read latency of aws-gp"].factor;
            let before = stage.volumes[0].disks[0].read_latency;
            let expected = before.times(read).times(io.unwrap_or(1.0));
            assert_eq!(drawn.volumes[0].disks[0].read_latency, expected);
            io
        };
        assert!(
            of("order-entry").is_some_and(|factor| factor != 1.0),
            "it stands for TPC-C"
        );
        assert_eq!(of("trade"), None);
    }

    #[test]
    fn what_an_experiment_states_is_not_drawn() {
        let stage = &stages(&["unlimited"])[0];
        let names: Vec<String> = stage.drawn(SOME).1.into_keys().collect();
        assert_eq!(
            names,
            ["log of a changed row", "processor time of statements"]
        );
    }
}
