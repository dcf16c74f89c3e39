//! Every family of metrics: name, type, labels and meaning. `docs/metrics.md` lists the same, as a test checks.
//!
//! Names follow the conventions of Prometheus and OpenMetrics 1.0 (base units, `_total` ends the samples of a
//! counter): <https://prometheus.io/docs/practices/naming/>, read 2026-11-25.

/// A family of metrics.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Family {
    /// Its name in OpenMetrics: without the `_total` of a counter's samples or the `_info` of an info's.
    pub name: &'static str,
    /// Its type.
    pub kind: Kind,
    /// The unit that its name ends in.
    pub unit: Option<&'static str>,
    /// The processes that export it.
    pub scope: Scope,
    /// Its labels in order, except `le` of histograms.
    pub labels: &'static [&'static str],
    /// What it counts; no full stop.
    pub help: &'static str,
}

/// The type of a family.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// It only grows during the life of the process.
    Counter,
    /// A current value.
    Gauge,
    /// Cumulative counts by latency.
    Histogram,
    /// A constant 1, for the labels.
    Info,
}

/// The processes that export a family.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    /// Every process.
    All,
    /// Runs and mounts, which have volumes.
    Volumes,
    /// Runs and mounts with emulated volumes.
    Emulated,
    /// Mounts.
    Mount,
    /// Runs.
    Run,
    /// Recordings.
    Record,
}

impl Family {
    /// The name of its samples; for a histogram without `_bucket`, `_count` and `_sum`.
    pub fn sample_name(&self) -> String {
        match self.kind {
            Kind::Counter => format!("{}_total", self.name),
            Kind::Info => format!("{}_info", self.name),
            Kind::Gauge | Kind::Histogram => self.name.to_owned(),
        }
    }
}

impl Kind {
    /// Its name in OpenMetrics.
    pub fn name(self) -> &'static str {
        match self {
            Kind::Counter => "counter",
            Kind::Gauge => "gauge",
            Kind::Histogram => "histogram",
            Kind::Info => "info",
        }
    }
}

/// The family of this name.
///
/// # Panics
/// When it does not exist.
pub fn family(name: &str) -> &'static Family {
    let found = FAMILIES.iter().find(|family| family.name == name);
    found.unwrap_or_else(|| panic!("there is no family {name}"))
}

/// `family!(Counter Run "dbstow_x_seconds" in "seconds" [labels] help)`
macro_rules! families {
    ($($kind:ident $scope:ident $name:literal $(in $unit:literal)? [$($label:literal),*] $help:literal;)*) => {
        &[$(Family {
            name: $name,
            kind: Kind::$kind,
            unit: families!(@unit $($unit)?),
            scope: Scope::$scope,
            labels: &[$($label),*],
            help: $help,
        }),*]
    };
    (@unit $unit:literal) => { Some($unit) };
    (@unit) => { None };
}

