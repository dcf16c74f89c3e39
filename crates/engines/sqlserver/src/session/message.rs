//! Errors and notices of a server.

use std::fmt;

/// A message or error of the server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Message {
    /// Its number in `sys.messages`.
    pub number: u32,
    /// Severity: 0 to 10 informs, 11 and above is an error, 20 and above ends the connection.
    pub class: u8,
    /// Where in the server it came from.
    pub state: u8,
    /// Line of the batch or procedure, from 1; 0: none.
    pub line: u32,
    /// Its text, in the server's language.
    pub text: String,
}

impl fmt::Display for Message {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Message { number, class, .. } = self;
        write!(f, "error {number}, class {class}")?;
        if self.line > 0 {
            write!(f, ", line {}", self.line)?;
        }
        write!(f, ": {}", self.text.trim_end())
    }
}
