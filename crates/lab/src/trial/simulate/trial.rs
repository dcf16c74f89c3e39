//! A trial's simulation, and the databases in it: loaded, or placed as copies of images.

use std::rc::Rc;
use std::sync::Arc;

use model::random;
use model::store::Role;
use rusqlite::Connection;
use sqlite_vfs::virtual_time::{Image, Parts, Session, Simulation, check_stacks, set_last_row};

use super::super::parameters::{self, ParameterRows};
use super::super::{Cancel, Cancelled, Stage, TrialId};
use super::meter::SharedMeter;
use super::session;
use experiment::spec::{Settings, Temperature};
use sqlite::SqliteDriver;
use workload::{Database, Tables, Workload};

/// SQLite's own cache while a shared database is loaded; otherwise rows in random order would write each page of an
/// index many times.
const LOADING_KIB: u64 = 64 << 10;

/// A trial in virtual time.
pub(super) struct VirtualTrial<'a> {
    pub(super) id: &'a TrialId,
    pub(super) settings: &'a Settings,
    pub(super) stage: &'a Stage,
    pub(super) workload: &'a Workload,
    pub(super) cancelled: &'a Cancel,
    pub(super) meter: SharedMeter,
}

impl VirtualTrial<'_> {
    /// A simulation at time zero, in which nothing is loaded.
    pub(super) fn simulation(&self) -> Result<Simulation, String> {
        let store = self.stage.build(random::derive(self.id.seed, "store", 0));
        let simulation = Simulation::new(store, self.stage.machine.cores, self.stage.costs)
            .map_err(|error| format!("a temporary file for the database's pages: {error}"))?;
        simulation.stop_when(Rc::clone(self.cancelled));
        Ok(simulation)
    }

    /// A simulation whose databases are loaded, and every session's connection.
    pub(super) fn loaded(
        &self,
        images: Option<&[Arc<Image>]>,
    ) -> Result<(Simulation, Vec<Connection>), String> {
        let sessions = self.settings.workload.sessions as usize;
        check_stacks(sessions).map_err(|error| error.to_string())?;
        if let Some(images) = images {
            let simulation = self.simulation()?;
            let placed = simulation.timeless(|session| self.open_on(session, images, Parts::All));
            if let Some(connections) = placed {
                return Ok((simulation, connections));
            }
        }
        let simulation = self.simulation()?;
        let connections = simulation.timeless(|session| self.prepare(session))?;
        Ok((simulation, connections))
    }

    /// Opens every session's connection, and loads what is not measured.
    pub(super) fn prepare(&self, session: &Session) -> Result<Vec<Connection>, String> {
        let connections = (0..self.settings.workload.sessions)
            .map(|number| self.prepare_one(session, number))
            .collect::<Result<Vec<_>, _>>()?;
        self.watch_keys(session, &connections)?;
        Ok(connections)
    }

    /// Opens the connection of session `number`, and loads its database if that is not measured and not loaded yet.
    pub(super) fn prepare_one(&self, session: &Session, number: u32) -> Result<Connection, String> {
        if session.stopping() {
            return Err(Cancelled.to_string());
        }
        let shared = self.workload.database == Database::Shared;
        let loads = (number == 0 || !shared) && !self.workload.load.measured;
        let loading_kib = match shared && loads {
            true => LOADING_KIB,
            false => cache_kib(self.settings),
        };
        let connection = self.open(session, number, loading_kib)?;
        if loads {
            let count = self.settings.workload.sessions;
            let mut variables = self.workload.variables(number, count);
            let seed = load_seed(self.id, number);
            session::load(session, &connection, self.workload, &mut variables, seed)?;
            set_cache(&connection, cache_kib(self.settings))?;
        }
        Ok(connection)
    }

    /// Opens the connection of session `number`, with a cache of its own of this size.
    fn open(&self, session: &Session, number: u32, kib: u64) -> Result<Connection, String> {
        let tables = tables(self.workload);
        let opened = match self.workload.database {
            Database::PerSession => session.open(&session::database(number), tables),
            Database::Shared => session.open_shared(session::SHARED, tables),
        };
        let connection = opened.map_err(|error| error.to_string())?;
        set_cache(&connection, kib)?;
        Ok(connection)
    }

    /// Lets sessions of a shared database lock the rows that they change.
    fn watch_keys(&self, session: &Session, connections: &[Connection]) -> Result<(), String> {
        match self.workload.database {
            Database::PerSession => Ok(()),
            Database::Shared => connections
                .iter()
                .try_for_each(|connection| session.watch_keys(connection))
                .map_err(|error| error.to_string()),
        }
    }

    /// Runs the query whose rows are parameters, if the workload has one; like loading, it takes no time.
    pub(super) fn parameters(
        &self,
        session: &Session,
        connections: &[Connection],
    ) -> Result<Option<ParameterRows>, String> {
        let Some(query) = parameters::query(self.workload) else {
            return Ok(None);
        };
        let connection = connections.first().expect("there is a session");
        let answer = SqliteDriver::new(session, connection, self.workload).table(&query.text);
        ParameterRows::of(query, answer).map(Some)
    }

    /// After loading: SQLite's own caches are dropped, the store's and the host's kept or dropped.
    pub(super) fn quiesce(&self, simulation: &Simulation, connections: &[Connection]) {
        for connection in connections {
            // Best effort: what stays is at most the few pages of SQLite's own cache.
            let _ = connection.release_memory();
        }
        let engine = &self.settings.engine;
        simulation.with_store(|store| {
            if engine.start == Temperature::Cold {
                store.empty_pool();
            }
            if engine.host_cache_start == Temperature::Cold {
                store.empty_host_cache();
            }
        });
    }

    /// Places `parts` of copies of `images`. `None` if they have no room.
    pub(super) fn place_images(
        &self,
        session: &Session,
        images: &[Arc<Image>],
        parts: Parts,
    ) -> Option<()> {
        let tables = tables(self.workload);
        let is_shared = self.workload.database == Database::Shared;
        images.iter().enumerate().try_for_each(|(number, image)| {
            let placed = match is_shared {
                true => session.place_shared(image, parts, session::SHARED, tables),
                false => {
                    let name = session::database(number as u32);
                    session.place(image, parts, &name, tables)
                }
            };
            placed.ok()
        })
    }

    /// Opens every session's connection, to `parts` of copies of `images` unless the load is measured. `None` if that does not work here;
    /// the trial has to load itself then, in a simulation without them.
    pub(super) fn open_on(
        &self,
        session: &Session,
        images: &[Arc<Image>],
        parts: Parts,
    ) -> Option<Vec<Connection>> {
        match self.workload.load.measured {
            true => self.prepare(session).ok(),
            false => self.place(session, images, parts),
        }
    }

    fn place(
        &self,
        session: &Session,
        images: &[Arc<Image>],
        parts: Parts,
    ) -> Option<Vec<Connection>> {
        self.place_images(session, images, parts)?;
        let connections = session.unobserved(|| self.open_all(session))?.ok()?;
        for (connection, image) in connections.iter().zip(images) {
            set_last_row(connection, image.last_row());
        }
        Some(connections)
    }

    fn open_all(&self, session: &Session) -> Result<Vec<Connection>, String> {
        let connections: Vec<Connection> = (0..self.settings.workload.sessions)
            .map(|number| {
                let connection = self.open(session, number, cache_kib(self.settings))?;
                // SQLite reads the schema when it is first needed.
                let text = |error: rusqlite::Error| error.to_string();
                let schema = "SELECT count(*) FROM sqlite_schema";
                connection.query_row(schema, [], |_| Ok(())).map_err(text)?;
                Ok(connection)
            })
            .collect::<Result<_, String>>()?;
        self.watch_keys(session, &connections)?;
        Ok(connections)
    }
}

/// Sets the size of a connection's own cache.
fn set_cache(connection: &Connection, kib: u64) -> Result<(), String> {
    let sql = format!("PRAGMA cache_size = -{kib}");
    connection
        .execute_batch(&sql)
        .map_err(|error| error.to_string())
}

/// What a workload's tables are in.
pub(super) fn tables(workload: &Workload) -> Role {
    match workload.tables {
        Tables::Data => Role::Data,
        Tables::Temp => Role::Temp,
    }
}

/// The seed of the load of database `number`.
pub(super) fn load_seed(id: &TrialId, number: u32) -> u64 {
    random::derive(id.seed, "load", u64::from(number))
}

/// Size of the cache of a connection while it runs.
pub(super) fn cache_kib(settings: &Settings) -> u64 {
    (settings.engine.sort_memory.0 >> 10).max(512)
}
