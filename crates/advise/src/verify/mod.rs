//! Whether advice held: what it promised, beside what was recorded on the new layout.
//!
//! ```text
//! advice.json ──► Promise ──┐
//!                           ├──► Verification ──► Report, JSON, evidence
//! profile after ────────────┘
//! ```

mod evidence;
mod promise;
#[cfg(test)]
mod tests;
mod view;

use profile::{Profile, Rates, summary};
use reading::Role;
use replay::{Parts, TimePart};
use serde::Serialize;
use thiserror::Error;

pub use promise::{Before, Promise, PromiseError};

/// The version of the document's format.
const SCHEMA: &str = "dbstow.verification/1";

/// A load has changed where what an operation asks for differs by more than this share. The figure is ours.
const LOAD_DIFFERS: f64 = 0.2;

/// Whether a promise was kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Kept {
    /// The time of an operation is what was promised, within the model's error.
    Kept,
    /// It is shorter.
    Better,
    /// It is longer.
    Worse,
}

/// A promise beside what was recorded.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Verification {
    /// The version of this format.
    pub schema: &'static str,
    /// Whether it was kept.
    pub kept: Kept,
    /// The server, with its version.
    pub server: Option<String>,
    /// The layout's name in the advice.
    pub layout: String,
    /// Its machine, where it is known.
    pub machine: Option<String>,
    /// Its disks, by the files on them.
    pub volumes: Vec<String>,
    /// The share of the time before that an operation takes, as recorded.
    pub time: f64,
    /// From and to which share it was promised.
    pub promised: [f64; 2],
    /// The same with the model's error.
    pub allowed: [f64; 2],
    /// The time of an operation, and its parts.
    pub times: Vec<Time>,
    /// What an operation asks for, and how long requests take, by role.
    pub requests: Vec<Requests>,
    /// What else differs, and what the comparison leaves open; sentences.
    pub notes: Vec<String>,
}

/// The time of an operation, or a part of it; in milliseconds.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Time {
    /// What is waited for; `None`: the whole.
    pub part: Option<TimePart>,
    /// Recorded before.
    pub before_ms: f64,
    /// Promised, where the advice has it; of a part, its simulated share of the promised whole.
    pub promised_ms: Option<f64>,
    /// Recorded after.
    pub after_ms: f64,
}

/// A kind of requests to files of one role.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Requests {
    /// The role.
    pub role: Role,
    /// `reads`, `writes` or `flushes`.
    pub kind: &'static str,
    /// Requests of an operation, before and after.
    pub per_operation: [f64; 2],
    /// Their latency in milliseconds, before and after, where it was recorded.
    pub latency_ms: [Option<f64>; 2],
}

/// Why there is no comparison.
#[derive(Debug, Error)]
pub enum VerifyError {
    /// The advice cannot be used.
    #[error(transparent)]
    Promise(#[from] PromiseError),
    /// The profile lacks operations, or what sessions wait for.
    #[error(
        "--after {file}: it has no time of an operation (operations, running sessions and waits); record with `dbstow record`"
    )]
    NoTime {
        /// The profile.
        file: String,
    },
    /// The profile is of another product.
    #[error(
        "--after {file}: it is a profile of {after}, and the advice is for {before}; give the profile of the same server"
    )]
    OtherServer {
        /// The profile.
        file: String,
        /// Its product.
        after: String,
        /// The product of the advice.
        before: String,
    },
    /// The profile is that of before.
    #[error(
        "--after {file}: it is the profile that the advice was made from; record the server again on its new disks"
    )]
    Same {
        /// The profile.
        file: String,
    },
}

impl Verification {
    /// Compares `promise` with the profile `after` of `file`.
    ///
    /// # Errors
    /// When the profile is of another product, has no time of an operation, or is the one that the advice was made from.
    pub fn of(
        promise: Promise,
        (file, after): (&str, &Profile),
    ) -> Result<Verification, VerifyError> {
        let file = file.to_owned();
        check_product(&promise, after, &file)?;
        let summary = summary(after);
        let (Some(parts), Some(operations)) = (Parts::recorded(after), summary.operations) else {
            return Err(VerifyError::NoTime { file });
        };
        let after_ms = parts.total() * 1e3;
        let before = &promise.before;
        if is_same(after_ms, before.operation_ms)
            && is_same(operations.mean, before.operations_per_s)
        {
            return Err(VerifyError::Same { file });
        }
        let time = after_ms / before.operation_ms;
        let allowed = [
            promise.time[0] * (1.0 - promise.model_error).max(0.0),
            promise.time[1] * (1.0 + promise.model_error),
        ];
        let mut requests = Vec::new();
        for role in &summary.roles {
            requests.extend(of_role(before, role.role, &role.mean, operations.mean));
        }
        Ok(Verification {
            schema: SCHEMA,
            kept: match time {
                time if time > allowed[1] => Kept::Worse,
                time if time < allowed[0] => Kept::Better,
                _ => Kept::Kept,
            },
            time,
            promised: promise.time,
            allowed,
            times: times(&promise, &parts),
            notes: notes(&promise, &requests, operations.mean),
            requests,
            server: promise.server,
            layout: promise.layout,
            machine: promise.machine,
            volumes: promise.volumes,
        })
    }

