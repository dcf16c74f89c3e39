//! When power is cut, and what disks contain then.

use std::mem::discriminant;

use emulator::FlippedBit;
use emulator::crash::{Action, Choice, Event, Moment, Rules, choices, choices_of_one_disk};
use model::random::{derive, stream};
use model::{Duration, Instant};
use rand::{Rng, RngExt as _};
use serde::{Deserialize, Serialize};

use engine::drilled::Kind;

use super::Placed;
use super::place::VOLUME;

/// A crash state of a recording.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Cut {
    /// Its number within the drill.
    pub number: usize,
    /// The kind of event.
    pub kind: Kind,
    /// When each volume stops, by the recording's clock.
    pub at: Vec<Instant>,
    /// Which of the open writes the disks contain.
    pub choice: Choice,
    /// A flipped bit.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub flipped: Option<FlippedBit>,
}

/// A crash state as parsed from a document, not yet validated against the recording.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct StoredCut {
    number: usize,
    kind: Kind,
    at: Vec<Instant>,
    choice: Choice,
    #[serde(default)]
    flipped: Option<FlippedBit>,
}

impl StoredCut {
    /// Validates the state against these events on volumes with these rules.
    pub(super) fn check(self, events: &[Event], rules: &[Rules]) -> Result<Cut, String> {
        if self.at.len() != rules.len() {
            return Err(format!(
                "it is of {} volumes, and the recording of {}",
                self.at.len(),
                rules.len()
            ));
        }
        if !Moment::new(events, rules, &self.at).has(&self.choice) {
            return Err(format!("it has not what {:?} names", self.choice));
        }
        if let Some(bit) = self.flipped
            && (bit.volume >= rules.len() || bit.byte >= VOLUME.0 || bit.bit > 7)
        {
            return Err("it has a bit that no volume has".to_owned());
        }
        Ok(Cut {
            number: self.number,
            kind: self.kind,
            at: self.at,
            choice: self.choice,
            flipped: self.flipped,
        })
    }
}

/// What can happen to a placement's volumes; with `faults`, also what disks should not do.
pub(super) fn kinds(placed: &Placed, faults: bool) -> Vec<Kind> {
    let mut kinds = vec![Kind::Power, Kind::Torn];
    if placed.volumes.len() > 1 {
        kinds.push(Kind::Snapshots);
    }
    if faults {
        kinds.push(Kind::BitFlip);
    }
    kinds
}

/// Scope of the power cut.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Power {
    /// The whole machine with all its disks.
    #[default]
    Machine,
    /// A single disk, alone or of a stripe; the others keep everything they received until then.
    Disk,
}

impl Power {
    /// Its name in documents.
    pub fn name(self) -> &'static str {
        match self {
            Power::Machine => "machine",
            Power::Disk => "disk",
        }
    }
}

/// Choices considered per moment.
const CHOICES: usize = 24;

/// Share of the moments chosen at any time, regardless of disk activity.
const ANY_TIME: f64 = 0.2;

/// Moments tried for one cut: not every moment has a write that can be torn.
const TRIES: u64 = 50;

/// Draws crash states.
pub(super) struct Draw<'a> {
    /// Requests to the disks.
    pub(super) events: &'a [Event],
    /// How they behave.
    pub(super) rules: &'a [Rules],
    /// Moments are drawn from this instant to `until`.
    pub(super) from: Instant,
    pub(super) until: Instant,
    /// How far apart snapshots are.
    pub(super) skew: Duration,
    /// Scope of the power cut.
    pub(super) power: Power,
    /// The seed.
    pub(super) seed: u64,
}

impl Draw<'_> {
    /// Crash states, at most `count`, each from its own moment. For snapshots, each volume in turn is the last.
    pub(super) fn cuts(&self, kind: Kind, count: u32) -> Vec<Cut> {
        let later = match kind {
            Kind::Snapshots => self.skew,
            Kind::Power | Kind::Torn | Kind::BitFlip => Duration::ZERO,
        };
        let within: Vec<&Event> = self
            .events
            .iter()
            .filter(|event| self.from <= event.arrived && event.done + later <= self.until)
            .collect();
        // A disk that receives nothing still loses what is only in memory.
        let last = self.until.as_nanos().saturating_sub(later.as_nanos());
        if last <= self.from.as_nanos() || (within.is_empty() && kind == Kind::Torn) {
            return Vec::new();
        }
        let one = |number: u32| {
            (0..TRIES).find_map(|attempt| {
                let seed = derive(self.seed, "cut", u64::from(number) * TRIES + attempt);
                let mut random = stream(seed, "moment");
                let at = match within.is_empty() || random.random_bool(ANY_TIME) {
                    true => Instant::from_nanos(random.random_range(self.from.as_nanos()..last)),
                    false => {
                        // Right after a request arrived, or was acknowledged.
                        let event = within[random.random_range(0..within.len())];
                        match random.random_bool(0.5) {
                            true => event.arrived,
                            false => event.done,
                        }
                    }
                };
                let mut at = vec![at; self.rules.len()];
                let last = number as usize % self.rules.len();
                at[last] += later;
                let flipped = match kind {
                    Kind::BitFlip => Some(self.flipped(at[0], &mut random)?),
                    Kind::Power | Kind::Torn | Kind::Snapshots => None,
                };
                Some(Cut {
                    number: number as usize,
                    kind,
                    choice: self.choice(kind, &at, seed, &mut random)?,
                    at,
                    flipped,
                })
            })
        };
        (0..count).filter_map(one).collect()
    }

    fn choice(
        &self,
        kind: Kind,
        at: &[Instant],
        seed: u64,
        random: &mut impl Rng,
    ) -> Option<Choice> {
        let moment = Moment::new(self.events, self.rules, at);
        let mut fit = match (kind, self.power) {
            // A snapshot contains what its volume received, with nothing torn.
            (Kind::Snapshots | Kind::BitFlip, _) => return Some(Choice::Everything),
            (Kind::Power, Power::Disk) => choices_of_one_disk(&moment, CHOICES, seed),
            (Kind::Power | Kind::Torn, _) => choices(&moment, CHOICES, seed),
        };
        fit.retain(|choice| matches!(choice, Choice::Torn(_)) == (kind == Kind::Torn));
        // Each kind is equally likely, regardless of its number of choices.
        let mut sorts: Vec<_> = fit.iter().map(discriminant).collect();
        sorts.dedup();
        let sort = sorts.get(random.random_range(0..sorts.len().max(1)))?;
        fit.retain(|choice| discriminant(choice) == *sort);
        fit.get(random.random_range(0..fit.len())).cloned()
    }

    /// A bit of a range written to some volume by `at`.
    fn flipped(&self, at: Instant, random: &mut impl Rng) -> Option<FlippedBit> {
        let volume = random.random_range(0..self.rules.len());
        let written: Vec<&Event> = self
            .events
            .iter()
            .filter(|event| event.volume == volume && event.arrived <= at)
            .filter(|event| event.action == Action::Write && !event.range.is_empty())
            .collect();
        let event = written.get(random.random_range(0..written.len().max(1)))?;
        Some(FlippedBit {
            volume,
            byte: random.random_range(event.range.clone()),
            bit: random.random_range(0..8),
        })
    }
}

