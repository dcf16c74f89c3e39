//! Text in pieces tagged with their meaning, so that the caller can colour them.
//!
//! It contains no escape sequences: names are escaped before they reach a terminal, and sequences added here would be
//! escaped with them, as they cannot be distinguished from those in a name.

use std::fmt;

/// Text in pieces; [`fmt::Display`] prints only the text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Styled {
    pieces: Vec<(Tone, String)>,
}

/// What a piece of text means for its reader.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tone {
    /// Plain text.
    Plain,
    /// A candidate is faster.
    Better,
    /// A candidate is slower.
    Worse,
    /// Inconclusive, or must be read before relying on the rest.
    Attention,
}

impl Styled {
    /// The pieces in their order.
    pub fn pieces(&self) -> impl Iterator<Item = (Tone, &str)> {
        self.pieces.iter().map(|(tone, text)| (*tone, &**text))
    }

    /// Adds plain text.
    pub fn push(&mut self, text: &str) {
        self.push_in(Tone::Plain, text);
    }

    /// Adds plain text, if there is something above it.
    pub fn push_below(&mut self, text: &str) {
        if !self.pieces.is_empty() {
            self.push(text);
        }
    }

    /// Adds all of another text.
    pub fn append(&mut self, other: Styled) {
        for (tone, text) in other.pieces {
            self.push_in(tone, &text);
        }
    }

    /// Adds text with this `tone`.
    pub fn push_in(&mut self, tone: Tone, text: &str) {
        match self.pieces.last_mut() {
            _ if text.is_empty() => {}
            Some((last, piece)) if *last == tone => piece.push_str(text),
            Some(_) | None => self.pieces.push((tone, text.to_owned())),
        }
    }
}

impl fmt::Display for Styled {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.pieces().try_for_each(|(_, text)| f.write_str(text))
    }
}
