use model::{Bytes, Duration, Iops, Rate, Throughput};
use proptest::prelude::*;

use super::builtin::{BUILTIN, MACHINES};
use super::*;

#[test]
fn the_embedded_files_parse_and_every_disk_that_needs_no_size_is_provisioned() {
    let catalogue = Catalogue::builtin();
    assert!(catalogue.disks().count() > 80);
    assert!(catalogue.machines().count() > 1_100);
    for disk in catalogue.disks() {
        if matches!(disk.size, SizeRule::Fixed(_)) {
            let provisioned = disk.provision(&Provision::default()).expect(&disk.name);
            assert!(!provisioned.spec.limits.is_empty(), "{}", disk.name);
        }
    }
}

#[test]
fn an_unknown_name_is_answered_with_the_near_ones() {
    let catalogue = Catalogue::builtin();
    let error = catalogue.disk("azure.premium.p3O").expect_err("a typo");
    assert!(error.to_string().contains("azure.premium.p30"), "{error}");
    let error = catalogue.machine("azure.ds2").expect_err("wrong case");
    assert!(error.to_string().contains("azure.DS2"), "{error}");
}

#[test]
fn the_end_of_a_name_means_its_disk_and_an_unknown_name_says_how_names_begin() {
    let catalogue = Catalogue::builtin();
    let meant = |name: &str| {
        let disks = catalogue.disks_meant(name);
        let names: Vec<_> = disks.iter().map(|disk| disk.name.as_str()).collect();
        names.join(" ")
    };
    assert_eq!(meant("P30"), "azure.premium.p30");
    assert_eq!(meant("gp3"), "aws.gp3.2025", "an alias");
    assert_eq!(meant("premium"), "");
    let machines = catalogue.machines_meant("ds14_V2");
    assert_eq!(machines[0].name, "azure.DS14_v2");

    let error = catalogue.disk("p30").expect_err("a part").to_string();
    let question = "`p30` in the catalogue (did you mean `azure.premium.p30`?);";
    assert!(error.contains(question), "{error}");
    let error = catalogue.machine("Standard_E8bds_v5");
    let error = error.expect_err("the portal's name").to_string();
    assert!(error.contains("did you mean `azure.E8bds_v5`?"), "{error}");
    let error = catalogue.disk("generic").expect_err("unknown").to_string();
    let begin = "(names begin with `aws`, `azure`, `gcp` or `measured`)";
    assert!(error.contains(begin), "{error}");
}

/// A row of `evidence/computed.csv`, which `scripts/latencies` computes from what was published.
#[derive(serde::Deserialize)]
struct Computed {
    class: String,
    operation: String,
    p50_ms: f64,
    p99_ms: Option<f64>,
    known: Known,
    between: f64,
}

/// A row of `evidence/spreads.csv`.
#[derive(serde::Deserialize)]
struct Factor {
    known: String,
    factor: f64,
}

fn evidence<T: serde::de::DeserializeOwned>(text: &str) -> Vec<T> {
    let mut reader = csv::Reader::from_reader(text.as_bytes());
    let rows = reader.deserialize().collect::<Result<_, _>>();
    rows.expect("the script writes it")
}

/// `sync` has file systems and commits in it, which no disk's latency has.
#[test]
fn latencies_and_their_spreads_are_those_computed_from_what_was_published() {
    let catalogue = Catalogue::builtin();
    let rows: Vec<Computed> = evidence(include_str!("../evidence/computed.csv"));
    assert!(rows.len() > 20);
    for row in rows {
        let class = catalogue.classes.get(&row.class).expect(&row.class);
        let latency = match row.operation.as_str() {
            "read" => &class.read,
            "write" => &class.write,
            "sync" => continue,
            other => panic!("{other} is not an operation of a disk"),
        };
        let what = format!("{} {}", row.class, row.operation);
        let p50 = latency.typical().as_secs_f64() * 1e3;
        // The script rounds to whole microseconds, and so do entries of a mean.
        assert!((p50 - row.p50_ms).abs() < 0.0016, "{what}: {p50}");
        if let Some(p99) = row.p99_ms {
            assert!(
                latency.shown().contains(&format!("p99 {}", ms(p99))),
                "{what}"
            );
        }
        assert_eq!(latency.known, row.known, "{what}");
        // One place differs from yours as its kind does by default.
        let between = latency.between.factor();
        assert!((between - row.between).abs() < 0.011, "{what}: {between}");
    }
}

fn ms(value: f64) -> Duration {
    Duration::from_micros((value * 1e3).round() as u64)
}

