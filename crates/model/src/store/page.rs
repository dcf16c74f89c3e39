//! The size of a page, and of an extent of pages.

use serde::{Deserialize, Serialize};

use crate::units::Bytes;

/// The unit of space allocation for tables; a page of that size is its own extent.
///
/// Source: <https://learn.microsoft.com/sql/relational-databases/pages-and-extents-architecture-guide>.
pub const EXTENT: Bytes = Bytes::kib(64);

/// Size of a page: a power of two, 4 to 64 KiB.
///
/// Most servers have 8 or 16 KiB
/// (<https://dev.mysql.com/doc/refman/8.4/en/innodb-parameters.html#sysvar_innodb_page_size>), SQLite 4 KiB
/// (<https://www.sqlite.org/pgszchng2016.html>).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "Bytes", into = "Bytes")]
pub struct PageSize(Bytes);

/// An invalid page size.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NotAPageSize(Bytes);

impl core::fmt::Display for NotAPageSize {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(
            f,
            "pages of {} are not possible; give 4, 8, 16, 32 or 64 KiB",
            self.0
        )
    }
}

impl core::error::Error for NotAPageSize {}

impl Default for PageSize {
    fn default() -> PageSize {
        PageSize::DEFAULT
    }
}

impl TryFrom<Bytes> for PageSize {
    type Error = NotAPageSize;

    fn try_from(size: Bytes) -> Result<PageSize, NotAPageSize> {
        let possible = (Bytes::kib(4)..=EXTENT).contains(&size) && size.0.is_power_of_two();
        possible.then_some(PageSize(size)).ok_or(NotAPageSize(size))
    }
}

impl From<PageSize> for Bytes {
    fn from(page: PageSize) -> Bytes {
        page.0
    }
}

impl PageSize {
    /// 8 KiB.
    pub const DEFAULT: PageSize = PageSize(Bytes::kib(8));

    /// 16 KiB.
    pub const KIB_16: PageSize = PageSize(Bytes::kib(16));

    /// 4 KiB.
    pub const KIB_4: PageSize = PageSize(Bytes::kib(4));

    /// Bytes of one page.
    pub const fn bytes(self) -> Bytes {
        self.0
    }

    /// Bytes of this many pages.
    pub fn of(self, pages: u64) -> Bytes {
        Bytes(pages * self.0.0)
    }

    /// Pages of an extent: 1 to 16.
    pub const fn extent(self) -> u64 {
        EXTENT.0 / self.0.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_has_a_power_of_two_from_4_to_64_kib() {
        for (kib, extent) in [(4, 16), (8, 8), (16, 4), (32, 2), (64, 1)] {
            let page = PageSize::try_from(Bytes::kib(kib)).expect("it is one");
            assert_eq!((page.bytes(), page.extent()), (Bytes::kib(kib), extent));
            assert_eq!(page.of(3), Bytes::kib(3 * kib));
        }
        for bytes in [0, 512, 2 << 10, 12 << 10, (8 << 10) + 1, 128 << 10] {
            assert!(PageSize::try_from(Bytes(bytes)).is_err(), "{bytes}");
        }
        assert_eq!(PageSize::default().bytes(), Bytes::kib(8));
    }
}
