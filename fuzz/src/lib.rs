//! Every parser of untrusted files, as a function of the file's text.
//!
//! ```text
//! corpus/<target>/*  ──┬─ as they are ───────► tests/bounded.rs    make test
//! the repository's own ├─ edited, by a seed ──►        "            make test
//! files of this format └─ by libFuzzer ──────► fuzz_targets/any.rs  make fuzz
//! ```
//!
//! A target panics when a law is broken: a text is parsed or refused, never a panic; writing it in the same format and
//! reading it back gives the same; and no figure of a catalogue, of prices or of a profile is infinite or negative.
//! Limits on memory and time are up to the caller.
//!
//! A new format gets a module here, an entry in [`TARGETS`] and a folder of small files in `corpus`, where files that
//! must be refused are named `refused-*`.

mod advice;
mod capture;
mod catalogue;
mod drill;
mod experiment;
mod fio;
mod meaning;
mod plan;
mod postgres_log;
mod prices;
mod profile;
mod record;
mod recording;
mod script;
mod today;

use engine::Engines;

/// All engines.
const ENGINES: Engines = Engines {
    built: &[
        &sqlite::Provider,
        #[cfg(unix)]
        &postgres::Provider,
        &sqlserver::Provider,
        #[cfg(unix)]
        &mariadb::Provider,
        &raw::Provider,
    ],
    left_out: &[],
};

/// A parser of one file format.
pub struct Target {
    /// Its name, and that of its folder in `corpus`.
    pub name: &'static str,
    /// Where the repository has more files of the format: a folder, from its root, and their suffix.
    pub seeds: Option<(&'static str, &'static str)>,
    /// Parses a text, processes it as the program does, and returns why it is refused, if it is.
    pub read: fn(&str) -> Result<(), String>,
}

/// All parsers.
pub const TARGETS: [Target; 15] = [
    Target {
        name: "advice",
        seeds: None,
        read: advice::read,
    },
    Target {
        name: "capture",
        seeds: Some(("crates/engines/sqlserver/tests/captures", ".json")),
        read: capture::read,
    },
    Target {
        name: "catalogue",
        // The shipped ones are too long to be parsed a thousand times.
        seeds: None,
        read: catalogue::read,
    },
    Target {
        name: "drill",
        seeds: None,
        read: drill::read,
    },
    Target {
        name: "experiment",
        seeds: Some(("crates/experiment/experiments", ".toml")),
        read: experiment::read,
    },
    Target {
        name: "fio",
        seeds: None,
        read: fio::read,
    },
    Target {
        name: "import",
        seeds: None,
        read: profile::import,
    },
    Target {
        name: "plan",
        seeds: None,
        read: plan::read,
    },
    Target {
        name: "postgres-log",
        seeds: None,
        read: postgres_log::read,
    },
    Target {
        name: "prices",
        seeds: None,
        read: prices::read,
    },
    Target {
        name: "profile",
        seeds: None,
        read: profile::read,
    },
    Target {
        name: "record",
        seeds: None,
        read: record::read,
    },
    Target {
        name: "recording",
        seeds: None,
        read: recording::read,
    },
    Target {
        name: "script",
        seeds: Some(("crates/workload/workloads", ".sql")),
        read: script::read,
    },
    Target {
        name: "today",
        seeds: None,
        read: today::read,
    },
];
