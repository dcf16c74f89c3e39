//! Variables: names while scripts are parsed, numbered slots while they run.

use std::sync::Arc;

use super::value::Value;

/// Variables that dbstow sets itself, in the order of their slots.
///
/// `client_id` and `session` are the session's number from 0 (the former is pgbench's name for it),
/// `sessions` how many there are, `operation` the number of this session's operation from 0, and
/// `scale` is 1 unless the workload has a parameter of that name.
pub const BUILTIN_VARIABLES: [&str; 5] = ["client_id", "session", "sessions", "operation", "scale"];

const CLIENT_ID: usize = 0;
const SESSION: usize = 1;
const SESSIONS: usize = 2;
const OPERATION: usize = 3;
const SCALE: usize = 4;

/// The index of a variable in [`Variables`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Slot(pub(super) usize);

/// All variables named by the scripts of a workload; scripts that share it share variables.
#[derive(Clone, Debug)]
pub struct Names {
    entries: Vec<Entry>,
}

#[derive(Clone, Debug)]
struct Entry {
    name: String,
    /// Whether it is built in, a parameter, or set by a script.
    defined: bool,
    first_use: Option<(String, u32)>,
}

/// A variable that is read but never set.
pub(super) struct Undefined<'a> {
    pub(super) name: &'a str,
    pub(super) file: &'a str,
    pub(super) line: u32,
}

impl Default for Names {
    fn default() -> Names {
        Names::new()
    }
}

impl Names {
    /// The built-in variables only.
    pub fn new() -> Names {
        let entry = |name: &&str| Entry {
            name: (*name).to_owned(),
            defined: true,
            first_use: None,
        };
        Names {
            entries: BUILTIN_VARIABLES.iter().map(entry).collect(),
        }
    }

    /// Defines `name` as having a value before any script runs.
    pub fn define(&mut self, name: &str) -> Slot {
        let slot = self.slot(name);
        self.entries[slot.0].defined = true;
        slot
    }

    /// Notes that `line` of `file` reads `name`.
    pub(super) fn reference(&mut self, name: &str, file: &str, line: u32) -> Slot {
        let slot = self.slot(name);
        let entry = &mut self.entries[slot.0];
        if entry.first_use.is_none() {
            entry.first_use = Some((file.to_owned(), line));
        }
        slot
    }

    /// Whether a script reads `name`.
    pub(super) fn is_read(&self, name: &str) -> bool {
        let slot = self.find(name);
        slot.is_some_and(|slot| self.entries[slot.0].first_use.is_some())
    }

    /// The first variable that is read but never set.
    pub(super) fn undefined(&self) -> Option<Undefined<'_>> {
        self.entries.iter().find_map(|entry| {
            let (file, line) = entry.first_use.as_ref()?;
            (!entry.defined).then_some(Undefined {
                name: &entry.name,
                file,
                line: *line,
            })
        })
    }

    /// Names of the variables that are ever set.
    pub(super) fn defined(&self) -> impl Iterator<Item = &str> {
        self.entries
            .iter()
            .filter(|entry| entry.defined)
            .map(|entry| entry.name.as_str())
    }

    fn find(&self, name: &str) -> Option<Slot> {
        self.entries
            .iter()
            .position(|entry| entry.name == name)
            .map(Slot)
    }

    fn slot(&mut self, name: &str) -> Slot {
        self.find(name).unwrap_or_else(|| {
            self.entries.push(Entry {
                name: name.to_owned(),
                defined: false,
                first_use: None,
            });
            Slot(self.entries.len() - 1)
        })
    }
}

/// The variables of one session; they keep their values from one operation to the next.
#[derive(Clone, Debug)]
pub struct Variables {
    names: Arc<Names>,
    values: Vec<Option<Value>>,
    /// Buffer for the arguments of a statement, reused to avoid an allocation per statement.
    pub(super) arguments: Vec<Value>,
}

impl Variables {
    /// The variables of session number `session` (from 0) of `sessions`.
    pub fn new(names: Arc<Names>, session: u32, sessions: u32) -> Variables {
        let mut values = vec![None; names.entries.len()];
        values[CLIENT_ID] = Some(Value::Int(i64::from(session)));
        values[SESSION] = Some(Value::Int(i64::from(session)));
        values[SESSIONS] = Some(Value::Int(i64::from(sessions)));
        values[OPERATION] = Some(Value::Int(0));
        values[SCALE] = Some(Value::Int(1));
        Variables {
            names,
            values,
            arguments: Vec::new(),
        }
    }

    /// Sets `:operation`, the number of the session's operation from 0.
    pub fn set_operation(&mut self, operation: u64) {
        let number = i64::try_from(operation).expect("no session runs 2^63 operations");
        self.values[OPERATION] = Some(Value::Int(number));
    }

    /// Sets a variable by name; returns whether any script uses it.
    pub fn set(&mut self, name: &str, value: Value) -> bool {
        match self.names.find(name) {
            Some(slot) => {
                self.values[slot.0] = Some(value);
                true
            }
            None => false,
        }
    }

    /// The value of a variable, if it has one.
    pub fn value(&self, name: &str) -> Option<&Value> {
        self.names.find(name).and_then(|slot| self.at(slot))
    }

    pub(super) fn at(&self, slot: Slot) -> Option<&Value> {
        self.values[slot.0].as_ref()
    }

    pub(super) fn assign(&mut self, slot: Slot, value: Value) {
        self.values[slot.0] = Some(value);
    }

    pub(super) fn name(&self, slot: Slot) -> &str {
        &self.names.entries[slot.0].name
    }
}
