//! PostgreSQL's own counters, as a flat map.
//!
//! Versions 13 to 18 differ in names and views: all columns of a version's views are recorded, so none is lost, and times and
//! bytes get their unit as suffix.

use std::collections::BTreeMap;

use crate::session::wire::Connection;
use engine::row::Number as _;
use engine::{CounterSample, CounterSampler, EngineError};

/// Views of one row: prefix of the counters' names, the row, and the version that introduced it.
const VIEWS: [(&str, &str, u32); 4] = [
    (
        "database",
        "pg_stat_database WHERE datname = current_database()",
        0,
    ),
    ("wal", "pg_stat_wal", 14),
    ("bgwriter", "pg_stat_bgwriter", 0),
    // Before, these are in pg_stat_bgwriter.
    ("checkpointer", "pg_stat_checkpointer", 17),
];

/// Columns that are not counters.
const NO_COUNTERS: [&str; 6] = [
    "datid",
    "datname",
    "numbackends",
    "stats_reset",
    "checksum_last_failure",
    "op_bytes",
];

/// `pg_stat_io` over all kinds of process and contexts, by object.
const IO: &str = "SELECT replace(object, ' ', '_') || '.' || key AS key, sum(value::numeric)::text AS value \
     FROM (SELECT v.object, each.key, each.value FROM pg_stat_io AS v, LATERAL jsonb_each_text(to_jsonb(v)) AS each \
           WHERE each.key NOT IN ('backend_type', 'object', 'context', 'stats_reset', 'op_bytes')) AS counters \
     GROUP BY object, key";

/// The same by kind of process and context, `relation.client_backend.bulkread.reads`. Before 18 all requests are of
/// `op_bytes`, and bytes are not counted.
const IO_BY_PROCESS: &str = "SELECT replace(object || '.' || backend_type || '.' || context, ' ', '_') || '.' || key, value \
     FROM pg_stat_io AS v, LATERAL jsonb_each_text(CASE WHEN to_jsonb(v) ? 'op_bytes' THEN jsonb_build_object( \
         'read_bytes', reads * (to_jsonb(v) ->> 'op_bytes')::numeric, \
         'write_bytes', writes * (to_jsonb(v) ->> 'op_bytes')::numeric, \
         'extend_bytes', extends * (to_jsonb(v) ->> 'op_bytes')::numeric) ELSE '{}' END || to_jsonb(v)) \
     WHERE key NOT IN ('backend_type', 'object', 'context', 'stats_reset', 'op_bytes')";

/// Granularity of `pg_stat_io`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Detail {
    /// Sums over all processes.
    Sums,
    /// Also by kind of process and context.
    ByProcess,
}

/// Reads all counters.
pub(crate) fn read(
    connection: &mut Connection,
    major: u32,
    detail: Detail,
) -> Result<BTreeMap<String, f64>, EngineError> {
    let mut counters = BTreeMap::new();
    for (prefix, view, since) in VIEWS {
        if major < since {
            continue;
        }
        let sql = format!(
            "SELECT key, value FROM (SELECT * FROM {view}) AS v, LATERAL jsonb_each_text(to_jsonb(v))"
        );
        collect(connection, prefix, &sql, &mut counters)?;
    }
    if major >= 16 {
        match detail {
            Detail::Sums => collect(connection, "io", IO, &mut counters)?,
            Detail::ByProcess => {
                let mut parts = BTreeMap::new();
                collect(connection, "io", IO_BY_PROCESS, &mut parts)?;
                counters.extend(with_sums(parts));
            }
        }
    }
    let of = |name: &str| counters.get(name).copied().unwrap_or(0.0);
    let physical = of("database.blks_read");
    let logical = physical + of("database.blks_hit");
    counters.insert("physical_reads".to_owned(), physical);
    counters.insert("logical_reads".to_owned(), logical);
    Ok(counters)
}

/// `io.relation.client_backend.normal.reads` and the like without those that are zero, and `io.relation.reads`, their sums.
fn with_sums(mut parts: BTreeMap<String, f64>) -> BTreeMap<String, f64> {
    let mut sums = BTreeMap::new();
    for (name, value) in &parts {
        let words: Vec<&str> = name.split('.').collect();
        if let [prefix, object, _, _, what] = words.as_slice() {
            *sums
                .entry(format!("{prefix}.{object}.{what}"))
                .or_insert(0.0) += value;
        }
    }
    parts.retain(|_, value| *value != 0.0);
    parts.extend(sums);
    parts
}

/// Reads them once a second.
pub(crate) struct Sampler {
    pub(crate) connection: Connection,
    pub(crate) major: u32,
}

impl CounterSampler for Sampler {
    fn sample(&mut self) -> Result<CounterSample, EngineError> {
        Ok(CounterSample {
            counters: read(&mut self.connection, self.major, Detail::Sums)?,
            ..CounterSample::default()
        })
    }
}

fn collect(
    connection: &mut Connection,
    prefix: &str,
    sql: &str,
    counters: &mut BTreeMap<String, f64>,
) -> Result<(), EngineError> {
    let rows = connection
        .query(sql)
        .map_err(|error| EngineError::failed(format!("read the counters `{prefix}`"), error))?;
    for row in rows {
        // A non-numeric column belongs to another version.
        if let [Some(name), Some(value)] = row.columns()
            && !NO_COUNTERS.contains(&name.as_str())
            && let Some(value) = f64::of(value)
        {
            counters.insert(format!("{prefix}.{}", with_unit(name)), value);
        }
    }
    Ok(())
}

/// PostgreSQL counts times in milliseconds; names of byte counters already contain the unit.
fn with_unit(name: &str) -> String {
    match name.ends_with("_time") {
        true => format!("{name}_ms"),
        false => name.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_are_over_processes_and_contexts_of_an_object() {
        let of = |name: &str, value| (name.to_owned(), value);
        let counters = with_sums(BTreeMap::from([
            of("io.relation.client_backend.normal.reads", 3.0),
            of("io.relation.client_backend.bulkread.reads", 4.0),
            of("io.relation.checkpointer.normal.reads", 0.0),
            of("io.temp_relation.client_backend.normal.reads", 5.0),
            of("io.wal.walwriter.normal.fsyncs", 0.0),
        ]));
        let shown: Vec<String> = counters
            .iter()
            .map(|(name, value)| format!("{name} {value}"))
            .collect();
        assert_eq!(
            shown,
            [
                "io.relation.client_backend.bulkread.reads 4",
                "io.relation.client_backend.normal.reads 3",
                "io.relation.reads 7",
                "io.temp_relation.client_backend.normal.reads 5",
                "io.temp_relation.reads 5",
                "io.wal.fsyncs 0",
            ]
        );
    }
}
