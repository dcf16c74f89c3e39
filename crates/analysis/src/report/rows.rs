//! Records as a table: one row per record, one typed column per value, for programs that query tables.
//!
//! A column's name ends in its unit, and consists only of letters, digits and `_`, so that no query needs to quote it.

use std::collections::BTreeMap;

use experiment::question::{Question, SweepValue};
use experiment::record::{Outcome, Record};

/// A column of the table.
#[derive(Clone, Debug, PartialEq)]
pub struct Column {
    /// Its name.
    pub name: String,
    /// One value per row, in the order of the records; `None` where a record has none.
    pub values: Values,
}

/// The values of a column, all of one type.
#[derive(Clone, Debug, PartialEq)]
pub enum Values {
    /// Names and sentences.
    Text(Vec<Option<String>>),
    /// Counts, places and nanoseconds.
    Count(Vec<Option<u64>>),
    /// Everything else.
    Number(Vec<Option<f64>>),
}

/// The table of `records`, which answer `question`.
///
/// The trial's identity comes first, with the value of each swept key whose larger values cost more (`sweep_<key>`); then
/// its metrics by their names, the length of its phases (`phase_<name>_ns`), where its sessions' time went
/// (`time_<cause>_ns`), what reached its volumes (`volume_<name>_reads`, `_writes`, `_flushes`, `_read_bytes`,
/// `_write_bytes`), how much of its limits was used (`limit_<name>_share`) and the engine's counters (`counter_<name>`).
/// Series and histograms stay in the records.
pub fn columns(question: &Question, records: &[Record]) -> Vec<Column> {
    let mut columns = identity(question, records);
    columns.extend(named(records, |record| {
        let metrics = record.metrics.iter();
        metrics
            .map(|(name, value)| (name.clone(), *value))
            .collect()
    }));
    columns.extend(counted(records, |record| {
        let phases = record.phases.iter().map(|phase| {
            let took = phase.end_ns.saturating_sub(phase.start_ns);
            (format!("phase_{}_ns", phase.name), took)
        });
        phases.collect()
    }));
    columns.extend(counted(records, |record| {
        let split = record.time_split_ns.iter();
        split
            .map(|(cause, ns)| (format!("time_{cause}_ns"), *ns))
            .collect()
    }));
    columns.extend(counted(records, volumes));
    columns.extend(named(records, |record| {
        let limits = record.limits.iter();
        limits
            .map(|limit| (format!("limit_{}_share", limit.name), limit.utilisation))
            .collect()
    }));
    columns.extend(named(records, |record| {
        let counters = record.counters.iter();
        counters
            .map(|(name, value)| (format!("counter_{name}"), *value))
            .collect()
    }));
    distinct(columns)
}

/// The trial's identity, and whether it completed.
fn identity(question: &Question, records: &[Record]) -> Vec<Column> {
    let text = |name: &str, of: &dyn Fn(&Record) -> Option<String>| Column {
        name: name.to_owned(),
        values: Values::Text(records.iter().map(of).collect()),
    };
    let count = |name: &str, of: &dyn Fn(&Record) -> u64| Column {
        name: name.to_owned(),
        values: Values::Count(records.iter().map(|record| Some(of(record))).collect()),
    };
    let mut columns = vec![
        text("experiment", &|record| Some(record.experiment.clone())),
        text("plan", &|record| Some(record.plan.clone())),
        text("version", &|record| Some(record.version.clone())),
        text("mode", &|record| Some(record.mode.clone())),
        text("engine", &|record| {
            let engine = record.engine.as_ref()?;
            Some(format!("{} {}", engine.name, engine.version))
        }),
        text("arm", &|record| Some(record.arm.clone())),
        count("block", &|record| record.block.into()),
        count("position", &|record| record.position.into()),
        count("seed", &|record| record.seed),
        text("outcome", &|record| {
            let outcome = match record.outcome {
                Outcome::Finished => "finished",
                Outcome::Failed { .. } => "failed",
            };
            Some(outcome.to_owned())
        }),
        text("error", &|record| match &record.outcome {
            Outcome::Finished => None,
            Outcome::Failed { error } => Some(error.clone()),
        }),
        count("errors", &|record| record.errors.count),
    ];
    let mut swept: BTreeMap<&str, BTreeMap<&str, &str>> = BTreeMap::new();
    for sweep in &question.sweeps {
        let arms = swept.entry(&sweep.key).or_default();
        let values = sweep.values.iter();
        arms.extend(values.map(|SweepValue { value, arm }| (arm.as_str(), value.as_str())));
    }
    for (key, arms) in swept {
        let value = |record: &Record| {
            arms.get(record.arm.as_str())
                .map(|value| (*value).to_owned())
        };
        columns.push(text(&format!("sweep_{key}"), &value));
    }
    columns
}

