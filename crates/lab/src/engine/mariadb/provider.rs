//! MariaDB, as a run knows it.

use std::sync::Arc;

use volume::leftovers::Registration;

use super::find::Programs;
use super::product::owner;
use super::server::MariaDb;
use crate::engine::options::{FrontKind, Options};
use crate::engine::provider::{
    EngineProvider, EngineRun, Measured, Modelled, Opening, Simulated, Started, TrialVolumes,
};
use crate::engine::real::EngineError;
use experiment::spec::{Arm, Mode, Role};
use workload::Dialect;

/// MariaDB: a private server for each trial.
pub(in crate::engine) struct Provider;

impl EngineProvider for Provider {
    fn name(&self) -> &'static str {
        "mariadb"
    }

    fn about(&self) -> &'static str {
        "MariaDB 10.6 to 11.8"
    }

    fn dialect(&self) -> Dialect {
        Dialect::Mariadb
    }

    fn simulated(&self) -> Option<Simulated> {
        None
    }

    fn modelled(&self) -> Modelled {
        Modelled::Mounted {
            front: FrontKind::Block,
            owner: None,
        }
    }

    fn measured(&self, _arms: &[Arm]) -> Measured {
        Measured::Directories
    }

    fn roles(&self, _mode: Mode) -> &'static [Role] {
        &Role::ALL
    }

    fn look(&self, options: &Options, _mode: Mode) -> Result<(), EngineError> {
        Programs::find(options.mariadb.bin.as_deref())?;
        owner().map(|_| ())
    }

    fn open(&self, opening: &Opening<'_>) -> Result<Box<dyn EngineRun>, EngineError> {
        Ok(Box::new(Run {
            options: opening.options.clone(),
            registration: Arc::clone(opening.registration),
        }))
    }
}

struct Run {
    options: Options,
    registration: Arc<Registration>,
}

impl EngineRun for Run {
    fn start(&self, trial: TrialVolumes<'_>) -> Result<Started, EngineError> {
        let workload = trial.workload();
        let TrialVolumes {
            settings,
            statements: _,
            site,
            pacer: _,
        } = trial;
        let programs = Programs::find(self.options.mariadb.bin.as_deref())?;
        let asked = (site, settings, workload);
        let owner = owner()?;
        let engine = MariaDb::private(&programs, owner, &self.registration, asked)?;
        Ok(Started::Engine(Box::new(engine)))
    }
}
