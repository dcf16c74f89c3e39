//! The source of a figure, and how reliable it is.

use std::fmt;

use serde::{Deserialize, Serialize};

/// A document or a measurement that figures were taken from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Source {
    /// Identifier that entries use.
    pub id: String,
    /// What it is.
    pub title: String,
    /// Its URL, if reachable.
    pub url: Option<String>,
    /// Its date, or the date it was read.
    pub date: String,
    /// What to know before relying on it.
    pub note: Option<String>,
    /// Vendor and region of the list prices that it contains; `None` if it contains none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub prices: Option<String>,
}

impl Source {
    /// Vendor, region and date of the list prices that it contains; `None` if it contains none.
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
    /// From a third party's copy of the vendor's figures.
    SecondHand,
    /// Derived from other figures.
    Inferred,
    /// Not published.
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
