//! What helps against the waits that a server counts by its own names.

use reading::Role;

/// What helps against a wait event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WaitAdvice {
    /// The server's names of the event; one that ends in `*` is the beginning of several.
    pub events: &'static [&'static str],
    /// What sessions waited for, where the advice is about that alone.
    pub object: Option<&'static str>,
    /// What the wait is, in a sentence; the volumes follow.
    pub is: &'static str,
    /// The files whose volumes are named.
    pub files: Waited,
    /// What helps, behind the volumes.
    pub helps: &'static str,
}

/// The files that sessions waited for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Waited {
    /// Not files.
    NoFiles,
    /// Those of the event itself.
    OfEvent,
    /// Those of a role.
    Of(Role),
}
