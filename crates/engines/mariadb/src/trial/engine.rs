//! The engine interface of a server for a trial.

use std::collections::BTreeMap;
use std::sync::atomic::Ordering;

use host::clock::Clock;
use model::{Duration, Instant};

#[cfg(target_os = "linux")]
use super::logged::LoggedTrialSession;
#[cfg(target_os = "linux")]
use super::objects;
use super::{client, counters, tables, waits};
use crate::session::failure::Failure;
#[cfg(target_os = "linux")]
use crate::session::login::Target;
use crate::session::wire::Connection;
use crate::trial::instance::with_remedy;
use crate::trial::product::MARIADB;
use crate::trial::server::{Host, MariaDb};
#[cfg(target_os = "linux")]
use crate::{ServerUrl, recorder};
use engine::NOT_RESTARTED;
#[cfg(target_os = "linux")]
use engine::logged::{LogSession, Login};
use engine::managed_server::cleared;
#[cfg(target_os = "linux")]
use engine::recorder::Recorder;
use engine::row::words;
use engine::{Client, CounterSampler, Engine, EngineError, WaitSampler};
use experiment::record::{EngineRecord, NOT_LIMITED, Note, PAGE_CACHE};
use experiment::spec::Temperature;
#[cfg(target_os = "linux")]
use reading::object::ObjectUse;
use workload::Tables;

/// Maximum number of attempts to cancel sessions: for two seconds.
const CANCELS_MAX: usize = 100;

const CANCEL_EVERY: Duration = Duration::from_millis(20);

/// Maximum wait for the purge of old row versions.
const PURGE_MAX: Duration = Duration::from_secs(600);

/// The same in an external server, where other sessions may need some of them (our choice).
const PURGE_MAX_GIVEN: Duration = Duration::from_secs(30);

/// Maximum time without progress there: an idle MySQL 8.0 keeps the last few (8.0.15 and 8.0.45 were seen with three).
const PURGE_STILL_GIVEN: Duration = Duration::from_secs(2);

const PURGE_LOOK_EVERY: Duration = Duration::from_millis(50);

impl Engine for MariaDb {
    fn describe(&self) -> EngineRecord {
        let mut record = self.record.clone();
        let page_cache = match &self.host {
            Host::Private(instance) => instance.server().page_cache(),
            Host::External(_) => format!("{NOT_LIMITED} (the server is not ours)"),
        };
        record.settings.insert(PAGE_CACHE.to_owned(), page_cache);
        record
    }

