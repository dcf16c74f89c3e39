//! How closely a fitted disk matches the measured one: the same jobs on the model.

use model::{Bytes, DiskSpec, Duration, MachineSpec, VolumeSpec};
use serde::Serialize;

use super::{Job, Sample};
use raw::RawError;

/// A deviation above this share triggers a warning.
pub const DEVIATION_MAX: f64 = 0.10;

/// A job as measured, and on the model.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Agreement {
    /// The job.
    pub job: Job,
    /// On the real volume.
    pub measured: Figures,
    /// On the fitted disk.
    pub modelled: Figures,
}

/// The figures of a job; latencies in milliseconds, of its side's requests.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Figures {
    /// Reads and writes per second.
    pub iops: f64,
    /// Mean latency.
    pub latency_mean_ms: f64,
    /// Half are below.
    pub latency_p50_ms: f64,
    /// 99 in 100 are below.
    pub latency_p99_ms: f64,
}

impl Figures {
    fn of(sample: &Sample) -> Figures {
        let quantile = |quantile| sample.latency.value_at_quantile(quantile) as f64 / 1e6;
        Figures {
            iops: sample.iops,
            latency_mean_ms: sample.latency.mean() / 1e6,
            latency_p50_ms: quantile(0.5),
            latency_p99_ms: quantile(0.99),
        }
    }

    /// In the order of the fields.
    pub fn all(&self) -> [f64; 4] {
        [
            self.iops,
            self.latency_mean_ms,
            self.latency_p50_ms,
            self.latency_p99_ms,
        ]
    }
}

impl Agreement {
    /// Relative deviation of the model from the measurement, in the order of [`Figures`]; `NaN`
    /// where nothing was measured.
    pub fn deviations(&self) -> [f64; 4] {
        let (measured, modelled) = (self.measured.all(), self.modelled.all());
        std::array::from_fn(|at| {
            if measured[at] > 0.0 {
                modelled[at] / measured[at] - 1.0
            } else {
                f64::NAN
            }
        })
    }

    /// Whether every deviation is within [`DEVIATION_MAX`].
    pub fn is_close(&self) -> bool {
        let close = |deviation: f64| deviation.abs() <= DEVIATION_MAX;
        self.deviations().into_iter().all(close)
    }
}

/// Runs the job of every sample on a volume of one `disk`, for as long as it was measured.
///
/// # Errors
/// When the disk takes no time at all, or `stop` returns true before the end.
pub fn check(
    samples: &[Sample],
    disk: &DiskSpec,
    span: Bytes,
    each: Duration,
    stop: &dyn Fn() -> bool,
) -> Result<Vec<Agreement>, RawError> {
    let machine = MachineSpec::unlimited();
    let volumes = [VolumeSpec::of("calibrated", disk.clone())];
    let one = |(seed, sample): (u64, &Sample)| {
        let (spec, window) = (sample.job.spec(span), Job::window(each));
        let outcome = raw::simulate((&machine, &volumes), &[0], &spec, seed, window, stop)?;
        Ok(Agreement {
            job: sample.job.clone(),
            measured: Figures::of(sample),
            modelled: Figures::of(&sample.job.sample(&outcome)),
        })
    };
    (1..).zip(samples).map(one).collect()
}
