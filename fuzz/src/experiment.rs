//! Experiments: what `dbstow check` and `dbstow plan` do.

use std::sync::LazyLock;

use crate::ENGINES;
use experiment::plan::Plan;
use experiment::spec::{EngineName, Mode, Spec, Variant};
use lab::inventory::Inventory;

/// Each engine reads a workload's scripts in its own dialect.
static INVENTORIES: LazyLock<Vec<(EngineName, Inventory)>> = LazyLock::new(|| {
    let engines = ENGINES.names().map(EngineName::new);
    let inventory = |engine: &EngineName| Inventory::with_engines(ENGINES).of_engine(engine);
    engines
        .map(|engine| (engine.clone(), inventory(&engine)))
        .collect()
});

/// Parses, checks and plans both interpretations of the file; it is refused when neither accepts it.
pub(crate) fn read(text: &str) -> Result<(), String> {
    let engine = EngineName::meant_by(text);
    let simulated = Variant {
        engine,
        ..Variant::default()
    };
    let quick = Variant {
        mode: Mode::Emulate,
        quick: true,
        ..simulated.clone()
    };
    let (one, other) = (planned(text, simulated), planned(text, quick));
    one.or(other)
}

fn planned(text: &str, variant: Variant) -> Result<(), String> {
    let known = INVENTORIES
        .iter()
        .find(|(engine, _)| *engine == variant.engine);
    // An engine that does not exist is refused by either inventory.
    let (_, inventory) = known.unwrap_or(&INVENTORIES[0]);
    let spec = Spec::parse("fuzz.toml", text, &[], variant).map_err(|error| error.to_string())?;
    let spec = spec.check(inventory).map_err(|error| error.to_string())?;
    let plan = Plan::new(&spec, true);
    assert!(!plan.describe().is_empty());
    assert!(!plan.command().is_empty());
    let read = Plan::from_json(&plan.to_json()).expect("a plan that was written is one");
    assert_eq!(read, plan, "a plan reads back as it was written");
    Ok(())
}
