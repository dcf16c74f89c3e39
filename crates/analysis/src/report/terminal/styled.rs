//! Text whose pieces say what they mean, so that whoever prints it can colour them.
//!
//! There are no escape sequences in it: where names in it are made harmless before they reach a terminal, sequences
//! put in here would be made harmless too, and could not be told from those that a name brings along.

use std::fmt;

/// Text in pieces; its [`fmt::Display`] is the text alone.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Styled {
    pieces: Vec<(Tone, String)>,
}

/// What a piece of text means for its reader.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tone {
    /// Nothing in particular.
    Plain,
    /// A candidate is faster.
    Better,
    /// A candidate is slower.
    Worse,
    /// Not settled, or to be read before the rest is believed.
    Attention,
}

impl Styled {
    /// The pieces in their order.
    pub fn pieces(&self) -> impl Iterator<Item = (Tone, &str)> {
        self.pieces.iter().map(|(tone, text)| (*tone, &**text))
    }

    /// Adds text that means nothing in particular.
    pub fn push(&mut self, text: &str) {
        self.push_in(Tone::Plain, text);
    }

    /// Adds text that means `tone`.
    pub fn push_in(&mut self, tone: Tone, text: &str) {
        match self.pieces.last_mut() {
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