#[test]
fn spreads_by_how_a_value_is_known_are_those_computed_from_what_was_published() {
    let rows: Vec<Factor> = evidence(include_str!("../evidence/spreads.csv"));
    let known = |factor: &Factor| match factor.known.as_str() {
        "several" => Known::Several.spread(),
        "one" => Known::One.spread(),
        "assumed" => Known::Assumed.spread(),
        "statement" => statement_spread(),
        other => panic!("{other} is not a way to know"),
    };
    assert_eq!(rows.len(), 4);
    for row in rows {
        assert_eq!(known(&row).factor(), row.factor, "{}", row.known);
    }
}

/// Rows, counted over by hand from the sources that they name.
#[test]
fn a_row_is_a_machine_with_its_limits_disks_and_price() {
    let catalogue = Catalogue::builtin();
    let machine = |name: &str| catalogue.machine(name).expect("it is a row");
    let d2ads = machine("azure.D2ads_v5");
    assert_eq!((d2ads.spec.cores, d2ads.spec.memory), (2, Bytes::gib(8)));
    let price = d2ads.price.expect("it has one");
    assert_eq!(price.linux_per_month(), Some(0.103 * 730.0));
    assert_eq!(price.windows_per_month(), Some(0.195 * 730.0));
    assert_eq!(
        d2ads.price_list().as_deref(),
        Some("Azure eastus, 2026-06-18")
    );
    // 3,750 IOPS, 10,000 for half an hour; 82 MB/s, 600.
    let uncached = &d2ads.spec.limits["uncached"];
    assert_eq!(uncached[0].rate, Rate::Iops(Iops(3_750)));
    let burst = uncached[0].burst.expect("it bursts");
    assert_eq!((burst.rate, burst.credits), (10_000, 6_250 * 1_800));
    let rate = Rate::Throughput(Throughput::from_mb_per_s(82));
    assert_eq!(uncached[1].rate, rate);
    let local = d2ads.spec.local_disk.as_ref().expect("it has one");
    assert_eq!((d2ads.local_disks, local.size), (Some(1), Bytes::gib(75)));
    assert_eq!(d2ads.local_disks_raw, Some(false));

    // Hyperdisk has another limit on machines where it was found.
    let n4 = machine("gcp.n2-standard-8");
    assert!(
        n4.price.is_some(),
        "a TOML file has its limits, the row its price"
    );
    assert!(n4.spec.limits.contains_key("pd-balanced"));

    // The row's figures are for all four disks together.
    let i4i = machine("aws.i4i.16xlarge");
    let local = i4i.spec.local_disk.as_ref().expect("it has some");
    let Rate::Iops(reads) = local.limits[0].rate else {
        panic!("{local:?}");
    };
    assert_eq!(i4i.local_disks, Some(4));
    assert_eq!(4 * reads.0, 1_600_000);
}

#[test]
fn a_broken_row_is_reported_with_its_line() {
    let (file, text) = MACHINES;
    let broken = |from: &str, to: &str| {
        let mut catalogue = Catalogue::builtin();
        let text = text.replacen(from, to, 1);
        let error = read::table(&mut catalogue, &text, file).expect_err(to);
        error.to_string()
    };
    // Six lines of comment, the names of columns, and then the first row.
    let error = broken("azure.D2ads_v5,Dadsv5,,2,", "azure.D2ads_v5,Dadsv5,,two,");
    assert!(error.starts_with("catalogue/machines.csv:8: "), "{error}");
    let error = broken("win-2023-adder", "win-2032-adder");
    assert!(error.contains("no flag `win-2032-adder`"), "{error}");
    let error = broken(",uncached,", ",unached,");
    assert!(error.contains("`unached`"), "{error}");
}

#[test]
fn every_price_has_a_region() {
    for machine in Catalogue::builtin().machines() {
        let (has_list, has_price) = (machine.price_list().is_some(), machine.price.is_some());
        assert_eq!(has_list, has_price, "{}", machine.name);
    }
    for disk in Catalogue::builtin().disks() {
        assert_eq!(
            disk.price_list().is_some(),
            disk.price.is_some(),
            "{}",
            disk.name
        );
    }
}

#[test]
fn an_alias_leads_to_the_entry() {
    let catalogue = Catalogue::builtin();
    assert_eq!(
        catalogue.disk("aws.gp3").expect("alias").name,
        "aws.gp3.2025"
    );
}

#[test]
fn a_users_file_may_use_the_classes_that_ship() {
    let mut catalogue = Catalogue::builtin();
    let text = r#"
        [source.lab]
        title = "our own measurement"
        date = "2026-03-01"
        [disk."lab.nvme"]
        class = "local-nvme"
        title = "the lab's NVMe"
        size = "1 TB"
        iops = 400_000
        throughput = "3 GB/s"
        confidence = "measured"
        sources = ["lab"]
    "#;
    catalogue.add(text, "lab.toml").expect("a valid file");
    let disk = catalogue.disk("lab.nvme").expect("it was added");
    assert_eq!(disk.sources[0].title, "our own measurement");
}

