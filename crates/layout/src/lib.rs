//! Generates scripts that apply a placement on a server, and scripts that roll it back. Nothing here runs them.
//!
//! ```text
//! arm, folders ──► LayoutRequest ─┐
//!                                 ├─► LayoutProvider: a product ─► scripts, README
//! capture ──► CaptureFile ────────┘
//! ```
//!
//! What is laid out, folders as a server sees them and [quoting](quote) are the same for every product and are here; what
//! the scripts do is the product's. [`job`] generates scripts that run the trials of a plan on a cluster.
//!
//! The texts are files in `templates`, which look like the scripts; the code beside them decides the values, and `quote` how
//! they are quoted.

mod error;
mod folder;
pub mod job;
pub mod lint;
mod platform;
mod provider;
pub mod quote;
mod request;
mod script;
pub mod service;

pub use error::LayoutError;
pub use folder::{Folder, Style};
pub use platform::Platform;
pub use provider::{CaptureFile, LayoutProvider, Moves, meant, scripts};
pub use request::LayoutRequest;
pub use script::{README, Script};
