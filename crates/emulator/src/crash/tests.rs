use std::collections::BTreeSet;

use model::{Bytes, Duration, Instant};
use proptest::prelude::*;
use proptest::test_runner::RngSeed;

use super::*;

const UNIT: u64 = 4096;

fn at(ns: u64) -> Instant {
    Instant::from_nanos(ns)
}

fn event(volume: usize, action: Action, unit: u64, units: u64, arrived: u64, lasts: u64) -> Event {
    let range = match action {
        Action::Flush => 0..0,
        Action::Write | Action::Discard => unit * UNIT..(unit + units) * UNIT,
    };
    Event {
        volume,
        action,
        range,
        arrived: at(arrived),
        done: at(arrived + lasts),
        bytes_at: 0,
    }
}

fn write(volume: usize, unit: u64, arrived: u64) -> Event {
    event(volume, Action::Write, unit, 1, arrived, 5)
}

fn flush(volume: usize, arrived: u64) -> Event {
    event(volume, Action::Flush, 0, 0, arrived, 5)
}

fn volatile() -> Rules {
    Rules::of_disk(Cache::Volatile, Bytes(UNIT))
}

/// Indexes of the events of which a choice keeps something.
fn kept(moment: &Moment<'_>, choice: &Choice) -> Vec<usize> {
    let state = moment.state(choice);
    state.kept.iter().map(|kept| kept.event).collect()
}

#[test]
fn a_flush_is_for_what_was_acknowledged_before_it_began() {
    // The second write is still in progress when the flush arrives, the third comes after it.
    let events = [
        write(0, 0, 0),
        event(0, Action::Write, 1, 1, 8, 10),
        flush(0, 10),
        write(0, 2, 12),
    ];
    let rules = [volatile()];
    let late = Moment::new(&events, &rules, &[at(100)]);
    assert_eq!(kept(&late, &Choice::Nothing), [0]);
    // Before the flush is acknowledged, nothing is safe.
    let early = Moment::new(&events, &rules, &[at(14)]);
    assert_eq!(kept(&early, &Choice::Nothing), [0; 0]);
    assert_eq!(kept(&early, &Choice::Everything), [0, 1, 3]);
    // A flush of another volume does not count.
    let other = [write(0, 0, 0), flush(1, 10)];
    let rules = [volatile(), volatile()];
    let moment = Moment::new(&other, &rules, &[at(100), at(100)]);
    assert_eq!(kept(&moment, &Choice::Nothing), [0; 0]);
}

#[test]
fn without_a_volatile_cache_only_what_is_under_way_is_open() {
    let events = [write(0, 0, 0), write(0, 1, 8)];
    let rules = [Rules::of_disk(Cache::Safe, Bytes(UNIT))];
    let at = [at(10)];
    let moment = Moment::new(&events, &rules, &at);
    assert_eq!(kept(&moment, &Choice::Nothing), [0]);
    assert_eq!(moment.open().len(), 1);
}

#[test]
fn a_disk_that_writes_back_by_itself_keeps_what_is_old_enough_whatever_is_flushed() {
    let events = [write(0, 0, 0), write(0, 1, 50), flush(0, 60)];
    let rules = [Rules::of_disk(
        Cache::WrittenBack(Duration::from_nanos(40)),
        Bytes(UNIT),
    )];
    let at = [at(70)];
    let moment = Moment::new(&events, &rules, &at);
    assert_eq!(kept(&moment, &Choice::Nothing), [0]);
    assert_eq!(moment.open().len(), 1);
}

#[test]
fn snapshots_are_of_each_volume_at_its_own_time() {
    let events = [
        write(0, 0, 0),
        write(1, 0, 50),
        write(0, 1, 60),
        write(1, 1, 90),
    ];
    let rules = [
        Rules::of_disk(Cache::Safe, Bytes(UNIT)),
        Rules::of_disk(Cache::Safe, Bytes(UNIT)),
    ];
    let at = [at(30), at(70)];
    let moment = Moment::new(&events, &rules, &at);
    assert_eq!(kept(&moment, &Choice::Nothing), [0, 1]);
}

