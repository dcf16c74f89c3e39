//! `dbstow stat`: the activity of modelled disks under a directory.

use std::io::IsTerminal;
use std::path::PathBuf;

use anyhow::Result;
use emulator::control::{Description, Look, Request};
use hdrhistogram::Histogram;
use host::clock::Clock;
use model::{Duration, Instant};
use reading::{DiskReading, Latencies, LimitReading, Pacing, Reading};
use serde_json::{Value, json};

use super::find::emulator;
use crate::command::listing::ListFormat;
use crate::command::output;
use table::quantity::{number, percent};
use table::{Cell, Column, Table};

/// Arguments of `stat`.
#[derive(Clone, Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  dbstow stat /mnt/p30\n  dbstow stat /mnt/p30 --watch\n  \
        dbstow stat /mnt/p30 --format json"
)]
pub struct Args {
    /// Directory that was given to `dbstow mount`
    pub directory: PathBuf,
    /// How to print; JSON has everything counted
    #[arg(long, value_enum, default_value_t)]
    pub format: ListFormat,
    /// Repeat every second
    #[arg(long)]
    pub watch: bool,
}

/// Runs `dbstow stat`.
///
/// # Errors
/// When nothing of dbstow is mounted there, or its emulator is gone.
pub fn run(args: &Args) -> Result<()> {
    let (control, description) = emulator(&args.directory)?;
    loop {
        let look: Look = control.ask(Request::Look)?;
        let seen = Seen::new(&look)?;
        let text = match args.format {
            ListFormat::Text => seen.text(&description, &look),
            ListFormat::Json => format!("{}\n", seen.json(&description, &look)),
        };
        let terminal = args.watch && std::io::stdout().is_terminal();
        if terminal && args.format == ListFormat::Text {
            output::print_afresh(&text)?;
        } else {
            args.format.print(&text)?;
        }
        if !args.watch {
            return Ok(());
        }
        Clock::sleep(Duration::from_secs(1));
    }
}

/// The difference between two samples.
struct Seen {
    span: Duration,
    reading: Reading,
}

impl Seen {
    fn new(look: &Look) -> Result<Seen> {
        let (from, reading) = match &look.before {
            Some(before) => (before.at, look.now.since(before)?),
            None => (Instant::ZERO, look.now.clone()),
        };
        Ok(Seen {
            span: look.now.at.since(from),
            reading,
        })
    }

    /// A count as a rate per second.
    fn rate(&self, count: u64) -> f64 {
        let seconds = self.span.as_secs_f64();
        if seconds > 0.0 {
            count as f64 / seconds
        } else {
            0.0
        }
    }

    fn text(&self, description: &Description, look: &Look) -> String {
        let mut text = format!(
            "over the last {} s (ms: median and 99th percentile); process {}\n\n",
            number(self.span.as_secs_f64()),
            description.pid
        );
        let width = output::width();
        text += &self.disks().text(width);
        let limits = self.limits();
        if !limits.rows.is_empty() {
            text += &format!("\n{}", limits.text(width));
        }
        if let Some(pacing) = &self.reading.pacing {
            text += &format!("\n{}\n", self.pacing(pacing));
        }
        for problem in &look.problems {
            text += &format!("\nproblem: {problem}\n");
        }
        text
    }

    fn disks(&self) -> Table {
        type Disk<'a> = &'a DiskReading;
        let rate = |name, count: fn(&DiskReading) -> u64| {
            Column::figure(name, move |disk: &Disk| self.rate(count(disk)))
        };
        let megabytes = |name, bytes: fn(&DiskReading) -> u64| {
            Column::figure(name, move |disk: &Disk| self.rate(bytes(disk)) / 1e6)
        };
        let latency = |name, of: fn(&Latencies) -> &Histogram<u64>| {
            Column::figure(name, move |disk: &Disk| {
                let latencies = disk.latency.as_ref();
                milliseconds(latencies.map(of))
            })
        };
        let columns = [
            Column::text("disk", |disk: &Disk| disk.name.clone()),
            rate("read/s", |disk| disk.reads),
            rate("write/s", |disk| disk.writes),
            rate("flush/s", |disk| disk.flushes),
            megabytes("read MB/s", |disk| disk.read_bytes),
            megabytes("write MB/s", |disk| disk.write_bytes),
            latency("read ms", |latencies| &latencies.reads),
            latency("write ms", |latencies| &latencies.writes),
            latency("flush ms", |latencies| &latencies.flushes),
            Column::figure("busy", |disk: &Disk| {
                disk.busy_ns.map(|ns| Cell::Percent(self.rate(ns) / 1e9))
            })
            .unit("%"),
        ];
        Table::of(&self.reading.disks, columns)
    }

