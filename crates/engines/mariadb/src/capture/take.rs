//! Queries a server over an open connection, without changing anything.

use std::collections::BTreeMap;

use super::kept::{COUNTERS, VARIABLES};
use super::{Capture, FORMAT, Product};

/// The rows of a result: columns as text, `None` for NULL.
pub type Rows = Vec<Vec<Option<String>>>;

/// Why a server could not be captured.
#[derive(Debug, thiserror::Error)]
pub enum AskError<E> {
    /// It does not answer.
    #[error("the server does not answer {question}: {error}; look at its error log")]
    NoAnswer {
        /// The query.
        question: &'static str,
        /// The error.
        error: E,
    },
    /// It returns an unexpected result.
    #[error(
        "the server answers {question} with {came} instead of {wanted}; check what answers at that address"
    )]
    Unexpected {
        /// The query.
        question: &'static str,
        /// What was returned.
        came: String,
        /// What was expected.
        wanted: &'static str,
    },
}

/// Queries everything that a capture contains, except for the volumes under its directories. `ask` runs one query.
///
/// # Errors
/// When it does not answer, or returns an unexpected result. The queries require no privileges.
pub fn take<E>(ask: &mut dyn FnMut(&str) -> Result<Rows, E>) -> Result<Capture, AskError<E>> {
    let variables: BTreeMap<String, String> = pairs(ask, "SHOW GLOBAL VARIABLES")?;
    let counters: BTreeMap<String, String> = pairs(ask, "SHOW GLOBAL STATUS")?;
    let status = counters.into_iter().filter_map(|(name, value)| {
        let kept = COUNTERS.contains(&name.as_str());
        Some((name, value.parse().ok()?)).filter(|_| kept)
    });
    let status = status.collect();
    let taken = word(
        ask,
        "SELECT DATE_FORMAT(UTC_TIMESTAMP(), '%Y-%m-%dT%H:%i:%sZ')",
    )?;
    let known = |name: &str| variables.get(name).cloned().unwrap_or_default();
    let version = known("version");
    if version.is_empty() {
        return Err(AskError::Unexpected {
            question: "SHOW GLOBAL VARIABLES",
            came: "no version".to_owned(),
            wanted: "the variables of a MariaDB or MySQL",
        });
    }
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

/// A server's process, as reported by the server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Process {
    /// Its pid file.
    pub file: String,
    /// When it started, in seconds since 1970, by the clock of its machine.
    pub started_s: u64,
}

/// The server's process: if its pid file exists with that time, we run on the same machine and see the same files.
///
/// # Errors
/// When it does not answer, or returns an unexpected result.
pub fn process<E>(ask: &mut dyn FnMut(&str) -> Result<Rows, E>) -> Result<Process, AskError<E>> {
    let file: Vec<(String, String)> = pairs(ask, "SHOW GLOBAL VARIABLES LIKE 'pid_file'")?;
    let now = word(ask, "SELECT CAST(UNIX_TIMESTAMP() AS CHAR)")?;
    let uptime: Vec<(String, String)> = pairs(ask, "SHOW GLOBAL STATUS LIKE 'Uptime'")?;
    let seconds = |text: &str| text.parse::<u64>().unwrap_or(0);
    let uptime = uptime.first().map_or(0, |(_, value)| seconds(value));
    let file = file.into_iter().next();
    Ok(Process {
        file: file.map_or_else(String::new, |(_, file)| file),
        started_s: seconds(&now).saturating_sub(uptime),
    })
}

/// Names and values; NULL becomes an empty text.
fn pairs<E, C: FromIterator<(String, String)>>(
    ask: &mut dyn FnMut(&str) -> Result<Rows, E>,
    question: &'static str,
) -> Result<C, AskError<E>> {
    let rows = ask(question).map_err(|error| AskError::NoAnswer { question, error })?;
    let pairs = rows.into_iter().map(|row| {
        let count = row.len();
        match <[Option<String>; 2]>::try_from(row) {
            Ok([Some(name), value]) => Ok((name, value.unwrap_or_default())),
            Ok([None, _]) | Err(_) => Err(AskError::Unexpected {
                question,
                came: format!("a row of {count} columns"),
                wanted: "a name and a value",
            }),
        }
    });
    pairs.collect()
}

/// A single text.
fn word<E>(
    ask: &mut dyn FnMut(&str) -> Result<Rows, E>,
    question: &'static str,
) -> Result<String, AskError<E>> {
    let rows = ask(question).map_err(|error| AskError::NoAnswer { question, error })?;
    let first = rows
        .into_iter()
        .next()
        .and_then(|row| row.into_iter().next());
    first.flatten().ok_or_else(|| AskError::Unexpected {
        question,
        came: "nothing, or NULL".to_owned(),
        wanted: "a text",
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answer(question: &str, rows: &[&[Option<&str>]]) -> Result<Capture, AskError<String>> {
        take(&mut |asked| {
            let own =
                |row: &&[Option<&str>]| row.iter().map(|text| text.map(str::to_owned)).collect();
            let usual: &[&[Option<&str>]] = match asked.starts_with("SHOW") {
                true => &[&[Some("version"), Some("10.11.19-MariaDB")]],
                false => &[&[Some("2026-11-26T10:00:00Z")]],
            };
            let rows = if asked == question { rows } else { usual };
            Ok(rows.iter().map(own).collect())
        })
    }

    #[test]
    fn an_answer_of_another_shape_is_refused_with_what_was_asked() {
        let asked = "SHOW GLOBAL STATUS";
        assert!(answer("nothing", &[]).is_ok());
        for rows in [
            &[Some("a")][..],
            &[None, Some("b")],
            &[Some("a"), Some("b"), Some("c")],
            &[],
        ] {
            let error = answer(asked, &[rows])
                .expect_err("it is not a pair")
                .to_string();
            assert!(
                error.contains(asked) && error.contains("a name and a value"),
                "{error}"
            );
        }
        assert!(answer("SHOW GLOBAL VARIABLES", &[]).is_err());
        let time = "SELECT DATE_FORMAT(UTC_TIMESTAMP(), '%Y-%m-%dT%H:%i:%sZ')";
        for rows in [&[][..], &[&[][..]], &[&[None][..]]] {
            assert!(answer(time, rows).is_err());
        }
    }
}