#[test]
fn where_one_disk_loses_power_the_others_have_all_they_got() {
    let stripe = Rules {
        disks: 2,
        interleave: Bytes(UNIT),
        ..volatile()
    };
    let rules = [stripe, volatile()];
    // Four units on the stripe, two on each of its disks, and one on the other volume.
    let events = [event(0, Action::Write, 0, 4, 0, 5), write(1, 0, 0)];
    let moment = Moment::new(&events, &rules, &[at(10), at(10)]);
    let all = choices_of_one_disk(&moment, 12, 1);
    assert_eq!(all, choices_of_one_disk(&moment, 12, 1));
    assert_eq!(all.len(), 12);
    let first = Choice::AllButDisk { volume: 0, disk: 1 };
    assert_eq!(all[1], first);
    for choice in &all {
        let lost: BTreeSet<(usize, usize)> = moment
            .fates(choice)
            .filter(|(piece, kept)| kept.as_slice() != [piece.range.clone()])
            .map(|(piece, _)| (piece.volume, piece.disk))
            .collect();
        assert!(lost.len() <= 1, "{choice:?}: {lost:?}");
    }
    let of_disk = |choice: &Choice| {
        moment
            .fates(choice)
            .filter(|(_, kept)| kept.is_empty())
            .count()
    };
    assert_eq!(of_disk(&first), 2);
    let safe = Moment::new(&[], &rules, &[at(10), at(10)]);
    assert_eq!(choices_of_one_disk(&safe, 12, 1), []);
}

#[test]
fn each_disk_of_a_stripe_has_its_own_part_of_a_write() {
    let events = [event(0, Action::Write, 15, 33, 0, 5)];
    let rules = [Rules {
        disks: 2,
        ..volatile()
    }];
    let at = [at(100)];
    let moment = Moment::new(&events, &rules, &at);
    let pieces: Vec<(usize, u64)> = moment
        .open()
        .iter()
        .map(|piece| (piece.disk, (piece.range.end - piece.range.start) / UNIT))
        .collect();
    assert_eq!(pieces, [(0, 1), (1, 16), (0, 16)]);
}

#[test]
fn a_torn_write_has_some_of_its_atomic_units() {
    let events = [event(0, Action::Write, 2, 4, 0, 5), write(0, 9, 1)];
    let rules = [volatile()];
    let at = [at(100)];
    let moment = Moment::new(&events, &rules, &at);
    let all = choices(&moment, 100, 7);
    assert!(all.contains(&Choice::Torn(0)));
    // A single unit is present or not.
    assert!(!all.contains(&Choice::Torn(1)));
    let state = moment.state(&Choice::Torn(0));
    let torn: Vec<_> = state.kept.iter().filter(|kept| kept.event == 0).collect();
    let length: u64 = torn
        .iter()
        .map(|kept| kept.range.end - kept.range.start)
        .sum();
    assert!(0 < length && length < 4 * UNIT, "{torn:?}");
    let aligned =
        |kept: &&Kept| kept.range.start.is_multiple_of(UNIT) && kept.range.end.is_multiple_of(UNIT);
    assert!(torn.iter().all(aligned), "{torn:?}");
}

#[test]
fn of_few_open_writes_every_subset_is_a_state() {
    let events: Vec<Event> = (0..4).map(|place| write(0, place, place)).collect();
    let rules = [volatile()];
    let at = [at(100)];
    let moment = Moment::new(&events, &rules, &at);
    let states: BTreeSet<Vec<usize>> = choices(&moment, 1_000, 1)
        .iter()
        .map(|choice| kept(&moment, choice))
        .collect();
    assert_eq!(states.len(), 16);
}

#[test]
fn a_long_list_is_cut_to_the_number_asked_for() {
    let events: Vec<Event> = (0..40).map(|place| write(0, place, place)).collect();
    let rules = [volatile()];
    let at = [at(100)];
    let moment = Moment::new(&events, &rules, &at);
    let all = choices(&moment, 10, 1);
    assert_eq!(all.len(), 10);
    assert_eq!(all[0], Choice::Nothing);
    assert!(all.iter().any(|choice| matches!(choice, Choice::Drawn(_))));
}

