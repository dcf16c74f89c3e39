//! Runs a script through an engine's driver.

use model::Duration;
use model::random::Stream;

use super::super::expression::{EvaluationError, Expression};
use super::super::value::Value;
use super::super::variables::{Slot, Variables};
use super::{Command, Pause, PauseUnit, Script, Statement};

/// Executes statements and waits: an engine's session, or a test's recorder.
pub trait Driver {
    /// What can go wrong.
    type Error;

    /// Executes one statement.
    ///
    /// `index` is [`Statement::index`], a key for prepared statements; `arguments` are the values of
    /// [`Statement::parameters`], in their order.
    ///
    /// # Errors
    /// When the operation must stop; failures that are only counted are handled by the driver.
    fn statement(
        &mut self,
        index: usize,
        statement: &Statement,
        arguments: &[Value],
    ) -> Result<(), Self::Error>;

    /// Waits.
    ///
    /// # Errors
    /// When the operation must stop.
    fn sleep(&mut self, span: Duration) -> Result<(), Self::Error>;
}

/// What stopped an operation.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum ExecutionError<E> {
    /// An expression of the script has no value.
    #[error("{file}:{line}: {source}")]
    Evaluation {
        /// The script.
        file: String,
        /// The line, from 1.
        line: u32,
        /// Why.
        source: EvaluationError,
    },
    /// The driver stopped it.
    #[error(transparent)]
    Driver(E),
}

impl Script {
    /// Runs one operation: evaluates, decides branches, hands statements and waits to `driver`.
    ///
    /// `variables` must come from the [`super::super::Names`] that the script was read with.
    ///
    /// # Errors
    /// The first error of an expression or of `driver`; later commands are not executed.
    pub fn execute<D: Driver>(
        &self,
        variables: &mut Variables,
        random: &mut Stream,
        driver: &mut D,
    ) -> Result<(), ExecutionError<D::Error>> {
        let mut operation = Operation {
            script: self,
            variables,
            random,
            driver,
        };
        operation.commands(&self.commands)
    }
}

struct Operation<'a, D> {
    script: &'a Script,
    variables: &'a mut Variables,
    random: &'a mut Stream,
    driver: &'a mut D,
}

impl<D: Driver> Operation<'_, D> {
    fn commands(&mut self, commands: &[Command]) -> Result<(), ExecutionError<D::Error>> {
        for command in commands {
            match command {
                Command::Sql(statement) => self.statement(statement)?,
                Command::Set {
                    slot,
                    expression,
                    line,
                } => {
                    let value = self.evaluate(expression, *line)?;
                    self.variables.assign(*slot, value);
                }
                Command::If {
                    branches,
                    otherwise,
                } => {
                    let mut taken = otherwise;
                    for branch in branches {
                        if self.evaluate(&branch.condition, branch.line)?.is_true() {
                            taken = &branch.commands;
                            break;
                        }
                    }
                    self.commands(taken)?;
                }
                Command::Sleep { pause, line } => self.sleep(pause, *line)?,
            }
        }
        Ok(())
    }

    fn statement(&mut self, statement: &Statement) -> Result<(), ExecutionError<D::Error>> {
        let mut arguments = std::mem::take(&mut self.variables.arguments);
        arguments.clear();
        for slot in &statement.slots {
            arguments.push(self.argument(*slot, statement.line)?);
        }
        let outcome = self
            .driver
            .statement(statement.index, statement, &arguments);
        self.variables.arguments = arguments;
        outcome.map_err(ExecutionError::Driver)
    }

    fn argument(&self, slot: Slot, line: u32) -> Result<Value, ExecutionError<D::Error>> {
        match self.variables.at(slot) {
            Some(value) => Ok(value.clone()),
            None => Err(self.failed(
                line,
                EvaluationError::Unset {
                    name: self.variables.name(slot).to_owned(),
                },
            )),
        }
    }

    fn sleep(&mut self, pause: &Pause, line: u32) -> Result<(), ExecutionError<D::Error>> {
        let amount = self.evaluate(&pause.amount, line)?;
        let span = span(&amount, pause.unit).ok_or_else(|| {
            let given = amount.to_string();
            self.failed(line, EvaluationError::Wait { given })
        })?;
        self.driver.sleep(span).map_err(ExecutionError::Driver)
    }

    fn evaluate(
        &mut self,
        expression: &Expression,
        line: u32,
    ) -> Result<Value, ExecutionError<D::Error>> {
        expression
            .evaluate(self.variables, self.random)
            .map_err(|source| self.failed(line, source))
    }

    fn failed(&self, line: u32, source: EvaluationError) -> ExecutionError<D::Error> {
        ExecutionError::Evaluation {
            file: self.script.name.clone(),
            line,
            source,
        }
    }
}

/// `None` if it is not a wait, or exceeds the 292 years of nanoseconds in an `i64`.
fn span(amount: &Value, unit: PauseUnit) -> Option<Duration> {
    let unit_ns: u64 = match unit {
        PauseUnit::Microsecond => 1_000,
        PauseUnit::Millisecond => 1_000_000,
        PauseUnit::Second => 1_000_000_000,
    };
    match amount {
        Value::Int(amount) => {
            let nanos = u64::try_from(*amount).ok()?.checked_mul(unit_ns)?;
            (nanos <= i64::MAX as u64).then(|| Duration::from_nanos(nanos))
        }
        Value::Double(amount) => {
            let seconds = amount * unit_ns as f64 / 1e9;
            (0.0..9e9)
                .contains(&seconds)
                .then(|| Duration::from_secs_f64(seconds))
        }
        Value::Text(_) | Value::Null => None,
    }
}
