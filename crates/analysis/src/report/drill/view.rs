//! The report on a drill.

use model::Bytes;

use super::document::Drill;
use super::placement::{
    BIT_FLIP, Control, Event, FATES, Finding, Placement, Request, Took, VolumeEvent, VolumeLoss,
};
use crate::report::section::{Body, Item, Kind, Place, Report};
use table::quantity::count;
use table::{Column, Table};

/// Number of findings described per placement and event.
const FINDINGS_SHOWN: usize = 3;

/// Number of findings on a screen.
const EXAMPLES_MAX: usize = 6;
/// Number of notes on a screen.
const NOTES_MAX: usize = 3;

/// The report on `drill`, except diagrams.
pub fn report(drill: &Drill) -> Report {
    let answers = drill.answers().into_iter();
    let mut report = Report {
        title: format!("What {} survives", drill.experiment),
        answer: Item::all(Kind::Answer, answers.map(|answer| answer + ".")),
        facts: facts(drill),
        ..Report::default()
    };
    let placements = || drill.placements.iter();
    let list = |kind, texts: Vec<String>| Body::List(Item::all(kind, texts));
    let full = Place::Full;
    let faults = match drill.asked.faults {
        true => faults(drill),
        false => Table::default(),
    };
    let examples = list(Kind::Point, placements().flat_map(examples).collect());
    let controls = list(Kind::Point, drill.controls.iter().map(control).collect());
    let title = "What servers said without a volume, and on one that was full or failed";
    let volumes = list(Kind::Point, placements().flat_map(volume_events).collect());
    report.add("events", "", Place::Screen(0), Body::Table(matrix(drill)));
    report.add(
        "faults",
        "When disks do what they should not",
        full,
        Body::Table(faults),
    );
    report.add(
        "examples",
        "Not survived",
        Place::Screen(EXAMPLES_MAX),
        examples,
    );
    report.add(
        "notes",
        "How to read this",
        Place::Screen(NOTES_MAX),
        list(Kind::Point, notes(drill)),
    );
    report.add("volumes", title, full, volumes);
    report.add("controls", "Controls", full, controls);
    report.add(
        "findings",
        "Every finding",
        full,
        Body::Table(findings(drill)),
    );
    report
}

/// The last requests of each volume, of the findings that are described.
pub(super) fn all_diagrams(drill: &Drill) -> Vec<Diagram> {
    drill.placements.iter().flat_map(diagrams).collect()
}

/// The last requests of each volume before it stopped, in order.
pub(super) struct Diagram {
    /// The finding, in a sentence.
    pub(super) title: String,
    /// Volumes by name, with their requests.
    pub(super) lanes: Vec<(String, Vec<Symbol>)>,
}

/// A request in a diagram.
pub(super) struct Symbol {
    /// Its outcome: a class of the style sheet.
    pub(super) fate: String,
    /// Its symbol.
    pub(super) sign: &'static str,
    /// Its size and time, as text.
    pub(super) title: String,
}

fn facts(drill: &Drill) -> Vec<(&'static str, String)> {
    let asked = &drill.asked;
    let commits: Vec<String> = drill
        .placements
        .iter()
        .map(|placement| {
            let recorded = &placement.recorded;
            let early = match recorded.ended_early {
                true => format!(
                    " (the first {:.1} s; then there was no space)",
                    recorded.seconds
                ),
                false => String::new(),
            };
            format!("{} of {}{early}", count(recorded.commits), placement.name)
        })
        .collect();
    let settings = asked.settings.iter();
    let settings = settings.map(|(name, value)| format!(", {name} = {value}"));
    vec![
        ("experiment", drill.experiment.clone()),
        (
            "server",
            format!("{}{}", drill.server, settings.collect::<String>()),
        ),
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
                "{}{}; written whole in units of {}",
                match asked.power.as_str() {
                    "disk" => "one disk loses power, the others keep all that they got; ",
                    _ => "",
                },
                match asked.write_cache.as_str() {
                    "safe" => "what is acknowledged is safe",
                    "ignores-flushes" => "what is acknowledged is lost for a while, flushed or not",
                    _ => "what is acknowledged is lost unless it was flushed",
                },
                match asked.atomic_bytes {
                    Some(bytes) => Bytes(bytes).to_string(),
                    None => "what their vendors promise".to_owned(),
                }
            ),
        ),
        ("looked at", took(&drill.took)),
    ]
}

