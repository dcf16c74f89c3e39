//! The products whose scripts an answer can name.

use advise::Scripts;
use engine::{EngineError, EngineProvider, EngineRun, Engines, Modelled, Opening, Simulated};
use layout::LayoutProvider;

/// What replays of a profile take for an engine: none is driven here.
pub(crate) const REPLAYING: Engines = Engines {
    built: &[&Replaying],
    left_out: &[],
};

/// A profile is replayed whatever the engine, under the name of the default one.
struct Replaying;

impl EngineProvider for Replaying {
    fn name(&self) -> &'static str {
        "sqlite"
    }

    fn about(&self) -> &'static str {
        "Replays of a profile"
    }

    fn simulated(&self) -> Option<Simulated> {
        Some(Simulated::Statements)
    }

    fn modelled(&self) -> Modelled {
        Modelled::Paced
    }

    fn open(&self, _opening: &Opening<'_>) -> Result<Box<dyn EngineRun>, EngineError> {
        Err(EngineError::Missing(
            "a page runs no engine; use the program".to_owned(),
        ))
    }
}

/// The products that `dbstow layout` generates scripts for, in its order.
const LAYOUTS: [&dyn LayoutProvider; 3] = [
    &sqlserver::layout::Layout,
    &postgres::layout::Layout,
    &mariadb::layout::Layout,
];

/// What is generated for servers that a profile calls `product`.
pub(crate) fn scripts(product: &str) -> Option<Scripts> {
    let layout = layout::meant(&LAYOUTS, product)?;
    let moves = layout.moves();
    Some(Scripts {
        engine: layout.name(),
        roles: moves.roles,
        what: moves.what,
        arguments: moves.arguments,
        temp_files_max: moves.temp_files_max,
        needs_server: moves.needs_server,
    })
}
