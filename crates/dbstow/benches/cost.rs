//! What a volume without limits costs beside the directory it is kept in and beside bindfs, as fio and
//! pgbench see it.
//!
//! `scripts/with-uring cargo bench --package dbstow --bench cost`, as root on Linux, with fio, bindfs and
//! PostgreSQL. All directories take turns in each round; tables have medians of rounds. Requests of fio go
//! past the page cache of what is mounted, to files that lie in the page cache of the directory below; the
//! raw directory is that page cache.

mod bench;
mod postgres;

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result};
use bench::{Mount, fio, median, run};
use clap::Parser;
use postgres::Server;

#[derive(Parser)]
struct Args {
    /// Rounds, of which the tables have medians
    #[arg(long, default_value_t = 3)]
    rounds: usize,
    /// Seconds of each measurement
    #[arg(long, default_value_t = 5)]
    seconds: u32,
    /// pgbench's scale: 15 MB each
    #[arg(long, default_value_t = 30)]
    scale: u32,
    /// What cargo says to every benchmark
    #[arg(long, hide = true)]
    bench: bool,
}

const RAW: &str = "raw";
const BINDFS: &str = "bindfs";

/// Mounts of a volume without limits: name, front and transport.
const MOUNTS: [(&str, &str, &str); 4] = [
    ("file, io_uring", "file", "io_uring"),
    ("file, fuser", "file", "fuser"),
    ("block, io_uring", "block", "io_uring"),
    ("block, fuser", "block", "fuser"),
];

const READ_1: &str = "8 KiB reads, depth 1";
const READ_16: &str = "8 KiB reads, 16 jobs";
const WRITE_1: &str = "8 KiB writes, depth 1";
const WRITE_16: &str = "8 KiB writes, 16 jobs";
const REQUESTS: [(&str, &[&str]); 4] = [
    (READ_1, &["--rw=randread"]),
    (READ_16, &["--rw=randread", "--numjobs=16"]),
    (WRITE_1, &["--rw=randwrite"]),
    (WRITE_16, &["--rw=randwrite", "--numjobs=16"]),
];

const SELECT: &str = "pgbench -S, 8 clients";
const TPC_B: &str = "pgbench TPC-B, 8 clients";
const LOAD: &str = "pgbench -i";

/// A directory that is measured.
struct Target {
    name: &'static str,
    directory: PathBuf,
    /// Whether a request past the page cache reaches what is measured: a raw directory's would reach the
    /// real disk.
    direct: bool,
    _mounted: Mounted,
}

/// What makes a target, and is taken down with it.
enum Mounted {
    Nothing,
    Bindfs(PathBuf),
    #[expect(dead_code, reason = "it is there to be dropped")]
    Volume(Mount),
}

impl Drop for Mounted {
    fn drop(&mut self) {
        if let Mounted::Bindfs(directory) = self {
            let unmounted = Command::new("umount").arg(&*directory).status();
            if !unmounted.is_ok_and(|status| status.success()) {
                eprintln!("{} is not unmounted", directory.display());
            }
        }
    }
}

/// Rates by measurement and target; larger is better.
type Rates = BTreeMap<(&'static str, &'static str), Vec<f64>>;

fn main() -> Result<()> {
    let args = Args::parse();
    let folder = tempfile::tempdir()?;
    // PostgreSQL does not run as root, and must be able to get there.
    fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o755))?;
    let targets = targets(folder.path())?;
    for target in &targets {
        bench::fill(&target.directory.join("fio"), 256 << 20)?;
    }
    println!(
        "medians of {} rounds of {} s; pgbench at scale {}; {}",
        args.rounds,
        args.seconds,
        args.scale,
        bench::load()
    );
    let mut rates = Rates::new();
    for round in 0..args.rounds {
        for place in 0..targets.len() {
            // Another one begins each round.
            let target = &targets[(place + round) % targets.len()];
            requests(&args, target, &mut rates).context(target.name)?;
            databases(&args, target, folder.path(), &mut rates).context(target.name)?;
            eprintln!("round {}: {} done", round + 1, target.name);
        }
    }
    let names: Vec<_> = targets.iter().map(|target| target.name).collect();
    println!("{}", values(&rates, &names));
    println!("{}", goals(&rates));
    Ok(())
}

