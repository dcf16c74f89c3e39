//! What sessions and requests spend time on, and what limits them. Only this module writes and parses their text
//! forms, which are the names in records, findings and readings.
//!
//! Everything sorts word by word, which equals the order of the texts as long as no name has a sign
//! that sorts before a dot.

use std::cmp::Ordering;
use std::fmt;
use std::str::FromStr;

use model::split::{self, Spent as ModelSpent};
use model::store;
use model::{Operation, Throttle};
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// How a session spent its time.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Cause {
    /// `client`: dbstow itself, while the engine was idle.
    Client,
    /// `cpu`: computing.
    Cpu,
    /// `cpu.queued`: waiting for a processor.
    CpuQueued,
    /// `lock`: waiting for another session.
    Lock,
    /// `other`: waiting for something else inside the engine.
    Other,
    /// `think`: sleeping, between operations or because its script does.
    Think,
    /// `read.service`, ..: waiting for I/O.
    Io(Io, Part),
}

/// I/O that a session waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Io {
    /// `log`: the log.
    Log,
    /// `read`: reads of data and temp files.
    Read,
    /// `write`: writes of data and temp files.
    Write,
}

/// How the requests of one kind spent their time at a disk.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Spent {
    /// Their kind.
    pub operation: Operation,
    /// The part.
    pub part: Part,
}

/// The part of a request that takes time.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Part {
    /// `queued`: waiting for a place in flight.
    Queued,
    /// `service`: being served by the disk.
    Service,
    /// `throttled.<limit>`: throttled by a limit.
    Throttled(Limit),
}

/// A limit of disks or of their machine.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Limit {
    /// Its owner.
    pub owner: Owner,
    /// What it limits; `None` for the limit as a whole.
    pub measure: Option<Measure>,
}

/// The owner of a limit.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Owner {
    /// `disk`: any disk.
    Disks,
    /// `disk.<name>`: one disk.
    Disk(String),
    /// `machine.<limit>`: the machine, by the limit's name.
    Machine(String),
}

/// What a limit limits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Measure {
    /// `credits`: the sustained rate that remains when burst credits are spent.
    Credits,
    /// `iops`: requests per second.
    Iops,
    /// `throughput`: bytes per second.
    Throughput,
}

/// A text that is not a cause, part or limit.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("\"{text}\" is not a {what}")]
pub struct UnknownName {
    what: &'static str,
    text: String,
}

/// The words of a text form, joined by dots; absent ones are empty.
type Words<'a> = [&'a str; 5];

impl Limit {
    /// The limit that held a request back. `machine_limits` are the names of the machine's limits in order.
    ///
    /// # Panics
    /// When `by` is a limit of another machine.
    pub fn that_throttled(by: Throttle, machine_limits: &[String]) -> Limit {
        Limit {
            owner: match by.owner {
                model::Owner::Disk => Owner::Disks,
                model::Owner::Machine(place) => {
                    Owner::Machine(machine_limits[usize::from(place)].clone())
                }
            },
            measure: Some(match by.measure {
                _ if by.credits => Measure::Credits,
                model::Measure::Iops => Measure::Iops,
                model::Measure::Throughput => Measure::Throughput,
            }),
        }
    }

    /// A limit of one disk, `<volume>.<number from 1>`.
    pub fn of_disk(disk: impl Into<String>, measure: Measure) -> Limit {
        Limit {
            owner: Owner::Disk(disk.into()),
            measure: Some(measure),
        }
    }

    /// The machine limit of this name as a whole; `None` for limits of disks.
    pub fn of_machine_as_a_whole(&self) -> Option<Limit> {
        matches!(self.owner, Owner::Machine(_)).then(|| Limit {
            owner: self.owner.clone(),
            measure: None,
        })
    }

    fn words(&self) -> [&str; 3] {
        let measure = self.measure.map_or("", Measure::name);
        match &self.owner {
            Owner::Disks => ["disk", measure, ""],
            Owner::Disk(name) => ["disk", name, measure],
            Owner::Machine(limit) => ["machine", limit, measure],
        }
    }
}

