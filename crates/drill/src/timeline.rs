//! The last requests of each volume before it stopped, and their outcome.

use emulator::crash::{Action, Moment};
use model::Instant;

use super::{Cut, DrillSpec, Recorded};

/// Most requests kept per volume.
const MARKS: usize = 40;

/// A volume's last requests.
#[derive(Clone, Debug, PartialEq)]
pub struct Lane {
    /// Name of the volume.
    pub volume: String,
    /// In order of arrival.
    pub marks: Vec<Mark>,
}

/// A request, or the part of it that went to one disk.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Mark {
    /// How long before its volume stopped it arrived, in milliseconds.
    pub before_ms: f64,
    /// Its size in bytes.
    pub bytes: u64,
    /// Its outcome.
    pub fate: Fate,
}

/// The outcome of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    /// A flush that was acknowledged.
    Flushed,
    /// A write that must be present.
    Safe,
    /// An open write that is present.
    There,
    /// One that is present in part.
    Torn,
    /// One that is missing.
    Missing,
}

impl Fate {
    /// Its name in documents.
    pub fn name(self) -> &'static str {
        match self {
            Fate::Flushed => "flushed",
            Fate::Safe => "safe",
            Fate::There => "there",
            Fate::Torn => "torn",
            Fate::Missing => "missing",
        }
    }
}

impl Recorded {
    /// The last requests of each volume in a state.
    pub(super) fn timeline(&self, cut: &Cut, spec: &DrillSpec) -> Vec<Lane> {
        let (events, rules) = (self.events(), self.rules(spec));
        let moment = Moment::new(events, &rules, &cut.at);
        let mark = |event: usize, bytes: u64, fate: Fate| {
            let event = &events[event];
            let before = cut.at[event.volume].as_nanos() - event.arrived.as_nanos();
            Mark {
                before_ms: before as f64 / 1e6,
                bytes,
                fate,
            }
        };
        let open: Vec<(usize, Mark)> = moment
            .fates(&cut.choice)
            .map(|(piece, kept)| {
                let fate = match kept.as_slice() {
                    [] => Fate::Missing,
                    [whole] if *whole == piece.range => Fate::There,
                    _ => Fate::Torn,
                };
                let bytes = piece.range.end - piece.range.start;
                (piece.event, mark(piece.event, bytes, fate))
            })
            .collect();
        let stopped = |volume: usize| cut.at.get(volume).copied().unwrap_or(Instant::ZERO);
        let lane = |(volume, name): (usize, &String)| {
            let mut marks: Vec<(usize, Mark)> = open
                .iter()
                .filter(|(event, _)| events[*event].volume == volume)
                .copied()
                .collect();
            let is_open = |place: usize| marks.iter().any(|(event, _)| *event == place);
            let closed = events.iter().enumerate().rev();
            let closed = closed.filter(|(_, event)| event.volume == volume);
            let closed = closed.filter_map(|(place, event)| match event.action {
                Action::Flush if event.done <= stopped(volume) => {
                    Some((place, mark(place, 0, Fate::Flushed)))
                }
                Action::Write if event.arrived <= stopped(volume) && !is_open(place) => {
                    let bytes = event.range.end - event.range.start;
                    Some((place, mark(place, bytes, Fate::Safe)))
                }
                Action::Flush | Action::Write | Action::Discard => None,
            });
            let closed: Vec<(usize, Mark)> = closed.take(MARKS).collect();
            marks.extend(closed);
            marks.sort_by_key(|(place, _)| *place);
            // Missing requests are more informative than others.
            while marks.len() > MARKS {
                let least = marks
                    .iter()
                    .position(|(_, mark)| mark.fate != Fate::Missing);
                marks.remove(least.unwrap_or(0));
            }
            Lane {
                volume: name.clone(),
                marks: marks.into_iter().map(|(_, mark)| mark).collect(),
            }
        };
        self.volume_names().iter().enumerate().map(lane).collect()
    }
}
