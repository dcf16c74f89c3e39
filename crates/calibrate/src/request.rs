//! A calibration, from its request to the entry and how well that agrees.

use std::io;
use std::path::PathBuf;

use jiff::Timestamp;
use model::{Bytes, DiskSpec, Duration};
use raw::{Files, Fio, RawError, RawOutcome};
use sysinfo::System;

use super::{About, Agreement, EntryError, Fitted, JOBS_MAX, Job, LARGE, Sample};
use super::{check, disk_of, entry, fit, sweep};

/// Shortest duration of a job: a shorter one would be all ramp-up and ramp-down.
const EACH_MIN: Duration = Duration::from_millis(100);

/// Seed of request offsets; another seed gives equivalent results.
const SEED: u64 = 1;

/// What to calibrate.
#[derive(Clone, Debug)]
pub struct CalibrationRequest {
    /// A directory on the volume.
    pub directory: PathBuf,
    /// Size of the test file; should exceed all caches of the volume.
    pub size: Bytes,
    /// Maximum total time.
    pub time: Duration,
    /// Name of the disk in the catalogue.
    pub name: String,
    /// The file that the entry is for.
    pub out: PathBuf,
}

/// A calibrated volume.
#[derive(Clone, Debug)]
pub struct Calibration {
    /// Name of the disk.
    pub name: String,
    /// The file that the entry is for.
    pub file: PathBuf,
    /// The catalogue file with the entry.
    pub entry: String,
    /// The disk that it describes.
    pub disk: DiskSpec,
    /// When measuring ended, in seconds from 1970.
    pub ended_s: u64,
    /// What was assumed, and warnings about the measurements.
    pub fitted: Fitted,
    /// Every job as measured, and on the disk.
    pub agreements: Vec<Agreement>,
}

/// What a calibration does.
#[derive(Clone, Copy, Debug)]
pub enum Step<'a> {
    /// Writes the test file of this size.
    Writing(Bytes),
    /// Measures.
    Measuring(&'a Job),
    /// Has measured a job.
    Measured,
}

/// Why there is no entry.
#[derive(Debug, thiserror::Error)]
pub enum CalibrateError {
    /// The test file is too small.
    #[error("--size {0} is too small; give {LARGE} or more")]
    Size(Bytes),
    /// There is too little time.
    #[error("--time {time} is too short for up to {JOBS_MAX} measurements; give {least} or more")]
    Time {
        /// The maximum total time.
        time: Duration,
        /// The least that it can be.
        least: Duration,
    },
    /// The name cannot be used.
    #[error("{0}")]
    Entry(#[from] EntryError),
    /// The volume's size is not known.
    #[error("{directory}: {source}")]
    Space {
        /// The directory on the volume.
        directory: String,
        /// Why.
        source: io::Error,
    },
    /// fio names an end that is not a date.
    #[error("fio says when it ended, and that is not a date: {0}")]
    Date(jiff::Error),
    /// It was stopped.
    #[error("interrupted; the file was removed and nothing written")]
    Stopped,
    /// A job failed.
    #[error("{0}")]
    Raw(#[source] RawError),
}

impl From<RawError> for CalibrateError {
    fn from(error: RawError) -> CalibrateError {
        match error {
            RawError::Cancelled => CalibrateError::Stopped,
            error => CalibrateError::Raw(error),
        }
    }
}

impl CalibrationRequest {
    /// Duration of a job such that all stay within the time limit, even where every sweep runs to its end.
    ///
    /// # Errors
    /// When file or time are too small to measure anything.
    pub fn each(&self) -> Result<Duration, CalibrateError> {
        if self.size < LARGE {
            return Err(CalibrateError::Size(self.size));
        }
        let jobs = JOBS_MAX as u64;
        let each = Duration::from_millis(self.time.as_nanos() / jobs / 1_000_000);
        match each < EACH_MIN {
            true => Err(CalibrateError::Time {
                time: self.time,
                least: EACH_MIN * jobs,
            }),
            false => Ok(each),
        }
    }

    /// Measures the volume with `fio`, fits a disk, and runs the same jobs on that; reports each step to `observe`. Its one file is
    /// removed at the end.
    ///
    /// # Errors
    /// When the directory cannot be used, fio fails, or `stop` returns true before the end.
    pub fn run(
        &self,
        fio: &Fio,
        observe: &dyn Fn(Step<'_>),
        stop: &dyn Fn() -> bool,
    ) -> Result<Calibration, CalibrateError> {
        let each = self.each()?;
        let (samples, ended_s) = self.measure(fio, each, observe, stop)?;
        let fitted = fit(&samples);
        let about = self.about(fio, each, samples.len(), ended_s)?;
        let entry = entry(&fitted, &about);
        let disk = disk_of(&entry, &self.out.display().to_string(), &self.name)?;
        let agreements = check(&samples, &disk, self.size, each, stop)?;
        Ok(Calibration {
            name: self.name.clone(),
            file: self.out.clone(),
            entry,
            disk,
            ended_s,
            fitted,
            agreements,
        })
    }

    /// All measurements, and when they ended, in seconds from 1970.
    fn measure(
        &self,
        fio: &Fio,
        each: Duration,
        observe: &dyn Fn(Step<'_>),
        stop: &dyn Fn() -> bool,
    ) -> Result<(Vec<Sample>, u64), RawError> {
        observe(Step::Writing(self.size));
        let places = [(0, self.directory.clone())];
        let files = Files::lay_out(fio, &places, self.size, stop)?;
        let volumes = ["calibrated".to_owned()];
        let mut ended_s = 0;
        let mut one = |job: &Job| -> Result<RawOutcome, RawError> {
            observe(Step::Measuring(job));
            let (spec, window) = (job.spec(self.size), Job::window(each));
            let outcome = raw::measure(fio, (&files, &volumes), &spec, SEED, window, stop)?;
            ended_s = outcome.ended_s.unwrap_or(ended_s);
            observe(Step::Measured);
            Ok(outcome)
        };
        let samples = sweep(&mut one);
        let removed = files.remove();
        let samples = samples?;
        removed?;
        Ok((samples, ended_s))
    }

    fn about(
        &self,
        fio: &Fio,
        each: Duration,
        count: usize,
        ended_s: u64,
    ) -> Result<About, CalibrateError> {
        let total = fs4::total_space(&self.directory).map_err(|source| CalibrateError::Space {
            directory: self.directory.display().to_string(),
            source,
        })?;
        let ended = Timestamp::from_second(ended_s.cast_signed()).map_err(CalibrateError::Date)?;
        Ok(About {
            name: self.name.clone(),
            size: Bytes(total),
            host: System::host_name().unwrap_or_default(),
            date: ended.strftime("%F").to_string(),
            fio: fio.version.clone(),
            note: format!(
                "{count} measurements of {each} each in a file of {}: too short to see burst credits run out; what a \
                 volume gives for a time only is taken for what it gives always",
                self.size
            ),
        })
    }
}
