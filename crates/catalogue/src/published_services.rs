//! Figures of managed services that vendors publish, checked against the catalogue: classes drawn at random, and every rule of
//! storage. Gathered on 2026-11-26; the entries name the sources.

use model::{Bytes, Iops, LimitSpec, Rate, Throughput};

use super::{Catalogue, Provision, Provisioned};

fn limits_of(limits: &[LimitSpec], is_iops: bool) -> Option<[u64; 2]> {
    let found = limits.iter().find_map(|limit| match limit.rate {
        Rate::Iops(iops) => is_iops.then_some((iops.0, limit.burst)),
        Rate::Throughput(rate) => (!is_iops).then_some((rate.0, limit.burst)),
    });
    found.map(|(rate, burst)| [rate, burst.map_or(rate, |burst| burst.rate)])
}

fn bytes_per_s(text: &str) -> u64 {
    let rate: Throughput = text.parse().expect("a throughput");
    rate.0
}

/// Of the 254 classes that have limits, 30 drawn with the seed 47: class, processors, IOPS and throughput (what lasts, what 30 minutes
/// a day have), dollars an hour.
const DRAWN: &str = "\
aws.rds.postgresql.db.m6i.large, 2, 3600, 40000, 81.25 MB/s, 1250 MB/s, 0.178
aws.rds.postgresql.db.m6i.2xlarge, 8, 12000, 40000, 312.5 MB/s, 1250 MB/s, 0.712
aws.rds.postgresql.db.m6i.16xlarge, 64, 80000, 80000, 2500 MB/s, 2500 MB/s, 5.696
aws.rds.postgresql.db.m7i.xlarge, 4, 6000, 40000, 156.25 MB/s, 1250 MB/s, 0.356
aws.rds.postgresql.db.m7i.24xlarge, 96, 120000, 120000, 3750 MB/s, 3750 MB/s, 8.544
aws.rds.postgresql.db.r6i.32xlarge, 128, 160000, 160000, 5000 MB/s, 5000 MB/s, 16.0
aws.rds.postgresql.db.m7g.8xlarge, 32, 40000, 40000, 1250 MB/s, 1250 MB/s, -
aws.rds.postgresql.db.m6gd.8xlarge, 32, 40000, 40000, 1187.5 MB/s, 1187.5 MB/s, 2.987
aws.rds.postgresql.db.m6gd.16xlarge, 64, 80000, 80000, 2375 MB/s, 2375 MB/s, 5.973
aws.rds.postgresql.db.r6idn.32xlarge, 128, 400000, 400000, 12500 MB/s, 12500 MB/s, 24.81
aws.rds.postgresql.db.t4g.2xlarge, 8, 4000, 15700, 86.875 MB/s, 347.5 MB/s, -
aws.rds.postgresql.db.t3.2xlarge, 8, 4000, 15700, 86.875 MB/s, 347.5 MB/s, 0.579
azure.postgresql.B12ms, 12, 4320, 4320, 50 MiB/s, 50 MiB/s, -
azure.postgresql.B20ms, 20, 4320, 4320, 50 MiB/s, 50 MiB/s, -
azure.postgresql.D4s_v3, 4, 6400, 6400, 96 MiB/s, 96 MiB/s, 0.39
azure.postgresql.D4ds_v5, 4, 6400, 6400, 145 MiB/s, 145 MiB/s, 0.406
azure.postgresql.D4ads_v5, 4, 6400, 6400, 145 MiB/s, 145 MiB/s, 0.406
azure.postgresql.D8ads_v5, 8, 12800, 12800, 290 MiB/s, 290 MiB/s, 0.812
azure.postgresql.D16ads_v6, 16, 30400, 30400, 720 MiB/s, 720 MiB/s, -
azure.postgresql.D48s_v3, 48, 76800, 76800, 1152 MiB/s, 1152 MiB/s, 4.68
azure.postgresql.D64ds_v5, 64, 80000, 80000, 1200 MiB/s, 1200 MiB/s, 6.496
azure.postgresql.D64ads_v6, 64, 80000, 80000, 1200 MiB/s, 1200 MiB/s, -
azure.postgresql.D96ads_v6, 96, 80000, 80000, 1200 MiB/s, 1200 MiB/s, -
azure.postgresql.D96ds_v6, 96, 80000, 80000, 1200 MiB/s, 1200 MiB/s, -
azure.postgresql.E4ds_v5, 4, 6400, 6400, 145 MiB/s, 145 MiB/s, -
azure.postgresql.E16ds_v4, 16, 25600, 25600, 384 MiB/s, 384 MiB/s, -
azure.postgresql.E48ds_v4, 48, 76800, 76800, 1152 MiB/s, 1152 MiB/s, -
azure.sql_mi_nextgen.vcores_4, 4, 6400, 6400, 145 MB/s, 145 MB/s, 1.0698
azure.sql_mi_nextgen.vcores_6, 6, 9600, 9600, 217 MB/s, 217 MB/s, -
azure.sql_mi_nextgen.vcores_20, 20, 32000, 32000, 665 MB/s, 665 MB/s, -
";

