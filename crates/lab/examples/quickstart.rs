//! Runs a built-in experiment in virtual time, and prints its table.
//!
//! `cargo run -p dbstow-lab --example quickstart`

use analysis::{findings, report};
use experiment::plan::Plan;
use experiment::spec::{Spec, Variant};
use lab::{Event, RunInputs};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let inputs = RunInputs::default();
    let spec = Spec::builtin("tempdb-ssd-vs-premium", &[], Variant::QUICK)?;
    let plan = Plan::new(&spec.check(&inputs.inventory)?, false);
    let finished = lab::run(&plan, &inputs, &|_: Event<'_>| {})?;
    let findings = findings::make(&finished.question, &finished.records);
    let shown = report::run::report(&findings);
    let (width, extent) = (report::Width::default(), report::Extent::Full);
    print!("{}", report::terminal::render(&shown, width, extent));
    Ok(())
}
