//! Outcomes of finished trials, beside their records, so that an interrupted rehearsal can be resumed.
//!
//! ```text
//! outcomes/000-1.json     block, and place of the arm from 1
//! outcomes/backup.json    what is known of the backup once it is unpacked or restored
//! ```

use engine::rehearsed::BackupFacts;
use experiment::plan::{Plan, Trial};
use files::{FileError, Folder, Readers, input};
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::error::RehearsalError;
use super::outcome::Outcome;

/// The folder, in that of a rehearsal. Only this user can read it.
const FOLDER: &str = "outcomes";

const BACKUP: &str = "backup.json";

/// Outcomes of finished trials.
pub(crate) struct Kept(Folder);

impl Kept {
    /// Those in the folder of a rehearsal.
    ///
    /// # Errors
    /// When they are not this user's.
    pub(crate) fn open(own: &Folder) -> Result<Kept, FileError> {
        Ok(Kept(own.own_folder(FOLDER.as_ref(), 0o700)?))
    }

    /// The outcome of a trial; `None`: there is none, or it cannot be read.
    pub(crate) fn outcome(&self, plan: &Plan, trial: &Trial) -> Option<Outcome<String>> {
        self.read(&name(plan, trial))
    }

    /// Keeps the outcome of a trial.
    ///
    /// # Errors
    /// When it cannot be written.
    pub(crate) fn keep(
        &self,
        plan: &Plan,
        trial: &Trial,
        outcome: &Outcome<String>,
    ) -> Result<(), FileError> {
        self.write(&name(plan, trial), outcome)
    }

    /// The error that the outcome of a finished trial cannot be read.
    pub(crate) fn unreadable(&self, plan: &Plan, trial: &Trial) -> RehearsalError {
        RehearsalError::Kept(self.0.path().join(name(plan, trial)))
    }

    /// What a backup was once it was unpacked or restored.
    pub(crate) fn backup(&self) -> Option<BackupFacts> {
        self.read(BACKUP)
    }

    /// Keeps it.
    ///
    /// # Errors
    /// When it cannot be written.
    pub(crate) fn keep_backup(&self, facts: &BackupFacts) -> Result<(), FileError> {
        self.write(BACKUP, facts)
    }

    fn read<T: DeserializeOwned>(&self, name: &str) -> Option<T> {
        let text = input::inside(&self.0, name, input::RECORD_BYTES_MAX).ok()?;
        serde_json::from_str(&text).ok()
    }

    fn write(&self, name: &str, value: &impl Serialize) -> Result<(), FileError> {
        let text = serde_json::to_string(value).expect("its keys are texts");
        self.0
            .write(name.as_ref(), text.as_bytes(), Readers::OwnerOnly)
    }
}

fn name(plan: &Plan, trial: &Trial) -> String {
    let place = plan.arms.iter().position(|arm| arm.name == trial.arm);
    format!(
        "{:03}-{}.json",
        trial.block,
        place.map_or(0, |place| place + 1)
    )
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::sync::Arc;

    use experiment::spec::{Spec, Variant};
    use reading::object::{ObjectKind, Used};

    use super::*;

    #[test]
    fn the_outcome_of_a_trial_is_kept_without_texts_and_read_again() {
        let place = tempfile::tempdir().expect("there is room");
        let kept = Kept::open(&Folder::open(place.path()).expect("it is there"));
        let kept = kept.expect("it is new");
        let spec = Spec::builtin("tempdb-spill", &[], Variant::default()).expect("it is built in");
        let plan = Plan::new(&spec, false);
        let [first, second, ..] = plan.trials() else {
            panic!("it has arms");
        };
        let outcome = Outcome {
            played: 2,
            took_us: BTreeMap::from([(Arc::from("SELECT secret"), vec![7, 3])]),
            objects: BTreeMap::from([(
                "shop.orders".to_owned(),
                (
                    ObjectKind::Table,
                    Used {
                        read_bytes: 8192,
                        ..Used::default()
                    },
                ),
            )]),
            ..Outcome::default()
        };
        let outcome = outcome.by_hash();
        kept.keep(&plan, first, &outcome).expect("there is room");
        assert_eq!(kept.outcome(&plan, first), Some(outcome));
        assert_eq!(kept.outcome(&plan, second), None);
        let unreadable = kept.unreadable(&plan, second).to_string();
        assert!(unreadable.contains("--fresh"), "{unreadable}");
        let file = std::fs::read_to_string(place.path().join(FOLDER).join(name(&plan, first)));
        let file = file.expect("it is written");
        assert!(file.contains("[3,7]") && !file.contains("secret"), "{file}");
    }
}
