//! CloudWatch of a managed server: `aws cloudwatch get-metric-data`, or `get-metric-statistics` with a file per metric.
//!
//! Its metrics are rates already, so that means are asked for: `get-metric-data` names neither the statistic nor the server. Metrics and
//! units: `rds-metrics` of <https://docs.aws.amazon.com/AmazonRDS/latest/UserGuide/rds-metrics.html>; the metrics of a dedicated log
//! volume and of local storage have its names with an ending. Forms: `get-metric-data.rst`, `get-metric-statistics.rst` of
//! <https://github.com/aws/aws-cli>; all read 2026-11-28. Not tested with a response of AWS.

use std::sync::LazyLock;

use serde::Deserialize;

use super::cloudwatch_answer::Answer;
use super::error::ImportError;
use super::metered::{LOCAL, LOG_VOLUME, Measure, Metered, Metric, VOLUME};
use super::source::{Options, Source};
use super::stamp::Dates;
use super::text::excerpt;
use profile::Draft;

/// Metrics of a volume, with the unit that a value is in.
const OF_VOLUMES: [(&str, Measure, &str); 7] = [
    ("ReadIOPS", Measure::Reads, "Count/Second"),
    ("WriteIOPS", Measure::Writes, "Count/Second"),
    ("ReadThroughput", Measure::ReadBytes, "Bytes/Second"),
    ("WriteThroughput", Measure::WriteBytes, "Bytes/Second"),
    ("ReadLatency", Measure::ReadLatency, "Seconds"),
    ("WriteLatency", Measure::WriteLatency, "Seconds"),
    ("DiskQueueDepth", Measure::Queue, "Count"),
];

/// Volumes, and how the names of their metrics end.
const VOLUMES: [(&str, &str); 3] = [
    (VOLUME, ""),
    (LOG_VOLUME, "LogVolume"),
    (LOCAL, "LocalStorage"),
];

/// Metrics of the server.
const OF_SERVER: [(&str, Measure, &str); 2] = [
    ("BurstBalance", Measure::BurstBalance, "Percent"),
    ("CPUUtilization", Measure::Processor, "Percent"),
];

/// A metric that is used.
struct Known {
    name: String,
    metric: Metric,
    unit: &'static str,
}