impl Measure {
    /// Its text form.
    pub fn name(self) -> &'static str {
        match self {
            Measure::Credits => "credits",
            Measure::Iops => "iops",
            Measure::Throughput => "throughput",
        }
    }

    fn named(text: &str) -> Option<Measure> {
        let all = [Measure::Credits, Measure::Iops, Measure::Throughput];
        all.into_iter().find(|measure| measure.name() == text)
    }
}

impl From<model::Measure> for Measure {
    fn from(measure: model::Measure) -> Measure {
        match measure {
            model::Measure::Iops => Measure::Iops,
            model::Measure::Throughput => Measure::Throughput,
        }
    }
}

impl Part {
    /// Converts from the model. `machine_limits` are the names of the machine's limits in order.
    ///
    /// # Panics
    /// When it is a limit of another machine.
    pub fn of(part: split::Part, machine_limits: &[String]) -> Part {
        match part {
            split::Part::Service => Part::Service,
            split::Part::Queued => Part::Queued,
            split::Part::Throttled(by) => {
                Part::Throttled(Limit::that_throttled(by, machine_limits))
            }
        }
    }

    fn words(&self) -> [&str; 4] {
        match self {
            Part::Queued => ["queued", "", "", ""],
            Part::Service => ["service", "", "", ""],
            Part::Throttled(limit) => {
                let [one, two, three] = limit.words();
                ["throttled", one, two, three]
            }
        }
    }
}

impl Io {
    /// All of them.
    pub const ALL: [Io; 3] = [Io::Log, Io::Read, Io::Write];

    /// Its text form.
    pub fn name(self) -> &'static str {
        match self {
            Io::Log => "log",
            Io::Read => "read",
            Io::Write => "write",
        }
    }
}

impl Cause {
    /// Converts from the model. `machine_limits` are the names of the machine's limits in order.
    ///
    /// # Panics
    /// When it is a limit of another machine.
    pub fn of(spent: ModelSpent, machine_limits: &[String]) -> Cause {
        match spent {
            ModelSpent::Cpu => Cause::Cpu,
            ModelSpent::CpuQueued => Cause::CpuQueued,
            ModelSpent::Lock => Cause::Lock,
            ModelSpent::Think => Cause::Think,
            ModelSpent::Waiting(cause, part) => {
                let io = match cause {
                    store::Cause::Read => Io::Read,
                    store::Cause::Write => Io::Write,
                    store::Cause::Log => Io::Log,
                };
                Cause::Io(io, Part::of(part, machine_limits))
            }
        }
    }

    /// The I/O that it waits for, if any.
    pub fn io(&self) -> Option<Io> {
        match self {
            Cause::Io(io, _) => Some(*io),
            Cause::Client
            | Cause::Cpu
            | Cause::CpuQueued
            | Cause::Lock
            | Cause::Other
            | Cause::Think => None,
        }
    }

    /// The limit that throttled.
    pub fn throttled_by(&self) -> Option<&Limit> {
        match self {
            Cause::Io(_, Part::Throttled(limit)) => Some(limit),
            Cause::Io(_, Part::Queued | Part::Service)
            | Cause::Client
            | Cause::Cpu
            | Cause::CpuQueued
            | Cause::Lock
            | Cause::Other
            | Cause::Think => None,
        }
    }

    fn words(&self) -> Words<'_> {
        let one = |word| [word, "", "", "", ""];
        match self {
            Cause::Client => one("client"),
            Cause::Cpu => one("cpu"),
            Cause::CpuQueued => ["cpu", "queued", "", "", ""],
            Cause::Lock => one("lock"),
            Cause::Other => one("other"),
            Cause::Think => one("think"),
            Cause::Io(io, part) => {
                let [two, three, four, five] = part.words();
                [io.name(), two, three, four, five]
            }
        }
    }
}

impl Spent {
    fn words(&self) -> Words<'_> {
        let [two, three, four, five] = self.part.words();
        [operation_name(self.operation), two, three, four, five]
    }
}

