//! `dbstow doctor`: looks at a SQL Server, or at a capture of one, and says what it is, what dbstow can do
//! there and what is missing for the rest. It changes nothing.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use files::write_named;
use sqlserver::capture::{Capture, Greeting};

use super::listing::ListFormat;
use super::{Mistake, ServerLogin};
use analysis::report::terminal::server;
use files::input;

/// Name under which the server lists our session.
#[cfg(feature = "sqlserver")]
const APPLICATION: &str = "dbstow doctor";

/// Arguments of `doctor`.
#[derive(Clone, Debug, clap::Args)]
#[command(
    after_help = "It only sends queries, and changes nothing on the server. For a query that the login may not \
        run, it prints the GRANT that allows it.\n\n\
        SQL Server: parse-checked and protocol-tested; not yet run on SQL Server.\n\n\
        Examples:\n  \
        SQLCMDPASSWORD=.. dbstow doctor --server sqlserver://sa@db1\n  \
        dbstow doctor --server 'db1\\SQL2022' --out db1.json\n  \
        dbstow doctor --server tcp:db1,1433 --trust-server-certificate --out db1.json\n  \
        dbstow doctor db1.json\n  \
        dbstow lint db1.json\n\n\
        Exit codes: 0 success, 1 the server could not be queried, 2 usage error."
)]
pub struct Args {
    /// Look at this capture, without a server
    #[arg(value_name = "CAPTURE", conflicts_with = "server")]
    pub capture: Option<PathBuf>,
    /// The server: HOST, HOST,PORT, HOST\INSTANCE or sqlserver://USER@HOST:PORT/DATABASE; without a user,
    /// your own account
    #[arg(long, value_name = "SERVER", required_unless_present = "capture")]
    pub server: Option<String>,
    /// Write a capture to this file: what was answered, as JSON (schema/capture.json), with stand-ins for
    /// names
    #[arg(long, value_name = "FILE")]
    pub out: Option<PathBuf>,
    /// Keep real names in the capture; do not share it
    #[arg(long)]
    pub plain: bool,
    /// How to print; as JSON it is the capture itself
    #[arg(long, value_enum, default_value_t)]
    pub format: ListFormat,
    /// How to log in
    #[command(flatten)]
    pub login: ServerLogin,
}

/// Asks a server everything that a capture holds. Names are as they are.
///
/// # Errors
/// When it is no server, it does not let us in, or does not say what it is.
#[cfg(feature = "sqlserver")]
pub(crate) fn take(server: &str, login: &ServerLogin) -> Result<(Capture, Greeting)> {
    use lab::engine::EngineError;
    use lab::engine::sqlserver::Access;

    let access = Access::new(server, &login.options()).map_err(|error| match error {
        // What is missing before anything was tried is a mistake in what was asked.
        EngineError::Missing(text) => Mistake(text).into(),
        EngineError::Failed { .. } => anyhow::Error::from(error),
    })?;
    let mut session = access.connect(APPLICATION)?;
    sqlserver::capture::capture(&mut session)
        .with_context(|| format!("ask the SQL Server at {}", access.server()))
}

#[cfg(not(feature = "sqlserver"))]
pub(crate) fn take(_: &str, _: &ServerLogin) -> Result<(Capture, Greeting)> {
    let text = "this dbstow was built without SQL Server (cargo feature `sqlserver`): give a capture that another one \
                wrote, instead of --server";
    Err(Mistake(text.to_owned()).into())
}

/// Reads a capture's file.
///
/// # Errors
/// When it cannot be read, or is no capture.
pub(crate) fn load(file: &Path) -> Result<Capture> {
    let name = file.display().to_string();
    let text = input::named(file).map_err(|error| {
        Mistake(format!(
            "cannot read the capture {name}: {error}; give a file that `dbstow doctor --out` wrote, or a server \
             with --server"
        ))
    })?;
    Ok(Capture::from_json(&name, &text)?)
}

/// Prints what there is to say, and writes the capture where that is asked for.
///
/// # Errors
/// As `take` and `load`, and when the capture cannot be written.
pub fn run(args: &Args) -> Result<()> {
    let (capture, greeting) = match (&args.capture, &args.server) {
        (Some(file), _) => (load(file)?, None),
        (None, Some(server)) => {
            let (capture, greeting) = take(server, &args.login)?;
            (capture, Some(greeting))
        }
        (None, None) => return Err(Mistake("give --server or a capture".to_owned()).into()),
    };
    // First of all, so that nothing printed promises a file that is not there.
    if let Some(file) = &args.out {
        let text = json(&capture, greeting.as_ref(), args.plain)?;
        write_named(file, text.as_bytes())?;
    }
    let text = match args.format {
        ListFormat::Json => json(&capture, greeting.as_ref(), args.plain)?,
        ListFormat::Text => {
            let report = server::render(&capture, greeting.as_ref());
            format!("{report}\n{}", next(args, &capture))
        }
    };
    Ok(args.format.print(&text)?)
}

/// The capture as a file holds it.
fn json(capture: &Capture, greeting: Option<&Greeting>, plain: bool) -> Result<String> {
    let text = match plain {
        true => serde_json::to_string_pretty(capture),
        false => {
            let greeting = greeting.cloned().unwrap_or_default();
            serde_json::to_string_pretty(&capture.redacted(&greeting))
        }
    };
    Ok(text.context("a capture as JSON")? + "\n")
}

/// What was written, and what to do next.
fn next(args: &Args, capture: &Capture) -> String {
    let shown = |file: &Path| quoted(&file.display().to_string());
    match (&args.out, &args.capture, &args.server) {
        (Some(file), ..) => {
            let names = match args.plain && !capture.redacted {
                true => "real names; do not share it",
                false => "stand-ins for names; review it before sharing it",
            };
            let file = shown(file);
            format!("Capture: {file} ({names})\nNext:    dbstow lint {file}\n")
        }
        (None, Some(file), _) => format!("Next:    dbstow lint {}\n", shown(file)),
        (None, None, server) => {
            let server = quoted(server.as_deref().unwrap_or_default());
            format!(
                "Next:    dbstow doctor --server {server} --out server.json\n         dbstow lint server.json\n"
            )
        }
    }
}

/// As every shell takes it, those of Windows too.
fn quoted(text: &str) -> String {
    let plain = |c: char| c.is_alphanumeric() || "._-,:/@".contains(c);
    match text.chars().all(plain) {
        true => text.to_owned(),
        false => format!("\"{text}\""),
    }
}
