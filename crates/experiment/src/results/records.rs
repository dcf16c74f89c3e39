//! The records of a results folder: one file for each trial.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use files::{Folder, Readers, input};
use model::Duration;

use super::records_folder::{RECORDS, own_records};
use super::{Results, ResultsError};
use crate::plan::{Plan, Trial};
use crate::question::Warning;
use crate::record::check::check;
use crate::record::{self, Outcome, Record, strict};
use crate::spec::Mode;
use crate::spec::bounds::in_file_name;

impl Results {
    /// The record of `trial` in `folder`, if it exists and belongs to `plan`: no other record is read.
    pub fn record_of(folder: &Path, plan: &Plan, trial: &Trial) -> Option<Record> {
        let name = file_name(trial.block, &trial.arm);
        let record = read_record(&folder.join(RECORDS).join(name), plan).ok()?;
        (record.arm == trial.arm && record.block == trial.block).then_some(record)
    }

    /// When the newest record was written, as `2026-11-21 08:40:12 UTC`; `None` without any.
    pub fn finished(&self) -> Option<String> {
        let entries = self.folder.join(RECORDS).read_dir().ok()?.flatten();
        let written = entries.filter_map(|entry| entry.metadata().ok()?.modified().ok());
        let finished = jiff::Timestamp::try_from(written.max()?).ok()?;
        Some(finished.strftime("%F %T UTC").to_string())
    }

    /// Trials without a record. In real time, failed trials are retried: what was missing may be available now. In virtual time
    /// they would fail again.
    pub fn outstanding(&self) -> Vec<Trial> {
        self.outstanding_of(&self.plan)
    }

    /// Outstanding trials of `plan`, which may have more blocks than the results' own plan; all trials if it is a different plan.
    pub fn outstanding_of(&self, plan: &Plan) -> Vec<Trial> {
        if plan.digest() != self.plan.digest() {
            return plan.trials().to_vec();
        }
        let (records, _) = self.records();
        let again = self.plan.variant.mode != Mode::Simulate;
        let counts = |record: &&Record| !again || record.outcome == Outcome::Finished;
        let done = records.iter().filter(counts);
        let done: BTreeSet<(u32, &str)> = done
            .map(|record| (record.block, record.arm.as_str()))
            .collect();
        plan.trials()
            .iter()
            .filter(|trial| !done.contains(&(trial.block, trial.arm.as_str())))
            .cloned()
            .collect()
    }

    /// Mean duration of a whole trial by arm, over those that finished.
    pub fn durations(&self) -> BTreeMap<String, Duration> {
        let mut sums: BTreeMap<String, (u64, u64)> = BTreeMap::new();
        for record in self.records().0 {
            let end = record.phases.iter().map(|phase| phase.end_ns).max();
            if let (Outcome::Finished, Some(end)) = (&record.outcome, end) {
                let (sum, count) = sums.entry(record.arm).or_default();
                (*sum, *count) = (sum.saturating_add(end), *count + 1);
            }
        }
        let mean = |(arm, (sum, count))| (arm, Duration::from_nanos(sum / count));
        sums.into_iter().map(mean).collect()
    }

    /// Writes a record atomically.
    ///
    /// # Errors
    /// When the disk is full, or the folder cannot be written.
    pub fn write(&self, record: &Record) -> Result<(), ResultsError> {
        let name = file_name(record.block, &record.arm);
        let text = serde_json::to_string(record).expect("a record's keys are texts");
        let opened;
        let records = match &self.writing {
            Some(writing) => &writing.records,
            None => {
                opened = own_records(&Folder::open(&self.folder)?)?;
                &opened
            }
        };
        Ok(records.write(name.as_ref(), text.as_bytes(), Readers::Umask)?)
    }

    /// All readable and plausible records of this plan, by name, and a warning for each file that is skipped.
    pub fn records(&self) -> (Vec<Record>, Vec<Warning>) {
        let folder = self.folder.join(RECORDS);
        let entries = folder
            .read_dir()
            .into_iter()
            .flatten()
            .flatten()
            .map(|entry| entry.path());
        let mut files: Vec<PathBuf> = entries
            .filter(|path| path.extension().is_some_and(|end| end == "json"))
            .collect();
        files.sort();
        let (mut records, mut warnings) = (Vec::new(), Vec::new());
        for file in files {
            match read_record(&file, &self.plan) {
                Ok(record) => records.push((file, record)),
                Err(why) => warnings.push(unreadable(&file, &why)),
            }
        }
        (one_each(records, &mut warnings), warnings)
    }
}

