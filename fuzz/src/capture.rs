//! Captures of a server: what `dbstow doctor` shows of a file, and what `dbstow lint` reports on it.

use analysis::lint;
use analysis::report::lint::{json, sarif, text as lint_text};
use analysis::report::terminal::{mariadb as shown, server};
use sqlserver::capture::Capture;
use sqlserver::lint::{Asked, judge};

/// Parses a capture, runs every rule on it, and renders all outcomes.
pub(crate) fn read(text: &str) -> Result<(), String> {
    if rules::capture::product(text).is_some() {
        return mariadb(text);
    }
    let capture = Capture::from_json("fuzz.json", text).map_err(|error| error.to_string())?;
    let written = serde_json::to_string(&capture).expect("a capture's keys are texts");
    let read = Capture::from_json("fuzz.json", &written).expect("what was written is a capture");
    assert_eq!(read, capture, "a capture reads back as it was written");
    let asked = Asked::default();
    let judged = judge(&capture, &asked);
    let document = lint::document(
        lint::Server::of_sql_server("fuzz.json", &capture),
        &asked,
        &judged,
        &[],
    );
    let texts = [
        server::render(&capture, None),
        lint_text::render(&document),
        json(&document),
        sarif::render(&document),
    ];
    assert!(texts.iter().all(|text| !text.is_empty()));
    Ok(())
}

fn mariadb(text: &str) -> Result<(), String> {
    use mariadb::capture::Capture;

    let capture = Capture::from_json("fuzz.json", text).map_err(|error| error.to_string())?;
    let written = serde_json::to_string(&capture).expect("a capture's keys are texts");
    let read = Capture::from_json("fuzz.json", &written).expect("what was written is a capture");
    assert_eq!(read, capture, "a capture reads back as it was written");
    assert_eq!(capture.redacted().redacted(), capture.redacted());
    let asked = Asked::default();
    let judged = mariadb::lint::judge(&capture, &asked.selection);
    let server = lint::Server::of_mariadb("fuzz.json", &capture);
    let document = lint::document(server, &asked, &judged, &[]);
    let texts = [
        shown::render(&capture),
        lint_text::render(&document),
        json(&document),
        sarif::render(&document),
    ];
    assert!(texts.iter().all(|text| !text.is_empty()));
    Ok(())
}
