//! What placements survived: the document, its displayed content, and its page.

mod check;
pub mod document;
mod page;
mod placement;
mod survived;
mod view;

pub use page::page;
pub use view::report;

#[cfg(test)]
mod tests;
