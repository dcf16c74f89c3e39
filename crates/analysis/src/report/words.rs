//! Names as a DBA reads them: metrics and causes in words, and text kept to a width.

use textwrap::{Options, WordSeparator, WordSplitter};

use crate::findings::{Family, family as family_of};
use experiment::spec::Mode;

/// Columns that text keeps to.
pub(super) const WIDTH: usize = 100;

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

/// A cause of a time split: `read.throttled.machine.cached` as `reads held back by machine cached limit`.
pub(super) fn cause(name: &str) -> String {
    match name {
        "cpu" => return "CPU".into(),
        "cpu.queued" => return "waiting for a core".into(),
        "lock" => return "locks".into(),
        "think" => return "think time".into(),
        "client" => return "dbstow between statements".into(),
        "other" => return "other waits in the engine".into(),
        _ => {}
    }
    let Some((kind, rest)) = name.split_once('.') else {
        return name.into();
    };
    let kind = match kind {
        "read" => "reads",
        "write" => "writes",
        "log" => "log writes",
        _ => return name.into(),
    };
    match rest.strip_prefix("throttled.") {
        Some(limit) => format!("{kind} held back by {}", limit_words(limit)),
        None if rest == "service" => format!("{kind} being served"),
        None => format!("{kind} {rest}"),
    }
}

/// What one would have to change about a cause, in a word; `other` for what is not known.
pub(super) fn family(cause: &str) -> &'static str {
    if cause == "client" {
        return "client";
    }
    match family_of(cause) {
        Family::Cpu => "cpu",
        Family::Lock => "lock",
        Family::Think => "think",
        Family::Service => "service",
        Family::Queue => "queue",
        Family::Throttle => "throttle",
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

/// What the figures of a mode are.
pub(super) fn figures(mode: Option<Mode>) -> &'static str {
    match mode {
        Some(Mode::Simulate) | None => "predicted",
        Some(Mode::Emulate) => "measured on modelled disks",
        Some(Mode::Measure) => "measured",
    }
}

fn limit_words(limit: &str) -> String {
    match limit {
        "disk.iops" => "disk IOPS".into(),
        "disk.throughput" => "disk throughput".into(),
        "disk.credits" => "spent burst credits".into(),
        other => match other.strip_prefix("machine.") {
            Some(limit) => format!("the machine's {limit} limit"),
            None => other.into(),
        },
    }
}

/// `text` in lines of at most [`WIDTH`] columns, the first after `first`, the others indented as far.
pub(super) fn wrapped(first: &str, text: &str) -> String {
    let indent = " ".repeat(first.chars().count());
    let options = Options::new(WIDTH)
        .initial_indent(first)
        .subsequent_indent(&indent)
        .break_words(false)
        .word_separator(WordSeparator::AsciiSpace)
        .word_splitter(WordSplitter::NoHyphenation);
    let words: Vec<&str> = text.split_whitespace().collect();
    textwrap::fill(&words.join(" "), options) + "\n"
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
            words.map(cause),
            [
                "reads being served",
                "log writes held back by disk IOPS",
                "reads held back by the machine's cached limit"
            ]
        );
        assert_eq!(cause("something.new"), "something.new");
    }

    #[test]
    fn long_text_is_wrapped_and_indented() {
        let text = wrapped("- ", &"word ".repeat(40));

        assert!(text.lines().all(|line| line.chars().count() <= WIDTH));
        assert!(text.lines().skip(1).all(|line| line.starts_with("  word")));
    }
}
