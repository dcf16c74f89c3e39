use std::collections::BTreeSet;

use catalogue::Catalogue;
use model::{Bytes, Duration};
use proptest::prelude::*;
use proptest::test_runner::RngSeed;
use reading::Role;
use replay::{Access, Demand, DemandSeries, Each, LogDemand};

use super::bounds::{Bound, Bounds};
use super::*;
use crate::need::{Holding, Need, TempOn};
use crate::offer::{Wanted, without_beaten};
use crate::services::Services;
use crate::simulate::SEEDS;
use crate::system::System;
use crate::tariff::Tariff;

fn need(cloud: &str, machines: &str, disks: &[&str]) -> Need {
    let hold = |role, gib| Holding {
        roles: [role].into(),
        size: Bytes::gib(gib),
    };
    Need {
        holdings: vec![
            hold(Role::Data, 200),
            hold(Role::Temp, 40),
            hold(Role::Log, 60),
        ],
        separate: Role::COMMON.into(),
        memory: Bytes::gib(8),
        cores: 0,
        cloud: Some(cloud.to_owned()),
        region: None,
        machine: None,
        today: None,
        machine_pattern: Some(machines.to_owned()),
        arm: false,
        any_generation: false,
        processor: None,
        disks: disks
            .iter()
            .map(|disk| (*disk).to_owned())
            .collect::<BTreeSet<_>>(),
        disks_max: Some(4),
        temp: TempOn::Any,
        services: Services::default(),
        system: System::Linux,
        tariff: Tariff::default(),
    }
}

fn demand(sessions: u32, reads: f64, spills: f64, commits: f64) -> Demand {
    let each = |per_operation, kib| Each {
        per_operation,
        size: Bytes::kib(kib),
    };
    Demand {
        sessions,
        processor: Duration::from_micros(300),
        lock: Duration::ZERO,
        delay: Duration::from_millis(1),
        data: Access {
            reads: each(reads, 8),
            background_writes: each(reads / 4.0, 8),
            ..Access::default()
        },
        temp: Access {
            reads: each(spills, 64),
            writes: each(spills, 64),
            ..Access::default()
        },
        log: LogDemand {
            bytes_per_operation: 2_000.0,
            commits_per_operation: commits,
            is_flushed: true,
            page: Bytes(512),
            in_flight_max: 1,
            locks: 0,
        },
    }
}

/// Many mostly idle sessions: each commit has its own log write.
fn quiet(sessions: u32) -> Demand {
    Demand {
        delay: Duration::from_millis(100),
        ..demand(sessions, 0.5, 0.0, 1.0)
    }
}

fn load(demand: Demand) -> Load {
    Load::of_series(&DemandSeries::steady(demand, 1_000.0))
}

/// The layout in the middle of the list: there are cheaper and dearer ones, slower and faster ones.
fn middle(layouts: &Layouts<'_>) -> Placed {
    let all: Vec<&Layout> = layouts.iter().collect();
    layouts.placed(all[all.len() / 2])
}

/// Number of random demands.
const CASES: u32 = 8;

/// How far simulations of two equivalent layouts may differ, as a share of today's time.
const CHANCE: f64 = 0.03;

/// Results of the search and of an exhaustive evaluation.
struct Both {
    layouts: u64,
    searched: Results,
    /// Price of the cheapest that is slower than asked by chance at most.
    cheapest_at_least: f64,
    /// Price of the cheapest that is as fast as asked, chance or not.
    cheapest_at_most: f64,
    fastest: f64,
}

fn both(catalogue: &Catalogue, need: &Need, load: &Load, slower_max: f64) -> Both {
    let every = Layouts::new(catalogue, need, load, f64::INFINITY, true).expect("there are some");
    let today = middle(&every);
    let limits = Limits {
        slower_max,
        budget: None,
        simulations_max: u64::MAX,
        quick: false,
    };
    let few = Layouts::new(catalogue, need, load, f64::INFINITY, false).expect("there are some");
    let search = Search {
        layouts: &few,
        today: &today,
        today_load: load,
        today_share: 1.0,
        limits,
    };
    let searched = search.run(&mut |_| true).expect("operations take time");

    let today_s = |effort, seed| {
        today
            .simulate(load, effort, seed)
            .expect("it takes time")
            .operation_s
    };
    let short_s = today_s(Effort::Short, 1);
    let long_s: Vec<f64> = (1..=SEEDS)
        .map(|seed| today_s(Effort::Long, seed))
        .collect();
    let mut both = Both {
        layouts: every.iter().count() as u64,
        searched,
        cheapest_at_least: f64::INFINITY,
        cheapest_at_most: f64::INFINITY,
        fastest: f64::INFINITY,
    };
    for layout in every.iter() {
        let placed = every.placed(layout);
        let own_s = |effort, seed| {
            let own = placed.simulate(load, effort, seed);
            own.expect("it takes time").operation_s
        };
        let time = own_s(Effort::Short, 1) / short_s;
        both.fastest = both.fastest.min(time);
        let is_open = both.cheapest_at_most == f64::INFINITY;
        if is_open && time <= (1.0 + slower_max) * (1.0 + TOLD_APART) {
            let pairs = (1..=SEEDS).zip(&long_s);
            let pairs = pairs.map(|(seed, today)| (own_s(Effort::Long, seed), *today));
            let high = Ratio::of(&pairs.collect::<Vec<_>>()).high();
            for (price, most) in [
                (&mut both.cheapest_at_least, 1.0 + slower_max + CHANCE),
                (&mut both.cheapest_at_most, 1.0 + slower_max - CHANCE),
            ] {
                if high <= most {
                    *price = price.min(layout.usd_per_month);
                }
            }
        }
    }
    both
}

