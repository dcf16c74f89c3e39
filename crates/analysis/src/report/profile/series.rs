//! A profile over time, for charts: thinned, never smoothed.

use std::ops::Range;

use serde::Serialize;

use super::view::waiting_for;
use crate::findings::{POINTS_MAX, extremes};
use model::Duration;
use profile::{Interval, Io, Profile, Requests, Wait};
use reading::Role;

/// The longest time between two intervals that is not a gap: records may be this late. For shorter intervals, half an
/// interval.
const LATE: Duration = Duration::from_millis(1500);

/// Units of the axis, by length of time, the shortest first.
const UNITS: [(f64, f64, &str); 3] = [
    (300.0, 1.0, "seconds since the start"),
    (10_800.0, 60.0, "minutes since the start"),
    (f64::INFINITY, 3_600.0, "hours since the start"),
];

/// What the script of the page draws.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(super) struct Series {
    /// Groups of lines: roles, and the server as a whole. Only those with a line.
    pub(super) groups: Vec<&'static str>,
    /// When the first interval begins, in milliseconds from 1970.
    pub(super) start_ms: i64,
    /// What the axis shows.
    pub(super) axis: &'static str,
    /// Its unit, in seconds.
    pub(super) unit_s: f64,
    /// Positions of values, by the start of their interval; a gap has a position too.
    pub(super) x: Vec<f64>,
    /// Every chart has at least one line.
    pub(super) charts: Vec<Chart>,
}

/// Figures of one unit.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(super) struct Chart {
    pub(super) title: &'static str,
    /// Suffix of a value.
    pub(super) unit: &'static str,
    pub(super) lines: Vec<Line>,
}

/// A figure, with as many values as the axis has positions.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(super) struct Line {
    /// Index of its group in the list.
    pub(super) group: usize,
    pub(super) label: String,
    /// `None` in a gap, and where undefined: without a request there is no latency.
    pub(super) values: Vec<Option<f64>>,
}

/// What a line describes, in the order of the page.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Group {
    Data,
    Temp,
    Log,
    Server,
}

/// A line before it is thinned.
struct Figure<'a> {
    group: Group,
    label: String,
    of: Box<OfInterval<'a>>,
}

/// A figure of an interval; `None` where it was not recorded.
type OfInterval<'a> = dyn Fn(&Interval) -> Option<f64> + 'a;

impl Series {
    /// Whether there are more intervals than can be drawn.
    pub(super) fn is_thinned(profile: &Profile) -> bool {
        profile.intervals.len() > POINTS_MAX
    }

    /// The drawable series of `profile`.
    pub(super) fn of(profile: &Profile) -> Series {
        let intervals = &profile.intervals;
        let axis = Axis::of(intervals);
        let recorded = |figure: &Figure| intervals.iter().any(|i| (figure.of)(i).is_some());
        let mut charts = figures(profile);
        for (_, _, figures) in &mut charts {
            figures.retain(recorded);
        }
        charts.retain(|(_, _, figures)| !figures.is_empty());
        let all = charts.iter().flat_map(|(_, _, figures)| figures);
        let mut groups: Vec<Group> = all.map(|figure| figure.group).collect();
        groups.sort_unstable();
        groups.dedup();
        let line = |figure: Figure| Line {
            group: groups.binary_search(&figure.group).unwrap_or(0),
            values: axis.values(intervals, &figure.of),
            label: figure.label,
        };
        let (unit_s, name) = unit(intervals);
        Series {
            start_ms: profile.start.as_millisecond(),
            axis: name,
            unit_s,
            x: axis.x(intervals, unit_s),
            charts: charts
                .into_iter()
                .map(|(title, unit, figures)| Chart {
                    title,
                    unit,
                    lines: figures.into_iter().map(line).collect(),
                })
                .collect(),
            groups: groups.iter().map(|group| group.name()).collect(),
        }
    }
}

impl Group {
    fn of(role: Role) -> Group {
        match role {
            Role::Data | Role::Undo | Role::Doublewrite => Group::Data,
            Role::Temp => Group::Temp,
            Role::Log | Role::Binlog => Group::Log,
        }
    }

