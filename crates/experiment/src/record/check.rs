//! Checks the plausibility of a record: in itself, and against its plan.
//!
//! Records are untrusted, and findings are computed from them without further checks.

use model::Spread;
use model::number::COUNTED_MAX;

use super::{DiskRecord, Outcome, Record, Series, histogram};
use crate::plan::Plan;

/// Number of intervals that a series may continue after the last phase, while sessions and writers finish.
const INTERVALS_AFTER: u64 = 3_600;

/// Checks that `record` is plausible, in itself and as a record of `plan`.
///
/// # Errors
/// The first problem, as text.
pub fn check(record: &Record, plan: &Plan) -> Result<(), String> {
    of_plan(record, plan)?;
    numbers(record)?;
    sums(record)?;
    phases(record)?;
    series(record)?;
    histograms(record)
}

fn of_plan(record: &Record, plan: &Plan) -> Result<(), String> {
    if record.plan != plan.digest() {
        let (own, other) = (&record.plan, plan.digest());
        return Err(format!("it belongs to plan {own}, not to {other}"));
    }
    same("experiment", &record.experiment, &plan.experiment)?;
    same("mode", &record.mode, plan.variant.mode.name())?;
    let arm = plan.arm(&record.arm);
    let arm = arm.ok_or_else(|| format!("the plan has no arm \"{}\"", record.arm))?;
    let trial = plan.trial(&record.arm, record.block);
    // A variation runs only in the first block.
    let trial = trial.ok_or_else(|| {
        let (arm, block) = (&record.arm, record.block);
        format!("the plan has no trial of arm \"{arm}\" in block {block}")
    })?;
    let number = |what: &str, own: u64, planned: u64| match own == planned {
        true => Ok(()),
        false => Err(format!("its {what} is {own}, but the plan has {planned}")),
    };
    number("seed", record.seed, trial.seed)?;
    number("position", record.position.into(), trial.position.into())?;
    if let Some(engine) = &record.engine {
        same("engine", &engine.name, plan.variant.engine.as_str())?;
    }
    for volume in &record.volumes {
        if arm.settings.volume(&volume.name).is_none() {
            let (arm, volume) = (&record.arm, &volume.name);
            return Err(format!("arm \"{arm}\" has no volume \"{volume}\""));
        }
    }
    Ok(())
}

fn same(what: &str, own: &str, planned: &str) -> Result<(), String> {
    match own == planned {
        true => Ok(()),
        false => Err(format!(
            "its {what} is \"{own}\", but the plan has \"{planned}\""
        )),
    }
}

fn numbers(record: &Record) -> Result<(), String> {
    for (name, value) in &record.metrics {
        not_negative(name, *value)?;
    }
    for (name, value) in &record.counters {
        finite(name, *value)?;
    }
    for (name, drawn) in &record.drawn {
        finite(name, drawn.factor)?;
        let between = Spread::new(drawn.between).map_err(|error| format!("{name}: {error}"))?;
        let is_possible = drawn.factor > 0.0 && between != Spread::NONE;
        if !is_possible {
            return Err(format!("{name} is drawn by a factor of {}", drawn.factor));
        }
    }
    for limit in &record.limits {
        for value in [limit.used, limit.rate, limit.utilisation] {
            not_negative(&limit.name.to_string(), value)?;
        }
        if let Some(burst) = limit.burst {
            for value in [burst.rate, burst.credits_start, burst.credits_end] {
                not_negative(&format!("{}, burst", limit.name), value)?;
            }
        }
    }
    if record.errors.first.len() as u64 > record.errors.count {
        return Err("it has more error texts than errors".to_owned());
    }
    match &record.pacing {
        Some(pacing) if pacing.late > pacing.requests => {
            Err("more requests were late than answered".to_owned())
        }
        Some(_) | None => Ok(()),
    }
}

