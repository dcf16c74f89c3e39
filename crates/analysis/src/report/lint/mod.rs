//! Rule outcomes for a server: the report, and SARIF. The JSON document is the value itself.

pub mod list;
pub mod sarif;
mod view;

use crate::lint::Document;
pub use view::report;

/// The document as JSON (`schema/lint.schema.json`), ending in a line feed.
pub fn json(document: &Document) -> String {
    let mut text = serde_json::to_string_pretty(document).expect("its keys are texts");
    text.push('\n');
    text
}
