//! The search beside a look at every layout.

use proptest::prelude::*;
use proptest::test_runner::RngSeed;

use super::*;

/// Number of random demands.
pub(super) const CASES: u32 = 8;

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
}
