//! A SQL dialect: how scripts in it are read, and by which words it is detected.

/// A product's SQL, as far as scripts in it are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Dialect {
    /// The engine that executes it: scripts in it end in `.ENGINE.sql`, except SQLite's.
    pub engine: &'static str,
    /// Its name in sentences: `T-SQL`.
    pub title: &'static str,
    /// The product in sentences.
    pub product: &'static str,
    /// The mode that executes it: `simulate`, `emulate` or `measure`.
    pub mode: &'static str,
    /// What no other dialect has, in upper case. Words that two dialects share are in neither list.
    pub words: &'static [&'static str],
    /// How statements refer to their parameters.
    pub placeholder: Placeholder,
    /// Where quotes, comments and statements end.
    pub grammar: Grammar,
}

/// How statements of a dialect refer to their parameters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Placeholder {
    /// By this and a number from 1: a variable that occurs twice is one parameter.
    Numbered(&'static str),
    /// By this alone: a variable that occurs twice is two parameters.
    InOrder(&'static str),
}

/// Where quotes, comments and statements of a dialect end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Grammar {
    /// A statement ends at `;`, a trigger at `; END;`.
    Plain,
    /// As T-SQL: `[names]`, nested comments, words with `#`; blocks of statements, and batches that end at `GO`, a line for the
    /// client.
    Batches,
    /// Backslashes in texts, comments that begin with `#`, the content of `/*! .. */` is SQL; stored programs have blocks of
    /// statements, and `DELIMITER` is for the client.
    Programs,
}
