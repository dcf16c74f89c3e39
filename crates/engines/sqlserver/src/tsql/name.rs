//! Quoted names and literals.

use std::fmt;

/// A name of a database, file or table. It is written in brackets.
///
/// Source of the rules: Microsoft, "Database identifiers" (read 2026-11), and `QUOTENAME`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Name(String);

/// Why a text is not a name.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NameError {
    /// It is empty.
    #[error("a name is empty; give it 1 to {MAX} characters")]
    Empty,
    /// It is longer than SQL Server accepts.
    #[error("the name \"{name}\" has {length} characters; SQL Server takes {MAX} at most")]
    Long {
        /// The name.
        name: String,
        /// Its length in UTF-16 units, as SQL Server counts.
        length: usize,
    },
    /// It has a control character.
    #[error("the name {name:?} has a control character in it; leave it out")]
    Control {
        /// The name.
        name: String,
    },
}

/// Longest name (`sysname` is `nvarchar(128)`).
const MAX: usize = 128;

impl Name {
    /// Accepts any text that SQL Server accepts as a name, except for control characters.
    ///
    /// # Errors
    /// When it is empty, too long, or has control characters in it.
    pub fn new(name: impl Into<String>) -> Result<Name, NameError> {
        let name = name.into();
        let length = name.encode_utf16().count();
        if length == 0 {
            return Err(NameError::Empty);
        }
        if length > MAX {
            return Err(NameError::Long { name, length });
        }
        if name.chars().any(char::is_control) {
            return Err(NameError::Control { name });
        }
        Ok(Name(name))
    }

    /// The name itself, without brackets.
    pub fn text(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "[{}]", self.0.replace(']', "]]"))
    }
}

/// A text as a literal: `N'it''s'`.
pub fn literal(text: &str) -> String {
    format!("N'{}'", text.replace('\'', "''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn brackets_and_quotes_inside_are_doubled() {
        let name = Name::new("a]; DROP DATABASE x;--").expect("odd, but a name");
        assert_eq!(name.to_string(), "[a]]; DROP DATABASE x;--]");
        assert_eq!(literal("D:\\it's"), "N'D:\\it''s'");
    }

    #[test]
    fn what_is_no_name_is_refused() {
        assert_eq!(Name::new(""), Err(NameError::Empty));
        assert!(Name::new("x".repeat(128)).is_ok());
        // A letter outside of the basic plane counts twice.
        assert!(matches!(
            Name::new("𝄞".repeat(65)),
            Err(NameError::Long { length: 130, .. })
        ));
        assert!(matches!(Name::new("a\nGO"), Err(NameError::Control { .. })));
    }
}
