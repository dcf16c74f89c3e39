//! Builds findings from records; combines all other modules.

use std::collections::BTreeMap;

use super::agreement;
use super::cheapest::cheapest;
use super::compared::{comparisons, noise_floor};
use super::diagnosis::diagnose;
use super::disks::volumes;
use super::limits::machine_limits;
use super::metrics::{counters, estimates};
use super::split::Split;
use super::sweeps::stops_helping;
use super::trials::Trials;
use super::withheld::withhold;
use super::{
    Arm, ArmVolume, Disk, Findings, SCHEMA, advice, burst, checkpoint, conditions, default_decides,
    environment, inconclusive, local_data, no_write_back, not_as_asked, not_exercised,
    number_of_files, one_writer, published, same_disk, stress, timing, too_little_io, warnings,
};
use catalogue::PerRequest;
use experiment::question::{ArmQuestion, Question, RequestPrice};
use experiment::record::Record;

/// What `records` say about `question`.
///
/// Records may come in any order and from any source; those of another experiment, mode or arm are left out with a
/// warning. The same records give the same findings on any machine.
pub fn make(question: &Question, records: &[Record]) -> Findings {
    let trials = Trials::of(question, records);
    let arms: Vec<Arm> = question
        .arms
        .iter()
        .map(|asked| arm(asked, &trials))
        .collect();
    let all: Vec<&Record> = trials.all_finished().collect();
    let mut findings = Findings {
        schema: SCHEMA.into(),
        experiment: question.experiment.clone(),
        question: question.question.clone(),
        source: question.source.clone(),
        mode: question.mode.clone(),
        seed: question.seed,
        blocks: question.blocks,
        arms,
        comparisons: withhold(&trials, comparisons(question, &trials)),
        stops_helping: stops_helping(question, &trials),
        cheapest: Vec::new(),
        agreement: None,
        noise_floor: noise_floor(question, &trials),
        fitted: question.fitted.clone(),
        changed: question.changed.clone(),
        warnings: Vec::new(),
        engine: environment::engine(&all),
        environment: environment::environment(&all),
        lateness: environment::lateness(&all),
    };
    findings.agreement = agreement::of(question, findings.mode(), &findings.arms);
    findings.cheapest = cheapest(question, &trials, &findings.comparisons);
    let mut warned = warnings::warnings(question, &trials, &findings);
    warned.extend(not_exercised::warnings(&trials, &findings));
    warned.extend(not_as_asked::warnings(question, &trials));
    warned.extend(timing::warnings(&trials, &findings));
    warned.extend(conditions::warnings(&trials, &findings));
    warned.extend(too_little_io::warnings(&trials, &findings));
    warned.extend(same_disk::warnings(&trials, &findings));
    warned.extend(default_decides::warnings(question, &trials, &findings));
    warned.extend(no_write_back::warnings(&trials, &findings));
    warned.extend(number_of_files::warnings(&trials, &findings));
    warned.extend(one_writer::warnings(question, &trials, &findings));
    warned.extend(burst::warnings(&trials, &findings));
    warned.extend(checkpoint::warnings(&trials, &findings));
    warned.extend(stress::warnings(&trials, &findings));
    warned.extend(inconclusive::warnings(question, &trials, &findings));
    warned.extend(local_data::warnings(question, &findings));
    warned.extend(published::warnings(&findings));
    findings.warnings = warned;
    findings
}

fn arm(asked: &ArmQuestion, trials: &Trials) -> Arm {
    let finished = trials.finished(&asked.name);
    let split = Split::of(finished);
    let volumes = volumes(finished);
    let diagnosis = diagnose(finished, &split, &volumes);
    let advice = advice::sentence(finished, &volumes);
    let reason = match advice {
        Some(advice) => format!("{} {advice}.", diagnosis.reason),
        None => diagnosis.reason,
    };
    let requests_usd = requests_usd(&asked.requests, &volumes);
    Arm {
        name: asked.name.clone(),
        trials: count(finished.len()),
        trials_failed: count(trials.failed(&asked.name).len()),
        metrics: estimates(finished),
        drawn: finished.iter().any(|record| !record.drawn.is_empty()),
        published: asked.published.clone(),
        fitted: asked.fitted,
        volumes,
        machine_limits: machine_limits(finished),
        time_split: split.reported(),
        bound_by: diagnosis.bound_by,
        next: diagnosis.next,
        reason,
        usd_per_month: asked
            .usd_per_month
            .zip(requests_usd)
            .map(|(disks, requests)| disks + requests),
        requests_usd_per_month: requests_usd.filter(|_| !asked.requests.is_empty()),
        with_machine: asked.with_machine,
        with_windows: asked.with_windows,
        price_lists: asked.price_lists.clone(),
        counters: counters(finished),
        survived: None,
    }
}

/// Dollars a month for the requests to volumes with these prices, as if those of the trials went on all month; `None` where no trial has
/// counted them.
fn requests_usd(prices: &BTreeMap<String, RequestPrice>, volumes: &[ArmVolume]) -> Option<f64> {
    let of_volume = |(name, price): (&String, &RequestPrice)| {
        let volume = volumes.iter().find(|volume| volume.name == *name)?;
        let price = PerRequest {
            usd_per_10000: price.usd_per_10000,
            hourly_max: price.hourly_max,
        };
        let of_disk = |disk: &Disk| price.usd_per_month(disk.read_iops + disk.write_iops);
        Some(volume.disks.iter().map(of_disk).sum::<f64>())
    };
    prices.iter().map(of_volume).sum()
}

fn count(trials: usize) -> u32 {
    u32::try_from(trials).expect("an arm has one trial a block, and blocks are counted in 32 bits")
}

#[cfg(test)]
mod tests {
    use super::super::Verdict;
    use super::*;
    use experiment::examples::{question, records, trial};

    #[test]
    fn the_articles_tie_is_found_with_its_reason() {
        let findings = make(&question(), &records());

        assert_eq!(findings.comparisons[0].verdict, Verdict::NoDifference);
        assert_eq!(
            findings.arms[0].bound_by.to_string(),
            "machine.cached.throughput"
        );
        assert_eq!(
            findings.arms[1].bound_by.to_string(),
            "machine.cached.throughput"
        );
    }

    #[test]
    fn the_order_of_records_does_not_matter() {
        let mut reversed = records();
        reversed.reverse();

        assert_eq!(make(&question(), &records()), make(&question(), &reversed));
    }

    #[test]
    fn no_records_at_all_still_make_findings() {
        let findings = make(&question(), &[]);

        assert_eq!(findings.arms[0].trials, 0);
        assert!(findings.comparisons.is_empty());
        assert!(
            findings
                .warnings
                .iter()
                .any(|warning| warning.id == "missing-trials")
        );
    }

    #[test]
    fn one_block_cannot_tell() {
        let records = [trial("local-ssd", 0, 157.0), trial("p30", 0, 300.0)];

        let findings = make(&question(), &records);

        assert_eq!(findings.comparisons[0].verdict, Verdict::CannotTell);
        assert!(
            findings
                .warnings
                .iter()
                .any(|warning| warning.id == "one-block")
        );
    }
}
