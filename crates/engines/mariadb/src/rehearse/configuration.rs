//! Settings of a backup: which of its own a rehearsal keeps.
//!
//! A backup has few of them (`backup-my.cnf`), a data directory none. All come from `SHOW GLOBAL VARIABLES`, which the user may give
//! (`--settings`). Files may come from anyone: the settings listed here are taken over, all others are not.

use std::collections::BTreeMap;

/// Settings that decide what a statement does to the disks or how it is executed, and that name no program, file or address.
const KEPT: &[&str] = &[
    "aria_checkpoint_interval",
    "aria_group_commit",
    "aria_pagecache_buffer_size",
    "autocommit",
    "binlog_cache_size",
    "binlog_commit_wait_count",
    "binlog_commit_wait_usec",
    "binlog_format",
    "binlog_row_image",
    "bulk_insert_buffer_size",
    "character_set_collations",
    "character_set_server",
    "collation_server",
    "completion_type",
    "concurrent_insert",
    "default_regex_flags",
    "default_storage_engine",
    "default_week_format",
    "div_precision_increment",
    "eq_range_index_dive_limit",
    "explicit_defaults_for_timestamp",
    "group_concat_max_len",
    "histogram_size",
    "histogram_type",
    "innodb_adaptive_flushing",
    "innodb_adaptive_flushing_lwm",
    "innodb_adaptive_hash_index",
    "innodb_autoextend_increment",
    "innodb_autoinc_lock_mode",
    "innodb_buffer_pool_size",
    "innodb_change_buffer_max_size",
    "innodb_change_buffering",
    "innodb_checksum_algorithm",
    "innodb_compression_algorithm",
    "innodb_compression_default",
    "innodb_compression_level",
    "innodb_deadlock_detect",
    "innodb_default_row_format",
    "innodb_doublewrite",
    "innodb_file_per_table",
    "innodb_fill_factor",
    "innodb_flush_log_at_timeout",
    "innodb_flush_log_at_trx_commit",
    "innodb_flush_method",
    "innodb_flush_neighbors",
    "innodb_flush_sync",
    "innodb_flushing_avg_loops",
    "innodb_io_capacity",
    "innodb_io_capacity_max",
    "innodb_lock_wait_timeout",
    "innodb_log_buffer_size",
    "innodb_log_file_size",
    "innodb_log_write_ahead_size",
    "innodb_lru_flush_size",
    "innodb_lru_scan_depth",
    "innodb_max_dirty_pages_pct",
    "innodb_max_dirty_pages_pct_lwm",
    "innodb_max_purge_lag",
    "innodb_max_purge_lag_delay",
    "innodb_old_blocks_pct",
    "innodb_old_blocks_time",
    "innodb_open_files",
    "innodb_prefix_index_cluster_optimization",
    "innodb_purge_batch_size",
    "innodb_purge_threads",
    "innodb_random_read_ahead",
    "innodb_read_ahead_threshold",
    "innodb_read_io_threads",
    "innodb_rollback_on_timeout",
    "innodb_snapshot_isolation",
    "innodb_sort_buffer_size",
    "innodb_spin_wait_delay",
    "innodb_stats_auto_recalc",
    "innodb_stats_include_delete_marked",
    "innodb_stats_method",
    "innodb_stats_on_metadata",
    "innodb_stats_persistent",
    "innodb_stats_persistent_sample_pages",
    "innodb_stats_transient_sample_pages",
    "innodb_strict_mode",
    "innodb_sync_spin_loops",
    "innodb_table_locks",
    "innodb_write_io_threads",
    "join_buffer_size",
    "join_buffer_space_limit",
    "join_cache_level",
    "key_buffer_size",
    "lock_wait_timeout",
    "lower_case_table_names",
    "max_allowed_packet",
    "max_connections",
    "max_heap_table_size",
    "max_length_for_sort_data",
    "max_recursive_iterations",
    "max_seeks_for_key",
    "max_sort_length",
    "max_sp_recursion_depth",
    "max_statement_time",
    "mrr_buffer_size",
    "old_mode",
    "optimizer_max_sel_arg_weight",
    "optimizer_prune_level",
    "optimizer_search_depth",
    "optimizer_selectivity_sampling_limit",
    "optimizer_switch",
    "optimizer_use_condition_selectivity",
    "query_cache_limit",
    "query_cache_size",
    "query_cache_type",
    "read_buffer_size",
    "read_rnd_buffer_size",
    "rowid_merge_buff_size",
    "sort_buffer_size",
    "sql_mode",
    "sync_binlog",
    "table_definition_cache",
    "table_open_cache",
    "table_open_cache_instances",
    "thread_cache_size",
    "thread_stack",
    "time_zone",
    "tmp_disk_table_size",
    "tmp_memory_table_size",
    "tmp_table_size",
    "transaction_isolation",
    "transaction_prealloc_size",
    "tx_isolation",
    "use_stat_tables",
];

/// Variables that options set under another name.
const RENAMED: [(&str, &str); 2] = [
    ("time_zone", "default_time_zone"),
    ("tx_isolation", "transaction_isolation"),
];

/// Longest value that is kept: `optimizer_switch` has a thousand characters.
const VALUE_MAX: usize = 4_096;

/// Adds the settings of a `backup-my.cnf`: a name and a value a line.
pub(crate) fn add_of_file(text: &str, kept: &mut BTreeMap<String, String>) {
    let pairs = text.lines().filter_map(|line| line.split_once('='));
    add(pairs, kept);
}

/// Adds the settings of an answer to `SHOW GLOBAL VARIABLES`: a name and a value a line, with a tab between.
pub(crate) fn add_of_variables(text: &str, kept: &mut BTreeMap<String, String>) {
    let pairs = text.lines().filter_map(|line| line.split_once('\t'));
    add(pairs, kept);
}

fn add<'a>(pairs: impl Iterator<Item = (&'a str, &'a str)>, kept: &mut BTreeMap<String, String>) {
    for (name, value) in pairs {
        let (name, value) = (name.trim().to_ascii_lowercase(), value.trim());
        if KEPT.contains(&name.as_str()) && is_plain(value) {
            let renamed = RENAMED.iter().find(|(variable, _)| *variable == name);
            let name = renamed.map_or(name.as_str(), |(_, option)| option);
            kept.insert(name.to_owned(), value.to_owned());
        }
    }
}

/// Whether a value is a number, a word or a list of them, and no path.
fn is_plain(value: &str) -> bool {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "_-+.,=: ".contains(c);
    value.len() <= VALUE_MAX && value.chars().all(is_plain)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_settings_are_kept_and_others_are_not() {
        let mut kept = BTreeMap::new();
        add_of_file(
            "[mysqld]\ninnodb_log_file_size=67108864\ninnodb_undo_directory=./\n",
            &mut kept,
        );
        add_of_variables(
            "Variable_name\tValue\ninnodb_buffer_pool_size\t8589934592\nplugin_load\tx.so\nsql_mode\t\ntime_zone\t+02:00\n\
             old_mode\t/etc/passwd\ndatadir\t/var/lib/mysql/\nbinlog_format",
            &mut kept,
        );
        let kept: Vec<(&str, &str)> = kept
            .iter()
            .map(|(name, value)| (&**name, &**value))
            .collect();
        assert_eq!(
            kept,
            [
                ("default_time_zone", "+02:00"),
                ("innodb_buffer_pool_size", "8589934592"),
                ("innodb_log_file_size", "67108864"),
                ("sql_mode", ""),
            ]
        );
        assert!(KEPT.is_sorted());
    }
}
