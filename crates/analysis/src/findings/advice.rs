//! Advice based on wait types by which a server itself counts what its sessions waited for, as a sentence after the reason.
//!
//! A latency counts only where a session waited for it: the shares are of the sessions' time, not of the disks'.

use super::ArmVolume;
use experiment::record::{Record, WaitEvent, WaitsOn};
use experiment::spec::Role;
use products::{WaitAdvice, Waited};
use table::quantity::percent;

/// Share of the sessions' time from which on a wait is mentioned.
const SHARE_LEAST: f64 = 0.10;

/// The remedy for the wait that took most of the sessions' time; `None` where nothing stands out, or for other wait types.
pub(super) fn sentence(trials: &[&Record], volumes: &[ArmVolume]) -> Option<String> {
    let (event, share) = largest(trials)?;
    let object = match event.on {
        Some(WaitsOn::Object(object)) => Some(object),
        Some(WaitsOn::Files(_)) | None => None,
    };
    let WaitAdvice {
        is, files, helps, ..
    } = WaitAdvice::on(event.name, object)?;
    let on = |role: Role| {
        let holds = volumes
            .iter()
            .filter(|volume| volume.files.contains_key(&role));
        let names: Vec<&str> = holds.map(|volume| volume.name.as_str()).collect();
        match names.as_slice() {
            [] => String::new(),
            [one] => format!(" (volume {one})"),
            several => format!(" (volumes {})", several.join(", ")),
        }
    };
    let on = match (files, event.on) {
        (Waited::NoFiles, _) => String::new(),
        (Waited::Of(role), _) => on(*role),
        (Waited::OfEvent, Some(WaitsOn::Files(role))) => on(role),
        // Without a file placed by the run, the wait is attributed to its data.
        (Waited::OfEvent, Some(WaitsOn::Object(_)) | None) => on(Role::Data),
    };
    let share = percent(share);
    Some(format!("{event}, {share} of session time: {is}{on}{helps}"))
}

/// The wait with the largest share of the sessions' time over all trials.
fn largest<'a>(trials: &[&'a Record]) -> Option<(WaitEvent<'a>, f64)> {
    let times = trials
        .iter()
        .flat_map(|record| record.time_split_ns.values());
    let whole_ns = times.copied().fold(0, u64::saturating_add);
    let mut waits: std::collections::BTreeMap<&str, f64> = Default::default();
    for record in trials {
        for (name, seconds) in &record.counters {
            if WaitEvent::of_counter(name).is_some() {
                *waits.entry(name.as_str()).or_insert(0.0) += seconds;
            }
        }
    }
    let (counter, seconds) = waits
        .into_iter()
        .max_by(|one, other| one.1.total_cmp(&other.1))?;
    let share = seconds * 1e9 / (whole_ns as f64).max(1.0);
    let event = WaitEvent::of_counter(counter)?;
    (share >= SHARE_LEAST).then_some((event, share))
}

#[cfg(test)]
mod tests {
    use super::super::disks::volumes;
    use super::*;
    use experiment::examples::{measured, split_of};

    fn trial(event: &str, seconds: f64) -> Record {
        let mut record = measured("local-ssd", 0, 100.0);
        record.time_split_ns = split_of(&[("cpu", 60_000), ("lock", 40_000)]);
        record.counters = [(format!("wait.{event}_s"), seconds)].into();
        record
    }

    fn of(event: &str, seconds: f64) -> Option<String> {
        let trial = trial(event, seconds);
        sentence(&[&trial], &[])
    }

    #[test]
    fn each_wait_asks_for_what_helps_against_it() {
        for (event, helps) in [
            (
                "PAGELATCH_UP of an allocation page in tempdb",
                "more data files",
            ),
            ("PAGEIOLATCH_SH", "a disk with more to give"),
            ("WRITELOG", "faster small writes"),
            ("ASYNC_NETWORK_IO", "a faster client"),
            ("LCK_M_X", "no disk helps"),
        ] {
            let text = of(event, 40.0).expect("40 % are worth a word");
            assert!(text.contains(helps) && text.contains("40 %"), "{text}");
        }
    }

    #[test]
    fn reads_are_of_the_files_that_were_waited_for() {
        let text = |event: &str| {
            let trial = trial(event, 40.0);
            sentence(&[&trial], &volumes(&[&trial])).expect("40 % are worth a word")
        };
        let temp = text("PAGEIOLATCH_SH of temp files");
        assert!(temp.contains("reads (volume temp);"), "{temp}");
        let log = text("PAGEIOLATCH_SH of log files");
        assert!(log.contains("reads;"), "{log}");
    }

    #[test]
    fn what_sessions_hardly_waited_for_is_left_out() {
        assert_eq!(of("PAGEIOLATCH_SH", 9.0), None);
        assert_eq!(of("IO/DataFileRead", 40.0), None);
    }
}
