//! Temporary files and tables.

use rules::{Change, Finding, Outcome, Severity, shown};

use super::known::{
    at, bytes, counter_missing, hours, in_memory, share, variable_missing, volumes_missing,
};
use super::sources::{
    MARIADB_TEMP_LIMITS, MARIADB_TEMP_TABLESPACE, MYSQL_TEMPORARY_FILES, MYSQLTUNER,
};
use super::{Applies, Rule};
use crate::capture::{Capture, MountedVolume, Places};

/// Above this share of temporary tables on disk there are many. MySQLTuner's.
const ON_DISK_MAX: f64 = 0.25;
/// Below this many per hour they do not matter. Our choice: one per second.
const PER_HOUR_MIN: f64 = 3600.0;

pub(super) const RULES: &[Rule] = &[
    Rule {
        id: "tmpdir-in-memory",
        title: "temporary files are in memory, and nothing limits them",
        severity: Severity::Medium,
        why: "medium where sorts or tables have spilled: a large one fails when the file system is full, or takes memory from the \
              buffer pool; note where none has",
        says: "A tmpdir on tmpfs is for temporary files that are small. Exempt: max_tmp_total_space_usage (MariaDB 11.5 and later) \
               keeps them below the file system's size.",
        sources: &[MYSQL_TEMPORARY_FILES, MARIADB_TEMP_LIMITS],
        applies: Applies::BOTH,
        judge: memory,
    },
    Rule {
        id: "tmpdir-with-data",
        title: "temporary tables are written to the data's device",
        severity: Severity::Low,
        why: "low: fewer temporary tables on disk may help more than another device",
        says: "Where more than 25 % of temporary tables are made on disk (MySQLTuner), one a second or more (ours), tmpdir is on \
               another device than the data.",
        sources: &[MYSQL_TEMPORARY_FILES, MYSQLTUNER],
        applies: Applies::BOTH,
        judge: with_data,
    },
    Rule {
        id: "temp-tablespace-unbounded",
        title: "one temporary table can fill a volume",
        severity: Severity::Low,
        why: "low where it fills the volume of the data, on which all writes then stop; note elsewhere",
        says: "innodb_temp_data_file_path ends in autoextend with max. The file shrinks with a restart, from MariaDB 11.3 on by \
               innodb_truncate_temporary_tablespace_now.",
        sources: &[MARIADB_TEMP_TABLESPACE],
        applies: Applies::MARIADB,
        judge: unbounded,
    },
];

/// The temporary directories, with their volumes.
///
/// # Errors
/// With the outcome to report, if they or their volumes are unknown.
fn temp(capture: &Capture) -> Result<Vec<(String, &MountedVolume)>, Outcome> {
    let places = Places::of(capture);
    if places.temp.is_empty() {
        return Err(variable_missing("tmpdir"));
    }
    let known = places.temp.into_iter().map(|path| {
        let volume = capture.volume(&path);
        let missing = || volumes_missing(&format!("the file system under {path}"));
        let volume = volume.ok_or_else(missing)?;
        Ok((path, volume))
    });
    known.collect()
}

fn memory(capture: &Capture) -> Vec<Outcome> {
    let temp = match temp(capture) {
        Ok(temp) => temp,
        Err(unknown) => return vec![unknown],
    };
    let mut outcomes: Vec<Outcome> = temp
        .iter()
        .filter(|(_, volume)| in_memory(volume))
        .map(|(path, volume)| of_memory(capture, path, volume))
        .collect();
    if outcomes.is_empty() {
        outcomes.push(Outcome::fine("temporary files are on disk"));
    }
    outcomes
}

