//! A bar on stderr, where somebody looks at it.

use std::io::{self, IsTerminal};
use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use super::output;

/// A bar with words beside it; they may come from anywhere.
#[derive(Clone)]
pub(super) struct Progress(ProgressBar);

impl Progress {
    /// A bar of `steps`, drawn as indicatif's `template` says; hidden where stderr is no terminal.
    pub(super) fn new(steps: u64, template: &str) -> Progress {
        let target = match io::stderr().is_terminal() {
            true => ProgressDrawTarget::stderr(),
            false => ProgressDrawTarget::hidden(),
        };
        let style = ProgressStyle::with_template(template).expect("the template is well-formed");
        let bar = ProgressBar::with_draw_target(Some(steps), target).with_style(style);
        bar.enable_steady_tick(Duration::from_millis(200));
        Progress(bar)
    }

    /// Shows what is done now.
    pub(super) fn set_message(&self, text: &str) {
        self.0.set_message(output::printable(text).into_owned());
    }

    /// Shows what else the template has a place for.
    pub(super) fn set_prefix(&self, text: &str) {
        self.0.set_prefix(output::printable(text).into_owned());
    }

    /// There are more steps than was known.
    #[cfg(all(target_os = "linux", feature = "postgres"))]
    pub(super) fn more(&self, steps: u64) {
        self.0.inc_length(steps);
    }

    /// Some more steps are done.
    pub(super) fn step(&self, steps: u64) {
        self.0.inc(steps);
    }

    /// Takes the bar away while `what` is done.
    pub(super) fn suspend<R>(&self, what: impl FnOnce() -> R) -> R {
        self.0.suspend(what)
    }

    /// Shows no bar until [`Progress::show`].
    #[cfg(feature = "live")]
    pub(super) fn hide(&self) {
        self.0.set_draw_target(ProgressDrawTarget::hidden());
    }

    /// Shows the bar again.
    #[cfg(feature = "live")]
    pub(super) fn show(&self) {
        self.0.set_draw_target(ProgressDrawTarget::stderr());
    }

    /// Takes the bar away for good.
    pub(super) fn end(&self) {
        self.0.finish_and_clear();
    }
}
