//! What is shown of a calibration: the report, and the document.

use analysis::report::{Body, Item, Kind, Place, Report};
use model::{Counts, DiskSpec, LatencySpec, LimitSpec, Rate};
use serde_json::json;
use table::quantity::{number, percent, percent_signed};
use table::{Cell, Column, Table};

use super::{Agreement, Calibration, DEVIATION_MAX};

impl Calibration {
    /// The report: where the disk is, what it does, and every job as measured and on it.
    pub fn report(&self) -> Report {
        let answer = format!("{} is in {}.", self.name, self.file.display());
        let mut report = Report {
            answer: Item::all(Kind::Answer, [answer]),
            facts: facts(&self.disk),
            ..Report::default()
        };
        let warnings = Item::all(Kind::Warning, self.warnings());
        report.add("warnings", "Read first", Place::Full, Body::List(warnings));
        let jobs = Body::Table(jobs(&self.agreements));
        report.add("jobs", "Measured, and on the disk", Place::Full, jobs);
        report
    }

    /// The document, as JSON with a line feed at its end.
    pub fn json(&self) -> String {
        let jobs = self.agreements.iter().map(|job| {
            let [iops, mean, p50, p99] = job.deviations();
            json!({
                "job": job.job,
                "measured": job.measured,
                "modelled": job.modelled,
                "deviation": { "iops": iops, "latency_mean": mean, "latency_p50": p50, "latency_p99": p99 },
            })
        });
        let document = json!({
            "name": self.name,
            "file": self.file,
            "disk": self.disk,
            "ended_s": self.ended_s,
            "jobs": jobs.collect::<Vec<_>>(),
            "assumed": self.fitted.assumed,
            "warnings": self.warnings(),
        });
        format!("{document:#}\n")
    }

    fn warnings(&self) -> Vec<String> {
        let all = self.agreements.len();
        let far = self.agreements.iter().filter(|job| !job.is_close()).count();
        let mut warnings = self.fitted.warnings.clone();
        if far > 0 {
            warnings.push(format!(
                "the model is more than {} off in {far} of {all} measurements; rely on what agrees, or measure longer and without \
                 other activity",
                percent(DEVIATION_MAX)
            ));
        }
        warnings
    }
}

fn jobs(agreements: &[Agreement]) -> Table {
    let figure = |name, at: usize| {
        let both = move |job: &&Agreement| {
            let (measured, modelled) = (job.measured.all()[at], job.modelled.all()[at]);
            let off = percent_signed(job.deviations()[at]);
            Cell::Beside {
                text: number(measured),
                raw: measured.to_string(),
                reference: Some(number(modelled)),
                deviation: Some(off),
            }
        };
        Column::figure(name, both)
    };
    let columns = [
        Column::text("", |job: &&Agreement| job.job.to_string()),
        figure("IOPS", 0),
        figure("mean ms", 1),
        figure("p50 ms", 2),
        figure("p99 ms", 3),
    ];
    let note = "below each figure: on the disk (and how far off)";
    Table {
        note: note.to_owned(),
        ..Table::of(agreements, columns)
    }
}

fn facts(disk: &DiskSpec) -> Vec<(&'static str, String)> {
    let limits: Vec<String> = disk.limits.iter().map(limit).collect();
    let places = disk.in_flight_max.map(|places| places.to_string());
    let transfer = disk.transfer.map(|transfer| transfer.to_string());
    vec![
        ("limits", limits.join(", ")),
        ("in flight", places.unwrap_or_else(|| "no bound".into())),
        ("read", latency(disk.read_latency)),
        ("write", latency(disk.write_latency)),
        ("flush", latency(disk.flush_latency)),
        ("transfer", transfer.unwrap_or_else(|| "no time".into())),
    ]
}

fn limit(limit: &LimitSpec) -> String {
    let counts = match limit.counts {
        Counts::All => "",
        Counts::Reads => " of reads",
        Counts::Writes => " of writes",
    };
    match limit.rate {
        Rate::Iops(iops) => format!("{iops}{counts}"),
        Rate::Throughput(throughput) => format!("{throughput}{counts}"),
    }
}

fn latency(latency: LatencySpec) -> String {
    match latency {
        LatencySpec::Constant { value } => value.to_string(),
        LatencySpec::Exponential { mean } => format!("mean {mean}, exponential"),
        LatencySpec::LogNormal { p50, p99 } => format!("p50 {p50}, p99 {p99}"),
    }
}
