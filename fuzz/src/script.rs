//! Scripts of workloads, in every dialect, parsed and run without a server.

use std::convert::Infallible;
use std::sync::Arc;

use model::Duration;
use model::random::stream;
use workload::{Dialect, Driver, Names, Script, Statement, Value, Variables};

/// Parses a script in each dialect, and runs two operations of it; it is refused when no dialect accepts it.
pub(crate) fn read(text: &str) -> Result<(), String> {
    let sqlite = executed(text, Dialect::SQLITE);
    let postgres = executed(text, Dialect::POSTGRES);
    let sqlserver = executed(text, Dialect::TSQL);
    let mariadb = executed(text, Dialect::MARIADB);
    sqlite.or(postgres).or(sqlserver).or(mariadb)
}

fn executed(text: &str, dialect: Dialect) -> Result<(), String> {
    let mut names = Names::new();
    let script =
        Script::parse("fuzz.sql", text, dialect, &mut names).map_err(|error| error.to_string())?;
    let mut variables = Variables::new(Arc::new(names), 0, 1);
    let mut random = stream(1, "fuzz");
    let mut counted = Counted {
        statements: script.statements,
    };
    for operation in 0..2 {
        variables.set_operation(operation);
        // A variable without a value, or a division by zero, is a valid result.
        let _ = script.execute(&mut variables, &mut random, &mut counted);
    }
    Ok(())
}

/// Executes nothing, and checks that its inputs are consistent.
struct Counted {
    statements: usize,
}

impl Driver for Counted {
    type Error = Infallible;

    fn statement(
        &mut self,
        index: usize,
        statement: &Statement,
        arguments: &[Value],
    ) -> Result<(), Infallible> {
        assert!(
            index < self.statements,
            "statement {index} of {}",
            self.statements
        );
        assert_eq!(arguments.len(), statement.parameters.len());
        Ok(())
    }

    fn sleep(&mut self, _: Duration) -> Result<(), Infallible> {
        Ok(())
    }
}
