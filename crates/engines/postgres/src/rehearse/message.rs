//! What the message of an entry says of a statement.

/// What a message says.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Message<'a> {
    /// A statement is executed.
    Statement(Statement<'a>),
    /// One was executed, and took this long.
    Done(Statement<'a>, u64),
    /// The last one of the session took this long.
    Took(u64),
    /// A protocol call other than a statement, of which nothing is replayed.
    Call,
    /// The session is of this user and database.
    LoggedIn(Option<&'a str>, Option<&'a str>),
    /// The session has ended.
    Ended,
    /// Nothing about a statement.
    Other,
}

/// A statement in a message.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Statement<'a> {
    /// Its text.
    pub(crate) text: &'a str,
    /// The name that it was prepared under, for one that was executed by the protocol; empty: no name.
    pub(crate) prepared: Option<&'a str>,
}

impl<'a> Message<'a> {
    /// Reads a message of severity `LOG`, with `log_statement` or `log_min_duration_statement`.
    pub(crate) fn of(message: &'a str) -> Message<'a> {
        if let Some(rest) = message.strip_prefix("duration: ") {
            return took(rest).unwrap_or(Message::Other);
        }
        if let Some(rest) = message.strip_prefix("connection authorized: ") {
            let of = |key: &str| {
                let (_, value) = rest.split_once(key)?;
                value.split(' ').next()
            };
            return Message::LoggedIn(of("user="), of("database="));
        }
        if message.starts_with("disconnection: ") {
            return Message::Ended;
        }
        statement(message)
    }
}

/// `0.123 ms`, alone or with a statement.
fn took(rest: &str) -> Option<Message<'_>> {
    let (ms, rest) = rest.split_once(" ms")?;
    let ms: f64 = ms.parse().ok()?;
    let us = (ms * 1000.0).round();
    let us = (0.0..1e15).contains(&us).then_some(us as u64)?;
    let rest = rest.trim_start();
    Some(match statement(rest) {
        Message::Statement(statement) => Message::Done(statement, us),
        Message::Call => Message::Call,
        _ if rest.is_empty() => Message::Took(us),
        _ => Message::Other,
    })
}

fn statement(message: &str) -> Message<'_> {
    if let Some(text) = message.strip_prefix("statement: ") {
        let prepared = None;
        return Message::Statement(Statement { text, prepared });
    }
    let is_call = |call: &&str| message.starts_with(*call);
    // A later fetch of a portal has the text again, and its rows came with the first.
    let calls = [
        "parse ",
        "bind ",
        "execute fetch from ",
        "fastpath function call",
    ];
    if calls.iter().any(is_call) {
        return Message::Call;
    }
    let Some((name, text)) = message
        .strip_prefix("execute ")
        .and_then(|rest| rest.split_once(": "))
    else {
        return Message::Other;
    };
    // `name/portal`.
    let name = name.split('/').next().unwrap_or_default();
    Message::Statement(Statement {
        text,
        prepared: Some(if name == "<unnamed>" { "" } else { name }),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_of_all_forms_are_told_apart() {
        let simple = |text| Statement {
            text,
            prepared: None,
        };
        let extended = |name, text| Statement {
            text,
            prepared: Some(name),
        };
        for (message, read) in [
            (
                "statement: SELECT 1",
                Message::Statement(simple("SELECT 1")),
            ),
            (
                "execute <unnamed>: SELECT $1: x",
                Message::Statement(extended("", "SELECT $1: x")),
            ),
            (
                "execute S_1/C_2: SELECT 1",
                Message::Statement(extended("S_1", "SELECT 1")),
            ),
            (
                "duration: 1.250 ms  statement: SELECT 1",
                Message::Done(simple("SELECT 1"), 1250),
            ),
            (
                "duration: 0.010 ms  execute P0_1: SELECT 1",
                Message::Done(extended("P0_1", "SELECT 1"), 10),
            ),
            ("duration: 0.010 ms  bind P0_1: SELECT 1", Message::Call),
            ("duration: 0.010 ms  parse P0_1: SELECT 1", Message::Call),
            ("execute fetch from <unnamed>/C_2: SELECT 1", Message::Call),
            ("duration: 7.5 ms", Message::Took(7500)),
            ("duration: -1 ms", Message::Other),
            ("duration: inf ms", Message::Other),
            ("duration: ", Message::Other),
            (
                "connection authorized: user=app database=shop application_name=psql",
                Message::LoggedIn(Some("app"), Some("shop")),
            ),
            ("disconnection: session time: 0:00:01.2", Message::Ended),
            ("checkpoint starting: time", Message::Other),
        ] {
            assert_eq!(Message::of(message), read, "{message}");
        }
    }
}
