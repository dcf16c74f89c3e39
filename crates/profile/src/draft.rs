//! Turns recorded intervals into a profile: in order, without holes in a column, and not empty.

use jiff::Timestamp;
use model::Duration;

use crate::columns::{self, Column};
use crate::definition::{
    Interruption, Interval, Io, Lost, Machine, Origin, Profile, Requests, ServerVolume,
};

/// Minimum number of intervals of a series: one shows no change over time.
pub const INTERVALS_MIN: usize = 2;

/// A figure missing from more than one interval in this many is dropped; otherwise these intervals are.
const LACKING: usize = 10;

/// Delay of a record up to which no gap is assumed.
const LATE: Duration = Duration::from_millis(1500);

/// A profile under construction.
#[derive(Clone, Debug, Default)]
pub struct Draft {
    /// Where the figures come from.
    pub origin: Origin,
    /// The server's machine.
    pub machine: Machine,
    /// The volumes with the files.
    pub volumes: Vec<ServerVolume>,
    /// Intervals in the order of the file.
    pub spans: Vec<Span>,
    /// Interruptions of the recording, and when the last figures before them were taken.
    pub losses: Vec<(Timestamp, Lost)>,
    /// Assumptions, as sentences.
    pub assumptions: Vec<String>,
    /// Notes for the user that must not be in the profile: names of devices, instances and files that were left out.
    pub notes: Vec<String>,
}

/// An interval with its ends.
#[derive(Clone, Debug)]
pub struct Span {
    /// When it begins.
    pub from: Timestamp,
    /// When it ends.
    pub until: Timestamp,
    /// Its figures; the time is given by the ends.
    pub figures: Interval,
}

impl Draft {
    /// A draft of this tool's figures.
    pub fn of(tool: &str) -> Draft {
        Draft {
            origin: Origin {
                tool: tool.to_owned(),
                ..Origin::default()
            },
            ..Draft::default()
        }
    }

    /// Adds an assumption, unless already present.
    pub fn assume(&mut self, sentence: impl Into<String>) {
        let sentence = sentence.into();
        if !self.assumptions.contains(&sentence) {
            self.assumptions.push(sentence);
        }
    }

    /// Whether `next`, whose figures begin later, covers a part of the same time.
    pub fn overlaps(&self, next: &Draft) -> bool {
        let end = self.spans.last().map(|span| span.until);
        let start = next.spans.first().map(|span| span.from);
        matches!((end, start), (Some(end), Some(start)) if later(start, LATE) < end)
    }

    /// Adds the figures of `next`, which begin later.
    pub fn append(&mut self, next: Draft) {
        self.spans.extend(next.spans);
        self.losses.extend(next.losses);
        for volume in next.volumes {
            if !self.volumes.contains(&volume) {
                self.volumes.push(volume);
            }
        }
        for assumption in next.assumptions {
            self.assume(assumption);
        }
        for note in next.notes {
            if !self.notes.contains(&note) {
                self.notes.push(note);
            }
        }
    }

    /// The profile.
    ///
    /// # Errors
    /// As text, when it has fewer intervals or no requests.
    pub fn finish(mut self, intervals_min: usize) -> Result<Profile, String> {
        self.order();
        self.even_out();
        if self.spans.len() < intervals_min {
            let is_back = |(_, cause): &&(Timestamp, Lost)| *cause == Lost::Clock;
            let remedy = match self.losses.iter().filter(is_back).count() {
                0 => "record for longer".to_owned(),
                back => format!(
                    "times go back {back} times: sort the rows by time, or import what comes before and after a clock was set \
                     back by itself"
                ),
            };
            return Err(format!(
                "it has {}, and a profile needs {intervals_min} or more; {remedy}",
                match self.spans.len() {
                    0 => "no complete interval".to_owned(),
                    1 => "1 complete interval".to_owned(),
                    more => format!("{more} complete intervals"),
                }
            ));
        }
        if is_idle(&self.spans) {
            return Err(
                "it has no request in any interval: record while the server works, and check that --device names \
                 the devices that hold its files"
                    .to_owned(),
            );
        }
        let start = self.spans[0].from;
        let placed = |span: Span| Interval {
            at: between(start, span.from),
            length: between(span.from, span.until),
            ..span.figures
        };
        let end = self.spans.last().map_or(start, |span| span.until);
        // An interruption before the first interval has no figures next to it.
        let inside = self
            .losses
            .iter()
            .filter(|(at, _)| *at >= start && *at <= end);
        let mut interruptions: Vec<Interruption> = inside
            .map(|(at, cause)| Interruption {
                at: between(start, *at),
                cause: *cause,
            })
            .collect();
        interruptions.sort_by_key(|interruption| interruption.at);
        interruptions.dedup();
        let profile = Profile {
            origin: self.origin,
            start,
            machine: self.machine,
            volumes: self.volumes,
            intervals: self.spans.into_iter().map(placed).collect(),
            left_out: Vec::new(),
            interruptions,
            assumptions: self.assumptions,
        };
        crate::check::check(&profile)?;
        Ok(profile)
    }

