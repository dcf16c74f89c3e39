//! Replays the requests of a profile as plain I/O: fio issues them at the recorded rates, in steps of time.
//!
//! ```text
//! intervals ─► steps (60 at most) ─► for each role's files: reads, writes ─► a job of fio that begins and ends with the step
//! ```
//!
//! A rate is an upper limit: on slower disks, the requests in flight limit it, and fewer are issued. How sessions would slow down
//! on slower disks or speed up on faster ones is not modelled here: simulate does that.

use model::{Bytes, Duration, Instant};
use profile::{Interval, Io, Profile, Requests};
use reading::Role;

use super::measure::{Files, FioTask, common_arguments, job_name, run_fio};
use super::{Fio, RawError, RawOutcome, Window};

/// Maximum number of steps of a profile: each has its own jobs, which fio starts all at the beginning.
const STEPS_MAX: usize = 60;

/// Maximum number of jobs of one run of fio (`REAL_MAX_JOBS` in its `os/os.h`).
const JOBS_MAX: usize = 4_096;

/// Direct I/O on most devices and filesystems takes whole blocks of this size.
const BLOCK: u64 = 4_096;

/// Largest request.
const REQUEST_MAX: u64 = 1 << 20;

/// Requests arrive randomly from this rate per second on: fio then rounds to whole requests per second, and lower rates would be
/// off by more than 3 %.
const BY_CHANCE_MIN: f64 = 20.0;

/// A profile to replay as plain I/O.
#[derive(Clone, Copy, Debug)]
pub struct RawRecording<'a> {
    /// The part to replay.
    pub profile: &'a Profile,
    /// Maximum number of requests in flight per file and direction; at least 1.
    pub in_flight: u32,
    /// Size of each file; requests of the log go to one block after the other, others to any.
    pub span: Bytes,
}

/// Files of a role, by their number in [`Files`].
pub type RoleFiles = Vec<(Role, Vec<usize>)>;

/// Replays the requests of a profile on `files`, with roles assigned by `roles`, repeatedly if the `window` is longer. The
/// warm-up is the end of the profile, so the profile starts with the window.
///
/// `volumes` are the names of the arm's volumes, indexed by the files' places.
///
/// # Errors
/// When the profile lacks request sizes, requires too many jobs, fio fails, or `stop` is set before the end.
pub fn play(
    fio: &Fio,
    (files, roles, volumes): (&Files, &RoleFiles, &[String]),
    recording: RawRecording<'_>,
    seed: u64,
    window: Window,
    stop: &dyn Fn() -> bool,
) -> Result<RawOutcome, RawError> {
    let steps = steps(&recording.profile.intervals, window);
    let mut arguments = common_arguments(seed);
    arguments.extend([
        format!("--size={}", recording.span.0),
        "--time_based".to_owned(),
    ]);
    let mut jobs = 0;
    for step in &steps {
        for (role, numbers) in roles {
            for stream in streams(step.intervals, *role)? {
                for number in numbers {
                    jobs += 1;
                    let share = stream.per_s / numbers.len() as f64;
                    arguments.extend(job(fio, files, *number, (step, &stream, share), &recording));
                }
            }
        }
    }
    if jobs > JOBS_MAX {
        return Err(RawError::TooManyJobs {
            jobs,
            most: JOBS_MAX,
        });
    }
    let task = FioTask {
        what: format!(
            "the requests of a profile, at most {} in flight for each file and direction",
            recording.in_flight
        ),
        arguments,
        ioengine: format!("{}, {}", fio.queued, fio.synchronous),
        window,
    };
    let mut outcome = run_fio(fio, (files, volumes), task, stop)?;
    // Each job counts its own step.
    outcome.elapsed = window.until.since(window.from);
    Ok(outcome)
}

/// A step of time, and the intervals whose requests are issued in it.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Step<'a> {
    from: Instant,
    length: Duration,
    intervals: &'a [Interval],
    counted: bool,
}

