//! `dbstow doctor`: inspects a server, or a capture of one, and reports what it is and where its files are; for a SQL
//! Server also what dbstow can do there and what is missing for the rest. It changes nothing.

use std::path::{Path, PathBuf};

use anyhow::Result;
use files::write_named;
use import::argument;
use rules::Captured;

use super::captured;
use super::listing::ListFormat;
use super::{ServerLogin, ServerTimeout, UsageError};

/// Arguments of `doctor`.
#[derive(Clone, Debug, clap::Args)]
#[command(
    after_help = "It only sends queries, and changes nothing on the server. For a query that the login may not \
        run, it prints the GRANT that allows it.\n\n\
        SQL Server: T-SQL and client run against Babelfish 4.4 (all loads equal to SQLite's); not yet run on SQL Server.\n\n\
        MariaDB, MySQL: any login will do. A password comes from MYSQL_PWD or ~/.my.cnf. Where the server runs on this \
        machine, the disks under its directories are captured too.\n\n\
        Examples:\n  \
        SQLCMDPASSWORD=.. dbstow doctor --server sqlserver://sa@db1\n  \
        dbstow doctor --server 'db1\\SQL2022' --out db1.json\n  \
        dbstow doctor --server tcp:db1,1433 --trust-server-certificate --out db1.json\n  \
        dbstow doctor --server 'mysql://root@localhost/?socket=/run/mysqld/mysqld.sock' --out db2.json\n  \
        dbstow doctor db1.json\n  \
        dbstow lint db1.json\n\n\
        Exit codes: 0 success, 1 the server could not be queried, 2 usage error."
)]
pub struct Args {
    /// Look at this capture, without a server
    #[arg(value_name = "CAPTURE", conflicts_with = "server")]
    pub capture: Option<PathBuf>,
    /// The server: HOST, HOST,PORT, HOST\INSTANCE or sqlserver://USER@HOST:PORT/DATABASE, without a user your
    /// own account; or mysql://USER@HOST:PORT/
    #[arg(long, value_name = "SERVER", required_unless_present = "capture")]
    pub server: Option<String>,
    /// Write a capture to this file: what was answered, as JSON (schema/capture.json, schema/mariadb-capture.json),
    /// with stand-ins for names
    #[arg(long, value_name = "FILE")]
    pub out: Option<PathBuf>,
    /// Keep real names in the capture; do not share it
    #[arg(long)]
    pub plain: bool,
    /// How to print; as JSON it is the capture itself
    #[arg(long, value_enum, default_value_t)]
    pub format: ListFormat,
    /// How long the server may take
    #[command(flatten)]
    pub timeout: ServerTimeout,
    /// How to log in
    #[command(flatten)]
    pub login: ServerLogin,
}

/// Prints the report, and writes the capture where requested.
///
/// # Errors
/// When the server or capture does not exist, or the capture cannot be written.
pub fn run(args: &Args) -> Result<()> {
    let captured = match (&args.capture, &args.server) {
        (Some(file), _) => captured::load(file)?,
        (None, Some(server)) => captured::take(server, &args.login, &args.timeout)?,
        (None, None) => return Err(UsageError("give --server or a capture".to_owned()).into()),
    };
    // Done first, so that no output promises a file that does not exist.
    if let Some(file) = &args.out {
        write_named(file, captured.json(args.plain).as_bytes())?;
    }
    let text = match args.format {
        ListFormat::Json => captured.json(args.plain),
        ListFormat::Text => format!("{}\n{}", captured.report(), next(args, &*captured)),
    };
    Ok(args.format.print(&text)?)
}

/// What was written, and the next step.
fn next(args: &Args, captured: &dyn Captured) -> String {
    let shown = |file: &Path| argument(&file.display().to_string());
    match (&args.out, &args.capture, &args.server) {
        (Some(file), ..) => {
            let names = match args.plain && !captured.identity().redacted {
                true => "real names; do not share it",
                false => "stand-ins for names; review it before sharing it",
            };
            let file = shown(file);
            format!("Capture: {file} ({names})\nNext:    dbstow lint {file}\n")
        }
        (None, Some(file), _) => format!("Next:    dbstow lint {}\n", shown(file)),
        (None, None, server) => {
            let given = server.as_deref().unwrap_or_default();
            let server = argument(captured.url().unwrap_or(given));
            format!(
                "Next:    dbstow doctor --server {server} --out server.json\n         dbstow lint server.json\n"
            )
        }
    }
}
