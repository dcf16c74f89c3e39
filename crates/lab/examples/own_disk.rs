//! Holds a disk of your own, described as a catalogue file does, against one of the catalogue.
//!
//! `cargo run -p dbstow-lab --example own_disk`

use analysis::{findings, report};
use experiment::build::{Experiment, Placement, Volume, Workload};
use experiment::plan::Plan;
use experiment::spec::Variant;
use lab::{Event, RunInputs};

/// What `dbstow calibrate DIR` would write; FORMAT.md has the keys.
const DISK: &str = r#"
[source.corner]
title = "fio on the disk in the corner"
date = "2026-11"

[class.corner]
title = "The server's own NVMe disk"
read = { p50 = "105 us", p99 = "201 us", sources = ["corner"] }
write = { p50 = "137 us", p99 = "159 us", sources = ["corner"] }
flush = { value = "1 ms", sources = ["corner"] }
sources = ["corner"]

[disk.corner]
class = "corner"
title = "The disk in the corner"
size = "2 TB"
iops = { read = 54_000, write = 30_000 }
throughput = "500 MB/s"
confidence = "measured"
sources = ["corner"]
"#;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut inputs = RunInputs::default();
    inputs.inventory.add_catalogue(DISK, "own-disk.toml")?;
    let experiment = Experiment::new("own-disk", "Is the disk in the corner as fast as a P30?")
        .machine_of(8, "32 GiB")
        .memory("64 MiB")
        .volume("corner", Volume::of("corner"))
        .volume("p30", Volume::of("azure.premium.p30"))
        .placement("corner", Placement::on("corner"))
        .placement("p30", Placement::on("p30"))
        .workload(Workload::builtin("spill").sessions(2).operations(4));
    let spec = experiment.build(Variant::default())?;
    let plan = Plan::new(&spec.check(&inputs.inventory)?, false);
    let finished = lab::run(&plan, &inputs, &|_: Event<'_>| {})?;
    let findings = findings::make(&finished.question, &finished.records);
    let shown = report::run::report(&findings);
    let (width, extent) = (report::Width::default(), report::Extent::Full);
    print!("{}", report::terminal::render(&shown, width, extent));
    Ok(())
}
