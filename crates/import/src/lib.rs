//! Profiles from files that other tools wrote.
//!
//! ```text
//! bytes ──decode──> text ──sniff──> one importer a format ──> draft ──finish──> Profile
//! ```
//!
//! Importers only parse text: they differ in where figures are, and [`Draft`] handles gaps, resets and clock changes.
//! `docs/profile.md` lists what each format provides.
//!
//! ```
//! use import::{Options, Source};
//!
//! let text = "fio version 3 iolog\n100 shop.dat read 0 8192\n1500000 shop.dat read 8192 8192\n";
//! let source = Source { file: "shop.iolog", text };
//! let imported = import::read(&[source], &Options::default()).unwrap();
//! assert_eq!(imported.profile.intervals.len(), 2);
//! ```

mod azure_monitor;
mod blitz_first;
mod blkparse;
mod buckets;
mod cloudwatch;
mod cloudwatch_answer;
mod cloudwatch_server;
mod cumulative;
mod date_order;
mod devices;
mod error;
mod fill;
mod foreign;
mod format;
mod imported;
mod iolog;
mod iostat;
mod metered;
mod microsoft;
mod number;
mod perfmon;
mod rates;
mod recommendation;
mod sadf;
mod sadf_lines;
mod sadf_record;
mod sniff;
mod source;
mod stamp;
mod steps;
mod sysstat;
mod table;
mod text;
mod twice;

pub use date_order::{DateOrder, DateOrderError, UtcOffset, UtcOffsetError};
pub use devices::{Device, DeviceError, argument};
pub use error::{Choice, ImportError};
pub use fill::fill;
pub use format::{Format, FormatError};
pub use imported::Imported;
pub use sniff::sniff;
pub use source::{Options, Source};
pub use text::decode;

use profile::{Draft, INTERVALS_MIN, Machine};

/// The combined profile of files of one tool.
///
/// # Errors
/// When a file is not of a known tool, the files are of different tools or times, or they do not contain enough for a profile.
///
/// # Panics
/// Without files.
pub fn read(sources: &[Source], options: &Options) -> Result<Imported, ImportError> {
    let format = common_format(sources, options)?;
    let each = |one: fn(&Source, &Options) -> Result<Draft, ImportError>| {
        let drafts: Result<Vec<(&str, Draft)>, ImportError> = sources
            .iter()
            .map(|source| Ok((source.file, one(source, options)?)))
            .collect();
        join(drafts?)
    };
    let mut draft = match format {
        Format::Iostat => each(iostat::read),
        Format::Sadf => each(sadf::read),
        Format::Perfmon => each(perfmon::read),
        Format::BlitzFirst => blitz_first::read(sources, options),
        Format::FileStats => blitz_first::read_view(sources, options),
        Format::BlitzFirstDeltas => each(blitz_first::read_deltas),
        Format::MicrosoftCounters => each(microsoft::read),
        Format::MicrosoftRecommendation => each(recommendation::read),
        // One file per metric.
        Format::CloudWatch => cloudwatch::read(sources, options),
        Format::AzureMonitor => azure_monitor::read(sources, options),
        // Files of a trace cover the same time, not consecutive times.
        Format::FioIolog => iolog::read(sources, options),
        Format::Blkparse => blkparse::read(sources, options),
    }?;
    let intervals_min = match format {
        Format::MicrosoftRecommendation => 1,
        _ => INTERVALS_MIN,
    };
    let mut notes = std::mem::take(&mut draft.notes);
    notes.extend(without_effect(format, options));
    let profile = draft.finish(intervals_min).map_err(|message| {
        let file = sources[0].file;
        ImportError::file(file, message)
    })?;
    Ok(Imported {
        format,
        profile,
        notes,
    })
}

/// Joins the drafts of several files, in order of time.
///
/// # Errors
/// When two cover the same time.
fn join(mut drafts: Vec<(&str, Draft)>) -> Result<Draft, ImportError> {
    drafts.sort_by_key(|(_, draft)| draft.spans.first().map(|span| span.from));
    let mut drafts = drafts.into_iter();
    let (mut last_file, mut joined) = drafts.next().expect("there is at least one file");
    for (file, draft) in drafts {
        if joined.overlaps(&draft) {
            return Err(ImportError::file(
                file,
                format!("it covers the same time as {last_file}; import one of them"),
            ));
        }
        last_file = file;
        joined.append(draft);
    }
    Ok(joined)
}

/// Options that do not apply to files of this format.
fn without_effect(format: Format, options: &Options) -> Vec<String> {
    let is_trace = matches!(format, Format::FioIolog | Format::Blkparse);
    let has_devices = is_trace
        || matches!(
            format,
            Format::Iostat
                | Format::Sadf
                | Format::Perfmon
                | Format::CloudWatch
                | Format::AzureMonitor
        );
    let given = [
        ("--device", options.devices.is_empty() || has_devices),
        (
            "--instance",
            options.instances.is_empty() || format == Format::Perfmon,
        ),
        (
            "--start",
            options.start.is_none()
                || is_trace
                || matches!(
                    format,
                    Format::Iostat | Format::FileStats | Format::BlitzFirst
                ),
        ),
        (
            "--interval",
            options.interval.is_none()
                || is_trace
                || matches!(format, Format::Iostat | Format::MicrosoftCounters),
        ),
        ("--utc-offset", options.utc_offset.is_none() || !is_trace),
        ("--dates", options.dates.is_none() || !is_trace),
        (
            "--machine",
            options.machine == Machine::default()
                || matches!(format, Format::CloudWatch | Format::AzureMonitor),
        ),
    ];
    let ignored = given.into_iter().filter(|(_, is_used)| !is_used);
    ignored
        .map(|(option, _)| format!("{option} has no effect on files of {format}"))
        .collect()
}

fn common_format(sources: &[Source], options: &Options) -> Result<Format, ImportError> {
    if let Some(format) = options.format {
        for source in sources {
            if sniff(source.file, source.text).is_none()
                && let Some(message) = foreign::recognised(source.file, sniff::head(source.text))
            {
                return Err(ImportError::file(source.file, message));
            }
        }
        return Ok(format);
    }
    let first = sources.first().expect("the caller has at least one file");
    let format = sniffed(first)?;
    for other in &sources[1..] {
        let found = sniffed(other)?;
        if found != format {
            return Err(ImportError::file(
                other.file,
                format!(
                    "it is {found}, and {} is {format}; import them one by one",
                    first.file
                ),
            ));
        }
    }
    Ok(format)
}

fn sniffed(source: &Source) -> Result<Format, ImportError> {
    sniff(source.file, source.text).ok_or_else(|| {
        if let Some(message) = foreign::recognised(source.file, sniff::head(source.text)) {
            return ImportError::file(source.file, message);
        }
        let line = source.text.lines().find(|line| !line.trim().is_empty());
        let first = match line {
            None => "it is empty".to_owned(),
            Some(line) => format!("it begins with `{}`", text::excerpt(line)),
        };
        ImportError::file(
            source.file,
            format!(
                "this is not a file of a known tool: {first}; known are {} (choose one with --format)",
                Format::names().join(", ")
            ),
        )
    })
}