    fn limits(&self) -> Table {
        let columns = [
            Column::text("limit", |limit: &&LimitReading| limit.name.to_string()),
            Column::figure("used", |limit: &&LimitReading| {
                Cell::Percent(limit.utilisation(self.span))
            })
            .unit("%"),
        ];
        Table::of(&self.reading.limits, columns)
    }

    fn pacing(&self, pacing: &Pacing) -> String {
        let microseconds = |quantile| number(pacing.error.value_at_quantile(quantile) as f64 / 1e3);
        let late = pacing.late as f64 / pacing.requests.max(1) as f64;
        format!(
            "emulator ({}): {} of requests late; replies off by {} us (p50), {} us (p99); {} of a processor",
            pacing.transport,
            percent(late),
            microseconds(0.5),
            microseconds(0.99),
            percent(self.rate(pacing.cpu_ns) / 1e9)
        )
    }

    fn json(&self, description: &Description, look: &Look) -> Value {
        let disks = self.reading.disks.iter().map(|disk| {
            json!({
                "name": disk.name,
                "reads_per_s": self.rate(disk.reads),
                "writes_per_s": self.rate(disk.writes),
                "flushes_per_s": self.rate(disk.flushes),
                "read_bytes_per_s": self.rate(disk.read_bytes),
                "write_bytes_per_s": self.rate(disk.write_bytes),
                "read_latency_ns": disk.latency.as_ref().map(|latency| quantiles(&latency.reads)),
                "write_latency_ns": disk.latency.as_ref().map(|latency| quantiles(&latency.writes)),
                "flush_latency_ns": disk.latency.as_ref().map(|latency| quantiles(&latency.flushes)),
                "in_flight": disk.in_flight,
                "busy_share": disk.busy_ns.map(|ns| self.rate(ns) / 1e9),
            })
        });
        let limits =
            self.reading.limits.iter().map(
                |limit| json!({ "name": limit.name, "used_share": limit.utilisation(self.span) }),
            );
        json!({
            "pid": description.pid,
            "volumes": description.volumes.iter().map(|(name, directory)| {
                json!({ "name": name, "directory": directory })
            }).collect::<Vec<_>>(),
            "span_s": self.span.as_secs_f64(),
            "disks": disks.collect::<Vec<_>>(),
            "limits": limits.collect::<Vec<_>>(),
            "pacing": self.reading.pacing.as_ref().map(|pacing| json!({
                "transport": pacing.transport,
                "requests": pacing.requests,
                "late": pacing.late,
                "error_ns": quantiles(&pacing.error),
                "cpu_share": self.rate(pacing.cpu_ns) / 1e9,
            })),
            "troubles": look.problems,
            "totals": look.now,
        })
    }
}

/// `0.62 / 1.9`: median and 99th percentile; nothing for no requests.
fn milliseconds(latency: Option<&Histogram<u64>>) -> Cell {
    let Some(latency) = latency.filter(|latency| !latency.is_empty()) else {
        return Cell::Missing;
    };
    let of = |quantile| latency.value_at_quantile(quantile) as f64 / 1e6;
    Cell::pair(of(0.5), of(0.99))
}

fn quantiles(histogram: &Histogram<u64>) -> Option<Value> {
    (!histogram.is_empty()).then(|| {
        json!({
            "p50": histogram.value_at_quantile(0.5),
            "p99": histogram.value_at_quantile(0.99),
            "max": histogram.max(),
        })
    })
}
