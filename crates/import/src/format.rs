//! Formats of other tools.

use std::fmt;
use std::str::FromStr;

use thiserror::Error;

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
    /// CloudWatch responses about an EBS volume, or a managed server.
    CloudWatch,
    /// Azure Monitor's metrics of a managed server, or of a machine's data disks.
    AzureMonitor,
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
    pub const ALL: [Format; 12] = [
        Format::Iostat,
        Format::Sadf,
        Format::Perfmon,
        Format::BlitzFirst,
        Format::BlitzFirstDeltas,
        Format::FileStats,
        Format::MicrosoftCounters,
        Format::MicrosoftRecommendation,
        Format::CloudWatch,
        Format::AzureMonitor,
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
            Format::AzureMonitor => "azure-monitor",
            Format::FioIolog => "fio-iolog",
            Format::Blkparse => "blkparse",
        }
    }

    /// The names of all formats.
    pub fn names() -> [&'static str; 12] {
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
