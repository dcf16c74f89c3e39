//! A drill as a document.

use reading::Role;
use serde::{Deserialize, Serialize};

use super::check::Unchecked;

/// Name of the document's version.
pub const SCHEMA: &str = "dbstow.drill/1";

/// The event in which a bit flips.
pub(super) const BIT_FLIP: &str = "bit-flip";

/// What placements survived. One that is read was checked: its numbers and words are those of a drill.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Unchecked")]
pub struct Drill {
    /// [`SCHEMA`].
    pub schema: String,
    /// The answer, in a sentence.
    pub answer: String,
    /// Name of the experiment whose placements these are.
    pub experiment: String,
    /// The server, with its version.
    pub server: String,
    /// What was asked.
    pub asked: Asked,
    /// Whether nobody ended it early.
    pub complete: bool,
    /// Whether every control was noticed. Without that, the drill proves nothing.
    pub proves: bool,
    /// What was found of each placement.
    pub placements: Vec<Placement>,
    /// Servers that must not survive.
    pub controls: Vec<Control>,
    /// How long the looks at states took.
    pub took: Took,
}

/// How long the looks at states took: means, in seconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Took {
    /// States that were looked at, of all placements.
    pub states: u64,
    /// States at a time.
    pub jobs: u64,
    /// Until the volumes of a state were mounted.
    pub mount_s: f64,
    /// From then until the server let clients in, or had ended.
    pub start_s: f64,
    /// To read and check all that it had.
    pub look_s: f64,
    /// To end the server, and to unmount.
    pub stop_s: f64,
}

/// What was asked.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Asked {
    /// What was drilled: `postgres` or `sqlite`.
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
    /// How long disks that ignore flushes keep what they have acknowledged, at most, in seconds.
    pub write_back_s: f64,
    /// Bytes that a disk writes whole or not at all; `None`: as many as its vendor promises.
    pub atomic_bytes: Option<u64>,
    /// How far snapshots are apart, in seconds.
    pub skew_s: f64,
    /// Whose power was cut: the `machine`'s, or that of one `disk`.
    pub power: String,
    /// Whether bits flipped and requests failed, too.
    pub faults: bool,
    /// Settings of the server, in its own words: name and value.
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
    /// What happened to it, and how often it survived.
    pub events: Vec<Event>,
    /// Every state that it did not survive.
    pub findings: Vec<Finding>,
    /// What became of it when a volume came back empty, was full, or had a fault.
    pub volumes: Vec<VolumeEvent>,
}

/// Like disks, and what is on them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct OnVolume {
    /// The volume's name.
    pub name: String,
    /// What is on it.
    pub roles: Vec<Role>,
    /// The disk's name in the catalogue, `local` or `unlimited`.
    pub disk: String,
    /// How many are striped.
    pub count: u32,
    /// Bytes that they write whole or not at all, as their vendor promises.
    pub atomic_bytes: u64,
    /// Whether it is empty after the machine was stopped.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub forgets: bool,
}

/// What became of a server when something happened to one of its volumes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct VolumeEvent {
    /// `lost` (it comes back empty), `full`, `write-fails` or `flush-fails` (once).
    pub event: String,
    /// How many other writes or flushes came before the one that failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after: Option<u32>,
    /// Name of the volume.
    pub volume: String,
    /// What clients noticed: `nothing`, `not-full` (it did not fill up), `not-reached` (there was no such request), `refused`,
    /// `ended`, `no-start`.
    pub noticed: String,
    /// What the server had in the end, as of a [`Finding`], or `intact`.
    pub verdict: String,
    /// The same in words.
    pub what: String,
    /// The server's words; empty where it has none.
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
    /// For how long, in seconds. Nothing after it is in any state.
    pub seconds: f64,
    /// Whether it ended before its time, as there was no space for more.
    pub ended_early: bool,
}

/// What happened to a placement, and how often it survived.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Event {
    /// `power`, `torn`, `snapshots` or `bit-flip`.
    pub event: String,
    /// States that were looked at.
    pub states: u64,
    /// States in which nothing was lost.
    pub intact: u64,
    /// States in which acknowledged commits were lost.
    pub lost: u64,
    /// States in which something was there that cannot be.
    pub corrupt: u64,
    /// States on which the server did not start.
    pub does_not_start: u64,
}

/// A state that was not survived.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Finding {
    /// What it is called: `cut-0417`.
    pub name: String,
    /// What happened: as of an [`Event`].
    pub event: String,
    /// What became of the server: `lost`, `corrupt`, `does-not-start`.
    pub verdict: String,
    /// The same in words.
    pub what: String,
    /// What each volume lacked.
    pub volumes: Vec<Volume>,
    /// SHA-256 of what the volumes held before the server was started, in hexadecimal digits: of every block of 4 KiB that is not
    /// all zero its volume's place and its own as little-endian numbers of 64 bits, and its bytes.
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

/// A request, or the part of it that one disk got.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Request {
    /// How long before its volume stopped it arrived, in milliseconds.
    pub before_ms: f64,
    /// Its bytes; 0 of a flush.
    pub bytes: u64,
    /// What became of it: `flushed` (a flush), `safe` (it had to be there), `there`, `torn` (there in part), `missing`.
    pub fate: String,
}

/// What a volume lacked.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Volume {
    /// Its name.
    pub name: String,
    /// When it stopped, in milliseconds after clients began.
    pub at_ms: u64,
    /// Writes that it may have had or not.
    pub open: u64,
    /// Of these, what it had nothing of.
    pub missing: u64,
    /// Of these, what it had only a part of.
    pub torn: u64,
}

/// A server that must not survive.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Control {
    /// The setting that makes it lose or spoil data.
    pub setting: String,
    /// What happened to it: as of an [`Event`].
    pub event: String,
    /// States that were looked at, until it was noticed.
    pub states: u64,
    /// What was noticed, in words; `None`: nothing.
    pub noticed: Option<String>,
}

impl Drill {
    /// Reads what [`Drill::json`] gives.
    ///
    /// # Errors
    /// When it is something else, of another version, or has what cannot be: which key, and what it may be.
    pub fn parse(text: &str) -> Result<Drill, String> {
        serde_json::from_str(text).map_err(|error| error.to_string())
    }

    /// As text.
    pub fn json(&self) -> String {
        let mut text = serde_json::to_string_pretty(self).expect("it is plain data");
        text.push('\n');
        text
    }

    /// The finding of this name, and its placement.
    pub fn finding(&self, name: &str) -> Option<(&Placement, &Finding)> {
        let mut all = self.placements.iter().flat_map(|placement| {
            let findings = placement.findings.iter();
            findings.map(move |finding| (placement, finding))
        });
        all.find(|(_, finding)| finding.name == name)
    }
}

impl Event {
    /// States that were not survived.
    pub fn failed(&self) -> u64 {
        self.states - self.intact
    }
}
