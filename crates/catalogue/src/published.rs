//! The vendors' own worked figures, checked against the catalogue.

use model::{Burst, Bytes, Counts, Duration, Iops, LimitSpec, Rate, Throughput};

use super::{Catalogue, Provision, Provisioned};

fn asked(gib: u64) -> Provision {
    Provision {
        size: Some(Bytes::gib(gib)),
        ..Provision::default()
    }
}

fn provision(name: &str, asked: &Provision) -> Provisioned {
    let catalogue = Catalogue::builtin();
    let disk = catalogue.disk(name).expect("it is in the catalogue");
    disk.provision(asked).unwrap_or_else(|e| panic!("{e}"))
}

fn refusal(name: &str, asked: &Provision) -> String {
    let catalogue = Catalogue::builtin();
    let disk = catalogue.disk(name).expect("it is in the catalogue");
    let error = disk
        .provision(asked)
        .expect_err("against the vendor's rules");
    error.to_string()
}

fn iops_of(limits: &[LimitSpec]) -> (u64, Option<Burst>) {
    let found = limits.iter().find_map(|limit| match limit.rate {
        Rate::Iops(iops) => Some((iops.0, limit.burst)),
        Rate::Throughput(_) => None,
    });
    found.expect("a limit on IOPS")
}

fn throughput_of(limits: &[LimitSpec]) -> Throughput {
    let found = limits.iter().find_map(|limit| match limit.rate {
        Rate::Throughput(throughput) => Some(throughput),
        Rate::Iops(_) => None,
    });
    found.expect("a limit on throughput")
}

/// Seconds a full bucket lasts at the full burst rate.
fn burst_seconds(limits: &[LimitSpec]) -> u64 {
    let (sustained, burst) = iops_of(limits);
    let burst = burst.expect("it bursts");
    burst.credits / (burst.rate - sustained)
}

/// <https://docs.aws.amazon.com/ebs/latest/userguide/general-purpose.html>, 2023-05-31.
#[test]
fn gp2_bursts_as_long_as_its_table_says() {
    // credits / (3000 - 3 * GiB): 5.4 M / 2700, / 1500, / 750
    for (gib, seconds) in [(100, 2000), (500, 3600), (750, 7200)] {
        let limits = provision("aws.gp2", &asked(gib)).spec.limits;
        assert_eq!(burst_seconds(&limits), seconds, "{gib} GiB");
    }
    let (iops, burst) = iops_of(&provision("aws.gp2", &asked(1000)).spec.limits);
    assert_eq!((iops, burst), (3000, None));
}

#[test]
fn gp2_follows_its_size_between_100_and_16000_iops() {
    for (gib, iops) in [
        (1, 100),
        (33, 100),
        (34, 102),
        (5333, 15_999),
        (5334, 16_000),
        (16_384, 16_000),
    ] {
        let limits = provision("aws.gp2", &asked(gib)).spec.limits;
        assert_eq!(iops_of(&limits).0, iops, "{gib} GiB");
    }
    let at = |gib| throughput_of(&provision("aws.gp2", &asked(gib)).spec.limits);
    assert_eq!(at(170), Throughput::from_mib_per_s(128));
    assert_eq!(at(334), Throughput::from_mib_per_s(250));
}

#[test]
fn gp2_of_2018_ends_at_10000_iops_and_160_mib_per_s() {
    let limits = provision("aws.gp2.2018", &asked(16_384)).spec.limits;
    assert_eq!(iops_of(&limits).0, 10_000);
    assert_eq!(throughput_of(&limits), Throughput::from_mib_per_s(160));
}

#[test]
fn gp3_has_3000_iops_unasked_and_500_for_each_gib_asked() {
    let unasked = provision("aws.gp3.2020_2024", &asked(1));
    assert_eq!(iops_of(&unasked.spec.limits), (3000, None));
    assert_eq!(
        throughput_of(&unasked.spec.limits),
        Throughput::from_mib_per_s(125)
    );
    let at = |gib, iops| Provision {
        iops: Some(Iops(iops)),
        ..asked(gib)
    };
    assert_eq!(
        iops_of(&provision("aws.gp3.2020_2024", &at(32, 16_000)).spec.limits).0,
        16_000
    );
    assert_eq!(
        refusal("aws.gp3.2020_2024", &at(31, 16_000)),
        "disk `aws.gp3.2020_2024`: iops 16000 asked, allowed at 31 GiB are 3000 to 15500; \
         ask for no more, or for a size of 32 GiB or more"
    );
    assert_eq!(
        refusal("aws.gp3.2020_2024", &at(100, 16_001)),
        "disk `aws.gp3.2020_2024`: iops 16001 asked, allowed at 100 GiB are 3000 to 16000; \
         ask for 3000 to 16000"
    );
    assert!(refusal("aws.gp3", &at(100, 2_999)).contains("3000 to 50000"));
}

