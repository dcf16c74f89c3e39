//! Wait events with engine-specific names, as counted in records.

use std::fmt;

use crate::spec::Role;

/// A wait event: the engine's name for it, and what it waited for, if known.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WaitEvent<'a> {
    /// The engine's name: `PAGEIOLATCH_SH`, `IO/DataFileRead`.
    pub name: &'a str,
    /// What it waited for, if known.
    pub on: Option<WaitsOn>,
}

/// What a session waited for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WaitsOn {
    /// A file of this role.
    Files(Role),
    /// An allocation page of a tempdb file, which tracks free space.
    AllocationPage,
}

const ALLOCATION_PAGE: &str = " of an allocation page in tempdb";

impl fmt::Display for WaitEvent<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)?;
        match self.on {
            None => Ok(()),
            Some(WaitsOn::Files(role)) => write!(f, " of {role} files"),
            Some(WaitsOn::AllocationPage) => f.write_str(ALLOCATION_PAGE),
        }
    }
}

impl<'a> From<&'a str> for WaitEvent<'a> {
    fn from(text: &'a str) -> WaitEvent<'a> {
        if let Some(name) = text.strip_suffix(ALLOCATION_PAGE) {
            let on = Some(WaitsOn::AllocationPage);
            return WaitEvent { name, on };
        }
        let of_role = |role: Role| {
            let name = text.strip_suffix(" files")?.strip_suffix(role.name())?;
            let on = Some(WaitsOn::Files(role));
            Some(WaitEvent {
                name: name.strip_suffix(" of ")?,
                on,
            })
        };
        let named = Role::ALL.into_iter().find_map(of_role);
        named.unwrap_or(WaitEvent {
            name: text,
            on: None,
        })
    }
}

impl<'a> WaitEvent<'a> {
    /// The event of a counter in [`super::Record::counters`]; `None` for other counters.
    pub fn of_counter(name: &'a str) -> Option<WaitEvent<'a>> {
        let event = name.strip_prefix("wait.")?.strip_suffix("_s")?;
        Some(WaitEvent::from(event))
    }

    /// Name of the counter with the time, in seconds, that sessions waited for this.
    pub fn counter(&self) -> String {
        format!("wait.{self}_s")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_event_reads_back_from_its_counter() {
        for (name, on) in [
            ("PAGEIOLATCH_SH", Some(WaitsOn::Files(Role::Temp))),
            ("PAGELATCH_UP", Some(WaitsOn::AllocationPage)),
            ("IO/DataFileRead", None),
        ] {
            let event = WaitEvent { name, on };
            assert_eq!(WaitEvent::of_counter(&event.counter()), Some(event));
        }
        assert_eq!(WaitEvent::of_counter("logical_reads"), None);
    }
}
