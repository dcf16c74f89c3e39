//! Provisions 3,000 to 16,000 IOPS on a gp3 disk, and says where more of them stop helping.
//!
//! `cargo run -p dbstow-lab --example sweep`

use analysis::findings;
use experiment::build::{Experiment, Placement, Volume, Workload};
use experiment::plan::Plan;
use experiment::spec::Variant;
use lab::{Event, RunInputs};

/// A step that gains less than this is not worth its price.
const GAIN_MIN: f64 = 0.05;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let steps = [3_000, 4_000, 6_000, 8_000, 12_000, 16_000];
    let mut experiment = Experiment::new("iops-of-gp3", "How many IOPS are enough?")
        .machine("aws.r5b.2xlarge")
        .memory("64 MiB")
        .workload(Workload::builtin("spill").sessions(2).operations(2))
        .blocks(1);
    for iops in steps {
        let volume = Volume::of("aws.gp3.2025").size("1 TiB").iops(iops);
        let name = format!("{iops}");
        experiment = experiment
            .volume(&name, volume)
            .placement(&name, Placement::on(&name));
    }
    let inputs = RunInputs::default();
    let spec = experiment.build(Variant::default())?;
    let plan = Plan::new(&spec.check(&inputs.inventory)?, false);
    let finished = lab::run(&plan, &inputs, &|event: Event<'_>| {
        if let Event::TrialEnded { trial, .. } = event {
            eprintln!("{} IOPS done", trial.arm);
        }
    })?;
    let findings = findings::make(&finished.question, &finished.records);
    let mut before: Option<f64> = None;
    for iops in steps {
        let arm = findings
            .arms
            .iter()
            .find(|arm| arm.name == iops.to_string());
        let arm = arm.expect("each step is an arm");
        let elapsed_s = arm.metrics["elapsed_s"].mean;
        let gain = before.map_or(f64::INFINITY, |before| before / elapsed_s - 1.0);
        let enough = if gain < GAIN_MIN {
            "gains less than 5 %"
        } else {
            ""
        };
        println!("{iops:>6} IOPS {elapsed_s:>8.2} s  {enough}");
        before = Some(elapsed_s);
    }
    Ok(())
}
