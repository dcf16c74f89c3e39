//! How an amount follows from the size and the IOPS of a disk.

use model::Bytes;

use super::limit_value::{FromWire, LimitValue};
use super::wire::{AmountWire, RuleTable, RuleWire, TierWire};

/// An amount, or how to compute it: the few kinds found in vendors' price lists.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Rule<Q> {
    /// Always the same.
    Fixed(Q),
    /// In proportion to size or IOPS, between bounds.
    Linear(Linear<Q>),
    /// By size, in steps; beyond the last step its amount holds.
    Tiers(Vec<Tier<Q>>),
    /// The largest that any of these gives.
    Largest(Vec<Rule<Q>>),
}

/// `base + per_gib * GiB + per_iops * IOPS`, between bounds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Linear<Q> {
    /// Amount at size zero.
    pub base: Q,
    /// For each GiB.
    pub per_gib: Share,
    /// For each provisioned IOPS.
    pub per_iops: Share,
    /// No less than this.
    pub at_least: Option<Q>,
    /// No more than this.
    pub at_most: Option<Q>,
}

/// Thousandths of a unit per GiB or IOPS.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Share {
    /// Thousandths of a unit.
    pub thousandths: u64,
}

/// One step of a rule by size.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tier<Q> {
    /// Sizes up to and including this one.
    pub to: Bytes,
    /// What they get.
    pub value: Q,
}

impl<Q: LimitValue> Rule<Q> {
    /// The amount for a disk of this size and these IOPS. Fractions of a unit are truncated.
    pub fn amount(&self, size: Bytes, iops: u64) -> Q {
        match self {
            Rule::Fixed(value) => *value,
            Rule::Linear(linear) => linear.amount(size, iops),
            Rule::Tiers(tiers) => {
                let tier = tiers.iter().find(|tier| size <= tier.to);
                let tier = tier.or(tiers.last());
                tier.map_or(Q::from_units(0), |tier| tier.value)
            }
            Rule::Largest(rules) => {
                let amounts = rules.iter().map(|rule| rule.amount(size, iops));
                amounts.max().unwrap_or(Q::from_units(0))
            }
        }
    }

    /// The largest amount that any disk can have by this rule, where there is a bound.
    pub fn ceiling(&self) -> Option<Q> {
        match self {
            Rule::Fixed(value) => Some(*value),
            Rule::Linear(linear) => linear.at_most,
            Rule::Tiers(tiers) => tiers.iter().map(|tier| tier.value).max(),
            Rule::Largest(rules) => {
                let ceilings: Option<Vec<Q>> = rules.iter().map(Rule::ceiling).collect();
                ceilings?.into_iter().max()
            }
        }
    }

    /// Short text, for tables and messages.
    pub fn shown(&self) -> String {
        match self {
            Rule::Fixed(value) => value.shown(),
            Rule::Linear(linear) => linear.shown(),
            Rule::Tiers(tiers) => {
                let values = || tiers.iter().map(|tier| tier.value);
                match (values().min(), values().max()) {
                    (Some(min), Some(max)) => {
                        format!("{} to {} by size", min.shown(), max.shown())
                    }
                    (None, _) | (_, None) => String::new(),
                }
            }
            Rule::Largest(rules) => {
                let parts: Vec<String> = rules.iter().map(Rule::shown).collect();
                parts.join(" or ")
            }
        }
    }

    /// Reads a rule that is neither provisioned nor split by direction.
    pub(super) fn read(wire: &RuleWire) -> Result<Rule<Q>, String>
    where
        Q: FromWire,
    {
        match wire {
            RuleWire::Amount(amount) => positive(amount).map(Rule::Fixed),
            RuleWire::Table(table) => Rule::read_table(table),
        }
    }

    fn read_table(table: &RuleTable) -> Result<Rule<Q>, String>
    where
        Q: FromWire,
    {
        if table.asked.is_some() || table.read.is_some() || table.write.is_some() {
            return Err("`asked`, `read` and `write` cannot stand inside another rule".into());
        }
        let is_linear = [&table.base, &table.per_gib, &table.per_iops];
        let is_linear = is_linear.iter().any(|key| key.is_some());
        match (&table.tiers, &table.largest, is_linear) {
            (Some(tiers), None, false) => read_tiers(tiers).map(Rule::Tiers),
            (None, Some(rules), false) if !rules.is_empty() => {
                let rules: Result<Vec<_>, _> = rules.iter().map(Rule::read).collect();
                rules.map(Rule::Largest)
            }
            (None, None, true) => Linear::read(table).map(Rule::Linear),
            (Some(_) | None, Some(_) | None, true | false) => Err(
                "a rule is an amount, or a table of one kind: `base`/`per_gib`/`per_iops`, `tiers`, \
                 `largest`, `asked`, or `read` and `write`"
                    .into(),
            ),
        }
    }
}

