//! Uncertain values of an arm: each block of a simulated run draws them.
//!
//! Arms on one kind of disk, in one block, are drawn alike, since the question is which of them to choose on the same disks;
//! those on different kinds are not. A value that the experiment states (`override`, `engine.cpu`, `workload.log_bytes_per_row`)
//! is taken as known: it was measured, documented for that row, or fitted to it.
//!
//! Not drawn: limits, which vendors document; how deep a limit's bucket is; an engine's constants, such as its writes in flight.
//! Disks of one volume are drawn alike, although those of a stripe differ.

use std::collections::BTreeMap;

use catalogue::{Catalogue, Known, MachineEntry, Spreads, statement_spread};
use experiment::record::Drawn;
use experiment::spec::{self, Disk, Script, Settings};
use model::{CpuCosts, Duration, HostCacheMode, LatencySpec, Operation, Spread, random};

use super::Stage;

/// A value of an arm that is not known exactly.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Unknown {
    /// Its name, the same in all arms that share it: `write latency of azure-premium`.
    name: String,
    spread: Spread,
    what: What,
}

/// Which values of a [`Stage`] an unknown is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum What {
    /// The disks of a volume, by its place in the stage.
    Latency { volume: usize, operation: Operation },
    /// Hits of the machine's host cache.
    CacheHit,
    /// What work costs the processor.
    Processor,
    /// Log of a changed row.
    LogBytes,
}

/// The unknowns of the disks of `volume`, which the stage has at this place.
pub(super) fn of_volume(
    place: usize,
    volume: &spec::Volume,
    entry: Option<&MachineEntry>,
    catalogue: &Catalogue,
) -> (Vec<Unknown>, Option<Spreads>) {
    let spreads = match &volume.disk {
        Disk::Unlimited | Disk::Recorded => None,
        Disk::Local => entry.and_then(|entry| entry.local_spreads.clone()),
        Disk::Catalogue(name) => catalogue.disk(name).ok().map(|disk| disk.class.spreads()),
    };
    let Some(spreads) = spreads else {
        return (Vec::new(), None);
    };
    let by = &volume.replaced;
    let latencies = [
        (Operation::Read, by.read_latency, spreads.read),
        (Operation::Write, by.write_latency, spreads.write),
        (Operation::Flush, by.flush_latency, spreads.flush),
    ];
    let unknowns = latencies
        .into_iter()
        .filter(|(_, stated, _)| stated.is_none());
    let unknowns = unknowns.map(|(operation, _, spread)| Unknown {
        name: format!("{} latency of {}", name_of(operation), spreads.kind),
        spread,
        what: What::Latency {
            volume: place,
            operation,
        },
    });
    (unknowns.collect(), Some(spreads))
}

/// The unknowns of an arm besides those of its volumes' disks.
pub(super) fn of_arm(settings: &Settings, entry: Option<&MachineEntry>) -> Vec<Unknown> {
    let is_cached = |volume: &spec::Volume| volume.host_cache != HostCacheMode::None;
    let hits = entry.and_then(|entry| entry.host_cache_spreads.as_ref());
    let hits = hits.filter(|_| settings.volumes.iter().any(is_cached));
    // Its name is that of a read of such a disk, which it is.
    let hit = hits.map(|spreads| Unknown {
        name: format!("{} latency of {}", name_of(Operation::Read), spreads.kind),
        spread: spreads.read,
        what: What::CacheHit,
    });
    let has_statements = !matches!(settings.workload.script, Script::Profile { .. });
    // What engines cost of which nothing was published is the default.
    let is_published = settings.engine.cpu.statement != CpuCosts::default().statement;
    let processor = Unknown {
        name: "processor time of statements".to_owned(),
        spread: match is_published {
            true => statement_spread(),
            false => Known::Assumed.spread(),
        },
        what: What::Processor,
    };
    // Follows from the lengths of its rows; what a product adds to them differs.
    let log_bytes = Unknown {
        name: "log of a changed row".to_owned(),
        spread: Known::One.spread(),
        what: What::LogBytes,
    };
    let processor = Some(processor).filter(|_| has_statements && !settings.engine.cpu.is_given);
    let is_stated = settings.workload.log_bytes_per_row.is_some();
    let log_bytes = Some(log_bytes).filter(|_| has_statements && !is_stated);
    [hit, processor, log_bytes].into_iter().flatten().collect()
}

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

    /// The arm as it is in one of the worlds that its unknowns allow, and what was drawn, by name. `seed` is that of the block:
    /// each unknown has a stream of its own.
    pub fn drawn(&self, seed: u64) -> (Stage, BTreeMap<String, Drawn>) {
        let (mut stage, mut all) = (self.clone(), BTreeMap::new());
        for unknown in &self.unknowns {
            let typical = self.typical(unknown.what);
            // A kind without a latency stays without one.
            if unknown.spread == Spread::NONE || typical == Some(Duration::ZERO) {
                continue;
            }
            let factor = unknown
                .spread
                .draw(&mut random::stream(seed, &unknown.name));
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
            What::Processor | What::LogBytes => None,
        }
    }

    fn multiply(&mut self, what: What, factor: f64) {
        let longer = |latency: &mut LatencySpec| *latency = latency.times(factor);
        match what {
            What::Latency { volume, operation } => {
                let disks = self.volumes[volume].disks.iter_mut();
                disks.for_each(|disk| longer(disk.latency_mut(operation)));
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

fn name_of(operation: Operation) -> &'static str {
    match operation {
        Operation::Read => "read",
        Operation::Write => "write",
        Operation::Flush => "flush",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use experiment::build::{Experiment, Placement, Volume, Workload};
    use experiment::spec::Variant;

    /// An arm on each of these disks, of which the last has a stated write latency.
    fn stages(disks: &[&str]) -> Vec<Stage> {
        let first = Experiment::new("mine", "Where?");
        let names: Vec<String> = (0..disks.len())
            .map(|number| format!("v{number}"))
            .collect();
        let experiment = disks
            .iter()
            .zip(&names)
            .fold(first, |experiment, (disk, name)| {
                let placement = Placement::on(name);
                let experiment = experiment.volume(name, Volume::of(disk).size("100 GiB"));
                experiment.placement(name, placement)
            });
        let spec = experiment
            .machine_of(4, "16 GiB")
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
        let drawn: Vec<_> = stages.iter().map(|stage| stage.drawn(7).1).collect();

        assert_eq!(drawn[0], drawn[1]);
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
        assert_eq!(stage.drawn(7).1, stage.drawn(7).1);
        assert_ne!(stage.drawn(7).1, stage.drawn(8).1);
    }

    #[test]
    fn a_draw_makes_latencies_longer_by_its_factor() {
        let stage = &stages(&["aws.gp3"])[0];
        let (drawn, all) = stage.drawn(7);
        let name = all
            .keys()
            .find(|name| name.starts_with("write latency of "));
        let factor = all[name.expect("writes have one")].factor;
        let before = stage.volumes[0].disks[0].write_latency;
        assert_eq!(
            drawn.volumes[0].disks[0].write_latency,
            before.times(factor)
        );
        assert_eq!(
            drawn.volumes[0].disks[0].limits,
            stage.volumes[0].disks[0].limits
        );
    }

    #[test]
    fn what_an_experiment_states_is_not_drawn() {
        let stage = &stages(&["unlimited"])[0];
        let names: Vec<String> = stage.drawn(7).1.into_keys().collect();
        assert_eq!(
            names,
            ["log of a changed row", "processor time of statements"]
        );
    }
}
