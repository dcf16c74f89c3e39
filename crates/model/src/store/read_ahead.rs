//! Read-ahead: a session that reads page after page finds the next ones on their way.

use core::iter::StepBy;
use core::ops::Range;

use hashbrown::HashMap;

use super::files::FileId;
use super::page::PageSize;
use crate::units::Bytes;

/// Pages in a row before a reader counts as sequential.
const RUN: u32 = 4;
/// A tree's inner pages lie between its leaves: a step of up to this many pages is still in a row.
const STEP_MAX: u64 = 2;

/// The size of a window, and each reader's position.
pub(super) struct ReadAhead {
    /// Pages of a window: whole extents.
    window: u64,
    /// Pages of an extent.
    extent: u64,
    readers: HashMap<(u32, FileId), Reader>,
}

#[derive(Default)]
struct Reader {
    last: u64,
    run: u32,
    /// End of what was read ahead.
    until: u64,
}

impl ReadAhead {
    /// With windows of `size`, rounded up to whole extents; none if it is zero.
    pub(super) fn new(size: Bytes, page: PageSize) -> ReadAhead {
        let extent = page.extent();
        ReadAhead {
            window: size.0.div_ceil(page.bytes().0).next_multiple_of(extent),
            extent,
            readers: HashMap::new(),
        }
    }

    /// First pages of the extents to bring in, now that `session` is at `page`.
    pub(super) fn wanted(&mut self, session: u32, file: FileId, page: u64) -> StepBy<Range<u64>> {
        let extent = self.extent;
        let none = (0..0).step_by(extent as usize);
        if self.window == 0 {
            return none;
        }
        let reader = self.readers.entry((session, file)).or_default();
        let step = page.wrapping_sub(reader.last);
        reader.last = page;
        match step {
            0 => return none,
            step if step <= STEP_MAX => reader.run += 1,
            _ => {
                *reader = Reader {
                    last: page,
                    run: 0,
                    until: 0,
                }
            }
        }
        if reader.run < RUN {
            return none;
        }
        // The next window once a reader is in the last one, as Linux does (`page_cache_async_ra` of mm/readahead.c).
        if reader.until > page + self.window {
            return none;
        }
        let start = reader.until.max((page / extent + 1) * extent);
        let end = start + self.window;
        reader.until = reader.until.max(end);
        (start..end).step_by(extent as usize)
    }
}

#[cfg(test)]
mod tests {
    use alloc::vec::Vec;

    use super::*;
    use crate::store::files::{FileSpec, Files, Role};

    fn file() -> FileId {
        Files::new(
            PageSize::DEFAULT,
            &[],
            &[],
            FileSpec {
                volume: 0,
                size: None,
            },
        )
        .create(Role::Data)
    }

    #[test]
    fn reading_ahead_begins_with_the_fifth_page_in_a_row() {
        let mut ahead = ReadAhead::new(Bytes::kib(128), PageSize::DEFAULT);
        let file = file();
        // 128 KiB are 16 pages, two extents, of which the first begins with page 8.
        let wanted = |page| ahead.wanted(0, file, page).collect::<Vec<_>>();
        let empty = Vec::new();
        let expected = [&empty, &empty, &empty, &empty, &[8, 16].to_vec()].map(Clone::clone);
        assert_eq!([0, 1, 2, 3, 4].map(wanted), expected);
    }

    #[test]
    fn a_window_of_less_than_an_extent_is_an_extent() {
        let mut ahead = ReadAhead::new(Bytes::kib(16), PageSize::DEFAULT);
        let file = file();
        let wanted: Vec<u64> = (0..5)
            .flat_map(|page| ahead.wanted(0, file, page))
            .collect();
        assert_eq!(wanted, [8]);
    }

    #[test]
    fn every_other_page_is_still_in_a_row_and_every_third_is_not() {
        let file = file();
        let wanted = |step: u64| {
            let mut ahead = ReadAhead::new(Bytes::kib(128), PageSize::DEFAULT);
            let pages = (0..20).flat_map(|n| ahead.wanted(0, file, n * step));
            pages.count()
        };
        assert!(wanted(2) > 0);
        assert_eq!(wanted(3), 0);
    }

    #[test]
    fn only_a_sequential_reader_is_read_ahead_of() {
        let mut ahead = ReadAhead::new(Bytes::kib(128), PageSize::DEFAULT);
        let file = file();
        let sequential: Vec<u64> = (0..9)
            .flat_map(|page| ahead.wanted(0, file, page))
            .collect();
        // Two windows: the second as page 8, the first of the first window, is read.
        assert_eq!(sequential, [8, 16, 24, 32]);
        let scattered: Vec<u64> = (0..8)
            .flat_map(|n| ahead.wanted(1, file, n * 100))
            .collect();
        assert!(scattered.is_empty());
    }
}
