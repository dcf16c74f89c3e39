use catalogue::Catalogue;
use model::{Bytes, Duration};
use reading::Role;
use replay::{Access, Demand, DemandSeries, Each, LogDemand};

use super::*;
use crate::load::Load;
use crate::need::{Holding, Need, TempOn};
use crate::search::Limits;
use crate::services::Services;
use crate::simulate::Placed;
use crate::system::System;
use crate::tariff::Tariff;

fn need(cloud: &str, machines: &str, disks: &[&str]) -> Need {
    Need {
        holdings: vec![Holding {
            roles: Role::COMMON.into(),
            size: Bytes::gib(50),
        }],
        separate: [Role::Data].into(),
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
        disks: disks.iter().map(|disk| (*disk).to_owned()).collect(),
        disks_max: None,
        temp: TempOn::Remote,
        services: Services::default(),
        system: System::Linux,
        tariff: Tariff::default(),
    }
}

/// 32 sessions that read, and think for as long as `delay`.
fn reads(delay: Duration) -> Load {
    let demand = Demand {
        sessions: 32,
        processor: Duration::from_micros(100),
        lock: Duration::ZERO,
        delay,
        data: Access {
            reads: Each {
                per_operation: 4.0,
                size: Bytes::kib(8),
            },
            ..Access::default()
        },
        temp: Access::default(),
        log: LogDemand::default(),
    };
    Load::of_series(&DemandSeries::steady(demand, 1_000.0))
}

/// Results before and after simpler layouts are preferred, each as machine, number of disks, and price. Operations take at most
/// `slower_max` longer than on the dearest layout.
fn both(
    catalogue: &Catalogue,
    need: &Need,
    load: &Load,
    slower_max: f64,
) -> [(String, u32, f64); 2] {
    let layouts = Layouts::new(catalogue, need, load, f64::INFINITY, false);
    let layouts = layouts.expect("there are some");
    let today: Placed = layouts.placed(layouts.iter().last().expect("there are some"));
    let search = Search {
        layouts: &layouts,
        today: &today,
        today_load: load,
        today_share: 1.0,
        limits: Limits {
            slower_max,
            budget: None,
            simulations_max: u64::MAX,
            quick: false,
        },
    };
    let found = search.run(&mut |_| true).expect("operations take time");
    let after = settled(&search, need.today.as_deref(), found.clone());
    let after = after.expect("operations take time");
    // What is not advised for being less simple is not lost.
    let layout = |found: &Option<Found>| found.as_ref().map(|found| found.layout);
    let is_replaced = layout(&after.cheapest) != layout(&found.cheapest);
    let expected = layout(&found.cheapest).filter(|_| is_replaced);
    assert_eq!(layout(&after.very_cheapest), expected);
    [found, after].map(|results| {
        let layout = results.cheapest.expect("there is one").layout;
        let volumes = layouts.volumes(&layout);
        let disks = volumes.iter().filter_map(|volume| volume.offer);
        (
            layouts.machine(&layout).0.to_owned(),
            disks.map(|offer| offer.count).sum(),
            layout.usd_per_month,
        )
    })
}

/// One disk that does what four small ones do together, for a dollar more.
const ONE_FOR_FOUR: &str = r#"
[source.test]
title = "Made up for a test"
date = "2026-11-24"

[disk."azure.small"]
class = "azure-premium"
title = "A quarter"
size = "1 TiB"
iops = 1500
throughput = "100 MB/s"
usd_per_month = 5
confidence = "assumed"
sources = ["test"]

[disk."azure.large"]
class = "azure-premium"
title = "All of it"
size = "4 TiB"
iops = 6000
throughput = "400 MB/s"
usd_per_month = 21
confidence = "assumed"
sources = ["test"]
"#;

