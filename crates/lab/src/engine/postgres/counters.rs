//! PostgreSQL's own counters, as a flat map.
//!
//! Versions 13 to 18 name and place them differently: whatever columns a version's views have are taken,
//! so that none is lost, and times and bytes get their unit as suffix.

use std::collections::BTreeMap;

use super::wire::Connection;
use crate::engine::{CounterSample, CounterSampler, EngineError};

/// Views of one row: prefix of the counters' names, the row, and the version that brought it.
const VIEWS: [(&str, &str, u32); 4] = [
    (
        "database",
        "pg_stat_database WHERE datname = current_database()",
        0,
    ),
    ("wal", "pg_stat_wal", 14),
    ("bgwriter", "pg_stat_bgwriter", 0),
    // Before, these stand in pg_stat_bgwriter.
    ("checkpointer", "pg_stat_checkpointer", 17),
];

/// Columns that are no counters.
const NO_COUNTERS: [&str; 6] = [
    "datid",
    "datname",
    "numbackends",
    "stats_reset",
    "checksum_last_failure",
    "op_bytes",
];

/// Reads all counters.
pub(super) fn read(
    connection: &mut Connection,
    major: u32,
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
        // By what was read and written; over all contexts and kinds of process.
        let rows = "SELECT replace(object, ' ', '_') || '.' || key AS key, sum(value::numeric)::text AS value \
             FROM (SELECT v.object, each.key, each.value FROM pg_stat_io AS v, LATERAL jsonb_each_text(to_jsonb(v)) AS each \
                   WHERE each.key NOT IN ('backend_type', 'object', 'context', 'stats_reset', 'op_bytes')) AS counters \
             GROUP BY object, key";
        collect(connection, "io", rows, &mut counters)?;
    }
    let of = |name: &str| counters.get(name).copied().unwrap_or(0.0);
    let physical = of("database.blks_read");
    let logical = physical + of("database.blks_hit");
    counters.insert("physical_reads".to_owned(), physical);
    counters.insert("logical_reads".to_owned(), logical);
    Ok(counters)
}

/// Reads them once a second.
pub(super) struct Sampler {
    pub(super) connection: Connection,
    pub(super) major: u32,
}

impl CounterSampler for Sampler {
    fn sample(&mut self) -> Result<CounterSample, EngineError> {
        Ok(CounterSample {
            counters: read(&mut self.connection, self.major)?,
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
        if let [Some(name), Some(value)] = row.as_slice()
            && !NO_COUNTERS.contains(&name.as_str())
            && let Ok(value) = value.parse()
        {
            counters.insert(format!("{prefix}.{}", with_unit(name)), value);
        }
    }
    Ok(())
}

/// PostgreSQL counts times in milliseconds; bytes it names so itself.
fn with_unit(name: &str) -> String {
    match name.ends_with("_time") {
        true => format!("{name}_ms"),
        false => name.to_owned(),
    }
}
