//! What limits an arm.

use std::fmt;

use experiment::record::{Cause, Limit};
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// What limits an arm.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum BoundBy {
    /// A part of the sessions' time: `cpu`, `lock`, `read.service`, ..
    Cause(Cause),
    /// A limit: `disk.iops`, `machine.cached.throughput`, ..
    Limit(Limit),
    /// `unknown`: no trial recorded where time went.
    Unknown,
}

impl fmt::Display for BoundBy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            BoundBy::Cause(cause) => cause.fmt(f),
            BoundBy::Limit(limit) => limit.fmt(f),
            BoundBy::Unknown => f.write_str("unknown"),
        }
    }
}

impl Serialize for BoundBy {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for BoundBy {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<BoundBy, D::Error> {
        let text = String::deserialize(deserializer)?;
        if text == "unknown" {
            return Ok(BoundBy::Unknown);
        }
        let limit = text.parse().map(BoundBy::Limit);
        limit
            .or_else(|_| text.parse().map(BoundBy::Cause))
            .map_err(D::Error::custom)
    }
}