    /// Roles whose requests a session waits for.
    fn of_wait(wait: Wait) -> Group {
        match wait {
            Wait::DataRead | Wait::DataWrite => Group::Data,
            Wait::Log => Group::Log,
            Wait::Temp => Group::Temp,
            Wait::Lock | Wait::Other => Group::Server,
        }
    }

    fn name(self) -> &'static str {
        match self {
            Group::Data => "data",
            Group::Temp => "temp",
            Group::Log => "log",
            Group::Server => "server",
        }
    }
}

/// The positions on the axis: one interval, several that are drawn as two values, or `None`, a gap.
struct Axis(Vec<Option<Range<usize>>>);

impl Axis {
    /// One position per interval and gap. Of more than [`POINTS_MAX`] intervals, those that begin in the same slot share
    /// one, and gaps shorter than a slot are not shown.
    fn of(intervals: &[Interval]) -> Axis {
        let part_s = match intervals.len() > POINTS_MAX {
            true => span_s(intervals) / (POINTS_MAX / 2) as f64,
            false => 0.0,
        };
        let part = |interval: &Interval| (interval.at.as_secs_f64() / part_s).floor();
        let mut places: Vec<Option<Range<usize>>> = Vec::new();
        for (number, interval) in intervals.iter().enumerate() {
            let before = number.checked_sub(1).map(|before| &intervals[before]);
            if before.is_some_and(|before| is_gap(before, interval, part_s)) {
                places.push(None);
            }
            let shares = part_s > 0.0 && before.is_some_and(|b| part(b) == part(interval));
            match places.last_mut() {
                Some(Some(place)) if shares => place.end = number + 1,
                _ => places.push(Some(number..number + 1)),
            }
        }
        Axis(places)
    }

    fn x(&self, intervals: &[Interval], unit_s: f64) -> Vec<f64> {
        let at = |time: Duration| rounded(time.as_secs_f64() / unit_s);
        let mut until = Duration::ZERO;
        let mut x = Vec::new();
        for place in &self.0 {
            match place {
                None => x.push(at(until)),
                Some(place) => {
                    let middle = place.start + place.len() / 2;
                    let begins = [place.start, middle].map(|number| at(intervals[number].at));
                    x.extend(&begins[..points(place)]);
                    let last = &intervals[place.end - 1];
                    until = last.at + last.length;
                }
            }
        }
        x
    }

    /// The minimum and the maximum of each position, in the order in which they occurred.
    fn values(&self, intervals: &[Interval], figure: &OfInterval) -> Vec<Option<f64>> {
        let mut drawn = Vec::new();
        for place in &self.0 {
            match place {
                None => drawn.push(None),
                Some(place) => {
                    let values = intervals[place.clone()].iter().map(figure);
                    let values: Vec<Option<f64>> = values.collect();
                    drawn.extend(&extremes(&values)[..points(place)]);
                }
            }
        }
        drawn
    }
}

/// The number of values drawn for a position.
fn points(place: &Range<usize>) -> usize {
    place.len().min(2)
}

/// Whether a line is interrupted between two intervals, where nothing shorter than `part_s` is visible.
fn is_gap(before: &Interval, after: &Interval, part_s: f64) -> bool {
    let between = after.at.saturating_sub(before.at + before.length);
    let late = LATE.as_secs_f64().min(before.length.as_secs_f64() / 2.0);
    between.as_secs_f64() > late.max(part_s)
}

/// From the start of the profile to the end of its last interval.
fn span_s(intervals: &[Interval]) -> f64 {
    let end = |last: &Interval| (last.at + last.length).as_secs_f64();
    intervals.last().map_or(0.0, end)
}

fn unit(intervals: &[Interval]) -> (f64, &'static str) {
    let span_s = span_s(intervals);
    let fits = UNITS.iter().find(|(longest, _, _)| span_s <= *longest);
    let (_, unit_s, name) = fits.expect("the last has no end");
    (*unit_s, name)
}

/// Rounded to a millionth: for hours, a few milliseconds.
fn rounded(value: f64) -> f64 {
    (value * 1e6).round() / 1e6
}

