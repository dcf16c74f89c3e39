//! Experiments: what `dbstow check` and `dbstow plan` do.

use std::sync::LazyLock;

use experiment::plan::Plan;
use experiment::spec::{EngineKind, Mode, Spec, Variant};
use lab::inventory::Inventory;

/// Each engine reads a workload's scripts in a dialect of its own.
static INVENTORIES: LazyLock<[(EngineKind, Inventory); 4]> = LazyLock::new(|| {
    let engines = [
        EngineKind::Sqlite,
        EngineKind::Postgres,
        EngineKind::SqlServer,
        EngineKind::Raw,
    ];
    engines.map(|engine| (engine, Inventory::builtin().of_engine(engine)))
});

/// Reads, checks and plans in both readings of the file; refused is what neither takes.
pub(crate) fn read(text: &str) -> Result<(), String> {
    let engine = EngineKind::meant_by(text);
    let simulated = Variant {
        engine,
        ..Variant::default()
    };
    let quick = Variant {
        mode: Mode::Emulate,
        quick: true,
        ..simulated
    };
    planned(text, simulated).or(planned(text, quick))
}

fn planned(text: &str, variant: Variant) -> Result<(), String> {
    let spec = Spec::parse("fuzz.toml", text, &[], variant).map_err(|error| error.to_string())?;
    let known = INVENTORIES
        .iter()
        .find(|(engine, _)| *engine == variant.engine);
    let (_, inventory) = known.expect("there is one for each");
    let spec = spec.check(inventory).map_err(|error| error.to_string())?;
    let plan = Plan::new(&spec, true);
    assert!(!plan.describe().is_empty());
    assert!(!plan.command().is_empty());
    let read = Plan::from_json(&plan.to_json()).expect("a plan that was written is one");
    assert_eq!(read, plan, "a plan reads back as it was written");
    Ok(())
}
