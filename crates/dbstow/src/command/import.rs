//! `dbstow import`: converts recordings of other tools into a profile.

use std::path::{Path, PathBuf};

use anyhow::Result;
use catalogue::Catalogue;
use clap::builder::{PossibleValuesParser, TypedValueParser as _};
use files::{FileError, input};
use import::{self, DateOrder, Device, Format, Options, Source, UtcOffset};
use model::Duration;
use profile::{Profile, Timestamp};

use super::UsageError;
use super::output::{note, note_whole, print_whole};
use analysis::demand::demand_of;
use analysis::report::profile::imported as report;
use experiment::results::Results;

/// Arguments of `import`.
#[derive(Clone, Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
    dbstow import iostat.json --device data=vdb --device log=vdc --out shop.toml\n  \
    dbstow import monday.csv tuesday.csv --device data=D: --device temp=T: --device log=L: --out shop.toml\n  \
    dbstow import BlitzFirst_FileStats.csv --out shop.toml\n  \
    dbstow import cloudwatch.json --with recorded.toml --machine aws.rds.postgresql.db.r6i.2xlarge --out shop.toml\n  \
    dbstow import dbstow-results/tempdb-spill-1f2e3d4c --arm p30 --out shop.toml\n\n\
    Show the result: dbstow profile shop.toml\n\
    docs/profile.md lists the tools, how to record with them, and what each can tell.")]
pub struct Args {
    /// Files of one tool, which are put together in order of time; or the results folder of a run
    #[arg(required = true)]
    pub file: Vec<PathBuf>,
    /// Profile to write
    #[arg(long, value_name = "FILE")]
    pub out: PathBuf,
    /// Replace the profile that is there
    #[arg(long)]
    pub force: bool,
    /// What is on a device of the file: data, log or temp; may be given several times
    #[arg(long, value_name = "ROLE=DEVICE")]
    pub device: Vec<Device>,
    /// What wrote the files [default: recognised by their content]
    #[arg(long, value_parser = PossibleValuesParser::new(Format::names()).try_map(|name| name.parse::<Format>()))]
    pub format: Option<Format>,
    /// Of performance counters with several SQL Servers: the instance whose counters are used, such as A of MSSQL$A, or
    /// MSSQLSERVER; may be given several times
    #[arg(long, value_name = "NAME")]
    pub instance: Vec<String>,
    /// A profile that `dbstow record` wrote of the same time, whose volumes the files are of: the result has both
    #[arg(long, value_name = "PROFILE", value_hint = clap::ValueHint::FilePath)]
    pub with: Option<PathBuf>,
    /// Of CloudWatch and Azure Monitor: the server's class or machine, which says how many processors are busy
    #[arg(long, value_name = "TYPE")]
    pub machine: Option<String>,
    /// Of a results folder: which arm [default: the only one]
    #[arg(long)]
    pub arm: Option<String>,
    /// Time of the first record, such as 2026-11-22T10:00:00Z, for files without dates
    #[arg(long, value_name = "TIME")]
    pub start: Option<Timestamp>,
    /// Time between records, for files without times; of traces, the length of an interval [default: 1s]; of Microsoft's
    /// counters, the time between samples [default: 30s]
    #[arg(long)]
    pub interval: Option<Duration>,
    /// How far the file's local times are ahead of UTC, such as +01:00
    #[arg(long, value_name = "OFFSET", allow_hyphen_values = true)]
    pub utc_offset: Option<UtcOffset>,
    /// Order of day and month in dates such as 03/04/2026: dmy or mdy
    #[arg(long, value_name = "ORDER")]
    pub dates: Option<DateOrder>,
}

impl Args {
    /// Given options that only apply to files of other tools.
    fn of_files(&self) -> impl Iterator<Item = &'static str> {
        let given = [
            ("--device", !self.device.is_empty()),
            ("--instance", !self.instance.is_empty()),
            ("--format", self.format.is_some()),
            ("--interval", self.interval.is_some()),
            ("--utc-offset", self.utc_offset.is_some()),
            ("--dates", self.dates.is_some()),
            ("--with", self.with.is_some()),
            ("--machine", self.machine.is_some()),
        ];
        given
            .into_iter()
            .filter(|(_, is_given)| *is_given)
            .map(|(option, _)| option)
    }
}

