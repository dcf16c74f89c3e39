//! Engine and environment of real-time trials.

use std::collections::BTreeMap;

use super::disks::measured_s;
use super::metrics::NS_PER_MS;
use super::{Engine, Lateness};
use experiment::record::{Pacing, Record, histogram};

/// The engine of the first trial that names one; conflicting ones are reported by a warning.
pub(super) fn engine(trials: &[&Record]) -> Option<Engine> {
    let first = trials.iter().find_map(|record| record.engine.as_ref())?;
    Some(Engine {
        name: first.name.clone(),
        version: first.version.clone(),
        file: first.file.clone(),
    })
}

/// Facts that are equal in all trials, which excludes free space and the like.
pub(super) fn environment(trials: &[&Record]) -> BTreeMap<String, String> {
    let mut trials = trials.iter().map(|record| &record.environment);
    let Some(first) = trials.next() else {
        return BTreeMap::new();
    };
    let mut same = first.clone();
    for other in trials {
        same.retain(|name, value| other.get(name) == Some(value));
    }
    same
}

/// Timing accuracy over `trials`; `None` where nothing was paced.
pub(super) fn lateness(trials: &[&Record]) -> Option<Lateness> {
    let paced: Vec<(&Record, &Pacing)> = trials
        .iter()
        .filter_map(|record| Some((*record, record.pacing.as_ref()?)))
        .collect();
    let (_, first) = paced.first()?;
    let mut error = histogram::empty();
    for (_, pacing) in &paced {
        error
            .add(&pacing.error)
            .expect("a histogram that grows takes any other");
    }
    let sum = |of: fn(&Pacing) -> u64| {
        let all = paced.iter().map(|(_, pacing)| of(pacing));
        all.fold(0, u64::saturating_add)
    };
    let requests = sum(|pacing| pacing.requests);
    let measured: f64 = paced.iter().map(|(record, _)| measured_s(record)).sum();
    let at = |quantile| error.value_at_quantile(quantile) as f64 / NS_PER_MS;
    Some(Lateness {
        transport: first.transport.clone(),
        requests,
        late: sum(|pacing| pacing.late) as f64 / (requests as f64).max(1.0),
        error_p50_ms: at(0.5),
        error_p99_ms: at(0.99),
        error_mean_ms: error.mean() / NS_PER_MS,
        latency_mean_ms: latency_mean_ms(trials),
        cores: if measured > 0.0 {
            sum(|pacing| pacing.cpu_ns) as f64 / 1e9 / measured
        } else {
            0.0
        },
    })
}

/// Mean over all requests of all disks.
fn latency_mean_ms(trials: &[&Record]) -> Option<f64> {
    let volumes = trials.iter().flat_map(|record| &record.volumes);
    let disks = volumes.flat_map(|volume| &volume.disks);
    let texts = disks.flat_map(|disk| [&disk.read_latency, &disk.write_latency]);
    let (merged, _) = histogram::merge(texts.filter_map(|text| text.as_deref()));
    (!merged.is_empty()).then(|| merged.mean() / NS_PER_MS)
}

#[cfg(test)]
mod tests {
    use super::*;
    use experiment::examples::{emulated, trial};

    #[test]
    fn what_differs_between_trials_is_not_the_environment() {
        let with_free = |free: &str| {
            let mut record = emulated("p30", 0, 100.0);
            record.environment = [("kernel", "6.18"), ("volume d: free", free)]
                .map(|(name, value)| (name.to_owned(), value.to_owned()))
                .into();
            record
        };
        let (one, two) = (with_free("9 GiB"), with_free("8 GiB"));

        let same = environment(&[&one, &two]);

        assert_eq!(same.keys().collect::<Vec<_>>(), ["kernel"]);
    }

    #[test]
    fn lateness_is_that_of_all_trials_together() {
        let (mut one, two) = (emulated("p30", 0, 100.0), emulated("p30", 1, 100.0));
        let pacing = one.pacing.as_mut().unwrap();
        pacing.late += pacing.requests / 50;
        pacing.cpu_ns = 60_000_000_000;

        let lateness = lateness(&[&one, &two]).unwrap();

        // 40 + 1,660 and 40 of 2 x 83,000; 60 s and 20 s of processor time in 200 s
        assert!(
            (lateness.late - 1_740.0 / 166_000.0).abs() < 1e-9,
            "{lateness:?}"
        );
        assert!((lateness.cores - 0.4).abs() < 1e-9, "{lateness:?}");
        assert!(lateness.error_p99_ms > lateness.error_p50_ms);
    }

    #[test]
    fn a_simulated_trial_has_no_engine_and_no_lateness() {
        let record = trial("p30", 0, 100.0);

        assert_eq!(engine(&[&record]), None);
        assert_eq!(lateness(&[&record]), None);
    }
}
