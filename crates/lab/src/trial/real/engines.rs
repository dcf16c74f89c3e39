//! Starts the engine of a trial on its volumes.

use std::sync::Arc;

use volume::real_time::Pacer;
use volume::site::Site;

use super::Subject;
use super::places::Places;
use crate::engine::sqlite::SqliteEngine;
use crate::engine::sqlserver::SqlServer;
use crate::engine::{Engine, EngineError};
use experiment::spec::EngineKind;

/// An empty engine on `site`; SQLite is paced by `pacer`, if there is one.
pub(super) fn start<'a>(
    places: &Places,
    subject: &'a Subject<'a>,
    site: &dyn Site,
    pacer: Option<Arc<Pacer>>,
) -> Result<Box<dyn Engine + 'a>, EngineError> {
    match subject.variant.engine {
        EngineKind::Postgres => postgres(places, subject, site),
        EngineKind::SqlServer => {
            let (settings, workload) = (subject.settings, subject.workload);
            let run = places.server().expect("a run on SQL Server has one");
            let engine = SqlServer::start(Arc::clone(run), site, settings, workload)?;
            Ok(Box::new(engine))
        }
        EngineKind::Sqlite => {
            let (settings, workload) = (subject.settings, subject.workload);
            let engine = SqliteEngine::start(settings, workload, site, pacer)?;
            Ok(Box::new(engine))
        }
        EngineKind::Raw => unreachable!("plain I/O has no engine to start"),
    }
}

#[cfg(unix)]
fn postgres<'a>(
    places: &Places,
    subject: &'a Subject<'a>,
    site: &dyn Site,
) -> Result<Box<dyn Engine + 'a>, EngineError> {
    use crate::engine::postgres::{Binaries, Postgres, ServerUrl, owner};

    let (settings, workload) = (subject.settings, subject.workload);
    let options = places.options();
    let engine = match &options.server {
        Some(url) => Postgres::given(&ServerUrl::parse(url)?, site, settings, workload)?,
        None => {
            let binaries = Binaries::find(options.postgres_bin.as_deref())?;
            let registration = &places.registration;
            let asked = (site, settings, workload);
            Postgres::private(&binaries, owner()?, registration, asked)?
        }
    };
    Ok(Box::new(engine))
}

#[cfg(not(unix))]
fn postgres<'a>(
    _places: &Places,
    _subject: &'a Subject<'a>,
    _site: &dyn Site,
) -> Result<Box<dyn Engine + 'a>, EngineError> {
    Err(EngineError::Missing(
        "PostgreSQL is driven on Unix only; take --engine sqlite".to_owned(),
    ))
}
