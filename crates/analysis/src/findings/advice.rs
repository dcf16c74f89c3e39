//! Advice based on wait types by which a server itself counts what its sessions waited for, as a sentence after the reason.
//!
//! A latency counts only where a session waited for it: the shares are of the sessions' time, not of the disks'.

use super::Volume;
use experiment::record::{Record, WaitEvent, WaitsOn};
use experiment::spec::Role;
use table::quantity::percent;

/// Share of the sessions' time from which on a wait is mentioned.
const SHARE_LEAST: f64 = 0.10;

/// The remedy for the wait that took most of the sessions' time; `None` where nothing stands out, or for other wait types.
pub(super) fn sentence(trials: &[&Record], volumes: &[Volume]) -> Option<String> {
    let (event, share) = largest(trials)?;
    // Without a file placed by the run, the wait is attributed to its data.
    let role = match event.on {
        Some(WaitsOn::Files(role)) => role,
        Some(WaitsOn::AllocationPage) | None => Role::Data,
    };
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
    let share = percent(share);
    // Source: Microsoft, "sys.dm_os_wait_stats", and KB2154845 on allocation pages (read 2026-11).
    Some(match event.name {
        name if name.starts_with("PAGELATCH_") && event.on == Some(WaitsOn::AllocationPage) => {
            format!("{event}, {share} of session time: more data files for tempdb, not other disks")
        }
        name if name.starts_with("PAGELATCH_") => format!(
            "{event}, {share} of session time: pages in memory that sessions change at once; no disk helps"
        ),
        name if name.starts_with("PAGEIOLATCH_") => format!(
            "{event}, {share} of session time: reads{}; a disk with more to give, or more memory",
            on(role)
        ),
        "IO_COMPLETION" | "ASYNC_IO_COMPLETION" => format!(
            "{event}, {share} of session time: sorts and hashes that spill into tempdb{}; a faster disk there, or \
             larger memory grants",
            on(Role::Temp)
        ),
        "WRITELOG" | "LOGBUFFER" => format!(
            "{event}, {share} of session time: commits wait for the log{}; a disk with faster small writes there",
            on(Role::Log)
        ),
        "ASYNC_NETWORK_IO" => format!(
            "{event}, {share} of session time: the server waits for its client to take rows; a faster client or \
             network, or a loop on the server"
        ),
        name if name.starts_with("LCK_") => {
            format!("{event}, {share} of session time: sessions lock each other out; no disk helps")
        }
        "RESOURCE_SEMAPHORE" => {
            format!(
                "{event}, {share} of session time: queries queue for memory grants; no disk helps"
            )
        }
        _ => return None,
    })
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
