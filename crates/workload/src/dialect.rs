//! The dialects that a workload's scripts come in.

/// Whose SQL a script is written in.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Dialect {
    /// SQLite's
    #[default]
    Sqlite,
    /// PostgreSQL's
    Postgres,
    /// SQL Server's: T-SQL
    SqlServer,
    /// MariaDB's, from 10.6 on
    Mariadb,
}

/// How statements of a dialect refer to their parameters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Placeholder {
    /// By this and a number from 1: a variable that occurs twice is one parameter.
    Numbered(&'static str),
    /// By this alone: a variable that occurs twice is two parameters.
    InOrder(&'static str),
}

/// What only T-SQL has.
const TSQL: &[&str] = &[
    "SELECT TOP",
    "DBO.",
    "[DBO]",
    "@@",
    "DECLARE @",
    "SET NOCOUNT",
    "WITH (NOLOCK)",
    "GETDATE(",
    "SYSDATETIME(",
    "NVARCHAR",
    "IDENTITY(",
    "NEWID(",
    "TEMPDB..",
    "INTO #",
    "FROM #",
    "TABLE #",
    "SYS.OBJECTS",
    "BEGIN TRAN",
    "EXEC ",
];

/// What only PostgreSQL has.
const POSTGRES: &[&str] = &[
    "$$",
    "::",
    "ILIKE",
    "BIGSERIAL",
    "PLPGSQL",
    "UNLOGGED",
    "JSONB",
    "PG_",
    "FOR UPDATE",
    "LATERAL",
    "DISTINCT ON",
    "ARRAY[",
];

/// What only MariaDB and MySQL have.
const MARIADB: &[&str] = &[
    "AUTO_INCREMENT",
    "ENGINE=INNODB",
    "ENGINE = INNODB",
    "ON DUPLICATE KEY",
    "INSERT IGNORE",
    "LAST_INSERT_ID(",
    "GET_LOCK(",
    "FROM SEQ_1_TO_",
    "STRAIGHT_JOIN",
    "/*!",
    "/*M!",
];

impl Dialect {
    /// The dialect other than SQLite's whose keywords occur in `sql`, if any.
    pub fn looks_like(sql: &str) -> Option<Dialect> {
        let sql = sql.to_ascii_uppercase();
        let has = |words: &&[&str]| words.iter().any(|word| sql.contains(word));
        // In descending order of certainty: words that two dialects share are in neither list.
        [
            (MARIADB, Dialect::Mariadb),
            (TSQL, Dialect::SqlServer),
            (POSTGRES, Dialect::Postgres),
        ]
        .into_iter()
        .find(|(words, _)| has(words))
        .map(|(_, dialect)| dialect)
    }

    /// How a statement refers to its parameters.
    pub(super) fn placeholder(self) -> Placeholder {
        match self {
            Dialect::Sqlite => Placeholder::Numbered("?"),
            Dialect::Postgres => Placeholder::Numbered("$"),
            Dialect::SqlServer => Placeholder::Numbered("@p"),
            Dialect::Mariadb => Placeholder::InOrder("?"),
        }
    }

    /// The file that replaces `script` in this dialect, if the folder has it.
    pub(super) fn variant(self, script: &str) -> Option<String> {
        let name = script.strip_suffix(".sql").unwrap_or(script);
        self.suffix().map(|suffix| format!("{name}{suffix}"))
    }

    /// The dialect of the file `script`, by its name; without a dialect in the name it is SQLite's.
    pub(super) fn of(script: &str) -> Dialect {
        let own = |dialect: &Dialect| {
            let suffix = dialect.suffix();
            suffix.is_some_and(|suffix| script.ends_with(suffix))
        };
        let others = [Dialect::Postgres, Dialect::SqlServer, Dialect::Mariadb];
        others.into_iter().find(own).unwrap_or(Dialect::Sqlite)
    }

    /// How its own files end.
    fn suffix(self) -> Option<&'static str> {
        match self {
            Dialect::Sqlite => None,
            Dialect::Postgres => Some(".postgres.sql"),
            Dialect::SqlServer => Some(".sqlserver.sql"),
            Dialect::Mariadb => Some(".mariadb.sql"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn another_dialect_is_known_by_its_words() {
        for (sql, dialect) in [
            ("SELECT TOP 10 * FROM sys.objects", Some(Dialect::SqlServer)),
            ("select * into #t from orders", Some(Dialect::SqlServer)),
            ("DO $$ BEGIN PERFORM 1; END $$", Some(Dialect::Postgres)),
            ("SELECT id::text FROM t", Some(Dialect::Postgres)),
            (
                "CREATE TABLE t (id INT PRIMARY KEY AUTO_INCREMENT)",
                Some(Dialect::Mariadb),
            ),
            (
                "insert ignore into t select seq from seq_1_to_10",
                Some(Dialect::Mariadb),
            ),
            ("SELECT * FROM t ORDER BY x LIMIT 10", None),
        ] {
            assert_eq!(Dialect::looks_like(sql), dialect, "{sql}");
        }
    }
}
