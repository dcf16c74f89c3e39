//! Bounds of layouts beside their simulations.

use proptest::prelude::*;
use proptest::test_runner::RngSeed;

use super::every_layout::CASES;
use super::*;
use crate::search::bounds::{Bound, Bounds};

/// Layouts of one small machine, on which the limits of machine and disks, processors and locks can all decide.
fn of_small_machine(load: &Load) -> Layouts<'_> {
    let need = Need {
        memory: Bytes::ZERO,
        disks_max: Some(3),
        ..need("aws", "m7a.medium", &["aws.gp3.2025", "aws.io1"])
    };
    let layouts = Layouts::new(&Catalogue::builtin(), &need, load, f64::INFINITY, false);
    layouts.expect("there are some")
}

/// Whether its bounds show that an operation takes longer than `most_s` on a layout.
fn is_ruled_out(layouts: &Layouts<'_>, layout: &Layout, most_s: f64) -> bool {
    let mut bounds = Bounds::default();
    let may_matter = |bound_s: f64| bound_s <= most_s;
    let bound = bounds.of(layouts, layout, &may_matter, &mut |_| true);
    bound.expect("operations take time") == Bound::TooSlow
}

/// The time of an operation on a layout.
fn time_s(layouts: &Layouts<'_>, layout: &Layout) -> f64 {
    let own_s = layouts.placed(layout).operation_s(layouts.load());
    own_s.expect("it takes time")
}

#[test]
fn bounds_have_the_waits_for_locks_and_processors() {
    let lock = Demand {
        lock: Duration::from_micros(400),
        processor: Duration::from_micros(50),
        ..demand(12, 1.0, 0.0, 0.0)
    };
    let processor = Demand {
        processor: Duration::from_micros(600),
        ..demand(12, 1.0, 0.0, 0.0)
    };
    for demand in [lock, processor] {
        let load = load(Demand {
            delay: Duration::from_millis(6),
            ..demand
        });
        let layouts = of_small_machine(&load);
        let dearest = layouts.iter().last().expect("there are some");
        let own_s = time_s(&layouts, dearest);
        // The analytic bound has no queue below saturation.
        assert!(
            dearest.least_s < 0.9 * own_s,
            "{} of {own_s}",
            dearest.least_s
        );
        assert!(is_ruled_out(&layouts, dearest, 0.93 * own_s), "{own_s}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig {
        // Fixed seed: borderline cases depend on chance.
        rng_seed: RngSeed::Fixed(1),
        failure_persistence: None,
        ..ProptestConfig::with_cases(CASES)
    })]

    #[test]
    fn no_layout_is_faster_than_its_bounds(
        sessions in 1..24_u32,
        reads in 0.1..6.0,
        spills in 0.0..1.0,
        commits in 0.0..1.0,
        processor_us in 50..2_000_u64,
        lock_us in prop_oneof![Just(0), 1..400_u64],
        from in 0..40_usize,
    ) {
        let load = load(Demand {
            processor: Duration::from_micros(processor_us),
            lock: Duration::from_micros(lock_us),
            ..demand(sessions, reads, spills, commits)
        });
        let layouts = of_small_machine(&load);
        for layout in layouts.iter().skip(from).step_by(40).take(12) {
            let own_s = time_s(&layouts, layout);
            // Two short simulations of one part each.
            prop_assert!(!is_ruled_out(&layouts, layout, own_s * 1.15), "{own_s}: {layout:?}");
        }
    }
}
