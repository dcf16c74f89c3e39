//! Ctrl-C, a request to terminate, and a terminal that is closed.
//!
//! The first one ends what runs: trials stop and are cleaned up. A second one ends the program at once. Once there is
//! nothing to clean up, so does the first. A closed terminal counts as Ctrl-C, unless the program was started to
//! survive it (`nohup`).

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use anyhow::{Context, Result};
use model::Duration;
use volume::clock::Clock;
use volume::hangup;

use crate::command::output::note;
#[cfg(feature = "live")]
use crate::command::screen;
use experiment::spec::Mode;

/// Exit code of a program that Ctrl-C ended at once, as shells have it.
pub(in crate::command) const INTERRUPTED: i32 = 130;

/// How long simulated trials may take to notice. They look many times a second; what does not is within one call of
/// SQLite, such as a large sort, or gives memory back.
const SIMULATED_MAX: Duration = Duration::from_millis(1500);

/// What the user said by Ctrl-C.
pub(in crate::command) struct Interruption {
    /// Set by the first one.
    pub(in crate::command) asked: Arc<AtomicBool>,
    /// Whether nothing is under way that has to be cleaned up.
    idle: Arc<AtomicBool>,
    /// What Ctrl-C does, for a terminal that sends no signal.
    #[cfg(feature = "live")]
    pub(super) act: Arc<dyn Fn() + Send + Sync>,
}

impl Interruption {
    /// Listens from now on, in a run of `mode` into `folder`.
    pub(in crate::command) fn listen(mode: Mode, folder: &Path) -> Result<Interruption> {
        let (asked, idle) = (Arc::<AtomicBool>::default(), Arc::<AtomicBool>::default());
        let (asked_too, idle_too) = (Arc::clone(&asked), Arc::clone(&idle));
        let text = text(folder);
        let survives_hangup = hangup::is_ignored();
        let act: Arc<dyn Fn() + Send + Sync> = Arc::new(move || {
            #[cfg(feature = "live")]
            screen::leave();
            // Records are written whole or not at all, so there is nothing left to save; what real time leaves
            // behind is cleared by the next run.
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

    /// All trials have ended: from now on Ctrl-C ends the program at once.
    pub(in crate::command) fn idle(&self) {
        self.idle.store(true, Ordering::Relaxed);
    }

    /// Whether there was one.
    pub(in crate::command) fn was_asked(&self) -> bool {
        self.asked.load(Ordering::Relaxed)
    }
}

/// What an interrupted run says.
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
