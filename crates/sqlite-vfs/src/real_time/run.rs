//! Which dirty pages are written with one request: neighbours in one file, up to a size limit.

use model::Bytes;
use model::store::PAGE;

use super::aligned::Aligned;
use super::setup::{DatabaseSpec, WRITERS_MAX};
use super::spaces::{At, Group, Key, PAGE_SIZE};

/// Unit in which a log is written.
const SECTOR: usize = 512;

/// How much is written at once.
#[derive(Clone, Copy, Debug)]
pub(super) struct Limits {
    pages: Bytes,
    log: Bytes,
    /// Pages that one sweep takes.
    pub(super) sweep: usize,
}

impl Limits {
    pub(super) fn new(spec: &DatabaseSpec) -> Limits {
        let pages = spec.write_gather.max(PAGE);
        let in_flight = spec.writes_in_flight.clamp(1, WRITERS_MAX);
        let sweep = pages.0 / PAGE.0 * u64::from(in_flight);
        Limits {
            pages,
            log: spec.log_gather.max(PAGE),
            sweep: usize::try_from(sweep).unwrap_or(usize::MAX),
        }
    }

    fn of(&self, group: Group) -> u64 {
        match group {
            Group::Data | Group::Temp => self.pages.0,
            Group::Log => self.log.0,
        }
    }
}

/// The part of one page that is to be written.
pub(super) struct Part {
    key: Key,
    at: At,
    start: usize,
    end: usize,
}

impl Part {
    /// `dirty` bytes of the page at `at`: all of it, or sectors of a log.
    pub(super) fn new(key: Key, at: At, dirty: (usize, usize)) -> Part {
        let (start, end) = match key.0.group {
            Group::Data | Group::Temp => (0, PAGE_SIZE),
            Group::Log => (dirty.0 / SECTOR * SECTOR, dirty.1.next_multiple_of(SECTOR)),
        };
        Part {
            key,
            at,
            start,
            end,
        }
    }

    fn offset(&self) -> u64 {
        self.at.offset + self.start as u64
    }
}

/// One write.
pub(super) struct Run {
    pub(super) file: usize,
    pub(super) offset: u64,
    pub(super) on_volume: u64,
    pub(super) bytes: Aligned,
    pub(super) keys: Vec<Key>,
}

/// Groups neighbours; `bytes` is the size of a page.
pub(super) fn gather<'a>(
    mut parts: Vec<Part>,
    limits: &Limits,
    bytes: impl Fn(&Key) -> &'a [u8],
) -> Vec<Run> {
    parts.sort_unstable_by_key(|part| (part.at.file, part.offset()));
    let mut groups: Vec<(u64, Vec<Part>)> = Vec::new();
    for part in parts {
        let length = (part.end - part.start) as u64;
        if let Some((sum, group)) = groups.last_mut()
            && let Some(last) = group.last()
            && last.at.file == part.at.file
            && last.at.offset + last.end as u64 == part.offset()
            && *sum + length <= limits.of(part.key.0.group)
        {
            *sum += length;
            group.push(part);
        } else {
            groups.push((length, vec![part]));
        }
    }
    let runs = groups.into_iter();
    runs.map(|(length, parts)| run(length as usize, &parts, &bytes))
        .collect()
}

fn run<'a>(length: usize, parts: &[Part], bytes: impl Fn(&Key) -> &'a [u8]) -> Run {
    let first = &parts[0];
    let mut all = Aligned::zeros(length);
    let mut filled = 0;
    for part in parts {
        let bytes = &bytes(&part.key)[part.start..part.end];
        all[filled..filled + bytes.len()].copy_from_slice(bytes);
        filled += bytes.len();
    }
    Run {
        file: first.at.file,
        offset: first.offset(),
        on_volume: first.at.on_volume + first.start as u64,
        bytes: all,
        keys: parts.iter().map(|part| part.key).collect(),
    }
}