#[test]
fn of_layouts_that_cost_about_the_same_the_one_of_fewer_disks_is_advised() {
    let mut catalogue = Catalogue::builtin();
    catalogue
        .add(ONE_FOR_FOUR, "one.toml")
        .expect("it is a catalogue");
    let need = Need {
        machine: Some("azure.E8bds_v5".to_owned()),
        ..need("azure", "", &["azure.small", "azure.large"])
    };
    // Four reads of 2.8 ms after 14.3 ms: 5,000 a second. 6,000 take them as they come, and three small disks' 4,500 1.25 times as
    // long.
    let load = reads(Duration::from_micros(14_300));

    let [(_, disks_before, usd_before), (_, disks, usd)] = both(&catalogue, &need, &load, 0.1);

    assert_eq!((disks_before, disks), (4, 1));
    assert!(
        usd > usd_before && usd <= usd_before * (1.0 + SAME_PRICE),
        "{usd}"
    );
}

/// Two disks of which one takes four times as many requests, for two dollars more.
const ONE_WITH_ROOM: &str = r#"
[source.test]
title = "Made up for a test"
date = "2026-11-27"

[disk."azure.tight"]
class = "azure-premium"
title = "As few as it gets"
size = "1 TiB"
iops = 2000
throughput = "400 MB/s"
usd_per_month = 20
confidence = "assumed"
sources = ["test"]

[disk."azure.roomy"]
class = "azure-premium"
title = "Four times as many"
size = "1 TiB"
iops = 8000
throughput = "400 MB/s"
usd_per_month = 22
confidence = "assumed"
sources = ["test"]
"#;

#[test]
fn a_layout_with_room_is_advised_in_place_of_one_that_is_full_for_about_the_same() {
    let mut catalogue = Catalogue::builtin();
    catalogue
        .add(ONE_WITH_ROOM, "room.toml")
        .expect("it is a catalogue");
    let need = Need {
        machine: Some("azure.E8bds_v5".to_owned()),
        disks_max: Some(1),
        ..need("azure", "", &["azure.tight", "azure.roomy"])
    };
    // Four reads of 2.8 ms after 44.7 ms: 32 sessions could read 2,287 a second. At 2,000, operations take 19.3 ms in place of 11.3.
    let load = reads(Duration::from_micros(44_700));

    let [(_, _, usd_before), (_, _, usd)] = both(&catalogue, &need, &load, 0.8);

    assert_eq!(format!("{:.2}", usd - usd_before), "2.00");
}

#[test]
fn an_earlier_generation_of_a_machine_is_never_advised_at_the_price_of_a_later_one() {
    let catalogue = Catalogue::builtin();
    // 0.096 dollars an hour each.
    let need = Need {
        disks_max: Some(1),
        ..need("aws", ".large", &["aws.gp3.2025"])
    };
    let load = reads(Duration::from_millis(50));

    let [_, (machine, disks, _)] = both(&catalogue, &need, &load, 8.0);

    assert_ne!(machine, "aws.m5.large");
    assert_eq!(disks, 1);
}

/// A catalogue with two generations of a series: the later one does no more, and costs so many dollars an hour in place of 0.2.
fn generations(later_usd: f64) -> Catalogue {
    let machine = |name: &str, family: &str, usd: f64| {
        format!(
            "[machine.\"azure.{name}\"]\ntitle = \"{name}\"\nfamily = \"{family}\"\ncores = 4\nmemory = \"32 GiB\"\n\
             disks_max = 8\nlimits = {{ uncached = {{ iops = 6000, throughput = \"200 MB/s\" }} }}\n\
             price = {{ linux = {usd} }}\nconfidence = \"assumed\"\nsources = [\"made-up\"]\n"
        )
    };
    let mut catalogue = Catalogue::builtin();
    let text = format!(
        "[source.made-up]\ntitle = \"Made up for a test\"\ndate = \"2026-11-27\"\n{}{}",
        machine("made-up-early", "Qv4", 0.2),
        machine("made-up-late", "Qv5", later_usd)
    );
    catalogue
        .add(&text, "made-up.toml")
        .expect("it is a catalogue");
    catalogue
}

