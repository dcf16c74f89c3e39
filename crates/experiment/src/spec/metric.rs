//! The metrics that an experiment may compare by or have published figures for.

use super::error::remedy;

/// Every metric that a trial can report; the unit is the suffix, a name without one is a count.
///
/// `batch_requests` are statements, `business_transactions` whole transactions, `application_requests`
/// groups of transactions as an application's user issues them. `disk_*` are means over the disks with the files that the
/// experiment is about.
pub const METRICS: [&str; 21] = [
    "elapsed_s",
    "operations_per_s",
    "batch_requests_per_s",
    "application_requests_per_s",
    "business_transactions_per_s",
    "logical_reads",
    "physical_reads",
    "mb_per_s",
    "disk_read_mb_per_s",
    "disk_write_mb_per_s",
    "iops",
    "read_latency_ms",
    "write_latency_ms",
    "transfer_latency_ms",
    "transfer_size_kb",
    "operation_latency_mean_ms",
    "operation_latency_p50_ms",
    "operation_latency_p95_ms",
    "operation_latency_p99_ms",
    "operation_latency_p99_9_ms",
    "cpu_utilisation",
];

/// Whether `metric` grows with the amount of work of a trial, so it cannot compare trials of different work.
pub(super) fn is_total(metric: &str) -> bool {
    matches!(metric, "elapsed_s" | "logical_reads" | "physical_reads")
}

/// Whether a profile's replay has `metric`: it takes a fixed time, and counts operations in the same way as its server.
pub(super) fn is_of_profile(metric: &str) -> bool {
    let of_scripts = ["application_requests_per_s", "business_transactions_per_s"];
    !is_total(metric) && !of_scripts.contains(&metric)
}

/// Rejects a metric that no trial reports, with the nearest name.
pub(crate) fn check(name: &str) -> Result<(), String> {
    if METRICS.contains(&name) {
        return Ok(());
    }
    let hint = remedy(name, "known", METRICS);
    Err(format!("there is no metric \"{name}\"{hint}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mistyped_metric_is_refused_with_the_near_one() {
        let error = check("elapsed_ms").expect_err("no such metric");
        assert!(error.ends_with("did you mean \"elapsed_s\"?"), "{error}");
        assert_eq!(check("iops"), Ok(()));
    }

    #[test]
    fn totals_are_metrics_without_a_rate() {
        let totals: Vec<&str> = METRICS.into_iter().filter(|name| is_total(name)).collect();
        assert_eq!(totals, ["elapsed_s", "logical_reads", "physical_reads"]);
    }
}
