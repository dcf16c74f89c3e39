//! The limits of a disk or machine: fixed, by direction, provisioned, and with burst credits.

use model::{Burst, Bytes, Counts, Duration, Iops, LimitSpec, Rate, Throughput};

use super::limit_value::{FromWire, LimitValue};
use super::rule::Rule;
use super::wire::{BurstWire, BurstsWire, RuleWire};

/// Rates that a disk or one of a machine's named limits allows.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Limits {
    /// On requests per second.
    pub iops: Option<Limit<Iops>>,
    /// On bytes per second.
    pub throughput: Option<Limit<Throughput>>,
    /// Burst rates.
    pub bursts: Bursts,
}

/// A limit on one measure.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Limit<Q> {
    /// Reads and writes together.
    Shared(Rule<Q>),
    /// Reads and writes separately.
    Split {
        /// The limit on reads.
        read: Rule<Q>,
        /// The limit on writes.
        write: Rule<Q>,
    },
    /// What the user provisions, reads and writes together.
    Provisioned {
        /// The default; without one, a rate must be requested.
        default: Option<Rule<Q>>,
        /// The minimum that can be provisioned.
        least: Rule<Q>,
        /// The maximum that can be provisioned.
        most: Rule<Q>,
    },
}

/// Rates above the sustained ones.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Bursts {
    /// Only when requested (Azure's did not exist before 2019); otherwise always.
    pub optional: bool,
    /// On requests per second.
    pub iops: Option<BurstRule<Iops>>,
    /// On bytes per second.
    pub throughput: Option<BurstRule<Throughput>>,
}

/// A rate above the sustained one, and for how long.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BurstRule<Q: LimitValue> {
    /// The rate; no burst if the sustained rate is at least as high.
    pub rate: Rule<Q>,
    /// How long it lasts.
    pub holds: Holds<Q::Credit>,
}

/// How long a burst lasts from a full bucket.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Holds<C> {
    /// For this time at the full burst rate: a bucket of `(burst - sustained) * time`.
    For(Duration),
    /// Until these credits are spent.
    Credits(Rule<C>),
    /// Indefinitely (and billed by use).
    Always,
}

/// A limit resolved for one disk: the rates, after all rules.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Chosen<Q> {
    Shared(Q),
    Split { read: Q, write: Q },
}

impl<Q: LimitValue> Limit<Q> {
    /// Short text, for tables and messages.
    pub fn shown(&self) -> String {
        match self {
            Limit::Shared(rule) => rule.shown(),
            Limit::Split { read, write } => format!("{} r, {} w", read.shown(), write.shown()),
            Limit::Provisioned { least, most, .. } => {
                format!("asked: from {}; to {}", least.shown(), most.shown())
            }
        }
    }

    /// Compact text for a table cell; reads and writes on separate lines.
    pub fn brief(&self) -> String {
        match self {
            Limit::Shared(rule) => rule.shown(),
            Limit::Split { read, write } => {
                format!("r {}\nw {}", read.shown(), write.shown())
            }
            Limit::Provisioned { least, most, .. } => match most.ceiling() {
                Some(ceiling) => format!("asked, up to {}", ceiling.shown()),
                None => format!("asked, from {}", least.shown()),
            },
        }
    }

    /// The default rates; `None` if the user must request one.
    pub(super) fn unasked(&self, size: Bytes, iops: u64) -> Option<Chosen<Q>> {
        match self {
            Limit::Shared(rule) => Some(Chosen::Shared(rule.amount(size, iops))),
            Limit::Split { read, write } => Some(Chosen::Split {
                read: read.amount(size, iops),
                write: write.amount(size, iops),
            }),
            Limit::Provisioned { default, .. } => {
                let default = default.as_ref()?;
                Some(Chosen::Shared(default.amount(size, iops)))
            }
        }
    }

    pub(super) fn read(wire: &RuleWire) -> Result<Limit<Q>, String>
    where
        Q: FromWire,
    {
        let RuleWire::Table(table) = wire else {
            return Rule::read(wire).map(Limit::Shared);
        };
        match (&table.asked, &table.read, &table.write) {
            (None, None, None) => Rule::read(wire).map(Limit::Shared),
            (Some(asked), None, None) => Ok(Limit::Provisioned {
                default: asked.default.as_ref().map(Rule::read).transpose()?,
                least: Rule::read(&asked.least)?,
                most: Rule::read(&asked.most)?,
            }),
            (None, Some(read), Some(write)) => Ok(Limit::Split {
                read: Rule::read(read)?,
                write: Rule::read(write)?,
            }),
            (Some(_) | None, Some(_) | None, Some(_) | None) => {
                Err("`read` and `write` go together, and not with `asked`".into())
            }
        }
    }
}

impl Limits {
    pub(super) fn read(
        iops: Option<&RuleWire>,
        throughput: Option<&RuleWire>,
        bursts: Option<&BurstsWire>,
    ) -> Result<Limits, String> {
        let within = |key: &str, e: String| format!("`{key}`: {e}");
        let iops = iops.map(Limit::read).transpose();
        let throughput = throughput.map(Limit::read).transpose();
        let bursts = bursts.map(Bursts::read).transpose();
        Ok(Limits {
            iops: iops.map_err(|e| within("iops", e))?,
            throughput: throughput.map_err(|e| within("throughput", e))?,
            bursts: bursts.map_err(|e| within("burst", e))?.unwrap_or_default(),
        })
    }

