//! Plain reads and writes, without a database engine.

use crate::RawSpec;
#[cfg(feature = "fio")]
use crate::{Fio, RawError};
use engine::EngineError;
use engine::{EngineProvider, EngineRun, Modelled, Opening, Simulated, Started, TrialVolumes};
use engine::{FrontKind, Options};
use experiment::spec::Mode;

/// Plain reads and writes.
pub struct Provider;

/// Why a build without fio has no requests on real files, and the remedy.
#[cfg(not(feature = "fio"))]
pub const WITHOUT_FIO: &str = "this dbstow was built without fio (cargo feature `fio`), which makes plain reads and writes on real \
                           files; use --mode simulate, or a build with it";

impl EngineProvider for Provider {
    fn name(&self) -> &'static str {
        "raw"
    }

    fn about(&self) -> &'static str {
        "Plain reads and writes without a database: fio, or the model in simulate"
    }

    fn simulated(&self) -> Option<Simulated> {
        Some(Simulated::PlainIo)
    }

    fn keys(&self, mode: Mode) -> Option<&'static [&'static str]> {
        Some(match mode {
            Mode::Simulate => &[],
            Mode::Emulate | Mode::Measure => &["host_cache_start"],
        })
    }

    fn parameters(&self) -> Option<&'static [&'static str]> {
        Some(&RawSpec::PARAMETERS)
    }

    fn modelled(&self) -> Modelled {
        Modelled::Mounted {
            front: FrontKind::File,
            owner: None,
        }
    }

    #[cfg(feature = "fio")]
    fn look(&self, _options: &Options, _mode: Mode) -> Result<(), EngineError> {
        let missing = |error: RawError| EngineError::Missing(error.to_string());
        Fio::find().map(|_| ()).map_err(missing)
    }

    #[cfg(not(feature = "fio"))]
    fn look(&self, _options: &Options, _mode: Mode) -> Result<(), EngineError> {
        Err(EngineError::Missing(WITHOUT_FIO.to_owned()))
    }

    fn open(&self, _opening: &Opening<'_>) -> Result<Box<dyn EngineRun>, EngineError> {
        Ok(Box::new(Run))
    }
}

struct Run;

impl EngineRun for Run {
    fn start(&self, _trial: TrialVolumes<'_>) -> Result<Started, EngineError> {
        Ok(Started::PlainIo)
    }
}