#[test]
fn gp3_gives_a_quarter_mib_per_s_for_each_iops() {
    let at = |iops, mib| Provision {
        iops: Some(Iops(iops)),
        throughput: Some(Throughput::from_mib_per_s(mib)),
        ..asked(100)
    };
    let limits = provision("aws.gp3.2020_2024", &at(4000, 1000)).spec.limits;
    assert_eq!(throughput_of(&limits), Throughput::from_mib_per_s(1000));
    let refused = refusal("aws.gp3.2020_2024", &at(3999, 1000));
    assert!(
        refused.ends_with("ask for no more, or for 4000 IOPS or more"),
        "{refused}"
    );
    assert!(refusal("aws.gp3.2020_2024", &at(16_000, 1001)).contains("125 MiB/s to 1000 MiB/s"));
}

#[test]
fn every_price_says_whose_list_it_is_of_and_from_when() {
    let catalogue = Catalogue::builtin();
    let without = catalogue
        .disks()
        .filter(|disk| disk.price.is_some() && disk.price_list().is_none());
    let without: Vec<&str> = without.map(|disk| disk.name.as_str()).collect();
    assert_eq!(without, [""; 0]);
    let gp3 = catalogue.disk("aws.gp3").expect("it is built in");
    assert_eq!(gp3.price_list().as_deref(), Some("AWS us-east-1, 2026"));
}

/// List prices as of 2026: 80,000 IOPS of gp3 cost 385 dollars more than the first 3,000.
#[test]
fn gp3_is_charged_for_what_exceeds_the_free_iops() {
    let plain = provision("aws.gp3", &asked(160)).usd_per_month;
    let fast = Provision {
        iops: Some(Iops(80_000)),
        ..asked(160)
    };
    let fast = provision("aws.gp3", &fast).usd_per_month;
    // 77,000 * 0.005 = 385; 160 GiB * 0.08 = 12.80
    assert_eq!(plain.map(|usd| format!("{usd:.2}")), Some("12.80".into()));
    assert_eq!(fast.map(|usd| format!("{usd:.2}")), Some("397.80".into()));
}

#[test]
fn io1_gives_256_kib_an_iops_to_500_mib_per_s_and_then_16_kib_to_1000() {
    let at = |iops| {
        let asked = Provision {
            iops: Some(Iops(iops)),
            ..asked(2000)
        };
        throughput_of(&provision("aws.io1", &asked).spec.limits)
    };
    assert_eq!(at(1000), Throughput::from_mib_per_s(250));
    assert_eq!(at(32_000), Throughput::from_mib_per_s(500));
    assert_eq!(at(48_000), Throughput::from_mib_per_s(750));
    assert_eq!(at(64_000), Throughput::from_mib_per_s(1000));
}

#[test]
fn io2_has_1000_iops_for_each_gib_and_4000_mib_per_s_from_16000_iops() {
    let at = |gib, iops| Provision {
        iops: Some(Iops(iops)),
        ..asked(gib)
    };
    let limits = provision("aws.io2", &at(256, 256_000)).spec.limits;
    assert_eq!(iops_of(&limits).0, 256_000);
    assert!(refusal("aws.io2", &at(255, 256_000)).contains("a size of 256 GiB or more"));
    let limits = provision("aws.io2", &at(16, 16_000)).spec.limits;
    assert_eq!(throughput_of(&limits), Throughput::from_mib_per_s(4000));
    assert!(refusal("aws.io2", &asked(16)).contains("has to be asked for"));
    // 32,000 * 0.065 + 32,000 * 0.0455 + 16,000 * 0.03185 + 100 * 0.125
    let usd = provision("aws.io2", &at(100, 80_000)).usd_per_month;
    assert_eq!(usd.map(|usd| format!("{usd:.2}")), Some("4058.10".into()));
}

