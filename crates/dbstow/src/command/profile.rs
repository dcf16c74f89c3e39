//! `dbstow profile`: shows what a server asked of its disks.

use std::path::{Path, PathBuf};

use anyhow::Result;
use files::input;
use profile::{
    Interruption, Lost, Profile, Rates, RequestRates, Spread, Summary, Wait, answers, summary,
};
use serde_json::{Value, json};

use super::Mistake;
use super::import::seconds;
use super::listing::{self, ListFormat};
use analysis::quantity;

/// Stands for a figure that was not recorded.
const UNKNOWN: &str = "-";

/// Arguments of `profile`.
#[derive(Clone, Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
    dbstow profile shop.toml\n  \
    dbstow profile shop.toml --format json")]
pub struct Args {
    /// Profile, as `dbstow record` and `dbstow import` write it
    pub file: PathBuf,
    /// How to print
    #[arg(long, value_enum, default_value_t)]
    pub format: ListFormat,
}

/// Runs `dbstow profile`.
///
/// # Errors
/// When the file cannot be read, or is no profile.
pub fn run(args: &Args) -> Result<()> {
    let profile = load(&args.file)?;
    let text = match args.format {
        ListFormat::Text => text(&profile),
        ListFormat::Json => document(&profile),
    };
    Ok(args.format.print(&text)?)
}

/// Reads a profile.
pub(super) fn load(file: &Path) -> Result<Profile> {
    let name = file.display().to_string();
    let text = input::named(file).map_err(|error| {
        Mistake(format!(
            "{name}: {error}; give a profile, such as `dbstow import` writes"
        ))
    })?;
    Ok(profile::read(&name, &text)?)
}

fn text(profile: &Profile) -> String {
    let summary = summary(profile);
    let mut text = listing::pairs(facts(profile, &summary));
    text.push('\n');
    text.push_str(&requests(&summary));
    let sessions = sessions(&summary);
    if !sessions.is_empty() {
        text.push('\n');
        text.push_str(&listing::table(&["", "mean", "highest"], sessions));
    }
    text.push('\n');
    text.push_str(&answered(profile));
    let interruptions: Vec<String> = profile.interruptions.iter().map(interruption).collect();
    text.push_str(&bullets("Interrupted:", &interruptions));
    text.push_str(&bullets("Assumed:", &profile.assumptions));
    text
}

/// What the profile can answer, as a table.
pub(super) fn answered(profile: &Profile) -> String {
    let row = |answer: profile::Answer| {
        let known = if answer.is_known { "yes" } else { "no" };
        vec![answer.question.to_string(), known.to_owned(), answer.detail]
    };
    let rows = answers(profile).into_iter().map(row).collect();
    listing::table(&["can answer", "", ""], rows)
}

/// A list of sentences below a title; nothing where there are none.
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

fn facts(profile: &Profile, summary: &Summary) -> Vec<(&'static str, String)> {
    let origin = &profile.origin;
    let product = [origin.product.as_deref(), origin.version.as_deref()];
    let product: Vec<&str> = product.into_iter().flatten().collect();
    let machine = &profile.machine;
    let parts = [
        machine.name.clone(),
        machine.processors.map(|count| match count {
            1 => "1 processor".to_owned(),
            count => format!("{count} processors"),
        }),
        machine.memory.map(|memory| format!("{memory} of memory")),
    ];
    let parts: Vec<String> = parts.into_iter().flatten().collect();
    let known = |text: String| {
        if text.is_empty() {
            "not known".to_owned()
        } else {
            text
        }
    };
    let time = format!(
        "{}, {} intervals of {}, {} in total",
        profile.start,
        profile.intervals.len(),
        seconds(summary.interval),
        seconds(profile.covered())
    );
    let volume = |volume: &profile::Volume| {
        let roles: Vec<&str> = volume.roles.iter().map(|role| role.name()).collect();
        let disk = volume.disk.as_ref().map(|disk| format!(" on {disk}"));
        let size = volume.size.map(|size| format!(" of {size}"));
        format!(
            "{}{}{}",
            roles.join(", "),
            disk.unwrap_or_default(),
            size.unwrap_or_default()
        )
    };
    let volumes: Vec<String> = profile.volumes.iter().map(volume).collect();
    vec![
        ("recorded by", origin.tool.clone()),
        ("server", known(product.join(" "))),
        ("machine", known(parts.join(", "))),
        ("start", time),
        ("volumes", known(volumes.join("; "))),
    ]
}

fn requests(summary: &Summary) -> String {
    const MEGABYTE: f64 = 1e6;
    let header = [
        "",
        "",
        "reads/s",
        "writes/s",
        "read MB/s",
        "write MB/s",
        "read ms",
        "write ms",
        "flushes/s",
        "flush ms",
    ];
    let count = |rates: RequestRates| figure(rates.per_second);
    let bytes = |rates: RequestRates| figure(rates.bytes_per_second.map(|bytes| bytes / MEGABYTE));
    let latency = |rates: RequestRates| figure(rates.latency.map(model::Duration::as_millis_f64));
    let row = |name: &str, what: &str, rates: &Rates| {
        let Rates {
            reads,
            writes,
            flushes,
        } = *rates;
        vec![
            name.to_owned(),
            what.to_owned(),
            count(reads),
            count(writes),
            bytes(reads),
            bytes(writes),
            latency(reads),
            latency(writes),
            count(flushes),
            latency(flushes),
        ]
    };
    let rows = summary.roles.iter().flat_map(|role| {
        [
            row(role.role.name(), "mean", &role.mean),
            row("", "busiest", &role.busiest),
        ]
    });
    listing::table(&header, rows.collect())
}

fn sessions(summary: &Summary) -> Vec<Vec<String>> {
    let row = |name: &str, spread: Option<Spread>| {
        let spread = spread?;
        Some(vec![
            name.to_owned(),
            quantity::number(spread.mean),
            quantity::number(spread.highest),
        ])
    };
    let mut rows: Vec<Vec<String>> = [
        row("operations/s", summary.operations),
        row("commits/s", summary.commits),
        row("processors in use", summary.processors),
        row("sessions", summary.sessions),
        row("sessions running", summary.running),
    ]
    .into_iter()
    .flatten()
    .collect();
    let waiting = summary.waiting.iter();
    rows.extend(waiting.filter_map(|(wait, spread)| row(waited_for(*wait), Some(*spread))));
    rows
}

fn waited_for(wait: Wait) -> &'static str {
    match wait {
        Wait::DataRead => "waiting for reads of data",
        Wait::DataWrite => "waiting for writes of data",
        Wait::Log => "waiting for the log",
        Wait::Temp => "waiting for temporary files",
        Wait::Lock => "waiting for locks",
        Wait::Other => "waiting for something else",
    }
}

fn interruption(interruption: &Interruption) -> String {
    let cause = match interruption.cause {
        Lost::Restart => "the server was restarted",
        Lost::Reset => "counters were reset",
        Lost::Gap => "nothing was recorded for a while",
        Lost::Clock => "the clock was set",
    };
    format!("{} after the start {cause}.", seconds(interruption.at))
}

fn figure(value: Option<f64>) -> String {
    value.map_or_else(|| UNKNOWN.to_owned(), quantity::number)
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
