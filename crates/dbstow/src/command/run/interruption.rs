//! Ctrl-C, a request to terminate, and a closed terminal.
//!
//! The first signal stops the run: trials end and are cleaned up. A second one ends the program immediately. Once there
//! is nothing to clean up, so does the first. A closed terminal counts as Ctrl-C, unless the program was started to
//! survive it (`nohup`).

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use anyhow::{Context, Result};
use host::clock::Clock;
use host::hangup;
use model::Duration;

use crate::command::output::note;
#[cfg(feature = "live")]
use crate::command::screen;
use experiment::spec::Mode;

/// Exit code of a program ended by Ctrl-C, as in shells.
pub(in crate::command) const INTERRUPTED: i32 = 130;

/// Grace period for simulated trials. They check many times a second; one that does not is inside a single call of
/// SQLite, such as a large sort, or is freeing memory.
const SIMULATED_MAX: Duration = Duration::from_millis(1500);

/// The state of an interruption.
pub(in crate::command) struct Interruption {
    /// Set by the first signal.
    pub(in crate::command) asked: Arc<AtomicBool>,
    /// Whether nothing is running that needs cleanup.
    idle: Arc<AtomicBool>,
    /// The effect of Ctrl-C, for a terminal in raw mode.
    #[cfg(feature = "live")]
    pub(super) act: Arc<dyn Fn() + Send + Sync>,
}

impl Interruption {
    /// Handles signals from now on, in a run of `mode` into `folder`.
    pub(in crate::command) fn listen(mode: Mode, folder: &Path) -> Result<Interruption> {
        let (asked, idle) = (Arc::<AtomicBool>::default(), Arc::<AtomicBool>::default());
        let (asked_too, idle_too) = (Arc::clone(&asked), Arc::clone(&idle));
        let text = text(folder);
        let survives_hangup = hangup::is_ignored();
        let act: Arc<dyn Fn() + Send + Sync> = Arc::new(move || {
            #[cfg(feature = "live")]
            screen::leave();
            // Records are written atomically, so there is nothing left to save; the next run removes what
            // real-time trials left.
            if asked.swap(true, Ordering::Relaxed) || idle.load(Ordering::Relaxed) {
                exit();
            }
            note("\nstopping and cleaning up; press Ctrl-C again to stop at once");
            match mode {
                Mode::Simulate => give_up_later(text.clone()),
                Mode::Emulate | Mode::Measure => {}
            }
        });
        let on_signal = Arc::clone(&act);
        ctrlc::set_handler(move || on_signal()).context("a handler for Ctrl-C")?;
        if survives_hangup {
            hangup::ignore();
        }
        Ok(Interruption {
            asked: asked_too,
            idle: idle_too,
            #[cfg(feature = "live")]
            act,
        })
    }

    /// All trials have ended: from now on Ctrl-C ends the program immediately.
    pub(in crate::command) fn idle(&self) {
        self.idle.store(true, Ordering::Relaxed);
    }

    /// Whether there was a signal.
    pub(in crate::command) fn was_asked(&self) -> bool {
        self.asked.load(Ordering::Relaxed)
    }
}

/// The message of an interrupted run.
pub(in crate::command) fn text(folder: &Path) -> String {
    format!(
        "interrupted; finished trials are kept in {}: rerun the command to resume, or run `dbstow report {}`",
        folder.display(),
        folder.display()
    )
}

/// Ends the program if simulated trials have not ended by then: they leave nothing behind.
fn give_up_later(text: String) {
    thread::spawn(move || {
        Clock::sleep(SIMULATED_MAX);
        note(&format!("dbstow: {text}"));
        exit();
    });
}

fn exit() {
    #[cfg(feature = "live")]
    screen::leave();
    #[expect(clippy::disallowed_methods, reason = "`main` may be waiting for ever")]
    std::process::exit(INTERRUPTED);
}