#[test]
fn however_long_the_list_is_the_extremes_are_in_it() {
    let events: Vec<Event> = (0..100)
        .map(|place| write(place as usize % 2, place, place))
        .collect();
    let rules = [volatile(), volatile()];
    let at = [at(1_000), at(1_000)];
    let moment = Moment::new(&events, &rules, &at);
    let all = choices(&moment, 24, 1);
    assert_eq!(all.len(), 24);
    for extreme in [
        Choice::Nothing,
        Choice::Everything,
        Choice::OnlyVolume(0),
        Choice::OnlyVolume(1),
    ] {
        assert!(all.contains(&extreme), "{extreme:?} in {all:?}");
    }
    assert!(all.iter().any(|choice| matches!(choice, Choice::Drawn(_))));
}

fn events() -> impl Strategy<Value = Vec<Event>> {
    let action = prop_oneof![
        6 => Just(Action::Write),
        1 => Just(Action::Discard),
        2 => Just(Action::Flush),
    ];
    let one = (
        0..2_usize,
        action,
        0..20_u64,
        1..5_u64,
        0..10_u64,
        0..30_u64,
    );
    proptest::collection::vec(one, 1..40).prop_map(|all| {
        let mut now = 0;
        let timed = all
            .into_iter()
            .map(|(volume, action, unit, units, later, lasts)| {
                now += later;
                event(volume, action, unit, units, now, lasts)
            });
        timed.collect()
    })
}

fn rules() -> impl Strategy<Value = Rules> {
    (
        1..4_usize,
        prop_oneof![
            Just(Cache::Safe),
            Just(Cache::Volatile),
            (0..100_u64).prop_map(|within| Cache::WrittenBack(Duration::from_nanos(within))),
        ],
        prop_oneof![Just(512), Just(UNIT)],
    )
        .prop_map(|(disks, cache, atomic)| Rules {
            disks,
            interleave: Bytes(2 * UNIT),
            cache,
            atomic: Bytes(atomic),
        })
}

#[test]
fn a_history_that_ends_early_has_all_that_came_before_and_nothing_else() {
    let at_bytes = |event: Event, bytes_at| Event { bytes_at, ..event };
    let mut history = History {
        volumes: vec!["data".to_owned()],
        events: vec![
            at_bytes(write(0, 0, 1), 0),
            // Two that arrived in one order and were stored in the other.
            at_bytes(write(0, 1, 2), 2 * UNIT),
            at_bytes(write(0, 2, 3), UNIT),
            flush(0, 4),
        ],
        ended: None,
    };
    history.end_before_bytes(4 * UNIT);
    assert_eq!((history.events.len(), history.ended), (4, None));
    history.end_before_bytes(2 * UNIT);
    assert_eq!((history.events.len(), history.ended), (1, Some(at(2))));
    history.end_at(at(1));
    assert_eq!((history.events.len(), history.ended), (0, Some(at(1))));
}

#[test]
fn a_history_is_read_as_it_was_written_and_a_damaged_one_is_refused() {
    let history = History {
        volumes: vec!["data".to_owned(), "log".to_owned()],
        events: vec![
            write(0, 3, 7),
            event(1, Action::Discard, 2, 9, 8, 1),
            flush(1, 20),
        ],
        ended: Some(at(30)),
    };
    let mut file = Vec::new();
    history.write(&mut file).expect("memory has room");
    assert_eq!(
        History::read(&mut file.as_slice()).expect("it is whole"),
        history
    );
    let refused = |file: &[u8]| {
        History::read(&mut &*file)
            .expect_err("it is damaged")
            .to_string()
    };
    assert!(refused(&file[..file.len() - 1]).contains("damaged at event 2"));
    assert!(refused(b"{}\n").contains("not a history of writes"));
    let mut other = file.clone();
    // The volume of the last row.
    let place = other.len() - 8;
    other[place] = 2;
    assert!(refused(&other).contains("damaged at event 2"));
    // An impossible offset or time: the columns of a row are its start, length, arrival, end and offset of its bytes.
    let rows = file.len() - 3 * 48;
    for (what, column, value) in [
        ("a length with which the range has no end", 1, u64::MAX),
        ("an end before the arrival", 3, 0),
        ("bytes that no file has", 4, u64::MAX - 1),
    ] {
        let mut other = file.clone();
        let place = rows + column * 8;
        other[place..place + 8].copy_from_slice(&u64::to_le_bytes(value));
        assert!(
            refused(&other).contains("damaged at event 0"),
            "{what}: {}",
            refused(&other)
        );
    }
    let many = br#"{"format":"dbstow.writes/1","volumes":["d"],"events":18446744073709551615}"#;
    assert!(refused(many).contains("at most 8388608 are read"));
}