#[test]
fn an_earlier_generation_is_advised_where_it_saves_a_tenth_or_where_it_is_asked_for() {
    let advised = |later_usd: f64, any_generation: bool| {
        let need = Need {
            disks_max: Some(1),
            any_generation,
            ..need("azure", "made-up", &["azure.premium.p10"])
        };
        let load = reads(Duration::from_millis(50));
        let [_, (machine, _, _)] = both(&generations(later_usd), &need, &load, 8.0);
        machine
    };
    // 0.2 * 730 + 19.71 = 165.71 dollars a month, and 0.215 * 730 + 19.71 = 176.66: 6.2 % more.
    assert_eq!(advised(0.215, false), "azure.made-up-late");
    assert_eq!(advised(0.215, true), "azure.made-up-early");
    // 0.24 * 730 + 19.71 = 194.91: the earlier one saves 15 %.
    assert_eq!(advised(0.24, false), "azure.made-up-early");
}

#[test]
fn layouts_on_an_earlier_generation_that_save_less_than_a_tenth_are_left_out_before_the_search() {
    // The most disks that layouts on the earlier generation have; none where there are no such layouts.
    let most_disks = |later_usd: f64, need: &Need| {
        let catalogue = generations(later_usd);
        let load = reads(Duration::from_millis(50));
        let layouts = Layouts::new(&catalogue, need, &load, f64::INFINITY, true);
        let layouts = layouts.expect("there are some");
        let early = layouts
            .iter()
            .filter(|layout| layouts.machine(layout).0 == "azure.made-up-early");
        let disks = |layout: &Layout| -> u32 {
            let volumes = layouts.volumes(layout);
            let offers = volumes.iter().filter_map(|volume| volume.offer);
            offers.map(|offer| offer.count).sum()
        };
        early.map(disks).max()
    };
    let one_volume = Need {
        separate: [Role::Data].into(),
        ..need("azure", "made-up", &["azure.premium.p10"])
    };
    assert_eq!(most_disks(0.215, &one_volume), None);
    // 146 and 175.20 dollars: with volumes of 116.80 it is 262.80 and 292, a tenth less; a disk is 19.71, and eight are 157.68.
    assert_eq!(most_disks(0.24, &one_volume), Some(4));
    let any = Need {
        any_generation: true,
        ..one_volume.clone()
    };
    assert_eq!(most_disks(0.215, &any), Some(8));
    // Today's machine stays, with what there is today and with more.
    let today = Need {
        today: Some("azure.made-up-early".to_owned()),
        ..one_volume
    };
    assert_eq!(most_disks(0.215, &today), Some(8));
}

#[test]
fn where_only_earlier_generations_than_todays_are_allowed_the_message_says_how_to_allow_them() {
    let need = Need {
        today: Some("azure.made-up-late".to_owned()),
        ..need("azure", "made-up-early", &["azure.premium.p10"])
    };
    let catalogue = generations(0.215);
    let load = reads(Duration::from_millis(50));

    let refused = Layouts::new(&catalogue, &need, &load, f64::INFINITY, false);

    let refused = refused.err().expect("it is refused").to_string();
    assert!(refused.contains("--any-generation"), "{refused}");
}

#[test]
fn of_machines_that_cost_about_the_same_todays_is_advised() {
    let catalogue = Catalogue::builtin();
    let need = |today: Option<&str>| Need {
        disks_max: Some(1),
        today: today.map(str::to_owned),
        ..need("aws", "i.large", &["aws.gp3.2025"])
    };
    let load = reads(Duration::from_millis(50));
    let [_, (other, _, usd)] = both(&catalogue, &need(None), &load, 8.0);

    // m6i.large costs a twentieth less than m7i.large, which is of a later generation.
    let today = "aws.m6i.large";
    let [_, (machine, _, with_today)] = both(&catalogue, &need(Some(today)), &load, 8.0);

    assert_eq!(machine, today, "and not {other}");
    assert!(with_today <= usd * (1.0 + SAME_PRICE), "{with_today} {usd}");
}
