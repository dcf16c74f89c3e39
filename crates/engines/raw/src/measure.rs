//! Plain I/O on real files, through fio.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use files::{FileError, Folder};
use model::{Bytes, Instant};

use super::outcome::Tally;
use super::output::{self, JobReport, Report};
use super::{Fio, Pattern, RawError, RawOutcome, RawSpec, SyncSpec, Window};
use experiment::record::{DiskRecord, EngineRecord, Series};
use reading::cause::{Cause, Io, Part};

/// Length of the writes that lay files out.
const LAY_OUT_BLOCK: Bytes = Bytes::mib(1);

/// Data files that were laid out for plain I/O; dropping them removes them.
#[derive(Debug)]
pub struct Files {
    files: Vec<DataFile>,
}

/// A data file, and the index of its volume.
#[derive(Debug)]
struct DataFile {
    volume: usize,
    path: PathBuf,
}

impl Files {
    /// Writes a file of `span` bytes for each of `places`: the index of a volume and a directory on it.
    ///
    /// # Errors
    /// When there is not enough space, a file exists already, fio fails, or `stop` is set; written files are then removed.
    pub fn lay_out(
        fio: &Fio,
        places: &[(usize, PathBuf)],
        span: Bytes,
        stop: &dyn Fn() -> bool,
    ) -> Result<Files, RawError> {
        // fio opens its files by path: they must still be the same files.
        let folders: Result<Vec<Folder>, _> = places
            .iter()
            .map(|(_, directory)| Folder::that_keeps(directory))
            .collect();
        let folders = folders.map_err(RawError::File)?;
        check_space(places, span)?;
        let mut files = Files { files: Vec::new() };
        for (number, (volume, directory)) in places.iter().enumerate() {
            let name = format!("dbstow-raw-{}.dat", number + 1);
            let path = directory.join(&name);
            folders[number]
                .new_file(name.as_ref())
                .map_err(|error| match error {
                    FileError::Exists(path) => RawError::Exists(path),
                    error => RawError::File(error),
                })?;
            files.files.push(DataFile {
                volume: *volume,
                path: path.clone(),
            });
            let what = format!("laying out {}", path.display());
            let arguments = [
                "--output-format=json+".to_owned(),
                "--thread".to_owned(),
                "--direct=1".to_owned(),
                "--rw=write".to_owned(),
                format!("--bs={}", LAY_OUT_BLOCK.0.min(span.0)),
                "--fallocate=none".to_owned(),
                "--end_fsync=1".to_owned(),
                format!("--ioengine={}", fio.queued),
                "--iodepth=8".to_owned(),
                "--name=layout".to_owned(),
                format!("--filename={}", escaped(&path)),
                format!("--size={}", span.0),
            ];
            fio.run(&what, &arguments, stop)?;
        }
        Ok(files)
    }

    /// A file in the format of fio's `filename`.
    pub(crate) fn filename(&self, number: usize) -> String {
        escaped(&self.files[number].path)
    }

    /// Removes them.
    ///
    /// # Errors
    /// When one cannot be removed; the others are removed anyway.
    pub fn remove(mut self) -> Result<(), RawError> {
        let mut result = Ok(());
        for file in std::mem::take(&mut self.files) {
            let removed = fs::remove_file(&file.path).map_err(RawError::at(&file.path));
            result = result.and(removed);
        }
        result
    }
}

impl Drop for Files {
    fn drop(&mut self) {
        for file in &self.files {
            // Failures cannot be reported here; `remove` reports them.
            let _ = fs::remove_file(&file.path);
        }
    }
}

