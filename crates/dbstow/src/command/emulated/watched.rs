//! Metrics of emulated volumes, published by the process that emulates them.

use std::path::PathBuf;

use anyhow::Result;
use emulator::process::{Counters, Host, Order};
use model::Instant;
use parking_lot::Mutex;
use reading::Reading;

use crate::command::output::note;
use crate::command::publish::{Outlet, Publishing};
use crate::metrics::{ClockKind, Sample, Totals, Value};

/// Publishes metrics of what `host` emulates, where requested.
///
/// # Errors
/// When they cannot be published.
pub(super) fn publish(
    outlet: Option<Outlet>,
    order: &Order,
    host: &Host,
) -> Result<Option<Publishing>> {
    let Some(outlet) = outlet else {
        return Ok(None);
    };
    let mounts = order.emulation.volumes.iter();
    let mounts = mounts.map(|mount| (mount.volume.name.clone(), mount.directory.clone()));
    let watched = Watched {
        counters: host.counters(),
        mounts: mounts.collect(),
        state: Mutex::new((None, Totals::new(ClockKind::Real))),
    };
    let source = Box::new(move || watched.samples());
    let report = Box::new(|text: &str| note(&format!("dbstow: {text}")));
    outlet.start(source, report).map(Some)
}

struct Watched {
    counters: Counters,
    mounts: Vec<(String, PathBuf)>,
    /// The last reading, and the totals until then.
    state: Mutex<(Option<Reading>, Totals)>,
}

impl Watched {
    fn samples(&self) -> Vec<Sample> {
        let mounts = self.mounts.iter().map(|(volume, directory)| {
            let directory = ("directory", directory.display().to_string());
            let labels = vec![("volume", volume.clone()), directory];
            Sample::new("dbstow_mount", labels, Value::Info)
        });
        let mut state = self.state.lock();
        let (last, totals) = &mut *state;
        // Otherwise it is being unmounted, or caches are being dropped: earlier counts remain valid.
        if let Some(now) = self.counters.reading() {
            let done = last.as_ref().and_then(|last| now.since(last).ok());
            let from = match (&done, &last) {
                (Some(_), Some(last)) => last.at,
                (_, _) => Instant::ZERO,
            };
            totals.add(done.as_ref().unwrap_or(&now), now.at.since(from));
            *last = Some(now);
        }
        mounts.chain(totals.samples()).collect()
    }
}

/// Shows the activity of the disks at `directory`, until the user leaves the screen.
///
/// # Errors
/// When the emulator is gone, or the terminal rejects the screen.
#[cfg(feature = "live")]
pub(super) fn show(directory: &std::path::Path) -> Result<()> {
    use std::sync::Arc;

    use anyhow::Context;
    use emulator::control::{Look, Request};
    use host::clock::Clock;
    use model::Duration;

    use crate::command::screen;
    use crate::live::{Screen, add};

    let (control, _) = super::find::emulator(directory)?;
    ctrlc::set_handler(screen::leave).context("a handler for Ctrl-C")?;
    let state = Arc::new(Mutex::new(Screen {
        title: format!("{}: modelled disks", directory.display()),
        keys: format!(
            "q: leave this screen; `dbstow unmount {}` ends the disks",
            directory.display()
        ),
        ..Screen::default()
    }));
    let shown = Arc::clone(&state);
    let screen = screen::show(move || shown.lock().clone(), screen::leave, || {})?;
    let mut last: Option<Reading> = None;
    let clock = Clock::start();
    let mut due = clock.now();
    while screen::is_shown() {
        if clock.now() >= due {
            due += Duration::from_secs(1);
            // `dbstow stat` shows the difference to its own last sample, which must not be this one.
            let Look { now, .. } = control.ask(Request::Reading)?;
            if let Some(last) = &last
                && let Ok(done) = now.since(last)
            {
                add(&mut state.lock().volumes, &done, now.at.since(last.at));
            }
            last = Some(now);
        }
        Clock::sleep(Duration::from_millis(50));
    }
    drop(screen);
    Ok(())
}
