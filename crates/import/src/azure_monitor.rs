//! Azure Monitor: the JSON of `az monitor metrics list`, of a managed server or of a machine's data disks.
//!
//! Metrics and units: <https://learn.microsoft.com/azure/azure-monitor/reference/supported-metrics/metrics-index>, of
//! flexibleServers and virtualMachines; form: the response of *Metrics - List*,
//! <https://learn.microsoft.com/rest/api/monitor/metrics/list>; read 2026-11-28. Not tested with a response of Azure.

use model::Duration;
use serde::Deserialize;

use super::error::ImportError;
use super::metered::{Measure, Metered, Metric, VOLUME};
use super::source::{Options, Source};
use super::stamp::Dates;
use super::text::excerpt;
use profile::Draft;

/// Metrics that are used, in lower case, with what one of its unit is in requests, bytes, seconds or percent. Those of data disks
/// are of a machine.
const KNOWN: [(&str, Measure, f64); 15] = [
    ("iops", Measure::Requests, 1.0),
    ("read_iops", Measure::Reads, 1.0),
    ("write_iops", Measure::Writes, 1.0),
    ("read_throughput", Measure::ReadBytes, 1.0),
    ("write_throughput", Measure::WriteBytes, 1.0),
    ("disk_queue_depth", Measure::Queue, 1.0),
    ("cpu_percent", Measure::Processor, 1.0),
    ("data disk read operations/sec", Measure::Reads, 1.0),
    ("data disk write operations/sec", Measure::Writes, 1.0),
    ("data disk read bytes/sec", Measure::ReadBytes, 1.0),
    ("data disk write bytes/sec", Measure::WriteBytes, 1.0),
    ("data disk queue depth", Measure::Queue, 1.0),
    // In milliseconds.
    ("data disk latency", Measure::Latency, 1e-3),
    ("percentage cpu", Measure::Processor, 1.0),
    ("avg_cpu_percent", Measure::Processor, 1.0),
];

/// The dimension that tells a machine's data disks apart.
const DISK: &str = "lun";

#[derive(Deserialize)]
struct Answer {
    interval: Option<String>,
    value: Vec<Series>,
}

#[derive(Deserialize)]
struct Series {
    name: Name,
    #[serde(default)]
    timeseries: Vec<OfDisk>,
}

#[derive(Deserialize)]
struct Name {
    value: String,
}

#[derive(Deserialize)]
struct OfDisk {
    #[serde(default)]
    data: Vec<Point>,
    #[serde(default)]
    metadatavalues: Vec<Dimension>,
}

#[derive(Deserialize)]
struct Dimension {
    name: Name,
    value: String,
}

#[derive(Deserialize)]
struct Point {
    #[serde(rename = "timeStamp")]
    time: String,
    average: Option<f64>,
    total: Option<f64>,
    maximum: Option<f64>,
}

/// Reads answers about one server or machine.
///
/// # Errors
/// When figures are missing, contradict one another, or have no common period.
pub(super) fn read(sources: &[Source], options: &Options) -> Result<Draft, ImportError> {
    let mut draft = Draft::of("Azure Monitor");
    let answers = sources
        .iter()
        .map(|source| Ok((source.file, parse(source)?)));
    let answers = answers.collect::<Result<Vec<(&str, Answer)>, ImportError>>()?;
    let texts = answers.iter().flat_map(|(file, answer)| {
        let series = answer.value.iter().flat_map(|series| &series.timeseries);
        let points = series.flat_map(|of_disk| &of_disk.data);
        points.map(move |point| (*file, point.time.as_str()))
    });
    let dates = Dates::of(texts, options, &mut draft)
        .map_err(|(file, message)| ImportError::file(file, message))?;
    let mut metered = Metered::default();
    for (file, answer) in &answers {
        for series in &answer.value {
            series
                .add(&dates, &mut metered, &mut draft)
                .map_err(|message| ImportError::file(file, message))?;
        }
    }
    let lengths = answers.iter().map(|(_, answer)| answer.length());
    let mut lengths: Vec<Option<Duration>> = lengths.collect();
    lengths.dedup();
    let length = match lengths.as_slice() {
        [one] => *one,
        _ => {
            let message = "the files have points of different lengths; ask for one --interval";
            return Err(ImportError::file(sources[0].file, message));
        }
    };
    let finished = metered.finish(length, options, draft);
    finished.map_err(|mistake| mistake.of(sources[0].file))
}

