//! Figures that are counted in two ways, and contradict one another.

use crate::twice::{Range, Twice, shown};

/// Factor by which counters of the same events may differ: rounding by Windows is less. Our choice.
const CONTRADICTION: f64 = 1.1;

/// A figure of all rows that have it by both ways: as used, and as another counter has it.
pub(super) fn twice(
    rows: usize,
    used: impl Fn(usize) -> Option<f64>,
    other: impl Fn(usize) -> Option<f64>,
) -> Twice {
    let of = |row| {
        Some(Twice::of(
            Range::exact(used(row)?),
            Range::exact(other(row)?),
        ))
    };
    (0..rows).filter_map(of).fold(Twice::default(), Twice::and)
}

/// The means of both, if they contradict one another.
pub(super) fn contradiction(twice: Twice) -> Option<[String; 2]> {
    let differs = twice.differs(CONTRADICTION, 0.0);
    differs.then(|| twice.means().map(shown))
}

/// The means of both, if what is used is more than the other.
pub(super) fn excess(twice: Twice) -> Option<[String; 2]> {
    let exceeds = twice.exceeds(CONTRADICTION, 0.0);
    exceeds.then(|| twice.means().map(shown))
}
