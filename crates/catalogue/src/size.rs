//! Which sizes a disk comes in.

use model::Bytes;
use serde::{Serialize, Serializer};

use super::wire::SizeWire;

/// One size, or a choice.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SizeRule {
    /// This size only.
    Fixed(Bytes),
    /// Any size between bounds, in steps.
    Choice {
        /// The smallest.
        least: Bytes,
        /// The largest.
        most: Bytes,
        /// The default; without one, a size must be requested.
        default: Option<Bytes>,
        /// Above the listed sizes, only multiples of this.
        step: Option<Bytes>,
        /// Up to the largest of these, only these.
        sizes: Vec<Bytes>,
    },
}

/// As text, as in tables.
impl Serialize for SizeRule {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(&self.steps_shown())
    }
}

impl SizeRule {
    /// The size that results from the request.
    ///
    /// # Errors
    /// What is wrong with it, and the remedy.
    pub(super) fn choose(&self, asked: Option<Bytes>) -> Result<Bytes, (String, String)> {
        match self {
            SizeRule::Fixed(size) => match asked {
                Some(asked) if asked != *size => Err((
                    format!("size {asked} asked, but it comes in one size, {size}"),
                    "leave `size` out, or choose another disk".into(),
                )),
                Some(_) | None => Ok(*size),
            },
            SizeRule::Choice { default, .. } => match asked.or(*default) {
                Some(size) => self.check(size).map(|()| size),
                None => Err((
                    "it comes in any size, and none was asked".into(),
                    format!("add `size`, {}", self.shown()),
                )),
            },
        }
    }

    /// The smallest available size of at least `size`; `None` if none is large enough.
    pub fn at_least(&self, size: Bytes) -> Option<Bytes> {
        let least = match self {
            SizeRule::Fixed(only) => *only,
            SizeRule::Choice { least, .. } => *least,
        };
        self.neighbours(size.max(least)).1
    }

    /// Short text, for tables and messages.
    pub fn shown(&self) -> String {
        match self {
            SizeRule::Fixed(size) => size.to_string(),
            SizeRule::Choice { least, most, .. } => format!("{least} to {most}"),
        }
    }

    /// The available sizes next to `size`: the largest below and the smallest above.
    fn neighbours(&self, size: Bytes) -> (Option<Bytes>, Option<Bytes>) {
        match self {
            SizeRule::Fixed(only) => (
                Some(*only).filter(|only| *only <= size),
                Some(*only).filter(|only| *only >= size),
            ),
            SizeRule::Choice {
                least,
                most,
                step,
                sizes,
                ..
            } => {
                let listed_most = sizes.last().copied().unwrap_or(Bytes::ZERO);
                let step = step.map_or(1, |step| step.0);
                let stepped_down = Bytes(size.0 / step * step);
                let stepped_up = Bytes(size.0.div_ceil(step).saturating_mul(step));
                let listed_down = sizes.iter().rev().find(|listed| **listed <= size).copied();
                let listed_up = sizes.iter().find(|listed| **listed >= size).copied();
                let down = Some(stepped_down).filter(|down| *down > listed_most);
                let up = Some(stepped_up).filter(|up| *up > listed_most);
                let within = |size: &Bytes| *least <= *size && *size <= *most;
                (
                    down.or(listed_down).filter(within),
                    listed_up.or(up).filter(within),
                )
            }
        }
    }

    /// The smallest size from `from` on that satisfies `enough`, which must be monotonic.
    pub(super) fn smallest(&self, from: Bytes, enough: impl Fn(Bytes) -> bool) -> Option<Bytes> {
        let SizeRule::Choice { most, .. } = self else {
            return None;
        };
        let (mut low, mut high) = (from.0, most.0);
        if !enough(*most) {
            return None;
        }
        while low < high {
            let middle = low + (high - low) / 2;
            if enough(Bytes(middle)) {
                high = middle;
            } else {
                low = middle + 1;
            }
        }
        self.neighbours(Bytes(low)).1
    }

    fn check(&self, size: Bytes) -> Result<(), (String, String)> {
        let (below, above) = self.neighbours(size);
        if below == Some(size) {
            return Ok(());
        }
        let near: Vec<String> = [below, above]
            .iter()
            .flatten()
            .map(Bytes::to_string)
            .collect();
        let remedy = if near.is_empty() {
            format!("ask for {}", self.shown())
        } else {
            format!("ask for {}", near.join(" or "))
        };
        Err((
            format!("size {size} asked, but it comes in {}", self.steps_shown()),
            remedy,
        ))
    }

    /// Short text, including the available steps.
    pub fn steps_shown(&self) -> String {
        match self {
            SizeRule::Fixed(_) | SizeRule::Choice { step: None, .. } => self.shown(),
            SizeRule::Choice {
                step: Some(step),
                sizes,
                ..
            } => match sizes.last() {
                Some(listed) => format!(
                    "{}, in listed sizes up to {listed} and then steps of {step}",
                    self.shown()
                ),
                None => format!("{}, in steps of {step}", self.shown()),
            },
        }
    }

    pub(super) fn read(wire: &SizeWire) -> Result<SizeRule, String> {
        let table = match wire {
            SizeWire::Fixed(Bytes::ZERO) => return Err("a disk of size zero holds nothing".into()),
            SizeWire::Fixed(size) => return Ok(SizeRule::Fixed(*size)),
            SizeWire::Choice(table) => table,
        };
        if table.least == Bytes::ZERO || table.least > table.most {
            return Err("in `size`, `least` has to be above zero and no more than `most`".into());
        }
        if table.step == Some(Bytes::ZERO) || !table.sizes.is_sorted() {
            return Err("in `size`, `step` has to be above zero, and `sizes` have to rise".into());
        }
        let rule = SizeRule::Choice {
            least: table.least,
            most: table.most,
            default: table.default,
            step: table.step,
            sizes: table.sizes.clone(),
        };
        match table.default.map(|size| rule.check(size)) {
            Some(Err((problem, _))) => Err(format!("the default {problem}")),
            Some(Ok(())) | None => Ok(rule),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn doubling_then_steps() -> SizeRule {
        SizeRule::Choice {
            least: Bytes::gib(4),
            most: Bytes::gib(64 * 1024),
            default: None,
            step: Some(Bytes::gib(1024)),
            sizes: [4, 8, 16, 32, 64, 128, 256, 512].map(Bytes::gib).to_vec(),
        }
    }

    #[test]
    fn listed_sizes_and_steps_beyond_them_are_allowed_and_nothing_else() {
        let rule = doubling_then_steps();
        for gib in [4, 512, 1024, 2048, 65_536] {
            assert_eq!(rule.choose(Some(Bytes::gib(gib))), Ok(Bytes::gib(gib)));
        }
        for gib in [0, 3, 5, 513, 1500, 65_537, 66_560] {
            assert!(rule.choose(Some(Bytes::gib(gib))).is_err(), "{gib} GiB");
        }
    }

    #[test]
    fn a_refused_size_names_its_neighbours() {
        let rule = doubling_then_steps();
        let (_, remedy) = rule
            .choose(Some(Bytes::gib(600)))
            .expect_err("no such size");
        assert_eq!(remedy, "ask for 512 GiB or 1 TiB");
    }

    #[test]
    fn the_smallest_sufficient_size_is_one_that_exists() {
        let rule = doubling_then_steps();
        let enough = |size: Bytes| size.0 * 300 >= Bytes::gib(1).0 * 300 * 600;
        assert_eq!(rule.smallest(Bytes::gib(4), enough), Some(Bytes::gib(1024)));
    }
}
