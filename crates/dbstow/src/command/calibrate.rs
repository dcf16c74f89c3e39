//! `dbstow calibrate`: benchmarks a directory and generates a matching disk model.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use anyhow::{Context, Result, bail};
use calibrate::{About, CalibrationRequest, JOBS_MAX, Step};
use model::{Bytes, Duration};
use raw::Fio;

use super::listing::{self, ListFormat};
use super::output::print_whole;
use super::progress::Progress;

/// Arguments of `calibrate`.
#[derive(Clone, Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
    dbstow calibrate /mnt/data --name data-disk\n  \
    dbstow calibrate . --size 8GiB --time 5min --out nvme.toml --format json\n\n\
    Needs fio. One file is written in the directory, and removed at the end.\n\
    Use the disk in an experiment: dbstow run .. --disk VOLUME=my-disk.toml")]
pub struct Args {
    /// A directory on the volume
    pub directory: PathBuf,
    /// Size of the test file; should exceed all caches of the volume
    #[arg(long, default_value = "2GiB")]
    pub size: Bytes,
    /// Maximum total time
    #[arg(long, default_value = "60s")]
    pub time: Duration,
    /// Name of the disk in the catalogue
    #[arg(long, default_value = "my-disk")]
    pub name: String,
    /// Also read this catalogue file: the name is to be none of its disks; may be given several times
    #[arg(long, value_name = "FILE")]
    pub catalogue: Vec<PathBuf>,
    /// File to write [default: NAME.toml]
    #[arg(long, value_name = "FILE")]
    pub out: Option<PathBuf>,
    /// How to print
    #[arg(long, value_enum, default_value_t)]
    pub format: ListFormat,
}

/// Runs `dbstow calibrate`.
///
/// # Errors
/// When the directory cannot be used, fio is missing or fails, the file cannot be written, or it was
/// interrupted.
pub fn run(args: &Args) -> Result<()> {
    let out = out(args)?;
    let request = CalibrationRequest {
        directory: args.directory.clone(),
        size: args.size,
        time: args.time,
        name: args.name.clone(),
        out: out.clone(),
    };
    // Before anything is looked for.
    request.each()?;
    About::check_name(&args.name, &listing::catalogue(&args.catalogue)?)?;
    let fio = Fio::find()?;
    let interrupted = interruption()?;
    let stop = || interrupted.load(Ordering::Relaxed);
    let progress = progress();
    let observe = |step: Step<'_>| match step {
        Step::Writing(size) => progress.set_message(&format!("writing a file of {size}")),
        Step::Measuring(job) => progress.set_message(&job.to_string()),
        Step::Measured => progress.step(1),
    };
    let calibration = request.run(&fio, &observe, &stop);
    progress.end();
    let calibration = calibration?;
    let text = calibration.entry.as_bytes();
    // Something may have been created there in the meantime.
    match files::is_stream(&out) {
        true => files::write_named(&out, text)?,
        false => files::write_new(&out, text, files::Readers::Umask)?,
    }
    match args.format {
        ListFormat::Text => print_whole(&calibration.report())?,
        ListFormat::Json => super::print_json(&calibration.json())?,
    }
    Ok(())
}

/// The file to write, which must not exist yet.
fn out(args: &Args) -> Result<PathBuf> {
    let default = || PathBuf::from(format!("{}.toml", args.name));
    let out = args.out.clone().unwrap_or_else(default);
    if out.exists() && !files::is_stream(&out) {
        bail!(
            "{} is there already; remove it, or give another --out",
            out.display()
        );
    }
    let folder = out.parent().filter(|folder| !folder.as_os_str().is_empty());
    if let Some(folder) = folder.filter(|folder| !folder.is_dir()) {
        bail!(
            "{} is not a folder to write {} in; make it, or give another --out",
            folder.display(),
            out.display()
        );
    }
    if !files::is_stream(&out) {
        // Checked before minutes of measuring that would be lost.
        files::check_new(&out)?;
    }
    Ok(out)
}

fn interruption() -> Result<Arc<AtomicBool>> {
    let interrupted = Arc::new(AtomicBool::new(false));
    let seen = Arc::clone(&interrupted);
    ctrlc::set_handler(move || seen.store(true, Ordering::Relaxed))
        .context("a handler for Ctrl-C")?;
    Ok(interrupted)
}

fn progress() -> Progress {
    Progress::new(
        JOBS_MAX as u64,
        "{bar:30} {pos} of at most {len} measurements, at most {eta} left: {msg}",
    )
}
