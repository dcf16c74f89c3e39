//! The fields of an Extended Event, and what they say.
//!
//! Source: <https://learn.microsoft.com/sql/relational-databases/extended-events/view-the-extended-events-equivalents-to-sql-trace-event-classes>
//! for the names of events, read 2026-11-29, and `sys.dm_xe_object_columns` as quoted there; those of actions and of a login:
//! <https://github.com/spaghettidba/WorkloadTools/blob/25ec96f/WorkloadTools/Listener/ExtendedEvents/FileTargetXEventDataReader.cs>.

use super::event::{Ended, Event, Events, Execution, Said};
use engine::logged::{LeftOut, LogError};

/// Names of fields and actions that are read; `statement` is the text of a call, `batch_text` that of a batch.
const NAMES: [&str; 13] = [
    "name",
    "timestamp",
    "batch_text",
    "statement",
    "sql_text",
    "duration",
    "row_count",
    "result",
    "database_name",
    "session_id",
    "event_sequence",
    "is_cached",
    "server_principal_name",
];

/// Names of those that stand for another where that is missing.
const OTHER_NAMES: [(&str, &str); 3] = [
    ("timestamp (utc)", "timestamp"),
    ("username", "server_principal_name"),
    ("session_server_principal_name", "server_principal_name"),
];

/// The values of an event.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Fields([Option<String>; NAMES.len()]);

impl Fields {
    /// The place of a field; `None`: it is not read.
    pub(crate) fn place(name: &str) -> Option<usize> {
        let name = name.trim();
        let is = |known: &str| known.eq_ignore_ascii_case(name);
        let other = OTHER_NAMES.iter().find(|(other, _)| is(other));
        let name = other.map_or(name, |(_, known)| known);
        NAMES
            .iter()
            .position(|known| known.eq_ignore_ascii_case(name))
    }

    /// Sets the field at a place.
    pub(crate) fn set(&mut self, place: usize, value: String) {
        let is_none = value.is_empty() || value == "NULL";
        if !is_none {
            self.0[place].get_or_insert(value);
        }
    }

    fn get(&self, name: &str) -> Option<&str> {
        let place = NAMES.iter().position(|known| *known == name)?;
        self.0[place].as_deref()
    }

    fn number<T: std::str::FromStr>(
        &self,
        name: &str,
        (place, events): (u64, &Events<'_>),
    ) -> Result<Option<T>, LogError> {
        let Some(text) = self.get(name) else {
            return Ok(None);
        };
        // Management Studio may group digits.
        let digits: String = text.trim().chars().filter(|c| *c != ',').collect();
        let number = digits.parse().map_err(|_| {
            let why = format!(
                "its {name} is \"{}\", and not a whole number",
                text.escape_debug()
            );
            events.wrong(place, why)
        });
        number.map(Some)
    }

    /// Adds the event that has these fields.
    ///
    /// # Errors
    /// When a field has a mistake, or there are more events than memory is for.
    pub(crate) fn add_to(self, place: u64, events: &mut Events<'_>) -> Result<(), LogError> {
        let name = self.get("name").unwrap_or_default().to_ascii_lowercase();
        let is_cached = self
            .get("is_cached")
            .is_some_and(|value| value.eq_ignore_ascii_case("true") || value == "1");
        let said = match name.as_str() {
            "sql_batch_completed" => self.execution("batch_text", (place, events))?,
            "rpc_completed" => self.execution("statement", (place, events))?,
            "sql_batch_starting" => self.start("batch_text", events),
            "rpc_starting" => self.start("statement", events),
            "begin_tran_completed" => Said::Transacts("BEGIN TRANSACTION"),
            "commit_tran_completed" => Said::Transacts("COMMIT TRANSACTION"),
            "rollback_tran_completed" => Said::Transacts("ROLLBACK TRANSACTION"),
            "save_tran_completed" => {
                // The name of the savepoint is not known for certain.
                events.gathering.leave(LeftOut::Protocol, 1);
                return Ok(());
            }
            "login" if !is_cached => Said::Connects,
            "logout" => Said::Quits,
            "attention" => {
                let text = self.get("sql_text");
                Said::Cancels(text.map(|text| events.gathering.text(text)))
            }
            _ => return Ok(()),
        };
        let time = self.get("timestamp").unwrap_or_default();
        let at_us = events.time(place, time)?;
        let session = self.number("session_id", (place, events))?;
        let session = session.ok_or_else(|| {
            let why = format!(
                "{name} has no session_id; add the action sqlserver.session_id to the event session"
            );
            events.wrong(place, why)
        })?;
        let sequence = self.number("event_sequence", (place, events))?;
        let mut kept = |name| self.get(name).map(|text| events.gathering.text(text));
        let (database, user) = (kept("database_name"), kept("server_principal_name"));
        events.add(Event {
            place,
            at_us,
            sequence: sequence.unwrap_or(0),
            session,
            database,
            user,
            said,
        })
    }

    fn start(&self, text: &str, events: &mut Events<'_>) -> Said {
        let text = self.get(text).map(|text| events.gathering.text(text));
        Said::Executes(Execution {
            text,
            at_begin: true,
            is_start: true,
            ..Execution::default()
        })
    }

    fn execution(&self, text: &str, at: (u64, &mut Events<'_>)) -> Result<Said, LogError> {
        let (place, events) = at;
        let result = self.get("result").map(str::to_ascii_lowercase);
        let took_us: Option<i64> = self.number("duration", (place, events))?;
        if took_us.is_some_and(i64::is_negative) {
            return Err(events.wrong(place, "its duration is negative"));
        }
        Ok(Said::Executes(Execution {
            took_us,
            rows: self.number("row_count", (place, events))?,
            text: self.get(text).map(|text| events.gathering.text(text)),
            result: match result.as_deref() {
                Some("ok" | "0") => Some(Ended::Well),
                Some("error" | "1") => Some(Ended::WithError),
                Some("abort" | "2") => Some(Ended::Cancelled),
                _ => None,
            },
            ..Execution::default()
        }))
    }
}
