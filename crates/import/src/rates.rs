//! Requests as most tools write them: as rates.

use model::Duration;
use profile::Requests;

/// Rates of requests over an interval, and their mean latency.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Rates {
    pub(crate) per_second: Option<f64>,
    pub(crate) bytes_per_second: Option<f64>,
    /// Mean latency in seconds.
    pub(crate) mean_s: Option<f64>,
}

/// Requests from a rate over that time.
pub(crate) fn requests(rates: Rates, length: Duration) -> Requests {
    let seconds = length.as_secs_f64();
    let count = rates.per_second.map(|rate| rate * seconds);
    let waited = |(count, mean): (f64, f64)| Duration::from_secs_f64(count * mean);
    Requests {
        count,
        bytes: rates.bytes_per_second.map(|rate| rate * seconds),
        waited: count.zip(rates.mean_s).map(waited),
    }
}
