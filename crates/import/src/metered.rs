//! What the monitoring of a managed server exports of its volumes: means of a period, a series for each metric.
//!
//! A volume's requests are rates, so that an interval's counts are these times its length.

use std::collections::{BTreeMap, BTreeSet};

use jiff::Timestamp;
use model::Duration;
use model::number::{Counted, Percent};

use super::devices::{self, Device, Found};
use super::error::OptionError;
use super::source::Options;
use super::twice::{Load, Range};
use crate::rates::{Rates, requests};
use profile::{Draft, Interval, Span, add, between, later};
use reading::Role;

/// The volume with the files, the volume that only the log is on, and the disks inside the class, as `--device` calls them.
pub(super) const VOLUME: &str = "volume";
pub(super) const LOG_VOLUME: &str = "log-volume";
pub(super) const LOCAL: &str = "local";

/// Unused metrics that a note names.
const UNUSED_SHOWN: usize = 8;

/// A fall of the burst balance that is said, in percentage points. Our choice: less is the balance of a quiet hour.
const BALANCE_FALL: f64 = 1.0;

/// What a series counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Measure {
    /// Reads per second.
    Reads,
    /// Writes per second.
    Writes,
    /// Both together, per second.
    Requests,
    /// Bytes read per second.
    ReadBytes,
    /// Bytes written per second.
    WriteBytes,
    /// Mean latency of reads, in seconds.
    ReadLatency,
    /// Mean latency of writes, in seconds.
    WriteLatency,
    /// Mean latency of both, in seconds.
    Latency,
    /// Mean requests in flight.
    Queue,
    /// What is left of the burst credits, in percent.
    BurstBalance,
    /// Busy time of all processors, in percent.
    Processor,
}

/// A metric that is used.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Metric {
    /// The volume.
    pub(super) volume: String,
    /// What of it.
    pub(super) measure: Measure,
}

/// Values by time.
pub(super) type Points = BTreeMap<Timestamp, f64>;

/// The series of one server.
#[derive(Default)]
pub(super) struct Metered {
    series: BTreeMap<Metric, (String, Points)>,
    unused: BTreeSet<String>,
}

impl Metered {
    /// Leaves a metric out.
    pub(super) fn leave_out(&mut self, name: &str) {
        self.unused.insert(name.to_owned());
    }

    /// Adds a value of the metric that the file calls `name`; `factor`: what one of its unit is.
    ///
    /// # Errors
    /// When the value cannot be, or there is another at this time.
    pub(super) fn add(
        &mut self,
        metric: Metric,
        name: &str,
        at: Timestamp,
        value: f64,
    ) -> Result<(), String> {
        let is_share = matches!(metric.measure, Measure::BurstBalance | Measure::Processor);
        let checked = match is_share {
            true => Percent::try_from(value)
                .map(|_| ())
                .map_err(|error| error.to_string()),
            false => Counted::try_from(value)
                .map(|_| ())
                .map_err(|error| error.to_string()),
        };
        checked.map_err(|error| format!("`{name}` at {at}: {error}; correct it"))?;
        let (_, points) = self
            .series
            .entry(metric)
            .or_insert_with(|| (name.to_owned(), Points::new()));
        match points.insert(at, value) {
            Some(before) if before != value => Err(format!(
                "`{name}` has two values at {at}, {before} and {value}: of two servers, or two statistics; give one of them"
            )),
            Some(_) | None => Ok(()),
        }
    }

    /// The draft of a profile; `period`: the length of a point, where the file says it.
    ///
    /// # Errors
    /// When requests or bytes are missing, or points have no common length.
    pub(super) fn finish(
        mut self,
        period: Option<Duration>,
        options: &Options,
        mut draft: Draft,
    ) -> Result<Draft, OptionError> {
        let names = self.volumes();
        if names.is_empty() {
            return Err(self.nothing().into());
        }
        for volume in &names {
            self.split(volume, &mut draft)?;
            self.check_whole(volume)?;
        }
        let found: Vec<Found> = names
            .iter()
            .map(|name| Found {
                name,
                is_active: self.is_active(name),
            })
            .collect();
        let asked = match options.devices.is_empty() {
            true => of_service(&names),
            false => options.devices.clone(),
        };
        let roles = devices::assign_roles(&asked, &found, |a, b| a == b, &mut draft)?;
        devices::assume_shared(&options.devices, None, &mut draft);
        let period = match period {
            Some(period) => period,
            None => self.period(&mut draft)?,
        };
        self.note_unused(&mut draft);
        let processors = options.machine.processors;
        draft.machine = options.machine.clone();
        self.note_balance(&mut draft);
        if processors.is_none() && self.has(VOLUME, Measure::Processor) {
            draft.notes.push(
                "the busy time of processors is left out, as their number is not in the file; name the class with --machine"
                    .to_owned(),
            );
        } else if self.has(VOLUME, Measure::Processor) {
            draft.assume("Processor time covers all processes of the machine.");
        }
        for (volume, role) in names.iter().zip(&roles) {
            if role.is_some() {
                self.check_queue(volume, &mut draft);
            }
        }
        for from in self.times() {
            let mut figures = Interval::default();
            for (volume, role) in names.iter().zip(&roles) {
                let Some(role) = role else { continue };
                let [reads, writes] = self.rates(volume, from);
                let io = figures.roles.entry(*role).or_default();
                add(&mut io.reads, requests(reads, period));
                add(&mut io.writes, requests(writes, period));
            }
            let busy = self.value(VOLUME, Measure::Processor, from);
            let busy = busy.zip(processors).map(|(percent, processors)| {
                let all = period.as_secs_f64() * f64::from(processors);
                Duration::from_secs_f64(percent / 100.0 * all)
            });
            figures.processor = busy;
            draft.spans.push(Span {
                from,
                until: later(from, period),
                figures,
            });
        }
        Ok(draft)
    }

