//! `dbstow lint`: looks at a capture of a SQL Server with rules, and holds them against what was measured.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use rules::{Selection, Severity};
use sqlserver::capture::Capture;
use sqlserver::lint::{Asked, Profile};

use super::output::note;
use super::{Mistake, NotMet, ServerLogin, doctor, listing};
use analysis::findings;
use analysis::lint::{self, Document, Told};
use analysis::report::lint::{json, list, sarif, text};
use catalogue::Catalogue;
use experiment::results::Results;
use experiment::spec::near;
use files::input;

/// Arguments of `lint`.
#[derive(Clone, Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
    dbstow lint server.json\n  \
    SQLCMDPASSWORD=.. dbstow lint --server sqlserver://sa@db1\n  \
    dbstow lint server.json --host host.toml --fail-on high\n  \
    dbstow lint server.json --results dbstow-results/files-times-disks-1f2e3d4c\n  \
    dbstow lint server.json --format sarif > lint.sarif\n  \
    dbstow lint --list")]
pub struct Args {
    /// Capture of a server, as `dbstow doctor` wrote it
    #[arg(required_unless_present_any = ["list", "server"])]
    pub capture: Option<PathBuf>,
    /// Look at this server instead: HOST, HOST,PORT, HOST\INSTANCE or sqlserver://USER@HOST (read-only)
    #[arg(long, value_name = "SERVER", conflicts_with = "capture")]
    pub server: Option<String>,
    /// Facts about the host that T-SQL cannot see: a TOML file with `azure` and the volumes
    #[arg(long, value_name = "FILE")]
    pub host: Option<PathBuf>,
    /// Also read this catalogue file, for the disks that --host names; may be given several times
    #[arg(long, value_name = "FILE", requires = "host")]
    pub catalogue: Vec<PathBuf>,
    /// Results of `dbstow run` whose comparisons support or contradict findings; may be given several times
    #[arg(long, value_name = "FOLDER")]
    pub results: Vec<PathBuf>,
    /// How to print what was found
    #[arg(long, value_enum, default_value_t)]
    pub format: Format,
    /// Exit with code 3 if a finding is this severe or worse [default: never]
    #[arg(long, value_enum, value_name = "SEVERITY")]
    pub fail_on: Option<FailOn>,
    /// Only this rule; may be given several times
    #[arg(long, value_name = "ID")]
    pub rule: Vec<String>,
    /// Not this rule; may be given several times
    #[arg(long, value_name = "ID")]
    pub ignore: Vec<String>,
    /// Rate latencies by this published ladder, too; they disagree with each other by more than 100 times
    #[arg(long, value_enum)]
    pub profile: Vec<Ladder>,
    /// Print every rule with its severity and sources
    #[arg(long, conflicts_with_all = ["capture", "server", "host", "catalogue", "results", "fail_on", "rule", "ignore", "profile"])]
    pub list: bool,
    /// How to log in
    #[command(flatten)]
    pub login: ServerLogin,
}

/// How outcomes are printed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum Format {
    /// Text, most severe finding first
    #[default]
    Text,
    /// One JSON document (schema/lint.schema.json)
    Json,
    /// SARIF 2.1.0
    Sarif,
}

/// From which severity on a finding is a failure.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum FailOn {
    /// Any finding
    Note,
    /// Low, medium and high
    Low,
    /// Medium and high
    Medium,
    /// High only
    High,
}

/// A published ladder of latencies.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Ladder {
    /// Microsoft's page on slow I/O: from 16 ms on
    Microsoft,
    /// dbatools' Test-DbaDiskSpeed: from 20 ms on
    Dbatools,
    /// First Responder Kit: from 100 ms on
    FirstResponderKit,
    /// Azure's I/O performance analysis: from 500 ms on
    Azure,
}

/// Runs `dbstow lint`.
///
/// # Errors
/// When the capture, the host's file or the results cannot be read, a rule is not known, or, with
/// `--fail-on`, a finding stands that is as severe.
pub fn run(args: &Args) -> Result<()> {
    match (&args.server, &args.capture) {
        (Some(server), _) => look(server, doctor::take(server, &args.login)?.0, args),
        (None, Some(file)) => look(&file.display().to_string(), doctor::load(file)?, args),
        (None, None) => print_list(args.format),
    }
}

