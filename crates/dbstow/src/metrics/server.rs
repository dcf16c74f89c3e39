//! Counters of a recorded server's activity.

use std::collections::BTreeMap;

use model::{Duration, Operation};
use parking_lot::Mutex;
use profile::{Interval, Requests, Wait};
use reading::Role;
use reading::cause::operation_name;

use super::{Sample, Value};

/// Counters of a recording in progress.
pub struct ServerMetrics {
    product: &'static str,
    planned: Duration,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    elapsed: Duration,
    intervals: u64,
    counted_s: f64,
    /// Figures that were recorded.
    operations: Option<f64>,
    commits: Option<f64>,
    cpu_s: Option<f64>,
    running_s: Option<f64>,
    waiting_s: BTreeMap<Wait, f64>,
    roles: BTreeMap<(Role, &'static str), Sums>,
}

/// Sums of requests, where recorded.
#[derive(Default)]
struct Sums {
    count: Option<f64>,
    bytes: Option<f64>,
    time_s: Option<f64>,
}

impl ServerMetrics {
    /// A recording of a `product` for `planned`.
    pub fn new(product: &'static str, planned: Duration) -> ServerMetrics {
        ServerMetrics {
            product,
            planned,
            state: Mutex::default(),
        }
    }

    /// Sets the elapsed time of the recording.
    pub fn elapsed(&self, time: Duration) {
        self.state.lock().elapsed = time;
    }

    /// Adds an interval of this `length`.
    pub fn add(&self, length: Duration, interval: &Interval) {
        let mut state = self.state.lock();
        let state = &mut *state;
        let length_s = length.as_secs_f64();
        state.intervals += 1;
        state.counted_s += length_s;
        add(&mut state.operations, interval.operations);
        add(&mut state.commits, interval.commits);
        let cpu = interval.processor.map(Duration::as_secs_f64);
        add(&mut state.cpu_s, cpu);
        // The average number of sessions, over the whole interval.
        let running = interval.running.map(|sessions| sessions * length_s);
        add(&mut state.running_s, running);
        for (wait, sessions) in &interval.waiting {
            *state.waiting_s.entry(*wait).or_default() += sessions * length_s;
        }
        for (role, io) in &interval.roles {
            let kinds = [
                (Operation::Read, &io.reads),
                (Operation::Write, &io.writes),
                (Operation::Flush, &io.flushes),
            ];
            for (operation, requests) in kinds {
                let sums = state.roles.entry((*role, operation_name(operation)));
                sums.or_default().add(requests);
            }
        }
    }

    /// Everything counted so far.
    pub fn samples(&self) -> Vec<Sample> {
        let state = self.state.lock();
        let product = vec![("product", self.product.to_owned())];
        let mut samples = vec![Sample::new("dbstow_record", product, Value::Info)];
        let mut push = |family, labels, value: Option<f64>| {
            let value = value.map(|value| Sample::new(family, labels, Value::Number(value)));
            samples.extend(value);
        };
        let planned = self.planned.as_secs_f64();
        push("dbstow_record_planned_seconds", vec![], Some(planned));
        let elapsed = state.elapsed.as_secs_f64();
        push("dbstow_record_elapsed_seconds", vec![], Some(elapsed));
        let intervals = state.intervals as f64;
        push("dbstow_record_intervals", vec![], Some(intervals));
        push(
            "dbstow_record_counted_seconds",
            vec![],
            Some(state.counted_s),
        );
        push("dbstow_server_operations", vec![], state.operations);
        push("dbstow_server_commits", vec![], state.commits);
        push("dbstow_server_cpu_seconds", vec![], state.cpu_s);
        push("dbstow_server_running_seconds", vec![], state.running_s);
        for (wait, seconds) in &state.waiting_s {
            let labels = vec![("wait", wait.name().to_owned())];
            push("dbstow_server_waiting_seconds", labels, Some(*seconds));
        }
        for ((role, operation), sums) in &state.roles {
            let labels = vec![
                ("role", role.name().to_owned()),
                ("operation", (*operation).to_owned()),
            ];
            push("dbstow_server_requests", labels.clone(), sums.count);
            push("dbstow_server_bytes", labels.clone(), sums.bytes);
            push("dbstow_server_request_time_seconds", labels, sums.time_s);
        }
        samples
    }
}

impl Sums {
    fn add(&mut self, requests: &Requests) {
        add(&mut self.count, requests.count);
        add(&mut self.bytes, requests.bytes);
        add(&mut self.time_s, requests.waited.map(Duration::as_secs_f64));
    }
}

/// Adds a figure; one that was never recorded is not 0. A server's counters never decrease within an interval.
fn add(sum: &mut Option<f64>, figure: Option<f64>) {
    if let Some(figure) = figure {
        *sum.get_or_insert_default() += figure.max(0.0);
    }
}
