//! Totals of disks, limits and emulator as samples.

use std::collections::BTreeMap;

use model::Operation;
use reading::cause::{Measure, Part, Spent, operation_name};

use super::totals::{Disk, DiskName, LimitTotal, PacingTotal, Requests, Totals};
use super::{Label, Sample, Value};

impl Totals {
    /// All samples of volumes.
    pub fn samples(&self) -> Vec<Sample> {
        let clock: Label = ("clock", self.clock.name().to_owned());
        let span = Value::Number(self.span.as_secs_f64());
        let mut samples = vec![Sample::new(
            "dbstow_clock_seconds",
            vec![clock.clone()],
            span,
        )];
        for (name, disk) in &self.disks {
            of_disk(&mut samples, &clock, name, disk);
        }
        for (limit, total) in &self.limits {
            let labels = vec![clock.clone(), ("limit", limit.to_string())];
            of_limit(&mut samples, &labels, limit.measure, total);
        }
        if let Some(pacing) = &self.pacing {
            of_emulator(&mut samples, pacing);
        }
        samples
    }
}

fn of_disk(samples: &mut Vec<Sample>, clock: &Label, name: &DiskName, disk: &Disk) {
    let own = vec![
        clock.clone(),
        ("volume", name.volume.clone()),
        ("disk", name.disk.clone()),
    ];
    let with = |operation| {
        let mut labels = own.clone();
        labels.push(("operation", operation_name(operation).to_owned()));
        labels
    };
    for (operation, requests) in disk.operations() {
        of_requests(samples, &with(operation), operation, requests);
    }
    if let Some(busy) = disk.busy_ns {
        samples.push(Sample::new(
            "dbstow_disk_busy_seconds",
            own.clone(),
            seconds(busy),
        ));
    }
    let hits = Value::Count(disk.cache_hits);
    samples.push(Sample::new("dbstow_disk_cache_hits", own.clone(), hits));
    if let Some(in_flight) = disk.in_flight {
        let in_flight = Value::Number(in_flight as f64);
        samples.push(Sample::new(
            "dbstow_disk_requests_in_flight",
            own.clone(),
            in_flight,
        ));
    }
    for (spent, ns) in with_zeros(&disk.spent_ns) {
        let mut labels = with(spent.operation);
        let family = match &spent.part {
            Part::Service => "dbstow_disk_service_seconds",
            Part::Queued => "dbstow_disk_queued_seconds",
            Part::Throttled(limit) => {
                labels.push(("limit", limit.to_string()));
                "dbstow_disk_throttled_seconds"
            }
        };
        samples.push(Sample::new(family, labels, seconds(ns)));
    }
}

/// The same, but with 0 where requests were served and never queued, or vice versa: a counter that only appears with its
/// first value hides that value from rates.
fn with_zeros(spent: &BTreeMap<Spent, u64>) -> BTreeMap<Spent, u64> {
    let mut all = spent.clone();
    for known in spent.keys() {
        for part in [Part::Service, Part::Queued] {
            let operation = known.operation;
            all.entry(Spent { operation, part }).or_default();
        }
    }
    all
}

fn of_requests(
    samples: &mut Vec<Sample>,
    labels: &[Label],
    operation: Operation,
    requests: &Requests,
) {
    let mut push = |family, value| samples.push(Sample::new(family, labels.to_vec(), value));
    push("dbstow_disk_requests", Value::Count(requests.count));
    match operation {
        Operation::Read | Operation::Write => {
            push("dbstow_disk_bytes", Value::Count(requests.bytes));
        }
        // It transfers no bytes.
        Operation::Flush => {}
    }
    if let Some(latency) = &requests.latency {
        let latency = Value::Latency(latency.clone());
        push("dbstow_disk_request_seconds", latency);
    }
    if let Some(time) = requests.time_ns {
        push("dbstow_disk_request_time_seconds", seconds(time));
    }
}

fn of_limit(
    samples: &mut Vec<Sample>,
    labels: &[Label],
    measure: Option<Measure>,
    total: &LimitTotal,
) {
    let mut push = |family, value| samples.push(Sample::new(family, labels.to_vec(), value));
    let families = match measure {
        Some(Measure::Iops) => Some((
            "dbstow_limit_used_requests",
            "dbstow_limit_requests_per_second",
        )),
        Some(Measure::Throughput) => {
            Some(("dbstow_limit_used_bytes", "dbstow_limit_bytes_per_second"))
        }
        // Readings name a limit by what it limits.
        Some(Measure::Credits) | None => None,
    };
    if let Some((used, rate)) = families {
        push(used, Value::Count(total.used));
        push(rate, Value::Number(total.rate));
    }
    push(
        "dbstow_limit_utilization_ratio",
        Value::Number(total.utilisation),
    );
    if let Some(credits) = total.credits {
        push("dbstow_limit_credits", Value::Number(credits));
    }
}

fn of_emulator(samples: &mut Vec<Sample>, pacing: &PacingTotal) {
    let transport = vec![("transport", pacing.transport.clone())];
    samples.push(Sample::new("dbstow_emulator", transport, Value::Info));
    let all = [
        ("dbstow_emulator_requests", Value::Count(pacing.requests)),
        ("dbstow_emulator_late_requests", Value::Count(pacing.late)),
        (
            "dbstow_emulator_reply_error_seconds",
            Value::Latency(pacing.error.clone()),
        ),
        ("dbstow_emulator_cpu_seconds", seconds(pacing.cpu_ns)),
    ];
    samples.extend(all.map(|(family, value)| Sample::new(family, Vec::new(), value)));
}

fn seconds(ns: u64) -> Value {
    Value::Number(ns as f64 / 1e9)
}