fn parse(source: &Source) -> Result<Answer, ImportError> {
    serde_json::from_str(source.text).map_err(|error| {
        let message = error.to_string();
        let message = message.split(" at line ").next().unwrap_or_default();
        let remedy = "give what `az monitor metrics list --output json` prints";
        ImportError::line(source.file, error.line(), format!("{message}; {remedy}"))
    })
}

impl Answer {
    /// The length of a point; `None` where it is not there, or not one that is known.
    fn length(&self) -> Option<Duration> {
        length(self.interval.as_deref()?)
    }
}

/// `PT1M`, `PT1H`, `P1D`, or `0:01:00`.
fn length(text: &str) -> Option<Duration> {
    let seconds = match text.strip_prefix('P') {
        Some(rest) => {
            let (number, unit) = match rest.strip_prefix('T') {
                Some(time) => (time, [("S", 1), ("M", 60), ("H", 3_600)]),
                None => (rest, [("D", 86_400), ("W", 604_800), ("_", 1)]),
            };
            unit.iter().find_map(|(unit, seconds)| {
                let number: u64 = number.strip_suffix(unit)?.parse().ok()?;
                number.checked_mul(*seconds)
            })?
        }
        None => {
            let parts: Option<Vec<u64>> = text.split(':').map(|part| part.parse().ok()).collect();
            match parts?.as_slice() {
                [hours, minutes, seconds] => hours
                    .checked_mul(3_600)?
                    .checked_add(minutes.checked_mul(60)?)?
                    .checked_add(*seconds)?,
                _ => return None,
            }
        }
    };
    // A year, more than any grain of Azure.
    (1..=31_536_000)
        .contains(&seconds)
        .then(|| Duration::from_secs(seconds))
}

impl Series {
    fn add(&self, dates: &Dates, metered: &mut Metered, draft: &mut Draft) -> Result<(), String> {
        let name = &self.name.value;
        let lower = name.to_lowercase();
        let Some((_, measure, unit)) = KNOWN.iter().find(|(known, _, _)| *known == lower) else {
            metered.leave_out(&excerpt(name));
            return Ok(());
        };
        for of_disk in &self.timeseries {
            let metric = Metric {
                volume: of_disk.volume(*measure),
                measure: *measure,
            };
            for point in &of_disk.data {
                let Some(value) = point.mean(name)? else {
                    continue;
                };
                let at = dates.instant(&point.time, draft)?;
                metered.add(metric.clone(), name, at, value * unit)?;
            }
        }
        Ok(())
    }
}

impl OfDisk {
    fn volume(&self, measure: Measure) -> String {
        let of_disk = self
            .metadatavalues
            .iter()
            .find(|dimension| dimension.name.value.eq_ignore_ascii_case(DISK));
        match of_disk.filter(|_| measure != Measure::Processor) {
            Some(dimension) => format!("{DISK}{}", dimension.value),
            None => VOLUME.to_owned(),
        }
    }
}

impl Point {
    /// Its mean; `None` where nothing was counted.
    fn mean(&self, name: &str) -> Result<Option<f64>, String> {
        match (self.average, self.total.or(self.maximum)) {
            (Some(mean), _) => Ok(Some(mean)),
            (None, None) => Ok(None),
            (None, Some(_)) => Err(format!(
                "`{}` at {} has no average; ask for it with --aggregation Average",
                excerpt(name),
                self.time
            )),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_of_points_are_read_in_both_forms() {
        for (text, seconds) in [
            ("PT1M", Some(60)),
            ("PT5M", Some(300)),
            ("PT1H", Some(3_600)),
            ("P1D", Some(86_400)),
            ("0:01:00", Some(60)),
            ("1:00:00", Some(3_600)),
            ("PT0S", None),
            ("PT99999999999999999999M", None),
            ("99999999999999999:0:0", None),
            ("P", None),
            ("", None),
            ("é", None),
        ] {
            assert_eq!(length(text), seconds.map(Duration::from_secs), "{text}");
        }
    }
}
