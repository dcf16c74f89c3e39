//! What was found, as a document.

use analysis::report::drill::document::{
    Asked, Control, Drill, Event, Finding, Placement, Recorded, SCHEMA, Took, Volume, VolumeEvent,
};
use lab::drill::{
    self, Drilled, DrilledPlacement, Kind, Noticed, Outcome, Trouble, Troubled, Verdict,
};
use model::Duration;

use super::{Args, Engine};

/// The document.
pub(super) fn document(args: &Args, engine: Engine, experiment: &str, drilled: &Drilled) -> Drill {
    let placements: Vec<Placement> = drilled.placements.iter().map(placement).collect();
    let controls = drilled.controls.iter().map(|control| Control {
        setting: format!("{} = off", control.setting),
        event: kind_name(control.kind).to_owned(),
        states: control.states as u64,
        noticed: control.noticed.as_ref().map(Verdict::to_string),
    });
    let mut document = Drill {
        schema: SCHEMA.to_owned(),
        answer: String::new(),
        experiment: experiment.to_owned(),
        server: drilled.version.clone(),
        asked: Asked {
            engine: engine.name().to_owned(),
            cuts: args.cuts,
            seed: args.seed,
            sessions: args.sessions,
            record_s: args.record.as_secs_f64(),
            write_cache: args.write_cache.name().to_owned(),
            write_back_s: args.write_back.as_secs_f64(),
            atomic_bytes: args.atomic.0,
            skew_s: args.skew.as_secs_f64(),
        },
        complete: drilled.is_complete,
        proves: drilled.is_complete
            && drilled
                .controls
                .iter()
                .all(|control| control.noticed.is_some()),
        took: took(args, drilled),
        placements,
        controls: controls.collect(),
    };
    document.answer = answer(&document);
    document
}

fn took(args: &Args, drilled: &Drilled) -> Took {
    let all = drilled.placements.iter();
    let all: Vec<drill::Took> = all
        .flat_map(|placement| &placement.outcomes)
        .map(|outcome| outcome.took)
        .collect();
    let mean = |part: fn(&drill::Took) -> Duration| {
        all.iter().map(|took| part(took).as_secs_f64()).sum::<f64>() / all.len().max(1) as f64
    };
    Took {
        states: all.len() as u64,
        jobs: args.jobs as u64,
        mount_s: mean(|took| took.mount),
        start_s: mean(|took| took.start),
        look_s: mean(|took| took.look),
        stop_s: mean(|took| took.stop),
    }
}

/// The answer, in a sentence or two.
fn answer(document: &Drill) -> String {
    let silent = document.controls.iter();
    let silent: Vec<&str> = silent
        .filter(|control| control.noticed.is_none())
        .map(|control| control.setting.as_str())
        .collect();
    if document.complete && !silent.is_empty() {
        return format!(
            "This drill proves nothing: {} was not noticed.",
            silent.join(" and ")
        );
    }
    let all: Vec<String> = document.placements.iter().map(placement_told).collect();
    match document.complete {
        true => format!("{}.", all.join("; ")),
        false => format!("Interrupted, and no proof; so far: {}.", all.join("; ")),
    }
}

fn placement_told(placement: &Placement) -> String {
    let states: u64 = placement.events.iter().map(|event| event.states).sum();
    let failed: u64 = placement.events.iter().map(Event::failed).sum();
    let mut told = match failed {
        0 => format!("{}: all of {states} states are intact", placement.name),
        failed => format!(
            "{}: {failed} of {states} states are not intact",
            placement.name
        ),
    };
    for (event, what) in [
        ("lost", "it does not survive the loss of volume"),
        ("full", "it is not intact after a full volume"),
    ] {
        let volumes: Vec<&str> = placement
            .volumes
            .iter()
            .filter(|volume| volume.event == event && volume.verdict != "intact")
            .map(|volume| volume.volume.as_str())
            .collect();
        if !volumes.is_empty() {
            told.push_str(&format!(", {what} {}", volumes.join(" or ")));
        }
    }
    told
}

fn placement(drilled: &DrilledPlacement) -> Placement {
    let none = |kind: &Kind| Event {
        event: kind_name(*kind).to_owned(),
        states: 0,
        intact: 0,
        lost: 0,
        corrupt: 0,
        does_not_start: 0,
    };
    let mut events: Vec<Event> = drilled.kinds.iter().map(none).collect();
    for outcome in &drilled.outcomes {
        let name = kind_name(outcome.cut.kind);
        let event = events.iter_mut().find(|event| event.event == name);
        let event = event.expect("it is one of the kinds");
        event.states += 1;
        *match outcome.verdict {
            Verdict::Intact => &mut event.intact,
            Verdict::Lost { .. } => &mut event.lost,
            Verdict::Corrupt { .. } => &mut event.corrupt,
            Verdict::DoesNotStart { .. } => &mut event.does_not_start,
        } += 1;
    }
    let findings = drilled.outcomes.iter();
    let findings = findings.filter(|outcome| outcome.verdict != Verdict::Intact);
    Placement {
        name: drilled.name.clone(),
        folder: drilled.folder.clone(),
        recorded: Recorded {
            commits: drilled.recorded.commits,
            writes: drilled.recorded.writes,
            bytes: drilled.recorded.bytes.0,
            flushes: drilled.recorded.flushes,
        },
        events,
        findings: findings.map(finding).collect(),
        volumes: drilled.troubled.iter().map(volume_event).collect(),
    }
}

fn volume_event(troubled: &Troubled) -> VolumeEvent {
    VolumeEvent {
        event: match troubled.trouble {
            Trouble::Lost => "lost".to_owned(),
            Trouble::Full => "full".to_owned(),
        },
        volume: troubled.volume.clone(),
        noticed: match troubled.noticed {
            Noticed::Nothing => "nothing".to_owned(),
            Noticed::NotFull => "not-full".to_owned(),
            Noticed::Refused => "refused".to_owned(),
            Noticed::Ended => "ended".to_owned(),
            Noticed::NoStart => "no-start".to_owned(),
        },
        verdict: verdict_name(&troubled.verdict).to_owned(),
        what: troubled.verdict.to_string(),
        message: troubled.message.clone(),
    }
}

fn finding(outcome: &Outcome) -> Finding {
    let volumes = outcome.missing.iter().map(|missing| Volume {
        name: missing.volume.clone(),
        at_ms: missing.at_ms,
        open: missing.open,
        missing: missing.missing,
        torn: missing.torn,
    });
    Finding {
        name: format!("cut-{:04}", outcome.cut.number),
        event: kind_name(outcome.cut.kind).to_owned(),
        verdict: verdict_name(&outcome.verdict).to_owned(),
        what: outcome.verdict.to_string(),
        volumes: volumes.collect(),
        cut: serde_json::to_value(&outcome.cut).expect("it is plain data"),
    }
}

fn kind_name(kind: Kind) -> &'static str {
    match kind {
        Kind::Power => "power",
        Kind::Torn => "torn",
        Kind::Snapshots => "snapshots",
    }
}

/// What a verdict is called in the document.
pub(super) fn verdict_name(verdict: &Verdict) -> &'static str {
    match verdict {
        Verdict::Intact => "intact",
        Verdict::Lost { .. } => "lost",
        Verdict::Corrupt { .. } => "corrupt",
        Verdict::DoesNotStart { .. } => "does-not-start",
    }
}