    fn connect(&self, session: u32) -> Result<Box<dyn Client + '_>, EngineError> {
        let watch = self.interruptions.watch();
        let opened = self.open(Some(&self.database(session)));
        let opened = opened
            .map(|connection| client::TrialSession::new(self, connection, watch))
            .map_err(|error| self.with_exit_reason(EngineError::failed("open a session", error)))?;
        Ok(Box::new(opened))
    }

    #[cfg(target_os = "linux")]
    fn log_session(&self, login: &Login) -> Result<Box<dyn LogSession + '_>, EngineError> {
        let own = self.target();
        let target = Target {
            user: login.user.as_deref().unwrap_or(&own.user).to_owned(),
            ..own
        };
        let database = Some(&*login.database).filter(|name| !name.is_empty());
        let opened = target.open(database).map_err(|error| {
            self.with_exit_reason(EngineError::failed("open a session of the log", error))
        })?;
        Ok(Box::new(LoggedTrialSession::new(
            self,
            opened,
            self.interruptions.watch(),
        )))
    }

    #[cfg(target_os = "linux")]
    fn recorder(&self) -> Option<Box<dyn Recorder>> {
        Some(recorder::of(ServerUrl::private(self.target())))
    }

    #[cfg(target_os = "linux")]
    fn objects(&self) -> Result<Vec<ObjectUse>, EngineError> {
        self.observe("read what tables were used for", objects::read)
    }

    fn distribute_tables(&self, session: u32) -> Result<(), EngineError> {
        let database = self.database(session);
        let (directories, in_data_directory) = match self.tables {
            Tables::Data => (&self.places.data, matches!(self.host, Host::Private(_))),
            Tables::Temp => (&self.places.temp, false),
        };
        let placed = self.observe("place the tables", |connection| {
            connection.enter(&database)?;
            tables::distribute(
                connection,
                &database,
                session as usize,
                directories,
                in_data_directory,
            )
        });
        let placed = placed.map_err(|error| match self.host {
            Host::Private(_) => error,
            Host::External(_) => EngineError::Missing(with_remedy(&error.to_string())),
        })?;
        if placed == 0 && self.tables == Tables::Temp && !self.load_is_measured {
            return Err(EngineError::failed(
                "place the tables",
                "the schema makes none that outlive their session, but the sessions of the run are \
                 not those that load; make them without TEMPORARY (`CREATE TABLE`), and they are put into \
                 temp space",
            ));
        }
        Ok(())
    }

    /// Gathers statistics, purges old row versions, writes all pages.
    fn quiesce(&self) -> Result<(), EngineError> {
        let tables = self.observe("gather statistics", |connection| {
            analyze(connection, &self.databases)
        })?;
        let (purge_max, still_max) = match self.host {
            Host::Private(_) => (PURGE_MAX, PURGE_MAX),
            Host::External(_) => (PURGE_MAX_GIVEN, PURGE_STILL_GIVEN),
        };
        self.observe("wait for the purge of old row versions", |connection| {
            let clock = Clock::start();
            let (mut shortest, mut shortened) = (u64::MAX, clock.now());
            loop {
                let (length, now) = (history(connection)?, clock.now());
                if length < shortest {
                    (shortest, shortened) = (length, now);
                }
                let is_still = now.since(shortened) >= still_max;
                if length == 0 || is_still || now >= Instant::ZERO + purge_max {
                    return Ok(());
                }
                Clock::sleep(PURGE_LOOK_EVERY);
            }
        })?;
        match self.host {
            Host::Private(_) => self.execute("SET GLOBAL innodb_log_checkpoint_now = ON"),
            // A checkpoint would affect the whole server.
            Host::External(_) if tables.is_empty() => Ok(()),
            Host::External(_) => {
                let tables = tables.join(", ");
                self.execute(&format!("FLUSH LOCAL TABLES {tables} FOR EXPORT"))?;
                self.execute("UNLOCK TABLES")
            }
        }
    }

    fn start(
        &self,
        temperature: Temperature,
        forget: &mut dyn FnMut() -> Result<Vec<String>, EngineError>,
    ) -> Result<Vec<String>, EngineError> {
        let mut notes = Vec::new();
        let instance = match (&self.host, temperature) {
            (Host::Private(instance), _) => instance,
            (Host::External(_), Temperature::Warm) => return Ok(notes),
            (Host::External(_), Temperature::Cold) => {
                notes.push(NOT_RESTARTED.to_owned());
                notes.extend(forget()?);
                return Ok(notes);
            }
        };
        if temperature == Temperature::Cold {
            *self.observer.lock() = None;
            instance.server().shut_down()?;
            notes.extend(forget()?);
            instance.start()?;
        }
        instance.server().tighten();
        Ok(notes)
    }

    fn counters(&self) -> Result<BTreeMap<String, f64>, EngineError> {
        let sample = self.observe("read the counters", |connection| {
            self.counters.read(connection)
        })?;
        self.empty.lock().extend(counters::empty_share(&sample));
        Ok(sample.counters)
    }

    fn waits(&self) -> Result<Option<Box<dyn WaitSampler + '_>>, EngineError> {
        if let Host::External(external) = &self.host
            && !external.has_performance_schema
        {
            return Ok(None);
        }
        Ok(Some(Box::new(waits::Sampler::new(
            self,
            self.open_observer()?,
        ))))
    }

    fn counter_sampler(&self) -> Result<Option<Box<dyn CounterSampler + '_>>, EngineError> {
        Ok(Some(Box::new(counters::Sampler {
            connection: self.open_observer()?,
            counters: self.counters.clone(),
        })))
    }

    fn notes(&self) -> Vec<Note> {
        let several_temp = self.places.temp.len() > 1;
        let outlive = self.tables == Tables::Temp && !self.load_is_measured;
        let notes = [
            (
                self.is_copy && self.places.data.len() > 1,
                "a copy's tables stay in its data directory, on the first data volume: others have none",
            ),
            (
                several_temp && !outlive && matches!(self.host, Host::Private(_)),
                "MariaDB has one file for temporary tables (innodb_temp_data_file_path), on the first temp volume; sorts and \
                 temporary tables of the server's own use all of them in turn (tmpdir)",
            ),
            (
                outlive,
                "tables of temp space outlive the session that loads them, so that they are ordinary tables of InnoDB in \
                 the directories of temp space: unlike a temporary table's, their changes are written to the redo log and \
                 through the doublewrite area",
            ),
        ];
        let of_host = match &self.host {
            Host::Private(_) => Vec::new(),
            Host::External(external) => external.notes.clone(),
        };
        let true_ones = notes.into_iter().filter(|(is_so, _)| *is_so);
        true_ones
            .map(|(_, text)| Note::NotAsAsked(text.to_owned()))
            .chain(of_host)
            .chain(filling(&self.empty.lock()).filter(|_| !self.is_copy))
            .collect()
    }

    fn interrupt(&self) {
        self.interruptions.interrupt();
        // If the server is gone, its sessions return on their own.
        let _ = self.cancel_sessions();
    }

    fn abandon(&self) {
        match &self.host {
            Host::Private(instance) => instance.server().abandon(),
            // If the server is gone, the statement returns on its own.
            Host::External(_) => drop(self.cancel_own()),
        }
    }

    /// On an external server nothing is kept: it would keep using our directories.
    fn keep(&mut self) {
        match self.host {
            Host::Private(_) => self.directories.keep(),
            Host::External(_) => {}
        }
    }

    fn stop(&mut self) -> Result<(), EngineError> {
        if std::mem::replace(&mut self.stopped, true) {
            return Ok(());
        }
        *self.observer.lock() = None;
        if self.is_copy {
            // Nothing on its volumes is needed any more.
            self.abandon();
        }
        let ended = match &self.host {
            Host::Private(instance) => instance.server().end(self.directories.are_kept()),
            Host::External(external) => external.remove(&self.databases),
        };
        let removed = self.directories.remove();
        cleared(&MARIADB, ended, removed)
    }
}

