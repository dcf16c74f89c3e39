//! A call of a procedure that executes statements, as an event has it: as text.
//!
//! ```text
//! exec sp_executesql N'SELECT a FROM t WHERE b = @p0',N'@p0 int',@p0=5
//! declare @p1 int set @p1=1 exec sp_prepexec @p1 output,N'@p0 int',N'SELECT ..',5 select @p1
//! exec sp_execute 1,6        the handle is the server's, and another one in a rehearsal
//! ```
//!
//! Source: <https://learn.microsoft.com/sql/relational-databases/system-stored-procedures/sp-prepexec-transact-sql> and those of the other
//! procedures, read 2026-11-29; that the handle stands in `set @p1=`, and how drivers end the call:
//! <https://github.com/spaghettidba/WorkloadTools/blob/25ec96f/WorkloadTools/Listener/SqlTransformer.cs>.

use super::tokens::{Kind, Token, tokens};

/// A call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Call {
    /// It executes a statement, which its text has.
    Executes(Statement),
    /// It prepares one under a handle.
    Prepares(i64, Statement),
    /// It does both.
    PreparesAndExecutes(Option<i64>, Statement),
    /// It executes the one under a handle, with these values.
    ExecutesPrepared(i64, Vec<String>),
    /// It forgets one.
    Unprepares(i64),
    /// The connection comes from a pool.
    Resets,
    /// It is a new connection, as WorkloadTools writes it.
    Connects,
    /// It is about a cursor of the protocol.
    Cursor,
}

/// A statement with parameters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Statement {
    /// The statement itself.
    pub(crate) inner: String,
    /// As constants: the statement, and its parameters, if it has any.
    constants: [Option<String>; 2],
    /// Values of its parameters.
    values: Vec<String>,
    /// What variables of the call have to be, before it.
    prefix: String,
}

impl Statement {
    /// The text that executes it without a handle.
    pub(crate) fn text(&self) -> String {
        self.with_values(&self.values)
    }

    /// The same, with other values.
    pub(crate) fn with_values(&self, values: &[String]) -> String {
        let constants = self.constants.iter().flatten();
        let all: Vec<&str> = constants.chain(values).map(String::as_str).collect();
        format!("{}exec sp_executesql {}", self.prefix, all.join(","))
    }
}

/// What a text calls; `None`: it is none of these calls.
pub(crate) fn parse(text: &str) -> Option<Call> {
    let all: Vec<Token<'_>> = tokens(text).collect();
    let place = all
        .iter()
        .position(|token| token.is_one(&["exec", "execute"]))?;
    // Nothing but variables comes before it.
    let (before, after) = (&all[..place], &all[place + 1..]);
    let is_variables = before.first().is_none_or(|first| first.is("declare"));
    if !is_variables {
        return None;
    }
    // `sys.` may stand before the procedure.
    let qualifiers = after.chunks(2).take_while(
        |pair| matches!(pair, [name, dot] if name.name().is_some() && dot.is_sign(".")),
    );
    let after = &after[2 * qualifiers.count()..];
    let (procedure, after) = after.split_first()?;
    let procedure = procedure.name()?.to_ascii_lowercase();
    let arguments = arguments(text, after);
    let number = |place: usize| {
        arguments
            .get(place)
            .and_then(|token| token.text.parse().ok())
    };
    let handle = || variable(before, "@p1");
    let prefix = &text[..all[place].start];
    match procedure.as_str() {
        "sp_executesql" => Some(Call::Executes(statement(&arguments, (0, 1), prefix)?)),
        "sp_prepexec" => {
            let statement = statement(&arguments, (2, 1), prefix)?;
            Some(Call::PreparesAndExecutes(handle(), statement))
        }
        "sp_prepare" => {
            let mut statement = statement(&arguments, (2, 1), "")?;
            statement.values.clear();
            Some(Call::Prepares(handle()?, statement))
        }
        "sp_execute" => {
            let values = arguments.iter().skip(1);
            let values = values.map(|argument| argument.text.to_owned());
            Some(Call::ExecutesPrepared(number(0)?, values.collect()))
        }
        "sp_unprepare" => Some(Call::Unprepares(number(0)?)),
        // https://github.com/spaghettidba/WorkloadTools/blob/25ec96f/WorkloadTools/Listener/ExtendedEvents/FileTargetXEventDataReader.cs
        "sp_reset_connection" if text.contains("/*Nonpooled*/") => Some(Call::Connects),
        "sp_reset_connection" => Some(Call::Resets),
        other if other.starts_with("sp_cursor") => Some(Call::Cursor),
        _ => None,
    }
}

/// The statement of a call, at these places of its arguments: statement, parameters.
fn statement(
    arguments: &[Argument<'_>],
    (statement, parameters): (usize, usize),
    prefix: &str,
) -> Option<Statement> {
    let inner = arguments.get(statement)?.constant()?;
    let of_parameters = arguments.get(parameters);
    let declared = of_parameters.filter(|argument| argument.constant().is_some());
    let values: Vec<String> = arguments
        .iter()
        .skip(statement.max(parameters) + 1)
        .map(|argument| argument.text.to_owned())
        .collect();
    // Values that come back need the variables that they come back to.
    let returns = arguments[statement.max(parameters).min(arguments.len() - 1)..]
        .iter()
        .any(|argument| argument.returns);
    Some(Statement {
        inner,
        constants: [
            Some(arguments[statement].text.to_owned()),
            declared.map(|argument| argument.text.to_owned()),
        ],
        values,
        prefix: if returns {
            prefix.to_owned()
        } else {
            String::new()
        },
    })
}

/// An argument of a call.
struct Argument<'a> {
    text: &'a str,
    first: Token<'a>,
    /// Whether it is an output parameter.
    returns: bool,
}

