//! Changes of a layout, by name.

/// A layout change that a finding advises. An experiment whose arms differ by exactly this change supports or contradicts
/// the finding.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Change {
    /// Temporary space in more files, at the same place.
    MoreTempFiles,
    /// Temporary space in fewer files, at the same place.
    FewerTempFiles,
    /// Temporary space on a volume without data and log.
    TempApart,
    /// Temporary space on the disk inside the machine.
    TempLocal,
    /// Data in more files, at the same place.
    MoreDataFiles,
    /// The log on a volume without data.
    LogApart,
    /// The binary log on a volume without the log.
    BinlogApart,
}

impl Change {
    /// All of them.
    pub const ALL: [Change; 7] = [
        Change::MoreTempFiles,
        Change::FewerTempFiles,
        Change::TempApart,
        Change::TempLocal,
        Change::MoreDataFiles,
        Change::LogApart,
        Change::BinlogApart,
    ];

    /// Its name in every output.
    pub fn name(self) -> &'static str {
        match self {
            Change::MoreTempFiles => "more-temp-files",
            Change::FewerTempFiles => "fewer-temp-files",
            Change::TempApart => "temp-apart",
            Change::TempLocal => "temp-local",
            Change::MoreDataFiles => "more-data-files",
            Change::LogApart => "log-apart",
            Change::BinlogApart => "binlog-apart",
        }
    }
}
