//! What a session's operation does, whatever time it takes: taped once, and replayed in the time of any simulation.
//!
//! Which pages SQLite touches, and the work that it counts, follow from the database and the arguments alone. So a session that
//! tapes executes an operation without time and keeps its acts; sessions of other simulations replay them without SQLite.
//!
//! A session with a database of its own executes the same statements with the same results on any disks: its replay makes the
//! same requests to its store, at the same instants, as an execution in its place would. Sessions that share a database are taped
//! together, in one order for all simulations: each transaction is marked, and is replayed as a whole, with its locks.
//!
//! A tape counts changed
//! rows, of which each session makes log bytes of its own. It cannot where a statement asks for the time, or where files are full:
//! SQLite would have undone the statement.

use std::collections::HashMap;

use model::Duration;
use model::store::{FileId, Role};

use super::trace::{Freed, Row};

/// Work that SQLite counted before an act, in units of [`super::CpuCosts`], and the rows that it changed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Work {
    pub(super) steps: u64,
    pub(super) statements: u64,
    pub(super) reads: u64,
    pub(super) rows: u64,
}

/// One act. Files are numbered by [`Numbers`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TapedAct {
    /// Reads a page of a file.
    Read(u32, u64),
    /// Writes a page of a file.
    Write(u32, u64),
    /// Commits this many changed rows.
    Commit(u64),
    /// Ends a transaction that failed or was rolled back.
    RollBack,
    /// Spends the CPU time so far.
    Settle,
    /// Sleeps.
    Sleep(Duration),
    /// Takes an application lock.
    Lock(i64),
    /// Releases an application lock.
    Unlock(i64),
    /// Releases all application locks.
    UnlockAll,
    /// Creates a file.
    Create(u32, Role),
    /// Frees a file.
    Free(u32),
    /// Frees the pages of a file from this one on.
    FreeFrom(u32, u64),
    /// Begins a transaction on a shared database: what follows takes its time when the transaction ends.
    Trace,
    /// Ends it.
    Replay,
    /// Changes a row of a shared database.
    Change(Row),
}

/// The acts of an operation, packed: most take four bytes.
///
/// An act is its kind, to which `WORKED` is added if work comes before it, then that work, then its numbers. All numbers
/// have seven bits a byte; a page is the distance to the page before.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tape(Box<[u8]>);

impl Tape {
    /// Bytes that it takes in memory.
    pub fn memory(&self) -> usize {
        self.0.len()
    }

    /// How long it takes where a page takes 10 µs, a commit 1 ms, a statement 50 µs and a step of SQLite's virtual machine 20 ns:
    /// a measure of no machine, by which sessions that share a database are taped in turn.
    pub fn nominal(&self) -> Duration {
        let span = |(work, act): (Work, TapedAct)| {
            let spent = match act {
                TapedAct::Read(..) | TapedAct::Write(..) => PAGE,
                TapedAct::Commit(_) => COMMIT,
                TapedAct::Sleep(span) => span,
                TapedAct::RollBack
                | TapedAct::Settle
                | TapedAct::Lock(_)
                | TapedAct::Unlock(_)
                | TapedAct::UnlockAll
                | TapedAct::Create(..)
                | TapedAct::Free(_)
                | TapedAct::FreeFrom(..)
                | TapedAct::Trace
                | TapedAct::Replay
                | TapedAct::Change(_) => Duration::ZERO,
            };
            spent + STATEMENT * work.statements + STEP * work.steps
        };
        self.acts()
            .map(span)
            .fold(Duration::ZERO, |sum, span| sum + span)
    }

    /// Its acts, each with the work before it.
    pub(super) fn acts(&self) -> Acts<'_> {
        Acts {
            bytes: &self.0,
            page: 0,
        }
    }
}

const PAGE: Duration = Duration::from_micros(10);
const COMMIT: Duration = Duration::from_millis(1);
const STATEMENT: Duration = Duration::from_micros(50);
const STEP: Duration = Duration::from_nanos(20);

/// Set in an act's first byte if work comes before it.
const WORKED: u8 = 0x80;

/// Packs the acts of an operation.
#[derive(Default)]
pub(super) struct Packer {
    bytes: Vec<u8>,
    page: u64,
}