/// Looks at a capture, wherever it came from, and prints what was found; `name` is where it came from.
///
/// # Errors
/// As [`run`].
pub fn look(name: &str, mut capture: Capture, args: &Args) -> Result<()> {
    let asked = asked(args)?;
    if let Some(file) = &args.host {
        tell(&mut capture, file, &listing::catalogue(&args.catalogue)?)?;
    }
    let judged = sqlserver::lint::judge(&capture, &asked);
    let opened: Result<Vec<Opened>> = args.results.iter().map(|folder| open(folder)).collect();
    let opened = opened?;
    let results: Vec<lint::Results> = opened.iter().map(Opened::as_results).collect();
    let server = lint::Server::of_sql_server(name, &capture);
    let document = lint::document(server, &asked, &judged, &results);
    let printed = match args.format {
        Format::Text => text::render(&document),
        Format::Json => json(&document),
        Format::Sarif => sarif::render(&document),
    };
    print(&printed, args.format)?;
    held(&document, args.fail_on)
}

fn print_list(format: Format) -> Result<()> {
    let printed = match format {
        Format::Text => list::text(),
        Format::Json => list::json(),
        Format::Sarif => {
            let message =
                "--list is printed as text or JSON; SARIF holds the rules beside their results";
            return Err(Mistake(message.to_owned()).into());
        }
    };
    print(&printed, format)
}

fn print(text: &str, format: Format) -> Result<()> {
    match format {
        Format::Text => super::print(text)?,
        Format::Json | Format::Sarif => super::print_json(text)?,
    }
    Ok(())
}

/// Adds what somebody told of the host.
fn tell(capture: &mut Capture, file: &Path, catalogue: &Catalogue) -> Result<()> {
    let name = file.display().to_string();
    let text = input::named(file);
    let text = text.with_context(|| format!("cannot read the host's file {name}"))?;
    let told = Told::parse(&name, &text, catalogue)?;
    for mount in lint::merge(capture, told) {
        note(&format!(
            "dbstow: {name} tells of {mount}, where the capture has no file"
        ));
    }
    Ok(())
}

/// A results folder, and what was found in it.
struct Opened {
    folder: String,
    results: Results,
    findings: findings::Findings,
}

impl Opened {
    fn as_results(&self) -> lint::Results<'_> {
        lint::Results {
            folder: &self.folder,
            plan: &self.results.plan,
            findings: &self.findings,
        }
    }
}

fn open(folder: &Path) -> Result<Opened> {
    let results = Results::open(folder)?;
    let (records, unreadable) = results.records();
    for warning in unreadable {
        note(&format!("dbstow: {}", warning.text));
    }
    Ok(Opened {
        folder: folder.display().to_string(),
        findings: findings::make(&results.question, &records),
        results,
    })
}

fn asked(args: &Args) -> Result<Asked> {
    let known = |ids: &[String], option: &str| -> Result<BTreeSet<String>> {
        for id in ids {
            if sqlserver::lint::rule(id).is_none() {
                return Err(unknown(id, option).into());
            }
        }
        Ok(ids.iter().cloned().collect())
    };
    Ok(Asked {
        selection: Selection {
            only: known(&args.rule, "--rule")?,
            ignored: known(&args.ignore, "--ignore")?,
        },
        profiles: args.profile.iter().map(|ladder| profile(*ladder)).collect(),
    })
}

fn unknown(id: &str, option: &str) -> Mistake {
    let remedy = match near(id, sqlserver::lint::rules().map(|rule| rule.id)) {
        Some(name) => format!("did you mean \"{name}\"?"),
        None => "`dbstow lint --list` shows all".to_owned(),
    };
    Mistake(format!("{option}: there is no rule \"{id}\"; {remedy}"))
}

fn profile(ladder: Ladder) -> Profile {
    match ladder {
        Ladder::Microsoft => Profile::Microsoft,
        Ladder::Dbatools => Profile::Dbatools,
        Ladder::FirstResponderKit => Profile::FirstResponderKit,
        Ladder::Azure => Profile::Azure,
    }
}

/// Whether no finding is as severe as was told not to stand.
fn held(document: &Document, fail_on: Option<FailOn>) -> Result<()> {
    let limit = match fail_on {
        None => return Ok(()),
        Some(FailOn::Note) => Severity::Note,
        Some(FailOn::Low) => Severity::Low,
        Some(FailOn::Medium) => Severity::Medium,
        Some(FailOn::High) => Severity::High,
    };
    let standing = document.counts.at_least(limit);
    let (findings, verb) = match standing {
        0 => return Ok(()),
        1 => ("1 finding".to_owned(), "is"),
        more => (format!("{more} findings"), "are"),
    };
    let name = limit.name();
    let worse = if limit == Severity::High {
        ""
    } else {
        " or worse"
    };
    Err(NotMet(format!(
        "{findings} {verb} {name}{worse} (--fail-on {name})"
    ))
    .into())
}
