//! `dbstow calibrate`: benchmarks a directory and generates a matching disk model.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use anyhow::{Context, Result, bail};
use jiff::Timestamp;
use model::{Bytes, DiskSpec, Duration};
use serde_json::json;
use sysinfo::System;

use super::listing::{self, ListFormat};
use super::progress::Progress;
use calibrate::{About, Agreement, DEVIATION_MAX, Fitted, JOBS_MAX, Job, LARGE};
use raw::{Files, Fio, RawError, RawOutcome};
use table::quantity;

/// Shortest duration of a job: a shorter one would be all ramp-up and ramp-down.
const EACH_MIN: Duration = Duration::from_millis(100);
/// Seed of request offsets; another seed gives equivalent results.
const SEED: u64 = 1;

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
    let each = each(args)?;
    About::check_name(&args.name, &listing::catalogue(&args.catalogue)?)?;
    if args.size < LARGE {
        bail!("--size {} is too small; give {LARGE} or more", args.size);
    }
    let fio = Fio::find()?;
    let interrupted = interruption()?;
    let stop = || interrupted.load(Ordering::Relaxed);
    let measured = measure(args, &fio, each, &stop).map_err(|error| match error {
        RawError::Cancelled => {
            anyhow::anyhow!("interrupted; the file was removed and nothing written")
        }
        error => error.into(),
    })?;
    let fitted = calibrate::fit(&measured.samples);
    let text = calibrate::entry(&fitted, &about(args, &fio, each, &measured)?);
    let disk = calibrate::disk_of(&text, &out.display().to_string(), &args.name)?;
    let agreements = calibrate::check(&measured.samples, &disk, args.size, each, &stop)?;
    // Something may have been created there in the meantime.
    match files::is_stream(&out) {
        true => files::write_named(&out, text.as_bytes())?,
        false => files::write_new(&out, text.as_bytes(), files::Readers::Umask)?,
    }
    let shown = Outcome {
        args,
        out: &out,
        measured: &measured,
        fitted: &fitted,
        disk: &disk,
        agreements: &agreements,
    };
    let text = match args.format {
        ListFormat::Text => shown.text(),
        ListFormat::Json => shown.json(),
    };
    Ok(args.format.print(&text)?)
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
            "{} is no folder to write {} in; make it, or give another --out",
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

/// Duration of a job such that all stay within the time limit, even where every sweep runs to its end.
fn each(args: &Args) -> Result<Duration> {
    let each = Duration::from_millis(args.time.as_nanos() / JOBS_MAX as u64 / 1_000_000);
    if each < EACH_MIN {
        let least = EACH_MIN * JOBS_MAX as u64;
        bail!(
            "--time {} is too short for up to {JOBS_MAX} measurements; give {least} or more",
            args.time
        );
    }
    Ok(each)
}

/// All measurements.
struct Measured {
    samples: Vec<calibrate::Sample>,
    /// When it ended, in seconds from 1970.
    ended_s: u64,
}

fn measure(
    args: &Args,
    fio: &Fio,
    each: Duration,
    stop: &dyn Fn() -> bool,
) -> Result<Measured, RawError> {
    let progress = progress();
    progress.set_message(&format!("writing a file of {}", args.size));
    let places = [(0, args.directory.clone())];
    let files = Files::lay_out(fio, &places, args.size, stop)?;
    let volumes = ["calibrated".to_owned()];
    let mut ended_s = 0;
    let mut one = |job: &Job| -> Result<RawOutcome, RawError> {
        progress.set_message(&job.to_string());
        let spec = job.spec(args.size);
        let outcome = raw::measure(
            fio,
            (&files, &volumes),
            &spec,
            SEED,
            Job::window(each),
            stop,
        )?;
        ended_s = outcome.ended_s.unwrap_or(ended_s);
        progress.step(1);
        Ok(outcome)
    };
    let samples = calibrate::sweep(&mut one);
    progress.end();
    let removed = files.remove();
    let samples = samples?;
    removed?;
    Ok(Measured { samples, ended_s })
}

fn about(args: &Args, fio: &Fio, each: Duration, measured: &Measured) -> Result<About> {
    let total =
        fs4::total_space(&args.directory).with_context(|| args.directory.display().to_string())?;
    let ended = Timestamp::from_second(measured.ended_s.cast_signed());
    let ended = ended.context("fio says when it ended, and that is no date")?;
    Ok(About {
        name: args.name.clone(),
        size: Bytes(total),
        host: System::host_name().unwrap_or_default(),
        date: ended.strftime("%F").to_string(),
        fio: fio.version.clone(),
        note: too_short(args, each, measured),
    })
}

