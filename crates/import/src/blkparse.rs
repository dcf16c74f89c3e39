//! The text of blkparse: its default format, or `-f "%D %T.%9t %a %d %S %n %p %C\n"`.
//!
//! A request takes from Q (queued) to C (completed), or from D (issued to the disk) if it lacks a Q. Requests that
//! were merged into others have no C of their own. Format: `man blkparse` 1.2.0.

use std::collections::BTreeMap;

use model::Duration;

use super::buckets::{Buckets, Course, Kind, Request};
use super::devices::{self, Found};
use super::error::ImportError;
use super::source::{Options, Source};
use profile::Draft;

const SECTOR: u64 = 512;

/// Whether a line was written by blkparse.
pub(super) fn is_line(line: &str) -> bool {
    Event::parse(line).is_some()
}

/// A line of the trace.
#[derive(Clone, Debug, PartialEq)]
struct Event<'a> {
    device: &'a str,
    at: Duration,
    action: char,
    /// `None` for anything but reads, writes and flushes.
    kind: Option<Kind>,
    sector: u64,
    sectors: u64,
}

impl Event<'_> {
    fn parse(line: &str) -> Option<Event<'_>> {
        let parts: Vec<&str> = line.split_whitespace().collect();
        let device = *parts.first()?;
        let (major, minor) = device.split_once(',')?;
        let _: (u32, u32) = (major.parse().ok()?, minor.parse().ok()?);
        let is_short = parts.get(1)?.contains('.');
        let (time, action, kind, sector, sectors) = match is_short {
            true => (
                parts[1],
                *parts.get(2)?,
                *parts.get(3)?,
                parts.get(4),
                parts.get(5),
            ),
            false => {
                let sectors = parts.get(9).filter(|_| parts.get(8) == Some(&"+"));
                (
                    *parts.get(3)?,
                    *parts.get(5)?,
                    *parts.get(6)?,
                    parts.get(7),
                    sectors,
                )
            }
        };
        let number = |text: Option<&&str>| text.and_then(|text| text.parse().ok()).unwrap_or(0);
        let sectors: u64 = number(sectors);
        let mut letters = action.chars();
        // A message (`m`) is an event without a kind.
        let action = letters.next().filter(char::is_ascii_alphabetic)?;
        Some(Event {
            device,
            at: seconds(time)?,
            action,
            kind: kind_of(kind, sectors)
                .filter(|_| action.is_ascii_uppercase() && letters.next().is_none()),
            sector: number(sector),
            sectors,
        })
    }
}

/// `R`, `WS`, `WFS` and the like: a write that flushes before it or is forced out is a write; one of nothing is a flush.
fn kind_of(letters: &str, sectors: u64) -> Option<Kind> {
    let data = letters
        .chars()
        .find(|letter| matches!(letter, 'R' | 'W' | 'D'));
    match data {
        Some('D') => None,
        _ if sectors == 0 && letters.starts_with('F') => Some(Kind::Flush),
        Some('R') => Some(Kind::Read),
        Some('W') => Some(Kind::Write),
        _ => None,
    }
}

fn seconds(text: &str) -> Option<Duration> {
    let (whole, nanos) = text.split_once('.')?;
    let nanos: u64 = nanos.parse().ok().filter(|_| nanos.len() == 9)?;
    let ns = whole.parse::<u64>().ok()?.checked_mul(1_000_000_000)?;
    Some(Duration::from_nanos(ns.checked_add(nanos)?))
}