/// <https://docs.aws.amazon.com/ebs/latest/userguide/hdd-vols.html>, 2023-05-31: 1 TiB of credit,
/// filled at 40 MiB/s and burst at 250 MiB/s, for each TiB.
#[test]
fn st1_bursts_in_bytes() {
    let spec = provision("aws.st1", &asked(1024)).spec;
    assert_eq!(throughput_of(&spec.limits), Throughput::from_mib_per_s(40));
    let burst = spec
        .limits
        .iter()
        .find_map(|limit| limit.burst)
        .expect("it bursts");
    assert_eq!(burst.rate, Throughput::from_mib_per_s(250).0);
    assert_eq!(burst.credits, Bytes::gib(1024).0);
    assert_eq!(spec.io_unit.charge_min, Some(Bytes::mib(1)));
}

#[test]
fn premium_v2_has_3000_iops_up_to_6_gib_and_500_for_each_gib_above() {
    let at = |gib, iops| Provision {
        iops: Some(Iops(iops)),
        ..asked(gib)
    };
    assert_eq!(
        iops_of(&provision("azure.premium_v2", &asked(1)).spec.limits).0,
        3000
    );
    assert_eq!(
        iops_of(&provision("azure.premium_v2", &at(8, 4000)).spec.limits).0,
        4000
    );
    assert!(refusal("azure.premium_v2", &at(7, 3501)).contains("3000 to 3500"));
    assert_eq!(
        iops_of(&provision("azure.premium_v2", &at(160, 80_000)).spec.limits).0,
        80_000
    );
    assert!(refusal("azure.premium_v2", &at(1024, 80_001)).contains("3000 to 80000"));
}

/// Azure managed disk types, 2022-06-17: 300 IOPS/GiB up to 160,000, 256 KiB/s for each IOPS.
#[test]
fn ultra_of_2018_has_300_iops_for_each_gib() {
    let at = |gib, iops, throughput| Provision {
        iops: Some(Iops(iops)),
        throughput: Some(throughput),
        ..asked(gib)
    };
    // 1,200 IOPS * 256 KiB/s = 314.5728 MB/s
    let most = Throughput(1200 * 262_144);
    let limits = provision("azure.ultra.2018", &at(4, 1200, most))
        .spec
        .limits;
    assert_eq!(iops_of(&limits), (1200, None));
    assert_eq!(throughput_of(&limits), most);
    assert!(refusal("azure.ultra.2018", &at(4, 1201, most)).contains("8 GiB or more"));
    let more = Throughput(most.0 + 1);
    assert!(refusal("azure.ultra.2018", &at(4, 1200, more)).contains("throughput"));
    assert!(refusal("azure.ultra.2018", &at(600, 1200, most)).contains("512 GiB or 1 TiB"));
    assert!(refusal("azure.ultra.2018", &at(1024, 1023, most)).contains("1024 to 160000"));
}

#[test]
fn ultra_of_2026_has_1000_iops_for_each_gib() {
    let at = |iops| Provision {
        iops: Some(Iops(iops)),
        throughput: Some(Throughput::from_mb_per_s(100)),
        ..asked(4)
    };
    assert_eq!(
        iops_of(&provision("azure.ultra", &at(4000)).spec.limits).0,
        4000
    );
    assert!(refusal("azure.ultra", &at(4001)).contains("5 GiB or more"));
}

#[test]
fn premium_bursts_only_when_asked() {
    let plain = provision("azure.premium.p20", &Provision::default()).spec;
    assert_eq!(iops_of(&plain.limits), (2300, None));
    let bursting = Provision {
        bursting: true,
        ..Provision::default()
    };
    // (3500 - 2300) * 1800 s
    let (_, burst) = iops_of(&provision("azure.premium.p20", &bursting).spec.limits);
    assert_eq!(burst.map(|burst| burst.credits), Some(2_160_000));
    // on-demand bursting has no bucket
    let on_demand = provision("azure.premium.p30", &bursting).spec;
    assert_eq!(iops_of(&on_demand.limits), (30_000, None));
    assert!(refusal("azure.stdhdd.s30", &bursting).contains("does not burst"));
}

#[test]
fn a_fixed_disk_refuses_to_be_provisioned() {
    let asked_iops = Provision {
        iops: Some(Iops(10_000)),
        ..Provision::default()
    };
    assert!(refusal("azure.premium.p30", &asked_iops).contains("leave `iops` out"));
    assert!(refusal("azure.premium.p30", &asked(100)).contains("one size, 1 TiB"));
}

