//! The terminal while a screen is shown: entered once, and restored on every exit path.
//!
//! Messages are held meanwhile and printed when the screen is left. The screen is on stderr, like progress; results still
//! go to stdout.

use std::io::{self, BufWriter, IsTerminal};
use std::sync::Once;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use anyhow::{Context, Result};
use parking_lot::Mutex;
use ratatui::Terminal;
use ratatui::backend::CrosstermBackend;
use ratatui::crossterm::cursor::Show;
use ratatui::crossterm::execute;
use ratatui::crossterm::terminal::{
    EnterAlternateScreen, LeaveAlternateScreen, disable_raw_mode, enable_raw_mode,
};

use super::{UsageError, output};
use crate::live::{Screen, draw};

/// The frame interval, and the longest delay of a key.
const EVERY: Duration = Duration::from_millis(200);

/// How long leaving waits for a frame in progress.
const PATIENCE: Duration = Duration::from_millis(500);

/// Whether a screen is shown.
static SHOWN: AtomicBool = AtomicBool::new(false);

/// Held while the screen is entered, a frame is drawn or a key is read, so that none of this happens after the screen was
/// left.
static DRAWING: Mutex<()> = Mutex::new(());

/// Held while the screen is left: a second caller may end the process, and waits until the terminal is restored.
static LEAVING: Mutex<()> = Mutex::new(());

/// Runs after leaving.
static AFTER: Mutex<Option<Box<dyn FnOnce() + Send>>> = Mutex::new(None);

/// A shown screen; dropping it leaves it.
pub(super) struct AlternateScreen(Option<JoinHandle<()>>);

/// What the keys do.
enum Key {
    Leave,
    Interrupt,
    Other,
}

/// Checks that there is a terminal for it.
///
/// # Errors
/// When there is none.
pub(super) fn check() -> Result<(), UsageError> {
    match io::stdin().is_terminal() && io::stderr().is_terminal() {
        true => Ok(()),
        false => Err(UsageError(
            "--live needs a terminal, but stdin or stderr is not one; omit --live".to_owned(),
        )),
    }
}

/// Shows the output of `now` until `q` is pressed, [`leave`] is called or the result is dropped; `interrupt` handles
/// Ctrl-C, and `after` runs once the screen was left.
///
/// # Errors
/// When the terminal rejects it.
pub(super) fn show(
    now: impl Fn() -> Screen + Send + 'static,
    interrupt: impl Fn() + Send + 'static,
    after: impl FnOnce() + Send + 'static,
) -> Result<AlternateScreen> {
    static HOOK: Once = Once::new();
    HOOK.call_once(|| {
        let before = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |panic| {
            leave();
            before(panic);
        }));
    });
    *AFTER.lock() = Some(Box::new(after));
    output::hold();
    let entered = {
        // A signal that arrives meanwhile waits here, and then leaves the screen.
        let _entering = DRAWING.lock();
        SHOWN.store(true, Ordering::SeqCst);
        enable_raw_mode().and_then(|()| execute!(output::screen(), EnterAlternateScreen))
    };
    let terminal = entered
        .and_then(|()| Terminal::new(CrosstermBackend::new(BufWriter::new(output::screen()))));
    let mut terminal = terminal
        .inspect_err(|_| leave())
        .context("--live: the terminal")?;
    let work = move || {
        while is_shown() {
            {
                let _drawing = DRAWING.lock();
                let screen = now();
                if !is_shown() || terminal.draw(|frame| draw(&screen, frame)).is_err() {
                    break;
                }
            }
            match key() {
                Ok(Key::Leave) => break,
                Ok(Key::Interrupt) => {
                    leave();
                    interrupt();
                }
                Ok(Key::Other) => {}
                // Without keys it could not be left.
                Err(_) => break,
            }
        }
        leave();
    };
    let thread = thread::Builder::new().name("dbstow-live".to_owned());
    let thread = thread.spawn(work).inspect_err(|_| leave());
    Ok(AlternateScreen(Some(thread.context("--live: a thread")?)))
}

/// Leaves the screen, where one is shown, and restores the terminal.
pub(super) fn leave() {
    // A panic may have originated here.
    let leaving = LEAVING.try_lock_for(2 * PATIENCE);
    if !SHOWN.swap(false, Ordering::SeqCst) {
        return;
    }
    // A panic may have originated within a frame.
    let drawing = DRAWING.try_lock_for(PATIENCE);
    // Errors are ignored: without a terminal they cannot be reported.
    let _ = execute!(output::screen(), LeaveAlternateScreen, Show);
    let _ = disable_raw_mode();
    output::release();
    drop((drawing, leaving));
    let after = AFTER.lock().take();
    if let Some(after) = after {
        after();
    }
}

/// Whether a screen is shown.
pub(super) fn is_shown() -> bool {
    SHOWN.load(Ordering::SeqCst)
}

/// The next key, or `Other` after a timeout. Two keys need no parser; crossterm's event reader never returns once its
/// terminal is gone (0.29: it ignores the end of the file and errors).
///
/// # Errors
/// When the terminal is gone.
#[cfg(unix)]
fn key() -> io::Result<Key> {
    use std::fs::File;
    use std::io::Read;
    use std::os::fd::AsFd;

    use nix::poll::{PollFd, PollFlags, PollTimeout, poll};

    let stdin = io::stdin();
    let mut looked = [PollFd::new(stdin.as_fd(), PollFlags::POLLIN)];
    let timeout = PollTimeout::try_from(EVERY).map_err(io::Error::other)?;
    match poll(&mut looked, timeout) {
        Ok(0) | Err(nix::errno::Errno::EINTR) => return Ok(Key::Other),
        Ok(_) => {}
        Err(error) => return Err(error.into()),
    }
    let _reading = DRAWING.lock();
    if !is_shown() {
        // The screen was left meanwhile: this key is for the next reader.
        return Ok(Key::Other);
    }
    // Bypasses std's buffer, so that a later prompt finds its complete answer.
    let mut terminal = File::from(stdin.as_fd().try_clone_to_owned()?);
    let mut keys = [0; 64];
    let read = terminal.read(&mut keys)?;
    match &keys[..read] {
        [] => Err(io::ErrorKind::UnexpectedEof.into()),
        // Arrows and the like.
        [0x1b, ..] => Ok(Key::Other),
        // The terminal sends no signal in raw mode.
        keys if keys.contains(&0x03) => Ok(Key::Interrupt),
        keys if keys.contains(&b'q') => Ok(Key::Leave),
        _ => Ok(Key::Other),
    }
}

/// The next key, or `Other` after a timeout.
///
/// # Errors
/// When the terminal is gone.
#[cfg(not(unix))]
fn key() -> io::Result<Key> {
    use ratatui::crossterm::event::{self, Event, KeyCode, KeyEvent, KeyEventKind, KeyModifiers};

    if !event::poll(EVERY)? || !is_shown() {
        return Ok(Key::Other);
    }
    Ok(match event::read()? {
        Event::Key(KeyEvent {
            code,
            modifiers,
            kind: KeyEventKind::Press,
            ..
        }) => match code {
            KeyCode::Char('q') => Key::Leave,
            KeyCode::Char('c') if modifiers.contains(KeyModifiers::CONTROL) => Key::Interrupt,
            _ => Key::Other,
        },
        _ => Key::Other,
    })
}

impl Drop for AlternateScreen {
    fn drop(&mut self) {
        leave();
        if let Some(thread) = self.0.take() {
            // A panic was already reported.
            let _ = thread.join();
        }
    }
}