impl Packer {
    pub(super) fn push(&mut self, work: Work, act: TapedAct) {
        let (kind, numbers) = match act {
            TapedAct::Read(file, page) => (0, [Some(file.into()), Some(self.distance(page))]),
            TapedAct::Write(file, page) => (1, [Some(file.into()), Some(self.distance(page))]),
            TapedAct::Commit(rows) => (2, [Some(rows), None]),
            TapedAct::RollBack => (3, [None; 2]),
            TapedAct::Settle => (4, [None; 2]),
            TapedAct::Sleep(span) => (5, [Some(span.as_nanos()), None]),
            TapedAct::Lock(key) => (6, [Some(zigzag(key)), None]),
            TapedAct::Unlock(key) => (7, [Some(zigzag(key)), None]),
            TapedAct::UnlockAll => (8, [None; 2]),
            TapedAct::Create(file, Role::Data) => (9, [Some(file.into()), None]),
            TapedAct::Create(file, Role::Temp) => (10, [Some(file.into()), None]),
            TapedAct::Free(file) => (11, [Some(file.into()), None]),
            TapedAct::FreeFrom(file, first) => {
                (12, [Some(file.into()), Some(self.distance(first))])
            }
            TapedAct::Trace => (13, [None; 2]),
            TapedAct::Replay => (14, [None; 2]),
            TapedAct::Change(row) => (15, [Some(row.table), Some(zigzag(row.row))]),
        };
        if work == Work::default() {
            self.bytes.push(kind);
        } else {
            self.bytes.push(kind | WORKED);
            for number in [work.steps, work.statements, work.reads, work.rows] {
                self.put(number);
            }
        }
        numbers
            .into_iter()
            .flatten()
            .for_each(|number| self.put(number));
    }

    /// Takes what was packed so far.
    pub(super) fn take(&mut self) -> Tape {
        self.page = 0;
        let tape = Tape(self.bytes.as_slice().into());
        self.bytes.clear();
        tape
    }

    fn distance(&mut self, page: u64) -> u64 {
        let before = std::mem::replace(&mut self.page, page);
        zigzag(page.wrapping_sub(before).cast_signed())
    }

    fn put(&mut self, mut number: u64) {
        while number >= 0x80 {
            self.bytes.push(number as u8 | 0x80);
            number >>= 7;
        }
        self.bytes.push(number as u8);
    }
}

/// Small numbers of either sign as small numbers.
fn zigzag(number: i64) -> u64 {
    ((number << 1) ^ (number >> 63)).cast_unsigned()
}

fn unzigzag(number: u64) -> i64 {
    (number >> 1).cast_signed() ^ -(number & 1).cast_signed()
}

/// Reads the acts of a tape.
pub(super) struct Acts<'a> {
    bytes: &'a [u8],
    page: u64,
}

impl Iterator for Acts<'_> {
    type Item = (Work, TapedAct);

    fn next(&mut self) -> Option<(Work, TapedAct)> {
        let first = self.byte()?;
        let mut work = Work::default();
        if first & WORKED != 0 {
            work = Work {
                steps: self.number(),
                statements: self.number(),
                reads: self.number(),
                rows: self.number(),
            };
        }
        let act = match first & !WORKED {
            0 => TapedAct::Read(self.file(), self.page()),
            1 => TapedAct::Write(self.file(), self.page()),
            2 => TapedAct::Commit(self.number()),
            3 => TapedAct::RollBack,
            4 => TapedAct::Settle,
            5 => TapedAct::Sleep(Duration::from_nanos(self.number())),
            6 => TapedAct::Lock(unzigzag(self.number())),
            7 => TapedAct::Unlock(unzigzag(self.number())),
            8 => TapedAct::UnlockAll,
            9 => TapedAct::Create(self.file(), Role::Data),
            10 => TapedAct::Create(self.file(), Role::Temp),
            11 => TapedAct::Free(self.file()),
            12 => TapedAct::FreeFrom(self.file(), self.page()),
            13 => TapedAct::Trace,
            14 => TapedAct::Replay,
            15 => TapedAct::Change(Row {
                table: self.number(),
                row: unzigzag(self.number()),
            }),
            kind => unreachable!("no act has kind {kind}"),
        };
        Some((work, act))
    }
}

impl Acts<'_> {
    fn byte(&mut self) -> Option<u8> {
        let (first, rest) = self.bytes.split_first()?;
        self.bytes = rest;
        Some(*first)
    }

    fn number(&mut self) -> u64 {
        let (mut number, mut shift) = (0, 0);
        loop {
            let byte = self.byte().expect("an act is packed with all its numbers");
            number |= u64::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                return number;
            }
            shift += 7;
        }
    }

    fn file(&mut self) -> u32 {
        u32::try_from(self.number()).expect("a file's number has 32 bits")
    }

    fn page(&mut self) -> u64 {
        let distance = unzigzag(self.number());
        self.page = self.page.wrapping_add_signed(distance);
        self.page
    }
}