#[cfg(test)]
mod tests {
    use emulator::crash::Cache;
    use model::Bytes;

    use super::*;

    fn write(volume: usize, ms: u64) -> Event {
        Event {
            volume,
            action: Action::Write,
            range: ms * 8192..ms * 8192 + 8192,
            arrived: Instant::from_nanos(ms * 1_000_000),
            done: Instant::from_nanos(ms * 1_000_000 + 500_000),
            bytes_at: 0,
        }
    }

    #[test]
    fn cuts_are_the_same_for_a_seed_and_within_the_time_that_was_recorded() {
        let events: Vec<Event> = (0..100).map(|ms| write(ms as usize % 2, ms)).collect();
        let rules = vec![Rules::of_disk(Cache::Volatile, Bytes(512)); 2];
        let (from, until) = (events[20].arrived, events[80].done);
        let draw = |seed, power| Draw {
            events: &events,
            rules: &rules,
            from,
            until,
            skew: Duration::from_millis(2),
            power,
            seed,
        };
        let of = |kind, seed| draw(seed, Power::Machine).cuts(kind, 40);
        let power = of(Kind::Power, 1);
        assert_eq!(power, of(Kind::Power, 1));
        assert_ne!(power, of(Kind::Power, 2));
        assert_eq!(power.len(), 40);
        let inside = |at: &Instant| from <= *at && *at <= until;
        assert!(
            power
                .iter()
                .all(|cut| cut.at.iter().all(inside) && cut.at[0] == cut.at[1])
        );
        let torn = of(Kind::Torn, 1);
        assert!(!torn.is_empty() && torn.iter().all(|cut| matches!(cut.choice, Choice::Torn(_))));
        let apart = of(Kind::Snapshots, 1);
        assert!(
            apart
                .iter()
                .all(|cut| cut.at[0].as_nanos().abs_diff(cut.at[1].as_nanos()) == 2_000_000)
        );
        assert!(apart.iter().all(|cut| cut.at.iter().all(inside)));
        let flipped = of(Kind::BitFlip, 1);
        assert_eq!(flipped.len(), 40);
        let is_written = |cut: &Cut| {
            let bit = cut.flipped.expect("one bit flips");
            let mut events = events.iter();
            events.any(|event| {
                event.volume == bit.volume
                    && event.arrived <= cut.at[0]
                    && event.range.contains(&bit.byte)
            })
        };
        assert!(flipped.iter().all(is_written));
        let of_disk = draw(1, Power::Disk).cuts(Kind::Power, 40);
        assert!(!of_disk.is_empty());
        assert!(of_disk.iter().all(|cut| matches!(
            cut.choice,
            Choice::AllButDisk { .. } | Choice::DrawnOfDisk { .. }
        )));
    }

    #[test]
    fn where_nothing_was_written_power_is_cut_all_the_same_and_nothing_torn() {
        let rules = [Rules::of_disk(Cache::Safe, Bytes(512))];
        let end = Instant::from_nanos(1_000);
        let of = |kind, until| {
            let draw = Draw {
                events: &[],
                rules: &rules,
                from: Instant::ZERO,
                until,
                skew: Duration::ZERO,
                power: Power::Machine,
                seed: 1,
            };
            draw.cuts(kind, 5)
        };
        let power = of(Kind::Power, end);
        assert_eq!(power.len(), 5);
        assert!(
            power
                .iter()
                .all(|cut| cut.choice == Choice::Nothing && cut.at[0] < end)
        );
        assert!(of(Kind::Torn, end).is_empty());
        assert!(of(Kind::Power, Instant::ZERO).is_empty());
    }
}
