//! A progress bar on stderr, shown on a terminal.

use std::fmt::Write;
use std::io::{self, IsTerminal};
use std::time::Duration;

use indicatif::{HumanDuration, ProgressBar, ProgressDrawTarget, ProgressState, ProgressStyle};

use super::output;

/// The share that tells how long the rest takes: what trials have in common is simulated with the first one.
const TELLS_FROM: f32 = 0.1;

/// A bar with a message; messages may come from any source.
#[derive(Clone)]
pub(super) struct Progress(ProgressBar);

impl Progress {
    /// A bar of `steps`, with indicatif's `template` and its `{to_go}`; hidden where stderr is not a terminal.
    pub(super) fn new(steps: u64, template: &str) -> Progress {
        let target = match io::stderr().is_terminal() {
            true => ProgressDrawTarget::stderr(),
            false => ProgressDrawTarget::hidden(),
        };
        let style = ProgressStyle::with_template(template).expect("the template is well-formed");
        let style = style.with_key("to_go", to_go);
        let bar = ProgressBar::with_draw_target(Some(steps), target).with_style(style);
        bar.enable_steady_tick(Duration::from_millis(200));
        Progress(bar)
    }

    /// Shows the current step.
    pub(super) fn set_message(&self, text: &str) {
        self.0.set_message(output::printable(text).into_owned());
    }

    /// Shows the template's additional text.
    pub(super) fn set_prefix(&self, text: &str) {
        self.0.set_prefix(output::printable(text).into_owned());
    }

    /// Adds steps to the total.
    #[cfg(all(target_os = "linux", feature = "emulator"))]
    pub(super) fn more(&self, steps: u64) {
        self.0.inc_length(steps);
    }

    /// Advances by some steps.
    pub(super) fn step(&self, steps: u64) {
        self.0.inc(steps);
    }

    /// Hides the bar while `what` runs.
    pub(super) fn suspend<R>(&self, what: impl FnOnce() -> R) -> R {
        self.0.suspend(what)
    }

    /// Hides the bar until [`Progress::show`].
    #[cfg(feature = "live")]
    pub(super) fn hide(&self) {
        self.0.set_draw_target(ProgressDrawTarget::hidden());
    }

    /// Shows the bar again.
    #[cfg(feature = "live")]
    pub(super) fn show(&self) {
        self.0.set_draw_target(ProgressDrawTarget::stderr());
    }

    /// Removes the bar permanently.
    pub(super) fn end(&self) {
        self.0.finish_and_clear();
    }
}

/// How long the rest takes, once there is enough to tell it from.
fn to_go(state: &ProgressState, text: &mut dyn Write) {
    let _ = match state.fraction() >= TELLS_FROM {
        true => write!(text, "{:#} left", HumanDuration(state.eta())),
        false => Ok(()),
    };
}