#[test]
fn thirty_classes_have_the_limits_and_prices_that_are_published() {
    let catalogue = Catalogue::builtin();
    assert_eq!(rows(DRAWN).count(), 30);
    for row in rows(DRAWN) {
        let name = row[0].expect("a class");
        let class = catalogue.machine(name).expect(name);
        assert_eq!(Some(class.spec.cores), number(row[1]), "{name}");
        let limit = class.spec.limits.iter().find(|(limit, _)| *limit != "log");
        let (_, limits) = limit.expect(name);
        let iops = [row[2], row[3]].map(|cell| number(cell).expect("IOPS"));
        assert_eq!(limits_of(limits, true), Some(iops), "{name}");
        let rates = [row[4], row[5]].map(|cell| bytes_per_s(cell.expect("a rate")));
        assert_eq!(limits_of(limits, false), Some(rates), "{name}");
        let known = class.price.and_then(|price| price.linux);
        assert_eq!(known, number(row[6]), "{name}");
    }
}

#[test]
fn caps_of_logs_follow_the_vcores_up_to_the_tier_s_own() {
    let catalogue = Catalogue::builtin();
    // Thousandths of MiB/s (MB/s in SQL Database) a vCore, and the most.
    let tiers = [
        ("azure-sql-mi-gp", "standard-series", 4500, 120, 1 << 20),
        ("azure-sql-mi-gp", "premium-series", 4500, 120, 1 << 20),
        (
            "azure-sql-mi-nextgen",
            "standard-series",
            4500,
            192,
            1 << 20,
        ),
        ("azure-sql-mi-bc", "standard-series", 4500, 96, 1 << 20),
        ("azure-sql-mi-bc", "premium-series", 12_000, 192, 1 << 20),
        ("azure-sql-db-gp", "gen5", 4500, 50, 1_000_000),
        ("azure-sql-db-bc", "gen5", 12_000, 96, 1_000_000),
    ];
    for (name, family, each, most, unit) in tiers {
        let service = catalogue.find_services(name).expect(name)[0];
        let classes = service.classes.values();
        let classes: Vec<_> = classes.filter(|class| class.family == family).collect();
        assert!(!classes.is_empty(), "{name} {family}");
        for class in classes {
            let log = limits_of(&class.spec.limits["log"], false).expect("a cap")[0];
            let by_cores = u64::from(class.spec.cores) * each * unit / 1000;
            assert_eq!(log, by_cores.min(most * unit), "{}", class.name);
        }
    }
    // 4000 IOPS a vCore to 320,000; 320 to 12,800, and 16,000 at 128.
    for (class, iops) in [
        ("azure.sql_mi_bc.vcores_4", 16_000),
        ("azure.sql_mi_bc.vcores_128", 320_000),
        ("azure.sql_db_bc.gen5_10", 40_000),
        ("azure.sql_db_gp.gen5_2", 640),
        ("azure.sql_db_gp.gen5_80", 12_800),
        ("azure.sql_db_gp.gen5_128", 16_000),
    ] {
        let limits = &catalogue.machine(class).expect(class).spec.limits["data"];
        assert_eq!(limits_of(limits, true), Some([iops; 2]), "{class}");
    }
}

