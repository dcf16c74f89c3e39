//! SQL dialects: how scripts in them are read, and by which words one is detected.

use crate::{mariadb, postgres, sqlite, sqlserver};

/// A product's SQL, as far as scripts in it are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Dialect {
    /// The engine that executes it: scripts in it end in `.ENGINE.sql`, except SQLite's.
    pub engine: &'static str,
    /// Its name in sentences: `T-SQL`.
    pub title: &'static str,
    /// The product in sentences.
    pub product: &'static str,
    /// The mode that executes it: `simulate`, `emulate` or `measure`.
    pub mode: &'static str,
    /// What no other dialect has, in upper case. Words that two dialects share are in neither list.
    pub words: &'static [&'static str],
    /// How statements refer to their parameters.
    pub placeholder: Placeholder,
    /// Where quotes, comments and statements end.
    pub grammar: Grammar,
}

/// How statements of a dialect refer to their parameters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Placeholder {
    /// By this and a number from 1: a variable that occurs twice is one parameter.
    Numbered(&'static str),
    /// By this alone: a variable that occurs twice is two parameters.
    InOrder(&'static str),
}

/// Where quotes, comments and statements of a dialect end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Grammar {
    /// A statement ends at `;`, a trigger at `; END;`.
    Plain,
    /// As T-SQL: `[names]`, nested comments, words with `#`; blocks of statements, and batches that end at `GO`, a line for the
    /// client.
    Batches,
    /// Backslashes in texts, comments that begin with `#`, the content of `/*! .. */` is SQL; stored programs have blocks of
    /// statements, and `DELIMITER` is for the client.
    Programs,
}

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
