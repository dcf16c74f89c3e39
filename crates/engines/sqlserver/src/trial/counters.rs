//! The server's own counters, as a flat map: files individually and by role, waits, buffer pool and sessions.

use std::collections::BTreeMap;

use crate::capture;
use crate::session::Driver;
use crate::tsql::question;

use crate::trial::run::Files;
use crate::trial::sampler::Sampler;
use engine::{CounterSample, CounterSampler, EngineError};
use experiment::spec::Role;

/// Type of a performance counter that only grows: `PERF_COUNTER_BULK_COUNT`, and the one of 32 bits.
///
/// Source: Microsoft, `sys.dm_os_performance_counters` (read 2026-11).
const CUMULATIVE: [i64; 2] = [272_696_576, 272_696_320];

/// Reads all counters. Those of the server cover all its sessions, not only the run's.
pub(crate) fn read(
    session: &mut Driver,
    files: &Files,
) -> Result<BTreeMap<String, f64>, EngineError> {
    let failed =
        |what: &'static str| move |error| EngineError::failed(format!("read {what}"), error);
    let mut counters = BTreeMap::new();
    let mut numbers: BTreeMap<&str, u32> = BTreeMap::new();
    for file in capture::file_statistics(session).map_err(failed("file statistics"))? {
        let Some(filed) = files.get(&(file.database_id, file.file_id)) else {
            continue;
        };
        let kind = match (filed.role, filed.is_log) {
            (Role::Temp, true) => "temp_log",
            (role, _) => role.name(),
        };
        // In the order of their numbers on the server, from 1.
        let number = numbers.entry(kind).or_default();
        *number += 1;
        for (name, value) in [
            ("reads", file.reads),
            ("read_bytes", file.read_bytes),
            ("read_stall_ms", file.read_stall_ms),
            ("writes", file.writes),
            ("written_bytes", file.written_bytes),
            ("write_stall_ms", file.write_stall_ms),
            (
                "governed_ms",
                file.read_governed_ms + file.write_governed_ms,
            ),
        ] {
            counters.insert(format!("files.{kind}.{number}.{name}"), value as f64);
            *counters
                .entry(format!("files.{kind}.{name}"))
                .or_insert(0.0) += value as f64;
        }
    }
    for wait in capture::wait_statistics(session).map_err(failed("waits"))? {
        counters.insert(format!("waits.{}_ms", wait.kind), wait.wait_ms as f64);
        counters.insert(format!("waits.{}_count", wait.kind), wait.count as f64);
    }
    let performance = capture::read(session, &question::PERFORMANCE, |row| {
        let name = (
            row.word("object")?,
            row.word("counter")?,
            row.word("instance")?,
        );
        Ok((name, row.count("value")?, row.count("kind")?))
    });
    for ((object, counter, instance), value, kind) in
        performance.map_err(failed("performance counters"))?
    {
        if CUMULATIVE.contains(&kind) {
            counters.insert(performance_name(&object, &counter, &instance), value as f64);
        }
    }
    let of_sessions = capture::read(session, &question::SESSION_READS, |row| {
        let columns = ["logical_reads", "reads", "writes", "cpu_ms"];
        let values = columns.map(|column| Ok((column, row.int(column)?)));
        values.into_iter().collect::<Result<Vec<_>, _>>()
    });
    // Sums over no session at all are NULL.
    for (name, value) in of_sessions.map_err(failed("what sessions read"))?.concat() {
        if let Some(value) = value {
            counters.insert(format!("sessions.{name}"), value as f64);
        }
    }
    for (own, theirs) in [
        ("logical_reads", "performance.buffer_manager.page_lookups"),
        ("physical_reads", "performance.buffer_manager.page_reads"),
    ] {
        if let Some(pages) = counters.get(theirs).copied() {
            counters.insert(own.to_owned(), pages);
        }
    }
    Ok(counters)
}

/// With the space in tempdb by use.
impl CounterSampler for Sampler<'_> {
    fn sample(&mut self) -> Result<CounterSample, EngineError> {
        let counters = read(&mut self.session, &self.run.files())?;
        let space = capture::tempdb_space(&mut self.session)
            .map_err(|error| EngineError::failed("read the space in tempdb", error))?;
        let levels = space.into_iter().flat_map(|space| {
            [
                ("tempdb.user_bytes", space.user_bytes),
                ("tempdb.internal_bytes", space.internal_bytes),
                ("tempdb.version_bytes", space.version_bytes),
                ("tempdb_free_bytes", space.free_bytes),
            ]
        });
        let levels = levels.map(|(name, bytes)| (name.to_owned(), bytes as f64));
        Ok(CounterSample {
            counters,
            levels: levels.collect(),
        })
    }
}

/// `SQLServer:Buffer Manager`, `Page reads/sec` is `performance.buffer_manager.page_reads`: despite its name, the value is a
/// cumulative count.
fn performance_name(object: &str, counter: &str, instance: &str) -> String {
    let object = object.rsplit_once(':').map_or(object, |(_, object)| object);
    let counter = counter.trim_end_matches("/sec");
    let parts = [object, counter, instance]
        .into_iter()
        .filter(|part| !part.is_empty());
    let parts: Vec<String> = parts
        .map(|part| {
            part.trim_start_matches('_')
                .to_lowercase()
                .replace(' ', "_")
        })
        .collect();
    format!("performance.{}", parts.join("."))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counters_have_one_name_whatever_the_instance_is_called() {
        for (object, counter, instance, name) in [
            (
                "SQLServer:Buffer Manager",
                "Page reads/sec",
                "",
                "performance.buffer_manager.page_reads",
            ),
            (
                "MSSQL$SQL2022:Buffer Manager",
                "Page reads/sec",
                "",
                "performance.buffer_manager.page_reads",
            ),
            (
                "SQLServer:Databases",
                "Log Flushes/sec",
                "tempdb",
                "performance.databases.log_flushes.tempdb",
            ),
            (
                "SQLServer:Databases",
                "Log Flushes/sec",
                "_Total",
                "performance.databases.log_flushes.total",
            ),
        ] {
            assert_eq!(performance_name(object, counter, instance), name);
        }
    }
}