/// Numbers of a session's files on its tape: 0 is its database; the number of a file that is freed is used again.
#[derive(Default)]
pub(super) struct Numbers {
    known: HashMap<FileId, u32>,
    free: Vec<u32>,
    next: u32,
}

impl Numbers {
    /// Numbers a new file.
    pub(super) fn create(&mut self, file: FileId) -> u32 {
        let number = self.free.pop().unwrap_or_else(|| {
            self.next += 1;
            self.next - 1
        });
        self.known.insert(file, number);
        number
    }

    /// The number of a file.
    pub(super) fn of(&self, file: FileId) -> u32 {
        self.known[&file]
    }

    /// The act that frees pages.
    pub(super) fn freed(&mut self, pages: Freed) -> TapedAct {
        match pages {
            Freed::From(file, first) => TapedAct::FreeFrom(self.of(file), first),
            Freed::File(file) => {
                let number = self.known.remove(&file).expect("a file is created once");
                self.free.push(number);
                TapedAct::Free(number)
            }
        }
    }
}

/// The files of a session that replays, by their numbers on the tape.
pub struct TapeFiles(Vec<Option<FileId>>);

impl TapeFiles {
    /// Those of a session that only has its database yet.
    pub(super) fn of(database: FileId) -> TapeFiles {
        TapeFiles(vec![Some(database)])
    }

    pub(super) fn create(&mut self, number: u32, file: FileId) {
        let number = number as usize;
        self.0.resize(self.0.len().max(number + 1), None);
        self.0[number] = Some(file);
    }

    pub(super) fn at(&self, number: u32) -> FileId {
        self.0[number as usize].expect("a file is created before it is used")
    }

    /// All but the database.
    pub(super) fn into_temporary(self) -> impl Iterator<Item = FileId> {
        self.0.into_iter().skip(1).flatten()
    }

    pub(super) fn free(&mut self, number: u32) -> FileId {
        let file = self.at(number);
        self.0[number as usize] = None;
        file
    }
}

/// What a session keeps while it tapes.
#[derive(Default)]
pub(super) struct Recorder {
    pub(super) acts: Packer,
    pub(super) numbers: Numbers,
    /// Whether a statement asked for the time.
    pub(super) asked_time: bool,
    /// Whether a transaction on a shared database has begun.
    pub(super) is_tracing: bool,
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn act() -> impl Strategy<Value = TapedAct> {
        let role = prop_oneof![Just(Role::Data), Just(Role::Temp)];
        prop_oneof![
            any::<(u32, u64)>().prop_map(|(file, page)| TapedAct::Read(file, page)),
            any::<(u32, u64)>().prop_map(|(file, page)| TapedAct::Write(file, page)),
            any::<u64>().prop_map(TapedAct::Commit),
            Just(TapedAct::RollBack),
            Just(TapedAct::Settle),
            any::<u64>().prop_map(|span| TapedAct::Sleep(Duration::from_nanos(span))),
            any::<i64>().prop_map(TapedAct::Lock),
            any::<i64>().prop_map(TapedAct::Unlock),
            Just(TapedAct::UnlockAll),
            (any::<u32>(), role).prop_map(|(file, role)| TapedAct::Create(file, role)),
            any::<u32>().prop_map(TapedAct::Free),
            any::<(u32, u64)>().prop_map(|(file, first)| TapedAct::FreeFrom(file, first)),
        ]
    }

    fn work() -> impl Strategy<Value = Work> {
        let worked = any::<[u64; 4]>().prop_map(|[steps, statements, reads, rows]| Work {
            steps,
            statements,
            reads,
            rows,
        });
        prop_oneof![Just(Work::default()), worked]
    }

    proptest! {
        #[test]
        fn a_tape_gives_back_what_was_packed(acts in prop::collection::vec((work(), act()), 0..40)) {
            let mut packer = Packer::default();
            // A second operation begins anew.
            for _ in 0..2 {
                acts.iter().for_each(|(work, act)| packer.push(*work, *act));
                let tape = packer.take();
                prop_assert_eq!(tape.acts().collect::<Vec<_>>(), acts.clone());
            }
        }
    }

    #[test]
    fn a_page_near_the_one_before_takes_three_bytes() {
        let mut packer = Packer::default();
        packer.push(Work::default(), TapedAct::Read(0, 1_000_000));
        let first = packer.bytes.len();
        // Kind, file, and 2 x 40 in seven bits.
        packer.push(Work::default(), TapedAct::Read(0, 1_000_040));
        assert_eq!(packer.bytes.len() - first, 3);
    }
}
