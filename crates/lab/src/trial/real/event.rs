//! What a trial in real time reports while it runs.

use model::Duration;
use reading::Reading;

/// Progress of a trial.
#[derive(Clone, Debug, PartialEq)]
pub enum Event {
    /// A phase begins: `place`, `load`, `quiesce`, `warm-up`, `run` or `clean up`.
    Phase(&'static str),
    /// Activity of the volumes in the last second.
    Second(Box<Second>),
    /// Something could not be cleaned up.
    Left(String),
}

/// Activity of all volumes in one second.
#[derive(Clone, Debug, PartialEq)]
pub struct Second {
    /// Its length: the last one of a trial is shorter, and others are slightly longer.
    pub span: Duration,
    /// What was counted in it.
    pub done: Reading,
    /// The same as rates, by volume.
    pub volumes: Vec<VolumeRate>,
}

/// Current activity of a volume.
#[derive(Clone, Debug, PartialEq)]
pub struct VolumeRate {
    /// Its name.
    pub volume: String,
    /// Reads and writes per second.
    pub iops: f64,
    /// Megabytes (10⁶) read and written per second.
    pub mb_per_s: f64,
}
