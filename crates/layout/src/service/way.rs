//! A way from one server to another: commands, and what they change.

/// A way from one server to another.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Way {
    /// Commands, in their order.
    pub(super) commands: Vec<String>,
    /// What they change.
    pub(super) steps: Vec<Step>,
    /// What they cannot change; sentences.
    pub(super) left: Vec<String>,
    /// What else is to be known of them; sentences.
    pub(super) notes: Vec<String>,
}

/// One thing that changes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Step {
    pub(super) what: &'static str,
    /// As it is; empty where that is not known.
    pub(super) from: String,
    pub(super) to: String,
    /// What is documented of the time meanwhile.
    pub(super) during: String,
}

impl Step {
    /// What it was, for a table.
    pub(super) fn today_shown(&self) -> &str {
        if self.from.is_empty() {
            "-"
        } else {
            &self.from
        }
    }
}
