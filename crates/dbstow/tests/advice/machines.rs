//! Today's machine and others, by memory and by what they may use of their processors.

use serde_json::Value;
use testing::folder::json;

use crate::advise::Place;

fn advice(place: &Place, more: &[&str]) -> Value {
    let usual = [
        "advise",
        "shop.toml",
        "--today",
        "today.toml",
        "--capacity",
        "data=60GiB",
        "--capacity",
        "log=20GiB",
        "--format",
        "json",
    ];
    json(
        &place
            .dbstow(&[&usual[..], more].concat())
            .assert()
            .success(),
    )
}

#[test]
fn more_memory_than_today_leaves_between_two_shares_of_the_reads_where_logical_reads_were_recorded()
{
    let place = Place::new();
    let profile = place.read("shop.toml");
    let list = profile
        .lines()
        .find_map(|line| line.strip_prefix("read_bytes = "));
    let read: Vec<f64> = serde_json::from_str(list.expect("it is recorded")).expect("numbers");
    // 80 % of what is asked for is read.
    let asked: Vec<f64> = read.iter().map(|bytes| bytes / 0.8).collect();
    let profile = profile
        .replacen(
            "sessions = ",
            &format!("logical_read_bytes = {asked:?}\nsessions = "),
            1,
        )
        .replacen("[machine]\n", "[machine]\ncache = \"8 GiB\"\n", 1);
    place.write("shop.toml", profile);
    let advice = advice(
        &place,
        &[
            "--cloud",
            "azure",
            "--machine",
            "E4bds_v5",
            "--budget",
            "500",
        ],
    );
    assert!(advice["today"].get("data_reads").is_none(), "{advice}");
    // 32 GiB are 16 more than today's, and the cache 24. Hits grow to three times 20 % at most: of 80 % that miss, 40 % are left.
    // To 60 GiB, which hold all data: 36 of 52 GiB.
    let reads = advice["frontier"][0]["data_reads"].as_array();
    let reads: Vec<f64> = reads
        .expect("it has more memory")
        .iter()
        .filter_map(Value::as_f64)
        .collect();
    assert!(
        (reads[0] - 0.5).abs() < 1e-9 && (reads[1] - 36.0 / 52.0).abs() < 1e-9,
        "{reads:?}"
    );
    let notes = advice["notes"].to_string();
    assert!(notes.contains("50 % to 69 % as much data"), "{notes}");
}

#[test]
fn a_burstable_machine_is_todays_with_all_its_processors() {
    for (machine, volume, others, share) in [
        (
            "azure.B2ms",
            "disk = \"azure.premium.p30\"",
            "E2bds_v5",
            "30 %",
        ),
        (
            "aws.t3.small",
            "disk = \"aws.gp3\"\nsize = \"500 GiB\"",
            "r6i.large",
            "20 %",
        ),
        (
            "gcp.e2-medium",
            "disk = \"gcp.pd_ssd\"\nsize = \"500 GiB\"",
            "n2-highmem-2",
            "50 %",
        ),
    ] {
        let place = Place::new();
        let placement =
            ["data", "log", "temp"].map(|role| format!("{role} = {{ volumes = \"one\" }}\n"));
        place.write(
            "today.toml",
            format!(
                "[machine]\ntype = \"{machine}\"\n[volume.one]\n{volume}\n[placement.today]\n{}",
                placement.concat()
            ),
        );
        let advice = advice(&place, &["--machine", others, "--untested", "--quick"]);
        assert_eq!(advice["today"]["machine"], machine);
        let text = advice["assumptions"].to_string();
        let told = format!(
            "{machine} (today): it may use {share} of its processors in the long run; today's is simulated with all of them."
        );
        assert!(text.contains(&told), "{text}");
    }
}
