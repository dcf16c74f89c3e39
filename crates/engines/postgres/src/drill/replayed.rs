//! Settings that an untrusted recording may set, and those that every drilled server is started with.
//!
//! Source of the names: <https://www.postgresql.org/docs/18/runtime-config.html>, and the same pages of 14 to 17, read 2026-11-26.

/// Settings of numbers, switches and words: how a server writes, and how much memory it takes for that. None of them can name a
/// program, a library, a file or an address with any value.
const ALLOWED: [&str; 64] = [
    "backend_flush_after",
    "bgwriter_delay",
    "bgwriter_flush_after",
    "bgwriter_lru_maxpages",
    "bgwriter_lru_multiplier",
    "checkpoint_completion_target",
    "checkpoint_flush_after",
    "checkpoint_timeout",
    "checkpoint_warning",
    "commit_delay",
    "commit_siblings",
    "commit_timestamp_buffers",
    "data_sync_retry",
    "deadlock_timeout",
    "debug_io_direct",
    "effective_cache_size",
    "effective_io_concurrency",
    "enable_bitmapscan",
    "enable_hashagg",
    "enable_hashjoin",
    "enable_indexscan",
    "enable_mergejoin",
    "enable_seqscan",
    "enable_sort",
    "file_copy_method",
    "file_extend_method",
    "fsync",
    "full_page_writes",
    "hash_mem_multiplier",
    "huge_pages",
    "ignore_checksum_failure",
    "io_combine_limit",
    "io_max_combine_limit",
    "io_max_concurrency",
    "io_method",
    "io_workers",
    "logical_decoding_work_mem",
    "maintenance_io_concurrency",
    "maintenance_work_mem",
    "max_connections",
    "max_files_per_process",
    "max_locks_per_transaction",
    "max_slot_wal_keep_size",
    "max_wal_size",
    "min_wal_size",
    "random_page_cost",
    "recovery_init_sync_method",
    "recovery_prefetch",
    "restart_after_crash",
    "seq_page_cost",
    "shared_buffers",
    "synchronous_commit",
    "temp_buffers",
    "wal_buffers",
    "wal_compression",
    "wal_decode_buffer_size",
    "wal_init_zero",
    "wal_keep_size",
    "wal_recycle",
    "wal_skip_threshold",
    "wal_sync_method",
    "wal_writer_delay",
    "wal_writer_flush_after",
    "work_mem",
];

/// Maximum length of a value: twice the longest keyword of any of them.
const VALUE_MAX: usize = 32;

/// Safe defaults of settings that could make a server load a library, run a command or connect to another one: given explicitly
/// on its command line, which takes precedence over its files. Databases and users cannot override these.
pub(crate) const OF_SERVER: [(&str, &str); 9] = [
    ("shared_preload_libraries", ""),
    ("archive_mode", "off"),
    ("archive_command", ""),
    ("restore_command", ""),
    ("archive_cleanup_command", ""),
    ("recovery_end_command", ""),
    ("primary_conninfo", ""),
    ("max_logical_replication_workers", "0"),
    ("ssl", "off"),
];

/// The same for settings that `ALTER DATABASE .. SET` and `ALTER ROLE .. SET` store in the database, which take precedence over
/// the command line. Settings that a client sends at login take precedence over both, before any library is loaded.
/// `InitPostgres` in <https://github.com/postgres/postgres/blob/master/src/backend/utils/init/postinit.c>, and the order of
/// `GucSource` in `src/include/utils/guc.h` there, read 2026-11-26.
pub(crate) const OF_SESSIONS: [(&str, &str); 4] = [
    ("session_preload_libraries", ""),
    ("local_preload_libraries", ""),
    ("dynamic_library_path", "$libdir"),
    ("jit", "off"),
];

/// Whether a recording may set this.
///
/// # Errors
/// Why not.
pub(crate) fn may_set(name: &str, value: &str) -> Result<(), String> {
    if !ALLOWED.contains(&name) {
        return Err(
            "a replay sets only numbers, switches and words of how PostgreSQL writes, and never what names a program, a library, \
             a file or an address"
                .to_owned(),
        );
    }
    let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-' | '%');
    match !value.is_empty() && value.len() <= VALUE_MAX && value.chars().all(is_plain) {
        true => Ok(()),
        false => Err(format!(
            "that is neither a number with its unit, nor a switch, nor a word of at most {VALUE_MAX} letters"
        )),
    }
}

#[cfg(test)]
mod tests {
    use std::io::Read as _;
    use std::os::unix::net::UnixListener;
    use std::thread;

    use super::*;
    use crate::session::address::Address;
    use crate::session::target::Target;
    use crate::session::tls::Encryption;
    use crate::session::wire::Connection;
    use engine::Patience;

    #[test]
    fn a_session_says_itself_that_it_loads_nothing() {
        let place = tempfile::tempdir().unwrap();
        let path = place.path().join("socket");
        let listener = UnixListener::bind(&path).unwrap();
        let server = thread::spawn(move || {
            let (mut stream, _) = listener.accept().unwrap();
            let mut length = [0; 4];
            stream.read_exact(&mut length).unwrap();
            let mut told = vec![0; u32::from_be_bytes(length) as usize - 4];
            stream.read_exact(&mut told).unwrap();
            told
        });
        let target = Target {
            address: Address::Unix(path),
            user: "dbstow".to_owned(),
            database: "postgres".to_owned(),
            password: None,
            encryption: Encryption::off(),
            patience: Patience::default(),
            settings: &OF_SESSIONS,
        };
        assert!(Connection::open(&target, "dbstow").is_err());
        let told = server.join().unwrap();
        let told = String::from_utf8_lossy(&told);
        for (name, value) in OF_SESSIONS {
            assert!(told.contains(&format!("\0{name}\0{value}\0")), "{told:?}");
        }
    }

    #[test]
    fn a_recording_sets_how_a_server_writes_and_nothing_that_names_something() {
        for (name, value) in [
            ("fsync", "off"),
            ("data_sync_retry", "on"),
            ("wal_sync_method", "open_datasync"),
            ("max_wal_size", "1GB"),
            ("checkpoint_timeout", "1d"),
            ("checkpoint_completion_target", "0.9"),
            ("commit_delay", "-1"),
        ] {
            assert_eq!(may_set(name, value), Ok(()), "{name}");
        }
        for name in [
            "shared_preload_libraries",
            "session_preload_libraries",
            "local_preload_libraries",
            "archive_command",
            "archive_library",
            "restore_command",
            "ssl_passphrase_command",
            "dynamic_library_path",
            "config_file",
            "data_directory",
            "external_pid_file",
            "hba_file",
            "jit_provider",
            "listen_addresses",
            "primary_conninfo",
            "log_directory",
            "stats_temp_directory",
            "unix_socket_directories",
            "temp_tablespaces",
            "search_path",
            "dbstow.x",
            "FSYNC",
            "fsync\0",
            "fsync=off -c archive_command",
            "",
        ] {
            assert!(may_set(name, "off").is_err(), "{name}");
        }
        for value in [
            "/tmp/x",
            "a b",
            "'on'",
            "\"on\"",
            "on\n",
            "$libdir",
            "",
            &"9".repeat(33),
        ] {
            assert!(may_set("fsync", value).is_err(), "{value:?}");
        }
    }
}