impl Argument<'_> {
    fn constant(&self) -> Option<String> {
        self.first.constant()
    }
}

/// The arguments of a call: up to the end, a semicolon, or what the driver asks for behind it.
fn arguments<'a>(text: &'a str, tokens: &[Token<'a>]) -> Vec<Argument<'a>> {
    let ends = |token: &Token<'_>| token.is_sign(";") || token.is_one(&["select", "exec"]);
    let end = tokens.iter().position(ends).unwrap_or(tokens.len());
    let all = tokens[..end].split(|token| token.is_sign(","));
    let all = all.filter_map(|part| {
        let (first, last) = (part.first()?, part.last()?);
        Some(Argument {
            text: &text[first.start..last.end()],
            first: *first,
            returns: last.is_one(&["output", "out"]),
        })
    });
    all.collect()
}

/// What a variable is set to before the call.
fn variable(before: &[Token<'_>], name: &str) -> Option<i64> {
    let mut set = before.windows(4).filter_map(|window| match window {
        [set, variable, is, value]
            if set.is("set")
                && variable.is(name)
                && is.is_sign("=")
                && value.kind == Kind::Number =>
        {
            value.text.parse().ok()
        }
        _ => None,
    });
    // WorkloadTools writes 0 where the handle was.
    set.next().filter(|handle| *handle != 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_prepared_statement_is_executed_without_its_handle() {
        let text = "declare @p1 int\nset @p1=7\nexec sp_prepexec @p1 output,N'@P0 int,@P1 nvarchar(9)',N'SELECT ''a,b'' FROM t WHERE b = @P0 AND c = @P1',5,N'x, select 1'\nselect @p1";
        let Some(Call::PreparesAndExecutes(Some(7), statement)) = parse(text) else {
            panic!("{:?}", parse(text));
        };
        assert_eq!(
            statement.inner,
            "SELECT 'a,b' FROM t WHERE b = @P0 AND c = @P1"
        );
        let constants = "exec sp_executesql N'SELECT ''a,b'' FROM t WHERE b = @P0 AND c = @P1',N'@P0 int,@P1 nvarchar(9)'";
        assert_eq!(statement.text(), format!("{constants},5,N'x, select 1'"));
        let again = parse("exec sp_execute 7,-6,NULL");
        let Some(Call::ExecutesPrepared(7, values)) = again else {
            panic!("{again:?}");
        };
        assert_eq!(
            statement.with_values(&values),
            format!("{constants},-6,NULL")
        );
        assert_eq!(parse("exec sp_unprepare 7"), Some(Call::Unprepares(7)));
    }

    #[test]
    fn a_statement_without_parameters_has_none() {
        let text =
            "declare @p1 int set @p1=1 exec sp_prepexec @p1 output,NULL,N'SELECT 1' select @p1";
        let Some(Call::PreparesAndExecutes(Some(1), statement)) = parse(text) else {
            panic!("{:?}", parse(text));
        };
        assert_eq!(statement.text(), "exec sp_executesql N'SELECT 1'");
        // As WorkloadTools writes it: without the handle.
        let text = "declare @p1 int set @p1=0 exec sp_prepexec @p1 output,NULL,N'SELECT 1' select @p1 ; EXEC sp_unprepare @p1;";
        assert!(matches!(
            parse(text),
            Some(Call::PreparesAndExecutes(None, _))
        ));
        let text = "declare @p1 int set @p1=3 exec sys.sp_prepare @p1 output,N'@a int',N'SELECT @a',1 select @p1";
        let Some(Call::Prepares(3, statement)) = parse(text) else {
            panic!("{:?}", parse(text));
        };
        assert_eq!(
            statement.with_values(&["4".to_owned()]),
            "exec sp_executesql N'SELECT @a',N'@a int',4"
        );
    }

    #[test]
    fn values_that_come_back_keep_their_variables() {
        let text = "declare @p3 int set @p3=NULL exec sp_executesql N'SET @a = 1',N'@a int output',@a=@p3 output select @p3";
        let Some(Call::Executes(statement)) = parse(text) else {
            panic!("{:?}", parse(text));
        };
        assert_eq!(
            statement.text(),
            "declare @p3 int set @p3=NULL exec sp_executesql N'SET @a = 1',N'@a int output',@a=@p3 output"
        );
    }

    #[test]
    fn other_calls_are_known_and_other_texts_are_none() {
        assert_eq!(parse("exec sp_reset_connection"), Some(Call::Resets));
        assert_eq!(
            parse("exec sp_reset_connection /*Nonpooled*/"),
            Some(Call::Connects)
        );
        let cursor =
            "declare @p1 int set @p1=1 exec sp_cursoropen @p1 output,N'SELECT 1' select @p1";
        assert_eq!(parse(cursor), Some(Call::Cursor));
        for text in [
            "exec dbo.ship @id = 1",
            "exec sp_executesql @sql",
            "SELECT 1; exec sp_execute 1",
            "exec",
            "exec sp_execute x",
            "exec sp_prepexec",
            "",
        ] {
            assert_eq!(parse(text), None, "{text}");
        }
    }
}
