//! `dbstow profile`: shows a server's demand on its disks.

use std::path::PathBuf;

use anyhow::Result;
use files::write_named;
use profile::{Profile, Rates, RequestRates, Spread, summary};
use replay::answers;
use serde_json::{Value, json};

use super::listing::{self, ListFormat};
use super::output::print_report;
use super::report::open;
use analysis::report::profile::{page, report};
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
        ListFormat::Json => super::print_json(&document(&profile))?,
    }
    if let Some(file) = &args.html {
        write_named(file, page(&profile).as_bytes())?;
        if args.open {
            open(file)?;
        }
    }
    Ok(())
}

/// A list of sentences below a title; empty where there are none.
pub(super) fn bullets(title: &str, sentences: &[String]) -> String {
    if sentences.is_empty() {
        return String::new();
    }
    let row = |sentence: &String| ("-", sentence.clone());
    format!(
        "\n{title}\n{}",
        listing::pairs(sentences.iter().map(row).collect())
    )
}

fn document(profile: &Profile) -> String {
    let summary = summary(profile);
    let role = |role: &profile::RoleSummary| {
        let busiest = with(
            rates(&role.busiest),
            "at_s",
            json!(role.busiest_at.as_secs_f64()),
        );
        (
            role.role.name().to_owned(),
            json!({ "mean": rates(&role.mean), "busiest": busiest }),
        )
    };
    let spread = |spread: Option<Spread>| {
        spread.map(|spread| json!({ "mean": spread.mean, "highest": spread.highest }))
    };
    let waiting = summary.waiting.iter();
    let waiting =
        waiting.map(|(wait, waiting)| (wait.name().to_owned(), json!(spread(Some(*waiting)))));
    let interruptions = profile.interruptions.iter().map(|interruption| {
        json!({ "at_s": interruption.at.as_secs_f64(), "cause": interruption.cause })
    });
    let answers = answers(profile).into_iter().map(|answer| {
        json!({
            "question": answer.question.to_string(),
            "known": answer.is_known,
            "detail": answer.detail,
        })
    });
    let document = json!({
        "origin": profile.origin,
        "machine": profile.machine,
        "volumes": profile.volumes,
        "start": profile.start.to_string(),
        "intervals": profile.intervals.len(),
        "interval_s": summary.interval.as_secs_f64(),
        "covered_s": profile.covered().as_secs_f64(),
        "roles": summary.roles.iter().map(role).collect::<serde_json::Map<_, _>>(),
        "operations_per_s": spread(summary.operations),
        "commits_per_s": spread(summary.commits),
        "processors": spread(summary.processors),
        "sessions": spread(summary.sessions),
        "running": spread(summary.running),
        "waiting": waiting.collect::<serde_json::Map<_, _>>(),
        "answers": answers.collect::<Vec<_>>(),
        "interruptions": interruptions.collect::<Vec<_>>(),
        "assumptions": profile.assumptions,
    });
    format!("{document:#}\n")
}

fn rates(rates: &Rates) -> Value {
    let one = |rates: RequestRates| {
        json!({
            "per_s": rates.per_second,
            "bytes_per_s": rates.bytes_per_second,
            "latency_s": rates.latency.map(model::Duration::as_secs_f64),
        })
    };
    json!({
        "reads": one(rates.reads),
        "writes": one(rates.writes),
        "flushes": one(rates.flushes),
    })
}

fn with(mut object: Value, key: &str, value: Value) -> Value {
    object[key] = value;
    object
}