/// All possible charts: title, unit of the values, lines.
fn figures(profile: &Profile) -> Vec<(&'static str, &'static str, Vec<Figure<'_>>)> {
    let mut waits: Vec<Wait> = profile
        .intervals
        .iter()
        .flat_map(|interval| interval.waiting.keys().copied())
        .collect();
    waits.sort_unstable();
    waits.dedup();
    let running = server("running", |interval| interval.running);
    let waiting = waits.into_iter().map(|wait| Figure {
        group: Group::of_wait(wait),
        label: waiting_for(wait).to_owned(),
        of: Box::new(move |interval| interval.waiting.get(&wait).copied()),
    });
    let per_second = |interval: &Interval, figure: Option<f64>| {
        figure.map(|value| value / interval.length.as_secs_f64())
    };
    let of_requests = |figure: fn(&Requests, f64) -> Option<f64>| {
        let roles = Role::ALL.into_iter();
        roles
            .flat_map(|role| KINDS.map(|kind| requests(role, kind, figure)))
            .collect()
    };
    vec![
        (
            "Requests, 1/s",
            "1/s",
            of_requests(|requests, s| Some(requests.count? / s)),
        ),
        (
            "Throughput, MB/s",
            "MB/s",
            of_requests(|requests, s| Some(requests.bytes? / 1e6 / s)),
        ),
        (
            "Latency, mean, ms",
            "ms",
            of_requests(|requests, _| requests.latency().map(Duration::as_millis_f64)),
        ),
        (
            "Operations, 1/s",
            "1/s",
            vec![
                server("operations", move |i| per_second(i, i.operations)),
                server("commits", move |i| per_second(i, i.commits)),
            ],
        ),
        (
            "Sessions",
            "sessions",
            [running].into_iter().chain(waiting).collect(),
        ),
        (
            "Processors in use",
            "processors",
            vec![server("processors", move |i| {
                per_second(i, i.processor.map(Duration::as_secs_f64))
            })],
        ),
    ]
}

/// Requests of one kind.
type Kind = (&'static str, fn(&Io) -> &Requests);

const KINDS: [Kind; 3] = [
    ("reads", |io| &io.reads),
    ("writes", |io| &io.writes),
    ("flushes", |io| &io.flushes),
];

/// A figure of requests, which also takes the length of their interval in seconds.
fn requests<'a>(
    role: Role,
    (kind, of): Kind,
    figure: fn(&Requests, f64) -> Option<f64>,
) -> Figure<'a> {
    Figure {
        group: Group::of(role),
        label: format!("{role}, {kind}"),
        of: Box::new(move |interval| {
            let requests = of(interval.roles.get(&role)?);
            figure(requests, interval.length.as_secs_f64())
        }),
    }
}

