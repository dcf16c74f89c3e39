//! Findings as text: each form is made from the same values, and computes none.

pub mod csv;
pub mod json;
pub mod terminal;

mod sentence;
mod words;

pub use crate::quantity::Quantity;
