//! The source of a figure, and how reliable it is.

use std::fmt;

use model::{Operation, Spread};
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

/// How a value that differs between things of one kind is known, such as the latency of a disk.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Known {
    /// Exactly: guaranteed by the vendor, or measured on the very volume.
    Documented,
    /// Published by several, of different places.
    Several,
    /// Published by one.
    One,
    /// Not published.
    Assumed,
}

impl Known {
    /// By how much volumes differ from such a value, where their entry does not say.
    ///
    /// `scripts/latencies` computes it from what was published (`evidence/spreads.csv`). By several: the spread between places,
    /// pooled over all kinds of disks of which several figures are known. By one: its place is drawn as well as yours, so that
    /// the logarithm is larger by the root of 2. Assumed: how far assumptions were off where a figure was found later, and a
    /// volume's own spread beside that.
    pub fn spread(self) -> Spread {
        let factor = match self {
            Known::Documented => return Spread::NONE,
            Known::Several => 1.4,
            Known::One => 1.6,
            Known::Assumed => 1.9,
        };
        factor_of(factor)
    }
}

/// By how much what a statement costs the processor differs from what is taken: the spread of 59 published costs of five kinds of
/// statements on twelve processors (`evidence/spreads.csv`).
pub fn statement_spread() -> Spread {
    factor_of(1.7)
}

/// By how much what a disk or machine delivers differs from its documented limits: AWS promises at least 90 % of a gp2's or gp3's for
/// 99 % of the time (*Amazon EBS optimization*), which is 2.33 standard deviations of the logarithm. Of other vendors the same is
/// assumed.
pub fn limit_spread() -> Spread {
    factor_of(1.05)
}

/// Before the kind, in the name of what it delivers of its limits.
const DELIVERED: &str = "delivered part of the limits of";

/// The name of what a disk or machine of a kind delivers of its limits, the same wherever it is drawn.
pub fn delivered_by(kind: &str) -> String {
    format!("{DELIVERED} {kind}")
}

/// Whether a name is one of [`delivered_by`].
pub fn is_delivered(name: &str) -> bool {
    name.starts_with(DELIVERED)
}

fn factor_of(factor: f64) -> Spread {
    Spread::new(factor).expect("it is above 1")
}

/// How far volumes of one kind differ in their latencies.
#[derive(Clone, Debug, PartialEq)]
pub struct Spreads {
    /// The kind: name of a class.
    pub kind: String,
    /// Of a read.
    pub read: Spread,
    /// Of a write.
    pub write: Spread,
    /// Of a flush.
    pub flush: Spread,
    /// Whether one of these is assumed, for an entry in a file of one's own that does not say it.
    pub are_assumed: bool,
}

impl Spreads {
    /// Of an operation.
    pub fn of(&self, operation: Operation) -> Spread {
        match operation {
            Operation::Read => self.read,
            Operation::Write => self.write,
            Operation::Flush => self.flush,
        }
    }

    /// Of what a disk delivers of its limits: those of a disk whose latencies are known exactly were measured with them, on the very
    /// volume.
    pub fn of_limits(&self) -> Spread {
        match [self.read, self.write, self.flush].map(|spread| spread == Spread::NONE) {
            [true, true, true] => Spread::NONE,
            _ => limit_spread(),
        }
    }

    /// The name of an operation's latency, the same wherever it is drawn: `write latency of azure-premium`.
    pub fn name_of(&self, operation: Operation) -> String {
        let name = match operation {
            Operation::Read => "read",
            Operation::Write => "write",
            Operation::Flush => "flush",
        };
        format!("{name} latency of {}", self.kind)
    }
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
