//! A profile of a rehearsal: one more trial of the first layout, recorded as a server in use is. Its figures are compared with none,
//! because recording takes a little of the processor's time.

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use engine::Engine;
use engine::recorder::{Recording, Watcher};
use host::clock::Clock;
use lab::trial::real::{Performance, Player};
use model::Duration;
use parking_lot::Mutex;
use profile::Profile;

use super::player::LogPlayer;

/// Intervals are of this length, so that a log of some seconds has several, ..
const EVERY: Duration = Duration::from_secs(1);

/// .. and of this one for a log of more than [`LONG`] (our choice).
const EVERY_LONG: Duration = Duration::from_secs(10);

const LONG: Duration = Duration::from_secs(1_800);

/// Longest recording: longer than a log in memory.
const LENGTH_MAX: Duration = Duration::from_secs(7 * 86_400);

/// Plays a log, and records the server meanwhile.
pub(crate) struct RecordedPlayer<'a> {
    player: &'a LogPlayer,
    /// What was recorded of the last trial, or why there is nothing.
    recorded: Mutex<Option<Result<Profile, String>>>,
}

/// Ends the recording with what is played.
struct UntilOver<'a>(&'a AtomicBool);

impl RecordedPlayer<'_> {
    pub(crate) fn new(player: &LogPlayer) -> RecordedPlayer<'_> {
        RecordedPlayer {
            player,
            recorded: Mutex::default(),
        }
    }

    /// What was recorded of the last trial, or why there is nothing.
    pub(crate) fn take(&self) -> Result<Profile, String> {
        let recorded = self.recorded.lock().take();
        recorded.unwrap_or_else(|| Err("it was not begun".to_owned()))
    }

    fn record(&self, engine: &dyn Engine, over: &AtomicBool) -> Result<Profile, String> {
        let recorder = engine.recorder();
        let recorder = recorder.ok_or("this engine is not recorded")?;
        let schedule = &self.player.schedule;
        let lasted_us = u64::try_from(schedule.until_us - schedule.from_us).unwrap_or(0);
        let recording = Recording {
            length: LENGTH_MAX,
            every: match Duration::from_micros(lasted_us) > LONG {
                true => EVERY_LONG,
                false => EVERY,
            },
            without_host: false,
        };
        let recorded = recorder.record(recording, &UntilOver(over));
        recorded.map_err(|error| error.to_string())
    }
}

impl Player for RecordedPlayer<'_> {
    fn play(
        &self,
        engine: &dyn Engine,
        clock: Clock,
        ready: &(dyn Fn() -> bool + Sync),
        stopped: &(dyn Fn() -> bool + Sync),
    ) -> Result<Performance, String> {
        let over = &AtomicBool::new(false);
        thread::scope(|scope| {
            let record = move || {
                let recorded = self.record(engine, over);
                *self.recorded.lock() = Some(recorded);
            };
            let ready = || {
                let may_begin = ready();
                if may_begin {
                    scope.spawn(record);
                }
                may_begin
            };
            let played = self.player.play(engine, clock, &ready, stopped);
            over.store(true, Ordering::Relaxed);
            played
        })
    }

    // The recorder would count those sessions as the load's.
    fn is_sampled(&self) -> bool {
        false
    }
}

impl Watcher for UntilOver<'_> {
    fn is_stopped(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }

    fn elapsed(&self, _time: Duration) {}

    fn so_far(&self, _profile: &Profile) {}

    fn note(&self, _text: &str) {}
}