/// Runs plain I/O on `files`, with direct I/O; the warm-up is not counted.
///
/// `volumes` are the names of the arm's volumes, indexed by the files' places.
///
/// # Errors
/// When fio fails, or `stop` is set before the end.
pub fn measure(
    fio: &Fio,
    (files, volumes): (&Files, &[String]),
    spec: &RawSpec,
    seed: u64,
    window: Window,
    stop: &dyn Fn() -> bool,
) -> Result<RawOutcome, RawError> {
    let task = FioTask {
        what: spec.to_string(),
        arguments: arguments(fio, files, spec, seed, window),
        ioengine: ioengine(fio, spec).to_owned(),
        window,
    };
    let mut outcome = run_fio(fio, (files, volumes), task, stop)?;
    // It may take longer than requested.
    let end = window.from + outcome.elapsed;
    outcome.phases = super::simulate::phases(Window {
        from: window.from,
        until: end,
    });
    Ok(outcome)
}

/// A task of fio.
pub(crate) struct FioTask {
    /// Description for errors.
    pub(crate) what: String,
    /// Its arguments. Only jobs named after a file are counted.
    pub(crate) arguments: Vec<String>,
    /// How it does I/O.
    pub(crate) ioengine: String,
    /// The measured time.
    pub(crate) window: Window,
}

/// Runs a task with fio, and parses the result.
///
/// # Errors
/// When fio fails, or `stop` is set before the end.
pub(crate) fn run_fio(
    fio: &Fio,
    (files, volumes): (&Files, &[String]),
    task: FioTask,
    stop: &dyn Fn() -> bool,
) -> Result<RawOutcome, RawError> {
    let FioTask {
        what,
        arguments,
        ioengine,
        window,
    } = task;
    let text = fio.run(&what, &arguments, stop)?;
    let report = output::read(&what, &text)?;
    let disks = disks(&report, files, volumes);
    let mut sums = [Tally::new(), Tally::new(), Tally::new()];
    let names = (0..files.files.len()).map(job_name);
    for job in names.filter_map(|name| report.jobs.get(&name)) {
        for (sum, part) in sums.iter_mut().zip([&job.reads, &job.writes, &job.flushes]) {
            sum.merge(part);
        }
    }
    let [reads, writes, flushes] = sums;
    let spent = [
        (Io::Read, &reads),
        (Io::Write, &writes),
        (Io::Log, &flushes),
    ];
    let time = |tally: &Tally| (tally.latency.mean() * tally.count() as f64) as u64;
    let spent = spent.into_iter().filter(|(_, tally)| tally.count() > 0);
    Ok(RawOutcome {
        phases: super::simulate::phases(window),
        elapsed: report.elapsed,
        time_split_ns: spent
            .map(|(io, tally)| (Cause::Io(io, Part::Service), time(tally)))
            .collect(),
        reads,
        writes,
        flushes,
        disks,
        limits: Vec::new(),
        series: Series::default(),
        engine: EngineRecord {
            name: "raw".to_owned(),
            version: fio.version.clone(),
            file: "a file in direct I/O".to_owned(),
            settings: BTreeMap::from([("io".to_owned(), what), ("ioengine".to_owned(), ioengine)]),
        },
        ended_s: Some(report.ended_s),
        client_busy: Some(report.busy),
        notes: Vec::new(),
    })
}

/// A session waits for its flushes; fio's queued engines would delay every request behind them, so each slot is a separate thread
/// in that case.
fn ioengine<'a>(fio: &'a Fio, spec: &RawSpec) -> &'a str {
    match spec.sync {
        SyncSpec::None => &fio.queued,
        SyncSpec::FlushEvery(_) => &fio.synchronous,
    }
}

