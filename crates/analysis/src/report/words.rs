//! Human-readable names of metrics and causes.

use crate::findings::Family;
use experiment::record::{Cause, Limit};
use experiment::spec::Mode;
use reading::cause::{Io, Measure, Owner, Part};

/// A metric's name without its unit: `batch_requests_per_s` as `batch requests`.
pub(super) fn metric(name: &str) -> String {
    match name {
        "mb_per_s" => return "throughput".into(),
        "iops" => return "IOPS".into(),
        _ => {}
    }
    let ends = ["_mb_per_s", "_per_s", "_ms", "_kb", "_s"];
    let bare = ends
        .iter()
        .find_map(|end| name.strip_suffix(end))
        .unwrap_or(name);
    bare.replace('_', " ")
}

/// A cause of a time split: `read.throttled.machine.cached` as `reads limited by the machine's cached limit`.
pub(super) fn cause(cause: &Cause) -> String {
    let (io, part) = match cause {
        Cause::Cpu => return "CPU".into(),
        Cause::CpuQueued => return "waiting for a core".into(),
        Cause::Lock => return "locks".into(),
        Cause::Think => return "think time".into(),
        Cause::Client => return "dbstow between statements".into(),
        Cause::Other => return "other waits in the engine".into(),
        Cause::Io(io, part) => (io, part),
    };
    let requests = match io {
        Io::Read => "reads",
        Io::Write => "writes",
        Io::Log => "log writes",
    };
    match part {
        Part::Service => format!("{requests} being served"),
        Part::Queued => format!("{requests} queued"),
        Part::Throttled(limit) => format!("{requests} limited by {}", limit_words(limit)),
    }
}

/// The remedy for a cause, in a word.
pub(super) fn family(cause: &Cause) -> &'static str {
    match Family::from(cause) {
        Family::Cpu => "cpu",
        Family::Lock => "lock",
        Family::Think => "think",
        Family::Service => "service",
        Family::Queue => "queue",
        Family::Throttle => "throttle",
        Family::Other if *cause == Cause::Client => "client",
        Family::Other => "other",
    }
}

/// `1 block`, `5 blocks`
pub(super) fn blocks(count: u32) -> String {
    match count {
        1 => "1 block".into(),
        more => format!("{more} blocks"),
    }
}

/// What the figures of a mode mean.
pub(super) fn figures(mode: Option<Mode>) -> &'static str {
    match mode {
        Some(Mode::Simulate) | None => "predicted",
        Some(Mode::Emulate) => "measured on modelled disks",
        Some(Mode::Measure) => "measured",
    }
}

fn limit_words(limit: &Limit) -> String {
    let measure = match limit.measure {
        Some(Measure::Iops) => "IOPS",
        Some(Measure::Throughput) => "throughput",
        Some(Measure::Credits) => return "spent burst credits".into(),
        None => "limit",
    };
    match &limit.owner {
        Owner::Disks | Owner::Disk(_) => format!("disk {measure}"),
        Owner::Machine(name) => format!("the machine's {name} {measure}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn metrics_lose_their_unit() {
        let words = ["elapsed_s", "mb_per_s", "read_latency_ms", "physical_reads"].map(metric);

        assert_eq!(
            words,
            ["elapsed", "throughput", "read latency", "physical reads"]
        );
    }

    #[test]
    fn causes_are_words() {
        let words = [
            "read.service",
            "log.throttled.disk.iops",
            "read.throttled.machine.cached",
        ];

        assert_eq!(
            words.map(|text| cause(&text.parse().expect("a cause"))),
            [
                "reads being served",
                "log writes limited by disk IOPS",
                "reads limited by the machine's cached limit"
            ]
        );
    }
}
