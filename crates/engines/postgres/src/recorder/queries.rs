//! Queries of a recording. Rows of a snapshot are view, key and value, so columns are identified by name in all versions.

/// Whether this login sees other sessions, and its name.
pub(super) const RIGHTS: &str =
    "SELECT pg_has_role(current_user, 'pg_read_all_stats', 'USAGE'), current_user";

/// Not the view `pg_stat_activity`, which would look up names of databases and roles each time.
pub(super) const PREPARE_LOOK: &str = "PREPARE look AS SELECT pid, wait_event_type, wait_event \
     FROM pg_stat_get_activity(NULL) WHERE backend_type = 'client backend' AND pid <> pg_backend_pid() \
     AND state IN ('active', 'fastpath function call')";

const ALWAYS: &str = "SELECT 'server' AS view, 'time' AS key, extract(epoch FROM clock_timestamp())::text AS value \
     UNION ALL SELECT 'server', 'started', extract(epoch FROM pg_postmaster_start_time())::text \
     UNION ALL SELECT 'server', 'wal_lsn', CASE WHEN NOT pg_is_in_recovery() \
         THEN pg_wal_lsn_diff(pg_current_wal_lsn(), '0/0')::text END \
     UNION ALL SELECT 'setting', name, setting FROM pg_settings WHERE name IN \
         ('track_io_timing', 'track_wal_io_timing', 'block_size', 'data_directory', 'port', 'temp_tablespaces', \
         'server_version_num', 'shared_buffers') \
     UNION ALL SELECT 'tablespace', spcname, pg_tablespace_location(oid) FROM pg_tablespace \
     UNION ALL SELECT 'session', pid::text, extract(epoch FROM state_change)::text FROM pg_stat_get_activity(NULL) \
         WHERE backend_type = 'client backend' AND pid <> pg_backend_pid() \
     UNION ALL SELECT 'database', key, value FROM (SELECT sum(xact_commit) AS xact_commit, \
         sum(xact_rollback) AS xact_rollback, sum(blks_read) AS blks_read, \
         sum(blks_hit) AS blks_hit, sum(blk_read_time) AS blk_read_time \
         FROM pg_stat_database) AS v, LATERAL jsonb_each_text(to_jsonb(v)) \
     UNION ALL SELECT 'database', datid::text || '.stats_reset', stats_reset::text FROM pg_stat_database \
     UNION ALL SELECT 'bgwriter', key, value FROM (SELECT * FROM pg_stat_bgwriter) AS v, \
         LATERAL jsonb_each_text(to_jsonb(v))";

/// The query for all counters, from those `views` that the server has.
pub(super) fn snapshot(views: &[&str]) -> String {
    let mut sql = ALWAYS.to_owned();
    for view in views {
        sql.push_str(" UNION ALL ");
        sql.push_str(&match *view {
            "pg_stat_io" => "SELECT 'io', backend_type || '|' || object || '|' || context || '|' || key, value \
                 FROM pg_stat_io AS v, LATERAL jsonb_each_text(to_jsonb(v)) \
                 WHERE key NOT IN ('backend_type', 'object', 'context')"
                .to_owned(),
            view => {
                let name = view.trim_start_matches("pg_stat_");
                format!(
                    "SELECT '{name}', key, value FROM (SELECT * FROM {view}) AS v, LATERAL jsonb_each_text(to_jsonb(v))"
                )
            }
        });
    }
    sql
}