static KNOWN: LazyLock<Vec<Known>> = LazyLock::new(|| {
    let mut all = Vec::new();
    for (volume, ending) in VOLUMES {
        let known = |(name, measure, unit): (&str, Measure, &'static str)| Known {
            name: format!("{name}{ending}"),
            metric: Metric {
                volume: volume.to_owned(),
                measure,
            },
            unit,
        };
        all.extend(OF_VOLUMES.map(known));
        if ending.is_empty() {
            all.extend(OF_SERVER.map(known));
        }
    }
    all
});

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Data {
    metric_data_results: Vec<Series>,
    next_token: Option<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Series {
    #[serde(default)]
    id: String,
    #[serde(default)]
    label: String,
    timestamps: Vec<String>,
    values: Vec<f64>,
    status_code: Option<String>,
}

/// A series of a file, whatever its form.
struct Named {
    metric: Option<&'static Known>,
    name: String,
    points: Vec<(String, f64)>,
}

/// Whether answers are about a managed server, and not about a volume of one's own.
pub(super) fn is_of_server(text: &str) -> bool {
    let quoted = |name: &str| text.contains(&format!("\"{name}\""));
    text.contains("\"MetricDataResults\"")
        || KNOWN
            .iter()
            .any(|known| known.metric.measure != Measure::BurstBalance && quoted(&known.name))
}

/// Reads answers about one server.
///
/// # Errors
/// When figures are missing, contradict one another, or have no common period.
pub(super) fn read(sources: &[Source], options: &Options) -> Result<Draft, ImportError> {
    let mut draft = Draft::of("CloudWatch");
    let mut answers = Vec::new();
    for source in sources {
        let of_file = parse(source, &mut draft)?;
        answers.extend(of_file.into_iter().map(|answer| (source.file, answer)));
    }
    let texts = answers.iter().flat_map(|(file, answer)| {
        let texts = answer.points.iter();
        texts.map(move |(text, _)| (*file, text.as_str()))
    });
    let dates = Dates::of(texts, options, &mut draft)
        .map_err(|(file, message)| ImportError::file(file, message))?;
    let mut metered = Metered::default();
    for (file, answer) in &answers {
        let Some(known) = answer.metric else {
            metered.leave_out(&answer.name);
            continue;
        };
        for (text, value) in &answer.points {
            let at = dates.instant(text, &mut draft);
            at.and_then(|at| metered.add(known.metric.clone(), &known.name, at, *value))
                .map_err(|message| ImportError::file(file, message))?;
        }
    }
    draft.assume("CloudWatch's answer does not say which statistic it has: values are taken to be means (Average).");
    let finished = metered.finish(None, options, draft);
    finished.map_err(|mistake| mistake.of(sources[0].file))
}

fn parse(source: &Source, draft: &mut Draft) -> Result<Vec<Named>, ImportError> {
    let wrong = |error: serde_json::Error, remedy: &str| {
        let message = error.to_string();
        let message = message.split(" at line ").next().unwrap_or_default();
        ImportError::line(source.file, error.line(), format!("{message}; {remedy}"))
    };
    if source.text.contains("\"MetricDataResults\"") {
        let remedy = "give what `aws cloudwatch get-metric-data --output json` prints";
        let data: Data = serde_json::from_str(source.text).map_err(|error| wrong(error, remedy))?;
        if data.next_token.is_some() {
            draft.notes.push(format!(
                "{} has a NextToken: there is more of it; give the further answers too",
                source.file
            ));
        }
        let all = data.metric_data_results.into_iter();
        return all
            .map(|series| series.answer(source.file, draft))
            .collect();
    }
    let remedy =
        "give what `aws cloudwatch get-metric-statistics --output json` prints, a file a metric";
    let answer: Answer = serde_json::from_str(source.text).map_err(|error| wrong(error, remedy))?;
    means(answer)
        .map(|named| vec![named])
        .map_err(|message| ImportError::file(source.file, message))
}

/// The metric of a name, which is the last word of a label that names the server too.
fn known(label: &str, id: &str) -> Option<&'static Known> {
    let last = label.split_whitespace().last().unwrap_or_default();
    let id = id.replace('_', "");
    let is_meant = |known: &&Known| known.name == last;
    let by_label = KNOWN.iter().find(is_meant);
    by_label.or_else(|| {
        KNOWN
            .iter()
            .find(|known| known.name.eq_ignore_ascii_case(&id))
    })
}

impl Series {
    fn answer(self, file: &str, draft: &mut Draft) -> Result<Named, ImportError> {
        let name = match self.label.is_empty() {
            true => self.id.clone(),
            false => self.label.clone(),
        };
        if self.timestamps.len() != self.values.len() {
            return Err(ImportError::file(
                file,
                format!(
                    "`{}` has {} times and {} values; ask for it again",
                    excerpt(&name),
                    self.timestamps.len(),
                    self.values.len()
                ),
            ));
        }
        if let Some(status) = self.status_code.filter(|status| status != "Complete") {
            draft.notes.push(format!(
                "{} is {}: CloudWatch did not send all of it",
                excerpt(&name),
                excerpt(&status)
            ));
        }
        Ok(Named {
            metric: known(&self.label, &self.id),
            name: excerpt(&name),
            points: self.timestamps.into_iter().zip(self.values).collect(),
        })
    }
}

/// The means of a metric.
fn means(answer: Answer) -> Result<Named, String> {
    let metric = known(&answer.label, "");
    let name = excerpt(&answer.label);
    let mut points = Vec::new();
    for point in answer.datapoints.into_iter().filter(|_| metric.is_some()) {
        let value = point.average.ok_or_else(|| {
            format!("`{name}` has no `Average`; ask for it with --statistics Average")
        })?;
        if let (Some(unit), Some(metric)) = (&point.unit, metric)
            && unit != metric.unit
        {
            return Err(format!(
                "`{name}` at {} is in `{}`, and its unit is {}; ask for it without --unit",
                excerpt(&point.timestamp),
                excerpt(unit),
                metric.unit
            ));
        }
        points.push((point.timestamp, value));
    }
    Ok(Named {
        metric,
        name,
        points,
    })
}
