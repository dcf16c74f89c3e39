//! List prices, so that a placement's gain can be set against its cost.

use model::{Bytes, Iops, Throughput};
use serde::Serialize;

use super::hourly_price::HOURS;
use super::size::SizeRule;
use super::wire::{PerRequestWire, PriceWire, StepWire};

/// A disk's monthly price in US dollars; a list price in the region its source names.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub enum Price {
    /// As a whole.
    Whole {
        /// Dollars a month.
        usd: f64,
    },
    /// By what is provisioned.
    Parts(Parts),
}

/// Prices of what is provisioned.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Parts {
    /// Dollars a month for each GiB.
    pub per_gib: f64,
    /// Billed sizes, if not all: a disk is billed as the next larger one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub billed_size: Option<SizeRule>,
    /// IOPS that are free, by the size; `None`: those below the first step.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub iops_free: Option<IopsFree>,
    /// For each IOPS that is not free, in steps.
    pub per_iops: Vec<Step>,
    /// For each MiB/s, in steps.
    pub per_mib_per_s: Vec<Step>,
    /// For each MB/s (10⁶ bytes), as Azure counts, in steps.
    pub per_mb_per_s: Vec<Step>,
}

/// IOPS that come with the size, in proportion to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct IopsFree {
    /// For each GiB.
    pub per_gib: u64,
    /// No fewer than this.
    pub at_least: u64,
}

impl IopsFree {
    fn of(self, gib: f64) -> f64 {
        (gib * self.per_gib as f64).max(self.at_least as f64)
    }
}

/// What requests to a disk cost, beside its price.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct PerRequest {
    /// Dollars for 10,000 requests, as the vendor counts them.
    pub usd_per_10000: f64,
    /// Requests of an hour that are charged at most, where that is known.
    pub hourly_max: Option<u64>,
}

impl PerRequest {
    /// Dollars for a month of so many requests per second to one disk.
    pub fn usd_per_month(&self, per_s: f64) -> f64 {
        let hourly = per_s * 3_600.0;
        let charged = self
            .hourly_max
            .map_or(hourly, |most| hourly.min(most as f64));
        charged / 1e4 * self.usd_per_10000 * HOURS
    }

    pub(super) fn read(wire: &PerRequestWire) -> Result<PerRequest, String> {
        check(wire.usd_per_10000)?;
        Ok(PerRequest {
            usd_per_10000: wire.usd_per_10000,
            hourly_max: wire.hourly_max,
        })
    }
}

/// The price of each unit above a threshold, up to the next step's.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Step {
    /// Units up to this are not charged by this step.
    pub above: u64,
    /// Dollars a month for each unit.
    pub usd: f64,
}

impl Price {
    /// Dollars a month for a disk of this size and these rates.
    pub fn usd_per_month(&self, size: Bytes, iops: Iops, throughput: Throughput) -> f64 {
        match self {
            Price::Whole { usd } => *usd,
            Price::Parts(parts) => {
                let billed = parts.billed_size.as_ref();
                let billed = billed
                    .and_then(|sizes| sizes.at_least(size))
                    .unwrap_or(size);
                let gib = billed.0 as f64 / (1u64 << 30) as f64;
                let mib_per_s = throughput.0 as f64 / (1u64 << 20) as f64;
                let mb_per_s = throughput.0 as f64 / 1e6;
                let free = parts.iops_free.map_or(0.0, |free| free.of(gib));
                let charged = (iops.0 as f64 - free).max(0.0);
                parts.per_gib * gib
                    + steps(&parts.per_iops, charged)
                    + steps(&parts.per_mib_per_s, mib_per_s)
                    + steps(&parts.per_mb_per_s, mb_per_s)
            }
        }
    }

    /// Discounts it by a share, 0 to 1.
    pub(super) fn discount(&mut self, share: f64) {
        let less = |usd: &mut f64| *usd *= 1.0 - share;
        match self {
            Price::Whole { usd } => less(usd),
            Price::Parts(parts) => {
                less(&mut parts.per_gib);
                for steps in [
                    &mut parts.per_iops,
                    &mut parts.per_mib_per_s,
                    &mut parts.per_mb_per_s,
                ] {
                    steps.iter_mut().for_each(|step| less(&mut step.usd));
                }
            }
        }
    }

    pub(super) fn read(
        whole: Option<f64>,
        parts: Option<&PriceWire>,
    ) -> Result<Option<Price>, String> {
        match (whole, parts) {
            (None, None) => Ok(None),
            (Some(usd), None) => {
                check(usd)?;
                Ok(Some(Price::Whole { usd }))
            }
            (None, Some(wire)) => {
                check(wire.per_gib)?;
                Ok(Some(Price::Parts(Parts {
                    per_gib: wire.per_gib,
                    billed_size: wire.billed_size.as_ref().map(SizeRule::read).transpose()?,
                    iops_free: wire.iops_free.as_ref().map(|free| IopsFree {
                        per_gib: free.per_gib,
                        at_least: free.at_least,
                    }),
                    per_iops: read_steps(&wire.per_iops)?,
                    per_mib_per_s: read_steps(&wire.per_mib_per_s)?,
                    per_mb_per_s: read_steps(&wire.per_mb_per_s)?,
                })))
            }
            (Some(_), Some(_)) => Err("`usd_per_month` and `price` exclude each other".into()),
        }
    }
}

fn steps(steps: &[Step], units: f64) -> f64 {
    let ends = steps.iter().skip(1).map(|step| step.above as f64);
    let ends = ends.chain([f64::INFINITY]);
    let charged =
        |(step, end): (&Step, f64)| (units.min(end) - step.above as f64).max(0.0) * step.usd;
    steps.iter().zip(ends).map(charged).sum()
}

fn read_steps(wires: &[StepWire]) -> Result<Vec<Step>, String> {
    if !wires.is_sorted_by(|a, b| a.above < b.above) {
        return Err("in a price, `above` has to rise from step to step".into());
    }
    let read = |wire: &StepWire| {
        check(wire.usd)?;
        Ok(Step {
            above: wire.above,
            usd: wire.usd,
        })
    };
    wires.iter().map(read).collect()
}

/// Maximum dollars a month for a disk or a unit of it, and per hour for a machine: beyond any real price, and still finite when
/// multiplied by any size or the hours of a month.
const USD_MAX: f64 = 1e9;

pub(super) fn check(usd: f64) -> Result<(), String> {
    if (0.0..=USD_MAX).contains(&usd) {
        Ok(())
    } else {
        Err(format!(
            "{usd} is not a price; write dollars, from 0 to {USD_MAX}"
        ))
    }
}
