//! What reads a file that somebody else may have written, each as a function of its text.
//!
//! ```text
//! corpus/<target>/*  ──┬─ as they are ───────► tests/bounded.rs    make test
//! the repository's own ├─ edited, by a seed ──►        "            make test
//! files of this format └─ by libFuzzer ──────► fuzz_targets/any.rs  make fuzz
//! ```
//!
//! A target panics where a law is broken: a text is read or refused, never a panic; what is written in the same format
//! reads back as the same; and no figure of a catalogue, of prices or of a profile is infinite or negative. Whether it takes
//! too much memory or time is for who calls it.
//!
//! A new format gets a module here, an entry in [`TARGETS`] and a folder of small files in `corpus`, those
//! which are to be refused named `refused-*`.

mod capture;
mod catalogue;
mod drill;
mod experiment;
mod fio;
mod meaning;
mod plan;
mod prices;
mod profile;
mod record;
mod recording;
mod script;
mod today;

use engine::Engines;

/// Every engine there is.
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

/// A reader of one file format.
pub struct Target {
    /// Its name, and that of its folder in `corpus`.
    pub name: &'static str,
    /// Where the repository has more files of the format: a folder, from its root, and how their names end.
    pub seeds: Option<(&'static str, &'static str)>,
    /// Reads a text, does with it what the program does, and says why where it is refused.
    pub read: fn(&str) -> Result<(), String>,
}

/// Every reader.
pub const TARGETS: [Target; 13] = [
    Target {
        name: "capture",
        seeds: Some(("crates/engines/sqlserver/tests/captures", ".json")),
        read: capture::read,
    },
    Target {
        name: "catalogue",
        // Those that ship are too long to be read a thousand times.
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
