//! Services that only the calling program can provide.

use std::io;
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// Returns the command that starts an emulator in its own process.
pub type Emulator = fn() -> io::Result<Command>;

/// Shows a text and waits until the user has done what it asks for.
pub type Prompt = Arc<dyn Fn(&str) -> io::Result<()> + Send + Sync>;

/// Shows a progress message for a long operation.
pub type Progress = Arc<dyn Fn(&str) + Send + Sync>;

/// Services that only the calling program can provide.
#[derive(Clone)]
pub struct HostHooks {
    /// Starts emulators.
    pub emulator: Emulator,
    /// Prompts the user to do something; `None`: not interactive.
    pub prompt: Option<Prompt>,
    /// Shows what the run is waiting for.
    pub progress: Progress,
    /// Set once the run must end.
    pub interrupted: Arc<AtomicBool>,
}

impl Default for HostHooks {
    /// No emulator, no prompt, no progress messages, and no interruption.
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
