//! Builds the document from what a drill found.

use analysis::report::drill::document::{
    Control, Drill, Event, Finding, Lane, OnVolume, Placement, Recorded, Request, SCHEMA, Took,
    VolumeEvent, VolumeLoss,
};
use experiment::spec::Role;
use model::Duration;

use super::{
    Drilled, DrilledPlacement, FaultOutcome, Kind, Outcome, Placed, ResolvedDrill, Verdict,
};

/// The document.
pub(super) fn document(asked: &ResolvedDrill, drilled: &Drilled) -> Drill {
    let placements = drilled.placements.iter().zip(&asked.placements);
    let placements: Vec<Placement> = placements
        .map(|(drilled, placed)| placement(drilled, placed))
        .collect();
    let controls = drilled.controls.iter().map(|control| Control {
        setting: format!("{} = off", control.setting),
        event: control.kind.name().to_owned(),
        states: control.states as u64,
        noticed: control.noticed.as_ref().map(Verdict::to_string),
    });
    let mut controls_noticed = drilled.controls.iter();
    let mut document = Drill {
        schema: SCHEMA.to_owned(),
        answer: String::new(),
        experiment: asked.experiment.clone(),
        server: drilled.version.clone(),
        asked: asked.spec.asked(asked.engine.name(), &asked.settings),
        complete: drilled.is_complete,
        proves: drilled.is_complete && controls_noticed.all(|control| control.noticed.is_some()),
        took: took(asked.spec.jobs, drilled),
        placements,
        controls: controls.collect(),
    };
    document.answer = format!("{}.", document.answers().join("; "));
    document
}

/// How long the states took, checked by this many at a time.
fn took(jobs: usize, drilled: &Drilled) -> Took {
    let all = drilled.placements.iter();
    let all: Vec<super::Took> = all
        .flat_map(|placement| &placement.outcomes)
        .map(|outcome| outcome.took)
        .collect();
    let mean = |part: fn(&super::Took) -> Duration| {
        all.iter().map(|took| part(took).as_secs_f64()).sum::<f64>() / all.len().max(1) as f64
    };
    Took {
        states: all.len() as u64,
        jobs: jobs as u64,
        mount_s: mean(|took| took.mount),
        start_s: mean(|took| took.start),
        look_s: mean(|took| took.look),
        stop_s: mean(|took| took.stop),
    }
}

/// The volumes of a placement, and what is on them.
fn layout(placed: &Placed) -> Vec<OnVolume> {
    let settings = &placed.settings;
    let roles = |name: &str| {
        let has = |role: &Role| {
            let mut files = settings.placement.files(*role).iter();
            files.any(|file| file.volume == name)
        };
        Role::ALL.into_iter().filter(has).collect()
    };
    let volumes = settings.volumes.iter().zip(&placed.atomic);
    volumes
        .map(|(volume, atomic)| OnVolume {
            name: volume.name.clone(),
            roles: roles(&volume.name),
            disk: volume.disk.to_string(),
            count: volume.count,
            atomic_bytes: atomic.0,
            forgets: placed.forgets.contains(&volume.name),
        })
        .collect()
}

fn placement(drilled: &DrilledPlacement, placed: &Placed) -> Placement {
    let none = |kind: &Kind| Event {
        event: kind.name().to_owned(),
        states: 0,
        intact: 0,
        lost: 0,
        corrupt: 0,
        does_not_start: 0,
    };
    let mut events: Vec<Event> = drilled.kinds.iter().map(none).collect();
    for outcome in &drilled.outcomes {
        let name = outcome.cut.kind.name();
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
        layout: layout(placed),
        recorded: Recorded {
            commits: drilled.recorded.commits,
            writes: drilled.recorded.writes,
            bytes: drilled.recorded.bytes.0,
            flushes: drilled.recorded.flushes,
            seconds: drilled.recorded.lasted.as_secs_f64(),
            ended_early: drilled.recorded.ended_early,
        },
        events,
        findings: findings.map(finding).collect(),
        volumes: drilled.faults.iter().map(volume_event).collect(),
    }
}

fn volume_event(outcome: &FaultOutcome) -> VolumeEvent {
    VolumeEvent {
        event: outcome.fault.name().to_owned(),
        after: outcome.fault.after(),
        volume: outcome.volume.clone(),
        noticed: outcome.noticed.name().to_owned(),
        verdict: outcome.verdict.name().to_owned(),
        what: outcome.verdict.to_string(),
        message: outcome.message.clone(),
    }
}

fn finding(outcome: &Outcome) -> Finding {
    let volumes = outcome.missing.iter().map(|missing| VolumeLoss {
        name: missing.volume.clone(),
        at_ms: missing.at_ms,
        open: missing.open,
        missing: missing.missing,
        torn: missing.torn,
    });
    Finding {
        name: format!("cut-{:04}", outcome.cut.number),
        event: outcome.cut.kind.name().to_owned(),
        verdict: outcome.verdict.name().to_owned(),
        what: outcome.verdict.to_string(),
        volumes: volumes.collect(),
        digest: outcome.digest.clone().unwrap_or_default(),
        story: outcome.timeline.iter().map(lane).collect(),
        cut: serde_json::to_value(&outcome.cut).expect("it is plain data"),
    }
}

fn lane(lane: &super::Lane) -> Lane {
    let requests = lane.marks.iter().map(|mark| Request {
        before_ms: mark.before_ms,
        bytes: mark.bytes,
        fate: mark.fate.name().to_owned(),
    });
    Lane {
        volume: lane.volume.clone(),
        requests: requests.collect(),
    }
}