fn server<'a>(label: &str, of: impl Fn(&Interval) -> Option<f64> + 'a) -> Figure<'a> {
    Figure {
        group: Group::Server,
        label: label.to_owned(),
        of: Box::new(of),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A profile whose intervals begin and end at these seconds, with this many reads a second.
    fn profile(intervals: &[(f64, f64, f64)]) -> Profile {
        let column = |of: fn(&(f64, f64, f64)) -> f64| {
            let values: Vec<String> = intervals.iter().map(|i| format!("{:?}", of(i))).collect();
            values.join(", ")
        };
        let text = format!(
            "format = \"dbstow.profile/1\"\nstart = \"1970-01-01T00:01:00Z\"\n[origin]\ntool = \"test\"\n\
             [intervals]\nat_s = [{}]\nlength_s = [{}]\n[intervals.data]\nreads = [{}]\n",
            column(|i| i.0),
            column(|i| i.1 - i.0),
            column(|i| i.2 * (i.1 - i.0)),
        );
        profile::read("test.toml", &text).unwrap()
    }

    /// The drawn reads per second.
    fn reads(series: &Series) -> &[Option<f64>] {
        let chart = series
            .charts
            .iter()
            .find(|chart| chart.title == "Requests, 1/s");
        &chart.unwrap().lines[0].values
    }

    #[test]
    fn what_was_not_recorded_has_no_line_and_a_chart_without_lines_is_not_there() {
        let series = Series::of(&profile(&[(0.0, 10.0, 3.0), (10.0, 20.0, 0.0)]));

        // Neither bytes nor latencies, operations, sessions and processors.
        let titles: Vec<&str> = series.charts.iter().map(|chart| chart.title).collect();
        assert_eq!(titles, ["Requests, 1/s"]);
        assert_eq!(series.groups, ["data"]);
        let [line] = &series.charts[0].lines[..] else {
            panic!("{:?}", series.charts);
        };
        assert_eq!((line.group, line.label.as_str()), (0, "data, reads"));
        // A recorded 0 is drawn.
        assert_eq!(line.values, [Some(3.0), Some(0.0)]);
        assert_eq!((series.x, series.start_ms), (vec![0.0, 10.0], 60_000));
    }

    #[test]
    fn a_gap_between_intervals_is_a_gap_in_the_line() {
        // Records that are 1 s late do not make a gap; 40 s without one do.
        let series = Series::of(&profile(&[
            (0.0, 10.0, 1.0),
            (11.0, 20.0, 2.0),
            (60.0, 70.0, 3.0),
        ]));

        assert_eq!(series.x, [0.0, 11.0, 20.0, 60.0]);
        assert_eq!(reads(&series), [Some(1.0), Some(2.0), None, Some(3.0)]);
    }

    #[test]
    fn an_interval_without_a_request_has_no_latency() {
        let mut profile = profile(&[(0.0, 10.0, 1.0), (10.0, 20.0, 0.0)]);
        for interval in &mut profile.intervals {
            let io = interval.roles.get_mut(&Role::Data).unwrap();
            // 10 reads of 2 ms each; none.
            io.reads.waited = Some(Duration::from_secs_f64(io.reads.count.unwrap() * 0.002));
        }

        let series = Series::of(&profile);

        assert_eq!(series.charts[1].title, "Latency, mean, ms");
        assert_eq!(series.charts[1].lines[0].values, [Some(2.0), None]);
    }

    #[test]
    fn a_day_of_seconds_is_thinned_and_keeps_peaks_and_long_gaps() {
        // 86,400 s in 200 parts of 432 s. A peak, a trough, and two gaps: of an hour, and of 60 s, which are less than a pixel.
        let is_gap =
            |second: u32| (36_000..39_600).contains(&second) || (50_000..50_060).contains(&second);
        let rate = |second: u32| match second {
            12_345 => 9_999.0,
            70_000 => 1.0,
            _ => 100.0,
        };
        let seconds = (0..86_400).filter(|second| !is_gap(*second));
        let intervals: Vec<(f64, f64, f64)> = seconds
            .map(|second| (f64::from(second), f64::from(second + 1), rate(second)))
            .collect();

        let series = Series::of(&profile(&intervals));

        let values = reads(&series);
        assert_eq!(values.len(), series.x.len());
        assert!(
            (300..=POINTS_MAX + 1).contains(&values.len()),
            "{}",
            values.len()
        );
        assert!(values.contains(&Some(9_999.0)) && values.contains(&Some(1.0)));
        let gaps: Vec<usize> = (0..values.len())
            .filter(|at| values[*at].is_none())
            .collect();
        assert_eq!(gaps.len(), 1);
        // 36,000 s are 10 h, and the line goes on at 11 h.
        assert_eq!(series.x[gaps[0]..gaps[0] + 2], [10.0, 11.0]);
        assert_eq!(series.axis, "hours since the start");
        assert!(series.x.is_sorted());
    }

    #[test]
    fn sessions_are_drawn_with_what_they_wait_for() {
        let mut profile = profile(&[(0.0, 10.0, 1.0), (10.0, 20.0, 1.0)]);
        for interval in &mut profile.intervals {
            interval.running = Some(4.0);
            interval.waiting.insert(Wait::Log, 1.5);
            interval.waiting.insert(Wait::Lock, 0.5);
            interval.processor = Some(Duration::from_secs(25));
        }

        let series = Series::of(&profile);

        assert_eq!(series.groups, ["data", "log", "server"]);
        let sessions = &series.charts[1];
        let lines: Vec<(usize, &str)> = sessions
            .lines
            .iter()
            .map(|line| (line.group, line.label.as_str()))
            .collect();
        let expected = [
            (2, "running"),
            (1, "waiting for the log"),
            (2, "waiting for locks"),
        ];
        assert_eq!(lines, expected);
        // 25 s of processor time in 10 s.
        assert_eq!(series.charts[2].lines[0].values, [Some(2.5), Some(2.5)]);
    }
}
