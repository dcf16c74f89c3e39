//! The dialects of all products, and which of them a script is in.

use crate::{Dialect, mariadb, postgres, sqlite, sqlserver};

/// Dialects other than SQLite's, in descending order of certainty by which [`Dialect::looks_like`] detects them.
const OTHERS: [Dialect; 3] = [Dialect::MARIADB, Dialect::TSQL, Dialect::POSTGRES];

impl Default for Dialect {
    fn default() -> Dialect {
        Dialect::SQLITE
    }
}

impl Dialect {
    /// SQLite's, which simulate executes.
    pub const SQLITE: Dialect = sqlite::DIALECT;
    /// PostgreSQL's.
    pub const POSTGRES: Dialect = postgres::DIALECT;
    /// SQL Server's.
    pub const TSQL: Dialect = sqlserver::DIALECT;
    /// MariaDB's, from 10.6 on.
    pub const MARIADB: Dialect = mariadb::DIALECT;

    /// The dialect other than SQLite's whose keywords occur in `sql`, if any.
    pub fn looks_like(sql: &str) -> Option<Dialect> {
        let sql = sql.to_ascii_uppercase();
        let mut others = OTHERS.into_iter();
        others.find(|dialect| dialect.words.iter().any(|word| sql.contains(word)))
    }

    /// The file that replaces `script` in this dialect, if the folder has it.
    pub fn variant(self, script: &str) -> Option<String> {
        let name = script.strip_suffix(".sql").unwrap_or(script);
        let is_other = self != Dialect::SQLITE;
        is_other.then(|| format!("{name}{}", self.suffix()))
    }

    /// The dialect of the file `script`, by its name; without a dialect in the name it is SQLite's.
    pub fn of(script: &str) -> Dialect {
        let mut others = OTHERS.into_iter();
        let own = others.find(|dialect| script.ends_with(&dialect.suffix()));
        own.unwrap_or_default()
    }

    /// How its own files end.
    fn suffix(self) -> String {
        format!(".{}.sql", self.engine)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn another_dialect_is_known_by_its_words() {
        for (sql, dialect) in [
            ("SELECT TOP 10 * FROM sys.objects", Some(Dialect::TSQL)),
            ("select * into #t from orders", Some(Dialect::TSQL)),
            ("DO $$ BEGIN PERFORM 1; END $$", Some(Dialect::POSTGRES)),
            ("SELECT id::text FROM t", Some(Dialect::POSTGRES)),
            (
                "CREATE TABLE t (id INT PRIMARY KEY AUTO_INCREMENT)",
                Some(Dialect::MARIADB),
            ),
            (
                "insert ignore into t select seq from seq_1_to_10",
                Some(Dialect::MARIADB),
            ),
            ("SELECT * FROM t ORDER BY x LIMIT 10", None),
        ] {
            assert_eq!(Dialect::looks_like(sql), dialect, "{sql}");
        }
    }

    #[test]
    fn a_script_has_its_dialect_in_its_name() {
        for (script, dialect, variant) in [
            ("load.sql", Dialect::SQLITE, None),
            (
                "load.postgres.sql",
                Dialect::POSTGRES,
                Some("load.postgres.sql"),
            ),
            (
                "load.sqlserver.sql",
                Dialect::TSQL,
                Some("load.sqlserver.sql"),
            ),
            (
                "load.mariadb.sql",
                Dialect::MARIADB,
                Some("load.mariadb.sql"),
            ),
        ] {
            assert_eq!(Dialect::of(script), dialect, "{script}");
            assert_eq!(dialect.variant("load.sql").as_deref(), variant, "{script}");
        }
    }
}