    /// Drops intervals that begin before the end of the previous ones, and notes gaps.
    fn order(&mut self) {
        let mut kept: Vec<Span> = Vec::new();
        let mut set_back = 0;
        for mut span in std::mem::take(&mut self.spans) {
            if let Some(last) = kept.last() {
                let overlap = between(span.from, last.until);
                let length = between(span.from, span.until);
                let is_late = between(last.until, span.from) > LATE;
                // If shortened by more, it would look busier than it was.
                if overlap > LATE || overlap.as_secs_f64() > length.as_secs_f64() / 2.0 {
                    self.losses.push((last.until, Lost::Clock));
                    set_back += 1;
                    continue;
                }
                if span.from < last.until {
                    span.from = last.until;
                } else if is_late && !self.is_known(last.until, span.from) {
                    self.losses.push((last.until, Lost::Gap));
                }
            }
            if span.from < span.until {
                kept.push(span);
            }
        }
        self.spans = kept;
        if set_back > 0 {
            self.assume(format!(
                "Intervals that begin before others end are left out, because the clock was set back: {set_back}."
            ));
        }
    }

    /// Whether an interruption is known in that time.
    fn is_known(&self, from: Timestamp, until: Timestamp) -> bool {
        let inside = |(at, _): &(Timestamp, Lost)| from <= *at && *at < until;
        self.losses.iter().any(inside)
    }

    /// Makes every figure present for all intervals or for none.
    fn even_out(&mut self) {
        let has = |span: &Span, column: &Column| column.get(&span.figures).is_some();
        let mut wanted: Vec<Column> = Vec::new();
        for column in columns::all() {
            let there = self.spans.iter().filter(|span| has(span, &column)).count();
            let lacking = self.spans.len() - there;
            if there > 0 && lacking * LACKING <= self.spans.len() {
                wanted.push(column);
            } else if there > 0 {
                self.assume(format!(
                    "`{column}` is missing in {lacking} of {} intervals and left out.",
                    self.spans.len()
                ));
                for span in &mut self.spans {
                    column.clear(&mut span.figures);
                }
            }
        }
        let is_complete = |span: &Span| wanted.iter().all(|column| has(span, column));
        let before = self.spans.len();
        let mut lost = Vec::new();
        self.spans.retain(|span| {
            let complete = is_complete(span);
            if !complete {
                lost.push((span.from, Lost::Gap));
            }
            complete
        });
        self.losses.extend(lost);
        if self.spans.len() < before {
            self.assume(format!(
                "{} of {before} intervals lack a figure and are left out.",
                before - self.spans.len()
            ));
        }
        for span in &mut self.spans {
            span.figures.roles.retain(|_, io| *io != Io::default());
        }
    }
}

/// The time from one instant to another; zero if the other is not later.
pub fn between(from: Timestamp, until: Timestamp) -> Duration {
    let ns = until.as_nanosecond() - from.as_nanosecond();
    Duration::from_nanos(u64::try_from(ns.max(0)).unwrap_or(u64::MAX))
}

/// The instant later by `by`, saturating at the maximum.
pub fn later(from: Timestamp, by: Duration) -> Timestamp {
    let ns = from.as_nanosecond() + i128::from(by.as_nanos());
    Timestamp::from_nanosecond(ns).unwrap_or(Timestamp::MAX)
}

/// Whether requests were counted, but there were none.
fn is_idle(spans: &[Span]) -> bool {
    let figure = |requests: &Requests| requests.count.or(requests.bytes);
    let requests = |io: &Io| [figure(&io.reads), figure(&io.writes), figure(&io.flushes)];
    let all = spans.iter().flat_map(|span| span.figures.roles.values());
    all.flat_map(requests).flatten().all(|count| count == 0.0)
}

