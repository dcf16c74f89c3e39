//! Prompts the user for an action, and waits for Enter.

use std::io;
use std::io::IsTerminal;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::thread;
use std::time::Duration;

use parking_lot::Mutex;

use crate::command::output::note;
use crate::command::progress::Progress;
use engine::hooks::Prompt;

/// How often interruption is checked for.
const LOOK_EVERY: Duration = Duration::from_millis(100);

/// Prompts the user, where there is a terminal. Ctrl-C ends the wait; a later prompt, to restore something, waits
/// nevertheless.
pub(in crate::command) fn prompt(
    interrupted: Arc<AtomicBool>,
    progress: Progress,
) -> Option<Prompt> {
    if !io::stdin().is_terminal() || !io::stderr().is_terminal() {
        return None;
    }
    let terminal = Mutex::new(None);
    Some(Arc::new(move |text| {
        // It would hide the prompt.
        #[cfg(feature = "live")]
        crate::command::screen::leave();
        let mut terminal = terminal.lock();
        let lines = terminal.get_or_insert_with(lines);
        // A running bar would be drawn over the prompt.
        progress.suspend(|| {
            note(&format!("\n{text}\nPress Enter once that is done."));
            enter(lines, &interrupted)
        })
    }))
}

/// Reads lines in a separate thread, as a blocking read cannot be cancelled.
fn lines() -> Receiver<io::Result<usize>> {
    let (send, lines) = mpsc::channel();
    thread::spawn(move || {
        loop {
            let line = io::stdin().read_line(&mut String::new());
            let over = !matches!(line, Ok(1..));
            if send.send(line).is_err() || over {
                break;
            }
        }
    });
    lines
}

fn enter(lines: &Receiver<io::Result<usize>>, interrupted: &AtomicBool) -> io::Result<()> {
    let before = interrupted.load(Ordering::Relaxed);
    loop {
        match lines.recv_timeout(LOOK_EVERY) {
            Ok(Ok(1..)) => return Ok(()),
            Ok(Err(error)) => return Err(error),
            // End of input.
            Ok(Ok(0)) | Err(RecvTimeoutError::Disconnected) => {
                return Err(io::Error::other("stdin closed before Enter was pressed"));
            }
            Err(RecvTimeoutError::Timeout) => {}
        }
        if !before && interrupted.load(Ordering::Relaxed) {
            return Err(io::Error::other("interrupted"));
        }
    }
}
