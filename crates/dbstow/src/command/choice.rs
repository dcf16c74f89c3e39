//! Arguments whose values other crates define: their spelling and their help.

use crate::engines::{ENGINES, LAYOUTS};
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use engine::{FrontKind, TransportKind};
use experiment::spec::{EngineName, Mode};
use layout::{LayoutProvider, Platform};

/// A value: its spelling, the value itself, its help.
pub(super) type Choice<T> = (&'static str, T, &'static str);

/// Accepts one of `choices`.
pub(super) fn one_of<T: Copy + Send + Sync + 'static>(
    choices: &'static [Choice<T>],
) -> impl TypedValueParser<Value = T> {
    let values = choices
        .iter()
        .map(|(word, _, help)| PossibleValue::new(*word).help(*help));
    PossibleValuesParser::new(values).map(|word| {
        let chosen = choices.iter().find(|(known, ..)| *known == word);
        chosen.expect("no other value is possible").1
    })
}

/// `--mode`.
pub(super) const MODES: &[Choice<Mode>] = &[
    (
        "simulate",
        Mode::Simulate,
        "Modelled disks, virtual time, embedded SQLite",
    ),
    (
        "emulate",
        Mode::Emulate,
        "A real engine on modelled disks, in real time (Linux; SQLite anywhere)",
    ),
    (
        "measure",
        Mode::Measure,
        "A real engine on real directories, in real time",
    ),
];

/// Accepts the name of an engine, including one that this build lacks: the error with the reason comes when it is
/// resolved.
pub(super) fn engine() -> impl TypedValueParser<Value = EngineName> {
    let engines = ENGINES.built.iter();
    let values = engines.map(|engine| PossibleValue::new(engine.name()).help(engine.about()));
    let left_out = ENGINES.left_out.iter();
    let left_out = left_out.map(|left_out| PossibleValue::new(left_out.name).hide(true));
    PossibleValuesParser::new(values.chain(left_out)).map(|word| {
        let left_out = ENGINES.left_out.iter().map(|left_out| left_out.name);
        let mut names = ENGINES.names().chain(left_out);
        EngineName::new(
            names
                .find(|name| *name == word)
                .expect("no other value is possible"),
        )
    })
}

/// Accepts the name of a product that there are scripts for.
pub(super) fn layout() -> impl TypedValueParser<Value = &'static dyn LayoutProvider> {
    let values = LAYOUTS.iter();
    let values = values.map(|known| PossibleValue::new(known.name()).help(known.about()));
    PossibleValuesParser::new(values).map(|word| {
        let found = LAYOUTS.iter().find(|known| known.name() == word);
        *found.expect("no other value is possible")
    })
}

/// `--front` of a run.
pub(super) const FRONTS: &[Choice<FrontKind>] = &[
    (
        "block",
        FrontKind::Block,
        "A real filesystem on a modelled disk: page cache and journal are real; needs root",
    ),
    (
        "file",
        FrontKind::File,
        "Files without page cache: each request goes to the modelled disk",
    ),
];

/// `--transport` of a run.
pub(super) const TRANSPORTS: &[Choice<TransportKind>] = &[
    (
        "fuser",
        TransportKind::Fuser,
        "Reads and writes of /dev/fuse",
    ),
    ("io_uring", TransportKind::IoUring, "FUSE over io_uring"),
];

/// `--on`.
pub(super) const SYSTEMS: &[Choice<Platform>] = &[
    ("windows", Platform::Windows, "A machine with Windows"),
    (
        "linux",
        Platform::Linux,
        "A machine or container with Linux",
    ),
    (
        "managed-instance",
        Platform::ManagedInstance,
        "Azure SQL Managed Instance",
    ),
    (
        "azure-sql-database",
        Platform::AzureSqlDatabase,
        "Azure SQL Database",
    ),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_is_written_as_records_and_messages_write_it() {
        for (word, mode, _) in MODES {
            assert_eq!(*word, mode.name());
        }
        for (word, front, _) in FRONTS {
            assert_eq!(*word, front.name());
        }
        for (word, transport, _) in TRANSPORTS {
            assert_eq!(*word, transport.name());
        }
        for (word, on, _) in SYSTEMS {
            assert_eq!(*word, on.to_string());
        }
    }
}