fn arguments(fio: &Fio, files: &Files, spec: &RawSpec, seed: u64, window: Window) -> Vec<String> {
    let ms = |from: Instant, until: Instant| until.since(from).as_nanos().div_ceil(1_000_000);
    let direction = match (spec.pattern, spec.read_percent) {
        (Pattern::Random, 100) => "randread",
        (Pattern::Random, 0) => "randwrite",
        (Pattern::Random, _) => "randrw",
        (Pattern::Sequential, 100) => "read",
        (Pattern::Sequential, 0) => "write",
        (Pattern::Sequential, _) => "rw",
    };
    let mut arguments = common_arguments(seed);
    arguments.extend([
        format!("--rw={direction}"),
        format!("--bs={}", spec.block_size.0),
        format!("--size={}", spec.blocks() * spec.block_size.0),
        format!("--ioengine={}", ioengine(fio, spec)),
        "--time_based".to_owned(),
        format!("--ramp_time={}ms", ms(Instant::ZERO, window.from)),
        format!("--runtime={}ms", ms(window.from, window.until)),
    ]);
    if !matches!(spec.read_percent, 0 | 100) {
        arguments.push(format!("--rwmixread={}", spec.read_percent));
    }
    match spec.sync {
        SyncSpec::None => arguments.push(format!("--iodepth={}", spec.depth)),
        SyncSpec::FlushEvery(count) => arguments.extend([
            format!("--numjobs={}", spec.depth),
            format!("--fdatasync={count}"),
        ]),
    }
    if let Some(rate) = spec.rate {
        arguments.push(format!("--rate_iops={0},{0}", rate.0));
    }
    for (number, file) in files.files.iter().enumerate() {
        arguments.push(format!("--name={}", job_name(number)));
        arguments.push(format!("--filename={}", escaped(&file.path)));
    }
    arguments
}

/// Arguments common to all jobs of a run.
pub(crate) fn common_arguments(seed: u64) -> Vec<String> {
    vec![
        "--output-format=json+".to_owned(),
        // The latency a database would see starts when the request is issued, not when the device accepts it.
        "--lat_percentiles=1".to_owned(),
        "--clat_percentiles=0".to_owned(),
        "--disk_util=0".to_owned(),
        // One process, so that ending it ends all.
        "--thread".to_owned(),
        "--direct=1".to_owned(),
        "--fallocate=none".to_owned(),
        "--norandommap".to_owned(),
        "--randrepeat=0".to_owned(),
        // fio parses it as a signed number, and rejects larger values.
        format!("--randseed={}", seed >> 1),
    ]
}

/// The jobs whose requests count for a file of [`Files`].
pub(crate) fn job_name(number: usize) -> String {
    format!("file-{}", number + 1)
}

/// A path escaped for fio's `filename`: a colon would end it.
fn escaped(path: &Path) -> String {
    let text = path.display().to_string();
    text.replace('\\', "\\\\").replace(':', "\\:")
}

/// One disk per volume, with all of its files.
fn disks(report: &Report, files: &Files, volumes: &[String]) -> Vec<Vec<DiskRecord>> {
    let disk = |(place, name): (usize, &String)| {
        let own = files.files.iter().enumerate();
        let own = own.filter(|(_, file)| file.volume == place);
        let jobs: Vec<&JobReport> = own
            .filter_map(|(number, _)| report.jobs.get(&job_name(number)))
            .collect();
        let sum = |of: fn(&JobReport) -> &Tally| {
            let mut sum = Tally::new();
            jobs.iter().for_each(|job| sum.merge(of(job)));
            sum
        };
        let (reads, writes) = (sum(|job| &job.reads), sum(|job| &job.writes));
        vec![DiskRecord {
            name: format!("{name}.1"),
            reads: reads.count(),
            writes: writes.count(),
            flushes: sum(|job| &job.flushes).count(),
            cache_hits: 0,
            read_bytes: reads.bytes.0,
            write_bytes: writes.bytes.0,
            read_latency: reads.text(),
            write_latency: writes.text(),
            times: None,
        }]
    };
    volumes.iter().enumerate().map(disk).collect()
}

/// Checks that every directory has space for its files; if two directories share a file system, fio itself reports the lack.
fn check_space(places: &[(usize, PathBuf)], span: Bytes) -> Result<(), RawError> {
    let mut needed: BTreeMap<&Path, u64> = BTreeMap::new();
    for (_, directory) in places {
        *needed.entry(directory).or_default() += span.0;
    }
    for (directory, needed) in needed {
        let free = fs4::available_space(directory).map_err(RawError::at(directory))?;
        if free < needed {
            return Err(RawError::Space {
                directory: directory.to_owned(),
                needed: Bytes(needed),
                free: Bytes(free),
            });
        }
    }
    Ok(())
}
