//! One session's connection: a script's driver.

use crate::session::{Argument, Batch, Cell, Driver as Connection, Failure, Rows, Session as _};
use model::Duration;

use super::SqlServer;
use crate::trial::execute::in_words;
use engine::interruption::Watch;
use engine::{Client, Table};
use workload::{Driver, Statement, Value};

/// A session on a SQL Server. It returns its connection on drop: temporary tables live as long as the connection, and the session
/// that loads them is not the one that uses them.
pub(crate) struct TrialSession<'a> {
    engine: &'a SqlServer,
    number: u32,
    /// Present until dropped.
    connection: Option<Connection>,
    statements: u64,
    watch: Watch,
}

impl<'a> TrialSession<'a> {
    pub(crate) fn new(
        engine: &'a SqlServer,
        number: u32,
        connection: Connection,
        watch: Watch,
    ) -> TrialSession<'a> {
        TrialSession {
            engine,
            number,
            connection: Some(connection),
            statements: 0,
            watch,
        }
    }

    fn connection(&mut self) -> &mut Connection {
        self.connection
            .as_mut()
            .expect("it is there until the session is dropped")
    }

    fn end(&mut self, how: &str) -> Result<(), Failure> {
        let ended = self.connection().batch(how, None)?;
        ended.refused().map(|_| ())
    }
}

impl Driver for TrialSession<'_> {
    /// Why the operation failed.
    type Error = String;

    fn statement(
        &mut self,
        _index: usize,
        statement: &Statement,
        arguments: &[Value],
    ) -> Result<(), String> {
        self.watch.check()?;
        self.statements += 1;
        let arguments: Vec<Argument> = arguments.iter().map(argument).collect();
        let done = self.connection().statement(&statement.text, &arguments);
        done.map(|_| ()).map_err(|failure| {
            if matches!(failure, Failure::Lost(_) | Failure::OutOfStep(_)) {
                Watch::slow_down();
            }
            format!("line {}: {}", statement.line, in_words(&failure))
        })
    }

    fn sleep(&mut self, span: Duration) -> Result<(), String> {
        self.watch.sleep(span)
    }
}

impl Client for TrialSession<'_> {
    /// Statements are identified by their text.
    fn enter(&mut self, _script: usize) {}

    fn roll_back(&mut self) {
        // If the connection is gone, so is the transaction; the next statement reports it.
        let _ = self.end("IF @@TRANCOUNT > 0 ROLLBACK;");
    }

    fn statements(&self) -> u64 {
        self.statements
    }

    fn table(&mut self, query: &str) -> Result<Table, String> {
        self.watch.check()?;
        let answer = self.connection().batch(query, None);
        let answer = answer.and_then(Batch::refused);
        let answer = answer.map_err(|failure| in_words(&failure))?;
        Ok(answer.results().next().map_or_else(Table::default, table))
    }

    fn settle(&mut self) -> Result<(), String> {
        if !self.connection().in_transaction() {
            return Ok(());
        }
        self.end("IF @@TRANCOUNT > 0 COMMIT;")
            .map_err(|failure| failure.to_string())
    }
}

impl Drop for TrialSession<'_> {
    fn drop(&mut self) {
        if let Some(connection) = self
            .connection
            .take()
            .filter(|connection| connection.is_usable())
        {
            self.engine.keep_connection(self.number, connection);
        }
    }
}

fn table(rows: &Rows) -> Table {
    let value = |cell: &Cell| match cell {
        Cell::Null => Some(Value::Null),
        Cell::Int(value) => Some(Value::Int(*value)),
        Cell::Float(value) => Some(Value::Double(*value)),
        Cell::Text(text) => Some(Value::Text(text.clone())),
        Cell::Other => None,
    };
    let row = |cells: &Vec<Cell>| cells.iter().map(value).collect();
    Table {
        columns: rows.columns.clone(),
        rows: rows.rows.iter().map(row).collect(),
    }
}

fn argument(value: &Value) -> Argument {
    match value {
        Value::Int(value) => Argument::Int(*value),
        Value::Double(value) => Argument::Float(*value),
        Value::Text(text) => Argument::Text(text.to_string()),
        Value::Null => Argument::Null,
    }
}
