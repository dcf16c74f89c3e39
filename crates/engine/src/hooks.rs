//! What only the program around a run can do.

use std::io;
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// Gives the command that starts an emulator in a process of its own.
pub type Emulator = fn() -> io::Result<Command>;

/// Shows a text and waits until the user has done what it says.
pub type Prompt = Arc<dyn Fn(&str) -> io::Result<()> + Send + Sync>;

/// Shows a line about something that takes long.
pub type Progress = Arc<dyn Fn(&str) + Send + Sync>;

/// What only the program around a run can do.
#[derive(Clone)]
pub struct HostHooks {
    /// Starts emulators.
    pub emulator: Emulator,
    /// Asks the user to do something; `None`: nobody is there.
    pub prompt: Option<Prompt>,
    /// Shows what is waited for.
    pub progress: Progress,
    /// Is set once the run is to end.
    pub interrupted: Arc<AtomicBool>,
}

impl Default for HostHooks {
    /// No emulator, nobody to ask or to show progress to, and nothing that ends a run early.
    fn default() -> HostHooks {
        HostHooks {
            emulator: no_emulator,
            prompt: None,
            progress: Arc::new(|_| {}),
            interrupted: Arc::default(),
        }
    }
}

fn no_emulator() -> io::Result<Command> {
    Err(io::Error::new(
        io::ErrorKind::Unsupported,
        "no emulator was provided; set RunInputs::hooks.emulator",
    ))
}
