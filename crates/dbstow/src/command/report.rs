//! `dbstow report`: reports on recorded trials, from the records alone, and on advice that was given.

pub(crate) mod advised;
mod args;
mod open;

pub use args::{Args, Format, Output};
pub(super) use open::open;

use std::io::IsTerminal as _;
use std::path::PathBuf;

use anyhow::{Result, bail};
use files::{Folder, Readers, is_stream, write_named};

use super::output::{note, print_report, width};
use super::{UsageError, drilled};
use analysis::findings::{self, Findings};
use analysis::report::page::{self, Parts};
use analysis::report::side_by_side::SideBySide;
use analysis::report::slower::Slower;
use analysis::report::{csv, json, markdown, run as report_on};
use experiment::record::Record;
use experiment::results::Results;

/// The page's file name in a results folder.
const PAGE: &str = "report.html";

/// Runs `dbstow report`.
///
/// # Errors
/// When a folder holds no results, or a requested page cannot be written.
pub fn run(args: &Args) -> Result<()> {
    if let Some(file) = advised::document(&args.folder) {
        return advised::show(&file, args);
    }
    let results = Results::open(&args.folder)?;
    if args.output.format == Format::Parquet {
        return write_table(&results, args);
    }
    if args.out.is_some() {
        let message =
            "--out is for --format parquet; other forms are printed: redirect them with >";
        return Err(UsageError(message.to_owned()).into());
    }
    match &args.other {
        None => {
            let findings = show(&results, &args.output)?;
            if args.output.fail_if_slower.is_some() {
                all_completed(&findings)?;
            }
            args.output.judge(|share| Slower::of(&findings, share))
        }
        Some(other) => show_both(&results, &Results::open(other)?, args),
    }
}

/// Writes a folder's records as a table.
fn write_table(results: &Results, args: &Args) -> Result<()> {
    let mistake = |message: &str| Err(UsageError(format!("--format parquet: {message}")).into());
    let Some(file) = &args.out else {
        return mistake("Parquet is binary; write it to a file with --out FILE.parquet");
    };
    if args.other.is_some() {
        return mistake("it has the records of one result; leave the second folder out");
    }
    if is_stream(file) && std::io::stdout().is_terminal() {
        return mistake(
            "Parquet is binary, and this is a terminal; write it to a file with --out FILE.parquet",
        );
    }
    let (records, left_out) = results.records();
    for warning in &left_out {
        note(&format!("dbstow: {}", warning.text));
    }
    let Some(bytes) = table(results, &records) else {
        return mistake("this build has no Parquet; build dbstow with --features parquet");
    };
    write_named(file, &bytes)?;
    let (rows, file) = (records.len(), file.display());
    note(&format!("dbstow: {rows} records are written to {file}"));
    Ok(())
}

/// Records as Parquet, where this build supports it.
fn table(results: &Results, records: &[Record]) -> Option<Vec<u8>> {
    #[cfg(feature = "parquet")]
    return Some(analysis::report::parquet::render(
        &results.question,
        records,
    ));
    #[cfg(not(feature = "parquet"))]
    {
        let _ = (results, records);
        None
    }
}

/// Prints the findings for a folder, and writes them as a page. Returns them.
///
/// # Errors
/// When nothing can be printed, or a requested page cannot be written.
pub fn show(results: &Results, output: &Output) -> Result<Findings> {
    let (records, mut findings) = found(results);
    if let Some(folder) = &output.drill {
        drilled::add_to_findings(folder, &mut findings)?;
    }
    let page = write_page(results, &records, &findings, output);
    match output.format {
        Format::Text => {
            let records = results.folder().display();
            let files = format!("Records: {records}\n{}", page_line(&page));
            let more = format!("dbstow report {records} --full");
            print_report(&report_on::report(&findings), output.full, &files, &more)?;
        }
        Format::Json => super::print_json(&format!("{}\n", json::render(&findings)))?,
        Format::Csv => super::print(&csv::render(&findings))?,
        Format::Markdown => super::print(&markdown::render(&report_on::report(&findings)))?,
        Format::Parquet => return Err(not_printed()),
    }
    // Only now, so that a failure here does not lose the findings.
    if let Some(page) = page?.filter(|_| output.open) {
        open(&page)?;
    }
    Ok(findings)
}

