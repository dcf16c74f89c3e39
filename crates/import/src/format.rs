//! Which tool wrote a file.

use std::fmt;
use std::str::FromStr;

use thiserror::Error;

use super::{blitz_first, blkparse, iolog, microsoft, perfmon, sadf_lines, table};

/// Number of bytes inspected to detect a file's format.
const HEAD: usize = 64 << 10;

/// A format of another tool.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// `iostat -x -t -o JSON` of sysstat.
    Iostat,
    /// `sadf -j` or `sadf -d` of sysstat: what sar recorded.
    Sadf,
    /// Windows performance counters as CSV: relog, typeperf, logman, or PowerShell's Export-Csv.
    Perfmon,
    /// The table that sp_BlitzFirst writes file statistics to.
    BlitzFirst,
    /// The view over it that shows differences.
    BlitzFirstDeltas,
    /// `sys.dm_io_virtual_file_stats` of SQL Server, several times.
    FileStats,
    /// Counters of Microsoft's performance data collection.
    MicrosoftCounters,
    /// The report of Microsoft's SKU recommendation.
    MicrosoftRecommendation,
    /// CloudWatch responses about an EBS volume.
    CloudWatch,
    /// fio's `write_iolog`, version 2 or 3.
    FioIolog,
    /// The text of blkparse.
    Blkparse,
}

/// A name that is not a format's.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("there is no format `{name}`; there are {}", Format::names().join(", "))]
pub struct FormatError {
    name: String,
}

impl Format {
    /// All formats, in the order in which documents list them.
    pub const ALL: [Format; 11] = [
        Format::Iostat,
        Format::Sadf,
        Format::Perfmon,
        Format::BlitzFirst,
        Format::BlitzFirstDeltas,
        Format::FileStats,
        Format::MicrosoftCounters,
        Format::MicrosoftRecommendation,
        Format::CloudWatch,
        Format::FioIolog,
        Format::Blkparse,
    ];

    /// Its name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Format::Iostat => "iostat",
            Format::Sadf => "sadf",
            Format::Perfmon => "perfmon",
            Format::BlitzFirst => "blitz-first",
            Format::BlitzFirstDeltas => "blitz-first-deltas",
            Format::FileStats => "file-stats",
            Format::MicrosoftCounters => "microsoft-counters",
            Format::MicrosoftRecommendation => "microsoft-recommendation",
            Format::CloudWatch => "cloudwatch",
            Format::FioIolog => "fio-iolog",
            Format::Blkparse => "blkparse",
        }
    }

    /// The names of all formats.
    pub fn names() -> [&'static str; 11] {
        Format::ALL.map(Format::name)
    }
}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Format {
    type Err = FormatError;

    fn from_str(name: &str) -> Result<Format, FormatError> {
        let found = Format::ALL.into_iter().find(|format| format.name() == name);
        found.ok_or_else(|| FormatError {
            name: name.to_owned(),
        })
    }
}

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
    } else if head.contains("\"Datapoints\"") && head.contains("\"Label\"") {
        Some(Format::CloudWatch)
    } else {
        None
    }
}