fn provision(disk: &str, gib: u64, iops: Option<u64>) -> Result<Provisioned, String> {
    let catalogue = Catalogue::builtin();
    let asked = Provision {
        size: Some(Bytes::gib(gib)),
        iops: iops.map(Iops),
        ..Provision::default()
    };
    let entry = catalogue.disk(disk).expect(disk);
    entry.provision(&asked).map_err(|error| error.to_string())
}

/// Each rule at its ends: a disk, its GiB, the IOPS asked for; its IOPS that last and of bursts, and its throughput.
const VOLUMES: &str = "\
# 3 per GiB, at least 100, bursts to 3000; 128 to 250 MiB/s.
aws.rds.gp2, 5, -, 100, 3000, 128 MiB/s
aws.rds.gp2, 399, -, 1197, 3000, 250 MiB/s
# Four volumes: bursts to 12,000, 512 to 1000 MiB/s.
aws.rds.gp2, 400, -, 1200, 12000, 512 MiB/s
aws.rds.gp2, 1336, -, 4008, 12000, 1000 MiB/s
aws.rds.gp2, 3999, -, 11997, 12000, 1000 MiB/s
aws.rds.gp2, 4000, -, 12000, 12000, 1000 MiB/s
aws.rds.gp2, 65536, -, 64000, 64000, 1000 MiB/s
# 3000 and 125 that cannot be raised; from 400 GiB 12,000 and 500, to 64,000.
aws.rds.gp3, 20, -, 3000, 3000, 125 MiB/s
aws.rds.gp3, 399, -, 3000, 3000, 125 MiB/s
aws.rds.gp3, 400, -, 12000, 12000, 500 MiB/s
aws.rds.gp3, 400, 64000, 64000, 64000, 500 MiB/s
aws.rds.gp3, 65536, -, 12000, 12000, 500 MiB/s
aws.rds.mysql.gp3, 399, -, 3000, 3000, 125 MiB/s
aws.rds.mysql.gp3, 400, 32000, 32000, 32000, 500 MiB/s
# IOPS / 64 above 32,000.
aws.rds.mysql.gp3, 400, 64000, 64000, 64000, 1000 MiB/s
aws.rds.io1, 100, 1000, 1000, 1000, 500 MiB/s
aws.rds.io1, 399, 19950, 19950, 19950, 500 MiB/s
aws.rds.io1, 400, 20000, 20000, 20000, 4000 MiB/s
aws.rds.io1, 65536, 256000, 256000, 256000, 4000 MiB/s
# 0.256 MiB/s for each IOPS in whole bytes, 268,435, at most 4000.
aws.rds.io2, 100, 1000, 1000, 1000, 268435000 B/s
aws.rds.io2, 256, 256000, 256000, 256000, 4000 MiB/s
aws.rds.log_volume, 1024, -, 3000, 3000, -
aws.rds.magnetic, 3072, -, 1000, 1000, -
aws.rds.sqlserver.gp2, 20, -, 100, 3000, 128 MiB/s
aws.rds.sqlserver.gp2, 333, -, 999, 3000, 250 MiB/s
aws.rds.sqlserver.gp2, 999, -, 2997, 3000, 250 MiB/s
aws.rds.sqlserver.gp2, 1000, -, 3000, 3000, 250 MiB/s
aws.rds.sqlserver.gp2, 16384, -, 16000, 16000, 250 MiB/s
aws.rds.sqlserver.gp3, 399, -, 3000, 3000, 125 MiB/s
aws.rds.sqlserver.gp3, 400, 16000, 16000, 16000, 125 MiB/s
aws.rds.sqlserver.io1, 20, 1000, 1000, 1000, 1000 MiB/s
aws.rds.sqlserver.io1, 16384, 64000, 64000, 64000, 1000 MiB/s
aws.rds.sqlserver.io2, 256, 256000, 256000, 256000, 4000 MiB/s
# Sizes of disks; bursts to 3500.
azure.postgresql.premium_ssd, 32, -, 120, 3500, 25 MB/s
azure.postgresql.premium_ssd, 64, -, 240, 3500, 50 MB/s
azure.postgresql.premium_ssd, 128, -, 500, 3500, 100 MB/s
azure.postgresql.premium_ssd, 256, -, 1100, 3500, 125 MB/s
azure.postgresql.premium_ssd, 512, -, 2300, 3500, 150 MB/s
azure.postgresql.premium_ssd, 1024, -, 5000, 5000, 200 MB/s
azure.postgresql.premium_ssd, 2048, -, 7500, 7500, 250 MB/s
azure.postgresql.premium_ssd, 4096, -, 7500, 7500, 250 MB/s
azure.postgresql.premium_ssd, 8192, -, 16000, 16000, 500 MB/s
azure.postgresql.premium_ssd, 16384, -, 18000, 18000, 750 MB/s
azure.postgresql.premium_ssd, 32767, -, 20000, 20000, 900 MB/s
azure.postgresql.premium_ssd_v2, 399, -, 3000, 3000, 125 MB/s
azure.postgresql.premium_ssd_v2, 400, -, 12000, 12000, 500 MB/s
azure.postgresql.premium_ssd_v2, 400, 80000, 80000, 80000, 500 MB/s
# 300 + 3 per GiB, at least 360.
azure.mysql.premium_ssd, 20, -, 360, 360, -
azure.mysql.premium_ssd, 100, -, 600, 600, -
# Steps of a file at 129, 513 and 1025 GiB.
azure.sql_mi_gp.file, 129, -, 500, 500, 100 MiB/s
azure.sql_mi_gp.file, 130, -, 2300, 2300, 150 MiB/s
azure.sql_mi_gp.file, 513, -, 2300, 2300, 150 MiB/s
azure.sql_mi_gp.file, 514, -, 5000, 5000, 200 MiB/s
azure.sql_mi_gp.log, 1025, -, 5000, 5000, 200 MiB/s
azure.sql_mi_gp.log, 1026, -, 7500, 7500, 250 MiB/s
azure.sql_mi_gp.file, 8192, -, 7500, 7500, 250 MiB/s
# 3 per GiB, at least 300; IOPS / 30 MB/s, at least 75.
azure.sql_mi_nextgen.pool, 32, -, 300, 300, 75 MB/s
azure.sql_mi_nextgen.pool, 1024, -, 3072, 3072, 102398976 B/s
azure.sql_mi_nextgen.pool, 1024, 4350, 4350, 4350, 144998550 B/s
azure.sql_mi_nextgen.pool, 32768, -, 80000, 80000, 2666640000 B/s
";

