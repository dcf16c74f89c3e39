//! A captured server of any product: taken from a server, or read from a file.

use std::path::Path;

use anyhow::{Context, Result};
use mariadb::capture as mysql;
use sqlserver::capture::{Capture, Greeting};

use super::{ServerLogin, ServerTimeout, UsageError};
use experiment::kind::Kind;
use files::input;

/// URL schemes of MariaDB and MySQL; everything else is a SQL Server.
const MYSQL: [&str; 2] = ["mysql://", "mariadb://"];

/// A captured server.
#[derive(Clone, Debug)]
pub(crate) enum Captured {
    /// A SQL Server, and the login that queried it, where that was just now.
    SqlServer(Box<Capture>, Option<Greeting>),
    /// A MariaDB or MySQL, and its URL without a password, where it was queried just now.
    MariaDb(Box<mysql::Capture>, Option<String>),
}

impl Captured {
    /// Queries a server for everything in a capture. Names are kept.
    ///
    /// # Errors
    /// When there is no server, it refuses the login, or does not identify itself.
    pub(crate) fn take(
        server: &str,
        login: &ServerLogin,
        timeout: &ServerTimeout,
    ) -> Result<Captured> {
        if MYSQL.iter().any(|start| server.starts_with(start)) {
            if !login.options.is_empty() {
                let text = "options of SQL Server's login have no effect on MariaDB and MySQL; leave them out, and give \
                            ssl-mode and ssl-ca in the URL";
                return Err(UsageError(text.to_owned()).into());
            }
            let (capture, url) = take_mysql(server, timeout)?;
            return Ok(Captured::MariaDb(Box::new(capture), Some(url)));
        }
        let (capture, greeting) = take_sql_server(server, login, timeout)?;
        Ok(Captured::SqlServer(Box::new(capture), Some(greeting)))
    }

    /// Reads a capture's file.
    ///
    /// # Errors
    /// When it cannot be read, or is not a capture.
    pub(crate) fn load(file: &Path) -> Result<Captured> {
        let name = file.display().to_string();
        let text = input::named(file).map_err(|error| {
            UsageError(format!(
                "cannot read the capture {name}: {error}; give a file that `dbstow doctor --out` wrote, or a server \
                 with --server"
            ))
        })?;
        Kind::Capture.check(&name, &text)?;
        // Captures of SQL Server name no product.
        Ok(match rules::capture::product(&text) {
            Some(_) => Captured::MariaDb(Box::new(mysql::Capture::from_json(&name, &text)?), None),
            None => Captured::SqlServer(Box::new(Capture::from_json(&name, &text)?), None),
        })
    }

    /// The server, whichever product it is.
    pub(crate) fn server(&mut self) -> &mut dyn rules::Server {
        match self {
            Captured::SqlServer(capture, _) => &mut **capture,
            Captured::MariaDb(capture, _) => &mut **capture,
        }
    }

    /// The display name of a server given as `given`: without a password.
    pub(crate) fn shown<'a>(&'a self, given: &'a str) -> &'a str {
        match self {
            Captured::MariaDb(_, Some(url)) => url,
            Captured::MariaDb(_, None) | Captured::SqlServer(..) => given,
        }
    }

    /// Whether names were replaced in it.
    pub(crate) fn redacted(&self) -> bool {
        match self {
            Captured::SqlServer(capture, _) => capture.redacted,
            Captured::MariaDb(capture, _) => capture.redacted,
        }
    }

    /// The file content, with names replaced by stand-ins unless `plain`.
    pub(crate) fn json(&self, plain: bool) -> Result<String> {
        let text = match (self, plain) {
            (Captured::SqlServer(capture, _), true) => serde_json::to_string_pretty(capture),
            (Captured::SqlServer(capture, greeting), false) => {
                let greeting = greeting.clone().unwrap_or_default();
                serde_json::to_string_pretty(&capture.redacted(&greeting))
            }
            (Captured::MariaDb(capture, _), true) => serde_json::to_string_pretty(capture),
            (Captured::MariaDb(capture, _), false) => {
                serde_json::to_string_pretty(&capture.redacted())
            }
        };
        Ok(text.context("a capture as JSON")? + "\n")
    }
}

#[cfg(feature = "sqlserver")]
fn take_sql_server(
    server: &str,
    login: &ServerLogin,
    timeout: &ServerTimeout,
) -> Result<(Capture, Greeting)> {
    use sqlserver::Access;

    /// Name under which the server lists our session.
    const APPLICATION: &str = "dbstow doctor";
    let access = Access::new(server, &login.options).map_err(in_words)?;
    // Ctrl-C ends the program, as there is nothing to clean up.
    let access = access.with_patience(&timeout.patience(Default::default()));
    let mut session = access.connect(APPLICATION)?;
    sqlserver::capture::capture(&mut session)
        .with_context(|| format!("ask the SQL Server at {}", access.server()))
}

#[cfg(not(feature = "sqlserver"))]
fn take_sql_server(_: &str, _: &ServerLogin, _: &ServerTimeout) -> Result<(Capture, Greeting)> {
    Err(left_out("SQL Server", "sqlserver"))
}

#[cfg(all(unix, feature = "mariadb"))]
fn take_mysql(server: &str, timeout: &ServerTimeout) -> Result<(mysql::Capture, String)> {
    use mariadb::ServerUrl;
    use mariadb::capture::of_server;

    let url = ServerUrl::parse(server).map_err(in_words)?;
    let url = url.with_patience(timeout.patience(Default::default()));
    Ok((of_server(&url)?, url.to_string()))
}

#[cfg(not(all(unix, feature = "mariadb")))]
fn take_mysql(_: &str, _: &ServerTimeout) -> Result<(mysql::Capture, String)> {
    Err(left_out("MariaDB", "mariadb"))
}

/// Missing input detected before any attempt is a usage error.
#[cfg(any(feature = "sqlserver", all(unix, feature = "mariadb")))]
fn in_words(error: engine::EngineError) -> anyhow::Error {
    use engine::EngineError;

    match error {
        EngineError::Missing(text) => UsageError(text).into(),
        EngineError::Failed { .. } => anyhow::Error::from(error),
    }
}

#[cfg(not(all(feature = "sqlserver", unix, feature = "mariadb")))]
fn left_out(product: &str, feature: &str) -> anyhow::Error {
    let text = format!(
        "this dbstow was built without {product} (cargo feature `{feature}`): give a capture that another one wrote, \
         instead of --server"
    );
    UsageError(text).into()
}