/// The requests that reached the volumes of a trial.
fn volumes(record: &Record) -> Vec<(String, u64)> {
    let mut sums = Vec::new();
    for volume in &record.volumes {
        let sum = |of: fn(&experiment::record::DiskRecord) -> u64| -> u64 {
            volume.disks.iter().map(of).fold(0, u64::saturating_add)
        };
        let name = &volume.name;
        sums.extend([
            (format!("volume_{name}_reads"), sum(|disk| disk.reads)),
            (format!("volume_{name}_writes"), sum(|disk| disk.writes)),
            (format!("volume_{name}_flushes"), sum(|disk| disk.flushes)),
            (
                format!("volume_{name}_read_bytes"),
                sum(|disk| disk.read_bytes),
            ),
            (
                format!("volume_{name}_write_bytes"),
                sum(|disk| disk.write_bytes),
            ),
        ]);
    }
    sums
}

fn named(records: &[Record], of: impl Fn(&Record) -> Vec<(String, f64)>) -> Vec<Column> {
    let columns = transposed(records, of).into_iter();
    let column = |(name, values)| Column {
        name,
        values: Values::Number(values),
    };
    columns.map(column).collect()
}

fn counted(records: &[Record], of: impl Fn(&Record) -> Vec<(String, u64)>) -> Vec<Column> {
    let columns = transposed(records, of).into_iter();
    let column = |(name, values)| Column {
        name,
        values: Values::Count(values),
    };
    columns.map(column).collect()
}

/// Named values of records, as columns in the order of the names.
fn transposed<T: Copy>(
    records: &[Record],
    of: impl Fn(&Record) -> Vec<(String, T)>,
) -> BTreeMap<String, Vec<Option<T>>> {
    let mut columns: BTreeMap<String, Vec<Option<T>>> = BTreeMap::new();
    for (row, record) in records.iter().enumerate() {
        for (name, value) in of(record) {
            let column = columns
                .entry(name)
                .or_insert_with(|| vec![None; records.len()]);
            column[row] = Some(value);
        }
    }
    columns
}

/// The same columns under names of letters, digits and `_`, made unique: a duplicate gets a number.
fn distinct(columns: Vec<Column>) -> Vec<Column> {
    let mut names: BTreeMap<String, u32> = BTreeMap::new();
    let mut distinct = Vec::with_capacity(columns.len());
    for Column { name, values } in columns {
        let fit = |c: char| {
            if c.is_ascii_alphanumeric() {
                c.to_ascii_lowercase()
            } else {
                '_'
            }
        };
        let mut name: String = name.chars().map(fit).collect();
        while let Some(number) = names.get_mut(&name) {
            *number += 1;
            name = format!("{name}_{number}");
        }
        names.insert(name.clone(), 1);
        distinct.push(Column { name, values });
    }
    distinct
}

#[cfg(test)]
mod tests {
    use experiment::examples;
    use experiment::question::Sweep;

    use super::*;

    fn column<'a>(columns: &'a [Column], name: &str) -> &'a Values {
        let column = columns.iter().find(|column| column.name == name);
        &column.unwrap_or_else(|| panic!("no column {name}")).values
    }

    #[test]
    fn a_row_is_a_record_and_what_it_has_not_is_absent() {
        let mut records = examples::records();
        records[1]
            .metrics
            .insert("odd-metric.x_per_s".to_owned(), 2.5);
        records[2].outcome = Outcome::Failed {
            error: "full".to_owned(),
        };
        let columns = columns(&examples::question(), &records);

        let Values::Text(arms) = column(&columns, "arm") else {
            panic!("texts")
        };
        assert_eq!(arms.len(), records.len());
        assert_eq!(arms[0].as_deref(), Some(records[0].arm.as_str()));
        let Values::Number(odd) = column(&columns, "odd_metric_x_per_s") else {
            panic!("numbers")
        };
        assert_eq!(odd[..2], [None, Some(2.5)]);
        let Values::Text(errors) = column(&columns, "error") else {
            panic!("texts")
        };
        assert_eq!(errors[2].as_deref(), Some("full"));
        let Values::Number(elapsed) = column(&columns, "elapsed_s") else {
            panic!("numbers")
        };
        assert_eq!(elapsed[0], records[0].metrics.get("elapsed_s").copied());
    }

    #[test]
    fn the_value_of_a_swept_key_is_a_column() {
        let records = examples::records();
        let mut question = examples::question();
        question.sweeps.push(Sweep {
            of: "x".to_owned(),
            key: "volume.d.iops".to_owned(),
            values: vec![SweepValue {
                value: "3000".to_owned(),
                arm: records[0].arm.clone(),
            }],
        });
        let columns = columns(&question, &records);
        let Values::Text(values) = column(&columns, "sweep_volume_d_iops") else {
            panic!("texts")
        };
        assert_eq!(values[0].as_deref(), Some("3000"));
    }

    #[test]
    fn names_that_become_one_stay_apart() {
        let one = |name: &str| Column {
            name: name.to_owned(),
            values: Values::Count(Vec::new()),
        };
        let names = distinct(vec![one("a.b"), one("a-b"), one("A b"), one("a_b_2")]);
        let names: Vec<&str> = names.iter().map(|column| column.name.as_str()).collect();
        assert_eq!(names[..3], ["a_b", "a_b_2", "a_b_3"]);
        assert_ne!(names[3], "a_b_2");
    }
}