/// The word for an operation, here and in traces.
pub fn operation_name(operation: Operation) -> &'static str {
    match operation {
        Operation::Read => "read",
        Operation::Write => "write",
        Operation::Flush => "flush",
    }
}

fn unknown(what: &'static str, text: &str) -> UnknownName {
    UnknownName {
        what,
        text: text.to_owned(),
    }
}

impl FromStr for Limit {
    type Err = UnknownName;

    fn from_str(text: &str) -> Result<Limit, UnknownName> {
        let unknown = || unknown("limit", text);
        let (owner, rest) = text.split_once('.').ok_or_else(unknown)?;
        if rest.split('.').any(str::is_empty) {
            return Err(unknown());
        }
        let split = rest.rsplit_once('.');
        // Names may contain dots.
        let last = split.and_then(|(name, last)| Some((name, Measure::named(last)?)));
        let (owner, measure) = match (owner, last, Measure::named(rest)) {
            ("disk", _, Some(measure)) => (Owner::Disks, Some(measure)),
            ("disk", Some((disk, measure)), None) => (Owner::Disk(disk.to_owned()), Some(measure)),
            ("machine", Some((limit, measure)), _) => {
                (Owner::Machine(limit.to_owned()), Some(measure))
            }
            ("machine", None, _) => (Owner::Machine(rest.to_owned()), None),
            (_, _, _) => return Err(unknown()),
        };
        Ok(Limit { owner, measure })
    }
}

impl FromStr for Part {
    type Err = UnknownName;

    fn from_str(text: &str) -> Result<Part, UnknownName> {
        match text.split_once('.') {
            None if text == "queued" => Ok(Part::Queued),
            None if text == "service" => Ok(Part::Service),
            Some(("throttled", limit)) => limit.parse().map(Part::Throttled),
            None | Some(_) => Err(unknown("part of a request", text)),
        }
    }
}

impl FromStr for Cause {
    type Err = UnknownName;

    fn from_str(text: &str) -> Result<Cause, UnknownName> {
        let unknown = || unknown("cause", text);
        match text {
            "client" => Ok(Cause::Client),
            "cpu" => Ok(Cause::Cpu),
            "cpu.queued" => Ok(Cause::CpuQueued),
            "lock" => Ok(Cause::Lock),
            "other" => Ok(Cause::Other),
            "think" => Ok(Cause::Think),
            waiting => {
                let (io, part) = waiting.split_once('.').ok_or_else(unknown)?;
                let io = Io::ALL.into_iter().find(|known| known.name() == io);
                let part = part.parse().map_err(|_| unknown())?;
                Ok(Cause::Io(io.ok_or_else(unknown)?, part))
            }
        }
    }
}

impl FromStr for Spent {
    type Err = UnknownName;

    fn from_str(text: &str) -> Result<Spent, UnknownName> {
        let unknown = || unknown("part of a disk's time", text);
        let (operation, part) = text.split_once('.').ok_or_else(unknown)?;
        let all = [Operation::Read, Operation::Write, Operation::Flush];
        let operation = all
            .into_iter()
            .find(|known| operation_name(*known) == operation);
        Ok(Spent {
            operation: operation.ok_or_else(unknown)?,
            part: part.parse()?,
        })
    }
}

/// Display, order and serde of a type through its words.
macro_rules! by_words {
    ($($name:ident),*) => {$(
        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                let mut words = self.words().into_iter().filter(|word| !word.is_empty());
                f.write_str(words.next().unwrap_or_default())?;
                words.try_for_each(|word| write!(f, ".{word}"))
            }
        }

        impl Ord for $name {
            fn cmp(&self, other: &$name) -> Ordering {
                self.words().cmp(&other.words())
            }
        }

        impl PartialOrd for $name {
            fn partial_cmp(&self, other: &$name) -> Option<Ordering> {
                Some(self.cmp(other))
            }
        }

        impl Serialize for $name {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.collect_str(self)
            }
        }

        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<$name, D::Error> {
                let text = String::deserialize(deserializer)?;
                text.parse().map_err(D::Error::custom)
            }
        }
    )*};
}

by_words!(Cause, Limit, Part, Spent);

#[cfg(test)]
mod tests;