/// Rejects counters whose sum overflows 64 bits: they are added without further checks.
fn sums(record: &Record) -> Result<(), String> {
    let disks = || record.volumes.iter().flat_map(|volume| &volume.disks);
    let requests = |disk: &DiskRecord| [disk.reads, disk.writes, disk.flushes, disk.cache_hits];
    fit("requests of its disks", disks().flat_map(requests))?;
    let bytes = |disk: &DiskRecord| [disk.read_bytes, disk.write_bytes];
    fit("bytes of its disks", disks().flat_map(bytes))?;
    fit("parts of its time", record.time_split_ns.values().copied())
}

fn fit(what: &str, mut values: impl Iterator<Item = u64>) -> Result<(), String> {
    let sum = values.try_fold(0, |sum: u64, value| sum.checked_add(value));
    sum.map(|_| ())
        .ok_or_else(|| format!("the {what} add up to more than can be counted (2^64)"))
}

fn finite(name: &str, value: f64) -> Result<(), String> {
    if !value.is_finite() {
        Err(format!("{name} is {value}, which is not finite"))
    } else if value.abs() > COUNTED_MAX {
        Err(format!(
            "{name} is {value:e}, which is more than can be counted (2^64)"
        ))
    } else {
        Ok(())
    }
}

fn not_negative(name: &str, value: f64) -> Result<(), String> {
    finite(name, value)?;
    match value >= 0.0 {
        true => Ok(()),
        false => Err(format!("{name} is {value}, which is negative")),
    }
}

fn phases(record: &Record) -> Result<(), String> {
    let mut before = 0;
    for phase in &record.phases {
        let name = &phase.name;
        if phase.end_ns < phase.start_ns {
            return Err(format!("phase {name} ends before it starts"));
        }
        // A warm-up begins together with a load that is measured.
        if phase.start_ns < before {
            return Err(format!("phase {name} starts before the previous one"));
        }
        before = phase.start_ns;
    }
    match (
        &record.outcome,
        record.phases.iter().any(|phase| phase.measured),
    ) {
        (Outcome::Finished, false) => Err("it finished but has no measured phase".to_owned()),
        (Outcome::Finished | Outcome::Failed { .. }, _) => Ok(()),
    }
}

/// Series may differ in length: each ends with its last event.
fn series(record: &Record) -> Result<(), String> {
    let Series {
        interval_ns,
        values,
    } = &record.series;
    if *interval_ns == 0 {
        return match values.is_empty() {
            true => Ok(()),
            false => Err("its series have an interval of 0".to_owned()),
        };
    }
    let ends = record.phases.iter().map(|phase| phase.end_ns);
    let intervals = ends.max().unwrap_or(0).div_ceil(*interval_ns) + INTERVALS_AFTER;
    let long = values
        .iter()
        .find(|(_, values)| values.len() as u64 > intervals);
    match long {
        None => Ok(()),
        Some((name, values)) => Err(format!(
            "series {name} is longer than the trial ({} intervals)",
            values.len()
        )),
    }
}

