//! How much more load a layout can carry.

use replay::ReplayError;

use super::load::Load;
use super::simulate::{Effort, Placed};

/// Multiple of today's sessions that a layout can carry before its operations exceed the allowed time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Headroom {
    /// It is too slow already.
    None,
    /// Up to this many times the sessions.
    Up(f64),
    /// Beyond the largest factor tried.
    Beyond(f64),
}

impl Headroom {
    /// The factor, 0 where it is too slow already, and whether higher ones were not tried.
    pub(crate) fn factor(self) -> (f64, bool) {
        match self {
            Headroom::None => (0.0, false),
            Headroom::Up(factor) => (factor, false),
            Headroom::Beyond(factor) => (factor, true),
        }
    }
}

/// Factors that are tried.
const FACTORS: [f64; 8] = [1.1, 1.25, 1.5, 1.75, 2.0, 2.5, 3.0, 4.0];

/// Multiple of the sessions that `placed` can carry before an operation takes longer than `most_s`.
///
/// # Errors
/// When an operation takes zero time.
pub fn headroom(placed: &Placed, load: &Load, most_s: f64) -> Result<Headroom, ReplayError> {
    let holds = |factor: f64| -> Result<bool, ReplayError> {
        let measured = placed.simulate(&load.grown(factor), Effort::Short, 1)?;
        Ok(measured.operation_s <= most_s)
    };
    if !holds(1.0)? {
        return Ok(Headroom::None);
    }
    let mut last = 1.0;
    for factor in FACTORS {
        if load.grown(factor).parts == load.grown(last).parts {
            // Less than one additional session.
            continue;
        }
        if !holds(factor)? {
            return Ok(Headroom::Up(last));
        }
        last = factor;
    }
    Ok(Headroom::Beyond(last))
}
