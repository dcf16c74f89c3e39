//! Where a figure comes from, and how far it can be trusted.

use std::fmt;

use serde::{Deserialize, Serialize};

/// A document or a measurement that figures were taken from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Source {
    /// What entries call it.
    pub id: String,
    /// What it is.
    pub title: String,
    /// Where it is, when it can be reached.
    pub url: Option<String>,
    /// The date it bears, or the date it was read.
    pub date: String,
    /// What to know before relying on it.
    pub note: Option<String>,
    /// Of list prices that it holds: whose they are, and of which region; `None` where it holds none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub prices: Option<String>,
}

impl Source {
    /// Whose list prices it holds, of which region, and the date; `None` where it holds none.
    pub(super) fn price_list(&self) -> Option<String> {
        Some(format!("{}, {}", self.prices.as_ref()?, self.date))
    }
}

/// How the limits of an entry are known.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Confidence {
    /// The vendor's own text.
    Documented,
    /// Raw output of a benchmark.
    Measured,
    /// Seen in somebody else's copy of the vendor's figures.
    SecondHand,
    /// Derived from other figures.
    Inferred,
    /// Nobody published it.
    Assumed,
}

impl fmt::Display for Confidence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Confidence::Documented => "documented",
            Confidence::Measured => "measured",
            Confidence::SecondHand => "second-hand",
            Confidence::Inferred => "inferred",
            Confidence::Assumed => "assumed",
        })
    }
}