/// The findings of recorded trials.
pub(super) fn findings_of(results: &Results) -> Findings {
    found(results).1
}

/// Parquet is binary; it needs a file.
pub(super) fn not_printed() -> anyhow::Error {
    let message = "--format parquet: `dbstow report FOLDER --format parquet --out FILE` writes it; choose another format here";
    UsageError(message.to_owned()).into()
}

fn page_line(page: &Result<Option<PathBuf>>) -> String {
    match page {
        Ok(Some(page)) => format!("Page:    {}\n", page.display()),
        Ok(None) | Err(_) => String::new(),
    }
}

/// Prints two results side by side, and writes them as a page where requested.
fn show_both(before: &Results, after: &Results, args: &Args) -> Result<()> {
    if args.output.drill.is_some() {
        let message = "--drill is for the report of one result; leave it out";
        return Err(UsageError(message.to_owned()).into());
    }
    if args.output.open && args.output.html.is_none() {
        return Err(UsageError("--open with two results needs --html FILE".to_owned()).into());
    }
    let metric = args.metric.as_ref().unwrap_or(&before.question.metric);
    let (before_found, after_found) = (found(before).1, found(after).1);
    let folders = [before, after].map(|results| results.folder().display().to_string());
    let both = SideBySide::of(&before_found, &after_found, metric)?
        .in_folders(folders.each_ref().map(String::as_str));
    match args.output.format {
        Format::Text => super::print(&both.text(width()))?,
        Format::Json => super::print_json(&both.json())?,
        Format::Csv => super::print(&both.csv())?,
        Format::Markdown => super::print(&both.markdown())?,
        Format::Parquet => return Err(not_printed()),
    }
    if let Some(file) = &args.output.html {
        write_named(file, both.page().as_bytes())?;
        if args.output.open {
            open(file)?;
        }
    }
    if args.output.fail_if_slower.is_some() {
        all_completed(&before_found)?;
        all_completed(&after_found)?;
    }
    let judged = |share| Slower::of_two(both.document(), share);
    args.output.judge(judged)
}

/// Refuses to judge results in which an arm has no valid trial.
///
/// # Errors
/// When there is one.
pub(super) fn all_completed(findings: &Findings) -> Result<()> {
    let without = findings.arms.iter().filter(|arm| arm.trials == 0);
    let without: Vec<&str> = without.map(|arm| arm.name.as_str()).collect();
    match (without.len(), findings.arms.len()) {
        (0, _) => Ok(()),
        (failed, all) if failed == all => bail!("no trial completed; see the warnings"),
        (_, _) => bail!(
            "no trial completed of {}; see the warnings",
            without.join(", ")
        ),
    }
}

/// The records of a folder and their findings; unreadable records are reported.
fn found(results: &Results) -> (Vec<Record>, Findings) {
    let (records, unreadable) = results.records();
    let mut findings = findings::make(&results.question, &records);
    findings.warnings.extend(unreadable);
    (records, findings)
}

/// Writes the page to the requested path, or into the results folder if that is writable. Prints the path.
fn write_page(
    results: &Results,
    records: &[Record],
    findings: &Findings,
    output: &Output,
) -> Result<Option<PathBuf>> {
    let curves = findings::curves(&results.question, records, findings);
    let when = results.finished();
    let text = page::render(Parts {
        findings,
        curves: &curves,
        plan: &results.plan,
        when: when.as_deref(),
    });
    if let Some(file) = &output.html {
        write_named(file, text.as_bytes())?;
        return Ok(Some(file.clone()));
    }
    // Nothing is written to a folder that may belong to another user.
    let folder = Folder::to_fill(results.folder(), Readers::Umask);
    let write = |folder: Folder| folder.write(PAGE.as_ref(), text.as_bytes(), Readers::Umask);
    match folder.and_then(write) {
        Ok(()) => Ok(Some(results.folder().join(PAGE))),
        Err(error) => {
            note(&format!(
                "dbstow: cannot write the page: {error}; choose another file with --html FILE"
            ));
            Ok(None)
        }
    }
}