/// Lines of a table, each split at its commas; `-` is nothing.
fn rows(table: &str) -> impl Iterator<Item = Vec<Option<&str>>> {
    let lines = table.lines().filter(|line| !line.starts_with('#'));
    lines.map(|line| {
        let cells = line.split(", ");
        cells
            .map(|cell| Some(cell).filter(|cell| *cell != "-"))
            .collect()
    })
}

fn number<T: std::str::FromStr>(cell: Option<&str>) -> Option<T> {
    cell?.parse().ok()
}

#[test]
fn every_rule_of_storage_gives_what_is_published_at_its_ends() {
    for row in rows(VOLUMES) {
        let (disk, gib) = (row[0].expect("a disk"), number(row[1]).expect("a size"));
        let at = format!("{disk} of {gib} GiB, {:?}", row[2]);
        let found = provision(disk, gib, number(row[2]));
        let found = found.unwrap_or_else(|error| panic!("{at}: {error}"));
        let iops = [row[3], row[4]].map(|cell| number(cell).expect("IOPS"));
        assert_eq!(limits_of(&found.spec.limits, true), Some(iops), "{at}");
        let rate = limits_of(&found.spec.limits, false).map(|[rate, _]| rate);
        assert_eq!(rate, row[5].map(bytes_per_s), "{at}");
    }
    // No disk of Managed Instance and SQL Database has limits of its own where the class has them.
    for disk in [
        "azure.sql_mi_bc.ssd",
        "azure.sql_mi_bc.log",
        "azure.sql_mi_nextgen.log",
        "azure.sql_db_gp.data",
        "azure.sql_db_bc.data",
        "azure.sql_db_gp.log",
        "azure.sql_db_bc.log",
    ] {
        let found = provision(disk, 1024, None).expect(disk);
        assert_eq!(found.spec.limits, [], "{disk}");
    }
}