/// The search agrees with exhaustive evaluation: the same lowest price, up to chance, and within a tenth of the fastest:
/// [`TOLD_APART`], chance, and that a layout with a slower log may be the faster one, as more commits then share a write.
fn agree(both: &Both) {
    let found = both.searched.cheapest.as_ref();
    let found = found.map_or(f64::INFINITY, |found| found.layout.usd_per_month);
    let cents = |usd: f64| (usd * 100.0).round();
    assert!(
        cents(both.cheapest_at_least) <= cents(found)
            && cents(found) <= cents(both.cheapest_at_most),
        "{} <= {found} <= {}: {:?}",
        both.cheapest_at_least,
        both.cheapest_at_most,
        both.searched.counts
    );
    let fastest = both
        .searched
        .frontier
        .last()
        .expect("there is one")
        .time
        .mean;
    assert!(
        fastest <= both.fastest * 1.1,
        "{fastest} and {}",
        both.fastest
    );
    assert!(both.searched.counts.is_complete);
}

/// Cases: a busy server that may become slower, one that writes much and may not, a quiet one that may be far slower.
fn asked() -> [(f64, Demand); 3] {
    [
        (0.2, demand(16, 4.0, 0.2, 0.5)),
        (0.0, demand(8, 2.0, 1.0, 1.0)),
        (0.5, demand(4, 6.0, 0.0, 0.1)),
    ]
}

fn agree_on(need: &Need) {
    let catalogue = Catalogue::builtin();
    for (slower_max, demand) in asked() {
        let both = both(&catalogue, need, &load(demand), slower_max);
        assert!(both.layouts >= 500, "{}", both.layouts);
        agree(&both);
        let simulated = both.searched.counts.simulated;
        assert!(
            simulated < both.layouts / 2,
            "{simulated} of {}",
            both.layouts
        );
    }
}

#[test]
#[ignore = "long: simulates every layout of a question; others ask the search with fewer disks"]
fn of_azure_the_search_finds_what_looking_at_every_layout_finds() {
    agree_on(&Need {
        machine: Some("azure.E4bds_v5".to_owned()),
        disks_max: Some(4),
        ..need(
            "azure",
            "",
            &["azure.premium.p20", "azure.premium.p30", "azure.premium_v2"],
        )
    });
}

#[test]
fn a_slow_disk_for_the_log_of_many_sessions_is_not_taken_for_a_fast_one() {
    let catalogue = Catalogue::builtin();
    let disks = ["azure.premium.p6", "azure.premium.p10", "azure.premium.p20"];
    let need = Need {
        machine: Some("azure.E4bds_v5".to_owned()),
        disks_max: Some(3),
        ..need("azure", "", &disks)
    };
    let load = load(quiet(48));
    let wanted = Wanted {
        roles: &[Role::Log],
        load: &load,
        need: &need,
    };
    let kept = without_beaten(wanted.offers(&catalogue), &load);
    // 480 commits a second: 240 IOPS are not as much as 500.
    for disk in ["azure.premium.p6", "azure.premium.p10"] {
        let is_kept = kept
            .iter()
            .any(|offer| offer.disk == disk && offer.count == 1);
        assert!(is_kept, "{disk}: {kept:?}");
    }
}

/// Two disks that cost the same: one takes more requests, the other moves more bytes.
const TIED: &str = r#"
[source.test]
title = "Made up for a test"
date = "2026-11-24"

[disk."azure.tied_requests"]
class = "azure-premium"
title = "Many requests"
size = "1 TiB"
iops = 6000
throughput = "60 MB/s"
usd_per_month = 20
confidence = "assumed"
sources = ["test"]