/// Reads traces that started at the same time.
///
/// # Errors
/// When there are no requests, or the roles of the devices are ambiguous.
pub(super) fn read(sources: &[Source], options: &Options) -> Result<Draft, ImportError> {
    let first = sources.first().map_or("", |source| source.file);
    let wrong = |message: String| ImportError::file(first, message);
    let mut draft = Draft::of("blktrace");
    let mut events: Vec<Event> = Vec::new();
    for source in sources {
        let before = events.len();
        let lines = source
            .text
            .lines()
            .enumerate()
            .skip_while(|(_, line)| line.trim().is_empty());
        let mut course = Course::default();
        for (number, line) in lines {
            if let Some(event) = Event::parse(line) {
                let wrong = |message| ImportError::line(source.file, number + 1, message);
                course.pass(number + 1, event.at).map_err(wrong)?;
                events.push(event);
                continue;
            }
            let first = line.split_whitespace().next().unwrap_or_default();
            let is_summary = first.is_empty() || first.starts_with("CPU") || first == "Total";
            if !is_summary {
                draft.assume(format!(
                    "Line {} of {} is not an event: it and what follows are left out.",
                    number + 1,
                    source.file
                ));
            }
            break;
        }
        check_totals(source.text, &events[before..], &mut draft);
    }
    if events.is_empty() {
        let message = "its first line is not output of blkparse; give the text that `blkparse -q -i TRACE` prints";
        return Err(ImportError::line(first, 1, message));
    }
    events.sort_by_key(|event| event.at);
    let mut names: Vec<&str> = events.iter().map(|event| event.device).collect();
    names.sort_unstable();
    names.dedup();
    let has = |name: &str| {
        events
            .iter()
            .any(|event| event.device == name && event.kind.is_some())
    };
    let found: Vec<Found> = names
        .iter()
        .map(|name| Found {
            name,
            is_active: has(name),
        })
        .collect();
    let is_same = |asked: &str, found: &str| asked == found;
    let roles = devices::assign_roles(&options.devices, &found, is_same, &mut draft);
    let roles = roles.map_err(|mistake| mistake.of(first))?;
    devices::assume_shared(&options.devices, None, &mut draft);
    let counted = counted_at(&events, &mut draft);
    let mut buckets = Buckets::new(options, counted == 'C').map_err(wrong)?;
    let mut begun: BTreeMap<(&str, u64, bool), Duration> = BTreeMap::new();
    for event in &events {
        let Some(kind) = event.kind else {
            continue;
        };
        let at = names
            .binary_search(&event.device)
            .expect("names are those of the events");
        let Some(role) = roles[at] else {
            continue;
        };
        let key = (event.device, event.sector, kind == Kind::Read);
        if event.action != counted {
            if matches!(event.action, 'Q' | 'D') {
                begun.entry(key).or_insert(event.at);
            } else if matches!(event.action, 'M' | 'F') {
                begun.remove(&key);
            }
            continue;
        }
        // In flight when the trace began: its latency is unknown.
        let waited = match (counted, begun.remove(&key)) {
            ('C', None) => continue,
            ('C', Some(from)) => event.at.saturating_sub(from),
            _ => Duration::ZERO,
        };
        buckets.add(Request {
            at: event.at,
            role,
            kind,
            bytes: event.sectors.saturating_mul(SECTOR),
            waited,
        });
    }
    buckets.finish(options, &mut draft).map_err(wrong)?;
    Ok(draft)
}

/// Notes where the totals at the end of a file are not those of its lines, as when lines were cut out or events lost.
fn check_totals(text: &str, events: &[Event<'_>], draft: &mut Draft) {
    let totals = text.lines().skip_while(|line| !line.starts_with("Total"));
    for line in totals {
        // ` Reads Completed:       60,      480KiB	 Writes Completed:       45,      100KiB`
        let number = |name: &str| -> Option<usize> {
            let (_, rest) = line.split_once(name)?;
            rest.split(',').next()?.trim().parse().ok()
        };
        let stated = number("Reads Completed:").zip(number("Writes Completed:"));
        let Some((reads, writes)) = stated else {
            continue;
        };
        let completed = |wanted: fn(Kind) -> bool| {
            let is_it = |event: &&Event| event.action == 'C' && event.kind.is_some_and(wanted);
            events.iter().filter(is_it).count()
        };
        // To Linux, a flush is a write of nothing.
        let found = [
            completed(|kind| kind == Kind::Read),
            completed(|kind| kind != Kind::Read),
        ];
        if found != [reads, writes] {
            draft.assume(format!(
                "The trace contradicts itself: its totals are {reads} reads and {writes} writes that completed, and its lines \
                 have {} and {}; the lines count.",
                found[0], found[1]
            ));
        }
    }
}

/// The last stage of a request that was traced.
fn counted_at(events: &[Event<'_>], draft: &mut Draft) -> char {
    let has = |action: char| events.iter().any(|event| event.action == action);
    match ['C', 'D'].into_iter().find(|action| has(*action)) {
        Some('C') => {
            draft.assume(match has('Q') {
                true => "A request's latency is from Q to C, with the time in the scheduler.",
                false => "A request's latency is from D to C, without the time in the scheduler.",
            });
            'C'
        }
        Some(action) => action,
        None => 'Q',
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_formats_hold_the_same_request() {
        let long = "  8,16   0        4     0.000516543  4242  C   R 9312 + 16 [0]";
        let short = "  8,16  0.000516543 C R 9312 16 4242 a name";
        let event = Event::parse(long).expect("a line");
        assert_eq!(event.kind, Some(Kind::Read));
        assert_eq!((event.sector, event.sectors), (9312, 16));
        assert_eq!(Event::parse(short), Some(event));
    }

    #[test]
    fn a_flush_is_a_write_of_nothing_and_a_forced_write_is_a_write() {
        let kind = |line: &str| Event::parse(line).expect(line).kind;
        assert_eq!(
            kind("8,16 0 14 0.008179109 4242 C FW 0 [0]"),
            Some(Kind::Flush)
        );
        assert_eq!(
            kind("8,16 0 11 0.007259109 4242 Q FWS [(null)]"),
            Some(Kind::Flush)
        );
        assert_eq!(
            kind("8,16 0 18 0.009179109 4242 C WFS 2000000 + 8 [0]"),
            Some(Kind::Write)
        );
        assert_eq!(
            kind("8,16 0 18 0.009179109 4242 C DS 2000000 + 8 [0]"),
            None
        );
        assert_eq!(Event::parse("CPU0 (syn):"), None);
    }
}
