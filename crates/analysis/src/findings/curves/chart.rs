//! A chart: lines over a common axis, with as many digits as a drawing shows.

use serde::Serialize;

/// Digits kept of a drawn value.
const DIGITS: i32 = 4;

/// A phase of an arm's trial.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Span {
    /// Index of the arm in the findings.
    pub arm: usize,
    /// Its name: `load`, `warm-up`, `run`, ..
    pub phase: String,
    /// When it began, in seconds from the start of the measured part.
    pub from: f64,
    /// When it ended.
    pub until: f64,
    /// Whether it counts in the metrics.
    pub measured: bool,
}

/// Lines over a common axis.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Chart {
    /// What it shows.
    pub title: String,
    /// Unit of the values.
    pub unit: String,
    /// The axis.
    pub x: Vec<f64>,
    /// The lines.
    pub lines: Vec<Line>,
}

/// A line, with as many values as its chart has positions on the axis.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Line {
    /// Index of the arm in the findings.
    pub arm: usize,
    /// The part of the arm; empty for the arm as a whole.
    pub name: String,
    /// Whether it is the lower edge of a band whose upper edge is the line before.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub ends_band: bool,
    /// Values; `None` where there is none.
    pub values: Vec<Option<f64>>,
}

/// `value` to as many digits as are visible in a drawing.
pub(super) fn short(value: f64) -> f64 {
    if value == 0.0 || !value.is_finite() {
        return 0.0;
    }
    let decimals = DIGITS - 1 - value.abs().log10().floor() as i32;
    let factor = 10_f64.powi(decimals.abs());
    if decimals >= 0 {
        (value * factor).round() / factor
    } else {
        (value / factor).round() * factor
    }
}