[disk."azure.tied_bytes"]
class = "azure-premium"
title = "Many bytes"
size = "1 TiB"
iops = 1500
throughput = "400 MB/s"
usd_per_month = 20
confidence = "assumed"
sources = ["test"]
"#;

#[test]
fn of_layouts_at_one_price_the_faster_is_advised_and_the_other_is_runner_up() {
    let mut catalogue = Catalogue::builtin();
    catalogue.add(TIED, "tied.toml").expect("it is a catalogue");
    let need = Need {
        machine: Some("azure.E8bds_v5".to_owned()),
        disks_max: Some(1),
        temp: TempOn::Remote,
        ..need("azure", "", &["azure.tied_requests", "azure.tied_bytes"])
    };
    let small = demand(16, 4.0, 0.0, 0.1);
    let large = Demand {
        data: Access {
            reads: Each {
                per_operation: 4.0,
                size: Bytes::kib(256),
            },
            ..Access::default()
        },
        ..small
    };
    for (demand, faster, slower) in [
        (small, "azure.tied_requests", "azure.tied_bytes"),
        (large, "azure.tied_bytes", "azure.tied_requests"),
    ] {
        let load = load(demand);
        let layouts = Layouts::new(&catalogue, &need, &load, f64::INFINITY, false);
        let layouts = layouts.expect("there are some");
        let today = middle(&layouts);
        let search = Search {
            layouts: &layouts,
            today: &today,
            today_load: &load,
            today_share: 1.0,
            limits: Limits {
                slower_max: 8.0,
                budget: None,
                simulations_max: u64::MAX,
                quick: false,
            },
        };
        let advice = search.run(&mut |_| true).expect("operations take time");
        let disk = |found: &Option<Found>| {
            let found = found.as_ref().expect("there is one");
            let volume = &layouts.volumes(&found.layout)[0];
            volume.offer.expect("it is attached").disk.clone()
        };
        assert_eq!(disk(&advice.cheapest), faster);
        assert_eq!(disk(&advice.runner_up), slower);
    }
}

#[test]
fn by_its_bound_alone_the_cheapest_costs_at_most_what_the_search_finds() {
    let catalogue = Catalogue::builtin();
    let need = Need {
        disks_max: Some(2),
        ..need("aws", "r6id.xlarge", &["aws.gp3.2025", "aws.gp2"])
    };
    let load = load(demand(16, 4.0, 0.2, 0.5));
    let layouts = Layouts::new(&catalogue, &need, &load, f64::INFINITY, false);
    let layouts = layouts.expect("there are some");
    let today = middle(&layouts);
    let found = |quick| {
        let search = Search {
            layouts: &layouts,
            today: &today,
            today_load: &load,
            today_share: 1.0,
            limits: Limits {
                slower_max: 0.2,
                budget: None,
                simulations_max: u64::MAX,
                quick,
            },
        };
        search.run(&mut |_| true).expect("operations take time")
    };
    let (whole, quick) = (found(false), found(true));
    let cheapest = whole.cheapest.expect("there is one");
    let least = quick
        .cheapest
        .expect("a bound allows what a simulation does");
    assert!(least.layout.usd_per_month <= cheapest.layout.usd_per_month);
    // 1.2 of today's time, and the chance in that.
    assert!(least.time.mean <= 1.2 * 1.03, "{:?}", least.time);
    assert_eq!((quick.counts.simulated, quick.counts.bounds), (0, 0));
    assert!(whole.counts.simulated > 0);
    // A dearer one is above the budget, and a smaller budget than the least price buys nothing.
    let below = |budget| {
        let limits = Limits {
            slower_max: 0.2,
            budget: Some(budget),
            simulations_max: u64::MAX,
            quick: true,
        };
        let search = Search {
            layouts: &layouts,
            today: &today,
            today_load: &load,
            today_share: 1.0,
            limits,
        };
        search.run(&mut |_| true).expect("operations take time")
    };
    let poor = below(least.layout.usd_per_month - 0.01);
    assert_eq!((poor.cheapest, poor.above_budget), (None, Some(least)));
}

