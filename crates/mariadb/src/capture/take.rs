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
        product: product(&version, &known("version_comment")),
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
    const QUESTION: &str = "SELECT @@pid_file, UNIX_TIMESTAMP()";
    let error = |error| AskError {
        question: QUESTION,
        error,
    };
    let answer: Option<(Option<String>, u64)> = connection.query_first(QUESTION).map_err(error)?;
    let (file, now) = answer.unwrap_or_default();
    let uptime = pairs(connection, "SHOW GLOBAL STATUS LIKE 'Uptime'")?.next();
    let uptime = uptime.and_then(|(_, value)| value.parse::<u64>().ok());
    Ok(Process {
        file: file.unwrap_or_default(),
        started_s: now.saturating_sub(uptime.unwrap_or(0)),
    })
}

/// MariaDB names itself in its version; a package's comment may do so alone.
fn product(version: &str, comment: &str) -> Product {
    let mut texts = [version, comment].into_iter();
    match texts.any(|text| text.to_ascii_lowercase().contains("mariadb")) {
        true => Product::MariaDb,
        false => Product::MySql,
    }
}

fn pairs(
    connection: &mut Conn,
    question: &'static str,
) -> Result<impl Iterator<Item = (String, String)>, AskError> {
    let rows: Vec<(String, Option<String>)> = connection
        .query(question)
        .map_err(|error| AskError { question, error })?;
    let rows = rows.into_iter();
    Ok(rows.map(|(name, value)| (name, value.unwrap_or_default())))
}

fn ask(connection: &mut Conn, question: &'static str) -> Result<String, AskError> {
    let answer: Option<String> = connection
        .query_first(question)
        .map_err(|error| AskError { question, error })?;
    Ok(answer.unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_is_mariadb_where_it_says_so() {
        for (version, comment, expected) in [
            (
                "10.11.19-MariaDB-0+deb12u1-log",
                "Debian 12",
                Product::MariaDb,
            ),
            (
                "11.4.2",
                "mariadb.org binary distribution",
                Product::MariaDb,
            ),
            ("8.4.2", "MySQL Community Server - GPL", Product::MySql),
            ("8.0.36-28", "Percona Server (GPL)", Product::MySql),
        ] {
            assert_eq!(product(version, comment), expected, "{version}");
        }
    }
}
