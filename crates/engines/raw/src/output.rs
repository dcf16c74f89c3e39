//! Parses fio's output, `--output-format=json+`, as far as required here.

use std::collections::BTreeMap;

use model::number::Counted;
use model::{Bytes, Duration};
use serde::Deserialize;

use super::RawError;
use super::outcome::Tally;
use experiment::record::histogram;

#[derive(Deserialize)]
struct Output {
    timestamp: u64,
    jobs: Vec<Job>,
}

#[derive(Deserialize)]
struct Job {
    jobname: String,
    error: i64,
    read: Direction,
    write: Direction,
    #[serde(default)]
    sync: Sync,
    #[serde(default)]
    usr_cpu: Counted,
    #[serde(default)]
    sys_cpu: Counted,
}

#[derive(Deserialize)]
struct Direction {
    io_bytes: u64,
    /// In milliseconds.
    runtime: u64,
    #[serde(default)]
    lat_ns: Latency,
}

#[derive(Default, Deserialize)]
struct Sync {
    #[serde(default)]
    lat_ns: Latency,
}

#[derive(Default, Deserialize)]
struct Latency {
    /// Count by nanoseconds.
    #[serde(default)]
    bins: BTreeMap<String, u64>,
}

/// Results of the jobs of one run of fio.
pub(crate) struct Report {
    /// When it ended, in seconds from 1970.
    pub(crate) ended_s: u64,
    /// The longest job's measured time.
    pub(crate) elapsed: Duration,
    /// By job name; jobs of one name together.
    pub(crate) jobs: BTreeMap<String, JobReport>,
    /// Share of a processor that the busiest job used.
    pub(crate) busy: f64,
}

/// Results of the jobs of one name.
pub(crate) struct JobReport {
    pub(crate) reads: Tally,
    pub(crate) writes: Tally,
    pub(crate) flushes: Tally,
}

/// Parses fio's output; `what` names the task in errors.
pub(crate) fn read(what: &str, text: &str) -> Result<Report, RawError> {
    let broken = |why: String| RawError::Output {
        what: what.to_owned(),
        why,
    };
    // Warnings may precede the document.
    let start = text
        .find('{')
        .ok_or_else(|| broken("it is not JSON".into()))?;
    let mut documents = serde_json::Deserializer::from_str(&text[start..]).into_iter::<Output>();
    let output = documents
        .next()
        .ok_or_else(|| broken("it is empty".into()))?
        .map_err(|error| broken(error.to_string()))?;
    let mut report = Report {
        ended_s: output.timestamp,
        elapsed: Duration::ZERO,
        jobs: BTreeMap::new(),
        busy: 0.0,
    };
    for job in &output.jobs {
        if job.error != 0 {
            return Err(broken(format!(
                "job {} ended with error {}",
                job.jobname, job.error
            )));
        }
        let runtime = job.read.runtime.max(job.write.runtime);
        report.elapsed = report.elapsed.max(Duration::from_millis(runtime));
        report.busy = report
            .busy
            .max((job.usr_cpu.get() + job.sys_cpu.get()) / 100.0);
        let name = job.jobname.clone();
        let sum = report.jobs.entry(name).or_insert_with(|| JobReport {
            reads: Tally::new(),
            writes: Tally::new(),
            flushes: Tally::new(),
        });
        let of_job = |why: String| broken(format!("job {}: {why}", job.jobname));
        sum.reads
            .merge(&tally(&job.read.lat_ns, job.read.io_bytes).map_err(of_job)?);
        sum.writes
            .merge(&tally(&job.write.lat_ns, job.write.io_bytes).map_err(of_job)?);
        sum.flushes
            .merge(&tally(&job.sync.lat_ns, 0).map_err(of_job)?);
    }
    Ok(report)
}

