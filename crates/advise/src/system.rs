//! A machine's operating system.

/// A machine's operating system.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum System {
    /// Linux.
    #[default]
    Linux,
    /// Windows.
    Windows,
}
