//! Rules of a workload; [`super::super::Known`] checks whether it exists and has its parameters.

use std::collections::BTreeMap;

use crate::spec::bounds::{
    LOG_BYTES_PER_ROW_MAX, RATE_MAX, RATE_MIN, RECORDED_SESSIONS_MAX, RUN_MAX, SESSIONS_MAX,
    at_most, not_zero, span_at_most,
};
use crate::spec::error::Fault;
use crate::spec::settings::{Amount, Arrival, Parameter, Script, Workload};

/// Checks a workload that no longer depends on a profile.
pub(crate) fn workload(workload: &Workload) -> Result<(), Fault> {
    match &workload.script {
        Script::BuiltIn(name) | Script::Folder(name) | Script::Profile { file: name, .. }
            if name.is_empty() =>
        {
            return Err(Fault::at(
                &["workload"],
                "the workload is empty; give the name of one that is built in, a folder, or a profile",
            ));
        }
        Script::BuiltIn(_) | Script::Folder(_) => sessions(Some(workload.sessions))?,
        Script::Profile { window, .. } => {
            let key = &["workload", "window"];
            not_zero(key, Some(window.as_nanos()))?;
            span_at_most(key, Some(*window))?;
            recorded_sessions(workload.sessions)?;
        }
    }
    parameters(&workload.parameters)?;
    amount(workload.amount)?;
    arrival(workload.arrival)?;
    ends(workload.amount, workload.arrival)?;
    span_at_most(&["workload", "warm_up"], Some(workload.warm_up))?;
    let path = ["workload", "log_bytes_per_row"];
    at_most(&path, workload.log_bytes_per_row, LOG_BYTES_PER_ROW_MAX)
}

/// Rejects zero sessions, and more than are possible.
pub(crate) fn sessions(asked: Option<u32>) -> Result<(), Fault> {
    let key = &["workload", "sessions"];
    not_zero(key, asked)?;
    at_most(key, asked, SESSIONS_MAX.into())
}

fn recorded_sessions(sessions: u32) -> Result<(), Fault> {
    let key = &["workload", "sessions"];
    not_zero(key, Some(sessions))?;
    at_most(key, Some(sessions), RECORDED_SESSIONS_MAX.into())
}

/// Rejects parameters that are not finite numbers.
pub(crate) fn parameters(parameters: &BTreeMap<String, Parameter>) -> Result<(), Fault> {
    for (name, value) in parameters {
        if let Parameter::Number(number) = value
            && !number.is_finite()
        {
            let message = format!("parameter \"{name}\" is {number}; give a finite number");
            return Err(Fault::at(&["workload", "parameters", name], message));
        }
    }
    Ok(())
}

/// Rejects a run that ends before it begins, or never.
fn amount(amount: Amount) -> Result<(), Fault> {
    match amount {
        Amount::Operations(count) => not_zero(&["workload", "operations"], Some(count)),
        Amount::Duration(duration) => {
            let key = &["workload", "duration"];
            not_zero(key, Some(duration.as_nanos()))?;
            span_at_most(key, Some(duration))
        }
    }
}

/// Rejects implausible rates.
pub(crate) fn arrival(arrival: Arrival) -> Result<(), Fault> {
    match arrival {
        Arrival::Closed { think } => span_at_most(&["workload", "think"], Some(think)),
        Arrival::Open { rate_per_s } if (RATE_MIN..RATE_MAX).contains(&rate_per_s) => Ok(()),
        Arrival::Open { rate_per_s } => {
            let message = format!(
                "a rate of {rate_per_s:?} operations per second is not possible; give one from {RATE_MIN:e} to \
                 {RATE_MAX:e}, or 0 for a closed loop"
            );
            Err(Fault::at(&["workload", "rate"], message))
        }
    }
}

/// Rejects operations that would take longer to arrive than any run may last.
fn ends(amount: Amount, arrival: Arrival) -> Result<(), Fault> {
    let (Amount::Operations(operations), Arrival::Open { rate_per_s }) = (amount, arrival) else {
        return Ok(());
    };
    let years = |seconds: f64| seconds / (365.0 * 24.0 * 3600.0);
    let seconds = operations as f64 / rate_per_s;
    if seconds <= RUN_MAX.as_secs_f64() {
        return Ok(());
    }
    let message = format!(
        "{operations} operations at {rate_per_s:?} per second take {:.0} years, and a run lasts at most {:.0}; raise the \
         rate, or ask for fewer operations",
        years(seconds),
        years(RUN_MAX.as_secs_f64())
    );
    Err(Fault::at(&["workload", "rate"], message))
}