    /// The limit on requests per second.
    pub(super) fn iops(&self) -> Option<&Limit<Iops>> {
        self.iops.as_ref()
    }

    /// The limit on bytes per second.
    pub(super) fn throughput(&self) -> Option<&Limit<Throughput>> {
        self.throughput.as_ref()
    }

    /// Whether these limits have nothing to configure; a machine's never do.
    pub(super) fn is_fixed(&self) -> bool {
        !matches!(self.iops, Some(Limit::Provisioned { .. }))
            && !matches!(self.throughput, Some(Limit::Provisioned { .. }))
    }

    /// Whether bursting can be requested.
    pub(super) fn bursts_at_all(&self) -> bool {
        self.bursts.iops.is_some() || self.bursts.throughput.is_some()
    }

    /// The model's limits, once the rates are chosen.
    pub(super) fn specs(
        &self,
        iops: Option<Chosen<Iops>>,
        throughput: Option<Chosen<Throughput>>,
        size: Bytes,
        bursting: bool,
    ) -> Vec<LimitSpec> {
        let bursting = bursting || !self.bursts.optional;
        let burst_iops = self.bursts.iops.as_ref().filter(|_| bursting);
        let burst_throughput = self.bursts.throughput.as_ref().filter(|_| bursting);
        let mut specs = Vec::new();
        if let Some(chosen) = iops {
            specs.extend(chosen.specs(burst_iops, size, Rate::Iops));
        }
        if let Some(chosen) = throughput {
            specs.extend(chosen.specs(burst_throughput, size, Rate::Throughput));
        }
        specs
    }

    /// The model's limits with defaults.
    pub(super) fn specs_unasked(&self, size: Bytes) -> Vec<LimitSpec> {
        let iops = self.iops.as_ref().and_then(|limit| limit.unasked(size, 0));
        let iops_total = iops.map_or(0, Chosen::largest);
        let throughput = self.throughput.as_ref();
        let throughput = throughput.and_then(|limit| limit.unasked(size, iops_total));
        self.specs(iops, throughput, size, false)
    }
}

impl<Q: LimitValue> Chosen<Q> {
    /// The larger rate of the two directions, in units.
    pub(super) fn largest(self) -> u64 {
        match self {
            Chosen::Shared(rate) => rate.units(),
            Chosen::Split { read, write } => read.max(write).units(),
        }
    }

    fn specs(
        self,
        burst: Option<&BurstRule<Q>>,
        size: Bytes,
        rate_of: impl Fn(Q) -> Rate,
    ) -> Vec<LimitSpec> {
        let spec = |counts: Counts, rate: Q| {
            let bursting = burst.map_or(Bursting::None, |burst| burst.over(rate, size));
            let (rate, burst) = match bursting {
                Bursting::None => (rate, None),
                Bursting::Credits(credits) => (rate, Some(credits)),
                Bursting::Always(rate) => (rate, None),
            };
            LimitSpec {
                counts,
                rate: rate_of(rate),
                depth: LimitSpec::DEPTH_DEFAULT,
                burst,
            }
        };
        match self {
            Chosen::Shared(rate) => vec![spec(Counts::All, rate)],
            Chosen::Split { read, write } => {
                vec![spec(Counts::Reads, read), spec(Counts::Writes, write)]
            }
        }
    }
}

/// A burst relative to a sustained rate.
enum Bursting<Q> {
    None,
    Credits(Burst),
    Always(Q),
}

impl<Q: LimitValue> BurstRule<Q> {
    fn over(&self, sustained: Q, size: Bytes) -> Bursting<Q> {
        let rate = self.rate.amount(size, 0);
        if rate <= sustained {
            return Bursting::None;
        }
        let credits = match &self.holds {
            Holds::Always => return Bursting::Always(rate),
            Holds::Credits(rule) => rule.amount(size, 0).units(),
            Holds::For(time) => {
                let above = u128::from(rate.units() - sustained.units());
                let credits = above * u128::from(time.as_nanos()) / 1_000_000_000;
                u64::try_from(credits).unwrap_or(u64::MAX)
            }
        };
        Bursting::Credits(Burst {
            rate: rate.units(),
            credits,
            credits_initial: credits,
        })
    }

    fn read(wire: &BurstWire) -> Result<BurstRule<Q>, String>
    where
        Q: FromWire,
        Q::Credit: FromWire,
    {
        let holds = match (wire.lasts, &wire.credits) {
            (None, None) => Holds::Always,
            (Some(time), None) if time > Duration::ZERO => Holds::For(time),
            (None, Some(credits)) => Holds::Credits(Rule::read(credits)?),
            (Some(_), None) => return Err("`lasts` is zero".into()),
            (Some(_), Some(_)) => return Err("`lasts` and `credits` exclude each other".into()),
        };
        Ok(BurstRule {
            rate: Rule::read(&wire.rate)?,
            holds,
        })
    }
}

impl Bursts {
    fn read(wire: &BurstsWire) -> Result<Bursts, String> {
        Ok(Bursts {
            optional: wire.optional,
            iops: wire.iops.as_ref().map(BurstRule::read).transpose()?,
            throughput: wire.throughput.as_ref().map(BurstRule::read).transpose()?,
        })
    }
}
