//! A profile on an arm: what is replayed, on which machine, for how long.

use experiment::spec::{Amount, Arrival, Settings};
use model::{Duration, Instant, Observer, VolumeSpec};
use replay::{Arrivals, DemandSeries, Follow, Outcome, Replay, ReplayError};

use crate::stage::Stage;

/// The replay of a profile on an arm.
#[derive(Clone, Copy)]
pub struct Replayed<'a> {
    /// All settings of the arm.
    pub settings: &'a Settings,
    /// The arm's volumes, resolved.
    pub stage: &'a Stage,
    /// The demand of its sessions.
    pub demand: &'a DemandSeries,
    /// Seed of all randomness.
    pub seed: u64,
}

impl Replayed<'_> {
    /// Replays it on `volumes`, which are the arm's, perhaps with other latencies or credits.
    ///
    /// # Errors
    /// When it does not end, or `follow` stops it.
    pub fn run(
        &self,
        volumes: &[VolumeSpec],
        observer: Box<dyn Observer>,
        follow: &mut dyn Follow,
    ) -> Result<Outcome, ReplayError> {
        let Replayed {
            settings,
            stage,
            demand,
            seed,
        } = *self;
        let replay = Replay {
            demand,
            arrivals: match settings.workload.arrival {
                Arrival::Closed { .. } => Arrivals::Closed,
                Arrival::Open { .. } => Arrivals::Open,
            },
            machine: &stage.machine,
            volumes,
            places: &stage.replay_places(&settings.placement),
            warm_up: settings.workload.warm_up,
            length: self.length(),
            seed,
        };
        replay.run(observer, follow)
    }

    /// The measured time.
    ///
    /// # Panics
    /// When the settings count operations, which those of a profile never do.
    pub fn length(&self) -> Duration {
        match self.settings.workload.amount {
            Amount::Duration(length) => length,
            Amount::Operations(_) => unreachable!("a spec has refused a profile with operations"),
        }
    }

    /// When it ends, after its warm-up.
    ///
    /// # Panics
    /// As [`Replayed::length`].
    pub fn end(&self) -> Instant {
        Instant::ZERO + self.settings.workload.warm_up + self.length()
    }
}
