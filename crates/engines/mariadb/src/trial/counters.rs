//! MariaDB's own counters, as a flat map.
//!
//! | prefix | source |
//! |---|---|
//! | `innodb`, `binlog`, .. | `SHOW GLOBAL STATUS` |
//! | `file.data_1`, `file.log`, .. | `performance_schema.file_summary_by_instance`: InnoDB and binary log files, by directory |
//!
//! Files of sorts and of temporary tables on disk are short-lived, and so are their counters; their writes are not instrumented
//! at all (10.11.19: a sort of 7 MB counted none). `created_tmp.disk_tables` and `sort.merge_passes` show them.
//!
//! The redo log's requests are not in the latter (10.8 and later write it without instruments): its writes and bytes are
//! `innodb.log_writes` and `innodb.os_log_written_bytes`.
//! Source: <https://mariadb.com/docs/server/reference/system-tables/performance-schema/performance-schema-tables/performance-schema-file_summary_by_instance-table>, read 2026-11-25.

use std::collections::btree_map::Entry;
use std::path::PathBuf;

use crate::session::failure::Failure;
use crate::session::wire::Connection;
use engine::row::{Number as _, pairs};
use engine::{CounterSample, CounterSampler, EngineError};

/// Groups of recorded status variables, by name prefix.
const GROUPS: [&str; 6] = [
    "innodb",
    "binlog",
    "created_tmp",
    "sort",
    "handler_tmp",
    "threads",
];

/// Gauges that are meaningful over time.
const LEVELS: [&str; 8] = [
    "innodb_buffer_pool_bytes_dirty",
    "innodb_buffer_pool_pages_data",
    "innodb_buffer_pool_pages_dirty",
    "innodb_buffer_pool_pages_free",
    "innodb_checkpoint_age",
    "innodb_checkpoint_max_age",
    "innodb_history_list_length",
    "threads_running",
];

/// End of the redo log, and the position where recovery would start; for MySQL, which has no variable for the difference.
const REDO_LOG: [&str; 2] = [
    "innodb.redo_log_current_lsn_bytes",
    "innodb.redo_log_checkpoint_lsn_bytes",
];

/// Variables that are neither: states, averages, sizes, and duplicates of other counters.
const NO_COUNTERS: [&str; 34] = [
    "binlog_snapshot_position",
    "innodb_available_undo_logs",
    "innodb_buffer_pool_bytes_data",
    "innodb_buffer_pool_pages_misc",
    "innodb_buffer_pool_pages_old",
    "innodb_buffer_pool_pages_total",
    "innodb_buffer_pool_resize_status_code",
    "innodb_buffer_pool_resize_status_progress",
    "innodb_data_pending_fsyncs",
    "innodb_data_pending_reads",
    "innodb_data_pending_writes",
    "innodb_ibuf_free_list",
    "innodb_ibuf_segment_size",
    "innodb_ibuf_size",
    "innodb_max_trx_id",
    "innodb_mem_adaptive_hash",
    "innodb_mem_dictionary",
    "innodb_num_open_files",
    "innodb_os_log_pending_fsyncs",
    "innodb_os_log_pending_writes",
    "innodb_page_size",
    "innodb_redo_log_capacity_resized",
    "innodb_redo_log_logical_size",
    "innodb_redo_log_physical_size",
    "innodb_redo_log_uuid",
    "innodb_row_lock_current_waits",
    "innodb_row_lock_time_avg",
    "innodb_row_lock_time_max",
    "innodb_undo_tablespaces_active",
    "innodb_undo_tablespaces_explicit",
    "innodb_undo_tablespaces_implicit",
    "innodb_undo_tablespaces_total",
    "threads_cached",
    "threads_connected",
];

/// Units of variables whose names lack them.
const UNITS: [(&str, &str); 11] = [
    ("innodb_checkpoint_age", "bytes"),
    ("innodb_checkpoint_max_age", "bytes"),
    ("innodb_data_read", "bytes"),
    ("innodb_data_written", "bytes"),
    ("innodb_lsn_current", "bytes"),
    ("innodb_lsn_flushed", "bytes"),
    ("innodb_os_log_written", "bytes"),
    ("innodb_redo_log_checkpoint_lsn", "bytes"),
    ("innodb_redo_log_current_lsn", "bytes"),
    ("innodb_redo_log_flushed_to_disk_lsn", "bytes"),
    ("innodb_row_lock_time", "ms"),
];

/// Length of the undo history: obsolete row versions not yet purged, in transactions. MySQL has no variable for it.
pub(crate) const HISTORY: &str =
    "SELECT count FROM information_schema.innodb_metrics WHERE name = 'trx_rseg_history_len'";

/// Counters of a file: the name, and the column. The server's times are in picoseconds.
const OF_FILE: [(&str, &str); 8] = [
    ("reads", "count_read"),
    ("writes", "count_write"),
    ("others", "count_misc"),
    ("read_bytes", "sum_number_of_bytes_read"),
    ("written_bytes", "sum_number_of_bytes_write"),
    ("read_time_ms", "sum_timer_read / 1e9"),
    ("write_time_ms", "sum_timer_write / 1e9"),
    ("other_time_ms", "sum_timer_misc / 1e9"),
];

/// Instruments of permanent files: those of InnoDB and of the binary log.
const STAYS: &str =
    "(event_name LIKE 'wait/io/file/innodb/%' OR event_name = 'wait/io/file/sql/binlog')";

/// Reads counters of one server.
#[derive(Clone, Debug)]
pub(crate) struct Counters {
    /// The directories of files, by counter name.
    directories: Vec<(String, PathBuf)>,
}

impl Counters {
    /// Files are counted by these directories.
    pub(crate) fn of(directories: Vec<(String, PathBuf)>) -> Counters {
        Counters { directories }
    }

