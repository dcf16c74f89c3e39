use super::document::{
    Control, Drill, DrillConditions, Event, Finding, Lane, OnVolume, Placement, Recorded, Request,
    SCHEMA, Took, VolumeEvent, VolumeLoss,
};
use super::view::all_diagrams;
use super::{page, report};
use crate::findings::make;
use crate::report::{Extent, run, terminal};
use experiment::examples::{question, records};
use reading::Role;
use table::Width;

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
        layout: vec![OnVolume {
            name: "one".to_owned(),
            roles: vec![Role::Data, Role::Temp, Role::Log],
            disk: "aws.gp3".to_owned(),
            count: 1,
            atomic_bytes: 16_384,
            forgets: false,
        }],
        recorded: Recorded {
            commits: 1_000,
            writes: 2_000,
            bytes: 1 << 24,
            flushes: 900,
            seconds: 10.0,
            ended_early: false,
        },
        events,
        findings: Vec::new(),
        volumes: vec![VolumeEvent {
            event: "full".to_owned(),
            after: None,
            volume: "wal".to_owned(),
            noticed: "ended".to_owned(),
            verdict: "intact".to_owned(),
            what: "intact".to_owned(),
            message: "PANIC: no space".to_owned(),
        }],
    }
}

fn request(fate: &str, bytes: u64) -> Request {
    Request {
        before_ms: 1.5,
        bytes,
        fate: fate.to_owned(),
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
            volumes: vec![VolumeLoss {
                name: "wal".to_owned(),
                at_ms: 1_250,
                open: 7,
                missing: 2,
                torn: 1,
            }],
            digest: "00ff".repeat(16),
            story: vec![Lane {
                volume: "wal".to_owned(),
                requests: vec![request("flushed", 0), request("missing", 8_192)],
            }],
            cut: serde_json::Value::Null,
        })
        .collect();
    Drill {
        schema: SCHEMA.to_owned(),
        answer: "apart does not survive 2 of 10 states.".to_owned(),
        experiment: "wal-apart".to_owned(),
        server: "PostgreSQL 15".to_owned(),
        asked: DrillConditions {
            engine: "postgres".to_owned(),
            cuts: 5,
            seed: 1,
            sessions: 8,
            record_s: 10.0,
            write_cache: "volatile".to_owned(),
            write_back_s: 1.0,
            atomic_bytes: Some(512),
            skew_s: 2.0,
            power: "machine".to_owned(),
            faults: false,
            settings: Vec::new(),
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
    let shown = report(&drill());
    let matrix = shown.table("events").expect("there is one");
    assert_eq!(matrix.head()[2], "snapshots 2 s apart");
    let rows = matrix.lines();
    assert_eq!(rows[0][1..3], ["5 of 5", "-"]);
    assert_eq!(rows[1][2], "2 of 5: 2 do not start");
    assert_eq!(rows[1][4], "wal: stops, no commit lost");
}

#[test]
fn a_few_findings_are_told_and_the_others_counted() {
    let shown = report(&drill());
    let examples = shown.list("examples");
    assert_eq!(examples.len(), 4);
    assert!(
        examples[0]
            .text
            .contains("wal at 1.250 s, 7 open writes, 2 missing, 1 torn"),
        "{:?}",
        examples[0]
    );
    assert_eq!(examples[3].text, "apart: 2 more, in the document");
    assert_eq!(shown.table("findings").map(|all| all.rows.len()), Some(5));
}

#[test]
fn the_last_requests_of_the_findings_that_are_told_are_drawn() {
    let diagrams = all_diagrams(&drill());
    assert_eq!(diagrams.len(), 3);
    let diagram = &diagrams[0];
    assert!(diagram.title.contains("cut-0001"));
    let (volume, symbols) = &diagram.lanes[0];
    assert_eq!(volume, "wal");
    assert_eq!(
        symbols[1].title,
        "one that is missing, 8 KiB, 1.500 ms before"
    );
    assert_eq!(
        symbols[0].title,
        "a flush that was acknowledged, 1.500 ms before"
    );
    let page = page(&drill());
    assert!(page.contains("title=\"one that is missing, 8 KiB, 1.500 ms before\">×"));
}

#[test]
fn faults_have_a_table_of_their_own_and_settings_stand_with_the_server() {
    let mut drill = drill();
    assert_eq!(report(&drill).table("faults"), None);
    drill.asked.faults = true;
    drill.asked.settings = vec![("data_sync_retry".to_owned(), "on".to_owned())];
    drill.placements[1].events.push(event("bit-flip", 5, 1));
    drill.placements[1].volumes.push(VolumeEvent {
        event: "flush-fails".to_owned(),
        after: Some(2),
        volume: "wal".to_owned(),
        noticed: "ended".to_owned(),
        verdict: "intact".to_owned(),
        what: "intact".to_owned(),
        message: String::new(),
    });
    let shown = report(&drill);
    let matrix = shown.table("events").expect("there is one");
    assert!(!matrix.head().contains(&"a bit flips".to_owned()));
    let faults = shown.table("faults").expect("they were asked for");
    assert_eq!(
        faults.head()[1..],
        ["a bit flips", "a write fails", "a flush fails"]
    );
    assert_eq!(
        faults.lines()[1][1..],
        ["1 of 5: 1 do not start", "", "wal: stops, no commit lost"]
    );
    let server = shown.facts.iter().find(|(name, _)| *name == "server");
    assert_eq!(
        server.map(|(_, fact)| fact.as_str()),
        Some("PostgreSQL 15, data_sync_retry = on")
    );
    assert!(page(&drill).contains("a flush fails"));
}

#[test]
fn a_drill_whose_control_is_silent_says_that_it_proves_nothing() {
    let mut drill = drill();
    drill.proves = false;
    drill.controls[0].noticed = None;
    let shown = report(&drill);
    assert!(
        shown.list("controls")[0]
            .text
            .contains("not noticed in 3 states")
    );
    assert!(shown.list("notes")[0].text.contains("proves nothing"));
    drill.complete = false;
    let shown = report(&drill);
    assert!(shown.list("notes")[0].text.contains("is not complete"));
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
fn what_was_found_is_added_to_arms_of_the_experiment_and_to_layouts_of_the_same_volumes() {
    let drill = drill();
    let mut findings = make(&question(), &records());
    assert_eq!(drill.add_to_findings(&mut findings), 0);
    findings.experiment = "wal-apart".to_owned();
    findings.arms[1].name = "apart".to_owned();
    // Its disks differ from those of the drill.
    assert_eq!(drill.add_to_findings(&mut findings), 0);
    findings.arms[1].volumes.clear();
    assert_eq!(drill.add_to_findings(&mut findings), 1);
    assert_eq!(findings.arms[0].survived, None);
    let survived = findings.arms[1].survived.as_ref().expect("it was drilled");
    assert_eq!((survived.states, survived.intact), (10, 8));
    assert_eq!(survived.drill, "wal-apart, PostgreSQL 15");
    let mut lenient = drill.clone();
    lenient.asked.write_cache = "safe".to_owned();
    lenient.asked.settings = vec![("fsync".to_owned(), "off".to_owned())];
    let mut others = findings.clone();
    lenient.add_to_findings(&mut others);
    let others = others.arms[1].survived.as_ref().expect("it was drilled");
    assert_eq!(
        others.drill,
        "wal-apart, PostgreSQL 15, write cache safe, fsync = off"
    );
    let found = "2 of 5 snapshots taken apart are not intact (the other 5 states are)";
    assert_eq!(survived.found, found);
    let report = run::report(&findings);
    let text = terminal::render(&report, Width::of(200), Extent::Full).to_string();
    assert!(text.contains("8 of 10"), "{text}");
    assert!(
        text.contains(&format!(
            "apart, drilled (wal-apart, PostgreSQL 15): {found}."
        )),
        "{text}"
    );
}

#[test]
fn a_sentence_has_volumes_that_must_not_be_lost_and_no_bits_that_flip() {
    let mut apart = drill().placements.remove(1);
    apart.events.push(event("bit-flip", 5, 5));
    for after in [2, 8] {
        apart.volumes.push(VolumeEvent {
            event: "write-fails".to_owned(),
            after: Some(after),
            volume: "wal".to_owned(),
            noticed: "refused".to_owned(),
            verdict: "corrupt".to_owned(),
            what: "corrupt: a row is missing".to_owned(),
            message: String::new(),
        });
    }
    assert_eq!(
        apart.sentence(),
        "2 of 5 snapshots taken apart are not intact (the other 5 states are), it is not intact after a failed write to volume wal"
    );
}

#[test]
fn a_sentence_says_which_events_were_not_survived() {
    // Three of 30 power cuts and all snapshots fail; torn writes are survived.
    let mut apart = drill().placements.remove(1);
    apart.events = vec![
        event("power", 30, 3),
        event("torn", 30, 0),
        event("snapshots", 30, 30),
    ];
    assert_eq!(
        apart.sentence(),
        "3 of 30 power cuts and 30 of 30 snapshots taken apart are not intact (the other 30 states are)"
    );
    apart.events.remove(1);
    assert!(apart.sentence().ends_with("are not intact"));
    apart.events = vec![event("power", 30, 0), event("torn", 30, 0)];
    assert_eq!(apart.sentence(), "all of 60 states are intact");
}

#[test]
fn the_legend_explains_a_cell_of_this_drill() {
    let mut drill = drill();
    let legend = |drill: &Drill| {
        let report = report(drill);
        let last = report.list("notes").last().expect("there is one");
        last.text.clone()
    };
    assert!(legend(&drill).starts_with("\"5 of 5\": the server came up"));
    for event in drill.placements.iter_mut().flat_map(|one| &mut one.events) {
        (event.intact, event.lost) = (0, event.states);
    }
    drill.asked.cuts = 30;
    assert!(legend(&drill).starts_with("\"30 of 30\": the server came up"));
}

#[test]
fn a_volume_that_forgets_is_lost_by_every_stop() {
    let mut local = drill().placements.remove(0);
    local.layout[0].forgets = true;
    local.volumes[0].event = "lost".to_owned();
    local.volumes[0].volume = "one".to_owned();
    local.volumes[0].verdict = "does-not-start".to_owned();
    assert!(
        local
            .sentence()
            .ends_with(", it does not survive a stop of the machine, which empties volume one"),
        "{}",
        local.sentence()
    );
    // A detached disk is a different event.
    local.layout[0].forgets = false;
    assert!(
        local
            .sentence()
            .ends_with(", it does not survive the loss of volume one"),
        "{}",
        local.sentence()
    );
}

#[test]
fn the_document_is_read_as_it_was_written() {
    let drill = drill();
    let read: Drill = serde_json::from_str(&drill.json()).expect("it is JSON");
    assert_eq!(read, drill);
    assert!(read.finding("cut-0003").is_some() && read.finding("cut-9").is_none());
}

#[test]
fn a_document_with_what_cannot_be_is_refused_by_its_key() {
    let refused = |place: &str, value: serde_json::Value| {
        let mut document = serde_json::to_value(drill()).expect("it is plain data");
        *document.pointer_mut(place).expect("it has this key") = value;
        Drill::parse(&document.to_string()).expect_err("it cannot be")
    };
    for (place, value, why) in [
        (
            "/schema",
            "dbstow.drill/2".into(),
            "of another version (dbstow.drill/2)",
        ),
        (
            "/asked/engine",
            "oracle".into(),
            "asked.engine is \"oracle\"",
        ),
        ("/asked/power", "".into(), "it is machine, disk"),
        ("/asked/record_s", (-1.0).into(), "asked.record_s is -1.0"),
        ("/asked/atomic_bytes", 100.into(), "a power of two"),
        ("/took/look_s", 1e300.into(), "took.look_s"),
        (
            "/placements/1/folder",
            "../x".into(),
            "placements[1].folder is \"../x\"",
        ),
        (
            "/placements/1/events/0/intact",
            u64::MAX.into(),
            "placements[1].events[0].states",
        ),
        (
            "/placements/1/events/0/states",
            u64::MAX.into(),
            "it is at most",
        ),
        (
            "/placements/1/findings/0/name",
            "x".into(),
            "such as cut-0417",
        ),
        (
            "/placements/1/findings/0/verdict",
            "fine".into(),
            "findings[0].verdict",
        ),
        (
            "/placements/1/findings/0/digest",
            "00".into(),
            "not a SHA-256",
        ),
        (
            "/placements/1/findings/0/story/0/requests/0/fate",
            "<b>".into(),
            "story.fate",
        ),
        (
            "/placements/1/findings/0/story/0/requests/0/before_ms",
            1e297.into(),
            "story.before_ms is 1e297; it is from 0 to 1e12",
        ),
        ("/controls/0/event", "x".into(), "controls[0].event"),
    ] {
        let error = refused(place, value);
        assert!(error.contains(why), "{place}: {error}");
    }
}
