//! `dbstow profile`: shows a server's demand on its disks.

use std::path::PathBuf;

use anyhow::Result;
use files::write_named;

use super::listing::ListFormat;
use super::output::print_report;
use super::report::open;
use analysis::report::profile::{json, page, report};
use lab::request::inputs;

/// Arguments of `profile`.
#[derive(Clone, Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
    dbstow profile shop.toml\n  \
    dbstow profile shop.toml --html shop.html --open\n  \
    dbstow profile shop.toml --format json")]
pub struct Args {
    /// Profile, as `dbstow record` and `dbstow import` write it
    pub file: PathBuf,
    /// How to print
    #[arg(long, value_enum, default_value_t)]
    pub format: ListFormat,
    /// Print everything, not one screen of it
    #[arg(long)]
    pub full: bool,
    /// Write an HTML page with charts to this file
    #[arg(long, value_name = "FILE")]
    pub html: Option<PathBuf>,
    /// Show the page in the browser
    #[arg(long, requires = "html")]
    pub open: bool,
}

/// Runs `dbstow profile`.
///
/// # Errors
/// When the file cannot be read or is not a profile, or a requested page cannot be written.
pub fn run(args: &Args) -> Result<()> {
    let profile = inputs::profile(&args.file)?;
    match args.format {
        ListFormat::Text => {
            let more = format!("dbstow profile {} --full", args.file.display());
            print_report(&report(&profile), args.full, "", &more)?;
        }
        ListFormat::Json => super::print_json(&json(&profile))?,
    }
    if let Some(file) = &args.html {
        write_named(file, page(&profile).as_bytes())?;
        if args.open {
            open(file)?;
        }
    }
    Ok(())
}
