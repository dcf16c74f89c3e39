//! `dbstow stat`: the activity of modelled disks under a directory.

use std::io::IsTerminal;
use std::path::PathBuf;

use anyhow::Result;
use emulator::control::{Description, Look, Request};
use hdrhistogram::Histogram;
use host::clock::Clock;
use model::{Duration, Instant};
use reading::{DiskReading, LimitReading, Pacing, Reading};
use serde_json::{Value, json};

use super::find::emulator;
use crate::command::listing::{ListFormat, table};
use crate::command::output;
use table::quantity::{number, percent};

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
        let header = [
            "disk",
            "read/s",
            "write/s",
            "flush/s",
            "read MB/s",
            "write MB/s",
            "read ms",
            "write ms",
            "flush ms",
            "busy",
        ];
        let disks = self.reading.disks.iter().map(|disk| self.disk(disk));
        text += &table(&header, disks.collect());
        let limits: Vec<_> = self
            .reading
            .limits
            .iter()
            .map(|limit| self.limit(limit))
            .collect();
        if !limits.is_empty() {
            text += &format!("\n{}", table(&["limit", "used"], limits));
        }
        if let Some(pacing) = &self.reading.pacing {
            text += &format!("\n{}\n", self.pacing(pacing));
        }
        for trouble in &look.troubles {
            text += &format!("\ntrouble: {trouble}\n");
        }
        text
    }

    fn disk(&self, disk: &DiskReading) -> Vec<String> {
        let megabytes = |bytes: u64| number(self.rate(bytes) / 1e6);
        let latencies = disk.latency.as_ref();
        vec![
            disk.name.clone(),
            number(self.rate(disk.reads)),
            number(self.rate(disk.writes)),
            number(self.rate(disk.flushes)),
            megabytes(disk.read_bytes),
            megabytes(disk.write_bytes),
            latencies.map_or_else(none, |latency| milliseconds(&latency.reads)),
            latencies.map_or_else(none, |latency| milliseconds(&latency.writes)),
            latencies.map_or_else(none, |latency| milliseconds(&latency.flushes)),
            disk.busy_ns
                .map_or_else(none, |ns| percent(self.rate(ns) / 1e9)),
        ]
    }

    fn limit(&self, limit: &LimitReading) -> Vec<String> {
        vec![
            limit.name.to_string(),
            percent(limit.utilisation(self.span)),
        ]
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
            "troubles": look.troubles,
            "totals": look.now,
        })
    }
}

fn none() -> String {
    "-".to_owned()
}

/// `0.62 1.9`: median and 99th percentile; `-` for no requests.
fn milliseconds(latency: &Histogram<u64>) -> String {
    if latency.is_empty() {
        return none();
    }
    let of = |quantile| number(latency.value_at_quantile(quantile) as f64 / 1e6);
    format!("{} {}", of(0.5), of(0.99))
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
