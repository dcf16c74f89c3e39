//! What rules for all products share: a rule is data and a small function over a capture. It reports what it found, what
//! is fine, what is exempt and by which exception, and what cannot be determined and how to find out.
//!
//! ```text
//!  a capture's file ─► Captured ─► rules of its product ─► outcomes
//!            (here: how it is read)     (here: what they are, and how they are asked)
//! ```
//!
//! Products share what a rule is; facts about a server are each product's own. The rules themselves are in the crates of their products: one crate for all
//! would depend on the captures of every product.
//!
//! ```
//! use rules::{Finding, Outcome, Severity};
//!
//! let outcome = Finding::new(Severity::Note, "sync_binlog is 0").remedy("set it to 1");
//! assert!(matches!(outcome, Outcome::Finding(_)));
//! ```

#![warn(missing_docs)]

pub mod capture;
mod captured;
mod caught;
mod change;
mod outcome;
mod rule;
mod said;
mod server;
pub mod shown;

pub use captured::{Captured, CapturedProduct};
pub use caught::caught;
pub use change::Change;
pub use outcome::{Finding, Location, Outcome, Severity};
pub use rule::{Judged, Rule, Selection, Source, judge};
pub use said::said;
pub use server::{Checked, Host, HostVolume, Identity, RuleInfo, Server, Unconfirmed};
