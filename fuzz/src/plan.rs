//! Plan files: what `dbstow trial` and `dbstow submit` do with them before creating anything.

use crate::ENGINES;
use experiment::plan::{Estimate, Plan, Unchecked};
use lab::Prepared;
use lab::plan_file::PlanFile;
use lab::trial::Stage;
use serde_json::Value;

/// Placeholder in the corpus for the version of the program, as a plan only runs with its own version.
const VERSION: &str = "PLAN-VERSION";

/// Parses the plan, with matching digest and trials, resolves everything it names, and stages it.
pub(crate) fn read(text: &str) -> Result<(), String> {
    let text = text.replace(VERSION, env!("CARGO_PKG_VERSION"));
    let file = PlanFile::from_json(&forged(&text)?).map_err(|error| error.to_string())?;
    let inventory = file.inventory(ENGINES).map_err(|error| error.to_string())?;
    let plan = &file.plan;
    let prepared = Prepared::new(plan, &inventory, &Default::default());
    let prepared = prepared.map_err(|error| error.to_string())?;
    for arm in plan.all_arms() {
        let stage = Stage::new(&arm.settings, &inventory.catalogue).expect("it was prepared");
        stage.build(arm.settings.workload.sessions.into());
    }
    assert_eq!(prepared.question().experiment, plan.experiment);
    assert!(!plan.describe().is_empty() && !plan.command().is_empty());
    let estimate = Estimate::of(plan, plan.trials(), &Default::default());
    assert!(!estimate.to_string().is_empty());
    let again = PlanFile::from_json(&file.to_json()).expect("a plan that was written is one");
    assert_eq!(again.plan, *plan, "a plan reads back as it was written");
    assert_eq!(
        again.inputs, file.inputs,
        "and so do the files that it carries"
    );
    Ok(())
}

/// The document with a plan that matches its digest, and the files that it carries.
fn forged(text: &str) -> Result<String, String> {
    let unchecked = Unchecked::<Plan>::read(text).map_err(|error| error.to_string())?;
    let parsed = |text: &str| serde_json::from_str::<Value>(text).expect("it was just read");
    let mut document = parsed(&unchecked.forged().to_json());
    if let Some(inputs) = parsed(text).get("inputs") {
        document["inputs"] = inputs.clone();
    }
    Ok(document.to_string())
}
