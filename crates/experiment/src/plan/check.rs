//! Checks whether a plan from a file could result from an experiment.

use std::collections::BTreeSet;

use super::{Plan, PlanError, twin_of, variation};
use crate::spec::error::{Fault, remedy};
use crate::spec::{Arm, Mode, Script, Settings, bounds, protocol, rules};

/// Default metric for the replay of a profile.
const METRIC_OF_PROFILES: &str = "operations_per_s";

/// Applies the rules of experiments to the whole plan.
///
/// # Errors
/// The first rule that it breaks.
pub(super) fn rules(plan: &Plan) -> Result<(), PlanError> {
    whole(plan).map_err(|fault| broken(None, &fault))?;
    let mode = plan.variant.mode;
    for arm in &plan.arms {
        let checked = rules::settings(&arm.settings, mode)
            .and_then(|()| protocol::check_figures(&arm.name, &arm.published));
        checked.map_err(|fault| broken(Some(&arm.name), &fault))?;
    }
    // Last, since errors in an arm would recur in its derived arms.
    made_of_arms(plan).map_err(|fault| broken(None, &fault))
}

fn broken(arm: Option<&str>, fault: &Fault) -> PlanError {
    let place = arm.map_or(String::new(), |arm| format!("arm \"{arm}\": "));
    PlanError::Rule(format!("{place}{}", fault.message()))
}

/// Checks what is outside of a single arm's settings: names and references to them.
fn whole(plan: &Plan) -> Result<(), Fault> {
    bounds::named(&["name"], &plan.experiment)?;
    bounds::named(&["engine", "name"], plan.variant.engine.as_str())?;
    protocol::check_question(&plan.question)?;
    let (compared, _) = with_twin(plan)?;
    let mut names = BTreeSet::new();
    for arm in compared {
        bounds::arm_named(&["arm", &arm.name], &arm.name)?;
        if !names.insert(arm.name.as_str()) {
            let message = format!("arm \"{}\" is defined twice; rename one", arm.name);
            return Err(Fault::at(&["arm", &arm.name], message));
        }
    }
    protocol::check(&plan.protocol, names.iter().copied())?;
    protocol::check_trials(compared.len(), plan.protocol.blocks)?;
    if plan.arms.iter().any(|arm| is_replayed(&arm.settings)) {
        protocol::check_replayed(&plan.protocol.metric, METRIC_OF_PROFILES)?;
    }
    for arm in compared {
        if let Some(baseline) = &arm.baseline {
            known(&["arm", &arm.name, "baseline"], baseline, &names)?;
        }
    }
    for sweep in &plan.sweeps {
        let key = ["sweep", &sweep.key];
        let mut values = sweep.values.iter();
        values.try_for_each(|value| known(&key, &value.arm, &names))?;
    }
    for fitted in &plan.fitted {
        let key = ["fitted", &fitted.parameter];
        let mut to = fitted.to.iter();
        to.try_for_each(|arm| known(&key, arm, &names))?;
    }
    Ok(())
}

/// The arms of the experiment, at least one, and the baseline's twin.
fn with_twin(plan: &Plan) -> Result<(&[Arm], Option<&Arm>), Fault> {
    let split = match &plan.twin {
        None => (plan.arms.as_slice(), None),
        Some(name) => match plan.arms.split_last() {
            Some((last, compared)) if last.name == *name => (compared, Some(last)),
            Some(_) | None => {
                let message = format!("the twin \"{name}\" is not the last arm");
                return Err(Fault::at(&["twin"], message));
            }
        },
    };
    match split.0 {
        [] => Err(Fault::at(&["arm"], "there is no arm; give at least one")),
        [_, ..] => Ok(split),
    }
}

fn is_replayed(settings: &Settings) -> bool {
    match settings.workload.script {
        Script::Profile { .. } => true,
        Script::BuiltIn(_) | Script::Folder(_) => false,
    }
}

fn known(key: &[&str], arm: &str, arms: &BTreeSet<&str>) -> Result<(), Fault> {
    match arms.contains(arm) {
        true => Ok(()),
        false => {
            let hint = remedy(arm, "defined", arms.iter().copied());
            Err(Fault::at(key, format!("\"{arm}\" is not an arm{hint}")))
        }
    }
}

/// Rejects a twin or variations that do not match the arms they claim to derive from.
fn made_of_arms(plan: &Plan) -> Result<(), Fault> {
    let (compared, twin) = with_twin(plan)?;
    if let Some(twin) = twin
        && *twin != twin_of(compared, &plan.protocol.baseline)
    {
        let message = format!("arm \"{}\" is not the baseline once more", twin.name);
        return Err(Fault::at(&["twin"], message));
    }
    let mut varied = BTreeSet::new();
    for variation in &plan.variations {
        let name = &variation.of;
        let key = ["variation", name.as_str()];
        if plan.variant.mode != Mode::Simulate {
            let message = "there are variations in real time, and only simulate runs them";
            return Err(Fault::at(&key, message));
        }
        let original = compared.iter().find(|arm| arm.name == *name);
        let Some(original) = original.filter(|_| varied.insert(name)) else {
            let message = format!("\"{name}\" is not an arm that is varied once");
            return Err(Fault::at(&key, message));
        };
        if *variation != variation::varied(original) {
            let message = format!("it is not arm \"{name}\" with one setting at its other value");
            return Err(Fault::at(&key, message));
        }
    }
    Ok(())
}

/// Whether the trials are those of the arms, variations and blocks, at least one. Their number is compared first, so
/// that a huge number of blocks takes no time. Another version may have drawn another order, and other seeds; its records
/// can still be reported.
pub(super) fn has_its_trials(plan: &Plan) -> bool {
    let blocks = plan.protocol.blocks;
    let compared = plan.arms.len().checked_mul(blocks as usize);
    let count = compared.and_then(|count| count.checked_add(plan.variations.len()));
    if plan.arms.is_empty() || blocks == 0 || count != Some(plan.trials.len()) {
        return false;
    }
    if plan.version == env!("CARGO_PKG_VERSION") {
        let own = (0..blocks).flat_map(|block| plan.block(block));
        return own.eq(plan.trials.iter().cloned());
    }
    let arms: BTreeSet<&str> = plan.all_arms().map(|arm| arm.name.as_str()).collect();
    plan.trials
        .iter()
        .all(|trial| trial.block < blocks && arms.contains(trial.arm.as_str()))
}
