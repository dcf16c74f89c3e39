//! A machine's operating system.

use experiment::spec;

/// A machine's operating system.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum System {
    /// Linux.
    #[default]
    Linux,
    /// Windows.
    Windows,
}

impl System {
    /// The system that machines are priced with, and why, where it was not `asked` for: that of the machine of `today`, or that
    /// which the counters of a profile come from: Windows, where they are `of_windows`.
    pub fn of(
        asked: Option<System>,
        today: Option<spec::System>,
        of_windows: bool,
    ) -> (System, Option<&'static str>) {
        const AS_TODAY: Option<&str> = Some("as today's layout says");
        match (asked, today) {
            (Some(asked), _) => (asked, None),
            (None, Some(spec::System::Windows)) => (System::Windows, AS_TODAY),
            (None, Some(spec::System::Linux)) => (System::Linux, AS_TODAY),
            (None, None) if of_windows => (System::Windows, Some("where the counters come from")),
            (None, None) => (System::Linux, None),
        }
    }
}
