//! Errors in files of other tools.

use thiserror::Error;

/// Why an import failed.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum ImportError {
    /// A line of it.
    #[error("{file}:{line}: {message}")]
    Line {
        /// The file, as named by the caller.
        file: String,
        /// Line, from 1.
        line: usize,
        /// What is wrong there, and the remedy.
        message: String,
    },
    /// The file as a whole.
    #[error("{file}: {message}")]
    File {
        /// The file, as named by the caller.
        file: String,
        /// What is wrong, and the remedy.
        message: String,
    },
}

impl ImportError {
    pub(crate) fn file(file: &str, message: impl Into<String>) -> ImportError {
        ImportError::File {
            file: file.to_owned(),
            message: message.into(),
        }
    }

    pub(super) fn line(file: &str, line: usize, message: impl Into<String>) -> ImportError {
        ImportError::Line {
            file: file.to_owned(),
            line,
            message: message.into(),
        }
    }
}
