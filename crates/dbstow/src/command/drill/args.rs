//! Arguments of `dbstow drill`.

use std::fmt;
use std::path::PathBuf;

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use clap::{ValueEnum, ValueHint};
use drill::{Atomic, Placed, Power, SESSIONS_MAX};
use emulator::crash::Cache;
use engine::drilled::DrillProvider;
use engine::{EngineProvider, Users};
use model::{Bytes, Duration};

use crate::command::listing::ListFormat;
use crate::command::pair::key_and_value;
use crate::command::product_args::{OfDrill, ProductArgs};
use crate::engines::ENGINES;

/// Arguments of `drill`.
#[derive(Clone, Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
    dbstow drill\n  \
    dbstow drill wal-apart\n  \
    dbstow drill wal-apart --cuts 500 --seed 7 --fail-on loss\n  \
    dbstow drill wal-apart --write-cache safe --out safe-drill\n  \
    dbstow drill wal-apart --replay cut-0417 --trust-images\n  \
    dbstow drill wal-apart --faults --setting data_sync_retry=on\n  \
    dbstow drill mine.toml --arm wal-apart --skew 500ms")]
pub struct Args {
    /// Name of a built-in drill or experiment, or path of an experiment file, whose placements are drilled; without one, the
    /// built-in drills are listed
    #[cfg_attr(feature = "shell", arg(add = crate::command::names::drill_or_file()))]
    pub experiment: Option<String>,
    /// Only this arm of it (of SQLite: in this journal mode, "sqlite, wal, full"); may be given several times
    #[arg(long, value_name = "NAME")]
    pub arm: Vec<String>,
    /// Set a key of the experiment, such as volume.d.count=4; may be given several times
    #[arg(long, value_name = "KEY=VALUE", value_parser = key_and_value)]
    pub set: Vec<(String, String)>,
    /// What is drilled [default: a built-in drill's, or else a server]
    #[arg(long, value_parser = Engine::parser())]
    pub engine: Option<Engine>,
    /// States to look at, of each placement and event
    #[arg(long, value_name = "N", default_value_t = 100, value_parser = clap::value_parser!(u32).range(1..))]
    pub cuts: u32,
    /// Seed of when power is cut, and of what the disks have then
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
    /// How long clients write to each placement
    #[arg(long, value_name = "TIME", default_value = "10s")]
    pub record: Duration,
    /// How many clients write
    #[arg(long, value_name = "N", default_value_t = 8, value_parser = clap::value_parser!(u32).range(1..=i64::from(SESSIONS_MAX)))]
    pub sessions: u32,
    /// How far snapshots of two volumes are apart
    #[arg(long, value_name = "TIME", default_value = "2s")]
    pub skew: Duration,
    /// What disks do with what they have acknowledged
    #[arg(long, value_enum, default_value_t)]
    pub write_cache: WriteCache,
    /// How long a disk that ignores flushes keeps what it has acknowledged before it has written it, at most
    #[arg(long, value_name = "TIME", default_value = "1s")]
    pub write_back: Duration,
    /// What a disk writes whole or not at all: a size, or `disk` for what its vendor promises (`dbstow disks NAME`)
    #[arg(long, value_name = "SIZE|disk", default_value = "512 B", value_parser = atomic)]
    pub atomic: Atomic,
    /// Whose power is cut
    #[arg(long, value_enum, default_value_t)]
    pub power: PowerOf,
    /// Also flip bits, and fail single writes and flushes of each volume
    #[arg(long)]
    pub faults: bool,
    /// Start the server with this setting, in its own words (a parameter of PostgreSQL, a PRAGMA of SQLite); may be given several
    /// times
    #[arg(long, value_name = "NAME=VALUE", value_parser = key_and_value)]
    pub setting: Vec<(String, String)>,
    /// Maximum size of a placement's recording, at least 1 MiB; the images of its disks are not included
    #[arg(long, value_name = "SIZE", default_value = "4 GiB", value_parser = space)]
    pub space: Bytes,
    /// States that are checked at a time
    #[arg(long, value_name = "N", default_value_t = 4)]
    pub jobs: usize,
    /// Replay a finding of an earlier drill, which is in the folder; needs --trust-images
    #[arg(long, value_name = "CUT", conflicts_with_all = ["arm", "set", "engine", "cuts", "seed", "record", "sessions", "skew", "write_cache", "write_back", "atomic", "power", "faults", "setting", "space", "jobs", "fail_on", "catalogue"])]
    pub replay: Option<String>,
    /// Trust the author of the folder that is replayed: the kernel mounts the file systems in it, and the server executes what the
    /// database on them contains (PostgreSQL as user nobody, SQLite in this process)
    #[arg(long, requires = "replay")]
    pub trust_images: bool,
    /// Exit with code 3 if a placement loses something while all its disks are there
    #[arg(long, value_enum, value_name = "WHAT")]
    pub fail_on: Option<FailOn>,
    /// Folder for the document and what was recorded [default: the experiment's name with -drill]
    #[arg(long, value_name = "FOLDER", value_hint = ValueHint::DirPath)]
    pub out: Option<PathBuf>,
    /// How to print
    #[arg(long, value_enum, default_value_t)]
    pub format: ListFormat,
    /// Options of single products
    #[command(flatten)]
    pub of_product: ProductArgs<OfDrill>,
    /// Also read this catalogue file; may be given several times
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub catalogue: Vec<PathBuf>,
}

