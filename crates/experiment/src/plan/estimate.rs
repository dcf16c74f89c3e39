//! Estimates the duration of a run in real time before it starts.

use std::collections::BTreeMap;
use std::fmt;

use model::Duration;

use super::{Plan, Trial, counted};
use crate::spec::Amount;

/// Known duration of trials.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Estimate {
    /// The known part.
    pub least: Duration,
    /// Number of trials with unknown load time.
    pub loads_unknown: u32,
    /// Number of trials of unknown duration: they end after a number of operations.
    pub trials_unknown: u32,
}

impl Estimate {
    /// Estimates the duration of `trials` of `plan`. `earlier` is the mean duration of a whole trial by arm.
    pub fn of(plan: &Plan, trials: &[Trial], earlier: &BTreeMap<String, Duration>) -> Estimate {
        let mut estimate = Estimate::default();
        for trial in trials {
            if let Some(whole) = earlier.get(&trial.arm) {
                estimate.least += *whole;
                continue;
            }
            let arm = plan
                .arm(&trial.arm)
                .expect("a plan's trials are of its arms");
            let workload = &arm.settings.workload;
            match workload.amount {
                Amount::Duration(duration) => {
                    estimate.least += workload.warm_up + duration;
                    estimate.loads_unknown += 1;
                }
                Amount::Operations(_) => estimate.trials_unknown += 1,
            }
        }
        estimate
    }
}

impl fmt::Display for Estimate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let least = self.least.as_secs_f64();
        match (least > 0.0, self.loads_unknown, self.trials_unknown) {
            (true, 0, 0) => write!(f, "about {}, based on earlier trials", rounded(least)),
            (true, _, 0) => write!(
                f,
                "at least {}, plus loading, whose duration is unknown until the first trial finishes",
                rounded(least)
            ),
            (true, _, unknown) => write!(
                f,
                "at least {}; {} {} after a number of operations, which is not known in time before a first trial",
                rounded(least),
                counted(unknown, "trial"),
                if unknown == 1 { "ends" } else { "end" }
            ),
            (false, _, 0) => f.write_str("no time: there is nothing to do"),
            (false, _, _) => f.write_str(
                "a time not known before a first trial: trials end after a number of operations",
            ),
        }
    }
}

/// Whole seconds below two minutes, whole minutes above.
fn rounded(seconds: f64) -> String {
    if seconds < 120.0 {
        format!("{seconds:.0} s")
    } else {
        format!("{:.0} min", seconds / 60.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::spec::{Spec, Variant};

    fn plan(name: &str) -> Plan {
        Plan::new(
            &Spec::builtin(name, &[], Variant::default()).expect("built in"),
            false,
        )
    }

    #[test]
    fn durations_are_known_and_loads_are_not() {
        let plan = plan("tempdb-scale-out");
        let estimate = Estimate::of(&plan, plan.trials(), &BTreeMap::new());
        // 3 arms x 8 blocks, each of 8 s of warm-up and 12 s.
        assert_eq!(estimate.least, Duration::from_secs(3 * 8 * 20));
        assert_eq!(estimate.loads_unknown, 24);
        assert!(
            estimate.to_string().starts_with("at least 8 min"),
            "{estimate}"
        );
    }

    #[test]
    fn numbers_of_operations_are_not_known_until_a_trial_has_shown_it() {
        let plan = plan("tempdb-ssd-vs-premium");
        let unknown = Estimate::of(&plan, plan.trials(), &BTreeMap::new());
        assert!(
            unknown.to_string().starts_with("a time not known"),
            "{unknown}"
        );
        let arms = plan.all_arms().map(|arm| arm.name.clone());
        let earlier = arms.map(|arm| (arm, Duration::from_secs(9))).collect();
        let known = Estimate::of(&plan, plan.trials(), &earlier);
        // 2 arms x 8 blocks and a variation, of 9 s each.
        assert_eq!(known.to_string(), "about 3 min, based on earlier trials");
    }
}