/// Adds requests to others of the same kind; a figure that one of them lacks is missing in the sum.
pub fn add(to: &mut Requests, more: Requests) {
    if *to == Requests::default() {
        *to = more;
        return;
    }
    let sum = |a: Option<f64>, b: Option<f64>| Some(a? + b?);
    *to = Requests {
        count: sum(to.count, more.count),
        bytes: sum(to.bytes, more.bytes),
        waited: to.waited.zip(more.waited).map(|(a, b)| a + b),
    };
}

#[cfg(test)]
mod tests {
    use reading::Role;

    use super::*;

    fn span(from: i64, until: i64, reads: Option<f64>) -> Span {
        let at = |s| Timestamp::from_second(s).expect("a second of 1970");
        let mut figures = Interval {
            operations: Some(1.0),
            ..Interval::default()
        };
        let io = figures.roles.entry(Role::Data).or_default();
        io.reads.count = reads;
        Span {
            from: at(from),
            until: at(until),
            figures,
        }
    }

    fn draft(spans: Vec<Span>) -> Draft {
        Draft {
            spans,
            ..Draft::of("test")
        }
    }

    #[test]
    fn a_gap_is_noted_and_an_hour_that_happens_twice_is_left_out() {
        let spans = [
            (0, 60),
            (60, 120),
            (300, 360),
            (180, 240),
            (240, 300),
            (360, 420),
        ];
        let spans = spans.map(|(from, until)| span(from, until, Some(5.0)));
        let profile = draft(spans.to_vec()).finish(2).expect("four intervals");
        let starts: Vec<f64> = profile
            .intervals
            .iter()
            .map(|i| i.at.as_secs_f64())
            .collect();
        assert_eq!(starts, [0.0, 60.0, 300.0, 360.0]);
        let causes: Vec<Lost> = profile.interruptions.iter().map(|i| i.cause).collect();
        assert_eq!(causes, [Lost::Gap, Lost::Clock]);
    }

    #[test]
    fn an_interval_that_a_set_clock_shortens_is_left_out_and_counted() {
        // Set back by 20 s: 60 s of counts would seem to be of 40 s. Nothing comes after it.
        let spans = vec![
            span(0, 60, Some(1.0)),
            span(60, 120, Some(1.0)),
            span(100, 160, Some(1.0)),
        ];
        let profile = draft(spans).finish(2).expect("a profile");
        assert_eq!(profile.intervals.len(), 2);
        assert_eq!(profile.interruptions[0].cause, Lost::Clock);
        let told = "Intervals that begin before others end are left out, because the clock was set back: 1.";
        assert_eq!(profile.assumptions, [told]);
    }

    #[test]
    fn an_interval_without_a_figure_is_left_out_and_a_rare_figure_too() {
        let mut spans: Vec<Span> = (0..20)
            .map(|i| span(i * 10, i * 10 + 10, Some(5.0)))
            .collect();
        spans[3].figures.roles.clear();
        spans[7].figures.commits = Some(1.0);
        let profile = draft(spans).finish(2).expect("enough");
        assert_eq!(profile.intervals.len(), 19);
        assert_eq!(profile.total(|interval| interval.commits), None);
        assert_eq!(profile.interruptions.len(), 1);
        assert_eq!(profile.assumptions.len(), 2, "{:?}", profile.assumptions);
    }

    #[test]
    fn a_mistyped_year_is_refused() {
        const CENTURIES: i64 = 600 * 365 * 86_400;
        let times = [(0, 60), (60, 120), (CENTURIES, CENTURIES + 60)];
        let spans = times.map(|(from, until)| span(from, until, Some(5.0)));
        let error = draft(spans.to_vec()).finish(2).expect_err("six centuries");
        let told = "interval 3 ends more than 100 years after the first begins; correct its date";
        assert!(error.contains(told), "{error}");
    }

    #[test]
    fn one_interval_or_no_request_is_no_profile() {
        let one = draft(vec![span(0, 10, Some(5.0))]).finish(2);
        assert!(one.expect_err("one").contains("record for longer"));
        let idle = draft(vec![span(0, 10, Some(0.0)), span(10, 20, Some(0.0))]).finish(2);
        assert!(idle.expect_err("idle").contains("--device"));
    }
}
