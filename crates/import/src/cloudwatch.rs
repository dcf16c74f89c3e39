//! `aws cloudwatch get-metric-statistics` for an EBS volume: one file per metric, sums over a period.
//!
//! A response has neither period nor volume: the period is the distance of data points, the files must be of one volume.
//! `get-metric-data` does not name the statistic either, and is rejected here; of a managed server [`super::cloudwatch_server`] reads
//! both. Metrics and units: `using_cloudwatch_ebs.md` of
//! <https://github.com/awsdocs/amazon-ec2-user-guide>; form: `get-metric-statistics.rst` of
//! <https://github.com/aws/aws-cli>; both read 2026-11-26. Not tested with a response of AWS.

use std::collections::{BTreeMap, BTreeSet};

use jiff::Timestamp;
use model::Duration;
use model::number::Counted;
use reading::Role;

use super::cloudwatch_answer::{Answer, Point};
use super::cloudwatch_server;
use super::devices::{self, Found};
use super::error::ImportError;
use super::metered;
use super::source::{Options, Source};
use super::stamp::Dates;
use super::text::excerpt;
use super::twice::{Load, Range};
use profile::{Draft, Interval, Requests, Span, later};

/// Sums over a period: requests, their bytes, and seconds that they took; of reads, then of writes.
const SUMS: [&str; 6] = [
    "VolumeReadOps",
    "VolumeReadBytes",
    "VolumeTotalReadTime",
    "VolumeWriteOps",
    "VolumeWriteBytes",
    "VolumeTotalWriteTime",
];
/// The ones that a profile requires: counts and bytes.
const NEEDED: [usize; 4] = [0, 1, 3, 4];
/// Also implied by the others: mean requests in flight, and seconds without a request.
const QUEUE: &str = "VolumeQueueLength";
const IDLE: &str = "VolumeIdleTime";
/// A unit of CloudWatch, and what one of it is in the unit that EBS documents for the metric.
type Unit = (&'static str, f64);
/// Units that say the same, the one that EBS documents first. All units of CloudWatch:
/// <https://docs.aws.amazon.com/AmazonCloudWatch/latest/APIReference/API_Datapoint.html>, read 2026-11-26, which does not say
/// whether a kilobyte has 1,000 bytes.
const COUNTS: [Unit; 1] = [("Count", 1.0)];
const BYTES: [Unit; 5] = [
    ("Bytes", 1.0),
    ("Kilobytes", 1e3),
    ("Megabytes", 1e6),
    ("Gigabytes", 1e9),
    ("Terabytes", 1e12),
];
const TIMES: [Unit; 3] = [
    ("Seconds", 1.0),
    ("Milliseconds", 1e-3),
    ("Microseconds", 1e-6),
];
/// No request of a volume is larger, in bytes: 1,024 KiB on HDD, 256 KiB on SSD.
/// <https://docs.aws.amazon.com/ebs/latest/userguide/ebs-io-characteristics.html>
const REQUEST_MAX: f64 = 1_048_576.0;
/// The one volume, which the responses do not name.
const VOLUME: &str = "volume";

/// Data points of a metric by time, with their file.
struct Series<'a> {
    file: &'a str,
    points: BTreeMap<Timestamp, f64>,
}

type Metrics<'a> = BTreeMap<String, Series<'a>>;

