//! The variables and counters of a server that a capture stores: those that rules check, and nothing that names people or hosts.

/// Variables; those that a product or release does not have are missing from its captures.
#[cfg(any(feature = "driver", test))]
pub(super) const VARIABLES: [&str; 31] = [
    "binlog_expire_logs_seconds",
    "datadir",
    "expire_logs_days",
    "innodb_buffer_pool_size",
    "innodb_data_file_buffering",
    "innodb_data_file_path",
    "innodb_data_home_dir",
    "innodb_doublewrite",
    "innodb_doublewrite_dir",
    "innodb_flush_log_at_trx_commit",
    "innodb_flush_method",
    "innodb_flush_neighbors",
    "innodb_io_capacity",
    "innodb_io_capacity_max",
    "innodb_log_file_size",
    "innodb_log_files_in_group",
    "innodb_log_group_home_dir",
    "innodb_page_size",
    "innodb_redo_log_capacity",
    "innodb_temp_data_file_path",
    "innodb_undo_directory",
    "innodb_undo_log_truncate",
    "innodb_undo_tablespaces",
    "log_bin",
    "log_bin_basename",
    "max_binlog_total_size",
    "max_tmp_total_space_usage",
    "performance_schema",
    "sync_binlog",
    "tmp_disk_table_size",
    "tmpdir",
];

/// Variables that hold paths.
pub(super) const PATHS: [&str; 9] = [
    "datadir",
    "innodb_data_file_path",
    "innodb_data_home_dir",
    "innodb_doublewrite_dir",
    "innodb_log_group_home_dir",
    "innodb_temp_data_file_path",
    "innodb_undo_directory",
    "log_bin_basename",
    "tmpdir",
];

/// Counters.
#[cfg(feature = "driver")]
pub(super) const COUNTERS: [&str; 11] = [
    "Created_tmp_disk_tables",
    "Created_tmp_tables",
    "Innodb_buffer_pool_read_requests",
    "Innodb_buffer_pool_reads",
    "Innodb_buffer_pool_wait_free",
    "Innodb_checkpoint_age",
    "Innodb_checkpoint_max_age",
    "Innodb_os_log_written",
    "Innodb_redo_log_capacity_resized",
    "Sort_merge_passes",
    "Uptime",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_path_is_kept() {
        assert!(PATHS.iter().all(|path| VARIABLES.contains(path)));
    }
}