fn histograms(record: &Record) -> Result<(), String> {
    let decode = |name: &str, text: Option<&str>| match text.map(histogram::decode) {
        Some(Err(error)) => Err(format!("latencies of {name}: {error}")),
        Some(Ok(_)) | None => Ok(()),
    };
    decode("operations", record.operations.as_deref())?;
    let mut disks = record.volumes.iter().flat_map(|volume| &volume.disks);
    disks.try_for_each(|disk: &DiskRecord| {
        decode(&disk.name, disk.read_latency.as_deref())?;
        decode(&disk.name, disk.write_latency.as_deref())
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::examples;
    use crate::examples::of_plan as sound;
    use crate::spec::{Spec, Variant};

    fn plan() -> Plan {
        let spec = Spec::builtin("tempdb-ssd-vs-premium", &[], Variant::default());
        Plan::new(&spec.expect("it is built in"), false)
    }

    /// The error for a valid record after `change`.
    fn wrong(change: impl Fn(&mut Record)) -> String {
        let plan = plan();
        let mut record = sound(&plan);
        check(&record, &plan).expect("it is sound");
        change(&mut record);
        check(&record, &plan).expect_err("it is not sound any more")
    }

    #[test]
    fn counters_that_have_no_sum_are_refused() {
        let disks = wrong(|record| record.volumes[0].disks[0].reads = u64::MAX);
        assert!(disks.contains("requests of its disks"), "{disks}");
        let bytes = wrong(|record| record.volumes[0].disks[0].write_bytes = u64::MAX);
        assert!(bytes.contains("bytes of its disks"), "{bytes}");
        let time = wrong(|record| {
            let parts = record.time_split_ns.values_mut();
            parts.for_each(|part| *part = u64::MAX);
        });
        assert!(time.contains("parts of its time"), "{time}");
    }

    #[test]
    fn a_record_is_that_of_its_trial() {
        let told = [
            wrong(|record| record.plan = "0".repeat(16)),
            wrong(|record| record.experiment = "another".to_owned()),
            wrong(|record| record.mode = "measure".to_owned()),
            wrong(|record| record.arm = "another".to_owned()),
            wrong(|record| record.block = 2),
            wrong(|record| record.position += 1),
            wrong(|record| record.seed += 1),
            wrong(|record| record.volumes[0].name = "z".to_owned()),
            wrong(|record| {
                record.engine = examples::emulated("x", 0, 1.0).engine;
            }),
        ];
        let words = [
            "belongs to plan",
            "experiment",
            "mode",
            "no arm \"another\"",
            "seed",
            "position",
            "seed",
            "no volume \"z\"",
            "engine is \"postgres\"",
        ];
        for (told, word) in told.iter().zip(words) {
            assert!(told.contains(word), "{told} without {word}");
        }
    }

    #[test]
    fn a_variation_has_no_record_of_a_later_block() {
        let plan = plan();
        let variation = &plan.variations[0].arm.name;
        let told = wrong(|record| {
            record.arm = variation.clone();
            record.block = 1;
        });
        assert!(
            told.contains("no trial of arm") && told.contains("in block 1"),
            "{told}"
        );
    }

    #[test]
    fn a_later_block_than_the_plans_last_is_a_record_of_it_too() {
        let plan = plan();
        let arm = &plan.arms[0].name;
        let more = [("protocol.blocks".to_owned(), "40".to_owned())];
        let spec = Spec::builtin("tempdb-ssd-vs-premium", &more, Variant::default());
        let longer = Plan::new(&spec.expect("it is built in"), false);
        let trial = longer
            .trials()
            .iter()
            .find(|trial| trial.arm == *arm && trial.block == 39);
        assert_eq!(plan.trial(arm, 39).as_ref(), trial);
    }

    #[test]
    fn what_cannot_be_measured_is_told() {
        let told = [
            wrong(|record| *record.metrics.entry("elapsed_s".into()).or_default() = -1.0),
            wrong(|record| *record.metrics.entry("elapsed_s".into()).or_default() = f64::NAN),
            wrong(|record| record.limits[0].used = f64::INFINITY),
            wrong(|record| *record.counters.entry("commits".into()).or_default() = -1e308),
            wrong(|record| record.phases[1].start_ns = u64::MAX),
            wrong(|record| record.phases.swap(0, 1)),
            wrong(|record| record.phases.clear()),
            wrong(|record| record.series.interval_ns = 0),
            wrong(|record| {
                record
                    .series
                    .values
                    .insert("operations".to_owned(), vec![0; 10_000]);
            }),
            wrong(|record| record.operations = Some("~".to_owned())),
            wrong(|record| record.volumes[0].disks[0].read_latency = Some("AAAA".to_owned())),
            wrong(|record| record.errors.first.push("text".to_owned())),
            wrong(|record| {
                let pacing = record.pacing.as_mut().expect("it was emulated");
                pacing.late = pacing.requests + 1;
            }),
        ];
        let words = [
            "negative",
            "not finite",
            "not finite",
            "more than can be counted",
            "ends before it starts",
            "starts before",
            "no measured phase",
            "an interval of 0",
            "10000 intervals",
            "not base64",
            "damaged",
            "more error texts",
            "late",
        ];
        for (told, word) in told.iter().zip(words) {
            assert!(told.contains(word), "{told} without {word}");
        }
    }
}