/// Reads responses about one volume, one metric each.
///
/// # Errors
/// When a metric is missing, occurs twice, or has no sums.
pub(super) fn read(sources: &[Source], options: &Options) -> Result<Draft, ImportError> {
    if sources
        .iter()
        .any(|source| cloudwatch_server::is_of_server(source.text))
    {
        return cloudwatch_server::read(sources, options);
    }
    let mut draft = Draft::of("CloudWatch");
    let mut metrics = Metrics::new();
    let answers = sources
        .iter()
        .map(|source| Ok((source.file, parse(source)?)));
    let answers = answers.collect::<Result<Vec<(&str, Answer)>, ImportError>>()?;
    let points = answers
        .iter()
        .flat_map(|(file, answer)| answer.datapoints.iter().map(move |point| (*file, point)));
    let texts = points.map(|(file, point)| (file, point.timestamp.as_str()));
    let dates = Dates::of(texts, options, &mut draft)
        .map_err(|(file, message)| ImportError::file(file, message))?;
    for (file, answer) in &answers {
        let wrong = |message| ImportError::file(file, message);
        let points = answer.points(&dates, &mut draft).map_err(wrong)?;
        let metric = answer.label.clone();
        let series = Series { file, points };
        if let Some(before) = metrics.insert(metric.clone(), series) {
            let message = format!(
                "it has `{metric}`, as {} has; which volume an answer is of, is not in it: give the files of one volume",
                before.file
            );
            return Err(wrong(message));
        }
    }
    let wrong = |message: String| ImportError::file(sources[0].file, message);
    if let Some(needed) = NEEDED
        .iter()
        .find(|needed| !metrics.contains_key(SUMS[**needed]))
    {
        return Err(wrong(format!(
            "`{}` is in none of the files; give one for each of {}",
            SUMS[*needed],
            NEEDED.map(|needed| SUMS[needed]).join(", ")
        )));
    }
    check_times(&metrics).map_err(wrong)?;
    for unused in metrics.keys().filter(|name| !is_known(name)) {
        draft.notes.push(format!("{unused} is not used"));
    }
    let found = [Found {
        name: VOLUME,
        is_active: true,
    }];
    let roles = devices::assign_roles(&options.devices, &found, |a, b| a == b, &mut draft);
    let role = roles.map_err(|mistake| mistake.of(sources[0].file))?[0].unwrap_or(Role::Data);
    devices::assume_shared(&options.devices, None, &mut draft);
    let times = metrics.values().flat_map(|series| series.points.keys());
    let period = metered::period(&times.copied().collect()).map_err(wrong)?;
    draft.assume(format!(
        "A data point is of {period} from its time on, which is what points are apart; one that is missing is not known."
    ));
    check(&metrics, period, &mut draft);
    spans(&metrics, role, period, &mut draft);
    Ok(draft)
}

fn is_known(name: &str) -> bool {
    SUMS.contains(&name) || [QUEUE, IDLE].contains(&name)
}

fn parse(source: &Source) -> Result<Answer, ImportError> {
    serde_json::from_str(source.text).map_err(|error| {
        let message = error.to_string();
        let message = message.split(" at line ").next().unwrap_or_default();
        let remedy = "give what `aws cloudwatch get-metric-statistics --output json` prints, a file a metric";
        ImportError::line(source.file, error.line(), format!("{message}; {remedy}"))
    })
}

impl Answer {
    /// Its data points by time, if its metric is used.
    fn points(&self, dates: &Dates, draft: &mut Draft) -> Result<BTreeMap<Timestamp, f64>, String> {
        let metric = &self.label;
        let (statistic, of): (&str, fn(&Point) -> Option<f64>) = match metric.as_str() {
            QUEUE => ("Average", |point| point.average),
            _ => ("Sum", |point| point.sum),
        };
        let mut points = BTreeMap::new();
        for point in self.datapoints.iter().filter(|_| is_known(metric)) {
            let value = of(point).ok_or_else(|| {
                format!("`{metric}` has no `{statistic}`; ask for it with --statistics {statistic}")
            })?;
            let value = value * point.unit(metric, draft)?;
            let value = Counted::try_from(value).map_err(|error| {
                format!("`{metric}` at {}: {error}; correct it", point.timestamp)
            })?;
            let at = dates.instant(&point.timestamp, draft)?;
            let before = points.insert(at, value.get());
            if before.is_some_and(|before| before != value.get()) {
                return Err(format!(
                    "`{metric}` has two values at {}; leave one of them out",
                    point.timestamp
                ));
            }
        }
        Ok(points)
    }
}

