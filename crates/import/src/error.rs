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
    /// The file leaves open what only the user knows.
    #[error("{file}: {message}")]
    Open {
        /// The file, as named by the caller.
        file: String,
        /// What is open, and the remedy.
        message: String,
        /// Between what to choose.
        choice: Choice,
    },
}

/// What a user chooses from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Choice {
    /// Devices with requests, as the file names them: those with the server's files, and what is on each ([`crate::Device`]).
    Devices(Vec<String>),
    /// SQL Servers whose counters are in the file: one, or several to add up.
    Instances(Vec<String>),
}

/// What is wrong with options, or missing in them, before it is known of which file.
pub(super) struct OptionError {
    message: String,
    choice: Option<Choice>,
}

impl OptionError {
    pub(super) fn open(message: String, choice: Choice) -> OptionError {
        OptionError {
            message,
            choice: Some(choice),
        }
    }

    /// The error, for the file.
    pub(super) fn of(self, file: &str) -> ImportError {
        let OptionError { message, choice } = self;
        match choice {
            None => ImportError::file(file, message),
            Some(choice) => ImportError::Open {
                file: file.to_owned(),
                message,
                choice,
            },
        }
    }
}

impl From<String> for OptionError {
    fn from(message: String) -> OptionError {
        OptionError {
            message,
            choice: None,
        }
    }
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