/// File name of a record.
fn file_name(block: u32, arm: &str) -> String {
    format!("{block:03}-{}.json", in_file_name(arm))
}

/// Keeps one record per trial: the one in the file with the trial's name, else the first; adds a warning for each other one.
fn one_each(records: Vec<(PathBuf, Record)>, warnings: &mut Vec<Warning>) -> Vec<Record> {
    let trial = |record: &Record| (record.block, record.arm.clone());
    let mut kept: BTreeMap<(u32, String), PathBuf> = BTreeMap::new();
    for (file, record) in &records {
        let named = file
            .file_name()
            .is_some_and(|name| *name == *file_name(record.block, &record.arm));
        if named || !kept.contains_key(&trial(record)) {
            kept.insert(trial(record), file.clone());
        }
    }
    let mut one_each = Vec::new();
    for (file, record) in records {
        let other = &kept[&trial(&record)];
        if *other == file {
            one_each.push(record);
        } else {
            let why = format!("{} is a record of the same trial", other.display());
            warnings.push(unreadable(&file, &why));
        }
    }
    one_each
}

fn unreadable(file: &Path, why: &str) -> Warning {
    Warning {
        id: "unreadable-record".to_owned(),
        text: format!(
            "{} was left out: {why}; run the experiment again into the same folder to replace it",
            file.display()
        ),
    }
}

fn read_record(file: &Path, plan: &Plan) -> Result<Record, String> {
    let text = input::regular(file, input::RECORD_BYTES_MAX).map_err(|error| error.to_string())?;
    let value = strict::parse(&text).map_err(|error| format!("it is damaged ({error})"))?;
    let schema = value["schema"].as_str().unwrap_or("none");
    if schema != record::SCHEMA {
        return Err(format!(
            "its format is \"{schema}\", and this program reads \"{}\"",
            record::SCHEMA
        ));
    }
    let record: Record =
        serde_json::from_value(value).map_err(|error| format!("it is damaged ({error})"))?;
    check(&record, plan)?;
    Ok(record)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use proptest::prelude::*;

    use super::*;
    use crate::spec::{Spec, Variant};

    fn read(text: &str) -> Result<Record, String> {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let file = folder.path().join("000-arm.json");
        fs::write(&file, text).expect("the folder can be written");
        let spec = Spec::builtin("tempdb-ssd-vs-premium", &[], Variant::default());
        let plan = Plan::new(&spec.expect("it is built in"), false);
        read_record(&file, &plan)
    }

    proptest! {
        #[test]
        fn any_text_is_a_record_or_is_refused(text in ".{0,200}") {
            prop_assert!(read(&text).is_err());
        }

        #[test]
        fn any_json_is_a_record_or_is_refused(
            key in "[a-z_]{1,12}",
            value in prop_oneof!["[0-9]{1,25}", "\"[a-z/0-9.]{0,20}\"", Just("[]".to_owned()), Just("null".to_owned())],
        ) {
            let text = format!("{{\"schema\": \"{}\", \"{key}\": {value}}}", record::SCHEMA);
            prop_assert!(read(&text).is_err());
        }
    }

    #[test]
    fn a_record_of_a_newer_format_is_refused_by_its_name() {
        let error = read("{\"schema\": \"dbstow.record/2\"}").expect_err("newer");
        assert!(error.contains("dbstow.record/2"), "{error}");
    }

    #[test]
    fn a_record_whose_time_went_to_something_unknown_is_refused_by_its_name() {
        let record = crate::examples::trial("p30", 0, 1.0);
        let text = serde_json::to_string(&record).expect("a record is JSON");
        let error = read(&text.replacen("read.service", "reed.service", 1)).expect_err("no cause");
        assert!(error.contains("\"reed.service\" is not a cause"), "{error}");
    }
}
