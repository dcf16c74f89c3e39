//! PostgreSQL, as a run knows it.

use std::sync::Arc;

use volume::leftovers::Registration;

use super::{Binaries, Postgres, ServerUrl, owner};
use crate::engine::options::{FrontKind, Options};
use crate::engine::provider::{
    EngineProvider, EngineRun, Measured, Modelled, Opening, Simulated, Started, TrialVolumes,
};
use crate::engine::real::EngineError;
use experiment::spec::Arm;
use workload::Dialect;

/// PostgreSQL: a private server for each trial, or a database in a given server.
pub(in crate::engine) struct Provider;

impl EngineProvider for Provider {
    fn name(&self) -> &'static str {
        "postgres"
    }

    fn about(&self) -> &'static str {
        "PostgreSQL 15 to 18"
    }

    fn dialect(&self) -> Dialect {
        Dialect::Postgres
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

    fn takes_server(&self) -> bool {
        true
    }

    fn check(&self, options: &Options) -> Result<(), String> {
        if options.server.is_some() && options.postgres.bin.is_some() {
            return Err(
                "--server uses a server that runs already, so --postgres-bin is of no use; leave one of them out"
                    .to_owned(),
            );
        }
        Ok(())
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
        let TrialVolumes {
            settings,
            workload,
            site,
            pacer: _,
        } = trial;
        let engine = match &self.options.server {
            Some(url) => Postgres::given(&ServerUrl::parse(url)?, site, settings, workload)?,
            None => {
                let binaries = Binaries::find(self.options.postgres.bin.as_deref())?;
                let asked = (site, settings, workload);
                Postgres::private(&binaries, owner()?, &self.registration, asked)?
            }
        };
        Ok(Started::Engine(Box::new(engine)))
    }
}