/// The limits of the measurement.
fn too_short(args: &Args, each: Duration, measured: &Measured) -> String {
    format!(
        "{} measurements of {each} each in a file of {}: too short to see burst credits run out; what a \
         volume gives for a time only is taken for what it gives always",
        measured.samples.len(),
        args.size
    )
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

/// The output.
struct Outcome<'a> {
    args: &'a Args,
    out: &'a Path,
    measured: &'a Measured,
    fitted: &'a Fitted,
    disk: &'a DiskSpec,
    agreements: &'a [Agreement],
}

impl Outcome<'_> {
    fn warnings(&self) -> Vec<String> {
        let far = self.agreements.iter().filter(|job| !job.is_close());
        let far = far.count();
        let mut warnings = self.fitted.warnings.clone();
        if far > 0 {
            warnings.push(format!(
                "the model is more than {} off in {far} of {} measurements; rely on what agrees, or measure \
                 longer and without other activity",
                quantity::percent(DEVIATION_MAX),
                self.agreements.len()
            ));
        }
        warnings
    }

    fn text(&self) -> String {
        let header = ["measured\nmodelled", "IOPS", "mean ms", "p50 ms", "p99 ms"];
        let row = |job: &Agreement| {
            let (measured, modelled) = (job.measured.all(), job.modelled.all());
            let off = job.deviations();
            let cell = |at: usize| {
                format!(
                    "{}\n{} ({})",
                    quantity::number(measured[at]),
                    quantity::number(modelled[at]),
                    // Cells are broken at spaces.
                    quantity::percent_signed(off[at]).replace(' ', "\u{a0}")
                )
            };
            vec![job.job.to_string(), cell(0), cell(1), cell(2), cell(3)]
        };
        let mut text = listing::table(&header, self.agreements.iter().map(row).collect());
        text.push_str(&format!(
            "\n{} is in {}:\n\n",
            self.args.name,
            self.out.display()
        ));
        text.push_str(&listing::pairs(self.facts()));
        for warning in self.warnings() {
            text.push_str(&format!("\nwarning: {warning}\n"));
        }
        text
    }

    fn facts(&self) -> Vec<(&'static str, String)> {
        let limit = |limit: &model::LimitSpec| {
            let counts = match limit.counts {
                model::Counts::All => "",
                model::Counts::Reads => " of reads",
                model::Counts::Writes => " of writes",
            };
            match limit.rate {
                model::Rate::Iops(iops) => format!("{iops}{counts}"),
                model::Rate::Throughput(throughput) => format!("{throughput}{counts}"),
            }
        };
        let limits: Vec<String> = self.disk.limits.iter().map(limit).collect();
        let places = self.disk.in_flight_max.map(|places| places.to_string());
        let transfer = self.disk.transfer.map(|transfer| transfer.to_string());
        vec![
            ("limits", limits.join(", ")),
            ("in flight", places.unwrap_or_else(|| "no bound".into())),
            ("read", shown(self.disk.read_latency)),
            ("write", shown(self.disk.write_latency)),
            ("flush", shown(self.disk.flush_latency)),
            ("transfer", transfer.unwrap_or_else(|| "no time".into())),
        ]
    }

    fn json(&self) -> String {
        let samples = self.agreements.iter().map(|job| {
            let [iops, mean, p50, p99] = job.deviations();
            json!({
                "job": job.job,
                "measured": job.measured,
                "modelled": job.modelled,
                "deviation": { "iops": iops, "latency_mean": mean, "latency_p50": p50, "latency_p99": p99 },
            })
        });
        let document = json!({
            "name": self.args.name,
            "file": self.out,
            "disk": self.disk,
            "ended_s": self.measured.ended_s,
            "jobs": samples.collect::<Vec<_>>(),
            "assumed": self.fitted.assumed,
            "warnings": self.warnings(),
        });
        format!("{document:#}\n")
    }
}

fn shown(latency: model::LatencySpec) -> String {
    match latency {
        model::LatencySpec::Constant { value } => value.to_string(),
        model::LatencySpec::Exponential { mean } => format!("mean {mean}, exponential"),
        model::LatencySpec::LogNormal { p50, p99 } => format!("p50 {p50}, p99 {p99}"),
    }
}