/// The duration, and where the time went.
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

/// The name of an event in a table.
fn title(event: &str, skew_s: f64) -> String {
    match event {
        "power" => "power cut".to_owned(),
        "torn" => "torn writes".to_owned(),
        "snapshots" => format!("snapshots {skew_s} s apart"),
        BIT_FLIP => "a bit flips".to_owned(),
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
        if event.event != BIT_FLIP && !kinds.contains(&event.event.as_str()) {
            kinds.push(&event.event);
        }
    }
    events_table(
        drill,
        &kinds,
        [("lost", "volume lost"), ("full", "volume full")],
    )
}

fn faults(drill: &Drill) -> Table {
    let volumes = [
        ("write-fails", "a write fails"),
        ("flush-fails", "a flush fails"),
    ];
    events_table(drill, &[BIT_FLIP], volumes)
}

/// Placements by events: some of all volumes, and two of each volume.
fn events_table(drill: &Drill, kinds: &[&str], of_volumes: [(&str, &str); 2]) -> Table {
    let mut columns = vec![Column::text("placement", |placement: &&Placement| {
        placement.name.clone()
    })];
    for kind in kinds {
        let cell = move |placement: &&Placement| {
            let found = placement.events.iter().find(|event| event.event == *kind);
            found.map_or("-".to_owned(), cell)
        };
        columns.push(Column::text(title(kind, drill.asked.skew_s), cell));
    }
    for (event, title) in of_volumes {
        let cell = move |placement: &&Placement| volumes_cell(placement, event);
        columns.push(Column::text(title, cell));
    }
    Table::of(&drill.placements, columns)
}

/// The outcomes of events on each of a server's volumes, with like attempts counted.
fn volumes_cell(placement: &Placement, event: &str) -> String {
    let of_event = || {
        placement
            .volumes
            .iter()
            .filter(|known| known.event == event)
    };
    let mut cells: Vec<(String, usize, usize)> = Vec::new();
    for volume in of_event() {
        let cell = volume_cell(volume);
        match cells.iter_mut().find(|(known, ..)| *known == cell) {
            Some((_, times, _)) => *times += 1,
            None => {
                let attempts = of_event().filter(|known| known.volume == volume.volume);
                cells.push((cell, 1, attempts.count()));
            }
        }
    }
    let cells = cells
        .into_iter()
        .map(|(cell, times, attempts)| match attempts {
            1 => cell,
            _ => format!("{cell} ({times} of {attempts})"),
        });
    cells.collect::<Vec<String>>().join("; ")
}

