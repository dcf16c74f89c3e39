//! Human-readable description of a plan: what would run, in which order, and with which seeds.

use std::fmt::{self, Write};

use model::{Duration, HostCacheMode};

use super::Plan;
use crate::spec::error::counted;
use crate::spec::{
    Amount, Arm, Arrival, Engine, File, Machine, Mode, Role, Script, Variant, Volume, Workload,
};

fn write(out: &mut String, plan: &Plan) -> fmt::Result {
    let protocol = &plan.protocol;
    writeln!(out, "{}: {}", plan.experiment, plan.question)?;
    for (key, value) in &plan.overrides {
        writeln!(out, "  set {key} = {value}")?;
    }
    if plan.variant.quick {
        writeln!(out, "  quick settings are in force")?;
    }
    if plan.variant.mode != Mode::Simulate {
        let Variant { mode, engine, .. } = &plan.variant;
        writeln!(out, "  {mode} with {engine}, in real time")?;
    }
    for (name, value) in &plan.place {
        writeln!(out, "  {name} = {value}")?;
    }
    writeln!(out)?;
    for arm in &plan.arms {
        write_arm(out, plan, arm)?;
    }
    writeln!(
        out,
        "\n{}, compared by {} against {}, margin {} %",
        plan.size(),
        protocol.metric,
        protocol.baseline,
        (protocol.margin * 1000.0).round() / 10.0
    )?;
    for block in plan.trials.chunk_by(|a, b| a.block == b.block) {
        let order: Vec<&str> = block.iter().map(|trial| trial.arm.as_str()).collect();
        let (number, seed) = block
            .first()
            .map_or((0, 0), |trial| (trial.block, trial.seed));
        writeln!(
            out,
            "  block {number}, seed {seed:016x}: {}",
            order.join(", ")
        )?;
    }
    for fitted in &plan.fitted {
        writeln!(
            out,
            "fitted to {}: {} = {}",
            fitted.to.join(", "),
            fitted.parameter,
            fitted.value
        )?;
    }
    writeln!(out, "seed {}, plan {}", protocol.seed, plan.digest)
}

impl Plan {
    /// Human-readable description of what would run.
    pub fn describe(&self) -> String {
        let mut text = String::new();
        write(&mut text, self).expect("writing to a string does not fail");
        text
    }

    /// `2 arms x 5 blocks = 10 trials`, and the variations.
    pub fn size(&self) -> String {
        let varied = match self.variations.len() {
            0 => String::new(),
            more => format!(" + {more} to see whether a default decides"),
        };
        format!(
            "{} x {} = {}{varied}",
            counted(self.arms.len(), "arm"),
            counted(self.protocol.blocks, "block"),
            counted(self.trials.len() - self.variations.len(), "trial"),
        )
    }
}

fn write_arm(out: &mut String, plan: &Plan, arm: &Arm) -> fmt::Result {
    let settings = &arm.settings;
    let twin = plan.twin.as_ref() == Some(&arm.name);
    let of = if twin { ", the baseline once more" } else { "" };
    writeln!(out, "arm {}{of}", arm.name)?;
    writeln!(out, "  machine   {}", machine(&settings.machine))?;
    for role in Role::ALL {
        let placed = settings.placement.files(role);
        if !placed.is_empty() {
            writeln!(out, "  {:<9} {}", role.name(), files(placed))?;
        }
    }
    for described in &settings.volumes {
        writeln!(out, "  volume    {}", volume(described))?;
    }
    writeln!(out, "  workload  {}", workload(&settings.workload))?;
    match settings.workload.script {
        // Its requests were counted below its server's memory.
        Script::Profile { .. } => Ok(()),
        Script::BuiltIn(_) | Script::Folder(_) => {
            writeln!(out, "  engine    {}", engine(&settings.engine))
        }
    }
}

fn machine(machine: &Machine) -> String {
    let parts = [
        machine.kind.clone(),
        machine.cores.map(|cores| counted(cores, "core")),
        machine.memory.map(|memory| memory.to_string()),
    ];
    parts.into_iter().flatten().collect::<Vec<_>>().join(", ")
}

/// `8 files on t1, t2 in turn, 1 GiB each`.
fn files(files: &[File]) -> String {
    let mut volumes: Vec<&str> = Vec::new();
    for file in files {
        if !volumes.contains(&file.volume.as_str()) {
            volumes.push(&file.volume);
        }
    }
    let count = counted(files.len(), "file");
    let turn = if volumes.len() > 1 { " in turn" } else { "" };
    let mut text = format!("{count} on {}{turn}", volumes.join(", "));
    let sizes: Vec<String> = files
        .iter()
        .filter_map(|file| file.size.map(|size| size.to_string()))
        .collect();
    match sizes.as_slice() {
        [] => {}
        [size, rest @ ..] if rest.iter().all(|other| other == size) => {
            text += &format!(", {size} each");
        }
        sizes => text += &format!(", of {}", sizes.join(", ")),
    }
    text
}

fn volume(volume: &Volume) -> String {
    let mut parts = vec![match volume.count {
        1 => volume.disk.to_string(),
        count => format!(
            "{count} x {}, interleave {}",
            volume.disk, volume.interleave
        ),
    }];
    let provision = &volume.provision;
    parts.extend(provision.size.map(|size| size.to_string()));
    parts.extend(provision.iops.map(|iops| iops.to_string()));
    parts.extend(provision.throughput.map(|rate| rate.to_string()));
    parts.extend(provision.bursting.map(|on| match on {
        true => "bursting".to_owned(),
        false => "no bursting".to_owned(),
    }));
    parts.extend(match volume.host_cache {
        HostCacheMode::None => None,
        HostCacheMode::ReadOnly => Some("host cache read-only".to_owned()),
        HostCacheMode::ReadWrite => Some("host cache read-write".to_owned()),
    });
    if volume.replaced != Default::default() {
        parts.push("with overrides".to_owned());
    }
    format!("{} = {}", volume.name, parts.join(", "))
}

fn workload(workload: &Workload) -> String {
    let mut parts = vec![
        workload.script.to_string(),
        counted(workload.sessions, "session"),
        match workload.amount {
            Amount::Operations(count) => counted(count, "operation"),
            Amount::Duration(duration) => duration.to_string(),
        },
    ];
    if workload.warm_up > Duration::ZERO {
        parts.push(format!("warm-up {}", workload.warm_up));
    }
    match workload.arrival {
        Arrival::Closed {
            think: Duration::ZERO,
        } => {}
        Arrival::Closed { think } => parts.push(format!("think {think}")),
        Arrival::Open { rate_per_s } => parts.push(format!("{rate_per_s} operations/s")),
    }
    parts.extend(
        workload
            .parameters
            .iter()
            .map(|(name, value)| format!("{name} = {value}")),
    );
    parts.join(", ")
}

fn engine(engine: &Engine) -> String {
    let checkpoint = match engine.checkpoint {
        Some(interval) => format!("checkpoint every {interval}"),
        None => "no checkpoint".to_owned(),
    };
    let versions = match engine.versions {
        Some(versions) => format!(
            ", versions of {} kept {}",
            versions.bytes_per_row, versions.retention
        ),
        None => String::new(),
    };
    format!("memory {}, {checkpoint}{versions}", engine.memory)
}
