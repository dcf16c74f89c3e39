//! A rehearsal on a server of the user's, which restores the backup for each trial.

use std::sync::Arc;

use engine::Options;
use engine::hooks::HostHooks;
use experiment::plan::Trial;
use experiment::results::Results;
use lab::trial::Subject;
use lab::trial::real::{Placed, RunVolumes, Supply};

use super::error::RehearsalError;
use super::kept::Kept;
use super::player::LogPlayer;
use super::request::ResolvedRehearsal;
use super::run::Step;

/// Directories on the server for each trial, and what plays there.
struct Served<'a> {
    volumes: &'a RunVolumes,
    player: &'a LogPlayer,
}

impl Supply for Served<'_> {
    fn place<'a>(&'a self, subject: &'a Subject<'a>) -> Result<Placed<'a>, String> {
        let placed = self.volumes.place(subject)?;
        Ok(Placed {
            player: Some(self.player),
            ..placed
        })
    }
}

impl ResolvedRehearsal {
    /// Runs these trials on the user's server, and puts back what was changed there.
    ///
    /// # Errors
    /// When one fails, the server is not as it was, or the user pressed Ctrl-C.
    pub(crate) fn run_on_server(
        &self,
        options: &Options,
        trials: &[Trial],
        (results, kept): (&Results, &Kept),
        hooks: &HostHooks,
        observe: &(dyn Fn(Step<'_>) + Sync),
    ) -> Result<(), RehearsalError> {
        let (plan, engine) = (self.prepared.plan(), self.prepared.engine());
        let volumes = RunVolumes::claim(plan, engine, options, false, hooks)?;
        let schedule = Arc::clone(&self.schedule);
        let player = LogPlayer::new(schedule, self.request.pace, self.request.with_text);
        let served = Served {
            volumes: &volumes,
            player: &player,
        };
        kept.keep_backup(&self.facts)?;
        let ended = self.trials(trials, (&served, &player), (results, kept), hooks, observe);
        let left = volumes.close();
        for what in left.others.iter().chain(&left.not_put_back) {
            observe(Step::Warning(what));
        }
        ended?;
        match left.not_put_back.is_empty() {
            true => Ok(()),
            false => Err(RehearsalError::NotPutBack),
        }
    }
}