impl Point {
    /// What one of its unit is in the unit that EBS documents for the metric.
    fn unit(&self, metric: &str, draft: &mut Draft) -> Result<f64, String> {
        let known: &[Unit] = match metric {
            "VolumeReadBytes" | "VolumeWriteBytes" => &BYTES,
            "VolumeTotalReadTime" | "VolumeTotalWriteTime" | IDLE => &TIMES,
            _ => &COUNTS,
        };
        let Some(unit) = &self.unit else {
            draft.assume(format!(
                "`{metric}` has no `Unit`: it is taken to be {}, as EBS documents it.",
                known[0].0
            ));
            return Ok(known[0].1);
        };
        let (_, factor) = known.iter().find(|(name, _)| name == unit).ok_or_else(|| {
            let known: Vec<&str> = known.iter().map(|(name, _)| *name).collect();
            format!(
                "`{metric}` at {} is in `{}`, which is none of its units ({}); ask for it without --unit, or correct it",
                self.timestamp,
                excerpt(unit),
                known.join(", ")
            )
        })?;
        if *factor > 1.0 {
            draft.assume(format!(
                "{unit} of `{metric}` are {factor} bytes each: no page of AWS says."
            ));
        }
        Ok(*factor)
    }
}

/// Rejects metrics that have no time in common.
fn check_times(metrics: &Metrics) -> Result<(), String> {
    let of = |needed: usize| &metrics[SUMS[needed]].points;
    let has_all = |at: &Timestamp| NEEDED.iter().all(|needed| of(*needed).contains_key(at));
    if of(NEEDED[0]).keys().any(has_all) {
        return Ok(());
    }
    let first = NEEDED.map(|needed| {
        let first = of(needed).keys().next();
        let first = first.map_or("never".to_owned(), Timestamp::to_string);
        format!("`{}` {first}", SUMS[needed])
    });
    Err(format!(
        "its metrics have no time in common (their first times: {}); ask for each with the same --start-time and --end-time",
        first.join(", ")
    ))
}

fn value(metrics: &Metrics, name: &str, at: Timestamp) -> Option<f64> {
    metrics.get(name)?.points.get(&at).copied()
}

/// Notes where times, queue and idle time contradict one another.
fn check(metrics: &Metrics, period: Duration, draft: &mut Draft) {
    let mut load = Load::default();
    for at in metrics[SUMS[0]].points.keys() {
        let of = |name| value(metrics, name, *at);
        if let Some((reads, writes)) = of(SUMS[2]).zip(of(SUMS[5])) {
            let in_flight = (reads + writes) / period.as_secs_f64();
            let busy = of(IDLE).map(|idle| (1.0 - idle / period.as_secs_f64()).max(0.0));
            load.add(
                Range::exact(in_flight),
                of(QUEUE).map(Range::exact),
                busy.map(Range::exact),
            );
        }
    }
    if let Some(note) = load.contradiction("The volume", QUEUE, IDLE) {
        draft.assume(note);
    }
    for (count, bytes) in [(SUMS[0], SUMS[1]), (SUMS[3], SUMS[4])] {
        let sum = |name| metrics[name].points.values().sum::<f64>();
        let size = sum(bytes) / sum(count);
        if size > REQUEST_MAX {
            draft.assume(format!(
                "`{bytes}` over `{count}` is {:.1} MiB a request, and EBS has none above 1 MiB; both count, and one may be wrong.",
                size / REQUEST_MAX
            ));
        }
    }
}

fn spans(metrics: &Metrics, role: Role, period: Duration, draft: &mut Draft) {
    let times: BTreeSet<Timestamp> = NEEDED
        .iter()
        .flat_map(|needed| metrics[SUMS[*needed]].points.keys().copied())
        .collect();
    for from in times {
        let requests = |first: usize| Requests {
            count: value(metrics, SUMS[first], from),
            bytes: value(metrics, SUMS[first + 1], from),
            waited: value(metrics, SUMS[first + 2], from).map(Duration::from_secs_f64),
        };
        let mut figures = Interval::default();
        let io = figures.roles.entry(role).or_default();
        (io.reads, io.writes) = (requests(0), requests(3));
        draft.spans.push(Span {
            from,
            until: later(from, period),
            figures,
        });
    }
}
