//! Which questions a profile can answer, and what data is missing for the others.

use std::fmt;

use model::Duration;
use profile::{Interval, Io, Profile};
use reading::Role;

use super::series::DemandSeries;

/// A question that placement advice depends on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Question {
    /// How long requests to data, log and temporary files take.
    Latency,
    /// Whether log I/O is distinguished from data I/O.
    Log,
    /// Whether temp I/O is distinguished from data I/O.
    Temp,
    /// How other disks would change the rate of operations.
    ClosedLoop,
    /// The shortest burst that is visible.
    Burst,
}

/// The answer to one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answer {
    /// Which question.
    pub question: Question,
    /// Whether the profile can answer it.
    pub is_known: bool,
    /// The data it is based on, or what is missing.
    pub detail: String,
}

/// One answer per question.
pub fn answers(profile: &Profile) -> Vec<Answer> {
    let answer = |question, result: Result<String, String>| Answer {
        question,
        is_known: result.is_ok(),
        detail: result.unwrap_or_else(|detail| detail),
    };
    vec![
        answer(Question::Latency, latency(profile)),
        answer(Question::Log, apart(profile, Role::Log)),
        answer(Question::Temp, apart(profile, Role::Temp)),
        answer(Question::ClosedLoop, closed_loop(profile)),
        answer(Question::Burst, burst(profile)),
    ]
}

impl fmt::Display for Question {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Question::Latency => "latency by role",
            Question::Log => "log I/O",
            Question::Temp => "temp I/O",
            Question::ClosedLoop => "closed loop",
            Question::Burst => "bursts",
        })
    }
}

fn latency(profile: &Profile) -> Result<String, String> {
    let timed = |role: &Role| {
        let io = profile
            .intervals
            .iter()
            .filter_map(|interval| interval.roles.get(role));
        let has = |io: &Io| io.reads.waited.is_some() || io.writes.waited.is_some();
        io.into_iter().any(has)
    };
    let roles = profile.roles();
    let (with, without): (Vec<Role>, Vec<Role>) = roles.iter().copied().partition(timed);
    let volumes = profile.volumes.iter().flat_map(|volume| &volume.roles);
    let mut merged: Vec<Role> = volumes
        .copied()
        .filter(|role| !roles.contains(role))
        .collect();
    merged.sort_unstable();
    merged.dedup();
    if with.is_empty() {
        Err("the time of requests was not recorded".to_owned())
    } else if !merged.is_empty() {
        let merged = Role::joined(&merged, ", ");
        Err(format!(
            "requests for {merged} are among those for data, with one mean latency"
        ))
    } else if !without.is_empty() {
        let (with, without) = (Role::joined(&with, ", "), Role::joined(&without, ", "));
        Err(format!(
            "mean latency of {with} only; that of {without} was not recorded"
        ))
    } else {
        Ok(format!("mean latency of {}", Role::joined(&with, ", ")))
    }
}

fn apart(profile: &Profile, role: Role) -> Result<String, String> {
    if profile.roles().contains(&role) {
        return Ok(format!("requests for {role} were counted separately"));
    }
    let shares =
        |volume: &&profile::ServerVolume| volume.roles.contains(&role) && volume.roles.len() > 1;
    Err(match profile.volumes.iter().find(shares) {
        Some(_) => format!("requests for {role} are among those for data"),
        None => format!("requests for {role} were not recorded"),
    })
}

fn closed_loop(profile: &Profile) -> Result<String, String> {
    DemandSeries::of(profile).map_err(|error| error.to_string())?;
    let has = |figure: fn(&Interval) -> Option<f64>| profile.total(figure).is_some();
    let sessions = has(|interval| interval.running) || has(|interval| interval.sessions);
    Ok(match sessions {
        true => "operations and sessions were counted",
        false => "operations were counted; how many sessions ran has to be assumed",
    }
    .to_owned())
}

/// The median if there are several lengths.
fn burst(profile: &Profile) -> Result<String, String> {
    let usual = profile::summary(profile).interval;
    match profile.intervals.len() {
        0 | 1 => Err("one interval shows no burst".to_owned()),
        _ => Ok(format!("bursts of {} or longer", seconds(usual))),
    }
}

/// In tenths of a second below a minute.
fn seconds(time: Duration) -> String {
    let tenths = (time.as_secs_f64() * 10.0).round() as u64;
    match (tenths / 600, tenths % 600) {
        (0, tenths) if tenths % 10 != 0 => format!("{}.{} s", tenths / 10, tenths % 10),
        (0, tenths) => format!("{} s", tenths / 10),
        (minutes, 0) => format!("{minutes} min"),
        (minutes, tenths) => format!("{minutes} min {} s", tenths / 10),
    }
}