#[test]
fn a_page_blob_counts_a_request_of_any_size_once() {
    let spec = provision("azure.blob_std_2013", &Provision::default()).spec;
    assert_eq!(spec.io_unit.size_max, None);
    assert_eq!(iops_of(&spec.limits).0, 500);
    assert_eq!(throughput_of(&spec.limits), Throughput::from_mb_per_s(60));
}

/// SQL Managed Instance resource limits, 2022-06-02.
#[test]
fn a_managed_instance_file_has_the_limits_of_its_size() {
    for (gib, iops, mib) in [
        (1, 500, 100),
        (128, 500, 100),
        (129, 2300, 150),
        (1024, 5000, 200),
        (8192, 12_500, 250),
    ] {
        let limits = provision("azure.mi_gp_file", &asked(gib)).spec.limits;
        assert_eq!(iops_of(&limits).0, iops, "{gib} GiB");
        assert_eq!(
            throughput_of(&limits),
            Throughput::from_mib_per_s(mib),
            "{gib} GiB"
        );
    }
}

#[test]
fn the_machine_of_the_first_article_is_limited_to_64_mb_per_s_both_ways() {
    let catalogue = Catalogue::builtin();
    let machine = &catalogue.machine("azure.DS2").expect("it is there").spec;
    assert_eq!((machine.cores, machine.memory), (2, Bytes::gib(7)));
    for limit in ["cached", "uncached"] {
        assert_eq!(
            throughput_of(&machine.limits[limit]),
            Throughput::from_mb_per_s(64)
        );
    }
    let local = machine.local_disk.as_ref().expect("a temporary disk");
    assert_eq!(local.machine_limits, ["cached"]);
    let cache = machine.host_cache.as_ref().expect("a host cache");
    assert_eq!(
        (cache.size, cache.limit.as_str()),
        (Bytes::gib(86), "cached")
    );
}

/// EBS-optimized instances, 2023-05-31: r6i.2xlarge, 312.5 MB/s and at most 1,250.
#[test]
fn an_instance_bursts_for_1800_s() {
    let catalogue = Catalogue::builtin();
    let machine = &catalogue
        .machine("aws.r6i.2xlarge")
        .expect("it is there")
        .spec;
    let limits = &machine.limits["ebs"];
    assert_eq!(burst_seconds(limits), 1800);
    assert_eq!(throughput_of(limits), Throughput(312_500_000));
    let sustained = &catalogue
        .machine("aws.r6i.8xlarge")
        .expect("it is there")
        .spec;
    assert!(
        sustained.limits["ebs"]
            .iter()
            .all(|limit| limit.burst.is_none())
    );
}

#[test]
fn a_d_series_machine_has_a_local_disk_that_reads_faster_than_it_writes() {
    let catalogue = Catalogue::builtin();
    let machine = &catalogue.machine("azure.D3").expect("it is there").spec;
    let local = machine.local_disk.as_ref().expect("a temporary disk");
    let by_direction = |counts: Counts| {
        let of = local.limits.iter().find(|limit| limit.counts == counts);
        of.map(|limit| limit.rate)
    };
    let rate = |mb| Some(Rate::Throughput(Throughput::from_mb_per_s(mb)));
    assert_eq!(by_direction(Counts::Reads), rate(187));
    assert_eq!(by_direction(Counts::Writes), rate(93));
    assert!(
        machine.limits.is_empty(),
        "no premium storage, no machine limits"
    );
}

#[test]
fn every_machine_limit_that_a_disk_names_exists_on_some_machine_or_is_known_to_be_missing() {
    // Google Cloud's per-machine limits on hyperdisks, extreme disks and local SSDs are not available to us.
    const MISSING: [&str; 3] = ["hyperdisk", "pd-extreme", "local-ssd"];
    let catalogue = Catalogue::builtin();
    for disk in catalogue.disks() {
        for name in &disk.class.machine_limits {
            let known = catalogue
                .machines()
                .any(|machine| machine.spec.limits.contains_key(name));
            assert!(
                known || MISSING.contains(&name.as_str()),
                "{}: {name}",
                disk.name
            );
        }
    }
}

#[test]
fn limits_have_the_default_depth() {
    let limits = provision("azure.premium.p30", &Provision::default())
        .spec
        .limits;
    assert!(
        limits
            .iter()
            .all(|limit| limit.depth == Duration::from_millis(10))
    );
}
