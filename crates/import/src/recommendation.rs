//! `SkuRecommendationReport*.json` of Microsoft's SKU recommendation: the demand of each file as a percentile over the whole time
//! of collection. A single interval, without change over time.
//!
//! Names: the types of Azure Data Studio's migration extension, <https://github.com/microsoft/azuredatastudio>, read
//! 2026-11-21. No sample file is public.

use jiff::Timestamp;
use model::Duration;
use model::number::{Counted, Percent};
use reading::Role;
use serde::Deserialize;

use super::error::ImportError;
use super::number::counted;
use super::source::{Options, Source};
use super::stamp::Dates;
use crate::rates::{Rates, requests};
use profile::{Draft, Interval, Span, add, between};

const MEGABYTE: f64 = 1_048_576.0;

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Report {
    sku_recommendation_for_servers: Vec<Server>,
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Server {
    requirements: Requirements,
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Requirements {
    data_points_start_time: String,
    data_points_end_time: String,
    aggregation_target_percentile: Option<f64>,
    logical_cpu_count: Option<u32>,
    aggregated_sql_instance_cpu_percent: Option<f64>,
    #[serde(default)]
    database_level_requirements: Vec<Database>,
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Database {
    #[serde(default)]
    database_name: String,
    #[serde(default)]
    file_level_requirements: Vec<File>,
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct File {
    #[serde(default)]
    file_type: String,
    read_latency_in_ms: Option<f64>,
    write_latency_in_ms: Option<f64>,
    aggregated_num_of_reads: Option<f64>,
    aggregated_num_of_writes: Option<f64>,
    #[serde(rename = "AggregatedReadIOInMb")]
    read_megabytes: Option<f64>,
    #[serde(rename = "AggregatedWriteIOInMb")]
    write_megabytes: Option<f64>,
    #[serde(rename = "IOPSRequirement")]
    iops: Option<f64>,
    #[serde(rename = "IOThroughputRequirementInMBps")]
    throughput: Option<f64>,
}

/// Reads the report.
///
/// # Errors
/// When it lacks files or the time of collection.
pub(super) fn read(source: &Source, options: &Options) -> Result<Draft, ImportError> {
    let wrong = |message: String| ImportError::file(source.file, message);
    let report: Report = serde_json::from_str(source.text).map_err(|error| {
        let message = error.to_string();
        let message = message.split(" at line ").next().unwrap_or_default();
        let remedy = "give the whole SkuRecommendationReport JSON";
        ImportError::line(source.file, error.line(), format!("{message}; {remedy}"))
    })?;
    let [server] = report.sku_recommendation_for_servers.as_slice() else {
        let servers = report.sku_recommendation_for_servers.len();
        return Err(wrong(format!(
            "it is about {servers} servers; give a report of one"
        )));
    };
    let wanted = &server.requirements;
    wanted.check().map_err(wrong)?;
    let mut draft = Draft::of("SkuRecommendation");
    draft.origin.product = Some("SQL Server".to_owned());
    draft.machine.processors = wanted.logical_cpu_count;
    assume(wanted, &mut draft);
    let [from, until] = wanted.ends(options, &mut draft).map_err(wrong)?;
    let length = between(from, until);
    let mut figures = Interval::default();
    for database in &wanted.database_level_requirements {
        for file in &database.file_level_requirements {
            let role = file.role(&database.database_name);
            let [reads, writes] = file.rates();
            let io = figures.roles.entry(role).or_default();
            add(&mut io.reads, requests(reads, length));
            add(&mut io.writes, requests(writes, length));
        }
    }
    if figures.roles.is_empty() {
        let message = "it has no requirements of files; run the recommendation on data that was collected by file";
        return Err(wrong(message.to_owned()));
    }
    if !figures.roles.contains_key(&Role::Temp) {
        draft.assume("Requests to temporary files are not in the report, and unknown.");
    }
    let percent = wanted.aggregated_sql_instance_cpu_percent.and_then(counted);
    figures.processor = percent
        .zip(wanted.logical_cpu_count)
        .map(|(percent, processors)| {
            let share = percent / 100.0 * f64::from(processors);
            Duration::from_secs_f64(share * length.as_secs_f64())
        });
    draft.spans.push(Span {
        from,
        until,
        figures,
    });
    Ok(draft)
}

fn assume(wanted: &Requirements, draft: &mut Draft) {
    let percentile = match wanted.aggregation_target_percentile {
        Some(percentile) => format!("{percentile}th percentile"),
        None => "percentile".to_owned(),
    };
    draft.assume(format!(
        "Demand is the {percentile} of each file over the time of collection, not a mean: the sum over files is more \
         than what was there at any time."
    ));
    draft.assume(
        "A file's requests are divided into reads and writes as their aggregated counts are.",
    );
}

impl Requirements {
    /// When the time of collection began and ended.
    fn ends(&self, options: &Options, draft: &mut Draft) -> Result<[Timestamp; 2], String> {
        let texts = [&self.data_points_start_time, &self.data_points_end_time];
        let placed = (1..).zip(texts.map(String::as_str));
        let dates = Dates::of(placed, options, draft).map_err(|(_, message)| message)?;
        let [from, until] = texts.map(|text| dates.instant(text, draft));
        Ok([from?, until?])
    }

    /// Rejects figures out of range, with their name and that of their file.
    fn check(&self) -> Result<(), String> {
        if let Some(percentile) = self.aggregation_target_percentile {
            Percent::try_from(percentile)
                .map_err(|error| format!("`AggregationTargetPercentile`: {error}; {CORRECT}"))?;
        }
        check(
            "AggregatedSqlInstanceCpuPercent",
            self.aggregated_sql_instance_cpu_percent,
        )?;
        for database in &self.database_level_requirements {
            for file in &database.file_level_requirements {
                let of_file =
                    |message| format!("a file of `{}`: {message}", database.database_name);
                file.figures()
                    .into_iter()
                    .try_for_each(|(name, value)| check(name, value))
                    .map_err(of_file)?;
            }
        }
        Ok(())
    }
}

/// Remedy for a report with an invalid figure.
const CORRECT: &str = "correct it, or run the recommendation again";

fn check(name: &str, value: Option<f64>) -> Result<(), String> {
    match value.map(Counted::try_from) {
        Some(Err(error)) => Err(format!("`{name}`: {error}; {CORRECT}")),
        Some(Ok(_)) | None => Ok(()),
    }
}

impl File {
    /// All its counters, by name in the report.
    fn figures(&self) -> [(&'static str, Option<f64>); 8] {
        [
            ("ReadLatencyInMs", self.read_latency_in_ms),
            ("WriteLatencyInMs", self.write_latency_in_ms),
            ("AggregatedNumOfReads", self.aggregated_num_of_reads),
            ("AggregatedNumOfWrites", self.aggregated_num_of_writes),
            ("AggregatedReadIOInMb", self.read_megabytes),
            ("AggregatedWriteIOInMb", self.write_megabytes),
            ("IOPSRequirement", self.iops),
            ("IOThroughputRequirementInMBps", self.throughput),
        ]
    }

    fn role(&self, database: &str) -> Role {
        if database.eq_ignore_ascii_case("tempdb") {
            Role::Temp
        } else if self.file_type.to_lowercase().contains("log") {
            Role::Log
        } else {
            Role::Data
        }
    }

    fn rates(&self) -> [Rates; 2] {
        let count = share(self.aggregated_num_of_reads, self.aggregated_num_of_writes);
        let bytes = share(self.read_megabytes, self.write_megabytes);
        let part = |all: Option<f64>, share: Option<f64>| Some(counted(all?)? * share?);
        let throughput = self.throughput.map(|megabytes| megabytes * MEGABYTE);
        let rest = |share: Option<f64>| share.map(|share| 1.0 - share);
        let seconds = |ms: Option<f64>| ms.and_then(counted).map(|ms| ms / 1e3);
        [
            Rates {
                per_second: part(self.iops, count),
                bytes_per_second: part(throughput, bytes),
                mean_s: seconds(self.read_latency_in_ms),
            },
            Rates {
                per_second: part(self.iops, rest(count)),
                bytes_per_second: part(throughput, rest(bytes)),
                mean_s: seconds(self.write_latency_in_ms),
            },
        ]
    }
}

/// The share of reads; 0 if there are neither.
fn share(reads: Option<f64>, writes: Option<f64>) -> Option<f64> {
    let (reads, writes) = (counted(reads?)?, counted(writes?)?);
    let all = reads + writes;
    Some(if all > 0.0 { reads / all } else { 0.0 })
}
