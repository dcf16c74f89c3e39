//! What every disk is certain to have when it stops, and what it may have.

use std::ops::Range;

use model::{Bytes, Duration, Instant};
use rand::Rng;
use rand::RngExt as _;
use serde::{Deserialize, Serialize};

use super::history::{Action, Event};

/// What a disk does with acknowledged writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Cache {
    /// They are safe: without a write cache, or with one that survives power cuts.
    Safe,
    /// They may be lost until the disk is flushed.
    Volatile,
    /// They may be lost until the disk has written them back, at the latest this long after they were acknowledged; a
    /// flush does not wait for that.
    WrittenBack(Duration),
}

/// How the disks of a volume behave when power is cut.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Rules {
    /// Its disks; more than one: a stripe.
    pub disks: usize,
    /// Bytes on one disk before a stripe continues on the next.
    pub interleave: Bytes,
    /// What they do with acknowledged writes.
    pub cache: Cache,
    /// A write is atomic within aligned units of this size.
    pub atomic: Bytes,
}

impl Rules {
    /// A volume of one disk.
    pub fn of_disk(cache: Cache, atomic: Bytes) -> Rules {
        Rules {
            disks: 1,
            interleave: Bytes::kib(64),
            cache,
            atomic,
        }
    }
}

/// The part of a write that went to one disk.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Piece {
    /// Index of the write among the events.
    pub event: usize,
    /// Index of its volume.
    pub volume: usize,
    /// Index of the disk in the volume.
    pub disk: usize,
    /// Bytes of the volume.
    pub range: Range<u64>,
}

/// When volumes stop, and which writes are open then.
#[derive(Clone, Debug)]
pub struct Moment<'a> {
    pub(super) events: &'a [Event],
    pub(super) rules: &'a [Rules],
    pub(super) at: Vec<Instant>,
    pub(super) open: Vec<Piece>,
}

/// A range of a write that a volume has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Kept {
    /// Index of the write, or discard, among the events.
    pub event: usize,
    /// Bytes of its volume.
    pub range: Range<u64>,
}

/// The content of all volumes: all of these, later ones over earlier ones.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct State {
    /// In the order of the events.
    pub kept: Vec<Kept>,
}

impl<'a> Moment<'a> {
    /// Volumes that stop, each at its instant of `at`: simultaneously in a power cut, one after the other in snapshots.
    /// `rules` and `at` have an entry for every volume.
    ///
    /// # Panics
    /// When an event's volume has no rules or no instant.
    pub fn new(events: &'a [Event], rules: &'a [Rules], at: &[Instant]) -> Moment<'a> {
        // The latest arrival of an acknowledged flush.
        let mut flushed: Vec<Option<Instant>> = vec![None; rules.len()];
        for event in events {
            if event.action == Action::Flush && event.done <= at[event.volume] {
                let latest = &mut flushed[event.volume];
                *latest = (*latest).max(Some(event.arrived));
            }
        }
        let is_safe = |event: &Event| match rules[event.volume].cache {
            Cache::Safe => event.done <= at[event.volume],
            Cache::Volatile => flushed[event.volume].is_some_and(|flush| event.done <= flush),
            Cache::WrittenBack(within) => event.done + within <= at[event.volume],
        };
        let open = arrived(events, at).filter(|(_, event)| !is_safe(event));
        let open = open.flat_map(|(place, event)| pieces(place, event, &rules[event.volume]));
        Moment {
            events,
            rules,
            at: at.to_vec(),
            open: open.collect(),
        }
    }

    /// The open pieces, in the order of the events.
    pub fn open(&self) -> &[Piece] {
        &self.open
    }

    /// Some of a piece's atomic units, neither all nor none; `None` if it has only one.
    pub(super) fn torn(&self, piece: &Piece, random: &mut impl Rng) -> Option<Vec<Range<u64>>> {
        // A discard is a change of the disk's metadata, and atomic.
        if self.events[piece.event].action == Action::Discard {
            return None;
        }
        let unit = self.rules[piece.volume].atomic.0.max(1);
        let units: Vec<Range<u64>> = units(&piece.range, unit).collect();
        if units.len() < 2 {
            return None;
        }
        let kept_one = random.random_range(0..units.len());
        let lost_one = (kept_one + random.random_range(1..units.len())) % units.len();
        let mut kept: Vec<Range<u64>> = Vec::new();
        for (place, unit) in units.into_iter().enumerate() {
            let is_kept = place == kept_one || (place != lost_one && random.random_bool(0.5));
            if !is_kept {
                continue;
            }
            match kept.last_mut() {
                Some(last) if last.end == unit.start => last.end = unit.end,
                Some(_) | None => kept.push(unit),
            }
        }
        Some(kept)
    }
}

/// Writes and discards that reached volumes before they stopped.
pub(super) fn arrived<'a>(
    events: &'a [Event],
    at: &'a [Instant],
) -> impl Iterator<Item = (usize, &'a Event)> {
    let events = events.iter().enumerate();
    events.filter(|(_, event)| event.action != Action::Flush && event.arrived <= at[event.volume])
}

/// The part of a write that each disk of a stripe receives: a separate piece per interleave unit.
fn pieces(place: usize, event: &Event, rules: &Rules) -> Vec<Piece> {
    let interleave = match rules.disks {
        0 | 1 => u64::MAX,
        _ => rules.interleave.0.max(1),
    };
    let piece = |range: Range<u64>| Piece {
        event: place,
        volume: event.volume,
        disk: (range.start / interleave) as usize % rules.disks.max(1),
        range,
    };
    units(&event.range, interleave).map(piece).collect()
}

/// A range, split at the multiples of `unit`.
fn units(range: &Range<u64>, unit: u64) -> impl Iterator<Item = Range<u64>> + use<> {
    let end = range.end;
    let mut start = range.start;
    std::iter::from_fn(move || {
        if start >= end {
            return None;
        }
        let next = (start / unit)
            .saturating_add(1)
            .saturating_mul(unit)
            .min(end);
        let part = start..next;
        start = next;
        Some(part)
    })
}
