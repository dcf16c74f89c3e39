//! All counters at an instant: those of the volumes, of the engine, and of the processors.

use std::collections::BTreeMap;

use host::site::Site;
use model::Duration;
use reading::Reading;
use sysinfo::{ProcessRefreshKind, ProcessesToUpdate, System, get_current_pid};

use engine::Engine;

/// Sources of counters.
pub(super) struct Counters<'a> {
    site: &'a dyn Site,
    engine: &'a dyn Engine,
    /// The machine's, and what of them this process takes; `None` on a platform that does not count.
    processors: Option<System>,
}

/// Their values.
pub(super) struct Snapshot {
    pub(super) volumes: Reading,
    /// Those of the engine, and further ones of the site.
    pub(super) counted: BTreeMap<String, f64>,
    /// Processor time of this process so far.
    pub(super) own_cpu: Duration,
    /// Busy share of the machine's processors since the previous snapshot.
    pub(super) cpu_utilisation: Option<f64>,
}

impl<'a> Counters<'a> {
    pub(super) fn new(site: &'a dyn Site, engine: &'a dyn Engine) -> Counters<'a> {
        Counters {
            site,
            engine,
            processors: System::new().ok(),
        }
    }

    /// Reads all of them.
    pub(super) fn snapshot(&mut self) -> Result<Snapshot, String> {
        let volumes = self
            .site
            .reading()
            .map_err(|error| format!("the volumes' counters: {error}"))?;
        let mut own_cpu = Duration::ZERO;
        let cpu_utilisation = self.processors.as_mut().map(|processors| {
            own_cpu = own_cpu_of(processors);
            processors.refresh_cpu_usage();
            f64::from(processors.global_cpu_usage()) / 100.0
        });
        let mut counted = self.engine.counters().map_err(|error| error.to_string())?;
        let others = self.site.counters();
        counted.extend(others.map_err(|error| format!("the volumes' counters: {error}"))?);
        Ok(Snapshot {
            volumes,
            counted,
            own_cpu,
            cpu_utilisation,
        })
    }
}

/// Processor time of this process so far, in the platform's ticks (Linux: 10 ms); zero if it does not report it.
fn own_cpu_of(system: &mut System) -> Duration {
    let Ok(own) = get_current_pid() else {
        return Duration::ZERO;
    };
    let times = ProcessRefreshKind::nothing().with_cpu();
    system.refresh_processes_specifics(ProcessesToUpdate::Some(&[own]), false, times);
    let ms = system
        .process(own)
        .map_or(0, |process| process.accumulated_cpu_time());
    Duration::from_millis(ms)
}
