//! Advice: what `dbstow verify` and `dbstow report` make of a file `advice.json`.

use advise::verify::{Promise, Verification};
use analysis::report::advice::{Advice, page, report};
use analysis::report::{Extent, terminal};
use table::Width;

use crate::meaning::is_real_document;

/// A recording that is compared with it.
const AFTER: &str = r#"format = "dbstow.profile/1"
start = "2026-11-27T10:00:00Z"
[origin]
tool = "dbstow record"
[intervals]
at_s = [0.0]
length_s = [10.0]
operations = [2000.0]
running = [8.0]
[intervals.waiting]
data_read = [6.0]
[intervals.data]
reads = [4000.0]
read_bytes = [81920000.0]
read_wait_s = [10.0]
"#;

/// Parses advice, compares it, and renders the comparison in every form.
pub(crate) fn read(text: &str) -> Result<(), String> {
    if let Ok(advice) = Advice::read("fuzz.json", text) {
        let _ = terminal::render(&report(&advice, true), Width::default(), Extent::Full);
        let _ = page(&advice);
    }
    let promise = Promise::read("fuzz.json", text, None).map_err(|error| error.to_string())?;
    let after = profile::read("after.toml", AFTER).expect("a profile");
    let verified = Verification::of(promise, ("after.toml", &after));
    let verified = verified.map_err(|error| error.to_string())?;
    let _ = terminal::render(&verified.report(), Width::default(), Extent::Full);
    is_real_document(&verified.evidence());
    Ok(())
}