#[test]
fn a_mistake_is_reported_with_its_file_and_line_and_changes_nothing() {
    let mut catalogue = Catalogue::builtin();
    let before = catalogue.disks().count();
    let text = "[source.lab]\ntitle = \"x\"\ndate = \"2026\"\n\n[disk.a]\nclass = \"local-nvm\"\ntitle = \"t\"\n\
                size = \"1 TB\"\nconfidence = \"measured\"\nsources = [\"lab\"]\n";
    let error = catalogue.add(text, "lab.toml").expect_err("no such class");
    assert!(error.to_string().starts_with("lab.toml:5: "), "{error}");
    assert!(error.to_string().contains("`local-nvme`"), "{error}");
    assert_eq!(catalogue.disks().count(), before);
}

#[test]
fn a_machine_costs_more_than_nothing_and_less_than_the_world() {
    let added = |price: &str| {
        let text = format!(
            "[source.lab]\ntitle = \"x\"\ndate = \"2026\"\n[machine.m]\ncores = 4\nmemory = \"8 GiB\"\n\
             confidence = \"assumed\"\nsources = [\"lab\"]\nprice = {{ {price} }}\n"
        );
        Catalogue::builtin().add(&text, "lab.toml")
    };
    assert_eq!(added("linux = 1e9").map_err(|e| e.to_string()), Ok(()));
    for (price, part) in [
        ("linux = 1e308", "is not a price"),
        ("linux = inf", "is not a price"),
        ("windows = nan", "is not a price"),
        ("linux = 1, windows = -1", "-1 is not a price"),
        ("linux = 0.0", "is not above zero"),
    ] {
        let error = added(price).expect_err(price).to_string();
        let key = price
            .rsplit(", ")
            .next()
            .and_then(|last| last.split(' ').next());
        for part in [
            "lab.toml:4",
            "`m`",
            part,
            key.expect("it begins with a key"),
        ] {
            assert!(error.contains(part), "{price}: no {part}: {error}");
        }
    }
}

#[test]
fn a_name_is_not_silently_defined_twice() {
    let mut catalogue = Catalogue::builtin();
    let text = "[source.aws-ebs-2023]\ntitle = \"x\"\ndate = \"2026\"\n";
    let error = catalogue.add(text, "mine.toml").expect_err("already there");
    assert!(error.to_string().contains("already defined"), "{error}");
}

#[test]
fn two_files_may_call_their_sources_alike() {
    let mut catalogue = Catalogue::builtin();
    for name in ["a", "b"] {
        let text = format!(
            "[source.lab]\ntitle = \"of {name}\"\ndate = \"2026\"\n\n[disk.{name}]\nclass = \"local-nvme\"\ntitle = \"t\"\n\
             size = \"1 TB\"\niops = 1000\nthroughput = \"100 MB/s\"\nconfidence = \"measured\"\nsources = [\"lab\"]\n"
        );
        let file = format!("{name}.toml");
        catalogue
            .add(&text, &file)
            .expect("its sources are its own");
    }
    for name in ["a", "b"] {
        let disk = catalogue.disk(name).expect("it was added");
        assert_eq!(disk.sources[0].title, format!("of {name}"));
    }
}

/// Lines of a catalogue file, valid and invalid.
fn line() -> impl Strategy<Value = String> {
    const PAIR: &str = concat!(
        "(title|date|size|iops|throughput|class|sources|read|burst|confidence|price)",
        " = (\"[ -~]{0,12}\"|-?[0-9]{1,20}(\\.[0-9]+)?|\\{[ -~]{0,24}\\}|\\[[ -~]{0,8}\\])",
    );
    prop_oneof![
        "\\[(source|class|disk|machine)\\.[a-c]\\]",
        PAIR,
        "\\PC{0,20}"
    ]
}

proptest! {
    #[test]
    fn no_text_makes_add_panic(text in "\\PC*") {
        let _ = Catalogue::default().add(&text, "fuzz.toml");
    }

    #[test]
    fn no_damage_to_a_catalogue_makes_add_panic(
        at in 0usize..6000,
        gone in 0usize..8,
        text in "[ -~]{0,4}",
    ) {
        let mut damaged: Vec<u8> = BUILTIN[0].1.bytes().collect();
        let start = at.min(damaged.len());
        let end = (start + gone).min(damaged.len());
        damaged.splice(start..end, text.bytes());
        let _ = Catalogue::default().add(&String::from_utf8_lossy(&damaged), "fuzz.toml");
    }

    #[test]
    fn no_near_catalogue_makes_add_panic(lines in prop::collection::vec(line(), 0..20)) {
        let _ = Catalogue::default().add(&lines.join("\n"), "fuzz.toml");
    }
}
