//! The report on a rehearsal: what of a log was replayed, whether it went as recorded, and which statements changed.

pub mod document;
mod objects;
mod view;

pub use view::report;
