//! Numbers only: estimates, comparisons, and checks for what would invalidate them.
//!
//! Nothing here knows about records or files, nor about units except for [`stress_averages`], which repeats another
//! tool's. Intervals are at [`CONFIDENCE`] and lie *between* trials: the number of requests in a trial says nothing about
//! how much the next trial would differ.

mod compare;
mod estimate;
mod explained;
mod humps;
mod moments;
mod scatter;
mod stress;
mod trend;

pub use compare::{Better, Comparison, Verdict, compare};
pub use estimate::{Estimate, estimate};
pub use explained::{Cause, Explained, explain};
pub use humps::{Humps, two_humps};
pub use moments::CONFIDENCE;
pub use scatter::{Draws, Within};
pub use stress::{StressAverages, stress_averages};
pub use trend::{OrderEffect, Trend, drift, order_effect};

/// Seeded samples for the tests of this folder.
#[cfg(test)]
mod samples {
    use rand_distr::{Distribution, Normal};

    /// `n` draws from a normal distribution.
    pub(super) fn normal(
        random: &mut impl rand::Rng,
        mean: f64,
        deviation: f64,
        n: usize,
    ) -> Vec<f64> {
        let distribution = Normal::new(mean, deviation).unwrap();
        (0..n).map(|_| distribution.sample(random)).collect()
    }
}
