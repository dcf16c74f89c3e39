//! Which jobs to run: each depth depends on the results of the previous ones.

use model::{Bytes, Iops};

use super::{Job, LARGE, Purpose, SMALL, Sample, Side};
use raw::{RawError, RawOutcome};

/// Runs a job.
pub type Runner<'a> = dyn FnMut(&Job) -> Result<RawOutcome, RawError> + 'a;

/// Depths double up to these.
const DEPTH_MAX_SMALL: u32 = 256;
const DEPTH_MAX_LARGE: u32 = 32;
/// A deeper queue that gains no more than this shows saturation.
pub(super) const GAIN_MIN: f64 = 0.05;
/// How many consecutive depths must gain nothing, so that one disturbed job does not end a sweep.
const FLAT: usize = 2;

/// Most possible jobs: depths 1 to 256 of two sides and 1 to 32 of two sides, a mix of each size, four
/// latencies and the flush.
pub const JOBS_MAX: usize = 2 * 9 + 2 * 6 + 2 + 4 + 1;

/// Runs every job that a fit needs.
///
/// # Errors
/// The first failure of `run`.
pub fn sweep(run: &mut Runner<'_>) -> Result<Vec<Sample>, RawError> {
    let mut samples = Vec::new();
    for (size, depth_max) in [(SMALL, DEPTH_MAX_SMALL), (LARGE, DEPTH_MAX_LARGE)] {
        let mut deepest = 1;
        for side in [Side::Read, Side::Write] {
            let swept = depths(run, side, size, depth_max)?;
            deepest = deepest.max(swept.last().map_or(1, |sample| sample.job.depth));
            samples.extend(swept);
        }
        let mixed = job(Side::Mixed, size, deepest);
        samples.push(one(run, mixed)?);
    }
    for size in [SMALL, LARGE] {
        for side in [Side::Read, Side::Write] {
            let most = saturated(&samples, side, size);
            let idle = Job {
                purpose: Purpose::Idle,
                // Half of the maximum: no limit throttles that, and its bucket stays full.
                rate: Some(Iops((most / 2.0).max(1.0) as u64)),
                ..job(side, size, 1)
            };
            samples.push(one(run, idle)?);
        }
    }
    let flush = Job {
        purpose: Purpose::Idle,
        ..job(Side::Flush, SMALL, 1)
    };
    samples.push(one(run, flush)?);
    Ok(samples)
}

fn job(side: Side, size: Bytes, depth: u32) -> Job {
    Job {
        purpose: Purpose::Sweep,
        side,
        size,
        depth,
        rate: None,
    }
}

fn one(run: &mut Runner<'_>, job: Job) -> Result<Sample, RawError> {
    Ok(job.sample(&run(&job)?))
}

/// Depths 1, 2, 4, .. until more gains nothing.
fn depths(
    run: &mut Runner<'_>,
    side: Side,
    size: Bytes,
    depth_max: u32,
) -> Result<Vec<Sample>, RawError> {
    let mut samples: Vec<Sample> = Vec::new();
    let (mut best, mut flat, mut depth) = (0.0, 0, 1);
    while depth <= depth_max && flat < FLAT {
        let sample = one(run, job(side, size, depth))?;
        flat = if sample.iops < best * (1.0 + GAIN_MIN) {
            flat + 1
        } else {
            0
        };
        best = sample.iops.max(best);
        samples.push(sample);
        depth *= 2;
    }
    Ok(samples)
}

/// The sweep of one side and size, in the order of depth.
pub(super) fn of(samples: &[Sample], side: Side, size: Bytes) -> Vec<&Sample> {
    let wanted = |job: &Job| job.purpose == Purpose::Sweep && job.side == side && job.size == size;
    let found = samples.iter().filter(|sample| wanted(&sample.job));
    found.collect()
}

/// The maximum: the mean of the values within the gain of the best, since each alone may be an outlier.
pub(super) fn saturated(samples: &[Sample], side: Side, size: Bytes) -> f64 {
    let swept = of(samples, side, size);
    let best = swept.iter().map(|sample| sample.iops).fold(0.0, f64::max);
    let near = swept.iter().map(|sample| sample.iops);
    let near: Vec<f64> = near
        .filter(|iops| *iops >= best * (1.0 - GAIN_MIN))
        .collect();
    near.iter().sum::<f64>() / (near.len() as f64).max(1.0)
}

/// Whether a sweep ended by saturation, rather than by reaching its maximum depth.
pub(super) fn is_flat(samples: &[Sample], side: Side, size: Bytes) -> bool {
    match of(samples, side, size).as_slice() {
        [earlier @ .., last] if !earlier.is_empty() => {
            let best = earlier.iter().map(|sample| sample.iops).fold(0.0, f64::max);
            last.iops < best * (1.0 + GAIN_MIN)
        }
        _ => false,
    }
}
