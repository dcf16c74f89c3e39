//! Findings as text: each form is made from the same values, and computes none.

pub mod csv;
pub mod json;
pub mod lint;
pub mod markdown;
pub mod page;
pub mod side_by_side;
pub mod terminal;

#[cfg(test)]
mod any_number;
mod disks;
mod place;
mod placements;
mod sentence;
mod split;
mod words;

pub use crate::quantity::Quantity;
