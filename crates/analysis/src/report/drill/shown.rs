//! What is shown of a drill, in no form yet.

use super::super::table::{Column, Table};
use super::document::{Control, Drill, Event, Finding, Placement, Took, Volume, VolumeEvent};

/// Findings that are told of each placement and event.
const FINDINGS_SHOWN: usize = 3;

/// What is shown of a drill.
#[derive(Clone, Debug, PartialEq)]
pub struct Shown {
    /// The answer, in a sentence.
    pub answer: String,
    /// What was done.
    pub facts: Vec<(&'static str, String)>,
    /// Placements and events.
    pub matrix: Table,
    /// Every finding.
    pub findings: Table,
    /// Some of each placement and event; sentences.
    pub examples: Vec<String>,
    /// What servers said of a volume that was lost or full; sentences.
    pub volumes: Vec<String>,
    /// What must not survive, and whether that was noticed; sentences.
    pub controls: Vec<String>,
    /// How to read it; sentences.
    pub notes: Vec<String>,
}

impl Shown {
    /// What is shown of `drill`.
    pub fn of(drill: &Drill) -> Shown {
        Shown {
            answer: drill.answer.clone(),
            facts: facts(drill),
            matrix: matrix(drill),
            findings: findings(drill),
            examples: drill.placements.iter().flat_map(examples).collect(),
            volumes: drill.placements.iter().flat_map(volume_events).collect(),
            controls: drill.controls.iter().map(control).collect(),
            notes: notes(drill),
        }
    }
}

fn facts(drill: &Drill) -> Vec<(&'static str, String)> {
    let asked = &drill.asked;
    let commits: Vec<String> = drill
        .placements
        .iter()
        .map(|placement| format!("{} of {}", placement.recorded.commits, placement.name))
        .collect();
    vec![
        ("experiment", drill.experiment.clone()),
        ("server", drill.server.clone()),
        (
            "recorded",
            format!(
                "{} sessions, {} s each; commits: {}",
                asked.sessions,
                asked.record_s,
                commits.join(", ")
            ),
        ),
        (
            "disks",
            format!(
                "{}; written whole in units of {} bytes",
                match asked.write_cache.as_str() {
                    "safe" => "what is acknowledged is safe",
                    "ignores-flushes" => "what is acknowledged is lost for a while, flushed or not",
                    _ => "what is acknowledged is lost unless it was flushed",
                },
                asked.atomic_bytes
            ),
        ),
        ("looked at", took(&drill.took)),
    ]
}

/// How long it took, and where the time went.
fn took(took: &Took) -> String {
    let parts = [
        (took.mount_s, "to mount"),
        (took.start_s, "to start the server"),
        (took.look_s, "to read everything"),
        (took.stop_s, "to stop"),
    ];
    let all: f64 = parts.iter().map(|(seconds, _)| seconds).sum();
    let parts = parts.map(|(seconds, what)| format!("{seconds:.2} s {what}"));
    format!(
        "{} states, {} at a time; each {all:.2} s: {}",
        took.states,
        took.jobs,
        parts.join(", ")
    )
}

/// What an event is called in a table.
fn title(event: &str, skew_s: f64) -> String {
    match event {
        "power" => "power cut".to_owned(),
        "torn" => "torn writes".to_owned(),
        "snapshots" => format!("snapshots {skew_s} s apart"),
        other => other.to_owned(),
    }
}

fn matrix(drill: &Drill) -> Table {
    let mut kinds: Vec<&str> = Vec::new();
    for event in drill
        .placements
        .iter()
        .flat_map(|placement| &placement.events)
    {
        if !kinds.contains(&event.event.as_str()) {
            kinds.push(&event.event);
        }
    }
    let mut columns = vec![Column::text("placement", |placement: &&Placement| {
        placement.name.clone()
    })];
    for kind in kinds {
        let cell = move |placement: &&Placement| {
            let found = placement.events.iter().find(|event| event.event == kind);
            found.map_or("-".to_owned(), cell)
        };
        columns.push(Column::text(title(kind, drill.asked.skew_s), cell));
    }
    for (event, title) in [("lost", "volume lost"), ("full", "volume full")] {
        let cell = move |placement: &&Placement| {
            let volumes = placement.volumes.iter();
            let volumes = volumes.filter(|volume| volume.event == event);
            let cells: Vec<String> = volumes.map(volume_cell).collect();
            cells.join("; ")
        };
        columns.push(Column::text(title, cell));
    }
    Table::of(&drill.placements, columns)
}

/// What became of a server when something happened to a volume, in few words.
fn volume_cell(volume: &VolumeEvent) -> String {
    let noticed = match (volume.event.as_str(), volume.noticed.as_str()) {
        (_, "no-start") => return format!("{}: does not start", volume.volume),
        ("lost", "refused") => "starts, without temporary space",
        ("lost", _) => "starts",
        (_, "ended") => "stops",
        (_, "refused") => "refuses, goes on",
        (_, "not-full") => return format!("{}: did not fill up", volume.volume),
        (_, _) => "nothing fails",
    };
    let after = match volume.verdict.as_str() {
        "intact" => "no commit lost",
        "lost" => "commits lost",
        "corrupt" => "corrupt",
        _ => "does not start again",
    };
    format!("{}: {noticed}, {after}", volume.volume)
}

/// The server's words of what happened to a volume.
fn volume_event_told(placement: &Placement, volume: &VolumeEvent) -> Option<String> {
    let message = volume.message.lines().next().unwrap_or_default();
    let event = match volume.event.as_str() {
        "lost" => "came back empty",
        _ => "is full",
    };
    let words = match (message, volume.verdict.as_str()) {
        ("", "intact") => return None,
        ("", _) => &volume.what,
        (message, _) => message,
    };
    Some(format!(
        "{}, volume {} {event}: {words}",
        placement.name, volume.volume
    ))
}

/// How often an event was survived.
fn cell(event: &Event) -> String {
    if event.states == 0 {
        return "no such state".to_owned();
    }
    if event.failed() == 0 {
        return format!("{} of {}", event.intact, event.states);
    }
    let parts = [
        (event.lost, "lose commits"),
        (event.corrupt, "corrupt"),
        (event.does_not_start, "do not start"),
    ];
    let parts: Vec<String> = parts
        .into_iter()
        .filter(|(states, _)| *states > 0)
        .map(|(states, what)| format!("{states} {what}"))
        .collect();
    format!(
        "{} of {}: {}",
        event.failed(),
        event.states,
        parts.join(", ")
    )
}

fn findings(drill: &Drill) -> Table {
    let all = drill.placements.iter().flat_map(|placement| {
        let findings = placement.findings.iter();
        findings.map(move |finding| (placement, finding))
    });
    let all: Vec<(&Placement, &Finding)> = all.collect();
    type Row<'a> = &'a (&'a Placement, &'a Finding);
    Table::of(
        &all,
        [
            Column::text("state", |(_, finding): &Row<'_>| finding.name.clone()),
            Column::text("placement", |(placement, _): &Row<'_>| {
                placement.name.clone()
            }),
            Column::text("event", |(_, finding): &Row<'_>| {
                title(&finding.event, drill.asked.skew_s)
            }),
            Column::text("server", |(_, finding): &Row<'_>| finding.what.clone()),
            Column::text("disks", |(_, finding): &Row<'_>| volumes_told(finding)),
        ],
    )
}

/// Some findings, in words.
fn examples(placement: &Placement) -> Vec<String> {
    let mut told = Vec::new();
    for event in &placement.events {
        let of_event = || {
            let findings = placement.findings.iter();
            findings.filter(|finding| finding.event == event.event)
        };
        told.extend(
            of_event()
                .take(FINDINGS_SHOWN)
                .map(|finding| finding_told(placement, finding)),
        );
        let more = of_event().count().saturating_sub(FINDINGS_SHOWN);
        if more > 0 {
            told.push(format!("{}: {more} more, in the document", placement.name));
        }
    }
    told
}

fn volume_events(placement: &Placement) -> Vec<String> {
    let volumes = placement.volumes.iter();
    volumes
        .filter_map(|volume| volume_event_told(placement, volume))
        .collect()
}

fn finding_told(placement: &Placement, finding: &Finding) -> String {
    format!(
        "{}, {}: {}. Volumes: {}.",
        finding.name,
        placement.name,
        finding.what,
        volumes_told(finding)
    )
}

/// What the volumes of a finding lacked.
fn volumes_told(finding: &Finding) -> String {
    let volumes: Vec<String> = finding.volumes.iter().map(volume_told).collect();
    volumes.join("; ")
}

fn volume_told(volume: &Volume) -> String {
    let parts = [(volume.missing, "missing"), (volume.torn, "torn")];
    let parts: Vec<String> = parts
        .into_iter()
        .filter(|(writes, _)| *writes > 0)
        .map(|(writes, what)| format!("{writes} {what}"))
        .collect();
    let open = match (volume.open, parts.is_empty()) {
        (0, _) => "nothing open".to_owned(),
        (open, true) => format!("all of {open} open writes there"),
        (open, false) => format!("of {open} open writes {}", parts.join(", ")),
    };
    let at = volume.at_ms as f64 / 1e3;
    format!("{} at {at:.3} s, {open}", volume.name)
}

fn control(control: &Control) -> String {
    let event = title(&control.event, 0.0);
    match &control.noticed {
        Some(what) => format!(
            "{}, {event}: noticed after {} states ({what})",
            control.setting, control.states
        ),
        None => format!(
            "{}, {event}: not noticed in {} states",
            control.setting, control.states
        ),
    }
}

fn notes(drill: &Drill) -> Vec<String> {
    let mut notes = Vec::new();
    if !drill.proves {
        notes.push(
            "A control was not noticed, so that this drill proves nothing; record for longer (--record) or look at more states \
             (--cuts)."
                .to_owned(),
        );
    }
    notes.push(
        "\"500 of 500\": the server came up on each state, had every commit that it had acknowledged, and every row and index was \
         right."
            .to_owned(),
    );
    notes
}
