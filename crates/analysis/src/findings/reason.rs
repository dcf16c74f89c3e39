//! The reason in a sentence, in a DBA's words.

use super::diagnosis::{Bound, By, Place};
use super::split::{Family, family};
use crate::quantity::{number, percent};

/// What a sentence is made of.
pub(super) struct Seen<'a> {
    /// What bound the arm.
    pub(super) bound: &'a Bound,
    /// What would bind next.
    pub(super) next: Option<&'a Bound>,
    /// Share of the sessions' time spent waiting for I/O of any kind.
    pub(super) waited_for_io: f64,
}

/// Why the arm was no faster.
pub(super) fn sentence(seen: &Seen) -> String {
    let next = seen.next.map_or_else(String::new, next);
    format!("{}{next}.", held_back(seen))
}

fn held_back(seen: &Seen) -> String {
    let bound = seen.bound;
    let share = percent(bound.share);
    match bound.by {
        By::Throttling => {
            let used = bound.limit.as_ref().map_or_else(String::new, |limit| {
                format!(", {} used", percent(limit.utilisation))
            });
            format!(
                "held back by {}: {share} of session time waiting on it{used}",
                words(bound)
            )
        }
        By::Use => {
            let used = percent(bound.limit.as_ref().map_or(0.0, |limit| limit.utilisation));
            format!(
                "held back by {}: {used} used, and {share} of session time waiting for that I/O",
                words(bound)
            )
        }
        By::Time => format!(
            "{}: {share} of session time{}{}",
            spent(bound),
            io_beside(seen),
            at_the_disk(bound)
        ),
    }
}

/// What a real disk's own counters say of it.
fn at_the_disk(bound: &Bound) -> String {
    let words = |at: &Place| {
        format!(
            " ({} ms each, its disk busy {} of the time)",
            number(at.mean_ms),
            percent(at.busy)
        )
    };
    bound.at.as_ref().map_or_else(String::new, words)
}

/// Where work or locks bind, how little the disks had to do with it.
fn io_beside(seen: &Seen) -> String {
    match family(&seen.bound.name) {
        Family::Cpu | Family::Lock | Family::Think => {
            format!(", against {} waiting for I/O", percent(seen.waited_for_io))
        }
        Family::Service | Family::Queue | Family::Throttle | Family::Other => String::new(),
    }
}

fn next(next: &Bound) -> String {
    let figure = match (next.by, &next.limit) {
        (By::Use, Some(limit)) => format!("{} used", percent(limit.utilisation)),
        (By::Use | By::Throttling | By::Time, _) => {
            format!("{} of session time", percent(next.share))
        }
    };
    format!("; next would be {} ({figure})", words(next))
}

fn spent(bound: &Bound) -> String {
    match family(&bound.name) {
        Family::Cpu => format!("bound by {}, not by disks", words(bound)),
        Family::Think => "the sessions mostly had nothing to do".into(),
        Family::Lock | Family::Service | Family::Queue | Family::Throttle | Family::Other => {
            format!("most time went to {}", words(bound))
        }
    }
}

/// A limit or cause in words.
fn words(bound: &Bound) -> String {
    let name = bound.name.as_str();
    if let Some(at) = &bound.at
        && let Some(wait) = wait_words(name)
    {
        return format!("{wait} on volume {}", at.volume);
    }
    match name {
        "cpu" => "CPU".into(),
        "cpu.queued" => "waiting for a free core".into(),
        "lock" => "waiting for locks".into(),
        "think" => "the sessions' own think time".into(),
        "client" => "dbstow itself, between statements".into(),
        "other" => "other waits inside the engine".into(),
        "read.service" => "the latency of the disks' reads".into(),
        "write.service" => "the latency of the disks' writes".into(),
        "log.service" => "the latency of log writes".into(),
        "read.queued" => "reads queued at the disks".into(),
        "write.queued" => "writes queued at the disks".into(),
        "log.queued" => "log writes queued at the disks".into(),
        "disk.credits" => "the disks' base rate, burst credits having run out".into(),
        other => limit_words(other, bound).unwrap_or_else(|| format!("`{other}`")),
    }
}

/// A wait for I/O whose place is known.
fn wait_words(name: &str) -> Option<&'static str> {
    match name {
        "read.service" => Some("the latency of reads"),
        "write.service" => Some("the latency of writes"),
        "log.service" => Some("the latency of log writes"),
        "read.queued" => Some("reads queued"),
        "write.queued" => Some("writes queued"),
        "log.queued" => Some("log writes queued"),
        _ => None,
    }
}

fn limit_words(name: &str, bound: &Bound) -> Option<String> {
    let (owner, measure) = name.rsplit_once('.')?;
    let measure = match measure {
        "iops" => "IOPS limit",
        "throughput" => "throughput limit",
        "credits" => "base rate, burst credits having run out",
        _ => return None,
    };
    if let Some(limit) = owner.strip_prefix("machine.") {
        return Some(format!("the machine's {limit} {measure}"));
    }
    let disk = bound.limit.as_ref().and_then(|limit| limit.disk.as_deref());
    let whose = match (bound.by, disk) {
        (By::Use, Some(disk)) => format!("disk {disk}'s"),
        (By::Throttling | By::Time | By::Use, _) => "the disks'".into(),
    };
    Some(format!("{whose} {measure}"))
}