/// Runs `dbstow import`.
///
/// # Errors
/// When a file cannot be read, parsed or combined with the others, or the profile cannot be written.
pub fn run(args: &Args) -> Result<()> {
    if args.force {
        check_no_folder(&args.out)?;
    } else {
        check_free(&args.out, "give another --out, or --force to replace it")?;
    }
    let (from, profile) = match args.file.as_slice() {
        [folder] if folder.is_dir() => {
            for option in args.of_files() {
                note(&format!(
                    "dbstow: {option} has no effect on a results folder"
                ));
            }
            let results = Results::open(folder)?;
            let (records, unreadable) = results.records();
            for warning in unreadable {
                note(&format!("dbstow: {}", warning.text));
            }
            let profile = demand_of(&results, &records, args.arm.as_deref(), args.start)?;
            ("a run of dbstow".to_owned(), profile)
        }
        files => read(files, args)?,
    };
    save(&args.out, &from, &profile, args.force)
}

/// Refuses an existing or unwritable file, before anything is read or recorded for it.
pub(super) fn check_free(out: &Path, remedy: &str) -> Result<()> {
    if files::is_stream(out) {
        return Ok(());
    }
    check_no_folder(out)?;
    files::check_new(out).map_err(|error| match error {
        FileError::Exists(_) => {
            let out = out.display();
            UsageError(format!("{out} already exists; {remedy}")).into()
        }
        other => anyhow::Error::from(other).context("--out"),
    })
}

/// Refuses a folder, which `--force` does not replace either.
fn check_no_folder(out: &Path) -> Result<(), UsageError> {
    if !out.is_dir() {
        return Ok(());
    }
    let (folder, file) = (out.display(), out.join("profile.toml"));
    let file = file.display();
    Err(UsageError(format!(
        "--out {folder}: it is a folder; give a file, such as {file}"
    )))
}

/// Writes a profile, overwriting an existing file only if `replaces`, and prints what it can answer.
fn save(file: &Path, from: &str, profile: &Profile, replaces: bool) -> Result<()> {
    let text = profile::write(&file.display().to_string(), profile)?;
    match files::is_stream(file) || replaces {
        true => files::write_named(file, text.as_bytes())?,
        false => files::write_new(file, text.as_bytes(), files::Readers::Umask)?,
    }
    show(file, from, profile)
}

/// Prints what the profile in `file` can answer; on standard error where the profile itself goes to a stream.
pub(super) fn show(file: &Path, from: &str, profile: &Profile) -> Result<()> {
    let report = report(&file.display().to_string(), from, profile);
    match files::is_stream(file) {
        true => note_whole(&report),
        false => print_whole(&report)?,
    }
    Ok(())
}

/// The format of the files, and their content.
fn read(files: &[PathBuf], args: &Args) -> Result<(String, Profile)> {
    if args.arm.is_some() {
        let message =
            "--arm chooses among the arms of a results folder; give the folder instead of files";
        return Err(UsageError(message.to_owned()).into());
    }
    let texts: Result<Vec<(String, String)>> = files.iter().map(|file| text(file)).collect();
    let texts = texts?;
    let sources: Vec<Source> = texts
        .iter()
        .map(|(file, text)| Source { file, text })
        .collect();
    let mut imported = import::read(&sources, &options(args)?)?;
    if let Some(recorded) = &args.with {
        let name = recorded.display().to_string();
        let recorded = profile::read(&name, &text(recorded)?.1)?;
        let filled = import::fill(&recorded, imported);
        imported = filled.map_err(|why| UsageError(format!("{}: {why}", sources[0].file)))?;
    }
    for text in &imported.notes {
        note(&format!("dbstow: {text}"));
    }
    let from = match &args.with {
        None => imported.format.to_string(),
        Some(recorded) => format!("{} and {}", recorded.display(), imported.format),
    };
    Ok((from, imported.profile))
}

/// A file's name and text.
fn text(file: &Path) -> Result<(String, String)> {
    let name = file.display().to_string();
    let bytes = input::named_bytes(file)
        .map_err(|error| UsageError(format!("{name}: {error}; give files that a tool recorded")))?;
    let text = import::decode(&name, bytes)?;
    Ok((name, text))
}

fn options(args: &Args) -> Result<Options> {
    let machine = |name: &str| {
        let machine = lab::recorded_on(name, &Catalogue::builtin());
        machine.map_err(|why| UsageError(format!("--machine: {why}")))
    };
    let machine = args.machine.as_deref().map(machine).transpose()?;
    Ok(Options {
        format: args.format,
        devices: args.device.clone(),
        start: args.start,
        interval: args.interval,
        utc_offset: args.utc_offset,
        dates: args.dates,
        instances: args.instance.clone(),
        machine: machine.unwrap_or_default(),
    })
}
