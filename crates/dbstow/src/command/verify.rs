//! `dbstow verify`: what advice promised, beside what was then recorded.

use std::path::{Path, PathBuf};

use advise::verify::{Promise, Verification};
use anyhow::{Context, Result};
use files::{input, write_named};
use lab::request::inputs;

use super::listing::ListFormat;
use super::output::print_report;
use super::report::advised;

/// Arguments of `verify`.
#[derive(Clone, Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
    dbstow record --server postgresql://db1 --for 30min --out shop-after.toml\n  \
    dbstow verify shop-advice --after shop-after.toml\n  \
    dbstow verify shop-advice --after shop-after.toml --layout fastest --evidence shop-evidence.toml")]
pub struct Args {
    /// Advice: the folder that `dbstow advise --out` made, or its advice.json
    #[arg(value_name = "ADVICE")]
    pub advice: PathBuf,
    /// Profile of the same server, recorded on its new disks
    #[arg(long, value_name = "PROFILE")]
    pub after: PathBuf,
    /// The layout that it is on now: today, cheapest, runner-up, best-value, fastest or above-budget; without it, the one that the
    /// advice decided for
    #[arg(long, value_name = "NAME")]
    pub layout: Option<String>,
    /// Write the comparison to this file as TOML, to be contributed: product, machine, disks, counters, and no name
    #[arg(long, value_name = "FILE")]
    pub evidence: Option<PathBuf>,
    /// How to print
    #[arg(long, value_enum, default_value_t)]
    pub format: ListFormat,
    /// Print everything, not one screen of it
    #[arg(long)]
    pub full: bool,
}

/// Runs `dbstow verify`.
///
/// # Errors
/// When a file cannot be read or is another one, they are of different servers, or the evidence cannot be written.
pub fn run(args: &Args) -> Result<()> {
    let file = match args.advice.is_dir() {
        true => args.advice.join(advised::DOCUMENT),
        false => args.advice.clone(),
    };
    let name = |path: &Path| path.display().to_string();
    let text = input::named(&file).with_context(|| {
        format!(
            "{}: cannot be read as advice; give the folder that `dbstow advise --out FOLDER` made",
            file.display()
        )
    })?;
    let promise = Promise::read(&name(&file), &text, args.layout.as_deref())?;
    let after = inputs::profile(&args.after)?;
    let verification = Verification::of(promise, (&name(&args.after), &after))?;
    match args.format {
        ListFormat::Text => {
            let (advice, after) = (name(&args.advice), name(&args.after));
            let more = format!("dbstow verify {advice} --after {after} --full");
            print_report(&verification.report(), args.full, "", &more)?;
        }
        ListFormat::Json => super::print_json(&verification.json())?,
    }
    if let Some(file) = &args.evidence {
        write_named(file, verification.evidence().as_bytes())?;
    }
    Ok(())
}