impl<Q: LimitValue> Linear<Q> {
    fn amount(&self, size: Bytes, iops: u64) -> Q {
        let by_size = (u128::from(self.per_gib.thousandths) * u128::from(size.0)) >> 30;
        let by_iops = u128::from(self.per_iops.thousandths) * u128::from(iops);
        let sum = u128::from(self.base.units()) + by_size.saturating_add(by_iops) / 1000;
        let mut amount = Q::from_units(u64::try_from(sum).unwrap_or(u64::MAX));
        if let Some(at_most) = self.at_most {
            amount = amount.min(at_most);
        }
        if let Some(at_least) = self.at_least {
            amount = amount.max(at_least);
        }
        amount
    }

    fn shown(&self) -> String {
        let mut terms = Vec::new();
        if self.base.units() > 0 {
            terms.push(self.base.shown());
        }
        for (share, of) in [(self.per_gib, "GiB"), (self.per_iops, "IOPS")] {
            if share.thousandths > 0 {
                terms.push(format!("{} per {of}", share.shown::<Q>()));
            }
        }
        let bounds = match (self.at_least, self.at_most) {
            (Some(least), Some(most)) => format!(", {} to {}", least.shown(), most.shown()),
            (Some(least), None) => format!(", at least {}", least.shown()),
            (None, Some(most)) => format!(", at most {}", most.shown()),
            (None, None) => String::new(),
        };
        terms.join(" + ") + &bounds
    }

    fn read(table: &RuleTable) -> Result<Linear<Q>, String>
    where
        Q: FromWire,
    {
        let whole = |key: &Option<AmountWire>| key.as_ref().map(positive).transpose();
        let share = |key: &Option<AmountWire>| {
            let thousandths = key.as_ref().map(Q::thousandths).transpose()?;
            Ok::<Share, String>(Share {
                thousandths: thousandths.unwrap_or(0),
            })
        };
        let linear = Linear {
            base: whole(&table.base)?.unwrap_or(Q::from_units(0)),
            per_gib: share(&table.per_gib)?,
            per_iops: share(&table.per_iops)?,
            at_least: whole(&table.at_least)?,
            at_most: whole(&table.at_most)?,
        };
        match (linear.at_least, linear.at_most) {
            (Some(least), Some(most)) if least > most => Err(format!(
                "`at_least` ({}) is more than `at_most` ({})",
                least.shown(),
                most.shown()
            )),
            (Some(_) | None, Some(_) | None) => Ok(linear),
        }
    }
}

impl Share {
    fn shown<Q: LimitValue>(self) -> String {
        let whole = Q::from_units(self.thousandths / 1000);
        if self.thousandths.is_multiple_of(1000) {
            whole.shown()
        } else {
            format!("{}", self.thousandths as f64 / 1000.0)
        }
    }
}

/// A positive amount: a disk with a zero limit is an error.
fn positive<Q: FromWire>(amount: &AmountWire) -> Result<Q, String> {
    let units = Q::thousandths(amount)? / 1000;
    if units == 0 {
        return Err("an amount of zero stands here; leave the key out for \"no limit\"".into());
    }
    Ok(Q::from_units(units))
}

fn read_tiers<Q: FromWire>(tiers: &[TierWire]) -> Result<Vec<Tier<Q>>, String> {
    if tiers.is_empty() || !tiers.is_sorted_by(|a, b| a.to < b.to) {
        return Err("`tiers` need at least one entry, and `to` has to rise".into());
    }
    let read = |tier: &TierWire| {
        Ok(Tier {
            to: tier.to,
            value: positive(&tier.value)?,
        })
    };
    tiers.iter().map(read).collect()
}

#[cfg(test)]
mod tests {
    use model::{Iops, Throughput};

    use super::*;

    #[test]
    fn a_fraction_per_gib_adds_up_before_it_is_cut() {
        // pd-standard: 0.75 read IOPS per GiB, so 10 GiB get 7
        let rule = Rule::Linear(Linear {
            base: Iops(0),
            per_gib: Share { thousandths: 750 },
            per_iops: Share::default(),
            at_least: None,
            at_most: None,
        });
        assert_eq!(rule.amount(Bytes::gib(10), 0), Iops(7));
        assert_eq!(rule.shown(), "0.75 per GiB");
    }

    #[test]
    fn a_size_beyond_the_last_tier_gets_its_amount() {
        let tier = |to, value| Tier { to, value };
        let rule = Rule::Tiers(vec![
            tier(Bytes::gib(128), Iops(500)),
            tier(Bytes::gib(512), Iops(2300)),
        ]);
        assert_eq!(rule.amount(Bytes::gib(128), 0), Iops(500));
        assert_eq!(rule.amount(Bytes(Bytes::gib(128).0 + 1), 0), Iops(2300));
        assert_eq!(rule.amount(Bytes::gib(900), 0), Iops(2300));
    }

    #[test]
    fn throughput_is_shown_in_the_unit_it_was_given_in() {
        assert_eq!(Rule::Fixed(Throughput(131_072_000)).shown(), "125 MiB/s");
        assert_eq!(Rule::Fixed(Throughput(200_000_000)).shown(), "200 MB/s");
        assert_eq!(Rule::Fixed(Throughput(250_000)).shown(), "0.25 MB/s");
        // 0.28 MiB/s = 293,601 B/s
        assert_eq!(Rule::Fixed(Throughput(293_601)).shown(), "0.28 MiB/s");
    }
}
