mod bounded;
mod every_layout;

use std::collections::BTreeSet;

use catalogue::Catalogue;
use model::{Bytes, Duration};
use reading::Role;
use replay::{Access, Demand, DemandSeries, Each, LogDemand};

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
