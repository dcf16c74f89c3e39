//! What placements survived: the document, its displayed content, and its page.

mod check;
pub mod document;
mod page;
mod shown;
mod survived;

pub use page::page;
pub use shown::Shown;

#[cfg(test)]
mod tests;
