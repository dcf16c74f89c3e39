//! How PostgreSQL is drilled.

use std::sync::Arc;

use engine::drilled::{DrillProvider, Origin, Product};
use engine::{EngineError, ProductOptions};
use host::orphans::Registration;

use super::PostgresProduct;
use crate::trial::BIN;
use crate::{Binaries, least_owner, owner};

/// The first version with `verify_heapam`.
const SINCE: u32 = 14;

/// PostgreSQL's drill.
pub(crate) struct Drill;

impl DrillProvider for Drill {
    fn keys(&self) -> &'static [&'static str] {
        &["engine.name", "engine.commit", "engine.postgres"]
    }

    fn executes(&self) -> &'static str {
        "PostgreSQL executes what the database on them contains, as user nobody (postgres where there is no nobody)"
    }

    fn product(
        &self,
        options: &ProductOptions,
        origin: Origin,
        registration: &Arc<Registration>,
    ) -> Result<Arc<dyn Product>, EngineError> {
        let binaries = Binaries::find(options.path(BIN))?;
        if binaries.major < SINCE {
            return Err(EngineError::Missing(format!(
                "{}: PostgreSQL {} has no verify_heapam, with which a drill checks tables; name one of version {SINCE} or \
                 later with --{BIN}",
                binaries.folder.display(),
                binaries.version
            )));
        }
        let owner = match origin {
            Origin::ThisRun => owner()?,
            Origin::Folder => least_owner()?,
        };
        Ok(Arc::new(PostgresProduct::new(
            binaries,
            owner,
            registration,
        )))
    }
}
