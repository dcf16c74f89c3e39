//! Extended Events as XML: what `sys.fn_xe_file_target_read_file` gives as `event_data`, one event behind the other, with an element
//! around them or without.
//!
//! ```text
//! <event name="sql_batch_completed" package="sqlserver" timestamp="2026-11-28T09:00:00.123Z">
//!   <data name="duration"><value>1234</value></data>
//!   <data name="result"><value>0</value><text>OK</text></data>
//!   <action name="session_id" package="sqlserver"><value>53</value></action>
//! </event>
//! ```
//!
//! Source: <https://learn.microsoft.com/sql/relational-databases/system-functions/sys-fn-xe-file-target-read-file-transact-sql>, read
//! 2026-11-29.

use std::io::{self, BufRead};

use quick_xml::Reader;
use quick_xml::escape::resolve_predefined_entity;
use quick_xml::events::{BytesRef, BytesStart, Event as Part};

use super::event::Events;
use super::fields::Fields;
use engine::log_lines::Bounded;
use engine::logged::LogError;

/// What is being read.
#[derive(Default)]
struct Open {
    fields: Fields,
    /// The field whose element is open; `None` within: it is not read.
    field: Option<usize>,
    /// Its value so far.
    value: String,
    /// Names of open elements within the event, from that of the field on.
    depth: usize,
    /// Whether its value is being read.
    in_value: bool,
}

/// Reads all events.
///
/// # Errors
/// When it is not XML, or an event has a mistake.
pub(crate) fn read(from: impl BufRead, events: &mut Events<'_>) -> Result<(), LogError> {
    let (bounded, entry_bytes) = Bounded::new(from);
    let mut reader = Reader::from_reader(bounded);
    let mut place = 1;
    let mut open: Option<Open> = None;
    let mut buffer = Vec::new();
    loop {
        buffer.clear();
        let part = reader.read_event_into(&mut buffer);
        let part = part.map_err(|error| match &error {
            quick_xml::Error::Io(io) if io.kind() == io::ErrorKind::FileTooLarge => {
                events.too_long(place)
            }
            error => events.wrong(place, error),
        })?;
        match (part, &mut open) {
            (Part::Eof, None) => return Ok(()),
            (Part::Eof, Some(_)) => {
                events.gathering.half_line = true;
                return Ok(());
            }
            (Part::Start(element), None) if element.local_name().as_ref() == "event" => {
                let mut begun = Open::default();
                for name in ["name", "timestamp"] {
                    let value = attribute(&element, name);
                    let value = value.map_err(|error| events.wrong(place, error))?;
                    if let Some((value, field)) = value.zip(Fields::place(name)) {
                        begun.fields.set(field, value);
                    }
                }
                open = Some(begun);
            }
            (Part::Start(element), Some(event)) => {
                let begun = event.begin(&element);
                begun.map_err(|error| events.wrong(place, error))?;
            }
            (Part::End(_), Some(event)) if event.depth > 0 => event.end(),
            (Part::End(_), Some(_)) => {
                let event = open.take().expect("it was matched");
                event.fields.add_to(place, events)?;
                place += 1;
                entry_bytes.restart();
            }
            (Part::Text(text), Some(event)) if event.in_value => {
                event.value.push_str(&text.xml10_content());
            }
            (Part::CData(text), Some(event)) if event.in_value => {
                event.value.push_str(&text.xml10_content());
            }
            (Part::GeneralRef(reference), Some(event)) if event.in_value => {
                let letters = resolved(&reference);
                let letters = letters.map_err(|why| events.wrong(place, why))?;
                event.value.push_str(&letters);
            }
            _ => {}
        }
    }
}

impl Open {
    /// An element within the event begins.
    fn begin(&mut self, element: &BytesStart<'_>) -> Result<(), quick_xml::Error> {
        self.depth += 1;
        let name = element.local_name();
        match (self.depth, name.as_ref()) {
            (1, "data" | "action") => {
                let name = attribute(element, "name")?;
                self.field = name.and_then(|name| Fields::place(&name));
            }
            // A result has its number as value, and its name as text.
            (2, "value") if self.field.is_some() => {
                self.value.clear();
                self.in_value = true;
            }
            // Of a value that is XML itself, the texts.
            _ => {}
        }
        Ok(())
    }

    /// The innermost element ends.
    fn end(&mut self) {
        if self.depth == 2
            && std::mem::take(&mut self.in_value)
            && let Some(field) = self.field
        {
            self.fields.set(field, std::mem::take(&mut self.value));
        }
        if self.depth == 1 {
            self.field = None;
        }
        self.depth -= 1;
    }
}

fn attribute(element: &BytesStart<'_>, name: &str) -> Result<Option<String>, quick_xml::Error> {
    let Some(attribute) = element.try_get_attribute(name)? else {
        return Ok(None);
    };
    let value = attribute.normalized_value(quick_xml::XmlVersion::Implicit1_0)?;
    Ok(Some(value.into_owned()))
}

/// The characters that a reference stands for. Those that a document defines itself are refused.
fn resolved(reference: &BytesRef<'_>) -> Result<String, String> {
    let letter = reference
        .resolve_char_ref()
        .map_err(|error| error.to_string())?;
    let name = reference.xml10_content();
    let known = resolve_predefined_entity(&name).map(str::to_owned);
    known.or(letter.map(String::from)).ok_or_else(|| {
        format!(
            "&{}; is none of XML's own entities, and no other is read",
            name.escape_debug()
        )
    })
}
