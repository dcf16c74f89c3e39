//! Builds the document from a drill's findings.

use analysis::report::drill::document::{
    Asked, Control, Drill, Event, Finding, Lane, OnVolume, Placement, Recorded, Request, SCHEMA,
    Took, VolumeEvent, VolumeLoss,
};
use drill::{
    self, Atomic, Drilled, DrilledPlacement, Fate, FaultOutcome, Kind, Noticed, Outcome, Placed,
    Verdict, VolumeFault,
};
use experiment::spec::Role;
use model::Duration;

use super::{Args, Engine};

/// The document.
pub(super) fn document(
    args: &Args,
    engine: Engine,
    experiment: &str,
    placed: &[Placed],
    drilled: &Drilled,
) -> Drill {
    let placements = drilled.placements.iter().zip(placed);
    let placements: Vec<Placement> = placements
        .map(|(drilled, placed)| placement(drilled, placed))
        .collect();
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
            atomic_bytes: match args.atomic {
                Atomic::Bytes(unit) => Some(unit.0),
                Atomic::OfDisk => None,
            },
            skew_s: args.skew.as_secs_f64(),
            power: args.power.name().to_owned(),
            faults: args.faults,
            settings: args.setting.clone(),
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
    let placements = document.placements.iter();
    let all: Vec<String> = placements
        .map(|placement| format!("{}: {}", placement.name, placement.sentence()))
        .collect();
    match document.complete {
        true => format!("{}.", all.join("; ")),
        false => format!("Not complete, and no proof; so far: {}.", all.join("; ")),
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
        event: match outcome.fault {
            VolumeFault::Lost => "lost".to_owned(),
            VolumeFault::Full => "full".to_owned(),
            VolumeFault::WriteFails { .. } => "write-fails".to_owned(),
            VolumeFault::FlushFails { .. } => "flush-fails".to_owned(),
        },
        after: match outcome.fault {
            VolumeFault::WriteFails { after } | VolumeFault::FlushFails { after } => Some(after),
            VolumeFault::Lost | VolumeFault::Full => None,
        },
        volume: outcome.volume.clone(),
        noticed: match outcome.noticed {
            Noticed::Nothing => "nothing".to_owned(),
            Noticed::NotFull => "not-full".to_owned(),
            Noticed::NotReached => "not-reached".to_owned(),
            Noticed::Refused => "refused".to_owned(),
            Noticed::Ended => "ended".to_owned(),
            Noticed::NoStart => "no-start".to_owned(),
        },
        verdict: verdict_name(&outcome.verdict).to_owned(),
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
        event: kind_name(outcome.cut.kind).to_owned(),
        verdict: verdict_name(&outcome.verdict).to_owned(),
        what: outcome.verdict.to_string(),
        volumes: volumes.collect(),
        digest: outcome.digest.clone().unwrap_or_default(),
        story: outcome.timeline.iter().map(lane).collect(),
        cut: serde_json::to_value(&outcome.cut).expect("it is plain data"),
    }
}

fn lane(lane: &drill::Lane) -> Lane {
    let requests = lane.marks.iter().map(|mark| Request {
        before_ms: mark.before_ms,
        bytes: mark.bytes,
        fate: match mark.fate {
            Fate::Flushed => "flushed".to_owned(),
            Fate::Safe => "safe".to_owned(),
            Fate::There => "there".to_owned(),
            Fate::Torn => "torn".to_owned(),
            Fate::Missing => "missing".to_owned(),
        },
    });
    Lane {
        volume: lane.volume.clone(),
        requests: requests.collect(),
    }
}

fn kind_name(kind: Kind) -> &'static str {
    match kind {
        Kind::Power => "power",
        Kind::Torn => "torn",
        Kind::Snapshots => "snapshots",
        Kind::BitFlip => "bit-flip",
    }
}

/// The name of a verdict in the document.
pub(super) fn verdict_name(verdict: &Verdict) -> &'static str {
    match verdict {
        Verdict::Intact => "intact",
        Verdict::Lost { .. } => "lost",
        Verdict::Corrupt { .. } => "corrupt",
        Verdict::DoesNotStart { .. } => "does-not-start",
    }
}
