//! Runs a rehearsal: copies, then trials, then the document.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use analysis::report::rehearsal::document::Rehearsal;
use engine::hooks::HostHooks;
use engine::rehearsed::BackupFacts;
use experiment::plan::Trial;
use experiment::record::{Outcome as Ended, Record};
use experiment::results::Results;
use files::{Folder, Readers};
use host::orphans::Registration;
use lab::trial::real::{Event, Supply, run_trial};
use model::Bytes;

use super::error::RehearsalError;
use super::kept::Kept;
use super::outcome::Outcome;
use super::player::LogPlayer;
use super::recording::RecordedPlayer;
use super::request::{ResolvedRehearsal, Source};
use super::volumes::Copies;

/// The profile that was recorded, in the folder of a rehearsal.
pub const PROFILE: &str = "profile.toml";

/// Where the images of volumes are, in the folder of a rehearsal.
const IMAGES: &str = "volumes";

/// Progress of a rehearsal.
#[derive(Clone, Debug)]
pub enum Step<'a> {
    /// Some trials were finished by an earlier run, which leaves these outstanding.
    Resumed(usize),
    /// Dumps are being restored, or a backup is being unpacked; what is being done.
    Restoring(&'a str),
    /// The backup is being copied for a layout.
    Copying(&'a str),
    /// A trial begins: layout, its number from 1, and how many there are.
    Trial(&'a str, usize, usize),
    /// One more trial of the first layout begins, which is recorded.
    Recording,
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
    /// Runs the trials that have no record in `results` yet, and writes theirs. Returns the document of all.
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
        let kept = Kept::open(&own)?;
        let outstanding = self.outstanding(results, &kept);
        if outstanding.len() < self.prepared.plan().trials().len() {
            observe(Step::Resumed(outstanding.len()));
        }
        // One that is there before any trial is another rehearsal's.
        if outstanding.len() == self.prepared.plan().trials().len() && own.holds(PROFILE.as_ref()) {
            own.remove_file(PROFILE.as_ref())?;
        }
        let is_recorded = !self.request.record || own.holds(PROFILE.as_ref());
        if let Source::OnServer(options) = &self.request.source {
            if !outstanding.is_empty() {
                self.run_on_server(options, &outstanding, (results, &kept), hooks, observe)?;
            }
        } else if !outstanding.is_empty() || !is_recorded {
            // A rehearsal that was killed leaves them.
            remove_images(results).map_err(RehearsalError::Volumes)?;
            let images = own.new_folder(IMAGES.as_ref())?;
            let ended = self.run_in(
                &images,
                (results, &kept),
                (&outstanding, !is_recorded),
                registration,
                hooks,
                observe,
            );
            // They hold the user's data.
            if let Err(error) = remove_images(results) {
                observe(Step::Warning(&format!(
                    "{}: {error}; it holds copies of the database: remove it",
                    results.folder().join(IMAGES).display()
                )));
            }
            ended?;
        }
        let mut outcomes: BTreeMap<&str, Outcome<String>> = BTreeMap::new();
        let plan = self.prepared.plan();
        for trial in plan.trials() {
            let outcome = kept.outcome(plan, trial);
            let outcome = outcome.ok_or_else(|| kept.unreadable(plan, trial))?;
            outcomes.entry(&trial.arm).or_default().merge(outcome);
        }
        let facts = kept.backup();
        Ok(self.document(&outcomes, facts.as_ref().unwrap_or(&self.facts)))
    }

    /// Trials without a record, or without an outcome.
    fn outstanding(&self, results: &Results, kept: &Kept) -> Vec<Trial> {
        let plan = self.prepared.plan();
        let without_record = results.outstanding();
        let is_outstanding =
            |trial: &&Trial| without_record.contains(trial) || kept.outcome(plan, trial).is_none();
        plan.trials()
            .iter()
            .filter(is_outstanding)
            .cloned()
            .collect()
    }

    fn run_in(
        &self,
        images: &Folder,
        (results, kept): (&Results, &Kept),
        (trials, is_to_record): (&[Trial], bool),
        registration: &Arc<Registration>,
        hooks: &HostHooks,
        observe: &(dyn Fn(Step<'_>) + Sync),
    ) -> Result<(), RehearsalError> {
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
        let recorded = RecordedPlayer::new(&player);
        let mut copies = Copies {
            product: Arc::clone(&self.product),
            registration: Arc::clone(registration),
            hooks,
            facts: self.facts.clone(),
            folder: folder.clone(),
            logins: self.schedule.logins(),
            schedule: &self.schedule,
            reads_only: self.request.log.reads_only,
            logging: &self.log.logging,
            player: &player,
            staged: Vec::new(),
        };
        let arms: BTreeSet<&str> = trials
            .iter()
            .map(|trial| &*trial.arm)
            .chain(is_to_record.then(|| &*plan.arms[0].name))
            .collect();
        match &self.request.source {
            Source::Backup(backup) if !self.facts.is_packed => {
                self.stage_all(&mut copies, backup, &arms, observe)?;
            }
            source => {
                let restored = copies.restore(source, &plan.arms[0].settings, &|what| {
                    observe(Step::Restoring(what));
                })?;
                let staged = self
                    .check_space(&folder, &copies.facts, Stored::Restored)
                    .and_then(|()| {
                        self.stage_all(&mut copies, restored.directory(), &arms, observe)
                    });
                let ended = restored.end();
                staged?;
                ended?;
            }
        }
        kept.keep_backup(&copies.facts)?;
        self.trials(trials, (&copies, &player), (results, kept), hooks, observe)?;
        if is_to_record {
            observe(Step::Recording);
            copies.player = &recorded;
            let mut trials = plan.trials().iter();
            let first = trials.find(|trial| trial.arm == plan.arms[0].name);
            let record = self.trial(first.expect("each arm has one"), &copies, hooks, observe)?;
            check_finished(&record)?;
            let own = Folder::open(results.folder())?;
            match recorded.take().and_then(|profile| {
                profile::write(PROFILE, &profile).map_err(|error| error.to_string())
            }) {
                Ok(text) => own.write(PROFILE.as_ref(), text.as_bytes(), Readers::OwnerOnly)?,
                Err(why) => observe(Step::Warning(&format!("no profile was recorded: {why}"))),
            }
        }
        Ok(())
    }

    /// Runs these trials on files and servers of `supply`, on which `player` plays.
    pub(crate) fn trials(
        &self,
        trials: &[Trial],
        (supply, player): (&dyn Supply, &LogPlayer),
        (results, kept): (&Results, &Kept),
        hooks: &HostHooks,
        observe: &(dyn Fn(Step<'_>) + Sync),
    ) -> Result<(), RehearsalError> {
        for (number, trial) in trials.iter().enumerate() {
            observe(Step::Trial(&trial.arm, number + 1, trials.len()));
            let record = self.trial(trial, supply, hooks, observe)?;
            // A record says that there is this, too.
            kept.keep(
                self.prepared.plan(),
                trial,
                &player.take_outcome().by_hash(),
            )?;
            results.write(&record)?;
            check_finished(&record)?;
        }
        Ok(())
    }

    /// Runs a trial, which may have failed.
    fn trial(
        &self,
        trial: &Trial,
        supply: &dyn Supply,
        hooks: &HostHooks,
        observe: &(dyn Fn(Step<'_>) + Sync),
    ) -> Result<Record, RehearsalError> {
        let id = self.prepared.id(trial);
        let report = |event: Event| match event {
            Event::Phase(phase) => observe(Step::Phase(phase)),
            Event::Second(_) => {}
            Event::Left(what) => observe(Step::Warning(&what)),
        };
        let stop = || hooks.interrupted.load(Ordering::Relaxed);
        let record = run_trial(&self.prepared.subject(&id), supply, &report, &stop);
        let record = record.map_err(|_| RehearsalError::Interrupted)?;
        Ok(self.prepared.noted(&id, record))
    }

    /// Copies a backup to the volumes of these layouts.
    fn stage_all(
        &self,
        copies: &mut Copies<'_>,
        backup: &Path,
        layouts: &BTreeSet<&str>,
        observe: &(dyn Fn(Step<'_>) + Sync),
    ) -> Result<(), RehearsalError> {
        let arms = self.prepared.plan().arms.iter();
        for arm in arms.filter(|arm| layouts.contains(&*arm.name)) {
            observe(Step::Copying(&arm.name));
            let stage = &self.prepared.ready(&arm.name).1.stage;
            copies.stage(backup, &arm.settings, stage)?;
            if copies.hooks.interrupted.load(Ordering::Relaxed) {
                return Err(RehearsalError::Interrupted);
            }
        }
        Ok(())
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
            Source::Dumps(_) | Source::OnServer(_) => "the restored database",
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

/// Checks that a trial completed.
fn check_finished(record: &Record) -> Result<(), RehearsalError> {
    match &record.outcome {
        Ended::Finished => Ok(()),
        Ended::Failed { error } => Err(RehearsalError::Trial {
            layout: record.arm.clone(),
            why: error.clone(),
        }),
    }
}

fn remove_images(results: &Results) -> io::Result<()> {
    match std::fs::remove_dir_all(results.folder().join(IMAGES)) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}
