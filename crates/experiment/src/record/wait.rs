//! Wait events with engine-specific names, as counted in records.

use std::fmt;

use crate::spec::Role;

/// A wait event: the engine's name for it, and what it waited for, if known.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WaitEvent<'a> {
    /// The engine's name: `PAGEIOLATCH_SH`, `IO/DataFileRead`.
    pub name: &'a str,
    /// What it waited for, if known.
    pub on: Option<WaitsOn<'a>>,
}

/// What a session waited for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WaitsOn<'a> {
    /// A file of this role.
    Files(Role),
    /// Something in memory, as the engine's crate describes it.
    Object(&'a str),
}

impl fmt::Display for WaitEvent<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)?;
        match self.on {
            None => Ok(()),
            Some(WaitsOn::Files(role)) => write!(f, " of {role} files"),
            Some(WaitsOn::Object(object)) => write!(f, " of {object}"),
        }
    }
}

impl<'a> From<&'a str> for WaitEvent<'a> {
    fn from(text: &'a str) -> WaitEvent<'a> {
        let Some((name, object)) = text.split_once(" of ") else {
            return WaitEvent {
                name: text,
                on: None,
            };
        };
        let role = object.strip_suffix(" files");
        let role = Role::ALL
            .into_iter()
            .find(|known| role == Some(known.name()));
        let on = role.map_or(WaitsOn::Object(object), WaitsOn::Files);
        WaitEvent { name, on: Some(on) }
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
            ("PAGELATCH_UP", Some(WaitsOn::Object("a page"))),
            ("IO/DataFileRead", None),
        ] {
            let event = WaitEvent { name, on };
            assert_eq!(WaitEvent::of_counter(&event.counter()), Some(event));
        }
        assert_eq!(WaitEvent::of_counter("logical_reads"), None);
    }
}
