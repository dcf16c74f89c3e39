use super::document::{
    Asked, Control, Drill, Event, Finding, Placement, Recorded, SCHEMA, Took, Volume, VolumeEvent,
};
use super::{Shown, page};

fn event(event: &str, states: u64, does_not_start: u64) -> Event {
    Event {
        event: event.to_owned(),
        states,
        intact: states - does_not_start,
        lost: 0,
        corrupt: 0,
        does_not_start,
    }
}

fn placement(name: &str, events: Vec<Event>) -> Placement {
    Placement {
        name: name.to_owned(),
        folder: "placement-1".to_owned(),
        recorded: Recorded {
            commits: 1_000,
            writes: 2_000,
            bytes: 1 << 24,
            flushes: 900,
        },
        events,
        findings: Vec::new(),
        volumes: vec![VolumeEvent {
            event: "full".to_owned(),
            volume: "wal".to_owned(),
            noticed: "ended".to_owned(),
            verdict: "intact".to_owned(),
            what: "intact".to_owned(),
            message: "PANIC: no space".to_owned(),
        }],
    }
}

fn drill() -> Drill {
    let mut apart = placement(
        "apart",
        vec![event("power", 5, 0), event("snapshots", 5, 2)],
    );
    apart.findings = (1..=5)
        .map(|number| Finding {
            name: format!("cut-000{number}"),
            event: "snapshots".to_owned(),
            verdict: "does-not-start".to_owned(),
            what: "does not start: PANIC: <no> checkpoint".to_owned(),
            volumes: vec![Volume {
                name: "wal".to_owned(),
                at_ms: 1_250,
                open: 7,
                missing: 2,
                torn: 1,
            }],
            cut: serde_json::Value::Null,
        })
        .collect();
    Drill {
        schema: SCHEMA.to_owned(),
        answer: "apart does not survive 2 of 10 states.".to_owned(),
        experiment: "wal-apart".to_owned(),
        server: "PostgreSQL 15".to_owned(),
        asked: Asked {
            engine: "postgres".to_owned(),
            cuts: 5,
            seed: 1,
            sessions: 8,
            record_s: 10.0,
            write_cache: "volatile".to_owned(),
            write_back_s: 1.0,
            atomic_bytes: 512,
            skew_s: 2.0,
        },
        complete: true,
        proves: true,
        placements: vec![placement("together", vec![event("power", 5, 0)]), apart],
        controls: vec![Control {
            setting: "fsync = off".to_owned(),
            event: "power".to_owned(),
            states: 3,
            noticed: Some("9 acknowledged commits are lost".to_owned()),
        }],
        took: Took::default(),
    }
}

#[test]
fn a_cell_says_how_often_an_event_was_survived_and_nothing_where_it_cannot_happen() {
    let shown = Shown::of(&drill());
    assert_eq!(shown.matrix.head()[2], "snapshots 2 s apart");
    let rows = shown.matrix.lines();
    assert_eq!(rows[0][1..3], ["5 of 5", "-"]);
    assert_eq!(rows[1][2], "2 of 5: 2 do not start");
    assert_eq!(rows[1][4], "wal: stops, no commit lost");
}

#[test]
fn a_few_findings_are_told_and_the_others_counted() {
    let shown = Shown::of(&drill());
    assert_eq!(shown.examples.len(), 4);
    assert!(
        shown.examples[0].contains("wal at 1.250 s, of 7 open writes 2 missing, 1 torn"),
        "{}",
        shown.examples[0]
    );
    assert_eq!(shown.examples[3], "apart: 2 more, in the document");
    assert_eq!(shown.findings.lines().len(), 5);
}

#[test]
fn a_drill_whose_control_is_silent_says_that_it_proves_nothing() {
    let mut drill = drill();
    drill.proves = false;
    drill.controls[0].noticed = None;
    let shown = Shown::of(&drill);
    assert!(shown.controls[0].contains("not noticed in 3 states"));
    assert!(shown.notes[0].contains("proves nothing"));
}

#[test]
fn the_page_has_it_all_and_what_servers_say_is_no_markup() {
    let page = page(&drill());
    for part in [
        "2 of 5: 2 do not start",
        "cut-0005",
        "&#60;no&#62; checkpoint",
        "fsync = off",
    ] {
        assert!(page.contains(part), "no {part} in {page}");
    }
    assert!(page.contains("script-src 'none'"));
}

#[test]
fn the_document_is_read_as_it_was_written() {
    let drill = drill();
    let read: Drill = serde_json::from_str(&drill.json()).expect("it is JSON");
    assert_eq!(read, drill);
    assert!(read.finding("cut-0003").is_some() && read.finding("cut-9").is_none());
}