fn steps(intervals: &[Interval], window: Window) -> Vec<Step<'_>> {
    let together = intervals.len().div_ceil(STEPS_MAX).max(1);
    let parts: Vec<&[Interval]> = intervals.chunks(together).collect();
    let length = |part: &[Interval]| -> Duration { part.iter().map(|each| each.length).sum() };
    let whole: Duration = parts.iter().map(|part| length(part)).sum();
    let mut steps = Vec::new();
    if whole == Duration::ZERO {
        return steps;
    }
    // Where the warm-up begins in the profile.
    let warm_up = window.from.since(Instant::ZERO).as_nanos();
    let behind = warm_up % whole.as_nanos();
    let mut skipped = match behind {
        0 => Duration::ZERO,
        _ => whole.saturating_sub(Duration::from_nanos(behind)),
    };
    let mut now = Instant::ZERO;
    for part in parts.iter().copied().cycle() {
        let own = length(part);
        let mut left = own.saturating_sub(skipped);
        skipped = skipped.saturating_sub(own);
        while left > Duration::ZERO {
            let counted = now >= window.from;
            let end = if counted { window.until } else { window.from };
            let length = left.min(end.since(now));
            if length == Duration::ZERO {
                return steps;
            }
            steps.push(Step {
                from: now,
                length,
                intervals: part,
                counted,
            });
            now += length;
            left = left.saturating_sub(length);
        }
    }
    steps
}

/// Requests of one direction.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Stream {
    direction: &'static str,
    per_s: f64,
    size: Bytes,
    /// Number of writes between flushes.
    flush_every: Option<u64>,
}

/// Requests to the files of `role` in these intervals.
fn streams(intervals: &[Interval], role: Role) -> Result<Vec<Stream>, RawError> {
    let length: Duration = intervals.iter().map(|interval| interval.length).sum();
    let sum = |kind: fn(&Io) -> &Requests, figure: fn(&Requests) -> Option<f64>| {
        let known = intervals.iter().filter_map(|interval| {
            let io = interval.roles.get(&role)?;
            figure(kind(io))
        });
        known.sum::<f64>()
    };
    let (order, flushes) = match role {
        Role::Log | Role::Binlog => (["read", "write"], sum(|io| &io.flushes, |each| each.count)),
        Role::Data | Role::Temp | Role::Undo | Role::Doublewrite => {
            (["randread", "randwrite"], 0.0)
        }
    };
    let kinds: [fn(&Io) -> &Requests; 2] = [|io| &io.reads, |io| &io.writes];
    let mut streams = Vec::new();
    for ((direction, kind), is_write) in order.into_iter().zip(kinds).zip([false, true]) {
        let count = sum(kind, |each| each.count);
        if count < 1.0 {
            continue;
        }
        let bytes = sum(kind, |each| each.bytes);
        if bytes <= 0.0 {
            return Err(RawError::NoSizes(role));
        }
        let blocks = (bytes / count / BLOCK as f64).round() as u64;
        let flush_every = (is_write && flushes >= 1.0).then(|| (count / flushes).round() as u64);
        streams.push(Stream {
            direction,
            per_s: count / length.as_secs_f64(),
            size: Bytes((blocks.max(1) * BLOCK).min(REQUEST_MAX)),
            flush_every: flush_every.map(|every| every.max(1)),
        });
    }
    Ok(streams)
}

