//! Parts of the document of a drill: conditions, placements, events and findings.

use reading::Role;
use serde::{Deserialize, Serialize};

/// The event in which a bit flips.
pub(super) const BIT_FLIP: &str = "bit-flip";

/// The possible outcomes of a request, with symbol and meaning.
pub(super) const FATES: [(&str, &str, &str); 5] = [
    ("flushed", "|", "a flush that was acknowledged"),
    ("safe", "■", "a write that has to be there"),
    ("there", "□", "one that may be missing, and is there"),
    ("torn", "◪", "one that is there in part"),
    ("missing", "×", "one that is missing"),
];

/// How long checking the states took: means, in seconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Took {
    /// Number of states checked, over all placements.
    pub states: u64,
    /// States checked in parallel.
    pub jobs: u64,
    /// Until the volumes of a state were mounted.
    pub mount_s: f64,
    /// From then until the server accepted clients, or ended.
    pub start_s: f64,
    /// To read and check all data.
    pub look_s: f64,
    /// To end the server, and to unmount.
    pub stop_s: f64,
}

/// What was drilled, with which seed, and how its disks behave.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct DrillConditions {
    /// The engine that was drilled, by its name.
    pub engine: String,
    /// States of each event.
    pub cuts: u32,
    /// Seed of the states.
    pub seed: u64,
    /// Sessions that wrote.
    pub sessions: u32,
    /// How long they wrote, in seconds.
    pub record_s: f64,
    /// What disks do with what they have acknowledged: `volatile` (lose it unless it was flushed), `safe`, `ignores-flushes`.
    pub write_cache: String,
    /// How long disks that ignore flushes keep acknowledged writes in volatile memory, at most, in seconds.
    pub write_back_s: f64,
    /// Bytes that a disk writes atomically; `None`: as many as its vendor guarantees.
    pub atomic_bytes: Option<u64>,
    /// Time between snapshots, in seconds.
    pub skew_s: f64,
    /// Whose power was cut: the `machine`'s, or that of one `disk`.
    pub power: String,
    /// Whether bit flips and failed requests were also injected.
    pub faults: bool,
    /// Settings of the server, under its own names: name and value.
    pub settings: Vec<(String, String)>,
}

/// What was found of a placement.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Placement {
    /// Its name.
    pub name: String,
    /// Folder of its recording, within that of the drill.
    pub folder: String,
    /// Its volumes, and what is on them.
    pub layout: Vec<OnVolume>,
    /// What was recorded.
    pub recorded: Recorded,
    /// What was injected, and how often it survived.
    pub events: Vec<Event>,
    /// Every state that it did not survive.
    pub findings: Vec<Finding>,
    /// The outcome when a volume came back empty, was full, or had a fault.
    pub volumes: Vec<VolumeEvent>,
}

/// A group of like disks, and the files on them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct OnVolume {
    /// The volume's name.
    pub name: String,
    /// The files on it.
    pub roles: Vec<Role>,
    /// The disk's name in the catalogue, `local` or `unlimited`.
    pub disk: String,
    /// Number of disks striped.
    pub count: u32,
    /// Bytes that they write atomically, as their vendor guarantees.
    pub atomic_bytes: u64,
    /// Whether it is empty after the machine was stopped.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub forgets: bool,
}

/// The outcome for a server after an event on one of its volumes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct VolumeEvent {
    /// `lost` (it comes back empty), `full`, `write-fails` or `flush-fails` (once).
    pub event: String,
    /// How many other writes or flushes preceded the one that failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after: Option<u32>,
    /// Name of the volume.
    pub volume: String,
    /// What clients observed: `nothing`, `not-full` (it did not fill up), `not-reached` (there was no such request),
    /// `refused`, `ended`, `no-start`.
    pub noticed: String,
    /// The final state of the server's data, as for a [`Finding`], or `intact`.
    pub verdict: String,
    /// The same as text.
    pub what: String,
    /// The server's own message; empty where there is none.
    pub message: String,
}

/// What was recorded of a placement.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Recorded {
    /// Commits that were acknowledged.
    pub commits: u64,
    /// Writes of all its disks.
    pub writes: u64,
    /// Their bytes.
    pub bytes: u64,
    /// Flushes of all its disks.
    pub flushes: u64,
    /// Length of the recording, in seconds. States contain nothing later.
    pub seconds: f64,
    /// Whether it ended early because space ran out.
    pub ended_early: bool,
}

/// An event that was injected into a placement, and how often it survived.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Event {
    /// `power`, `torn`, `snapshots` or `bit-flip`.
    pub event: String,
    /// States that were checked.
    pub states: u64,
    /// States in which nothing was lost.
    pub intact: u64,
    /// States in which acknowledged commits were lost.
    pub lost: u64,
    /// States that contained impossible data.
    pub corrupt: u64,
    /// States on which the server did not start.
    pub does_not_start: u64,
}

/// A state that did not survive.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Finding {
    /// Its name: `cut-0417`.
    pub name: String,
    /// The event: as for an [`Event`].
    pub event: String,
    /// The outcome: `lost`, `corrupt`, `does-not-start`.
    pub verdict: String,
    /// The same as text.
    pub what: String,
    /// What was missing from each volume.
    pub volumes: Vec<VolumeLoss>,
    /// SHA-256 of the volumes' contents before the server was started, in hexadecimal digits: for every block of 4 KiB
    /// that is not all zero, the index of its volume and its own index as little-endian 64-bit numbers, and its bytes.
    pub digest: String,
    /// The last requests of each volume.
    pub story: Vec<Lane>,
    /// The state, for `--replay`.
    pub cut: serde_json::Value,
}

/// The last requests of a volume.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Lane {
    /// Name of the volume.
    pub volume: String,
    /// In order of arrival, forty at most.
    pub requests: Vec<Request>,
}

/// A request, or the part of it that went to one disk.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Request {
    /// How long before its volume stopped it arrived, in milliseconds.
    pub before_ms: f64,
    /// Its bytes; 0 for a flush.
    pub bytes: u64,
    /// Its outcome: `flushed` (a flush), `safe` (guaranteed to persist), `there`, `torn` (partly persisted), `missing`.
    pub fate: String,
}

/// What was missing from a volume.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct VolumeLoss {
    /// Its name.
    pub name: String,
    /// When it stopped, in milliseconds after clients began.
    pub at_ms: u64,
    /// Writes that may or may not have persisted.
    pub open: u64,
    /// Of these, how many were missing entirely.
    pub missing: u64,
    /// Of these, how many were partly missing.
    pub torn: u64,
}

/// A server configured so that it must not survive.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Control {
    /// The setting that makes it lose or corrupt data.
    pub setting: String,
    /// The event: as for an [`Event`].
    pub event: String,
    /// States that were checked until this was detected.
    pub states: u64,
    /// What was detected, as text; `None`: nothing.
    pub noticed: Option<String>,
}

impl Event {
    /// States that did not survive.
    pub fn failed(&self) -> u64 {
        self.states - self.intact
    }
}