    /// Reads all of them.
    ///
    /// # Errors
    /// When the server does not answer.
    pub(crate) fn read(&self, connection: &mut Connection) -> Result<CounterSample, Failure> {
        let status: Vec<(String, String)> = pairs(&connection.query("SHOW GLOBAL STATUS")?)?;
        let mut sample = of_status(&status);
        if let Entry::Vacant(history) = sample.levels.entry("innodb.history_list_length".to_owned())
            && let Some(row) = connection.query(HISTORY)?.first()
        {
            history.insert(row.count(0)?);
        }
        let columns: Vec<String> = OF_FILE.map(|(_, column)| format!("{column} + 0e0")).into();
        let columns = columns.join(", ");
        let files = connection.query(&format!(
            "SELECT file_name, {columns} FROM performance_schema.file_summary_by_instance WHERE {STAYS} AND count_star > 0"
        ))?;
        for file in files {
            let group = self.group(file.text(0)?.unwrap_or_default());
            for (place, (name, _)) in (1..).zip(OF_FILE) {
                let value: f64 = file.number(place)?.unwrap_or_default();
                *sample
                    .counters
                    .entry(format!("file.{group}.{name}"))
                    .or_default() += value;
            }
        }
        Ok(sample)
    }

    /// The counter name for `file`: the longest directory wins, because one may be inside another.
    fn group(&self, file: &str) -> &str {
        let holds = self.directories.iter();
        holds
            .filter(|(_, directory)| std::path::Path::new(file).starts_with(directory))
            .max_by_key(|(_, directory)| directory.as_os_str().len())
            .map_or("elsewhere", |(name, _)| name)
    }
}

/// Counters and levels among status variables.
fn of_status(status: &[(String, String)]) -> CounterSample {
    let mut sample = CounterSample::default();
    for (name, value) in status {
        let name = name.to_ascii_lowercase();
        let Some(group) = GROUPS.iter().find(|group| name.starts_with(**group)) else {
            continue;
        };
        let Some(value) = f64::of(value) else {
            continue;
        };
        let unit = UNITS.iter().find(|(known, _)| *known == name);
        let unit = unit.map_or(String::new(), |(_, unit)| format!("_{unit}"));
        let rest = name[group.len()..].trim_start_matches('_');
        let shown = format!("{group}.{rest}{unit}");
        match (LEVELS.contains(&&*name), NO_COUNTERS.contains(&&*name)) {
            (true, _) => sample.levels.insert(shown, value),
            (false, false) => sample.counters.insert(shown, value),
            (false, true) => None,
        };
    }
    let of = |name: &str| sample.counters.get(name).copied().unwrap_or(0.0);
    if let [Some(current), Some(checkpoint)] = REDO_LOG.map(|name| sample.counters.get(name)) {
        let age = (current - checkpoint).max(0.0);
        let name = "innodb.checkpoint_age_bytes".to_owned();
        sample.levels.insert(name, age);
    }
    let physical = of("innodb.pages_read");
    let logical = of("innodb.buffer_pool_read_requests");
    sample
        .counters
        .insert("physical_reads".to_owned(), physical);
    sample.counters.insert("logical_reads".to_owned(), logical);
    sample
}

/// The share of the buffer pool that is still empty.
pub(crate) fn empty_share(sample: &CounterSample) -> Option<f64> {
    let level = |name: &str| sample.levels.get(name).copied();
    let free = level("innodb.buffer_pool_pages_free")?;
    let used = level("innodb.buffer_pool_pages_data")?;
    (free + used > 0.0).then(|| free / (free + used))
}

/// Reads them once a second.
pub(crate) struct Sampler {
    pub(crate) connection: Connection,
    pub(crate) counters: Counters,
}

impl CounterSampler for Sampler {
    fn sample(&mut self) -> Result<CounterSample, EngineError> {
        self.counters
            .read(&mut self.connection)
            .map_err(|error| EngineError::failed("read the counters", error))
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    fn status(pairs: &[(&str, &str)]) -> CounterSample {
        let pairs: Vec<(String, String)> = pairs
            .iter()
            .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
            .collect();
        of_status(&pairs)
    }

    #[test]
    fn counters_grow_and_levels_go_up_and_down() {
        let sample = status(&[
            ("Innodb_data_written", "360448"),
            ("Innodb_checkpoint_age", "2169162"),
            ("Innodb_page_size", "16384"),
            ("Innodb_have_lz4", "OFF"),
            ("Innodb_pages_read", "178"),
            ("Innodb_buffer_pool_read_requests", "93722"),
            ("Com_select", "7"),
        ]);
        let shown = |values: &BTreeMap<String, f64>| -> Vec<String> {
            values
                .iter()
                .map(|(name, value)| format!("{name} {value}"))
                .collect()
        };
        assert_eq!(
            shown(&sample.levels),
            ["innodb.checkpoint_age_bytes 2169162"]
        );
        assert_eq!(
            shown(&sample.counters),
            [
                "innodb.buffer_pool_read_requests 93722",
                "innodb.data_written_bytes 360448",
                "innodb.pages_read 178",
                "logical_reads 93722",
                "physical_reads 178",
            ]
        );
    }

    #[test]
    fn a_file_counts_for_the_innermost_directory() {
        let counters = Counters::of(vec![
            ("data_1".to_owned(), PathBuf::from("/v/data_1")),
            ("undo".to_owned(), PathBuf::from("/v/data_1/undo")),
        ]);
        assert_eq!(counters.group("/v/data_1/workload/t.ibd"), "data_1");
        assert_eq!(counters.group("/v/data_1/undo/undo001"), "undo");
        assert_eq!(counters.group("/v/data_10/t.ibd"), "elsewhere");
    }
}