    /// As JSON.
    pub fn json(&self) -> String {
        let document = serde_json::to_value(self).expect("texts, lists and numbers are JSON");
        format!("{document:#}\n")
    }
}

fn check_product(promise: &Promise, after: &Profile, file: &str) -> Result<(), VerifyError> {
    let product = |server: &str| -> String {
        let words = server.split(' ');
        let words: Vec<&str> = words
            .take_while(|word| !word.starts_with(|c: char| c.is_ascii_digit()))
            .collect();
        words.join(" ")
    };
    if let (Some(before), Some(after)) = (&promise.server, &after.origin.product)
        && product(before) != product(after)
    {
        return Err(VerifyError::OtherServer {
            file: file.to_owned(),
            after: after.clone(),
            before: before.chars().take(60).collect(),
        });
    }
    Ok(())
}

/// The advice has the recorded figures whole: only the same recording gives the same ones.
fn is_same(a: f64, b: f64) -> bool {
    (a - b).abs() <= 1e-9 * a.abs().max(b.abs())
}

fn times(promise: &Promise, after: &Parts) -> Vec<Time> {
    let before = &promise.before;
    let all = (promise.time[0] + promise.time[1]) / 2.0 * before.operation_ms;
    let whole = Time {
        part: None,
        before_ms: before.operation_ms,
        promised_ms: Some(all),
        after_ms: after.total() * 1e3,
    };
    // They are simulated, and today's replay was off: their shares hold, and make up what was promised.
    let simulated: f64 = promise.parts_ms.values().sum();
    let scale = match simulated > 0.0 {
        true => all / simulated,
        false => 1.0,
    };
    let part = |part: TimePart| Time {
        part: Some(part),
        before_ms: before.parts_ms.get(&part).copied().unwrap_or(0.0),
        promised_ms: promise.parts_ms.get(&part).map(|ms| ms * scale),
        after_ms: after[part] * 1e3,
    };
    let parts = TimePart::ALL.map(part).into_iter();
    let is_there = |time: &Time| time.before_ms > 0.0 || time.after_ms > 0.0;
    [whole].into_iter().chain(parts.filter(is_there)).collect()
}

fn of_role(before: &Before, role: Role, after: &Rates, operations_per_s: f64) -> Vec<Requests> {
    let kinds = [
        ("reads", "read ms", after.reads),
        ("writes", "write ms", after.writes),
        ("flushes", "flush ms", after.flushes),
    ];
    let known = |name: String| before.figures.get(&(role, name)).copied();
    let compared = kinds.into_iter().filter_map(|(kind, latency, after)| {
        let was = known(format!("{kind}/s"))?;
        Some(Requests {
            role,
            kind,
            per_operation: [
                was / before.operations_per_s,
                after.per_second? / operations_per_s,
            ],
            latency_ms: [
                known(latency.to_owned()),
                after.latency.map(model::Duration::as_millis_f64),
            ],
        })
    });
    compared.collect()
}

fn notes(promise: &Promise, requests: &[Requests], operations_per_s: f64) -> Vec<String> {
    let mut notes = Vec::new();
    if !promise.doubts.is_empty() {
        notes.push(format!(
            "Trust in this advice was low: {}.",
            promise.doubts.join("; ")
        ));
    }
    for one in requests {
        let [before, after] = one.per_operation;
        if (after / before - 1.0).abs() > LOAD_DIFFERS {
            notes.push(format!(
                "The load has changed: an operation has {} {} of {} files ({} before); the promise was for the load before.",
                table::quantity::number(after),
                one.kind,
                one.role.name(),
                table::quantity::number(before),
            ));
        }
    }
    if promise.growth != 1.0 {
        notes.push(format!(
            "The promise was for {} times the load; {} operations/s were recorded, {} before.",
            table::quantity::number(promise.growth),
            table::quantity::number(operations_per_s),
            table::quantity::number(promise.before.operations_per_s),
        ));
    }
    if promise.parts_ms.is_empty() {
        notes.push(
            "This advice has no times by wait, as an earlier dbstow wrote it: only the whole time is compared."
                .to_owned(),
        );
    }
    notes
}