#[test]
fn what_a_storage_type_does_not_have_is_refused_with_the_nearest() {
    for (disk, gib, iops, parts) in [
        (
            "aws.rds.gp3",
            399,
            Some(12_000),
            [
                "not provisioned below 400 GiB",
                "ask for a size of 400 GiB or more",
            ],
        ),
        (
            "azure.postgresql.premium_ssd",
            100,
            None,
            ["size 100 GiB asked", "ask for 64 GiB or 128 GiB"],
        ),
        (
            "aws.rds.io1",
            99,
            Some(1000),
            ["size 99 GiB asked", "100 GiB"],
        ),
        (
            "aws.rds.gp3",
            400,
            Some(64_001),
            ["allowed at 400 GiB are 12000 to 64000", "ask for"],
        ),
        (
            "aws.rds.io1",
            400,
            None,
            ["has to be asked for", "1000 to 20000"],
        ),
        (
            "azure.sql_mi_nextgen.pool",
            100,
            None,
            ["steps of 32 GiB", "96 GiB or 128 GiB"],
        ),
    ] {
        let error = provision(disk, gib, iops).expect_err(disk);
        for part in parts {
            assert!(error.contains(part), "no {part} in {error}");
        }
    }
}

#[test]
fn four_hundred_gib_of_gp3_cost_little_more_than_399_and_bought_iops_are_charged() {
    let usd = |disk: &str, gib, iops| {
        let found = provision(disk, gib, iops).expect(disk);
        found.usd_per_month.expect("a price")
    };
    // 399 * 0.115 = 45.885; 400 * 0.115 = 46, with 12,000 IOPS free; 8,000 more are 160.
    assert!((usd("aws.rds.gp3", 399, None) - 45.885).abs() < 1e-9);
    assert!((usd("aws.rds.gp3", 400, None) - 46.0).abs() < 1e-9);
    assert!((usd("aws.rds.gp3", 400, Some(20_000)) - 206.0).abs() < 1e-9);
    // 1024 * 0.115 = 117.76, with 3,072 IOPS free; 1,278 more at 0.0383 are 48.9474.
    assert!((usd("azure.sql_mi_nextgen.pool", 1024, None) - 117.76).abs() < 1e-9);
    let more = usd("azure.sql_mi_nextgen.pool", 1024, Some(4350));
    assert!((more - 166.7074).abs() < 1e-9, "{more}");
    // 32 * 0.115 = 3.68, with 300 IOPS free although 3 a GiB are 96.
    assert!((usd("azure.sql_mi_nextgen.pool", 32, None) - 3.68).abs() < 1e-9);
    // What is not known is not zero.
    let unknown = provision("aws.rds.io2", 1000, Some(3000)).expect("allowed");
    assert_eq!(unknown.usd_per_month, None);
}

#[test]
fn classes_and_storage_of_services_are_no_machines_and_disks() {
    let catalogue = Catalogue::builtin();
    let is_service = |name: &str| {
        let mut services = catalogue.services();
        services.any(|one| name.starts_with(&format!("{}.", one.types)))
    };
    assert!(
        !catalogue
            .machines()
            .any(|machine| is_service(&machine.name))
    );
    assert!(!catalogue.disks().any(|disk| is_service(&disk.name)));
    // The ends of names mean machines alone.
    assert_eq!(catalogue.machines_meant("r6i.2xlarge").len(), 1);
    assert_eq!(catalogue.disks_meant("gp3").len(), 1);
}

#[test]
fn a_name_of_aurora_is_answered_with_the_reason_and_a_typo_with_the_list() {
    let catalogue = Catalogue::builtin();
    let error = catalogue
        .machine("aws.aurora.postgresql.db.r6i.2xlarge")
        .expect_err("not modelled");
    assert_eq!(
        error.to_string(),
        "machine `aws.aurora.postgresql.db.r6i.2xlarge`: Amazon Aurora PostgreSQL is not modelled: no limit on IOPS or \
         throughput of its cluster volume is published; name a class of another service (`dbstow services`), or a machine and \
         disks (`dbstow machines`, `dbstow disks`)"
    );
    let error = catalogue
        .machine("aws.rds.postgresql.db.r6i.3xlarge")
        .expect_err("a typo");
    let error = error.to_string();
    assert!(
        error.contains("`dbstow services rds-postgresql --classes`"),
        "{error}"
    );
}
