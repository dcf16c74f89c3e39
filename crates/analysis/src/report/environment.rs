//! Engine and environment of a run, its timing accuracy, and what it is compared with, as text.

use crate::findings::{Engine, Findings, Lateness};
use reading::fact;
use table::quantity::{count, number, percent};

/// What it is compared with, and how it differs from the experiment.
pub(super) fn asked(findings: &Findings) -> Vec<(&'static str, String)> {
    known([
        ("published", findings.source.clone()),
        ("changed", changed(findings)),
    ])
}

/// Where it ran, and how exactly.
pub(super) fn ran(findings: &Findings) -> Vec<(&'static str, String)> {
    known([
        ("engine", findings.engine.as_ref().map(engine)),
        ("machine", machine(findings)),
        ("modelled disks", front(findings)),
        ("volumes", volumes(findings)),
        ("time kept", findings.lateness.as_ref().map(time_kept)),
    ])
}

fn known<const N: usize>(
    facts: [(&'static str, Option<String>); N],
) -> Vec<(&'static str, String)> {
    let facts = facts.into_iter();
    facts
        .filter_map(|(name, fact)| Some((name, fact?)))
        .collect()
}

fn front(findings: &Findings) -> Option<String> {
    let front = findings.environment.get(fact::FRONT)?;
    Some(match front.as_str() {
        "block" => "block mode: a filesystem with its cache on each".to_owned(),
        "file" => "file mode: no cache between the engine and them".to_owned(),
        other => other.to_owned(),
    })
}

fn changed(findings: &Findings) -> Option<String> {
    (!findings.changed.is_empty()).then(|| findings.changed.join("; "))
}

/// Its name and version, and what "file" means for it.
fn engine(engine: &Engine) -> String {
    let file = match engine.file.as_str() {
        "" => String::new(),
        file => format!("; \"file\" means: {file}"),
    };
    format!("{} {}{file}", engine.name, engine.version)
}

/// The timing accuracy of an emulator.
fn time_kept(lateness: &Lateness) -> String {
    let mean = lateness.latency_mean_ms.map_or_else(String::new, |mean| {
        format!(", where a request takes {} ms", number(mean))
    });
    format!(
        "{} requests through {}, {} late; replies off by {} ms (median) and {} ms (p99){mean}; the \
         emulator used {} cores",
        count(lateness.requests),
        lateness.transport,
        percent(lateness.late),
        number(lateness.error_p50_ms),
        number(lateness.error_p99_ms),
        number(lateness.cores)
    )
}

/// `Debian 13, kernel 6.18, 8 x AMD EPYC, 32 GiB, Amazon EC2, r6id.2xlarge`, omitting what is unknown.
fn machine(findings: &Findings) -> Option<String> {
    let fact = |name: &str| {
        let value = findings.environment.get(name)?;
        (!value.starts_with("unknown")).then(|| value.clone())
    };
    let cpu = fact("cpu").map(|cpu| match fact("cpus") {
        Some(count) => format!("{count} x {cpu}"),
        None => cpu,
    });
    let kernel = fact("kernel").map(|kernel| format!("kernel {kernel}"));
    let known = [fact("system"), kernel, cpu, fact("memory"), fact("cloud")];
    joined(known.into_iter().flatten().collect(), ", ")
}

/// `temp: ext4 on nvme0n1 (259:0)`, for each volume whose filesystem is known.
fn volumes(findings: &Findings) -> Option<String> {
    let facts = &findings.environment;
    let volume = |(name, filesystem): (&String, &String)| {
        let (volume, "filesystem") = fact::parts(name)? else {
            return None;
        };
        let device = facts.get(&fact::of_volume(volume, "device"));
        let device = device.filter(|device| !device.starts_with("unknown"));
        let on = device.map_or_else(String::new, |device| format!(" on {device}"));
        Some(format!("{volume}: {filesystem}{on}"))
    };
    joined(facts.iter().filter_map(volume).collect(), "; ")
}

fn joined(parts: Vec<String>, between: &str) -> Option<String> {
    (!parts.is_empty()).then(|| parts.join(between))
}