/// The outcome of an event on a volume, in few words.
fn volume_cell(volume: &VolumeEvent) -> String {
    let noticed = match (volume.event.as_str(), volume.noticed.as_str()) {
        (_, "no-start") => return format!("{}: does not start", volume.volume),
        ("lost", "refused") => "starts, without temporary space",
        ("lost", _) => "starts",
        (_, "ended") => "stops",
        (_, "refused") => "refuses, goes on",
        (_, "not-full") if volume.verdict == "intact" => {
            return format!("{}: did not fill up", volume.volume);
        }
        (_, "not-reached") if volume.verdict == "intact" => {
            return format!("{}: no such request", volume.volume);
        }
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

/// The server's message about an event on a volume.
fn volume_event_text(placement: &Placement, volume: &VolumeEvent) -> Option<String> {
    let message = volume.message.lines().next().unwrap_or_default();
    let event = match volume.event.as_str() {
        "lost" => "came back empty",
        "full" => "is full",
        "write-fails" => "had a write that failed",
        _ => "had a flush that failed",
    };
    let words = match (message, volume.verdict.as_str()) {
        ("", "intact") => return None,
        ("", _) => volume.what.clone(),
        (message, "intact") => message.to_owned(),
        (message, _) if volume.noticed == "no-start" => message.to_owned(),
        (message, _) => format!("{message}; after the restart: {}", volume.what),
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
            Column::text("disks", |(_, finding): &Row<'_>| volumes_text(finding)),
        ],
    )
}

/// The findings of an event.
fn of_event<'a>(placement: &'a Placement, event: &'a Event) -> impl Iterator<Item = &'a Finding> {
    let findings = placement.findings.iter();
    findings.filter(move |finding| finding.event == event.event)
}

/// Some findings, as text.
fn examples(placement: &Placement) -> Vec<String> {
    let mut sentences = Vec::new();
    for event in &placement.events {
        let shown = of_event(placement, event).take(FINDINGS_SHOWN);
        sentences.extend(shown.map(|finding| finding_text(placement, finding)));
        let more = of_event(placement, event)
            .count()
            .saturating_sub(FINDINGS_SHOWN);
        if more > 0 {
            sentences.push(format!("{}: {more} more, in the document", placement.name));
        }
    }
    sentences
}

/// Diagrams of the same findings.
fn diagrams(placement: &Placement) -> Vec<Diagram> {
    let events = placement.events.iter();
    let findings = events.flat_map(|event| of_event(placement, event).take(FINDINGS_SHOWN));
    findings
        .map(|finding| Diagram {
            title: finding_text(placement, finding),
            lanes: finding
                .story
                .iter()
                .map(|lane| {
                    let symbols = lane.requests.iter().map(symbol).collect();
                    (lane.volume.clone(), symbols)
                })
                .collect(),
        })
        .collect()
}

fn symbol(request: &Request) -> Symbol {
    let known = FATES.iter().find(|(fate, ..)| *fate == request.fate);
    let (_, sign, meaning) = known.unwrap_or(&("", "?", "unknown"));
    let bytes = match request.bytes {
        0 => String::new(),
        bytes => format!(", {}", Bytes(bytes)),
    };
    Symbol {
        fate: request.fate.clone(),
        sign,
        title: format!("{meaning}{bytes}, {:.3} ms before", request.before_ms),
    }
}

/// Server messages; of several attempts at one event the first, and those that did not survive.
fn volume_events(placement: &Placement) -> Vec<String> {
    let volumes = placement.volumes.iter().enumerate();
    let shown = volumes.filter(|(place, volume)| {
        let earlier = placement.volumes[..*place].iter();
        let mut earlier = earlier.filter(|known| !known.message.is_empty());
        volume.verdict != "intact"
            || !earlier.any(|known| known.event == volume.event && known.volume == volume.volume)
    });
    shown
        .filter_map(|(_, volume)| volume_event_text(placement, volume))
        .collect()
}

fn finding_text(placement: &Placement, finding: &Finding) -> String {
    format!(
        "{}, {}: {}. Volumes: {}.",
        finding.name,
        placement.name,
        finding.what,
        volumes_text(finding)
    )
}

/// What was missing from the volumes of a finding.
fn volumes_text(finding: &Finding) -> String {
    let volumes: Vec<String> = finding.volumes.iter().map(volume_text).collect();
    volumes.join("; ")
}

fn volume_text(volume: &VolumeLoss) -> String {
    let parts = [(volume.missing, "missing"), (volume.torn, "torn")];
    let parts: Vec<String> = parts
        .into_iter()
        .filter(|(writes, _)| *writes > 0)
        .map(|(writes, what)| format!("{writes} {what}"))
        .collect();
    let open = match (volume.open, parts.is_empty()) {
        (0, _) => "nothing open".to_owned(),
        (1, true) => "1 open write, kept".to_owned(),
        (open, true) => format!("{open} open writes, all kept"),
        (1, false) => format!(
            "1 open write, {}",
            parts.join(", ").trim_start_matches("1 ")
        ),
        (open, false) => format!("{open} open writes, {}", parts.join(", ")),
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
    if !drill.complete {
        notes.push(
            "The drill is not complete: not every state, volume and control was checked."
                .to_owned(),
        );
    } else if !drill.proves {
        notes.push(
            "A control was not noticed, so that this drill proves nothing; record for longer (--record) or look at more states \
             (--cuts)."
                .to_owned(),
        );
    }
    let placements = drill.placements.iter();
    let mut events = placements.flat_map(|placement| &placement.events);
    let survived = events.find(|event| event.states > 0 && event.failed() == 0);
    let example = survived.map_or_else(|| format!("{0} of {0}", drill.asked.cuts), cell);
    notes.push(format!(
        "\"{example}\": the server came up on each state, had every commit that it had acknowledged, and every row and index was \
         right."
    ));
    notes
}
