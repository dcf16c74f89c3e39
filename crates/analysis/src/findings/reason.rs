//! The reason as a sentence, in a DBA's terms.

use super::BoundBy;
use super::bound::{Bottleneck, Bound, By};
use super::split::Family;
use experiment::record::{Cause, Limit};
use reading::cause::{Io, Measure, Owner, Part};
use table::quantity::{number, percent, used};

/// The inputs of a sentence.
pub(super) struct Seen<'a> {
    /// What limited the arm.
    pub(super) bound: &'a Bound,
    /// The next limit.
    pub(super) next: Option<&'a Bound>,
    /// Share of the sessions' time spent waiting for I/O of any kind.
    pub(super) waited_for_io: f64,
}

/// Why the arm was no faster.
pub(super) fn sentence(seen: &Seen) -> String {
    let next = seen.next.map_or_else(String::new, next);
    format!("{}{next}.", limited(seen))
}

fn limited(seen: &Seen) -> String {
    let bound = seen.bound;
    let share = percent(bound.share);
    match bound.by {
        By::Throttling => {
            let used = bound.limit.as_ref().map_or_else(String::new, |limit| {
                format!(", {} used", used(limit.utilisation))
            });
            format!(
                "limited by {}: {share} of session time waiting on it{used}",
                words(bound)
            )
        }
        By::Use => {
            let used = used(bound.limit.as_ref().map_or(0.0, |limit| limit.utilisation));
            format!(
                "limited by {}: {used} used, and {share} of session time waiting for that I/O",
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

/// The evidence from a real disk's own counters.
fn at_the_disk(bound: &Bound) -> String {
    let words = |at: &Bottleneck| {
        format!(
            " ({} ms each, its disk busy {} of the time)",
            number(at.mean_ms),
            percent(at.busy)
        )
    };
    bound.at.as_ref().map_or_else(String::new, words)
}

/// Where processors or locks limit, how little the disks contributed.
fn io_beside(seen: &Seen) -> String {
    match Family::from(&seen.bound.what) {
        Family::Cpu | Family::Lock | Family::Think => {
            format!(", against {} waiting for I/O", percent(seen.waited_for_io))
        }
        Family::Service | Family::Queue | Family::Throttle | Family::Other => String::new(),
    }
}

/// Before the next limit in a sentence.
const NEXT: &str = "; next bottleneck: ";

/// The sentence without the next limit.
pub(crate) fn without_next(sentence: &str) -> String {
    match sentence.split_once(NEXT) {
        Some((limited, _)) => format!("{limited}."),
        None => sentence.to_owned(),
    }
}

fn next(next: &Bound) -> String {
    let figure = match (next.by, &next.limit) {
        (By::Use, Some(limit)) => format!("{} used", used(limit.utilisation)),
        (By::Use | By::Throttling | By::Time, _) => {
            format!("{} of session time", percent(next.share))
        }
    };
    format!("{NEXT}{} ({figure})", words(next))
}

fn spent(bound: &Bound) -> String {
    match Family::from(&bound.what) {
        Family::Cpu => format!("limited by {}, not by disks", words(bound)),
        Family::Think => "the sessions were mostly idle".into(),
        Family::Lock | Family::Service | Family::Queue | Family::Throttle | Family::Other => {
            format!("most time went to {}", words(bound))
        }
    }
}

/// A limit or cause as text.
fn words(bound: &Bound) -> String {
    match &bound.what {
        BoundBy::Limit(limit) => limit_words(limit, bound),
        BoundBy::Cause(cause) => cause_words(cause, bound.at.as_ref()),
        BoundBy::Unknown => "nothing known".into(),
    }
}

fn cause_words(cause: &Cause, at: Option<&Bottleneck>) -> String {
    let (io, part) = match cause {
        Cause::Cpu => return "CPU".into(),
        Cause::CpuQueued => return "waiting for a free core".into(),
        Cause::Lock => return "waiting for locks".into(),
        Cause::Think => return "the sessions' own think time".into(),
        Cause::Client => return "dbstow itself, between statements".into(),
        Cause::Other => return "other waits inside the engine".into(),
        Cause::Io(io, part) => (io, part),
    };
    let requests = match io {
        Io::Read => "reads",
        Io::Write => "writes",
        Io::Log => "log writes",
    };
    match (part, at) {
        (Part::Service, Some(at)) => format!("the latency of {requests} on volume {}", at.volume),
        (Part::Service, None) if *io == Io::Log => "the latency of log writes".into(),
        (Part::Service, None) => format!("the latency of the disks' {requests}"),
        (Part::Queued, Some(at)) => format!("{requests} queued on volume {}", at.volume),
        (Part::Queued, None) => format!("{requests} queued at the disks"),
        (Part::Throttled(limit), _) => format!("{requests} throttled by {limit}"),
    }
}

fn limit_words(limit: &Limit, bound: &Bound) -> String {
    let measure = match limit.measure {
        Some(Measure::Iops) => "IOPS",
        Some(Measure::Throughput) => "throughput",
        Some(Measure::Credits) => "base rate, burst credits having run out",
        None => "limit",
    };
    let disk = bound.limit.as_ref().and_then(|limit| limit.disk.as_deref());
    match (&limit.owner, bound.by, disk) {
        (Owner::Machine(name), _, _) => format!("the machine's {name} {measure}"),
        (Owner::Disk(disk), _, _) => format!("disk {disk}'s {measure}"),
        (Owner::Disks, By::Use, Some(disk)) => format!("disk {disk}'s {measure}"),
        (Owner::Disks, By::Throttling | By::Time | By::Use, _) => format!("the disks' {measure}"),
    }
}
