//! A profile's figures and what it can answer, as JSON.

use model::Duration;
use profile::{MeanAndHighest, Profile, Rates, RequestRates, RoleSummary, summary};
use replay::answers;
use serde_json::{Value, json};

/// The document, as JSON with a line feed at its end.
pub fn json(profile: &Profile) -> String {
    let summary = summary(profile);
    let role = |role: &RoleSummary| {
        let busiest = with(
            rates(&role.busiest),
            "at_s",
            json!(role.busiest_at.as_secs_f64()),
        );
        (
            role.role.name().to_owned(),
            json!({ "mean": rates(&role.mean), "busiest": busiest }),
        )
    };
    let spread = |spread: Option<MeanAndHighest>| {
        spread.map(|spread| json!({ "mean": spread.mean, "highest": spread.highest }))
    };
    let waiting = summary.waiting.iter();
    let waiting =
        waiting.map(|(wait, waiting)| (wait.name().to_owned(), json!(spread(Some(*waiting)))));
    let interruptions = profile.interruptions.iter().map(|interruption| {
        json!({ "at_s": interruption.at.as_secs_f64(), "cause": interruption.cause })
    });
    let answers = answers(profile).into_iter().map(|answer| {
        json!({
            "question": answer.question.to_string(),
            "known": answer.is_known,
            "detail": answer.detail,
        })
    });
    let document = json!({
        "origin": profile.origin,
        "machine": profile.machine,
        "volumes": profile.volumes,
        "start": profile.start.to_string(),
        "intervals": profile.intervals.len(),
        "interval_s": summary.interval.as_secs_f64(),
        "covered_s": profile.covered().as_secs_f64(),
        "roles": summary.roles.iter().map(role).collect::<serde_json::Map<_, _>>(),
        "operations_per_s": spread(summary.operations),
        "commits_per_s": spread(summary.commits),
        "processors": spread(summary.processors),
        "sessions": spread(summary.sessions),
        "running": spread(summary.running),
        "waiting": waiting.collect::<serde_json::Map<_, _>>(),
        "answers": answers.collect::<Vec<_>>(),
        "interruptions": interruptions.collect::<Vec<_>>(),
        "assumptions": profile.assumptions,
    });
    format!("{document:#}\n")
}

fn rates(rates: &Rates) -> Value {
    let one = |rates: RequestRates| {
        json!({
            "per_s": rates.per_second,
            "bytes_per_s": rates.bytes_per_second,
            "latency_s": rates.latency.map(Duration::as_secs_f64),
        })
    };
    json!({
        "reads": one(rates.reads),
        "writes": one(rates.writes),
        "flushes": one(rates.flushes),
    })
}

fn with(mut object: Value, key: &str, value: Value) -> Value {
    object[key] = value;
    object
}
