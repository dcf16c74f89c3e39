//! Pairs two results by what they have in common.

use crate::findings::{Arm, Findings};
use reading::fact;

/// The two cannot be shown side by side.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NothingInCommon {
    /// The two results share no arm name.
    #[error(
        "the two results have no arm in common (the first has {0}; the second {1}); give two results of one experiment"
    )]
    Arm(String, String),
    /// No arm of both reports the metric.
    #[error("the two results have no arm in common that reports {0}; name another with --metric")]
    Metric(String),
    /// Modelled disks were presented to the engine in different ways.
    #[error(
        "the first result is of {0} mode and the second of {1} mode, with and without a filesystem's cache, so that \
         they cannot be compared; run one of them again with --front {0}"
    )]
    Front(String, String),
}

/// An arm in both results.
pub(super) type Arms<'a> = (&'a Arm, &'a Arm);

/// Two results that have arms in common.
pub(super) struct Both<'a> {
    pub(super) before: &'a Findings,
    pub(super) after: &'a Findings,
    /// Their names.
    pub(super) names: [String; 2],
}

impl<'a> Both<'a> {
    pub(super) fn of(
        before: &'a Findings,
        after: &'a Findings,
    ) -> Result<Both<'a>, NothingInCommon> {
        let both = Both {
            before,
            after,
            names: names(before, after),
        };
        both.check()?;
        Ok(both)
    }

    /// Arms that both have.
    pub(super) fn arms(&self) -> impl Iterator<Item = Arms<'_>> {
        self.before.arms.iter().filter_map(|arm| {
            let mut others = self.after.arms.iter();
            Some((arm, others.find(|other| other.name == arm.name)?))
        })
    }

    fn check(&self) -> Result<(), NothingInCommon> {
        let both = [self.before, self.after];
        let front = |findings: &Findings| findings.environment.get(fact::FRONT).cloned();
        if let [Some(one), Some(other)] = both.map(front)
            && one != other
        {
            return Err(NothingInCommon::Front(one, other));
        }
        if self.arms().next().is_none() {
            let [one, other] = both.map(|findings| {
                let arms = findings.arms.iter().map(|arm| arm.name.as_str());
                arms.collect::<Vec<_>>().join(", ")
            });
            return Err(NothingInCommon::Arm(one, other));
        }
        Ok(())
    }

    pub(super) fn cautions(&self) -> Vec<String> {
        let mut cautions = vec![
            "The trials of the two were not interleaved, so this is not a verdict: run both placements in \
             one experiment for that."
                .to_owned(),
        ];
        if self.before.mode != self.after.mode {
            cautions.push(format!(
                "The first was made in mode {}, the second in mode {}: shown side by side, not pooled.",
                self.before.mode, self.after.mode
            ));
        }
        for (name, findings) in self.names.iter().zip([self.before, self.after]) {
            let ids = findings.warnings.iter().map(|warning| warning.id.as_str());
            let ids: Vec<&str> = ids.collect();
            if !ids.is_empty() {
                cautions.push(format!("Warnings of {name}: {}.", ids.join(", ")));
            }
        }
        cautions
    }
}

/// Names for the two results: mode and engine where these differ.
fn names(before: &Findings, after: &Findings) -> [String; 2] {
    let name = |findings: &Findings| match &findings.engine {
        Some(engine) => format!("{}, {} {}", findings.mode, engine.name, engine.version),
        None => findings.mode.clone(),
    };
    let named = [name(before), name(after)];
    if named[0] == named[1] {
        ["before", "after"].map(str::to_owned)
    } else {
        named
    }
}
