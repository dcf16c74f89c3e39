//! Questions to a server over an open connection. They change nothing there.

use std::collections::BTreeMap;

use mysql::Conn;
use mysql::prelude::Queryable;

use super::kept::{COUNTERS, VARIABLES};
use super::{Capture, FORMAT, Product};

/// Why a server could not be captured.
#[derive(Debug, thiserror::Error)]
#[error("the server does not answer {question}: {error}; look at its error log")]
pub struct AskError {
    question: &'static str,
    error: mysql::Error,
}

/// Asks a server everything that a capture holds, but for the volumes under its directories.
///
/// # Errors
/// When it does not answer. No privilege is needed for what is asked.
pub fn take(connection: &mut Conn) -> Result<Capture, AskError> {
    let variables: BTreeMap<String, String> = pairs(connection, "SHOW GLOBAL VARIABLES")?.collect();
    let counters = pairs(connection, "SHOW GLOBAL STATUS")?;
    let status = counters.filter_map(|(name, value)| {
        let kept = COUNTERS.contains(&name.as_str());
        Some((name, value.parse().ok()?)).filter(|_| kept)
    });
    let status = status.collect();
    let taken = ask(
        connection,
        "SELECT DATE_FORMAT(UTC_TIMESTAMP(), '%Y-%m-%dT%H:%i:%sZ')",
    )?;
    let known = |name: &str| variables.get(name).cloned().unwrap_or_default();
    let version = known("version");
    Ok(Capture {
        format: FORMAT,
        dbstow: env!("CARGO_PKG_VERSION").to_owned(),
        product: Product::of(&version, &known("version_comment")),
        taken,
        redacted: false,
        edition: known("version_comment"),
        platform: known("version_compile_os"),
        version,
        status,
        variables: variables
            .into_iter()
            .filter(|(name, _)| VARIABLES.contains(&name.as_str()))
            .collect(),
        ..Capture::default()
    })
}

/// A server's process, as the server tells of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Process {
    /// The file that it wrote its number to when it started.
    pub file: String,
    /// When it started, in seconds since 1970, by the clock of its machine.
    pub started_s: u64,
}

/// The server's process: who finds its file with that time runs on the same machine, and sees the same files.
///
/// # Errors
/// When it does not answer.
pub fn process(connection: &mut Conn) -> Result<Process, AskError> {
    let file = pairs(connection, "SHOW GLOBAL VARIABLES LIKE 'pid_file'")?.next();
    let now = ask(connection, "SELECT CAST(UNIX_TIMESTAMP() AS CHAR)")?;
    let uptime = pairs(connection, "SHOW GLOBAL STATUS LIKE 'Uptime'")?.next();
    let seconds = |text: &str| text.parse::<u64>().unwrap_or(0);
    let uptime = uptime.map_or(0, |(_, value)| seconds(&value));
    Ok(Process {
        file: file.map_or_else(String::new, |(_, file)| file),
        started_s: seconds(&now).saturating_sub(uptime),
    })
}

fn pairs(
    connection: &mut Conn,
    question: &'static str,
) -> Result<impl Iterator<Item = (String, String)>, AskError> {
    // Bytes, since a path may be of any.
    let rows: Vec<(Vec<u8>, Option<Vec<u8>>)> = connection
        .query(question)
        .map_err(|error| AskError { question, error })?;
    let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
    let rows = rows.into_iter();
    Ok(rows.map(move |(name, value)| (text(name), text(value.unwrap_or_default()))))
}

fn ask(connection: &mut Conn, question: &'static str) -> Result<String, AskError> {
    let answer: Option<String> = connection
        .query_first(question)
        .map_err(|error| AskError { question, error })?;
    Ok(answer.unwrap_or_default())
}
