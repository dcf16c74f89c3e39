//! When power is cut, and what disks have then.

use std::mem::discriminant;

use crash::{Choice, Event, Moment, Rules, choices};
use model::random::{derive, stream};
use model::{Duration, Instant};
use rand::RngExt as _;
use serde::{Deserialize, Serialize};

use super::place::Placed;

/// A crash state.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Cut {
    /// Its number within the drill.
    pub number: usize,
    /// What happens.
    pub kind: Kind,
    /// When each volume stops, by the recording's clock.
    pub at: Vec<Instant>,
    /// Which of the open writes the disks have.
    pub choice: Choice,
}

/// What happens to the volumes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// All lose power at once.
    Power,
    /// All lose power at once, and a write is on disk only in part.
    Torn,
    /// Each is copied at a time of its own.
    Snapshots,
}

impl Kind {
    /// What can happen to a placement's volumes.
    pub fn of(placed: &Placed) -> Vec<Kind> {
        let mut kinds = vec![Kind::Power, Kind::Torn];
        if placed.volumes.len() > 1 {
            kinds.push(Kind::Snapshots);
        }
        kinds
    }
}

/// Choices that are considered of one moment.
const CHOICES: usize = 24;

/// Share of the moments that are at any time, whatever the disks got.
const ANY_TIME: f64 = 0.2;

/// Moments that are tried for one cut: not every moment has a write that can be torn.
const TRIES: u64 = 50;

/// Crash states of a recording, `count` at most: each of a moment of its own between `from` and `until`, drawn by `seed`.
/// Snapshots are `skew` apart, each volume in turn the last.
pub(super) fn cuts(
    (events, rules): (&[Event], &[Rules]),
    (from, until): (Instant, Instant),
    (kind, skew): (Kind, Duration),
    count: u32,
    seed: u64,
) -> Vec<Cut> {
    let later = match kind {
        Kind::Snapshots => skew,
        Kind::Power | Kind::Torn => Duration::ZERO,
    };
    let within: Vec<&Event> = events
        .iter()
        .filter(|event| from <= event.arrived && event.done + later <= until)
        .collect();
    // A disk that gets nothing loses what is only in memory all the same.
    let last = until.as_nanos().saturating_sub(later.as_nanos());
    if last <= from.as_nanos() || (within.is_empty() && kind == Kind::Torn) {
        return Vec::new();
    }
    let one = |number: u32| {
        (0..TRIES).find_map(|attempt| {
            let seed = derive(seed, "cut", u64::from(number) * TRIES + attempt);
            let mut random = stream(seed, "moment");
            let at = match within.is_empty() || random.random_bool(ANY_TIME) {
                true => Instant::from_nanos(random.random_range(from.as_nanos()..last)),
                false => {
                    // Right after something arrived, or was acknowledged.
                    let event = within[random.random_range(0..within.len())];
                    match random.random_bool(0.5) {
                        true => event.arrived,
                        false => event.done,
                    }
                }
            };
            let mut at = vec![at; rules.len()];
            let last = number as usize % rules.len();
            at[last] += later;
            let moment = Moment::new(events, rules, &at);
            let choice = match kind {
                // A snapshot has what its volume has got, and nothing is torn in it.
                Kind::Snapshots => Choice::Everything,
                Kind::Power | Kind::Torn => {
                    let mut fit = choices(&moment, CHOICES, seed);
                    fit.retain(|choice| matches!(choice, Choice::Torn(_)) == (kind == Kind::Torn));
                    // Each sort as often as the others, however many there are of it.
                    let mut sorts: Vec<_> = fit.iter().map(discriminant).collect();
                    sorts.dedup();
                    let sort = sorts.get(random.random_range(0..sorts.len().max(1)))?;
                    fit.retain(|choice| discriminant(choice) == *sort);
                    fit.get(random.random_range(0..fit.len()))?.clone()
                }
            };
            Some(Cut {
                number: number as usize,
                kind,
                at,
                choice,
            })
        })
    };
    (0..count).filter_map(one).collect()
}

#[cfg(test)]
mod tests {
    use crash::{Action, Cache};
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
        let of = |kind, seed| {
            cuts(
                (&events, &rules),
                (from, until),
                (kind, Duration::from_millis(2)),
                40,
                seed,
            )
        };
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
    }

    #[test]
    fn where_nothing_was_written_power_is_cut_all_the_same_and_nothing_torn() {
        let rules = [Rules::of_disk(Cache::Safe, Bytes(512))];
        let end = Instant::from_nanos(1_000);
        let of = |kind, until| {
            cuts(
                (&[], &rules),
                (Instant::ZERO, until),
                (kind, Duration::ZERO),
                5,
                1,
            )
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
