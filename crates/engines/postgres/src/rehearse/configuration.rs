//! Settings of a backup: which of its own a rehearsal keeps, and which it changes.
//!
//! Its files may come from anyone, so the server reads none of them: the settings listed here are taken over, all others are not.

use std::collections::BTreeMap;

/// Settings that decide what a statement does to the disks or how it is executed, and that name no program, file or address.
const KEPT: &[&str] = &[
    "autovacuum",
    "autovacuum_analyze_scale_factor",
    "autovacuum_analyze_threshold",
    "autovacuum_freeze_max_age",
    "autovacuum_max_workers",
    "autovacuum_naptime",
    "autovacuum_vacuum_cost_delay",
    "autovacuum_vacuum_cost_limit",
    "autovacuum_vacuum_insert_scale_factor",
    "autovacuum_vacuum_insert_threshold",
    "autovacuum_vacuum_scale_factor",
    "autovacuum_vacuum_threshold",
    "autovacuum_work_mem",
    "backend_flush_after",
    "bgwriter_delay",
    "bgwriter_flush_after",
    "bgwriter_lru_maxpages",
    "bgwriter_lru_multiplier",
    "checkpoint_completion_target",
    "checkpoint_flush_after",
    "checkpoint_timeout",
    "commit_delay",
    "commit_siblings",
    "constraint_exclusion",
    "cpu_index_tuple_cost",
    "cpu_operator_cost",
    "cpu_tuple_cost",
    "cursor_tuple_fraction",
    "datestyle",
    "deadlock_timeout",
    "default_statistics_target",
    "default_toast_compression",
    "default_transaction_deferrable",
    "default_transaction_isolation",
    "default_transaction_read_only",
    "effective_cache_size",
    "effective_io_concurrency",
    "enable_async_append",
    "enable_bitmapscan",
    "enable_gathermerge",
    "enable_group_by_reordering",
    "enable_hashagg",
    "enable_hashjoin",
    "enable_incremental_sort",
    "enable_indexonlyscan",
    "enable_indexscan",
    "enable_material",
    "enable_memoize",
    "enable_mergejoin",
    "enable_nestloop",
    "enable_parallel_append",
    "enable_parallel_hash",
    "enable_partition_pruning",
    "enable_partitionwise_aggregate",
    "enable_partitionwise_join",
    "enable_presorted_aggregate",
    "enable_seqscan",
    "enable_sort",
    "enable_tidscan",
    "extra_float_digits",
    "from_collapse_limit",
    "fsync",
    "full_page_writes",
    "geqo",
    "geqo_threshold",
    "gin_pending_list_limit",
    "hash_mem_multiplier",
    "idle_in_transaction_session_timeout",
    "intervalstyle",
    "io_combine_limit",
    "io_max_combine_limit",
    "io_max_concurrency",
    "io_method",
    "io_workers",
    "jit",
    "jit_above_cost",
    "jit_inline_above_cost",
    "jit_optimize_above_cost",
    "join_collapse_limit",
    "lock_timeout",
    "logical_decoding_work_mem",
    "maintenance_io_concurrency",
    "maintenance_work_mem",
    "max_connections",
    "max_files_per_process",
    "max_locks_per_transaction",
    "max_parallel_maintenance_workers",
    "max_parallel_workers",
    "max_parallel_workers_per_gather",
    "max_pred_locks_per_transaction",
    "max_prepared_transactions",
    "max_stack_depth",
    "max_wal_size",
    "max_worker_processes",
    "min_parallel_index_scan_size",
    "min_parallel_table_scan_size",
    "min_wal_size",
    "old_snapshot_threshold",
    "parallel_leader_participation",
    "parallel_setup_cost",
    "parallel_tuple_cost",
    "plan_cache_mode",
    "quote_all_identifiers",
    "random_page_cost",
    "recursive_worktable_factor",
    "row_security",
    "search_path",
    "seq_page_cost",
    "shared_buffers",
    "standard_conforming_strings",
    "statement_timeout",
    "synchronize_seqscans",
    "synchronous_commit",
    "temp_buffers",
    "timezone",
    "track_io_timing",
    "transform_null_equals",
    "vacuum_buffer_usage_limit",
    "vacuum_cost_delay",
    "vacuum_cost_limit",
    "vacuum_cost_page_dirty",
    "vacuum_cost_page_hit",
    "vacuum_cost_page_miss",
    "vacuum_freeze_min_age",
    "vacuum_freeze_table_age",
    "wal_buffers",
    "wal_compression",
    "wal_init_zero",
    "wal_level",
    "wal_recycle",
    "wal_skip_threshold",
    "wal_sync_method",
    "wal_writer_delay",
    "wal_writer_flush_after",
    "work_mem",
    "xmlbinary",
    "xmloption",
];

