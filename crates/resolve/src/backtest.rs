//! The back-test: a profile beside replays of it on its server's own layout.

use experiment::plan::Trial;
use experiment::spec::Disk;
use model::{Duration, Instant, VolumeSpec};
use replay::{BackTest, Follow, ReplayError, start_with_recorded_credits};

use crate::replayed::Replayed;
use crate::resolved::{Ready, Resolved};
use crate::work::{Cancel, Recording};

/// How many times a replay reports its progress.
const STEPS: f64 = 500.0;

impl Resolved {
    /// Replays the profile of the plan's only arm once per block, and compares the result with the profile. `report`
    /// receives the progress, from 0 to 1.
    ///
    /// # Errors
    /// When a replay does not end, or `cancelled` returns true.
    ///
    /// # Panics
    /// When the arm replays no profile.
    pub fn backtest(
        &self,
        cancelled: &Cancel,
        report: &dyn Fn(f64),
    ) -> Result<BackTest, ReplayError> {
        let (arm, stage, recording) = self.first();
        let recording = recording.expect("the arm replays a profile");
        let settings = &arm.settings;
        let places = stage.replay_places(&settings.placement);
        let mut volumes = stage.volumes.clone();
        // What the layout says about credits holds.
        let is_given = settings
            .volumes
            .iter()
            .any(|volume| volume.credits.is_some());
        let credits = match is_given {
            true => Vec::new(),
            false => start_with_recorded_credits(&recording.profile, &places, &mut volumes),
        };
        let declared =
            self.backtest_on(&volumes, recording, cancelled, &|done| report(done / 2.0))?;
        let latencies = declared.latencies_of_disks(&places);
        let of_disks = |backtest: BackTest| {
            let mut all = settings.volumes.iter();
            match all.any(|volume| volume.disk == Disk::Recorded) {
                true => backtest.on_recorded_disks(),
                false => backtest,
            }
        };
        if latencies.is_empty() {
            return Ok(of_disks(declared.with_own_disks(latencies, credits)));
        }
        for latency in &latencies {
            latency.apply(&mut volumes);
        }
        let own = self.backtest_on(&volumes, recording, cancelled, &|done| {
            report((1.0 + done) / 2.0)
        })?;
        Ok(of_disks(own.with_own_disks(latencies, credits)))
    }

    /// The same on `volumes`, which are the arm's with other latencies or credits.
    fn backtest_on(
        &self,
        volumes: &[VolumeSpec],
        recording: &Recording,
        cancelled: &Cancel,
        report: &dyn Fn(f64),
    ) -> Result<BackTest, ReplayError> {
        let all = self.plan().trials().len() as f64;
        let of_trial = |(number, trial): (usize, &Trial)| {
            let (arm, Ready { stage, .. }) = self.ready(&trial.arm);
            let replayed = Replayed {
                settings: &arm.settings,
                stage,
                demand: recording.demand(),
                seed: trial.seed,
            };
            let report = |done| report((number as f64 + done) / all);
            report(0.0);
            let mut follower = Follower {
                length: replayed.end().since(Instant::ZERO),
                reported: 0.0,
                report: &report,
                cancelled,
            };
            let outcome = replayed.run(volumes, Box::new(()), &mut follower)?;
            Ok(replay::Replayed::of(&outcome))
        };
        let trials = self.plan().trials().iter().enumerate();
        let replays: Vec<replay::Replayed> = trials.map(of_trial).collect::<Result<_, _>>()?;
        Ok(BackTest::of(
            &recording.profile,
            recording.demand(),
            &replays,
            (&self.first().1.machine, volumes),
        ))
    }
}

/// Reports the progress of a replay.
struct Follower<'a> {
    length: Duration,
    reported: f64,
    report: &'a dyn Fn(f64),
    cancelled: &'a Cancel,
}

impl Follow for Follower<'_> {
    fn ended(&mut self, _began: Instant, now: Instant) {
        let done = now.since(Instant::ZERO).as_secs_f64() / self.length.as_secs_f64();
        let step = (done * STEPS).floor();
        if step > self.reported {
            self.reported = step;
            (self.report)(done.min(1.0));
        }
    }

    fn is_stopped(&self) -> bool {
        (self.cancelled)()
    }
}