fn tally(latency: &Latency, bytes: u64) -> Result<Tally, String> {
    let mut tally = Tally::new();
    tally.bytes = Bytes(bytes);
    for (bin, count) in &latency.bins {
        let ns: u64 = bin
            .parse()
            .map_err(|_| format!("bin \"{bin}\" is not a number"))?;
        if ns > histogram::LATENCY_MAX.as_nanos() || i64::try_from(*count).is_err() {
            return Err(format!(
                "bin \"{bin}\" counts {count} latencies of {:.0} s, which cannot be; check this fio and its clock",
                Duration::from_nanos(ns).as_secs_f64()
            ));
        }
        tally
            .latency
            .record_n(ns.max(1), *count)
            .map_err(|error| format!("bin \"{bin}\": {error:?}"))?;
    }
    Ok(tally)
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = r#"note: both iodepth >= 1 and synchronous I/O engine are selected
    { "fio version": "fio-3.33", "timestamp": 1795239063, "jobs": [
      { "jobname": "d", "error": 0, "usr_cpu": 3.5, "sys_cpu": 36.5,
        "read": { "io_bytes": 24576, "runtime": 501, "lat_ns": { "bins": { "100000": 2, "300000": 1 } } },
        "write": { "io_bytes": 8192, "runtime": 500, "lat_ns": { "bins": { "200000": 1 } } },
        "sync": { "lat_ns": { "bins": { "900000": 1 } } } },
      { "jobname": "d", "error": 0,
        "read": { "io_bytes": 8192, "runtime": 499, "lat_ns": { "bins": { "100000": 1 } } },
        "write": { "io_bytes": 0, "runtime": 0 } } ] }"#;

    #[test]
    fn jobs_of_one_name_are_summed_and_warnings_passed_over() {
        let report = read("a test", TEXT).unwrap();
        let job = &report.jobs["d"];
        assert_eq!((job.reads.count(), job.reads.bytes), (4, Bytes(32_768)));
        assert_eq!((job.writes.count(), job.flushes.count()), (1, 1));
        assert_eq!(report.elapsed, Duration::from_millis(501));
        // 3.5 + 36.5 per cent of a processor.
        assert!((report.busy - 0.4).abs() < 1e-9);
    }

    #[test]
    fn a_latency_or_a_count_that_cannot_be_is_an_error_of_its_job() {
        for (bin, count) in [
            ("9223372036854775808", "2"),
            ("18446744073709551615", "2"),
            ("100000", "9223372036854775808"),
        ] {
            let text = TEXT.replacen("\"100000\": 2", &format!("\"{bin}\": {count}"), 1);
            let error = read("a test", &text).err().expect("nobody waits that long");
            let error = error.to_string();
            assert!(error.contains("job d") && error.contains(bin), "{error}");
        }
        let longest = "\"4611686018427387904\": 2";
        assert!(read("a test", &TEXT.replacen("\"100000\": 2", longest, 1)).is_ok());
    }

    #[test]
    fn a_share_of_a_processor_that_cannot_be_is_refused() {
        for wrong in ["1e308", "-3.5"] {
            let text = TEXT.replacen("\"usr_cpu\": 3.5", &format!("\"usr_cpu\": {wrong}"), 1);
            let error = read("a test", &text)
                .err()
                .expect("it cannot be")
                .to_string();
            assert!(
                error.contains(&format!("{wrong} is not a count")),
                "{error}"
            );
        }
    }

    #[test]
    fn a_runtime_beyond_all_time_is_no_panic() {
        let text = TEXT.replacen("\"runtime\": 501", "\"runtime\": 18446744073709551615", 1);
        assert!(read("a test", &text).is_ok());
    }

    #[test]
    fn output_that_is_cut_short_or_reports_an_error_is_refused() {
        let cut = read("a test", &TEXT[..TEXT.len() - 20]);
        assert!(matches!(cut, Err(RawError::Output { .. })));
        let failed = read("a test", &TEXT.replacen("\"error\": 0", "\"error\": 28", 1));
        let error = failed.err().expect("an error was reported").to_string();
        assert!(error.contains("error 28"), "{error}");
    }
}
