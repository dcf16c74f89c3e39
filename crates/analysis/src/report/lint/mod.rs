//! Rule outcomes for a server: for a terminal, and as SARIF. The JSON document is the value itself.

pub mod list;
#[cfg(feature = "sarif")]
pub mod sarif;
pub mod text;

use crate::lint::Document;

/// The document as JSON (`schema/lint.schema.json`), ending in a line feed.
pub fn json(document: &Document) -> String {
    let mut text = serde_json::to_string_pretty(document).expect("its keys are texts");
    text.push('\n');
    text
}
