//! Runs a rehearsal: copies, then trials, then the document.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use analysis::report::rehearsal::document::{
    Backup, Differing, Durations, Layout, Log, Rehearsal, SCHEMA, Statement,
};
use engine::hooks::HostHooks;
use engine::rehearsed::BackupFacts;
use experiment::plan::digest_of;
use experiment::record::Outcome as Ended;
use experiment::results::Results;
use files::Folder;
use host::orphans::Registration;
use lab::trial::real::{Event, Supply, run_trial};
use model::Bytes;

use super::error::RehearsalError;
use super::outcome::Outcome;
use super::player::LogPlayer;
use super::request::{ResolvedRehearsal, Source};
use super::volumes::Copies;

/// Kinds of statements in the document, apart from those that became slower.
const STATEMENTS_MAX: usize = 20;

/// Kinds of statements that ended otherwise, in the document.
const DIFFERING_MAX: usize = 10;

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
        if let Source::OnServer(options) = &self.request.source {
            return self.run_on_server(options, results, hooks, observe);
        }
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
        let outcomes = self.trials(&copies, &player, results, hooks, observe)?;
        Ok(self.document(&outcomes, &copies.facts))
    }

    /// Runs all trials on files and servers of `supply`, on which `player` plays.
    pub(crate) fn trials(
        &self,
        supply: &dyn Supply,
        player: &LogPlayer,
        results: &Results,
        hooks: &HostHooks,
        observe: &(dyn Fn(Step<'_>) + Sync),
    ) -> Result<BTreeMap<&str, Outcome>, RehearsalError> {
        let mut outcomes: BTreeMap<&str, Outcome> = BTreeMap::new();
        let trials = self.prepared.plan().trials();
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
            let record = run_trial(&subject, supply, &report, &stop);
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
        Ok(outcomes)
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

    pub(crate) fn document(
        &self,
        outcomes: &BTreeMap<&str, Outcome>,
        facts: &BackupFacts,
    ) -> Rehearsal {
        let request = &self.request;
        let schedule = &self.schedule;
        let arms = || self.prepared.plan().arms.iter();
        let none = Outcome::default();
        let of = |name: &str| outcomes.get(name).unwrap_or(&none);
        let shown = |form: &str| request.with_text.then(|| form.to_owned());
        let layouts: Vec<Layout> = arms()
            .map(|arm| layout(&arm.name, of(&arm.name), self))
            .collect();
        let mut forms: BTreeMap<&str, Vec<Durations>> = BTreeMap::new();
        for (place, arm) in arms().enumerate() {
            for (form, took_us) in &of(&arm.name).took_us {
                let all = forms
                    .entry(form)
                    .or_insert_with(|| vec![Durations::default(); layouts.len()]);
                all[place] = Durations::of(took_us.clone());
            }
        }
        let mut statements: Vec<(f64, Statement)> = forms
            .into_iter()
            .map(|(form, layouts)| {
                let totals = || layouts.iter().map(|durations| durations.total_ms);
                let spread = totals().fold(0.0, f64::max) - totals().fold(f64::MAX, f64::min);
                // Of one layout, those that take most.
                let weight = match layouts.len() {
                    1 => layouts[0].total_ms,
                    _ => spread,
                };
                let id = digest_of(form.as_bytes());
                let form = shown(form);
                (weight, Statement { id, form, layouts })
            })
            .collect();
        statements.sort_by(|a, b| b.0.total_cmp(&a.0));
        let total_ms = layouts.first().map_or(0.0, |first| first.total_ms);
        let mut place = 0;
        statements.retain(|(_, statement)| {
            place += 1;
            let mut others = 1..layouts.len();
            place <= STATEMENTS_MAX || others.any(|other| statement.is_slower(other, total_ms))
        });
        let mut differing: BTreeMap<&str, (u64, &str)> = BTreeMap::new();
        for arm in arms() {
            for (form, found) in &of(&arm.name).differing {
                let entry = differing.entry(form).or_insert((0, &found.first));
                entry.0 += found.count;
            }
        }
        let mut differing: Vec<Differing> = differing
            .into_iter()
            .map(|(form, (count, first))| Differing {
                id: digest_of(form.as_bytes()),
                form: shown(form),
                count,
                first: first.to_owned(),
            })
            .collect();
        differing.sort_by(|a, b| b.count.cmp(&a.count).then_with(|| a.id.cmp(&b.id)));
        differing.truncate(DIFFERING_MAX);
        let left_out = self.log.left_out.iter();
        Rehearsal {
            schema: SCHEMA.to_owned(),
            backup: Backup {
                server: format!("{} {}", self.product.name(), facts.version),
                kind: facts.kind.clone(),
                bytes: facts.size.0,
                settings: facts.settings.clone(),
                changed: facts.changed.clone(),
            },
            log: Log {
                form: self.log.form.clone(),
                statements: schedule.statements,
                transactions: u64::from(schedule.transactions),
                sessions: self.sessions,
                sessions_at_a_time: schedule.sessions(),
                lasted_s: (schedule.until_us - schedule.from_us) as f64 / 1e6,
                pace: request.pace.to_string(),
                left_out: left_out
                    .map(|(why, count)| (why.reason().to_owned(), *count))
                    .collect(),
                began_before: self.log.began_before,
                half_line: self.log.half_line,
                has_durations: self.log.has_durations,
                has_errors: self.log.has_errors,
            },
            fidelity_min: request.fidelity,
            assumed: facts.assumed.iter().chain(&self.assumed).cloned().collect(),
            layouts,
            statements: statements
                .into_iter()
                .map(|(_, statement)| statement)
                .collect(),
            differing,
        }
    }
}

fn layout(name: &str, outcome: &Outcome, of: &ResolvedRehearsal) -> Layout {
    let mean = |us: u64| us as f64 / 1e3 / (outcome.played as f64).max(1.0);
    let server = match of.request.pace {
        super::Pace::Closed => None,
        super::Pace::Original(_) => Some(outcome.server_late_us),
    };
    Layout {
        name: name.to_owned(),
        played: outcome.played,
        not_played: outcome.not_played,
        fidelity: outcome.fidelity(),
        total_ms: outcome.total_us() as f64 / 1e3,
        order_ms: outcome.order_us as f64 / 1e3,
        pauses_ms: outcome.pauses_us as f64 / 1e3,
        player_late_ms: mean(outcome.player_late_us.sum),
        player_late_max_ms: outcome.player_late_us.max as f64 / 1e3,
        server_late_ms: server.map(|late| mean(late.sum)),
        server_late_max_ms: server.map(|late| late.max as f64 / 1e3),
    }
}
