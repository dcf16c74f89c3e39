//! What a trial asks of a server.

use std::collections::BTreeMap;

use model::Duration;
use mysql::prelude::Queryable;
use mysql::{Conn, Error};
use volume::clock::Clock;

use super::product::MARIADB;
use super::server::MariaDb;
use super::{client, counters, tables, waits};
use crate::engine::own_server::cleared;
use crate::engine::{Client, CounterSampler, Engine, EngineError, WaitSampler};
use experiment::record::{EngineRecord, Note, PAGE_CACHE};
use experiment::spec::Temperature;
use workload::Tables;

/// How often sessions are cancelled at most: for two seconds.
const CANCELS_MAX: usize = 100;

const CANCEL_EVERY: Duration = Duration::from_millis(20);

/// Longest that the removal of old row versions is waited for.
const PURGE_MAX: Duration = Duration::from_secs(600);

const PURGE_LOOK_EVERY: Duration = Duration::from_millis(50);

impl Engine for MariaDb {
    fn describe(&self) -> EngineRecord {
        let mut record = self.record.clone();
        let page_cache = self.instance.server().page_cache();
        record.settings.insert(PAGE_CACHE.to_owned(), page_cache);
        record
    }

    fn connect(&self, session: u32) -> Result<Box<dyn Client + '_>, EngineError> {
        let watch = self.interruptions.watch();
        let opened = self.instance.target().open(Some(&self.database(session)));
        let connection = opened
            .map_err(|error| self.with_obituary(EngineError::failed("open a session", error)))?;
        Ok(Box::new(client::Session::new(self, connection, watch)))
    }

    fn spread(&self, session: u32) -> Result<(), EngineError> {
        let database = self.database(session);
        let (directories, in_data_directory) = match self.tables {
            Tables::Data => (&self.places.data, true),
            Tables::Temp => (&self.places.temp, false),
        };
        let placed = self.observe("place the tables", |connection| {
            connection.select_db(&database)?;
            tables::spread(
                connection,
                &database,
                session as usize,
                directories,
                in_data_directory,
            )
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

    /// Statistics, old row versions removed, every page written.
    fn quiesce(&self) -> Result<(), EngineError> {
        self.observe("gather statistics", analyze)?;
        self.observe("wait for the purge of old row versions", |connection| {
            let clock = Clock::start();
            while history(connection)? > 0 && clock.now().as_nanos() < PURGE_MAX.as_nanos() {
                Clock::sleep(PURGE_LOOK_EVERY);
            }
            Ok(())
        })?;
        self.execute("SET GLOBAL innodb_log_checkpoint_now = ON")
    }

    fn start(
        &self,
        temperature: Temperature,
        forget: &mut dyn FnMut() -> Result<Vec<String>, EngineError>,
    ) -> Result<Vec<String>, EngineError> {
        let mut notes = Vec::new();
        if temperature == Temperature::Cold {
            *self.observer.lock() = None;
            self.instance.server().shut_down()?;
            notes.extend(forget()?);
            self.instance.start()?;
        }
        self.instance.server().tighten();
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
        Ok(Some(Box::new(waits::Sampler::new(
            self,
            self.open_observer()?,
        )?)))
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
                several_temp && !outlive,
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
        let true_ones = notes.into_iter().filter(|(is_so, _)| *is_so);
        true_ones
            .map(|(_, text)| Note::NotAsAsked(text.to_owned()))
            .chain(filling(&self.empty.lock()))
            .collect()
    }

    fn interrupt(&self) {
        self.interruptions.interrupt();
        // Where the server is gone, its sessions come back by themselves.
        let _ = self.cancel_sessions();
    }

    fn abandon(&self) {
        self.instance.server().abandon();
    }

    fn keep(&mut self) {
        self.directories.keep();
    }

    fn stop(&mut self) -> Result<(), EngineError> {
        if std::mem::replace(&mut self.stopped, true) {
            return Ok(());
        }
        *self.observer.lock() = None;
        let ended = self.instance.server().end(self.directories.are_kept());
        let removed = self.directories.remove();
        cleared(&MARIADB, ended, removed)
    }
}

impl Drop for MariaDb {
    fn drop(&mut self) {
        // Nobody is left to be told; whoever wants to know calls `stop`.
        let _ = self.stop();
    }
}

impl MariaDb {
    /// Cancels what the sessions do, until none does anything: one that was about to send a statement when
    /// it was first asked to stop sends it all the same.
    fn cancel_sessions(&self) -> Result<(), Error> {
        let mut connection = self.instance.target().open(None)?;
        for _ in 0..CANCELS_MAX {
            let active: Vec<u32> = connection.query(
                "SELECT id FROM information_schema.processlist WHERE command <> 'Sleep' AND id <> CONNECTION_ID()",
            )?;
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
                // It may have come to its end just now.
                let _ = connection.query_drop(format!("KILL QUERY {id}"));
            }
            Clock::sleep(CANCEL_EVERY);
        }
        Ok(())
    }
}

/// Part of the buffer pool that has to fill in the measured time to be worth a word: less is within what differs between
/// trials anyhow (our choice).
const FILLED_MIN: f64 = 0.05;

/// What to say where the buffer pool filled in the measured time; `empty` is its empty part at each reading of the counters.
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

/// Gathers the statistics of all tables of the trial.
fn analyze(connection: &mut Conn) -> Result<(), Error> {
    let tables: Vec<(String, String)> = connection.query(
        "SELECT table_schema, table_name FROM information_schema.tables WHERE table_type = 'BASE TABLE' \
         AND table_schema NOT IN ('mysql', 'information_schema', 'performance_schema', 'sys')",
    )?;
    for (database, table) in tables {
        // Not into the binary log: the trial's statements alone are in it.
        connection.query_drop(format!(
            "ANALYZE NO_WRITE_TO_BINLOG TABLE `{database}`.`{table}`"
        ))?;
    }
    Ok(())
}

/// Row versions that nobody needs any more and that are still there, in transactions.
fn history(connection: &mut Conn) -> Result<u64, Error> {
    let row: Option<(String, u64)> =
        connection.query_first("SHOW GLOBAL STATUS LIKE 'Innodb_history_list_length'")?;
    Ok(row.map_or(0, |(_, length)| length))
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
