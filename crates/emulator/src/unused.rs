//! Unmounting volumes that a server has just left.

use std::io;

use host::clock::Clock;
use model::{Duration, Instant};

use super::process::IN_USE;

/// How long volumes may stay in use after their server has ended.
const IN_USE_MAX: Duration = Duration::from_secs(10);

/// Interval of attempts to unmount them.
const IN_USE_EVERY: Duration = Duration::from_millis(50);

/// Unmounts volumes by calling `unmount`, as soon as they are unused. A process that another thread starts briefly has
/// all files of this one open, including those of a database.
///
/// # Errors
/// Those of `unmount`, once they are not about its use any more, or after ten seconds.
pub fn when_unused(unmount: impl Fn() -> io::Result<()>) -> io::Result<()> {
    let clock = Clock::start();
    loop {
        match unmount() {
            Err(error)
                if error.to_string().contains(IN_USE)
                    && clock.now() - Instant::ZERO < IN_USE_MAX =>
            {
                Clock::sleep(IN_USE_EVERY);
            }
            done => return done,
        }
    }
}
