//! Sizes of files: whole pages, written without rounding.

use std::fmt;

/// Bytes of a page.
const PAGE: u64 = 8192;
const KIB: u64 = 1024;
const MIB: u64 = 1024 * KIB;
const GIB: u64 = 1024 * MIB;

/// Largest number that `SIZE` accepts, in any unit.
///
/// Source: <https://learn.microsoft.com/sql/t-sql/statements/alter-database-transact-sql-file-and-filegroup-options>,
/// read 2026-11.
const NUMBER_MAX: u64 = 2_147_483_647;

/// A file size: whole pages of 8 KiB, at least one. SQL Server's KB and MB are 1024-based.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Size(u64);

/// Why a number of bytes is not a file size.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SizeError {
    /// It is zero.
    #[error("a file of 0 bytes cannot be; give it 8 KiB at least")]
    Nothing,
    /// It is not a whole number of pages.
    #[error("{bytes} bytes are not whole pages of 8 KiB; take {} or {} bytes",
        bytes - bytes % PAGE, bytes - bytes % PAGE + PAGE)]
    CutPage {
        /// The bytes.
        bytes: u64,
    },
    /// It is not a whole, small enough number in any unit.
    #[error("{bytes} bytes cannot be written as a size; from 2 TiB on, take whole megabytes")]
    Unwritable {
        /// The bytes.
        bytes: u64,
    },
}

impl Size {
    /// A size in bytes.
    ///
    /// # Errors
    /// When it is zero, not in whole pages, or cannot be expressed.
    pub fn bytes(bytes: u64) -> Result<Size, SizeError> {
        if bytes == 0 {
            return Err(SizeError::Nothing);
        }
        if !bytes.is_multiple_of(PAGE) {
            return Err(SizeError::CutPage { bytes });
        }
        match unit(bytes) {
            Some(_) => Ok(Size(bytes)),
            None => Err(SizeError::Unwritable { bytes }),
        }
    }

    /// A size in mebibytes.
    ///
    /// # Errors
    /// When it is zero.
    pub fn mib(count: u32) -> Result<Size, SizeError> {
        Size::bytes(u64::from(count) * MIB)
    }

    /// The size in bytes.
    pub fn get(self) -> u64 {
        self.0
    }

    /// The size in pages.
    pub fn pages(self) -> u64 {
        self.0 / PAGE
    }

    /// The value for `DBCC SHRINKFILE`: whole mebibytes, rounded down, but at least 1.
    pub fn whole_mib(self) -> u64 {
        (self.0 / MIB).max(1)
    }
}

/// The largest of KB and MB that is exact, or GB if the number would be too large.
fn unit(bytes: u64) -> Option<(u64, &'static str)> {
    let exact = |(size, _): &(u64, &str)| bytes.is_multiple_of(*size);
    let fits = |(size, _): &(u64, &str)| bytes / size <= NUMBER_MAX;
    let units = [(MIB, "MB"), (KIB, "KB"), (GIB, "GB")];
    units.into_iter().find(|unit| exact(unit) && fits(unit))
}

impl fmt::Display for Size {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (size, name) = unit(self.0).expect("a size can be written, or it would not be one");
        write!(f, "{}{name}", self.0 / size)
    }
}

/// By how much a file grows when it is full.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Growth {
    /// Not at all.
    Never,
    /// By this amount. SQL Server rounds it to 64 KiB.
    By(Size),
    /// By this percentage of its size.
    Percent(u32),
}

impl fmt::Display for Growth {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Growth::Never => f.write_str("0"),
            Growth::By(size) => size.fmt(f),
            Growth::Percent(percent) => write!(f, "{percent}%"),
        }
    }
}

/// Maximum size of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum MaxSize {
    /// Until its volume is full.
    Unlimited,
    /// Up to this.
    At(Size),
}

impl fmt::Display for MaxSize {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            MaxSize::Unlimited => f.write_str("UNLIMITED"),
            MaxSize::At(size) => size.fmt(f),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_size_is_written_exactly_in_the_largest_unit_that_fits() {
        let written = |bytes: u64| Size::bytes(bytes).expect("a size").to_string();
        assert_eq!(written(8 * MIB), "8MB");
        assert_eq!(written(3_170_304 * KIB), "3096MB");
        assert_eq!(written(3_170_312 * KIB), "3170312KB");
        // A log's largest size, 268,435,456 pages.
        assert_eq!(written(268_435_456 * PAGE), "2097152MB");
        assert_eq!(written(16 * 1024 * GIB), "16777216MB");
    }

    #[test]
    fn what_cannot_be_a_size_is_refused_with_a_remedy() {
        assert_eq!(Size::bytes(0), Err(SizeError::Nothing));
        let cut = Size::bytes(10_000)
            .expect_err("a page and a bit")
            .to_string();
        assert!(cut.ends_with("take 8192 or 16384 bytes"), "{cut}");
        // 2 TiB and a page: neither whole megabytes nor few enough kilobytes.
        let bytes = 2 * 1024 * GIB + PAGE;
        assert_eq!(Size::bytes(bytes), Err(SizeError::Unwritable { bytes }));
    }

    #[test]
    fn growth_is_off_by_a_bare_zero() {
        let step = Size::mib(64).expect("a size");
        let written = [Growth::Never, Growth::By(step), Growth::Percent(10)].map(|g| g.to_string());
        assert_eq!(written, ["0", "64MB", "10%"]);
        assert_eq!(MaxSize::Unlimited.to_string(), "UNLIMITED");
    }
}
