//! Tables and indexes of a copy, and what they were used for: counted by PostgreSQL, whose counts outlive a restart.

use std::collections::BTreeMap;

use host::clock::Clock;
use model::{Duration, Instant};
use reading::object::{ObjectKind, ObjectUse, Used};

use crate::session::login::{OBSERVER, open};
use crate::session::target::Target;
use crate::session::wire::Connection;
use engine::EngineError;
use engine::logged::Login;
use engine::row::{Row, Unexpected};

/// Kind, name, size of a block, blocks read and found, and changed rows of all that was used. A table has its TOAST table in it.
const USED: &str = "SELECT kind, schemaname::text || '.' || name::text, current_setting('block_size'), read, hit, changed FROM ( \
     SELECT 't' AS kind, io.schemaname, io.relname AS name, \
            coalesce(heap_blks_read, 0) + coalesce(toast_blks_read, 0) + coalesce(tidx_blks_read, 0) AS read, \
            coalesce(heap_blks_hit, 0) + coalesce(toast_blks_hit, 0) + coalesce(tidx_blks_hit, 0) AS hit, \
            n_tup_ins + n_tup_upd + n_tup_del AS changed \
     FROM pg_catalog.pg_statio_user_tables AS io JOIN pg_catalog.pg_stat_user_tables USING (relid) \
     UNION ALL \
     SELECT 'i', schemaname, indexrelname, idx_blks_read, idx_blks_hit, NULL \
     FROM pg_catalog.pg_statio_user_indexes) AS used WHERE read + hit > 0";

/// Sessions that the server still has: what they did is counted once they are gone.
const LEFT: &str = "SELECT count(*) FROM pg_catalog.pg_stat_activity WHERE backend_type = 'client backend' AND pid <> pg_backend_pid()";

/// How long the server may take to end them (our choice: it takes milliseconds).
const LEAVE_MAX: Duration = Duration::from_secs(5);

const LEAVE_LOOK_EVERY: Duration = Duration::from_millis(20);

/// The objects of a copy's databases, before they are used.
pub(crate) struct Objects {
    /// By database, as its logins name it.
    before: BTreeMap<String, Counts>,
}

/// By kind and name.
type Counts = BTreeMap<(ObjectKind, String), Used>;

impl Objects {
    /// Reads what is counted so far in the databases of `logins`; those that refuse logins have no objects.
    ///
    /// # Errors
    /// When the server does not answer.
    pub(crate) fn before(server: &Target, logins: &[Login]) -> Result<Objects, EngineError> {
        let mut before = BTreeMap::new();
        for login in logins {
            let database = login.database.to_string();
            if before.contains_key(&database) {
                continue;
            }
            let Ok(mut connection) = open(&in_database(server, &database), OBSERVER) else {
                continue;
            };
            before.insert(database, counts(&mut connection)?);
        }
        Ok(Objects { before })
    }

    /// What was used since, of all databases; `observer` is a connection to any.
    ///
    /// # Errors
    /// When the server does not answer.
    pub(crate) fn since(
        &self,
        server: &Target,
        observer: &mut Connection,
    ) -> Result<Vec<ObjectUse>, EngineError> {
        wait_until_gone(observer)?;
        let mut all = Vec::new();
        for (database, before) in &self.before {
            let mut connection = open(&in_database(server, database), OBSERVER)?;
            for ((kind, mut name), used) in counts(&mut connection)? {
                let before = before.get(&(kind, name.clone()));
                let used = used.since(before.copied().unwrap_or_default());
                if self.before.len() > 1 {
                    name = format!("{}.{name}", database.escape_debug());
                }
                all.push(ObjectUse { kind, name, used });
            }
        }
        Ok(all)
    }
}

fn in_database(server: &Target, database: &str) -> Target {
    Target {
        database: database.to_owned(),
        ..server.clone()
    }
}

fn failed(error: impl ToString) -> EngineError {
    EngineError::failed("read what tables and indexes were used for", error)
}

fn wait_until_gone(observer: &mut Connection) -> Result<(), EngineError> {
    let clock = Clock::start();
    loop {
        let left = observer.query(LEFT).map_err(failed)?;
        let left: u64 = engine::row::first(&left)
            .and_then(|row| row.count(0))
            .map_err(failed)?;
        if left == 0 || clock.now() >= Instant::ZERO + LEAVE_MAX {
            return Ok(());
        }
        Clock::sleep(LEAVE_LOOK_EVERY);
    }
}

fn counts(connection: &mut Connection) -> Result<Counts, EngineError> {
    let rows = connection.query(USED).map_err(failed)?;
    let rows = rows.iter().map(object);
    rows.collect::<Result<_, Unexpected>>().map_err(failed)
}

fn object(row: &Row) -> Result<((ObjectKind, String), Used), Unexpected> {
    let block: u64 = row.count(2)?;
    let bytes = |blocks: u64| blocks.saturating_mul(block);
    let kind = match row.word(0)? {
        "i" => ObjectKind::Index,
        _ => ObjectKind::Table,
    };
    let used = Used {
        read_bytes: bytes(row.count(3)?),
        buffered_bytes: Some(bytes(row.count(4)?)),
        written_bytes: None,
        changed_rows: row.number(5)?,
    };
    Ok(((kind, row.word(1)?.escape_debug().to_string()), used))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_of_an_answer_become_bytes_and_a_name_is_fit_to_be_shown() {
        let row = |read: &str, changed: Option<&str>| {
            let words = [
                Some("t"),
                Some("a.\u{1b}b"),
                Some("8192"),
                Some(read),
                Some("5"),
                changed,
            ];
            Row::new(words.map(|word| word.map(str::to_owned)).to_vec())
        };
        let (key, used) = object(&row("3", Some("7"))).expect("numbers");
        assert_eq!(key, (ObjectKind::Table, "a.\\u{1b}b".to_owned()));
        // Three blocks and five, of 8 KiB.
        assert_eq!(used.read_bytes, 24 << 10);
        assert_eq!(used.buffered_bytes, Some(40 << 10));
        assert_eq!((used.written_bytes, used.changed_rows), (None, Some(7)));
        assert!(object(&row("-1", None)).is_err());
    }
}
