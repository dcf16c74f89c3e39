//! The back-test in a document: recorded beside simulated figures.

use std::borrow::Cow;

use reading::Role;
use serde::{Deserialize, Serialize};

/// Recorded beside simulated figures.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct BackTest {
    /// Whether the profile fits today's layout well enough for advice.
    pub fits: bool,
    /// How it does: `fits`; `rate-fits`, where the rate fits and a detail does not; `does-not-fit`.
    pub outcome: Cow<'static, str>,
    /// The detail that is off, and what it probably means, where the rate fits.
    pub caveat: Option<String>,
    /// What was unusual while the profile was recorded, as sentences.
    pub notices: Vec<String>,
    /// The tolerance for figures that sessions wait for.
    pub off_max: f64,
    /// Every figure.
    pub figures: Vec<Figure>,
    /// The time of an operation, by what its session waits for; empty where that was not recorded.
    pub parts: Vec<Part>,
}

/// What an operation waits for, recorded beside simulated.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Part {
    /// `read`, `write`, `temp`, `log`, `lock`, `processor` or `other`.
    pub part: Cow<'static, str>,
    /// Recorded seconds of an operation.
    pub recorded_s: f64,
    /// Simulated seconds of an operation.
    pub simulated_s: f64,
}

/// A figure, recorded and simulated.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Figure {
    /// The role of its files, or all.
    pub role: Option<Role>,
    /// What it is.
    pub figure: String,
    /// The recorded value.
    pub recorded: f64,
    /// The simulated value.
    pub simulated: f64,
    /// By what share the simulated value exceeds the recorded one.
    pub off: f64,
    /// Whether sessions wait for it.
    pub decides: bool,
    /// Of requests of one kind: their share of the time that sessions wait for disks, where it is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub waited: Option<f64>,
}
