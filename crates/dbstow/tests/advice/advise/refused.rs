//! What cannot be answered, and what is assumed.

use super::*;

#[test]
fn a_profile_of_other_disks_gets_no_advice() {
    let place = Place::new();
    let today = place.read("today.toml");
    assert!(today.contains("azure.premium.p30"), "{today}");
    place.write("today.toml", today.replace("premium.p30", "premium.p10"));
    // Where the answer goes is checked before the profile is replayed, and so are wishes.
    let error = place.refused(&["--out", "shop.toml/answer"], 1);
    assert!(error.contains("--out: "), "{error}");
    let error = place.refused(&["--temp", "local"], 2);
    assert!(error.contains("not counted separately"), "{error}");
    let error = place.refused(&[], 3);
    assert!(
        error.contains("does not fit this layout") && error.contains("--untested"),
        "{error}"
    );
    // What is off an item a line, and last the likeliest reason, in lines that a terminal has.
    let items: Vec<&str> = error.split("\n- ").collect();
    assert!(items.len() >= 3, "{error}");
    assert!(
        items[items.len() - 1].starts_with("likeliest reason: "),
        "{error}"
    );
    assert!(
        error.lines().all(|line| line.chars().count() <= 100),
        "{error}"
    );
    assert!(!place.path("shop-advice").exists());
    let untested = place.advice(&["--untested"]);
    assert_eq!(untested["backtest"]["fits"], false);
}

#[test]
fn what_is_untested_is_marked_and_not_trusted() {
    let place = Place::new();
    let today = place.read("today.toml");
    place.write("today.toml", today.replace("premium.p30", "premium.p10"));
    let untested = ["--untested", "--budget", "500", "--simulations", "5"];

    let assert = place.advise(&untested).success();

    let output = stdout(&assert);
    assert!(
        output.contains("trust: low, because the model does not"),
        "{output}"
    );
    assert!(output.contains("\n! UNTESTED: "), "{output}");
    assert!(!output.contains('\u{1b}'), "{output}");
    let page = place.read("shop-advice/advice.html");
    assert!(page.contains("<body class=\"doubtful\">"));
    // In red where a terminal has colours.
    let all = ["advise", "shop.toml", "--today", "today.toml", "--force"];
    let mut coloured = place.dbstow(&[&all[..], &USUAL, &untested].concat());
    let coloured = coloured.env_remove("NO_COLOR").env("CLICOLOR_FORCE", "1");
    let coloured = stdout(&coloured.assert().success());
    assert!(coloured.starts_with("\u{1b}[1m\u{1b}[31m"), "{coloured}");
}

#[test]
fn what_cannot_be_is_refused_with_the_remedy() {
    let place = Place::new();
    place.write("own.csv", "name,usd,per\naws.gp3,0.05,\n");
    let wrong: [(&[&str], &str); 10] = [
        (&["--not-slower", "1.5"], "1.5 has no percent sign"),
        (&["--not-slower", "900%"], "900% is not below 900%"),
        (
            &["--region", "mars-1"],
            "--region mars-1: there are no prices of it",
        ),
        (&["--disk", "azure.premium.p3O"], "azure.premium.p30"),
        (&["--prices", "own.csv"], "own.csv:2: `aws.gp3` has no unit"),
        (&["--prices", "none.csv"], "name,usd,per"),
        (&["--capacity", "temp=0GiB"], "it is 0"),
        (
            &["--capacity", "index=1GiB"],
            "there are data, temp and log",
        ),
        (
            &["--capacity", "temp=90000TiB"],
            "no disk of the catalogue holds",
        ),
        (&["--temp", "local"], "not counted separately"),
    ];
    for (more, part) in wrong {
        let error = place.refused(more, 2);
        assert!(error.contains(part), "{more:?}: {error}");
    }
    let all = ["advise", "shop.toml", "--today", "today.toml"];
    let error = place.fails(&[&all[..], &["--cloud", "azura"]].concat(), 2);
    assert!(
        error.contains("there is no such cloud; give one of aws, azure, gcp"),
        "{error}"
    );
    let error = place.fails(&[&all[..], &["--machine", "E9999"]].concat(), 2);
    assert!(
        error.contains("there is no machine `azure.E9999` in the catalogue (did you mean"),
        "{error}"
    );
    let error = place.fails(&[&all[..], &["--not-slower", "many"]].concat(), 2);
    assert!(error.contains("give a percentage such as 5%"), "{error}");
    let error = place.fails(&["advise", "shop.toml"], 2);
    assert!(error.contains("give them with --today FILE"), "{error}");
}

/// Before anything is replayed.
#[test]
fn a_capacity_without_a_unit_is_refused_with_one() {
    let place = Place::new();
    let error = place.refused(&["--capacity", "temp=20"], 2);
    assert!(
        error.contains(
            "--capacity temp=20: `20` is not a size such as \"64 KiB\", \"512 MiB\" or \"2 GB\""
        ),
        "{error}"
    );
}

