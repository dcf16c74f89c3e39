//! The parts of a drill document as read from a file, which is untrusted.

use super::placement::{
    BIT_FLIP, Control, DrillConditions, Event, FATES, Finding, Placement, Took, VolumeEvent,
};

/// Longest duration accepted anywhere: 31 years, as in experiments.
const SECONDS_MAX: f64 = 1e9;

/// Most states of an event; a drill checks some thousand.
const STATES_MAX: u64 = 1 << 32;

/// Smallest unit that a disk writes atomically: a sector.
const ATOMIC_MIN: u64 = 512;

const EVENTS: [&str; 4] = ["power", "torn", "snapshots", BIT_FLIP];
const VERDICTS: [&str; 3] = ["lost", "corrupt", "does-not-start"];
const VOLUME_EVENTS: [&str; 4] = ["lost", "full", "write-fails", "flush-fails"];
const NOTICED: [&str; 6] = [
    "nothing",
    "not-full",
    "not-reached",
    "refused",
    "ended",
    "no-start",
];

pub(super) fn asked(asked: &DrillConditions) -> Result<(), String> {
    known("engine", &asked.engine, &products::DRILLED)?;
    known(
        "write_cache",
        &asked.write_cache,
        &["volatile", "safe", "ignores-flushes"],
    )?;
    known("power", &asked.power, &["machine", "disk"])?;
    for (key, value) in [
        ("record_s", asked.record_s),
        ("write_back_s", asked.write_back_s),
        ("skew_s", asked.skew_s),
    ] {
        seconds(key, value)?;
    }
    match asked.atomic_bytes {
        Some(unit) if !unit.is_power_of_two() || unit < ATOMIC_MIN => Err(format!(
            "atomic_bytes is {unit}; it is a power of two, {ATOMIC_MIN} or more"
        )),
        Some(_) | None => Ok(()),
    }
}

pub(super) fn placement(found: &Placement) -> Result<(), String> {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || c == '-';
    if found.folder.is_empty() || !found.folder.chars().all(is_plain) {
        return Err(format!(
            "folder is {:?}, which is not the name of a folder of a drill, such as placement-1",
            found.folder
        ));
    }
    seconds("recorded.seconds", found.recorded.seconds)?;
    for (place, found) in found.events.iter().enumerate() {
        event(found).map_err(|why| format!("events[{place}].{why}"))?;
    }
    for (place, found) in found.findings.iter().enumerate() {
        finding(found).map_err(|why| format!("findings[{place}].{why}"))?;
    }
    for (place, found) in found.volumes.iter().enumerate() {
        volume_event(found).map_err(|why| format!("volumes[{place}].{why}"))?;
    }
    Ok(())
}

pub(super) fn control(found: &Control) -> Result<(), String> {
    known("event", &found.event, &EVENTS)
}

pub(super) fn took(took: &Took) -> Result<(), String> {
    for (key, value) in [
        ("mount_s", took.mount_s),
        ("start_s", took.start_s),
        ("look_s", took.look_s),
        ("stop_s", took.stop_s),
    ] {
        seconds(key, value)?;
    }
    Ok(())
}

fn event(found: &Event) -> Result<(), String> {
    known("event", &found.event, &EVENTS)?;
    if found.states > STATES_MAX {
        return Err(format!(
            "states is {}; it is at most {STATES_MAX}",
            found.states
        ));
    }
    let parts = [
        found.intact,
        found.lost,
        found.corrupt,
        found.does_not_start,
    ];
    let sum = parts.into_iter().try_fold(0_u64, u64::checked_add);
    match sum == Some(found.states) {
        true => Ok(()),
        false => Err(format!(
            "states is {}, and intact, lost, corrupt and does_not_start are {parts:?}",
            found.states
        )),
    }
}

fn finding(found: &Finding) -> Result<(), String> {
    let number = found.name.strip_prefix("cut-").unwrap_or_default();
    if number.is_empty() || !number.bytes().all(|digit| digit.is_ascii_digit()) {
        return Err(format!(
            "name is {:?}, which is none of a finding, such as cut-0417",
            found.name
        ));
    }
    known("event", &found.event, &EVENTS)?;
    known("verdict", &found.verdict, &VERDICTS)?;
    let is_digit = |digit: u8| digit.is_ascii_digit() || (b'a'..=b'f').contains(&digit);
    if found.digest.len() != 64 || !found.digest.bytes().all(is_digit) {
        return Err(format!(
            "digest is {:?}, which is not a SHA-256 in hexadecimal digits",
            found.digest
        ));
    }
    let fates = FATES.map(|(fate, ..)| fate);
    for request in found.story.iter().flat_map(|lane| &lane.requests) {
        known("story.fate", &request.fate, &fates)?;
        within("story.before_ms", request.before_ms, SECONDS_MAX * 1e3)?;
    }
    Ok(())
}

fn volume_event(found: &VolumeEvent) -> Result<(), String> {
    known("event", &found.event, &VOLUME_EVENTS)?;
    known("noticed", &found.noticed, &NOTICED)?;
    match found.verdict.as_str() {
        "intact" => Ok(()),
        verdict => known("verdict", verdict, &VERDICTS),
    }
}

fn known(key: &str, found: &str, known: &[&str]) -> Result<(), String> {
    match known.contains(&found) {
        true => Ok(()),
        false => Err(format!("{key} is {found:?}; it is {}", known.join(", "))),
    }
}

fn seconds(key: &str, found: f64) -> Result<(), String> {
    within(key, found, SECONDS_MAX)
}

fn within(key: &str, found: f64, most: f64) -> Result<(), String> {
    match (0.0..=most).contains(&found) {
        true => Ok(()),
        false => Err(format!("{key} is {found:?}; it is from 0 to {most:e}")),
    }
}
