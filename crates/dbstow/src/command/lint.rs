//! `dbstow lint`: checks a server or a capture of one against the rules for its product, and compares them with the
//! user's own measurements.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use rules::{CapturedProduct, Host, RuleInfo, Selection, Server, Severity, Unconfirmed};

use super::captured;
use super::output::{note, print_report};
use super::service_lint;
use super::{ExpectationFailed, ServerLogin, ServerTimeout, UsageError, listing};
use crate::engines::{self, CAPTURED, rule_profiles};
use analysis::findings;
use analysis::lint::{self, Document};
use analysis::report::lint::{json, list, report, sarif};
use experiment::results::Results;
use experiment::spec::near;
use files::input;

/// Arguments of `lint`.
#[derive(Clone, Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
    dbstow lint server.json\n  \
    SQLCMDPASSWORD=.. dbstow lint --server sqlserver://sa@db1\n  \
    dbstow lint --server 'mysql://root@localhost/?socket=/run/mysqld/mysqld.sock'\n  \
    dbstow lint server.json --host host.toml --fail-on high\n  \
    dbstow lint shop.toml --today today.toml                                # of a managed service: a profile, and its layout\n  \
    dbstow lint server.json --results dbstow-results/files-times-disks-1f2e3d4c\n  \
    dbstow lint server.json --format sarif > lint.sarif\n  \
    dbstow lint --list")]
