//! What was unusual while a profile was recorded, and is worth more than its figures.

use model::{Duration, MachineSpec};
use profile::{Interval, Profile};

/// Share of all processors from which the server counts as held up by them.
const BUSY_FROM: f64 = 0.9;

/// Share of the running sessions from which those that neither waited nor ran are worth a sentence, where processors are busy.
const UNSEEN_FROM: f64 = 0.2;

/// Share of all processors from which sessions that neither waited nor ran probably waited for one.
const QUEUE_FROM: f64 = 0.5;

/// Share of the time without an interval from which gaps are worth a sentence.
const GAPS_FROM: f64 = 0.05;

/// Sentences about the profile of a server on `machine`.
pub(super) fn of(profile: &Profile, machine: &MachineSpec) -> Vec<String> {
    let mut all = Vec::new();
    let cores = f64::from(machine.cores);
    if let Some(used) = used(profile) {
        let share = used / cores;
        if share >= BUSY_FROM {
            all.push(format!(
                "The processors were at their limit: {used:.1} of {cores} were in use. What sessions waited for a processor counts \
                 as delay, which other disks do not shorten."
            ));
        } else if share >= QUEUE_FROM && unseen(profile).is_some_and(|unseen| unseen >= UNSEEN_FROM)
        {
            all.push(format!(
                "{:.0} % of the running sessions neither ran nor were seen waiting, while {used:.1} of {cores} processors were in \
                 use by the server: other programs, or a busy host, held it up.",
                100.0 * unseen(profile).unwrap_or_default()
            ));
        }
    }
    if let (Some(first), Some(last)) = (profile.intervals.first(), profile.intervals.last()) {
        let span = (last.at + last.length)
            .saturating_sub(first.at)
            .as_secs_f64();
        let missing = 1.0 - profile.covered().as_secs_f64() / span;
        if missing >= GAPS_FROM {
            all.push(format!(
                "{:.0} % of the time is missing between intervals: burst credits and queues are replayed as if it had not passed.",
                100.0 * missing
            ));
        }
    }
    all
}

/// Whether processors held the server up.
pub(super) fn is_busy(profile: &Profile, machine: &MachineSpec) -> bool {
    let share = used(profile).map(|used| used / f64::from(machine.cores));
    share.is_some_and(|share| {
        let queue = unseen(profile).is_some_and(|unseen| unseen >= UNSEEN_FROM);
        share >= BUSY_FROM || share >= QUEUE_FROM && queue
    })
}

/// Processors in use, on average.
fn used(profile: &Profile) -> Option<f64> {
    let processor = profile.total(|interval| interval.processor.map(Duration::as_secs_f64));
    Some(processor? / profile.covered().as_secs_f64())
}

/// The share of running sessions that neither ran nor were seen waiting.
fn unseen(profile: &Profile) -> Option<f64> {
    let over_time = |figure: &dyn Fn(&Interval) -> Option<f64>| {
        profile.total(|interval| Some(figure(interval)? * interval.length.as_secs_f64()))
    };
    let running = over_time(&|interval| interval.running).filter(|running| *running > 0.0)?;
    let waiting = over_time(&|interval| {
        (!interval.waiting.is_empty()).then(|| interval.waiting.values().sum())
    })?;
    let processor = profile.total(|interval| interval.processor.map(Duration::as_secs_f64))?;
    Some((running - waiting - processor) / running)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sentences(processor_s: f64, second_at_s: f64) -> Vec<String> {
        let text = format!(
            r#"format = "dbstow.profile/1"
start = "2026-11-22T10:00:00Z"
[origin]
tool = "test"
[intervals]
at_s = [0.0, {second_at_s:?}]
length_s = [10.0, 10.0]
operations = [100.0, 100.0]
processor_s = [{processor_s:?}, {processor_s:?}]
running = [4.0, 4.0]
waiting.data_read = [2.0, 2.0]
data.reads = [100.0, 100.0]
data.read_bytes = [819200.0, 819200.0]
"#
        );
        let profile = profile::read("a.toml", &text).expect("a profile");
        let machine = MachineSpec {
            cores: 2,
            ..MachineSpec::unlimited()
        };
        of(&profile, &machine)
    }

    #[test]
    fn processors_at_their_limit_a_busy_host_and_gaps_are_reported() {
        // 0.5 of 2 processors, and nothing is missing.
        assert_eq!(sentences(5.0, 10.0), [""; 0]);
        assert!(sentences(19.0, 10.0)[0].contains("1.9 of 2"));
        // (4 - 2 - 1.1) / 4 = 22 %.
        assert!(sentences(11.0, 10.0)[0].starts_with("22 %"));
        // 20 s of 25.
        assert!(sentences(5.0, 15.0)[0].starts_with("20 %"));
    }
}