    fn volumes(&self) -> Vec<String> {
        let of_requests = self
            .series
            .keys()
            .filter(|metric| !matches!(metric.measure, Measure::BurstBalance | Measure::Processor));
        let names: BTreeSet<&String> = of_requests.map(|metric| &metric.volume).collect();
        names.into_iter().cloned().collect()
    }

    fn points(&self, volume: &str, measure: Measure) -> Option<&Points> {
        let metric = Metric {
            volume: volume.to_owned(),
            measure,
        };
        self.series.get(&metric).map(|(_, points)| points)
    }

    fn has(&self, volume: &str, measure: Measure) -> bool {
        self.points(volume, measure).is_some()
    }

    fn value(&self, volume: &str, measure: Measure, at: Timestamp) -> Option<f64> {
        self.points(volume, measure)?.get(&at).copied()
    }

    fn is_active(&self, volume: &str) -> bool {
        let all = [Measure::Reads, Measure::Writes].map(|measure| self.points(volume, measure));
        let mut values = all.into_iter().flatten().flat_map(BTreeMap::values);
        values.any(|value| *value > 0.0)
    }

    fn rates(&self, volume: &str, at: Timestamp) -> [Rates; 2] {
        let value = |measure| self.value(volume, measure, at);
        let mean = value(Measure::Latency);
        [
            (Measure::Reads, Measure::ReadBytes, Measure::ReadLatency),
            (Measure::Writes, Measure::WriteBytes, Measure::WriteLatency),
        ]
        .map(|(count, bytes, latency)| Rates {
            per_second: value(count),
            bytes_per_second: value(bytes),
            mean_s: value(latency).or(mean),
        })
    }

    /// Times of all points that requests have.
    fn times(&self) -> BTreeSet<Timestamp> {
        let of_requests = self
            .series
            .iter()
            .filter(|(metric, _)| matches!(metric.measure, Measure::Reads | Measure::Writes));
        of_requests
            .flat_map(|(_, (_, points))| points.keys().copied())
            .collect()
    }

    /// Makes reads and writes of a total, by their bytes.
    fn split(&mut self, volume: &str, draft: &mut Draft) -> Result<(), String> {
        let has_parts = self.has(volume, Measure::Reads) && self.has(volume, Measure::Writes);
        let Some(all) = self
            .points(volume, Measure::Requests)
            .filter(|_| !has_parts)
        else {
            return Ok(());
        };
        let bytes = [Measure::ReadBytes, Measure::WriteBytes];
        let [Some(read), Some(written)] = bytes.map(|measure| self.points(volume, measure)) else {
            return Err(format!(
                "{volume} has requests of both kinds together, and no bytes of each to tell them apart; ask for reads and writes \
                 too"
            ));
        };
        let mut parts = [Points::new(), Points::new()];
        for (at, all) in all {
            let (Some(read), Some(written)) = (read.get(at), written.get(at)) else {
                continue;
            };
            let both = read + written;
            let share = if both > 0.0 { read / both } else { 0.5 };
            parts[0].insert(*at, all * share);
            parts[1].insert(*at, all * (1.0 - share));
        }
        for (measure, points) in [Measure::Reads, Measure::Writes].into_iter().zip(parts) {
            let metric = Metric {
                volume: volume.to_owned(),
                measure,
            };
            self.series.insert(metric, (volume.to_owned(), points));
        }
        draft.assume(
            "Reads and writes are counted together: they are told apart by their bytes, as if of one size.",
        );
        Ok(())
    }

