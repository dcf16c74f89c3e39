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
}

impl Dialect {
    /// How a statement names its parameter `number`, from 1.
    pub(super) fn parameter(self, number: usize) -> String {
        match self {
            Dialect::Sqlite => format!("?{number}"),
            Dialect::Postgres => format!("${number}"),
            Dialect::SqlServer => format!("@p{number}"),
        }
    }

    /// The file that takes the place of `script` in this dialect, where the folder has it.
    pub(super) fn variant(self, script: &str) -> Option<String> {
        let name = script.strip_suffix(".sql").unwrap_or(script);
        self.suffix().map(|suffix| format!("{name}{suffix}"))
    }

    /// Whose file `script` is by its name; those without a dialect in it are SQLite's.
    pub(super) fn of(script: &str) -> Dialect {
        let own = |dialect: &Dialect| {
            let suffix = dialect.suffix();
            suffix.is_some_and(|suffix| script.ends_with(suffix))
        };
        let others = [Dialect::Postgres, Dialect::SqlServer];
        others.into_iter().find(own).unwrap_or(Dialect::Sqlite)
    }

    /// How its own files end.
    fn suffix(self) -> Option<&'static str> {
        match self {
            Dialect::Sqlite => None,
            Dialect::Postgres => Some(".postgres.sql"),
            Dialect::SqlServer => Some(".sqlserver.sql"),
        }
    }
}
