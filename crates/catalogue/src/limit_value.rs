//! Result types of a rule: IOPS, bytes per second, and their sums over time.

use std::fmt::{self, Debug, Display};

use model::{Bytes, Iops, Throughput};
use serde::Serialize;

use super::wire::AmountWire;

/// An amount that a rule of the catalogue computes.
pub trait LimitValue: Copy + Debug + Display + Ord {
    /// What it adds up to over time: I/Os or bytes.
    type Credit: LimitValue;

    /// The amount from a number of units.
    fn from_units(units: u64) -> Self;

    /// Number of units.
    fn units(self) -> u64;

    /// Human-readable: `3000`, `125 MiB/s`.
    fn shown(self) -> String;
}

/// An amount that a file can contain.
pub(super) trait FromWire: LimitValue {
    /// Thousandths of a unit. (0.75 IOPS per GiB is a real rule.)
    fn thousandths(amount: &AmountWire) -> Result<u64, String>;
}

/// A number of I/Os: IOPS over time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(transparent)]
pub struct Ios(pub u64);

impl Display for Ios {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} I/Os", self.0)
    }
}

impl LimitValue for Iops {
    type Credit = Ios;

    fn from_units(units: u64) -> Iops {
        Iops(units)
    }

    fn units(self) -> u64 {
        self.0
    }

    fn shown(self) -> String {
        self.0.to_string()
    }
}

impl FromWire for Iops {
    fn thousandths(amount: &AmountWire) -> Result<u64, String> {
        count(amount, "IOPS are")
    }
}

impl LimitValue for Ios {
    type Credit = Ios;

    fn from_units(units: u64) -> Ios {
        Ios(units)
    }

    fn units(self) -> u64 {
        self.0
    }

    fn shown(self) -> String {
        self.to_string()
    }
}

impl FromWire for Ios {
    fn thousandths(amount: &AmountWire) -> Result<u64, String> {
        count(amount, "I/Os are")
    }
}

impl LimitValue for Throughput {
    type Credit = Bytes;

    fn from_units(units: u64) -> Throughput {
        Throughput(units)
    }

    fn units(self) -> u64 {
        self.0
    }

    fn shown(self) -> String {
        self.to_string()
    }
}

impl FromWire for Throughput {
    fn thousandths(amount: &AmountWire) -> Result<u64, String> {
        let text = text(amount, "a throughput such as \"200 MB/s\"")?;
        let parsed: Throughput = text.parse().map_err(|e| format!("{e}"))?;
        in_thousandths(parsed.0)
    }
}

impl LimitValue for Bytes {
    type Credit = Bytes;

    fn from_units(units: u64) -> Bytes {
        Bytes(units)
    }

    fn units(self) -> u64 {
        self.0
    }

    fn shown(self) -> String {
        self.to_string()
    }
}

impl FromWire for Bytes {
    fn thousandths(amount: &AmountWire) -> Result<u64, String> {
        let text = text(amount, "a size such as \"64 KiB\"")?;
        let parsed: Bytes = text.parse().map_err(|e| format!("{e}"))?;
        in_thousandths(parsed.0)
    }
}

/// Largest plain number in a file; beyond any disk, and far from overflow.
const COUNT_MAX: f64 = 1e12;

fn count(amount: &AmountWire, subject: &str) -> Result<u64, String> {
    match amount {
        AmountWire::Number(n) if (0.0..=COUNT_MAX).contains(n) => Ok((n * 1000.0).round() as u64),
        AmountWire::Number(n) => Err(format!(
            "{n} is out of range; {subject} a number from 0 to {COUNT_MAX:e}"
        )),
        AmountWire::Text(text) => Err(format!("\"{text}\" is a text; {subject} a plain number")),
    }
}

fn text<'a>(amount: &'a AmountWire, wanted: &str) -> Result<&'a str, String> {
    match amount {
        AmountWire::Text(text) => Ok(text),
        AmountWire::Number(n) => Err(format!("{n} has no unit; write {wanted}")),
    }
}

fn in_thousandths(units: u64) -> Result<u64, String> {
    let product = units.checked_mul(1000);
    product.ok_or_else(|| format!("{units} bytes are more than the catalogue can count"))
}