/// Settings of programs and servers elsewhere, and why they have no effect here.
const CHANGED: &[(&str, &str)] = &[
    ("archive_command", "no log is archived"),
    ("archive_library", "no log is archived"),
    ("archive_mode", "no log is archived"),
    ("primary_conninfo", "it follows no server"),
    ("restore_command", "no log is fetched"),
    (
        "synchronous_standby_names",
        "no commit waits for another server",
    ),
    ("shared_preload_libraries", "no library is loaded"),
    ("session_preload_libraries", "no library is loaded"),
    ("local_preload_libraries", "no library is loaded"),
    ("huge_pages", "memory is in pages of the usual size"),
];

/// What was found in the configuration of a backup.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Configuration {
    /// What is kept.
    pub(crate) kept: BTreeMap<String, String>,
    /// What is changed, as sentences without a full stop.
    pub(crate) changed: Vec<String>,
    /// Whether its pages have checksums, where that is said.
    pub(crate) checksums: Option<bool>,
}

/// The setting that says how a cluster was made, and that no server takes.
pub(crate) const CHECKSUMS: &str = "data_checksums";

impl Configuration {
    /// Adds the text of a settings file, whose later settings override earlier ones.
    pub(crate) fn add(&mut self, file: &str, text: &str) {
        for line in text.lines() {
            let Some((name, value)) = setting(line) else {
                continue;
            };
            if name.starts_with("include") {
                self.note(format!(
                    "{file}: {name} '{value}' is not followed, its settings are not taken over"
                ));
            } else if name == CHECKSUMS {
                self.checksums = Some(value == "on");
            } else if KEPT.contains(&name.as_str()) {
                self.kept.insert(name, value);
            } else if let Some((name, why)) = CHANGED.iter().find(|(changed, _)| *changed == name)
                && !value.is_empty()
            {
                self.note(format!("{name} is off: {why}"));
            }
        }
    }

    fn note(&mut self, text: String) {
        if !self.changed.contains(&text) {
            self.changed.push(text);
        }
    }
}

/// A line `name = value`: the equals sign may be missing, the value in quotes, and a comment follow.
fn setting(line: &str) -> Option<(String, String)> {
    let line = line.trim_start();
    let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let (name, rest) = line.split_at(line.find(|c: char| !is_name(c))?);
    let rest = rest.trim_start();
    let rest = rest.strip_prefix('=').unwrap_or(rest).trim_start();
    let value = match rest.strip_prefix('\'') {
        None => rest
            .split(['#', ' ', '\t'])
            .next()
            .unwrap_or_default()
            .to_owned(),
        Some(quoted) => {
            let mut value = String::new();
            let mut letters = quoted.chars().peekable();
            loop {
                match letters.next()? {
                    '\'' if letters.peek() == Some(&'\'') => {
                        letters.next();
                        value.push('\'');
                    }
                    '\'' => break value,
                    letter => value.push(letter),
                }
            }
        }
    };
    (!name.is_empty()).then(|| (name.to_ascii_lowercase(), value))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_of_statements_and_disks_are_kept_and_others_are_not() {
        let mut found = Configuration::default();
        found.add(
            "postgresql.conf",
            "# a comment\nshared_buffers = 128MB   # min 128kB\nwork_mem '64MB'\nlog_timezone = 'UTC'\n\
             archive_command = 'cp %p /archive/%f'\nshared_preload_libraries = ''\ninclude_dir = 'conf.d'\n\
             search_path = '\"$user\", it''s'\nbroken = 'x\n=\n",
        );
        found.add("postgresql.auto.conf", "shared_buffers = '1GB'\n");
        let kept: Vec<String> = found
            .kept
            .iter()
            .map(|(name, value)| format!("{name}={value}"))
            .collect();
        assert_eq!(
            kept,
            [
                "search_path=\"$user\", it's",
                "shared_buffers=1GB",
                "work_mem=64MB"
            ]
        );
        assert_eq!(found.changed.len(), 2, "{:?}", found.changed);
        assert!(found.changed[0].starts_with("archive_command is off"));
        assert!(found.changed[1].contains("include_dir 'conf.d' is not followed"));
    }
}