#[test]
fn of_layouts_up_to_a_price_the_search_finds_what_it_finds_of_all_or_says_that_it_needs_more() {
    let catalogue = Catalogue::builtin();
    let need = Need {
        disks_max: Some(2),
        ..need("aws", "r6id", &["aws.gp3.2025", "aws.gp2"])
    };
    let load = load(demand(16, 4.0, 0.2, 0.5));
    let up_to = |usd| {
        let offered = Layouts::offered(&catalogue, &need, &load, false).expect("there are some");
        offered
            .combined(&need, f64::INFINITY, usd)
            .expect("some cost less")
    };
    let all = up_to(f64::INFINITY);
    let today = middle(&all);
    let found = |layouts: &Layouts<'_>, budget| {
        let limits = Limits {
            slower_max: 0.2,
            budget,
            simulations_max: u64::MAX,
            quick: false,
        };
        let search = Search {
            layouts,
            today: &today,
            today_load: &load,
            today_share: 1.0,
            limits,
        };
        search.run(&mut |_| true).expect("operations take time")
    };
    let whole = found(&all, None);
    assert!(!whole.counts.is_cut);
    let usd = |found: &Results| {
        found
            .cheapest
            .as_ref()
            .expect("one is fast")
            .layout
            .usd_per_month
    };
    let (cheapest, least) = (
        usd(&whole),
        all.iter().next().expect("there are some").usd_per_month,
    );
    // As many as the search asks for first.
    let first = up_to(
        Limits {
            slower_max: 0.2,
            budget: None,
            simulations_max: 1,
            quick: false,
        }
        .combined_to(cheapest),
    );
    assert!(first.len() < all.len(), "{} of {}", first.len(), all.len());
    let enough = found(&first, None);
    assert_eq!(
        (enough.counts.is_cut, &enough.frontier),
        (false, &whole.frontier)
    );
    assert_eq!(
        (&enough.cheapest, &enough.runner_up),
        (&whole.cheapest, &whole.runner_up)
    );
    // Too few for what is faster, none that is fast enough, and enough for a budget.
    assert!(found(&up_to(cheapest * 1.1), None).counts.is_cut);
    assert!(found(&up_to(least + 0.01), None).counts.is_cut);
    assert!(
        !found(&up_to(cheapest * 1.5), Some(cheapest * 1.2))
            .counts
            .is_cut
    );
}

#[test]
fn of_processors_of_several_speeds_the_search_finds_what_looking_at_every_layout_finds() {
    let catalogue = Catalogue::builtin();
    let today = catalogue.machine("azure.E4s_v5").expect("it is there");
    // From 0.53 to 1.45 times as fast.
    let need = Need {
        processor: today.processor.clone(),
        disks_max: Some(2),
        ..need(
            "azure",
            "E4s_v",
            &["azure.premium.p20", "azure.premium.p30"],
        )
    };
    // 16 sessions of 4 ms each, on four processors.
    let busy = Demand {
        processor: Duration::from_millis(4),
        ..demand(16, 2.0, 0.2, 0.5)
    };
    let mut found = BTreeSet::new();
    for slower_max in [0.0, 0.5] {
        let both = both(&catalogue, &need, &load(busy.clone()), slower_max);
        agree(&both);
        let cheapest = both.searched.cheapest.expect("there is one");
        found.insert(format!("{:.2}", cheapest.layout.usd_per_month));
    }
    assert_eq!(found.len(), 2, "{found:?}");
}

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

#[test]
#[ignore = "long: simulates every layout of a question; others ask the search with fewer disks"]
fn of_aws_the_search_finds_what_looking_at_every_layout_finds() {
    agree_on(&Need {
        disks_max: Some(2),
        ..need("aws", "r6id.xlarge", &["aws.gp3.2025", "aws.gp2"])
    });
}

#[test]
#[ignore = "long: simulates every layout of a question; others ask the search with fewer disks"]
fn of_google_cloud_the_search_finds_what_looking_at_every_layout_finds() {
    agree_on(&Need {
        machine: Some("gcp.n2-standard-4".to_owned()),
        disks_max: Some(3),
        ..need("gcp", "", &["gcp.pd_ssd"])
    });
}

proptest! {
    #![proptest_config(ProptestConfig {
        // Fixed seed: borderline cases depend on chance.
        rng_seed: RngSeed::Fixed(1),
        failure_persistence: None,
        ..ProptestConfig::with_cases(CASES)
    })]

    #[test]
    fn whatever_is_asked_the_search_finds_what_looking_at_every_layout_finds(
        sessions in 1..32_u32,
        reads in 0.1..6.0,
        spills in 0.0..1.0,
        commits in 0.0..1.0,
        slower_max in 0.0..0.5,
        cloud in 0..2_usize,
    ) {
        let catalogue = Catalogue::builtin();
        let need = match cloud {
            0 => Need {
                disks_max: Some(3),
                ..need("azure", "E2bds_v5", &["azure.premium.p20", "azure.premium.p30"])
            },
            _ => Need { disks_max: Some(2), ..need("aws", "r6i.large", &["aws.gp2"]) },
        };
        agree(&both(&catalogue, &need, &load(demand(sessions, reads, spills, commits)), slower_max));
    }

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
