//! How PostgreSQL is rehearsed.

use std::sync::Arc;

use host::orphans::Registration;

use super::product::RehearsedPostgres;
use crate::trial::BIN;
use crate::{Binaries, least_owner};
use engine::rehearsed::{RehearsalProvider, RehearsedProduct};
use engine::{EngineError, ProductOptions};

/// PostgreSQL's rehearsals.
pub(crate) struct Rehearsal;

impl RehearsalProvider for Rehearsal {
    fn product(
        &self,
        options: &ProductOptions,
        registration: &Arc<Registration>,
    ) -> Result<Arc<dyn RehearsedProduct>, EngineError> {
        Ok(Arc::new(RehearsedPostgres {
            binaries: Binaries::find(options.path(BIN))?,
            // What a backup's functions do is done by the user who owns least.
            owner: least_owner()?,
            registration: Arc::clone(registration),
        }))
    }
}