/// A unit, or `disk`.
fn atomic(text: &str) -> Result<Atomic, String> {
    if text == "disk" {
        return Ok(Atomic::OfDisk);
    }
    let unit: Bytes = text
        .parse()
        .map_err(|why| format!("{why}; give a size such as 4 KiB, or disk"))?;
    match unit.0.is_power_of_two() && unit >= Placed::ATOMIC_DEFAULT {
        true => Ok(Atomic::Bytes(unit)),
        false => Err("give a power of two, 512 B or more, or disk".to_owned()),
    }
}

/// A size sufficient at least to start a server.
fn space(text: &str) -> Result<Bytes, String> {
    let size: Bytes = text.parse().map_err(|why| format!("{why}"))?;
    match size >= Bytes::mib(1) {
        true => Ok(size),
        false => Err("a recording takes at least 1 MiB".to_owned()),
    }
}

/// An engine whose servers are drilled.
#[derive(Clone, Copy)]
pub struct Engine {
    pub(super) provider: &'static dyn EngineProvider,
    pub(super) drill: &'static dyn DrillProvider,
}

impl Engine {
    /// Those of this build.
    pub(super) fn all() -> impl Iterator<Item = Engine> {
        ENGINES.built.iter().filter_map(|provider| {
            Some(Engine {
                provider: *provider,
                drill: provider.drilled()?,
            })
        })
    }

    pub(super) fn named(name: &str) -> Option<Engine> {
        Engine::all().find(|engine| engine.name() == name)
    }

    /// A server, where this build has one.
    pub(super) fn usual() -> Engine {
        let server = Engine::all().find(|engine| engine.provider.users() == Users::Server);
        let engine = server.or_else(|| Engine::all().next());
        engine.expect("every build has an engine that is drilled")
    }

    fn parser() -> impl TypedValueParser<Value = Engine> {
        let values = Engine::all()
            .map(|engine| PossibleValue::new(engine.name()).help(engine.provider.about()));
        PossibleValuesParser::new(values)
            .map(|name| Engine::named(&name).expect("no other value is possible"))
    }

    pub(super) fn name(self) -> &'static str {
        self.provider.name()
    }
}

impl fmt::Debug for Engine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// What disks do with what they have acknowledged.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum WriteCache {
    /// Lose it, until they are flushed
    #[default]
    Volatile,
    /// Keep it
    Safe,
    /// Lose it until they have written it by themselves (--write-back), whatever is flushed: disks that lie
    IgnoresFlushes,
}

impl WriteCache {
    /// Its name in the document.
    pub(super) fn name(self) -> &'static str {
        match self {
            WriteCache::Volatile => "volatile",
            WriteCache::Safe => "safe",
            WriteCache::IgnoresFlushes => "ignores-flushes",
        }
    }

    pub(super) fn rule(self, write_back: Duration) -> Cache {
        match self {
            WriteCache::Volatile => Cache::Volatile,
            WriteCache::Safe => Cache::Safe,
            WriteCache::IgnoresFlushes => Cache::WrittenBack(write_back),
        }
    }
}

/// Whose power is cut.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum PowerOf {
    /// The machine's, and with it that of all its disks
    #[default]
    Machine,
    /// One disk's (a whole volume, or one disk of a stripe); the others keep everything they received
    Disk,
}

impl PowerOf {
    pub(super) fn name(self) -> &'static str {
        match self {
            PowerOf::Machine => "machine",
            PowerOf::Disk => "disk",
        }
    }

    pub(super) fn meant(self) -> Power {
        match self {
            PowerOf::Machine => Power::Machine,
            PowerOf::Disk => Power::Disk,
        }
    }
}

/// What ends with exit code 3.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum FailOn {
    /// Lost commits, contradictions, and servers that do not start
    Loss,
}
