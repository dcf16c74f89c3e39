//! The procedures behind parameters and prepared statements.

use std::collections::BTreeMap;

use crate::model::Form;
use crate::reply::{Message, Reply};
use crate::request::{self, Call, Statement};
use crate::value::{Kind, Parameter, Value};
use crate::wire::Violation;

/// A session's prepared statements, by their handles.
#[derive(Debug, Default)]
pub(crate) struct Prepared {
    statements: BTreeMap<i32, Statement>,
    handle_last: i32,
}

/// A reply with the returned output parameters.
type Answer = (Reply, Vec<Parameter>);

impl Prepared {
    /// Answers a call; `ask` executes the texts.
    pub(crate) fn answer(
        &mut self,
        call: &Call,
        ask: impl FnOnce(String, Vec<Parameter>, Form) -> Reply,
    ) -> Result<Answer, Violation> {
        let parameters = &call.parameters;
        match call.procedure.to_lowercase().as_str() {
            "sp_executesql" => {
                let (text, rest) = first(parameters, "a text")?;
                let none = (Value::Null, rest);
                let (declarations, values) = rest
                    .split_first()
                    .map_or(none, |(first, rest)| (first.value.clone(), rest));
                let statement = Statement::new(&text.value, &declarations)?;
                Ok((run(&statement, values, ask), Vec::new()))
            }
            "sp_prepare" => {
                let [handle, declarations, text, ..] = &parameters[..] else {
                    return Err(Violation::new(
                        "sp_prepare wants handle, declarations and text",
                    ));
                };
                let statement = Statement::new(&text.value, &declarations.value)?;
                Ok((Reply::new(), vec![self.keep(handle, statement)]))
            }
            "sp_prepexec" => {
                let [handle, declarations, text, values @ ..] = &parameters[..] else {
                    return Err(Violation::new(
                        "sp_prepexec wants handle, declarations and text",
                    ));
                };
                let statement = Statement::new(&text.value, &declarations.value)?;
                let reply = run(&statement, values, ask);
                Ok((reply, vec![self.keep(handle, statement)]))
            }
            "sp_execute" => {
                let handle = request::integer(parameters.first(), "a handle")?;
                let reply = match self.statements.get(&handle) {
                    Some(statement) => run(statement, &parameters[1..], ask),
                    None => unknown(handle),
                };
                Ok((reply, Vec::new()))
            }
            "sp_unprepare" => {
                let handle = request::integer(parameters.first(), "a handle")?;
                let reply = match self.statements.remove(&handle) {
                    Some(_) => Reply::new(),
                    None => unknown(handle),
                };
                Ok((reply, Vec::new()))
            }
            _ => {
                let reply = ask(call.procedure.clone(), parameters.clone(), Form::Procedure);
                Ok((reply, Vec::new()))
            }
        }
    }

    /// Assigns a handle to a statement; the one that the client passed is released.
    fn keep(&mut self, given: &Parameter, statement: Statement) -> Parameter {
        if let Value::Int(old) = given.value {
            self.statements.remove(&(old as i32));
        }
        self.handle_last += 1;
        self.statements.insert(self.handle_last, statement);
        Parameter {
            name: given.name.clone(),
            kind: Kind::Int,
            value: self.handle_last.into(),
            output: true,
        }
    }
}

fn first<'a>(
    parameters: &'a [Parameter],
    what: &str,
) -> Result<(&'a Parameter, &'a [Parameter]), Violation> {
    let first = parameters.split_first();
    first.ok_or_else(|| Violation::new(format!("a call without {what}")))
}

fn run(
    statement: &Statement,
    values: &[Parameter],
    ask: impl FnOnce(String, Vec<Parameter>, Form) -> Reply,
) -> Reply {
    match statement.bind(values) {
        Ok(bound) => ask(statement.text.clone(), bound, Form::Statement),
        Err((number, text)) => failed(Message::error(number, text)),
    }
}

fn unknown(handle: i32) -> Reply {
    let text = format!("Could not find prepared statement with handle {handle}.");
    failed(Message::error(8179, text))
}

/// A failed procedure returns a nonzero number, such as its error's state.
fn failed(message: Message) -> Reply {
    let mut reply = Reply::error(message);
    reply.status = 1;
    reply
}