/// Everything that can be mounted on this machine; reports what cannot, and why.
fn targets(folder: &Path) -> Result<Vec<Target>> {
    let below = |name: &str| -> Result<PathBuf> {
        let directory = folder.join(name);
        fs::create_dir(&directory)?;
        Ok(directory)
    };
    let mut targets = vec![Target {
        name: RAW,
        directory: below("raw")?,
        direct: false,
        _mounted: Mounted::Nothing,
    }];
    let (bound, at) = (below("bound")?, below("bindfs")?);
    match run(
        "bindfs",
        &["--multithreaded", bench::text(&bound)?, bench::text(&at)?],
    ) {
        Ok(_) => targets.push(Target {
            name: BINDFS,
            directory: at.clone(),
            direct: true,
            _mounted: Mounted::Bindfs(at),
        }),
        Err(error) => println!("without bindfs: {error:#}"),
    }
    for (name, front, transport) in MOUNTS {
        let directory = folder.join(format!("{front}-{transport}"));
        let options = ["--front", front, "--transport", transport, "--size", "8GiB"];
        match Mount::new("unlimited", &directory, &options) {
            Ok(mount) => targets.push(Target {
                name,
                directory,
                direct: true,
                _mounted: Mounted::Volume(mount),
            }),
            Err(error) => println!("without {name}: {error:#}"),
        }
    }
    Ok(targets)
}

fn requests(args: &Args, target: &Target, rates: &mut Rates) -> Result<()> {
    let direct = format!("--direct={}", u8::from(target.direct));
    for (name, options) in REQUESTS {
        let options = [&["--bs=8k", "--ioengine=psync", &direct], options].concat();
        let achieved = fio(&target.directory.join("fio"), args.seconds, &options)?;
        rates
            .entry((name, target.name))
            .or_default()
            .push(achieved.iops);
    }
    Ok(())
}

fn databases(args: &Args, target: &Target, folder: &Path, rates: &mut Rates) -> Result<()> {
    let server = Server::start(&target.directory.join("pgdata"), folder)?;
    let mut add = |name, rate| rates.entry((name, target.name)).or_default().push(rate);
    add(LOAD, 1.0 / server.load(args.scale)?);
    add(
        SELECT,
        server.transactions(args.seconds, &["-S", "-c", "8", "-j", "2"])?,
    );
    add(
        TPC_B,
        server.transactions(args.seconds, &["-c", "8", "-j", "2"])?,
    );
    server.stop()
}

fn rate(rates: &Rates, name: &'static str, target: &'static str) -> f64 {
    rates
        .get(&(name, target))
        .map_or(f64::NAN, |rates| median(rates))
}

/// Every measurement of every target; of loads, the seconds.
fn values(rates: &Rates, names: &[&'static str]) -> comfy_table::Table {
    let measurements = REQUESTS
        .map(|(name, _)| name)
        .into_iter()
        .chain([SELECT, TPC_B, LOAD]);
    let rows = measurements.map(|measurement| {
        let cell = |target: &&'static str| {
            let rate = rate(rates, measurement, target);
            match measurement {
                LOAD => format!("{:.2}", 1.0 / rate),
                _ => format!("{rate:.0}"),
            }
        };
        let unit = match measurement {
            LOAD => "s",
            SELECT | TPC_B => "tps",
            _ => "IOPS",
        };
        let mut row = vec![measurement.to_owned(), unit.to_owned()];
        row.extend(names.iter().map(cell));
        row
    });
    let mut head = vec![String::new(), String::new()];
    head.extend(names.iter().map(|name| (*name).to_owned()));
    bench::table(2, head, rows.collect())
}

/// Required ratios, and whether they are met.
fn goals(rates: &Rates) -> comfy_table::Table {
    let mut rows = Vec::new();
    let mut add = |measurement, candidate, baseline, goal: f64| {
        let ratio = rate(rates, measurement, candidate) / rate(rates, measurement, baseline);
        let verdict = match ratio {
            ratio if ratio.is_nan() => "not measured",
            ratio if ratio >= goal => "kept",
            _ => "missed",
        };
        rows.push(vec![
            format!("{measurement}: {candidate} by {baseline}"),
            format!("{ratio:.2}"),
            format!("{goal:.2}"),
            verdict.to_owned(),
        ]);
    };
    for measurement in [READ_1, READ_16, WRITE_1, WRITE_16, SELECT, TPC_B, LOAD] {
        add(measurement, "file, io_uring", BINDFS, 2.0);
        add(measurement, "file, fuser", BINDFS, 1.0);
    }
    for block in ["block, io_uring", "block, fuser"] {
        add(SELECT, block, RAW, 0.9);
        add(LOAD, block, RAW, 1.0 / 1.3);
    }
    let head = ["rate of one by rate of the other", "ratio", "goal", ""].map(str::to_owned);
    bench::table(1, head.to_vec(), rows)
}
