//! dbstow in a browser: what the page asks, and what it gets.
//!
//! ```text
//! files ──import──> profile ──┐
//! today's layout ─────────────┴─back_test──> does it fit? ──advise──> document, page, experiment of the finalists, command
//!                                                         └────────> sliders ──replayed──> price and time of a changed layout
//! ```
//!
//! A thin seam: everything is computed by the libraries that the program calls, from texts in memory, and the answer is byte for
//! byte what `dbstow advise` writes. It opens no file, reads no clock, and starts no thread.

mod advice;
mod command;
mod engines;
mod form;
mod imported;
#[cfg(not(target_family = "wasm"))]
mod known;
#[cfg(not(target_family = "wasm"))]
mod page;
mod today;
#[cfg(target_family = "wasm")]
pub mod wasm;
mod what_if;

use serde::Serialize;

pub use advice::{Advised, Answer, advise};
pub use form::{AdviceForm, ImportOptions, Prices};
pub use imported::{Dropped, Imported, NotImported, check_size, import};
#[cfg(not(target_family = "wasm"))]
pub use page::{Example, Parts, page};
pub use today::{Tested, back_test};
pub use what_if::{Adjustable, Moved, Replayed, Slider, Sliders};

/// Why there is no answer: one plain sentence, with the remedy.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, thiserror::Error)]
#[error("{0}")]
pub struct Refused(pub String);

impl Refused {
    /// An error of a library, with its causes.
    pub(crate) fn because(error: &dyn std::error::Error) -> Refused {
        let mut text = error.to_string();
        let mut source = error.source();
        while let Some(cause) = source {
            text = format!("{text}: {cause}");
            source = cause.source();
        }
        Refused(text)
    }
}

impl From<String> for Refused {
    fn from(text: String) -> Refused {
        Refused(text)
    }
}
