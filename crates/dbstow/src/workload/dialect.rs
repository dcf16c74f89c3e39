//! The dialects that a workload's scripts come in.

/// Whose SQL a script is written in.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Dialect {
    /// SQLite's
    #[default]
    Sqlite,
    /// PostgreSQL's
    Postgres,
}

impl Dialect {
    /// How a statement names its parameter `number`, from 1.
    pub(super) fn parameter(self, number: usize) -> String {
        match self {
            Dialect::Sqlite => format!("?{number}"),
            Dialect::Postgres => format!("${number}"),
        }
    }

    /// The file that takes the place of `script` in this dialect, where the folder has it.
    pub(super) fn variant(self, script: &str) -> Option<String> {
        match self {
            Dialect::Sqlite => None,
            Dialect::Postgres => {
                let name = script.strip_suffix(".sql").unwrap_or(script);
                Some(format!("{name}.postgres.sql"))
            }
        }
    }
}