impl Drop for MariaDb {
    fn drop(&mut self) {
        // The error cannot be reported here; callers that need it call `stop`.
        let _ = self.stop();
    }
}

impl MariaDb {
    /// Cancels the sessions' statements until all are idle: a session that was about to send a statement at the first attempt
    /// still sends it.
    fn cancel_sessions(&self) -> Result<(), Failure> {
        let mut connection = self.open_to_cancel()?;
        for _ in 0..CANCELS_MAX {
            let active = connection.query(
                "SELECT id FROM information_schema.processlist WHERE command <> 'Sleep' AND id <> CONNECTION_ID()",
            )?;
            let active: Vec<u32> = active
                .iter()
                .map(|row| row.count(0))
                .collect::<Result<_, _>>()?;
            let ours: Vec<u32> = {
                let sessions = self.sessions.lock();
                active
                    .into_iter()
                    .filter(|id| sessions.contains(id))
                    .collect()
            };
            if ours.is_empty() {
                break;
            }
            for id in ours {
                // It may just have ended.
                let _ = connection.query(&format!("KILL QUERY {id}"));
            }
            Clock::sleep(CANCEL_EVERY);
        }
        Ok(())
    }

    /// Cancels dbstow's own statements in its databases, once.
    fn cancel_own(&self) -> Result<(), Failure> {
        let number = self.observer_number.load(Ordering::Relaxed);
        let mut connection = self.open_to_cancel()?;
        connection
            .query(&format!("KILL QUERY {number}"))
            .map(|_| ())
    }

    fn open_to_cancel(&self) -> Result<Connection, Failure> {
        let target = self.target();
        target.with(target.patience.for_cancelling()).open(None)
    }
}

/// Share of the buffer pool that must fill in the measured time to be noted: less is within the variation between trials (our
/// choice).
const FILLED_MIN: f64 = 0.05;

/// The note if the buffer pool filled in the measured time; `empty` is its empty share at each reading of the counters.
fn filling(empty: &[f64]) -> Option<Note> {
    let (&first, &last) = (empty.first()?, empty.last()?);
    (first - last > FILLED_MIN).then(|| {
        Note::Other(format!(
            "InnoDB's buffer pool was filling in the measured time: {:.0} % of it was empty at the beginning and {:.0} % at the \
             end; a longer workload.warm_up leaves that out",
            100.0 * first,
            100.0 * last
        ))
    })
}

/// Gathers the statistics of all tables in `databases`; returns their names.
fn analyze(connection: &mut Connection, databases: &[String]) -> Result<Vec<String>, Failure> {
    let mut names = Vec::new();
    for database in databases {
        let rows = connection.query(&format!(
            "SELECT table_name FROM information_schema.tables WHERE table_type = 'BASE TABLE' AND table_schema = {}",
            tables::text(database)
        ))?;
        let tables = words(&rows)?.into_iter();
        names.extend(tables.map(|table| format!("`{database}`.`{table}`")));
    }
    for name in &names {
        // Not into the binary log: it contains only the trial's statements.
        connection.work(&format!("ANALYZE NO_WRITE_TO_BINLOG TABLE {name}"))?;
    }
    Ok(names)
}

/// Length of the undo history: obsolete row versions not yet purged, in transactions.
fn history(connection: &mut Connection) -> Result<u64, Failure> {
    let rows = connection.query(counters::HISTORY)?;
    Ok(rows.first().map_or(Ok(0), |row| row.count(0))?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pool_that_fills_while_it_is_measured_is_told() {
        let told = filling(&[0.8, 0.4, 0.25]).expect("it filled").to_string();
        assert!(told.contains("80 % of it was empty"), "{told}");
        assert!(told.contains("25 % at the end"), "{told}");
        assert!(filling(&[0.8, 0.76]).is_none());
        assert!(filling(&[]).is_none());
    }
}