pub struct Args {
    /// Capture of a server, as `dbstow doctor` wrote it; with --today, a profile of a server of a managed service
    #[arg(required_unless_present_any = ["list", "server"])]
    pub capture: Option<PathBuf>,
    /// Look at this server instead: HOST, HOST,PORT, HOST\INSTANCE, sqlserver://USER@HOST or mysql://USER@HOST
    /// (read-only)
    #[arg(long, value_name = "SERVER", conflicts_with = "capture")]
    pub server: Option<String>,
    /// The layout that the profile was recorded on, as for `dbstow advise`: class and storage of a managed service
    #[arg(long, value_name = "FILE", requires = "capture", conflicts_with_all = ["server", "host", "results"])]
    pub today: Option<String>,
    /// Facts about the host that the server cannot see: a TOML file with `azure` and the volumes
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
    /// Print everything, not one screen of it
    #[arg(long)]
    pub full: bool,
    /// Exit with code 3 if a finding is this severe or worse [default: never]
    #[arg(long, value_enum, value_name = "SEVERITY")]
    pub fail_on: Option<FailOn>,
    /// Only this rule; may be given several times
    #[arg(long, value_name = "ID")]
    pub rule: Vec<String>,
    /// Not this rule; may be given several times
    #[arg(long, value_name = "ID")]
    pub ignore: Vec<String>,
    /// Rate latencies of SQL Server by this published ladder, too; they disagree with each other by more than
    /// 100 times
    #[arg(long, value_parser = profile())]
    pub profile: Vec<String>,
    /// Print every rule with its severity and sources
    #[arg(long, conflicts_with_all = ["capture", "server", "today", "host", "catalogue", "results", "fail_on", "rule", "ignore", "profile", "timeout"])]
    pub list: bool,
    /// How long the server may take
    #[command(flatten)]
    pub timeout: ServerTimeout,
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

fn profile() -> impl TypedValueParser<Value = String> {
    let profiles = rule_profiles().map(|(name, about)| PossibleValue::new(name).help(about));
    PossibleValuesParser::new(profiles)
}

/// Runs `dbstow lint`.
///
/// # Errors
/// When the capture, the host's file or the results cannot be read, a rule is unknown, or, with `--fail-on`, a finding
/// has at least that severity.
pub fn run(args: &Args) -> Result<()> {
    match (&args.server, &args.capture) {
        (None, Some(file)) if args.today.is_some() => {
            let profile = file.display().to_string();
            let mut server = service_lint::load(&profile, args.today.as_deref())?;
            look(&profile, &mut server, args)
        }
        (Some(server), _) => {
            let mut captured = captured::take(server, &args.login, &args.timeout)?;
            let name = captured.url().unwrap_or(server).to_owned();
            look(&name, &mut *captured, args)
        }
        (None, Some(file)) => {
            let mut captured = captured::load(file)?;
            let name = captured
                .url()
                .map_or_else(|| file.display().to_string(), str::to_owned);
            look(&name, &mut *captured, args)
        }
        (None, None) => print_list(args.format),
    }
}

/// Checks a server, whatever the source of what is known of it, and prints the outcomes; `name` is the source.
fn look<S: Server + ?Sized>(name: &str, server: &mut S, args: &Args) -> Result<()> {
    let host = host(args)?;
    let opened: Result<Vec<Opened>> = args.results.iter().map(|folder| open(folder)).collect();
    let opened = opened?;
    let results: Vec<lint::Results> = opened.iter().map(Opened::as_results).collect();
    let identity = server.identity();
    let known = server.rules();
    let selection = selection(args, &known)?;
    let profiles = profiles(args, &known, identity.title)?;
    if let Some((file, host)) = host {
        report_unconfirmed(&file, &server.add_host(&host));
    }
    let checked = server.check(&selection, &profiles);
    let document = lint::document(
        (name, identity),
        (&selection, &profiles),
        &checked,
        &results,
    );
    match args.format {
        Format::Text => {
            let rules = "Rules:   dbstow lint --list\n";
            print_report(
                &report(&document),
                args.full,
                rules,
                "the same command with --full",
            )?;
        }
        Format::Json => print(&json(&document), args.format)?,
        Format::Sarif => print(&sarif::render(&document), args.format)?,
    }
    held(&document, args.fail_on)
}

fn print_list(format: Format) -> Result<()> {
    let printed = match format {
        Format::Text => list::text(&engines::rules()),
        Format::Json => list::json(&engines::rules()),
        Format::Sarif => {
            let message =
                "--list is printed as text or JSON; SARIF holds the rules beside their results";
            return Err(UsageError(message.to_owned()).into());
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

/// What the owner of the host knows, with the name of that file.
fn host(args: &Args) -> Result<Option<(String, Host)>> {
    let Some(file) = &args.host else {
        return Ok(None);
    };
    let name = file.display().to_string();
    let text = input::named(file);
    let text = text.with_context(|| format!("cannot read the host's file {name}"))?;
    let host = lint::host(&name, &text, &listing::catalogue(&args.catalogue)?)?;
    Ok(Some((name, host)))
}

fn report_unconfirmed(file: &str, mounts: &[Unconfirmed]) {
    for Unconfirmed {
        mount_point,
        is_temporary,
    } in mounts
    {
        note(&if *is_temporary {
            format!(
                "dbstow: {file} names a temporary disk {mount_point}, where the capture has no file: nothing shows that \
                 the server has it; check mount_point"
            )
        } else {
            format!(
                "dbstow: {file} names {mount_point}, where the capture has no file: this has no effect; check \
                 mount_point"
            )
        });
    }
}

/// A results folder and its findings.
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
            question: &self.results.question,
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

/// The selected ones of the `known` rules.
fn selection(args: &Args, known: &[RuleInfo]) -> Result<Selection> {
    let all_known = |ids: &[String], option: &str| -> Result<BTreeSet<String>> {
        match ids
            .iter()
            .find(|id| !known.iter().any(|rule| rule.id == *id))
        {
            Some(id) => Err(unknown(id, option, known).into()),
            None => Ok(ids.iter().cloned().collect()),
        }
    };
    Ok(Selection {
        only: all_known(&args.rule, "--rule")?,
        ignored: all_known(&args.ignore, "--ignore")?,
    })
}

/// The selected profiles, which have to be among those of the `known` rules of `product`.
fn profiles(args: &Args, known: &[RuleInfo], product: &str) -> Result<BTreeSet<String>> {
    let has = |profile: &str| known.iter().any(|rule| rule.profile == Some(profile));
    if args.profile.iter().any(|profile| !has(profile)) {
        let has_profiles = |known: &&&dyn CapturedProduct| !known.profiles().is_empty();
        let with = CAPTURED.iter().find(has_profiles);
        let with = with.map_or("no product", |known| known.title());
        let message = format!("--profile is for {with}, and this is {product}; leave it out");
        return Err(UsageError(message).into());
    }
    Ok(args.profile.iter().cloned().collect())
}

fn unknown(id: &str, option: &str, known: &[RuleInfo]) -> UsageError {
    if engines::rules().iter().any(|rule| rule.id == id) {
        return UsageError(format!(
            "{option}: the rule \"{id}\" is for another product; `dbstow lint --list` shows for which"
        ));
    }
    let remedy = match near(id, known.iter().map(|rule| rule.id)) {
        Some(name) => format!("did you mean \"{name}\"?"),
        None => "`dbstow lint --list` shows all".to_owned(),
    };
    UsageError(format!("{option}: there is no rule \"{id}\"; {remedy}"))
}

/// Checks that no finding reaches the severity of `--fail-on`.
fn held(document: &Document, fail_on: Option<FailOn>) -> Result<()> {
    let limit = match fail_on {
        None => return Ok(()),
        Some(FailOn::Note) => Severity::Note,
        Some(FailOn::Low) => Severity::Low,
        Some(FailOn::Medium) => Severity::Medium,
        Some(FailOn::High) => Severity::High,
    };
    let count = document.counts.at_least(limit);
    let (findings, verb) = match count {
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
    Err(ExpectationFailed(format!(
        "{findings} {verb} {name}{worse} (--fail-on {name})"
    ))
    .into())
}
