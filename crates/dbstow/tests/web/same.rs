//! More inputs than the example: the page is of 32 bits, and writes what the program writes.

use std::fs;

use super::browser::Page;
use super::file;
use super::taken_away::{assert_same, written};

/// Asks for a recording on a layout with these fields of the form, and with these boxes ticked.
fn asked(
    profile: &str,
    today: &str,
    fields: &[(&str, &str)],
    ticked: &[&str],
    prices: Option<&str>,
) {
    let page = Page::open();
    page.choose(&[&file(profile)]);
    page.wait_for("document.getElementById('reading').textContent === 'Read: a profile.'");
    page.fill("#layout", &fs::read_to_string(file(today)).unwrap());
    for (name, value) in fields {
        page.fill(&format!("#asked [name={name}]"), value);
    }
    for name in ticked {
        page.click(&format!("#asked [name={name}]"));
    }
    if let Some(prices) = prices {
        page.folder.write("own.csv", prices);
        page.choose_in("#asked [name=prices]", &[&page.folder.path("own.csv")]);
    }
    page.click("#search");
    page.wait_for_answer();
    let taken = ["to-html", "to-json", "to-finalists"].map(|id| page.download(id));
    for id in ["to-profile", "to-today"] {
        page.download(id);
    }
    let command = page.text("command");
    for name in fields.iter().map(|(name, _)| name).chain(ticked) {
        let value = ["data", "log", "temp"].contains(name);
        let option = if value {
            format!("--capacity \"{name}=")
        } else {
            format!("--{}", name.replace('_', "-"))
        };
        let option = option.replace("--capacity \"", "--capacity ");
        assert!(
            name == &"system" || command.contains(&option),
            "{option}: {command}"
        );
    }
    assert_same(&taken, &written(&page.folder, &command), &command);
    assert_eq!(page.complaints(), [""; 0]);
}

#[test]
#[ignore = "scripts/check-web builds the page"]
fn every_option_of_the_form_is_that_of_the_program() {
    asked(
        "examples/orders.toml",
        "examples/orders-today.toml",
        &[
            ("data", "600GiB"),
            ("log", "100GiB"),
            ("temp", "60GiB"),
            ("licence", "own"),
            ("licence_price", "1800"),
            ("replicas", "2"),
            ("term", "3y"),
            ("backup_days", "7"),
            ("discount", "29"),
            ("not_slower", "57"),
            ("growth", "1.3"),
            ("system", "windows"),
            ("disks_max", "8"),
        ],
        &["passive_secondary", "any_generation", "untested"],
        None,
    );
}

#[test]
#[ignore = "scripts/check-web builds the page"]
fn own_prices_and_patterns_are_those_of_the_program() {
    let quiet = "crates/dbstow/tests/advice/quiet/gp3-3000-update-8";
    asked(
        &format!("{quiet}.toml"),
        &format!("{quiet}.today.toml"),
        &[
            ("cloud", "aws"),
            ("machine", "m6i"),
            ("data", "60GiB"),
            ("log", "20GiB"),
            ("temp", "10GiB"),
        ],
        &["untested"],
        Some("name,usd,per\naws.m6i.large,0.05,hour\n"),
    );
}

#[test]
#[ignore = "scripts/check-web builds the page"]
fn recordings_of_other_kinds_are_answered_as_by_the_program() {
    for (name, cloud) in [("temp-local-sort-4", "aws"), ("p30-my-update-8", "azure")] {
        let quiet = format!("crates/dbstow/tests/advice/quiet/{name}");
        asked(
            &format!("{quiet}.toml"),
            &format!("{quiet}.today.toml"),
            &[
                ("cloud", cloud),
                ("data", "64GiB"),
                ("log", "32GiB"),
                ("temp", "64GiB"),
            ],
            &["quick", "untested"],
            None,
        );
    }
}