/// All families, in the order of the output.
pub static FAMILIES: &[Family] = families! {
    Info All "dbstow_build" ["version"] "Version of the program";

    Counter Volumes "dbstow_clock_seconds" in "seconds" ["clock"]
        "Time that the counters of disks cover, by the clock that they are counted in";
    Counter Volumes "dbstow_disk_requests" ["clock", "volume", "disk", "operation"]
        "Requests that disks completed";
    Counter Volumes "dbstow_disk_bytes" in "bytes" ["clock", "volume", "disk", "operation"]
        "Bytes that disks read and wrote";
    Histogram Volumes "dbstow_disk_request_seconds" in "seconds" ["clock", "volume", "disk", "operation"]
        "Latency of requests, where single requests are seen";
    Counter Volumes "dbstow_disk_request_time_seconds" in "seconds" ["clock", "volume", "disk", "operation"]
        "Sum of the latencies of requests, in real time";
    Counter Volumes "dbstow_disk_busy_seconds" in "seconds" ["clock", "volume", "disk"]
        "Time with at least one request under way, where that is counted";
    Counter Volumes "dbstow_disk_cache_hits" ["clock", "volume", "disk"]
        "Reads that a modelled host cache served";
    Gauge Volumes "dbstow_disk_requests_in_flight" ["clock", "volume", "disk"]
        "Requests in flight at the last reading, in real time";
    Counter Emulated "dbstow_disk_service_seconds" in "seconds" ["clock", "volume", "disk", "operation"]
        "Time in which a modelled disk served requests, summed over them";
    Counter Emulated "dbstow_disk_queued_seconds" in "seconds" ["clock", "volume", "disk", "operation"]
        "Time requests were queued, summed over requests";
    Counter Emulated "dbstow_disk_throttled_seconds" in "seconds" ["clock", "volume", "disk", "operation", "limit"]
        "Time requests were throttled by a limit, summed over requests";

    Counter Volumes "dbstow_limit_used_requests" ["clock", "limit"]
        "Requests that passed a modelled limit on IOPS, as it counts them";
    Counter Volumes "dbstow_limit_used_bytes" in "bytes" ["clock", "limit"]
        "Bytes that passed a modelled limit on throughput";
    Gauge Volumes "dbstow_limit_requests_per_second" ["clock", "limit"]
        "Sustained rate of a modelled limit on IOPS";
    Gauge Volumes "dbstow_limit_bytes_per_second" ["clock", "limit"]
        "Sustained rate of a modelled limit on throughput";
    Gauge Volumes "dbstow_limit_utilization_ratio" in "ratio" ["clock", "limit"]
        "Fraction of a modelled limit that was used in the last second, or in the last simulated trial";
    Gauge Volumes "dbstow_limit_credits" ["clock", "limit"]
        "Burst credits left, in requests or bytes as the limit counts";

    Info Emulated "dbstow_emulator" ["transport"] "How requests reach the emulator";
    Counter Emulated "dbstow_emulator_requests" [] "Requests that the emulator answered";
    Counter Emulated "dbstow_emulator_late_requests" []
        "Requests whose real files took longer than the model allowed";
    Histogram Emulated "dbstow_emulator_reply_error_seconds" in "seconds" []
        "Difference between when a delayed reply was due and when it was sent";
    Counter Emulated "dbstow_emulator_cpu_seconds" in "seconds" [] "Processor time of the emulator";

    Info Mount "dbstow_mount" ["volume", "directory"] "Where a volume is mounted";

    Info Run "dbstow_run" ["experiment", "plan", "mode", "engine"] "What runs";
    Gauge Run "dbstow_run_trials_planned" [] "Trials of the plan";
    Gauge Run "dbstow_run_trials_recorded" [] "Trials of the plan that an earlier run recorded";
    Counter Run "dbstow_run_trials" ["outcome"] "Trials that this run completed";
    Gauge Run "dbstow_run_trials_running" ["arm", "phase"] "Trials under way";
    Counter Run "dbstow_arm_trials" ["arm", "outcome"] "Trials that this run completed, by arm";
    Counter Run "dbstow_arm_measured_seconds" in "seconds" ["clock", "arm"]
        "Length of the measured phases of finished trials";
    Counter Run "dbstow_arm_operations" ["clock", "arm"]
        "Operations that ended in the measured phases of finished trials";
    Counter Run "dbstow_arm_errors" ["clock", "arm"] "Operations that failed in finished trials";
    Counter Run "dbstow_arm_session_seconds" in "seconds" ["clock", "arm", "cause"]
        "What sessions spent their time on in the measured phases of finished trials";
    Gauge Run "dbstow_arm_metric_mean" ["arm", "metric"]
        "Mean over finished trials of the metric that decides; its unit ends its name";

    Info Record "dbstow_record" ["product"] "What is recorded";
    Gauge Record "dbstow_record_planned_seconds" in "seconds" [] "How long the recording is to take";
    Gauge Record "dbstow_record_elapsed_seconds" in "seconds" [] "How long it has taken so far";
    Counter Record "dbstow_record_intervals" [] "Intervals that were counted";
    Counter Record "dbstow_record_counted_seconds" in "seconds" [] "Time that these intervals cover";
    Counter Record "dbstow_server_operations" [] "Transactions or batch requests that the server completed";
    Counter Record "dbstow_server_commits" [] "Transactions that committed a change";
    Counter Record "dbstow_server_cpu_seconds" in "seconds" [] "Processor time of the server";
    Counter Record "dbstow_server_running_seconds" in "seconds" []
        "Time in which sessions ran an operation, waiting or not, summed over them";
    Counter Record "dbstow_server_waiting_seconds" in "seconds" ["wait"]
        "Time in which sessions waited, summed over them";
    Counter Record "dbstow_server_requests" ["role", "operation"] "Requests to the files of a role";
    Counter Record "dbstow_server_bytes" in "bytes" ["role", "operation"]
        "Bytes read and written of the files of a role";
    Counter Record "dbstow_server_request_time_seconds" in "seconds" ["role", "operation"]
        "Sum of the latencies of these requests";
};

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn names_are_unique_and_end_in_their_unit() {
        let names: BTreeSet<_> = FAMILIES.iter().map(|family| family.name).collect();
        assert_eq!(names.len(), FAMILIES.len());
        for family in FAMILIES {
            let unit = family.unit.map(|unit| format!("_{unit}"));
            assert!(
                unit.is_none_or(|unit| family.name.ends_with(&unit)),
                "{}",
                family.name
            );
            let reserved = ["_total", "_info", "_count", "_sum", "_bucket", "_created"];
            assert!(!reserved.iter().any(|end| family.name.ends_with(end)));
            let fits = |character: char| character.is_ascii_lowercase() || character == '_';
            assert!(family.name.chars().all(fits), "{}", family.name);
            assert!(!family.help.ends_with('.') && !family.help.contains('\n'));
        }
    }
}
