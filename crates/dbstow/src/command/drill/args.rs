//! Arguments of `dbstow drill`.

use std::path::PathBuf;

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use clap::{ValueEnum, ValueHint};
use drill::{Atomic, DrillSpec, DrilledEngine, Placed, Power, SESSIONS_MAX, WriteCache};
use model::{Bytes, Duration};

use crate::command::choice::{Choice, one_of};
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
    #[arg(long, value_parser = engine())]
    pub engine: Option<DrilledEngine>,
    /// States to look at, of each placement and event
    #[arg(long, value_name = "N", default_value_t = DrillSpec::DEFAULT.cuts, value_parser = clap::value_parser!(u32).range(1..))]
    pub cuts: u32,
    /// Seed of when power is cut, and of what the disks have then
    #[arg(long, default_value_t = DrillSpec::DEFAULT.seed)]
    pub seed: u64,
    /// How long clients write to each placement
    #[arg(long, value_name = "TIME", default_value = "10s")]
    pub record: Duration,
    /// How many clients write
    #[arg(long, value_name = "N", default_value_t = DrillSpec::DEFAULT.sessions, value_parser = clap::value_parser!(u32).range(1..=i64::from(SESSIONS_MAX)))]
    pub sessions: u32,
    /// How far snapshots of two volumes are apart
    #[arg(long, value_name = "TIME", default_value = "2s")]
    pub skew: Duration,
    /// What disks do with what they have acknowledged
    #[arg(long, value_parser = one_of(WRITE_CACHES), default_value = WRITE_CACHES[0].0)]
    pub write_cache: WriteCache,
    /// How long a disk that ignores flushes keeps what it has acknowledged before it has written it, at most
    #[arg(long, value_name = "TIME", default_value = "1s")]
    pub write_back: Duration,
    /// What a disk writes whole or not at all: a size, or `disk` for what its vendor promises (`dbstow disks NAME`)
    #[arg(long, value_name = "SIZE|disk", default_value = "512 B", value_parser = atomic)]
    pub atomic: Atomic,
    /// Whose power is cut
    #[arg(long, value_parser = one_of(POWERS), default_value = POWERS[0].0)]
    pub power: Power,
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
    #[arg(long, value_name = "N", default_value_t = DrillSpec::DEFAULT.jobs)]
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
    /// Print everything, not one screen of it
    #[arg(long)]
    pub full: bool,
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

fn engine() -> impl TypedValueParser<Value = DrilledEngine> {
    let engines = DrilledEngine::all(ENGINES);
    let values =
        engines.map(|engine| PossibleValue::new(engine.name()).help(engine.provider.about()));
    PossibleValuesParser::new(values)
        .map(|name| DrilledEngine::named(ENGINES, &name).expect("no other value is possible"))
}

/// `--write-cache`; the first one is the default.
const WRITE_CACHES: &[Choice<WriteCache>] = &[
    (
        "volatile",
        WriteCache::Volatile,
        "Lose it, until they are flushed",
    ),
    ("safe", WriteCache::Safe, "Keep it"),
    (
        "ignores-flushes",
        WriteCache::IgnoresFlushes,
        "Lose it until they have written it by themselves (--write-back), whatever is flushed: disks that lie",
    ),
];

/// `--power`; the first one is the default.
const POWERS: &[Choice<Power>] = &[
    (
        "machine",
        Power::Machine,
        "The machine's, and with it that of all its disks",
    ),
    (
        "disk",
        Power::Disk,
        "One disk's (a whole volume, or one disk of a stripe); the others keep everything they received",
    ),
];

impl Args {
    /// The parameters.
    pub(super) fn spec(&self) -> DrillSpec {
        DrillSpec {
            cuts: self.cuts,
            seed: self.seed,
            record: self.record,
            sessions: self.sessions,
            write_cache: self.write_cache,
            write_back: self.write_back,
            atomic: self.atomic,
            skew: self.skew,
            power: self.power,
            faults: self.faults,
            space: self.space,
            jobs: self.jobs,
        }
    }
}

/// What ends with exit code 3.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum FailOn {
    /// Lost commits, contradictions, and servers that do not start
    Loss,
}

#[cfg(test)]
mod tests {
    use clap::{Args as _, FromArgMatches as _};

    use super::*;

    #[test]
    fn the_defaults_are_those_of_the_library() {
        let command = Args::augment_args(clap::Command::new("drill"));
        let given = command.get_matches_from(["drill", "wal-apart"]);
        let args = Args::from_arg_matches(&given).expect("they are complete");
        assert_eq!(args.spec(), DrillSpec::DEFAULT);
        assert_eq!((args.arm, args.setting), (Vec::new(), Vec::new()));
    }

    #[test]
    fn a_value_is_written_as_documents_write_it() {
        for (word, cache, _) in WRITE_CACHES {
            assert_eq!(*word, cache.name());
        }
        assert_eq!(WRITE_CACHES.len(), WriteCache::ALL.len());
        for (word, power, _) in POWERS {
            assert_eq!(*word, power.name());
        }
    }
}