#[test]
fn a_choice_of_another_moment_is_none_of_this_one() {
    let events = [write(0, 0, 1), write(0, 1, 2)];
    let rules = [volatile()];
    let moment = Moment::new(&events, &rules, &[at(100)]);
    let last = moment.open().len() - 1;
    for (choice, has) in [
        (Choice::AllBut(last), true),
        (Choice::AllBut(last + 1), false),
        (Choice::Torn(last + 1), false),
        (Choice::OnlyVolume(1), false),
        (Choice::Subset(u64::MAX), true),
        (Choice::AllButDisk { volume: 0, disk: 1 }, false),
        (
            Choice::DrawnOfDisk {
                volume: 7,
                disk: 0,
                seed: 1,
            },
            false,
        ),
    ] {
        assert_eq!(moment.has(&choice), has, "{choice:?}");
    }
    // More than a subset has bits.
    let events: Vec<Event> = (0..70).map(|unit| write(0, unit, unit)).collect();
    let moment = Moment::new(&events, &rules, &[at(100)]);
    assert!(!moment.has(&Choice::Subset(1)));
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 256,
        rng_seed: RngSeed::Fixed(1),
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    /// By the definition, write by write: what a flush or the disk itself made safe is completely in every state;
    /// nothing that came later is in any; and a state has no bytes that were not written.
    #[test]
    fn every_state_has_what_is_safe_and_nothing_from_later(
        events in events(),
        rules in (rules(), rules()),
        at in (0..300_u64, 0..300_u64),
        seed in any::<u64>(),
    ) {
        let rules = [rules.0, rules.1];
        let at = [Instant::from_nanos(at.0), Instant::from_nanos(at.1)];
        let moment = Moment::new(&events, &rules, &at);
        let all = choices(&moment, 30, seed);
        prop_assert_eq!(&all, &choices(&moment, 30, seed));
        for choice in &all {
            let state = moment.state(choice);
            prop_assert_eq!(&state, &moment.state(choice));
            prop_assert!(state.kept.is_sorted_by_key(|kept| kept.event));
            for (place, event) in events.iter().enumerate() {
                let kept: u64 = state.kept.iter()
                    .filter(|kept| kept.event == place)
                    .map(|kept| kept.range.end - kept.range.start)
                    .sum();
                let length = event.range.end - event.range.start;
                let end = at[event.volume];
                let flushes = events.iter().filter(|other| other.action == Action::Flush && other.volume == event.volume);
                let mut covering = flushes.filter(|flush| event.done <= flush.arrived && flush.done <= end);
                let is_safe = match rules[event.volume].cache {
                    Cache::Safe => event.done <= end,
                    Cache::Volatile => covering.next().is_some(),
                    Cache::WrittenBack(within) => event.done + within <= end,
                };
                prop_assert!(kept <= length);
                if event.arrived > end {
                    prop_assert_eq!(kept, 0);
                } else if is_safe || *choice == Choice::Everything {
                    prop_assert_eq!(kept, length, "{:?} of {:?}", choice, event);
                } else if *choice == Choice::Nothing {
                    prop_assert_eq!(kept, 0);
                }
            }
        }
    }

    /// Whatever happened to its bytes, a history is refused, or every moment of it can be evaluated.
    #[test]
    fn an_edited_history_is_refused_or_can_be_used(
        events in events(),
        edits in proptest::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..6),
        seed in any::<u64>(),
    ) {
        let history = History {
            volumes: vec!["data".to_owned(), "log".to_owned()],
            events,
            ended: None,
        };
        let mut file = Vec::new();
        history.write(&mut file).expect("memory has room");
        for (place, byte) in edits {
            let place = place.index(file.len());
            file[place] = byte;
        }
        let Ok(history) = History::read(&mut file.as_slice()) else {
            return Ok(());
        };
        let rules = vec![volatile(); history.volumes.len()];
        let at = vec![Instant::from_nanos(150); history.volumes.len()];
        let moment = Moment::new(&history.events, &rules, &at);
        for choice in choices(&moment, 5, seed) {
            prop_assert!(moment.has(&choice));
            moment.state(&choice);
        }
    }
}