    fn check_whole(&self, volume: &str) -> Result<(), String> {
        let needed = [
            (Measure::Reads, "reads per second"),
            (Measure::Writes, "writes per second"),
            (Measure::ReadBytes, "bytes read per second"),
            (Measure::WriteBytes, "bytes written per second"),
        ];
        let lacking = needed
            .iter()
            .filter(|(measure, _)| !self.has(volume, *measure));
        let lacking: Vec<&str> = lacking.map(|(_, what)| *what).collect();
        match lacking.is_empty() {
            true => Ok(()),
            false => Err(format!(
                "{volume} has no {}; ask for these metrics too",
                lacking.join(" and no ")
            )),
        }
    }

    fn nothing(&self) -> String {
        let names: Vec<&str> = self.unused.iter().map(String::as_str).collect();
        let shown = &names[..names.len().min(UNUSED_SHOWN)];
        match shown.is_empty() {
            true => "it has no metric; ask for those of the server's volume, for a time in which it worked".to_owned(),
            false => format!(
                "it has no metric of a volume's requests, only {}; ask for those (docs/profile.md lists them)",
                shown.join(", ")
            ),
        }
    }

    /// The length of a point, by what points are apart.
    fn period(&self, draft: &mut Draft) -> Result<Duration, String> {
        let times = self.series.values().flat_map(|(_, points)| points.keys());
        let period = period(&times.copied().collect())?;
        draft.assume(format!(
            "A data point is of {period} from its time on, which is what points are apart; one that is missing is not known."
        ));
        Ok(period)
    }

    fn note_unused(&self, draft: &mut Draft) {
        let names: Vec<&str> = self.unused.iter().map(String::as_str).collect();
        let shown = names[..names.len().min(UNUSED_SHOWN)].join(", ");
        match names.len() {
            0 => {}
            1 => draft.notes.push(format!("{shown} is not used")),
            all if all > UNUSED_SHOWN => draft.notes.push(format!(
                "{shown} and {} more are not used",
                all - UNUSED_SHOWN
            )),
            _ => draft.notes.push(format!("{shown} are not used")),
        }
    }

    fn note_balance(&self, draft: &mut Draft) {
        let Some(points) = self.points(VOLUME, Measure::BurstBalance) else {
            return;
        };
        let Some(first) = points.values().next().copied() else {
            return;
        };
        let least = points.values().copied().fold(first, f64::min);
        draft.machine.burst_balance = Some([first, least].map(|percent| percent.round() as u8));
        if first - least >= BALANCE_FALL {
            draft.assume(format!(
                "The burst balance fell from {first:.0} % to {least:.0} %: some of these requests were served by burst credits, \
                 which end."
            ));
        }
    }

    /// Notes where queue and latencies contradict one another.
    fn check_queue(&self, volume: &str, draft: &mut Draft) {
        let mut load = Load::default();
        for at in self.times() {
            let in_flight = self
                .rates(volume, at)
                .map(|rates| Some(rates.per_second? * rates.mean_s?));
            if let [Some(reads), Some(writes)] = in_flight {
                let queue = self.value(volume, Measure::Queue, at);
                load.add(Range::exact(reads + writes), queue.map(Range::exact), None);
            }
        }
        if let Some(note) = load.contradiction(volume, "the queue", "the busy time") {
            draft.assume(note);
        }
    }
}

/// What is on the volumes of a service that names them.
fn of_service(names: &[String]) -> Vec<Device> {
    let has = |wanted: &str| names.iter().any(|name| name == wanted);
    if !has(VOLUME) {
        return Vec::new();
    }
    let place = |role: Role| {
        let own = match role {
            Role::Log => LOG_VOLUME,
            _ => LOCAL,
        };
        match role != Role::Data && has(own) {
            true => own,
            false => VOLUME,
        }
    };
    let device = |role: Role| Device {
        role,
        name: place(role).to_owned(),
    };
    Role::COMMON.into_iter().map(device).collect()
}

/// Length of a data point: the smallest distance between two. Points without requests may be missing between others.
///
/// # Errors
/// When there are too few, or other distances are not a multiple of it, as with points of several periods.
pub(super) fn period(times: &BTreeSet<Timestamp>) -> Result<Duration, String> {
    let later_times = times.iter().skip(1);
    let apart = || {
        let pairs = times.iter().zip(later_times.clone());
        pairs.map(|(a, b)| between(*a, *b))
    };
    let period = apart().min().ok_or_else(|| {
        "it has fewer than two data points, so that their period is not known; ask for more"
            .to_owned()
    })?;
    let strange = apart().find(|apart| !apart.as_nanos().is_multiple_of(period.as_nanos().max(1)));
    match strange {
        None => Ok(period),
        Some(apart) => Err(format!(
            "its data points are {period} and {apart} apart, so that their period is not known; ask for one --period"
        )),
    }
}
