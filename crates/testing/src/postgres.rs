//! PostgreSQL's private server, for tests.

use engine::EngineError;
use experiment::spec::Settings;
use postgres::Postgres;
use workload::{Dialect, Workload};

use crate::private::Private;
use crate::server::{Folders, binaries, private};

/// PostgreSQL's private server.
pub struct PrivatePostgres;

impl Private for PrivatePostgres {
    const ENGINE: &'static str = "postgres";
    const PRODUCT: &'static str = "PostgreSQL";
    const READY: &'static str = "database system is ready";
    const DIALECT: Dialect = Dialect::POSTGRES;

    type Server = Postgres;

    fn start(
        site: &Folders,
        settings: &Settings,
        workload: &Workload,
    ) -> Option<Result<Postgres, EngineError>> {
        Some(private(&binaries()?, site, settings, workload))
    }

    fn process(server: &Postgres) -> Option<u32> {
        server.postmaster()
    }
}