fn of_memory(capture: &Capture, path: &str, volume: &MountedVolume) -> Outcome {
    let limit = capture.number("max_tmp_total_space_usage");
    if let Some(limit) = limit.filter(|limit| *limit > 0 && *limit <= volume.total_bytes) {
        let why = format!(
            "max_tmp_total_space_usage keeps them below {}",
            bytes(limit)
        );
        return Outcome::exempt("limited", why);
    }
    let disk_tables = capture.counter("Created_tmp_disk_tables");
    let merges = capture.counter("Sort_merge_passes");
    let spilled = [disk_tables, merges]
        .into_iter()
        .flatten()
        .any(|count| count > 0);
    let (severity, message) = match spilled {
        true => (
            Severity::Medium,
            format!("sorts and temporary tables spill to {path}, which is in memory"),
        ),
        false => (
            Severity::Note,
            format!("{path} is in memory; nothing has spilled to it since the server started"),
        ),
    };
    let shown =
        |count: Option<u64>| count.map_or("not known".to_owned(), |count| count.to_string());
    let finding = Finding::new(severity, message)
        .with("file system", &volume.file_system)
        .with("size", bytes(volume.total_bytes))
        .with("Created_tmp_disk_tables", shown(disk_tables))
        .with("Sort_merge_passes", shown(merges));
    let finding = match capture.number("tmp_disk_table_size") {
        Some(u64::MAX) => finding.with("tmp_disk_table_size", "unlimited"),
        Some(limit) => finding.with("tmp_disk_table_size", bytes(limit)),
        None => finding,
    };
    finding.at([at(capture, path)]).remedy(
        "put tmpdir on a fast disk, best one inside the machine; or limit temporary files below the size of the file system",
    )
}

fn with_data(capture: &Capture) -> Vec<Outcome> {
    vec![beside_data(capture).unwrap_or_else(|unknown| unknown)]
}

fn beside_data(capture: &Capture) -> Result<Outcome, Outcome> {
    let places = Places::of(capture);
    let Some(data) = &places.data else {
        return Err(variable_missing("datadir"));
    };
    let mut unknown = false;
    let mut together = None;
    for path in &places.temp {
        match share(capture, path, data) {
            Some(true) => together = Some(path),
            Some(false) => {}
            None => unknown = true,
        }
    }
    let path = match (together, unknown) {
        (Some(path), _) => path,
        (None, true) => {
            return Err(volumes_missing(
                "whether tmpdir shares a device with the data",
            ));
        }
        (None, false) => {
            return Ok(Outcome::fine(
                "tmpdir does not share a device with the data",
            ));
        }
    };
    let counted = |name: &str| capture.counter(name).ok_or_else(|| counter_missing(name));
    let on_disk = counted("Created_tmp_disk_tables")? as f64;
    let all = counted("Created_tmp_tables")? as f64;
    let per_hour = on_disk / hours(capture)?;
    let share = on_disk / all.max(1.0);
    let made = format!(
        "{} of {all:.0} temporary tables are made on disk, {per_hour:.0} an hour",
        shown::percent(share)
    );
    if share <= ON_DISK_MAX || per_hour < PER_HOUR_MIN {
        return Ok(Outcome::fine(made));
    }
    let message = format!("{made}, and tmpdir shares a device with the data");
    Ok(Finding::new(Severity::Low, message)
        .advises(Change::TempApart)
        .with("Created_tmp_disk_tables", on_disk)
        .with("Created_tmp_tables", all)
        .at([at(capture, path), at(capture, data)])
        .remedy(
            "look which statements make them; then compare a tmpdir on another device, best one inside the machine",
        ))
}

fn unbounded(capture: &Capture) -> Vec<Outcome> {
    let Some(files) = capture.variable("innodb_temp_data_file_path") else {
        return vec![variable_missing("innodb_temp_data_file_path")];
    };
    if !files.contains(":autoextend") || files.contains(":max:") {
        return vec![Outcome::fine(files)];
    }
    let places = Places::of(capture);
    let (Some(temp), Some(data)) = (&places.temp_tablespace, &places.data) else {
        return vec![variable_missing("datadir")];
    };
    let (severity, message) = match share(capture, temp, data) {
        Some(true) => (
            Severity::Low,
            "InnoDB's file of temporary tables has no limit, and shares a device with the data",
        ),
        Some(false) | None => (
            Severity::Note,
            "InnoDB's file of temporary tables has no limit",
        ),
    };
    vec![
        Finding::new(severity, message)
            .with("innodb_temp_data_file_path", files)
            .at([at(capture, temp)])
            .remedy("set a limit, such as ibtmp1:12M:autoextend:max:20G, and restart; a statement beyond it fails"),
    ]
}
