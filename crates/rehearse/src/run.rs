//! Runs a rehearsal: copies, then trials, then the document.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use analysis::report::rehearsal::document::Rehearsal;
use engine::hooks::HostHooks;
use engine::rehearsed::BackupFacts;
use experiment::record::Outcome as Ended;
use experiment::results::Results;
use files::Folder;
use host::orphans::Registration;
use lab::trial::real::{Event, run_trial};
use model::Bytes;

use super::error::RehearsalError;
use super::outcome::Outcome;
use super::player::LogPlayer;
use super::request::{ResolvedRehearsal, Source};
use super::volumes::Copies;

/// Where the images of volumes are, in the folder of a rehearsal.
const IMAGES: &str = "volumes";

/// Progress of a rehearsal.
#[derive(Clone, Debug)]
pub enum Step<'a> {
    /// Dumps are being restored, or a backup is being unpacked; what is being done.
    Restoring(&'a str),
    /// The backup is being copied for a layout.
    Copying(&'a str),
    /// A trial begins: layout, its number from 1, and how many there are.
    Trial(&'a str, usize, usize),
    /// A phase of it.
    Phase(&'a str),
    /// Something could not be cleaned up.
    Warning(&'a str),
}

/// What is in the folder of a rehearsal already.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stored {
    Nothing,
    /// The database that dumps were restored to.
    Restored,
}

impl ResolvedRehearsal {
    /// Runs all trials, and writes their records to `results`.
    ///
    /// # Errors
    /// When one fails, or the user pressed Ctrl-C.
    pub fn run(
        &self,
        results: &Results,
        registration: &Arc<Registration>,
        hooks: &HostHooks,
        observe: &(dyn Fn(Step<'_>) + Sync),
    ) -> Result<Rehearsal, RehearsalError> {
        let own = Folder::open(results.folder())?;
        let images = own.new_folder(IMAGES.as_ref())?;
        let ended = self.run_in(&images, results, registration, hooks, observe);
        // They hold the user's data.
        if let Err(error) = std::fs::remove_dir_all(results.folder().join(IMAGES)) {
            observe(Step::Warning(&format!(
                "{}: {error}; it holds copies of the database: remove it",
                results.folder().join(IMAGES).display()
            )));
        }
        ended
    }

    fn run_in(
        &self,
        images: &Folder,
        results: &Results,
        registration: &Arc<Registration>,
        hooks: &HostHooks,
        observe: &(dyn Fn(Step<'_>) + Sync),
    ) -> Result<Rehearsal, RehearsalError> {
        // The emulator works in its own directory.
        let folder = images
            .path()
            .canonicalize()
            .map_err(RehearsalError::Volumes)?;
        let plan = self.prepared.plan();
        self.check_space(&folder, &self.facts, Stored::Nothing)?;
        let player = LogPlayer::new(
            Arc::clone(&self.schedule),
            self.request.pace,
            self.request.with_text,
        );
        let mut copies = Copies {
            product: Arc::clone(&self.product),
            registration: Arc::clone(registration),
            hooks,
            facts: self.facts.clone(),
            folder: folder.clone(),
            logins: self.schedule.logins(),
            schedule: &self.schedule,
            reads_only: self.request.log.reads_only,
            player: &player,
            staged: Vec::new(),
        };
        match &self.request.source {
            Source::Backup(backup) if !self.facts.is_packed => {
                self.stage_all(&mut copies, backup, hooks, observe)?;
            }
            source => {
                let restored = copies.restore(source, &plan.arms[0].settings, &|what| {
                    observe(Step::Restoring(what));
                })?;
                let staged = self
                    .check_space(&folder, &copies.facts, Stored::Restored)
                    .and_then(|()| {
                        self.stage_all(&mut copies, restored.directory(), hooks, observe)
                    });
                let ended = restored.end();
                staged?;
                ended?;
            }
        }
        let mut outcomes: BTreeMap<&str, Outcome> = BTreeMap::new();
        let trials = plan.trials();
        for (number, trial) in trials.iter().enumerate() {
            observe(Step::Trial(&trial.arm, number + 1, trials.len()));
            let id = self.prepared.id(trial);
            let report = |event: Event| match event {
                Event::Phase(phase) => observe(Step::Phase(phase)),
                Event::Second(_) => {}
                Event::Left(what) => observe(Step::Warning(&what)),
            };
            let stop = || hooks.interrupted.load(Ordering::Relaxed);
            let subject = self.prepared.subject(&id);
            let record = run_trial(&subject, &copies, &report, &stop);
            let record = record.map_err(|_| RehearsalError::Interrupted)?;
            let record = self.prepared.noted(&id, record);
            results.write(&record)?;
            if let Ended::Failed { error } = record.outcome {
                return Err(RehearsalError::Trial {
                    layout: trial.arm.clone(),
                    why: error,
                });
            }
            let outcome = outcomes.entry(&trial.arm).or_default();
            outcome.merge(player.take_outcome());
        }
        Ok(self.document(&outcomes, &copies.facts))
    }

    /// Copies a backup to the volumes of each layout.
    fn stage_all(
        &self,
        copies: &mut Copies<'_>,
        backup: &Path,
        hooks: &HostHooks,
        observe: &(dyn Fn(Step<'_>) + Sync),
    ) -> Result<(), RehearsalError> {
        for arm in &self.prepared.plan().arms {
            observe(Step::Copying(&arm.name));
            let stage = &self.prepared.ready(&arm.name).1.stage;
            copies.stage(backup, &arm.settings, stage)?;
            self.check_interrupted(hooks)?;
        }
        Ok(())
    }

    fn check_interrupted(&self, hooks: &HostHooks) -> Result<(), RehearsalError> {
        match hooks.interrupted.load(Ordering::Relaxed) {
            true => Err(RehearsalError::Interrupted),
            false => Ok(()),
        }
    }

    /// Checks that there is room for a copy for each layout, for what a trial writes, and for a database that is still to be restored.
    fn check_space(
        &self,
        folder: &Path,
        facts: &BackupFacts,
        stored: Stored,
    ) -> Result<(), RehearsalError> {
        let layouts = self.prepared.plan().arms.len();
        let copies = experiment::plan::counted(layouts, "copy");
        let what = match &self.request.source {
            Source::Backup(_) if !self.facts.is_packed => "the backup",
            Source::Backup(_) => "the unpacked backup",
            Source::Dumps(_) => "the restored database",
        };
        let (times, copies) = match what {
            what if stored == Stored::Nothing && what != "the backup" => (
                layouts + 2,
                format!("{what} and {copies} of it, by an estimate,"),
            ),
            what => (layouts + 1, format!("{copies} of {what}")),
        };
        let needed = Bytes(facts.size.0.saturating_mul(times as u64));
        let there = nix::sys::statvfs::statvfs(folder);
        let there = there.map_err(|error| RehearsalError::Volumes(error.into()))?;
        let free = Bytes(there.blocks_available() as u64 * there.fragment_size() as u64);
        match needed <= free {
            true => Ok(()),
            false => Err(RehearsalError::Space {
                folder: folder.to_owned(),
                copies,
                needed,
                free,
            }),
        }
    }
}