/// A job of fio: one stream at one file, in one step.
fn job(
    fio: &Fio,
    files: &Files,
    number: usize,
    (step, stream, per_s): (&Step<'_>, &Stream, f64),
    recording: &RawRecording<'_>,
) -> Vec<String> {
    let ms = |time: Duration| time.as_nanos().div_ceil(1_000_000);
    let name = match step.counted {
        true => job_name(number),
        false => format!("warm-up-{number}"),
    };
    let mut arguments = vec![
        format!("--name={name}"),
        format!("--filename={}", files.filename(number)),
        format!("--rw={}", stream.direction),
        format!("--bs={}", stream.size.0),
        format!("--startdelay={}ms", ms(step.from.since(Instant::ZERO))),
        format!("--runtime={}ms", ms(step.length)),
    ];
    if per_s < BY_CHANCE_MIN {
        let rate = (per_s * stream.size.0 as f64).ceil() as u64;
        arguments.push(format!("--rate={rate},{rate}"));
    } else {
        let rate = per_s.round() as u64;
        arguments.push(format!("--rate_iops={rate},{rate}"));
        arguments.push("--rate_process=poisson".to_owned());
    }
    match stream.flush_every {
        // A server writes its log one write after the other.
        Some(every) => arguments.extend([
            format!("--ioengine={}", fio.synchronous),
            format!("--fdatasync={every}"),
        ]),
        None => arguments.extend([
            format!("--ioengine={}", fio.queued),
            format!("--iodepth={}", recording.in_flight),
        ]),
    }
    arguments
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    /// Intervals of 10 s with these numbers of 8 KiB reads.
    fn intervals(reads: &[f64]) -> Vec<Interval> {
        let interval = |(at, reads): (usize, &f64)| {
            let io = Io {
                reads: Requests {
                    count: Some(*reads),
                    bytes: Some(reads * 8_192.0),
                    waited: None,
                },
                ..Io::default()
            };
            Interval {
                at: Duration::from_secs(10 * at as u64),
                length: Duration::from_secs(10),
                roles: BTreeMap::from([(Role::Data, io)]),
                ..Interval::default()
            }
        };
        reads.iter().enumerate().map(interval).collect()
    }

    fn window(from: u64, until: u64) -> Window {
        let at = |seconds| Instant::ZERO + Duration::from_secs(seconds);
        Window {
            from: at(from),
            until: at(until),
        }
    }

    #[test]
    fn the_profile_begins_with_the_window_and_comes_again() {
        let recorded = intervals(&[100.0, 200.0, 300.0]);
        let made = steps(&recorded, window(15, 50));
        let first_reads = |step: &Step<'_>| step.intervals[0].roles[&Role::Data].reads.count;
        let shown: Vec<_> = made
            .iter()
            .map(|step| {
                let from = step.from.since(Instant::ZERO).as_secs_f64();
                let reads = first_reads(step).unwrap_or_default();
                (from, step.length.as_secs_f64(), reads, step.counted)
            })
            .collect();
        assert_eq!(
            shown,
            [
                (0.0, 5.0, 200.0, false),
                (5.0, 10.0, 300.0, false),
                (15.0, 10.0, 100.0, true),
                (25.0, 10.0, 200.0, true),
                (35.0, 10.0, 300.0, true),
                (45.0, 5.0, 100.0, true),
            ]
        );
    }

    #[test]
    fn a_long_profile_is_made_in_few_steps_that_keep_its_requests() {
        let recorded = intervals(&[50.0; 500]);
        let made = steps(&recorded, window(0, 5_000));
        assert!(made.len() <= STEPS_MAX, "{}", made.len());
        for step in made {
            let of_step = streams(step.intervals, Role::Data).unwrap();
            assert_eq!(of_step[0].per_s, 5.0);
            assert_eq!(of_step[0].size, Bytes::kib(8));
        }
    }

    #[test]
    fn the_log_is_written_in_order_and_flushed_as_often_as_it_was() {
        let mut recorded = intervals(&[0.0]);
        let log = Io {
            writes: Requests {
                count: Some(90.0),
                bytes: Some(90.0 * 13_000.0),
                waited: None,
            },
            flushes: Requests {
                count: Some(30.0),
                ..Requests::default()
            },
            ..Io::default()
        };
        recorded[0].roles.insert(Role::Log, log);
        let expected = Stream {
            direction: "write",
            per_s: 9.0,
            size: Bytes::kib(12),
            flush_every: Some(3),
        };
        assert_eq!(streams(&recorded, Role::Log).unwrap(), [expected]);
        // Data was not read.
        assert_eq!(streams(&recorded, Role::Data).unwrap(), []);
    }

    #[test]
    fn requests_without_sizes_are_refused() {
        let mut recorded = intervals(&[10.0]);
        let io = recorded[0].roles.get_mut(&Role::Data).unwrap();
        io.reads.bytes = None;
        let refused = streams(&recorded, Role::Data).unwrap_err().to_string();
        assert!(refused.contains("data"), "{refused}");
    }
}
