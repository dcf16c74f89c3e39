//! Texts in Transact-SQL: names and literals that cannot be mistaken for anything else, and the statements
//! made of them.

mod name;
pub mod question;

pub use name::{Name, NameError, literal};
