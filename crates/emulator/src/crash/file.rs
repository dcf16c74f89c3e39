//! A history as a file: a line of JSON about the volumes, then a row of 48 bytes for each event.
//!
//! The written bytes are in a separate file, in order of arrival; a row holds their offset.

use std::io::{self, BufRead, Read, Write};

use model::Instant;
use serde::{Deserialize, Serialize};
use zerocopy::little_endian::{U16, U32, U64};
use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout, Unaligned};

use super::history::{Action, Event};

/// Requests to the disks of some volumes, from one instant to another.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct History {
    /// Names of the volumes, by index.
    pub volumes: Vec<String>,
    /// Every request that changed a disk or flushed one, in order of arrival.
    pub events: Vec<Event>,
    /// When recording ended early because space ran out, if it did.
    pub ended: Option<Instant>,
}

/// Why a file is not a valid history.
#[derive(Debug, thiserror::Error)]
pub enum HistoryError {
    /// It cannot be read.
    #[error("{0}")]
    System(#[from] io::Error),
    /// It is another kind of file, or of another version.
    #[error("it is not a history of writes of this version of dbstow ({0}); record it again")]
    Other(String),
    /// It is truncated, or contains impossible values.
    #[error("it is damaged at event {0}; record it again")]
    Damaged(usize),
    /// It is too large to be held in memory.
    #[error("it has {found} {what}, and at most {most} are read; record for less time")]
    TooMany {
        /// The number it declares.
        found: u64,
        /// The kind.
        what: &'static str,
        /// The maximum.
        most: u64,
    },
}

/// Most volumes of a history: far more than the disks of a machine.
const VOLUMES_MAX: u64 = 1024;

/// Most events of a history, each of which takes 64 bytes of memory: the writes of 4 GiB in blocks of 4 KiB are an eighth of it.
const EVENTS_MAX: u64 = 1 << 23;

/// Largest write: the kernel gives an emulator at most 1 MiB at a time.
const WRITE_MAX: u64 = 1 << 26;

/// Upper bound of offsets in a volume and in the file of all writes: the largest file of Linux.
const PLACE_MAX: u64 = i64::MAX as u64;

/// The first line.
#[derive(Serialize, Deserialize)]
struct Head {
    format: String,
    volumes: Vec<String>,
    events: u64,
    /// In nanoseconds.
    #[serde(default)]
    ended: Option<u64>,
}

const FORMAT: &str = "dbstow.writes/1";

/// An event.
#[derive(Clone, Copy, FromBytes, IntoBytes, Immutable, KnownLayout, Unaligned)]
#[repr(C)]
struct Row {
    start: U64,
    length: U64,
    arrived: U64,
    done: U64,
    bytes_at: U64,
    volume: U16,
    action: U16,
    /// Pads the row to a multiple of its largest number.
    unused: U32,
}

impl History {
    /// Drops everything that arrived at `at` or later.
    pub fn end_at(&mut self, at: Instant) {
        self.events.retain(|event| event.arrived < at);
        self.ended = Some(at);
    }

    /// Drops whatever needs bytes from `keep` on in the file of all writes, and everything that arrived after it.
    pub fn end_before_bytes(&mut self, keep: u64) {
        let writes = self.events.iter();
        let writes = writes.filter(|event| event.action == Action::Write);
        let beyond = writes.filter(|event| {
            let length = event.range.end - event.range.start;
            event.bytes_at + length > keep
        });
        if let Some(at) = beyond.map(|event| event.arrived).min() {
            self.end_at(at);
        }
    }

    /// Writes it.
    ///
    /// # Errors
    /// When `out` cannot be written.
    pub fn write(&self, out: &mut impl Write) -> io::Result<()> {
        let head = Head {
            format: FORMAT.to_owned(),
            volumes: self.volumes.clone(),
            events: self.events.len() as u64,
            ended: self.ended.map(Instant::as_nanos),
        };
        serde_json::to_writer(&mut *out, &head)?;
        out.write_all(b"\n")?;
        for event in &self.events {
            let action = match event.action {
                Action::Write => 0,
                Action::Discard => 1,
                Action::Flush => 2,
            };
            let row = Row {
                start: event.range.start.into(),
                length: (event.range.end - event.range.start).into(),
                arrived: event.arrived.as_nanos().into(),
                done: event.done.as_nanos().into(),
                bytes_at: event.bytes_at.into(),
                volume: (event.volume as u16).into(),
                action: action.into(),
                unused: 0.into(),
            };
            out.write_all(row.as_bytes())?;
        }
        Ok(())
    }

    /// Reads one.
    ///
    /// # Errors
    /// When it is not a history, or damaged.
    pub fn read(text: &mut impl BufRead) -> Result<History, HistoryError> {
        let mut line = Vec::new();
        // Longer than any header with the maximum number of volumes.
        text.by_ref().take(1 << 20).read_until(b'\n', &mut line)?;
        let head: Head = serde_json::from_slice(&line)
            .map_err(|error| HistoryError::Other(error.to_string()))?;
        if head.format != FORMAT {
            return Err(HistoryError::Other(head.format));
        }
        for (what, found, most) in [
            ("volumes", head.volumes.len() as u64, VOLUMES_MAX),
            ("events", head.events, EVENTS_MAX),
        ] {
            if found > most {
                return Err(HistoryError::TooMany { found, what, most });
            }
        }
        let mut history = History {
            volumes: head.volumes,
            events: Vec::new(),
            ended: head.ended.map(Instant::from_nanos),
        };
        for number in 0..head.events as usize {
            let mut row = [0; size_of::<Row>()];
            text.read_exact(&mut row)
                .map_err(|_| HistoryError::Damaged(number))?;
            let row: Row = zerocopy::transmute!(row);
            let event = row.event(history.volumes.len());
            history
                .events
                .push(event.ok_or(HistoryError::Damaged(number))?);
        }
        Ok(history)
    }
}

impl Row {
    /// The event, if its volume is one of `volumes`.
    fn event(&self, volumes: usize) -> Option<Event> {
        let action = match self.action.get() {
            0 => Action::Write,
            1 => Action::Discard,
            2 => Action::Flush,
            _ => return None,
        };
        let within = |start: u64, length: u64| {
            let end = start.checked_add(length)?;
            (end <= PLACE_MAX).then_some(start..end)
        };
        let (length, bytes_at) = (self.length.get(), self.bytes_at.get());
        if action == Action::Write {
            within(bytes_at, length).filter(|_| length <= WRITE_MAX)?;
        }
        let (arrived, done) = (self.arrived.get(), self.done.get());
        Some(Event {
            volume: Some(usize::from(self.volume.get())).filter(|volume| *volume < volumes)?,
            action,
            range: within(self.start.get(), length)?,
            arrived: Instant::from_nanos(arrived),
            // No request is acknowledged before it arrived.
            done: Instant::from_nanos(Some(done).filter(|done| *done >= arrived)?),
            bytes_at,
        })
    }
}