#[test]
fn an_idle_server_is_none_to_advise() {
    let place = Place::new();
    let profile = place.read("shop.toml");
    let lines = profile
        .lines()
        .map(|line| match line.starts_with("operations = ") {
            true => {
                let values = line.matches(',').count() + 1;
                format!("operations = [{}]", vec!["0.0"; values].join(", "))
            }
            false => line.to_owned(),
        });
    let idle: Vec<String> = lines.collect();
    place.write("shop.toml", idle.join("\n"));
    let error = place.refused(&[], 2);
    assert!(
        error.contains("the server was idle; record it under load"),
        "{error}"
    );
}

/// What the catalogue assumes of a disk, as `dbstow disks` has it.
fn assumed(place: &Place, disk: &str) -> Vec<String> {
    let document = place.json(&["disks", disk, "--format", "json"]);
    let disks = document["disks"].as_array().expect("a list");
    let entry = disks.iter().find(|entry| entry["name"] == disk);
    let entry = entry.unwrap_or_else(|| panic!("{disk} is not listed"));
    let latencies = ["read_latency", "write_latency", "flush_latency"];
    let latencies = latencies.map(|latency| entry[latency]["assumed"].clone());
    let others = entry["assumed"].as_array().expect("a list").clone();
    let texts = latencies.into_iter().chain(others);
    texts
        .filter_map(|text| text.as_str().map(str::to_owned))
        .collect()
}

/// The catalogue assumes prices with Windows of these machines, and what the disks inside them do.
#[test]
fn what_is_assumed_is_of_what_the_answers_use_and_begins_with_the_answer() {
    let of = |advice: &Value| -> Vec<String> {
        let all = advice["assumptions"].as_array().expect("a list").iter();
        all.filter_map(|text| text.as_str().map(str::to_owned))
            .collect()
    };
    let any = |told: &[String], part: &str| told.iter().any(|told| told.contains(part));
    let place = Place::new();
    let remote = place.advice(&[]);
    assert!(!remote.to_string().contains("\"local\""), "{remote}");
    let remote = of(&remote);
    assert!(remote[0].contains(" (cheapest"), "{remote:?}");
    assert!(!any(&remote, "price with Windows"), "{remote:?}");
    assert!(!any(&remote, "its own disk"), "{remote:?}");
    // One sentence for the assumptions about one disk in the same answers.
    let of_one = |told: &&String| told.starts_with("azure.premium_v2 (");
    assert_eq!(remote.iter().filter(of_one).count(), 1, "{remote:?}");
    with_temp_apart(&place);
    let local = local_on("azure.D8ads_v7", &["--windows", "--format", "json"]);
    let local = place.json(&local);
    let local = of(&local);
    assert!(any(&local, "price with Windows"), "{local:?}");
    assert!(any(&local, "its own disk: "), "{local:?}");
}

/// Standard SSDs have latencies of an assumed spread.
#[test]
fn what_the_catalogue_assumes_of_a_layout_stands_beside_it() {
    let place = Place::new();
    let ask = ["--disk", "azure.stdssd.e10", "--not-slower", "800%"];
    let advice = place.advice(&ask);
    let told: Vec<&str> = advice["assumptions"]
        .as_array()
        .expect("a list")
        .iter()
        .filter_map(Value::as_str)
        .collect();
    // Of today's disk, what was recorded takes the place of what the catalogue assumes.
    let mut disks = Vec::new();
    for answer in ["cheapest", "runner_up", "fastest", "best_value"] {
        let volumes = advice[answer]["volumes"].as_array().cloned();
        let names = volumes.into_iter().flatten();
        let names = names.filter_map(|volume| volume["disk"].as_str().map(str::to_owned));
        disks.extend(names.filter(|name| name != "azure.premium.p30"));
    }
    assert!(disks.contains(&"azure.stdssd.e10".to_owned()), "{disks:?}");
    for disk in disks {
        for text in assumed(&place, &disk) {
            let mut told = told.iter();
            assert!(
                told.any(|told| told.contains(&disk) && told.contains(&text)),
                "{disk}: {text} is not in {:?}",
                advice["assumptions"]
            );
        }
    }
    let budget = [&ask[..], &["--budget", "500"]].concat();
    let assert = place.advise(&budget).success();
    let output = stdout(&assert);
    assert!(
        output.contains(
            "trust: low, because the latency of azure.stdssd.e10 is known from one place at most"
        ),
        "{output}"
    );
    let page = place.read("shop-advice/advice.html");
    let part = "the spread: p99 twice p50";
    assert!(page.contains(part), "the page lacks {part}");
}
