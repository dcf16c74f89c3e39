//! A record of sadf, as JSON has it.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::Value;

use super::number::Figures;

#[derive(Default, Deserialize)]
pub(super) struct Record {
    pub(super) timestamp: Option<Time>,
    #[serde(default, rename = "cpu-load")]
    pub(super) processors: Vec<BTreeMap<String, Value>>,
    pub(super) io: Option<Io>,
    #[serde(default)]
    pub(super) disk: Vec<Disk>,
}

#[derive(Deserialize)]
pub(super) struct Time {
    pub(super) date: String,
    pub(super) time: String,
    pub(super) utc: Option<u8>,
    pub(super) interval: Option<f64>,
}

#[derive(Deserialize)]
pub(super) struct Io {
    #[serde(rename = "io-reads")]
    pub(super) reads: Figures,
    #[serde(rename = "io-writes")]
    pub(super) writes: Figures,
}

#[derive(Deserialize, PartialEq)]
pub(super) struct Disk {
    #[serde(rename = "disk-device")]
    pub(super) name: String,
    #[serde(flatten)]
    pub(super) figures: Figures,
}
