//! Embedded SQLite as an engine provider.

use super::SqliteEngine;
use engine::EngineError;
#[cfg(target_os = "linux")]
use engine::drilled::DrillProvider;
use engine::{EngineProvider, EngineRun, Modelled, Opening, Simulated, Started, TrialVolumes};
use experiment::spec::{Mode, Role};

/// Embedded SQLite.
pub struct Provider;

impl EngineProvider for Provider {
    fn name(&self) -> &'static str {
        "sqlite"
    }

    fn about(&self) -> &'static str {
        "Embedded SQLite"
    }

    fn simulated(&self) -> Option<Simulated> {
        Some(Simulated::Statements)
    }

    fn keys(&self, mode: Mode) -> Option<&'static [&'static str]> {
        match mode {
            Mode::Simulate => None,
            Mode::Emulate | Mode::Measure => Some(&[
                "like",
                "memory",
                "sort_memory",
                "read_unit",
                "write_gather",
                "log_gather",
                "writes_in_flight",
                "commit",
                "start",
                "host_cache_start",
            ]),
        }
    }

    fn modelled(&self) -> Modelled {
        Modelled::Paced
    }

    /// The real engine has the three common roles. The simulated one may be like InnoDB, which has all.
    fn roles(&self, mode: Mode) -> &'static [Role] {
        match mode {
            Mode::Simulate => &Role::ALL,
            Mode::Emulate | Mode::Measure => &Role::COMMON,
        }
    }

    #[cfg(target_os = "linux")]
    fn drilled(&self) -> Option<&'static dyn DrillProvider> {
        Some(&super::drilled::Drill)
    }

    fn has_one_writer(&self) -> bool {
        true
    }

    fn open(&self, _opening: &Opening<'_>) -> Result<Box<dyn EngineRun>, EngineError> {
        Ok(Box::new(Run))
    }
}

/// Every trial has its own database; they share nothing.
struct Run;

impl EngineRun for Run {
    fn start(&self, trial: TrialVolumes<'_>) -> Result<Started, EngineError> {
        let workload = trial.workload();
        let TrialVolumes {
            settings,
            statements: _,
            site,
            pacer,
        } = trial;
        let engine = SqliteEngine::start(settings, workload, site, pacer)?;
        Ok(Started::Engine(Box::new(engine)))
    }
}
