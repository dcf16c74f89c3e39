//! Captures of a server: what `dbstow doctor` shows of a file, and what `dbstow lint` reports on it.

use std::collections::BTreeSet;

use analysis::lint;
use analysis::report::lint::{json, report, sarif};
use analysis::report::{Extent, Width, terminal};
use rules::{Captured, Selection};
use sqlserver::capture::Capture;

/// Parses a capture, runs every rule on it, and renders all outcomes.
pub(crate) fn read(text: &str) -> Result<(), String> {
    if rules::capture::product(text).is_some() {
        return mariadb(text);
    }
    let capture = Capture::from_json("fuzz.json", text).map_err(|error| error.to_string())?;
    let written = serde_json::to_string(&capture).expect("a capture's keys are texts");
    let read = Capture::from_json("fuzz.json", &written).expect("what was written is a capture");
    assert_eq!(read, capture, "a capture reads back as it was written");
    checked(&capture);
    Ok(())
}

fn mariadb(text: &str) -> Result<(), String> {
    use mariadb::capture::Capture;

    let capture = Capture::from_json("fuzz.json", text).map_err(|error| error.to_string())?;
    let written = serde_json::to_string(&capture).expect("a capture's keys are texts");
    let read = Capture::from_json("fuzz.json", &written).expect("what was written is a capture");
    assert_eq!(read, capture, "a capture reads back as it was written");
    assert_eq!(capture.redacted().redacted(), capture.redacted());
    checked(&capture);
    Ok(())
}

/// Runs every rule on a server, and renders all outcomes.
fn checked(server: &dyn Captured) {
    let (selection, profiles) = (Selection::default(), BTreeSet::new());
    let checked = server.check(&selection, &profiles);
    let source = ("fuzz.json", server.identity());
    let document = lint::document(source, (&selection, &profiles), &checked, &[]);
    let texts = [
        server.report(),
        terminal::render(&report(&document), Width::default(), Extent::Full).to_string(),
        json(&document),
        sarif::render(&document),
    ];
    assert!(texts.iter().all(|text| !text.is_empty()));
}
