//! The three lines that a server writes to a log when it opens it.

/// Where in them a reader is.
#[derive(Default)]
pub(crate) struct Header {
    left: u8,
}

/// What a line is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Part {
    /// The first of them.
    First,
    /// A later one.
    Later,
    /// None of them.
    None,
}

impl Header {
    pub(crate) fn take(&mut self, line: &str) -> Part {
        // `mariadbd, Version: 10.11.19-MariaDB (Debian 12). started with:`
        if line.ends_with(". started with:") && line.contains(", Version: ") {
            self.left = 2;
            return Part::First;
        }
        let is_later = line.starts_with("Tcp port: ")
            || line.starts_with("TCP Port: ")
            || line.starts_with("Time ")
            || line.starts_with("Time\t");
        match self.left > 0 && is_later {
            true => {
                self.left -= 1;
                Part::Later
            }
            false => {
                self.left = 0;
                Part::None
            }
        }
    }
}
