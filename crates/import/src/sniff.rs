//! Which tool wrote a file, by its content.

use super::format::Format;
use super::{blitz_first, blkparse, iolog, microsoft, perfmon, sadf_lines, table};

/// Number of bytes inspected to detect a file's format.
const HEAD: usize = 64 << 10;

/// The tool that wrote a file, by its content; by its name only if the content is ambiguous.
pub fn sniff(file: &str, text: &str) -> Option<Format> {
    let head = head(text);
    let first = head.lines().find(|line| !line.trim().is_empty())?.trim();
    if first.starts_with(['{', '[']) {
        return json(head);
    }
    if sadf_lines::are_in(head) {
        return Some(Format::Sadf);
    }
    if iolog::version(first).is_some() {
        return Some(Format::FioIolog);
    }
    if first.contains("(PDH-CSV 4.0)") || first.contains("(PDH-TSV 4.0)") {
        return Some(Format::Perfmon);
    }
    let header = table::header_names(first);
    let has = |name: &str| header.iter().any(|cell| cell == name);
    if has("timestamp") && has("path") && (has("value") || has("cookedvalue")) {
        return Some(Format::Perfmon);
    }
    if perfmon::is_header(&header) {
        return Some(Format::Perfmon);
    }
    if has("io_stall_read_ms") && has("num_of_bytes_read") {
        return Some(Format::FileStats);
    }
    if let Some(format) = blitz_first::without_names(&header) {
        return Some(format);
    }
    if has("io_stall_read_ms") && has("num_of_reads") && has("checkdate") {
        let deltas = has("elapsedseconds") || has("megabytes_read");
        return Some(match deltas {
            true => Format::BlitzFirstDeltas,
            false => Format::BlitzFirst,
        });
    }
    if blkparse::is_line(first) {
        return Some(Format::Blkparse);
    }
    microsoft::is_counters(file, first).then_some(Format::MicrosoftCounters)
}

/// The part of a text that is inspected to detect its format.
pub(super) fn head(text: &str) -> &str {
    let mut end = text.len().min(HEAD);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    &text[..end]
}

fn json(head: &str) -> Option<Format> {
    if head.contains("\"SkuRecommendationForServers\"") {
        Some(Format::MicrosoftRecommendation)
    } else if head.contains("\"disk_device\"") || head.contains("\"avg-cpu\"") {
        Some(Format::Iostat)
    } else if head.contains("\"sysstat\"") {
        Some(Format::Sadf)
    } else if is_cloudwatch(head) {
        Some(Format::CloudWatch)
    } else if head.contains("\"timeseries\"") && head.contains("\"timespan\"") {
        Some(Format::AzureMonitor)
    } else {
        None
    }
}

/// Whether it is an answer of CloudWatch that is read: several metrics in one are only of a managed server.
fn is_cloudwatch(head: &str) -> bool {
    let has = |key: &str| head.contains(key);
    let is_of_one = has("\"Datapoints\"") && has("\"Label\"");
    is_of_one || has("\"MetricDataResults\"") && !has("\"Volume")
}
