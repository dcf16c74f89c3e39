//! What is paid besides list prices, as a user asks for it.

use serde_json::Value;

use crate::advise::{Place, number};

/// The example's server as one whose licence is paid for by core; `edition` is recorded.
fn licensed(edition: Option<&str>) -> Place {
    let place = Place::new();
    let profile = place.read("shop.toml");
    let edition = edition.map(|edition| format!("edition = \"{edition}\"\n"));
    let product = format!("product = \"SQL Server\"\n{}", edition.unwrap_or_default());
    let profile = profile.replace("product = \"PostgreSQL\"\n", &product);
    assert!(profile.contains("SQL Server"), "{profile}");
    place.write("shop.toml", profile);
    place
}

/// The lines of a layout's bill: what, and dollars a month if known.
fn bill(layout: &Value) -> Vec<(String, Option<f64>)> {
    let lines = layout["bill"].as_array().expect("a list").iter();
    let line = |line: &Value| {
        let what = line["what"].as_str().expect("a text").to_owned();
        (what, line["usd_per_month"].as_f64())
    };
    lines.map(line).collect()
}

fn licence(layout: &Value) -> Option<f64> {
    let bill = bill(layout).into_iter();
    let mut lines = bill.filter(|(what, _)| what == "licence");
    lines.next().and_then(|(_, usd)| usd)
}

fn assert_sums(advice: &Value) {
    for name in ["today", "cheapest", "fastest", "best_value"] {
        let layout = &advice[name];
        let sum: f64 = bill(layout).iter().filter_map(|(_, usd)| *usd).sum();
        let usd = number(&layout["usd_per_month"]);
        assert!((sum - usd).abs() < 0.01, "{name}: {sum} {layout}");
    }
}

#[test]
#[ignore = "long: asks about five licences"]
fn the_licence_is_in_every_price_where_the_edition_is_known() {
    let of = |advice: &Value| licence(&advice["cheapest"]);
    let without = licensed(None).advice(&[]);
    assert_eq!(of(&without), None);
    let notes = without["notes"].to_string();
    assert!(
        notes.contains("licence is in no price: its edition is not known (--edition)"),
        "{notes}"
    );

    let place = licensed(Some("Standard Edition (64-bit)"));
    let ask = ["--budget", "2000"];
    let recorded = place.advice(&ask);
    assert_sums(&recorded);
    assert_eq!(recorded["asked"]["licence"]["edition"], "standard");
    // Four cores at least: 4 x 0.1 x 730.
    assert!(of(&recorded) >= Some(292.0 - 0.01), "{:?}", of(&recorded));
    assert!((licence(&recorded["today"]).expect("it has one") - 292.0).abs() < 0.01);
    // 100 dollars a month for each core.
    let own = [
        "--licence",
        "own",
        "--licence-price",
        "1200",
        "--replicas",
        "1",
    ];
    let own = place.advice(&[&ask[..], &own[..], &["--passive-secondary"]].concat());
    assert_sums(&own);
    assert!((licence(&own["today"]).expect("it has one") - 400.0).abs() < 0.01);
    let replicas = bill(&own["today"])
        .into_iter()
        .find(|(what, _)| what == "replicas");
    assert!(replicas.is_some_and(|(_, usd)| usd > Some(0.0)), "{own}");
    assert_eq!(own["asked"]["replicas"], 1);
}

#[test]
#[ignore = "long: asks two questions that differ in every price"]
fn commitments_and_backups_are_in_every_price() {
    let place = Place::new();
    let plain = place.advice(&[]);
    assert_sums(&plain);
    let asked = plain["asked"].as_object().expect("an object");
    assert!(
        !asked.contains_key("licence") && !asked.contains_key("replicas"),
        "{asked:?}"
    );
    let committed = place.advice(&["--term", "3y", "--backup-days", "7"]);
    assert_sums(&committed);
    let of = |advice: &Value, what: &str| {
        let bill = bill(&advice["today"]).into_iter();
        let mut lines = bill.filter(|(name, _)| name == what);
        lines.next().and_then(|(_, usd)| usd)
    };
    // 38 % of the machine's price on demand.
    let [list, paid] =
        [&plain, &committed].map(|advice| of(advice, "machine").expect("it is known"));
    assert!((paid / list - 0.38).abs() < 1e-6, "{paid} of {list}");
    // A copy of 60 GiB is 3 dollars, and a week of changes more.
    assert!(of(&committed, "backups") > Some(3.0), "{committed}");
    let text = committed["assumptions"].to_string();
    assert!(text.contains("38 % of their price on demand"), "{text}");
}

#[test]
fn what_cannot_be_paid_so_is_refused_with_the_remedy() {
    let place = Place::new();
    let error = place.refused(&["--edition", "standard"], 2);
    assert!(
        error.contains("--edition: PostgreSQL has no licence"),
        "{error}"
    );
    let place = licensed(None);
    for (more, part) in [
        (
            &["--licence", "own"][..],
            "give --edition (enterprise, standard",
        ),
        (
            &["--edition", "professional"],
            "give one of enterprise, standard",
        ),
        (
            &["--licence", "payg", "--licence-price", "100"],
            "give --licence own",
        ),
        (
            &["--edition", "standard", "--passive-secondary"],
            "it is free for licences of your own",
        ),
    ] {
        let error = place.refused(more, 2);
        assert!(error.contains(part), "{more:?}: {error}");
    }
    let place = licensed(Some("Web Edition (64-bit)"));
    let profile = place.read("shop.toml");
    // SQL Server 2025.
    place.write("shop.toml", profile.replace("15.20", "17.0.1000.7"));
    let error = place.refused(&["--edition", "web"], 2);
    assert!(
        error.contains("--edition web: SQL Server has no such edition in version 17.0.1000.7; give one of enterprise"),
        "{error}"
    );
    let error = place.refused(&["--edition", "standard", "--set", "machine.cores=3"], 2);
    assert!(
        error.contains(
            "`cores` in [machine] is 3, and azure.E2bds_v5 can have 2; write one of these"
        ),
        "{error}"
    );
    place.write("own.csv", "name,usd,per\nazure.licence.standard,0.1,\n");
    let error = place.refused(&["--edition", "standard", "--prices", "own.csv"], 2);
    assert!(
        error.contains("own.csv:2: `azure.licence.standard` has no unit; in `per`, write one of"),
        "{error}"
    );
}

#[test]
fn a_rehearsal_of_a_product_that_runs_on_a_server_of_the_user_s_has_its_options() {
    let backup = "D:\\backup\\shop.bak";
    let answer = licensed(None).advice(&["--rehearse", backup, "trace.xml"]);
    let command = answer["next"][0]["command"].as_str().expect("a text");
    assert_eq!(
        command,
        "dbstow rehearse --backup 'D:\\backup\\shop.bak' --statements trace.xml --layout shop-advice/finalists.toml --out shop-rehearsal \
         --server SERVER --volume 'NAME=FOLDER'"
    );
}
