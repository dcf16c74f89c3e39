//! Runs a built-in experiment in virtual time, and prints its table.
//!
//! `cargo run -p dbstow-lab --example quickstart`

use analysis::{findings, report};
use experiment::plan::Plan;
use experiment::spec::{Spec, Variant};
use lab::{Event, Providers};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let providers = Providers::default();
    let spec = Spec::builtin("tempdb-ssd-vs-premium", &[], Variant::QUICK)?;
    let plan = Plan::new(&spec.check(&providers.inventory)?, false);
    let finished = lab::run(&plan, &providers, &|_: Event<'_>| {})?;
    let findings = findings::make(&finished.question, &finished.records);
    print!("{}", report::terminal::render(&findings));
    Ok(())
}
