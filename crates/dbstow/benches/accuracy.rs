//! How well emulated volumes keep modelled rates and latencies, through both transports, as fio sees it.
//!
//! `scripts/with-uring cargo bench --package dbstow --bench accuracy`, as root on Linux, with fio. Both
//! transports take turns on every model in each round; the table has medians of rounds.

mod bench;

use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use anyhow::{Context, Result};
use bench::{Achieved, Mount, fio, median};
use clap::Parser;

/// Required accuracy of rates.
const RATE_GOAL: f64 = 0.02;

/// Required accuracy of the mean latency at depth 1, where the model has 0.1 to 4 ms.
const LATENCY_GOAL_US: f64 = 40.0;

const TRANSPORTS: [&str; 2] = ["io_uring", "fuser"];
const DEPTHS: [u32; 3] = [1, 8, 64];

#[derive(Parser)]
struct Args {
    /// Rounds, of which the table has medians
    #[arg(long, default_value_t = 3)]
    rounds: u32,
    /// Seconds of each measurement
    #[arg(long, default_value_t = 2)]
    seconds: u32,
    /// What cargo says to every benchmark
    #[arg(long, hide = true)]
    bench: bool,
}

/// A volume that holds requests back in one way.
#[derive(Clone, Copy)]
struct Model {
    name: &'static str,
    kind: Kind,
}

#[derive(Clone, Copy)]
enum Kind {
    Iops(u32),
    MegabytesPerSecond(u32),
    LatencyUs(u32),
}

const fn model(name: &'static str, kind: Kind) -> Model {
    Model { name, kind }
}

const MODELS: [Model; 10] = [
    model("500-iops", Kind::Iops(500)),
    model("5000-iops", Kind::Iops(5_000)),
    model("50000-iops", Kind::Iops(50_000)),
    model("60-mb-per-s", Kind::MegabytesPerSecond(60)),
    model("200-mb-per-s", Kind::MegabytesPerSecond(200)),
    model("latency-0-15-ms", Kind::LatencyUs(150)),
    model("latency-0-3-ms", Kind::LatencyUs(300)),
    model("latency-1-ms", Kind::LatencyUs(1_000)),
    model("latency-4-ms", Kind::LatencyUs(4_000)),
    model("latency-10-ms", Kind::LatencyUs(10_000)),
];

impl Model {
    /// Size of its requests.
    fn block(self) -> u32 {
        match self.kind {
            Kind::Iops(_) | Kind::LatencyUs(_) => 8 << 10,
            Kind::MegabytesPerSecond(_) => 64 << 10,
        }
    }

    /// Its section of a file for `dbstow mount`.
    fn section(self) -> String {
        let limit = match self.kind {
            Kind::Iops(iops) => format!("iops_limit = {iops}"),
            Kind::MegabytesPerSecond(rate) => format!("throughput_limit = \"{rate} MB/s\""),
            Kind::LatencyUs(us) => format!("read_latency = \"{us}us\""),
        };
        let name = self.name;
        format!("[volume.{name}]\ndisk = \"unlimited\"\n[volume.{name}.override]\n{limit}\n")
    }

    /// What the model gives at a depth: with `depth` requests always under way, latency is depth / rate.
    fn expected(self, depth: u32) -> Achieved {
        let iops = match self.kind {
            Kind::Iops(iops) => f64::from(iops),
            Kind::MegabytesPerSecond(rate) => f64::from(rate) * 1e6 / f64::from(self.block()),
            Kind::LatencyUs(us) => f64::from(depth) * 1e6 / f64::from(us),
        };
        Achieved {
            iops,
            latency_us: f64::from(depth) * 1e6 / iops,
        }
    }
}

/// What a transport achieved of what was expected.
#[derive(Clone, Copy)]
struct Kept {
    /// Achieved rate by expected rate.
    rate: f64,
    /// Mean latency beyond the expected one.
    error_us: f64,
}

impl Kept {
    fn rate_is_good(self) -> bool {
        (self.rate - 1.0).abs() <= RATE_GOAL
    }

    fn latency_is_good(self, depth: u32, expected: Achieved) -> bool {
        let counts = depth == 1 && (100.0..=4_000.0).contains(&expected.latency_us);
        !counts || self.error_us.abs() <= LATENCY_GOAL_US
    }
}

fn main() -> Result<()> {
    let args = Args::parse();
    let folder = tempfile::tempdir()?;
    let spec = folder.path().join("models.toml");
    fs::write(&spec, MODELS.map(Model::section).concat())?;
    let mut mounts = Vec::new();
    for transport in TRANSPORTS {
        match mount(&spec, folder.path(), transport) {
            Ok(mount) => mounts.push((transport, mount)),
            Err(error) => println!("without {transport}: {error:#}"),
        }
    }
    println!(
        "medians of {} rounds of {} s; fio, libaio, O_DIRECT; {}; beyond a goal: *",
        args.rounds,
        args.seconds,
        bench::load()
    );
    let mut rows = Vec::new();
    let mut missed = Missed::default();
    for model in MODELS {
        for depth in DEPTHS {
            let kept = measure(&args, &mounts, model, depth)?;
            rows.push(row(model, depth, &kept, &mut missed));
        }
        eprintln!("{}: done", model.name);
    }
    println!("{}", bench::table(1, head(&mounts), rows));
    println!("{}", missed.text(mounts.len()));
    Ok(())
}

fn mount(spec: &Path, folder: &Path, transport: &str) -> Result<Mount> {
    let directory = folder.join(transport);
    let options = [
        "--front",
        "file",
        "--transport",
        transport,
        "--size",
        "1GiB",
    ];
    let mount = Mount::new(bench::text(spec)?, &directory, &options)?;
    for model in MODELS {
        bench::fill(&directory.join(model.name).join("file"), 64 << 20)?;
    }
    Ok(mount)
}

/// Medians of each transport, in their order.
fn measure(args: &Args, mounts: &[(&str, Mount)], model: Model, depth: u32) -> Result<Vec<Kept>> {
    let expected = model.expected(depth);
    let block = format!("--bs={}", model.block());
    let depth = format!("--iodepth={depth}");
    let options = [
        "--rw=randread",
        "--ioengine=libaio",
        "--direct=1",
        &block,
        &depth,
    ];
    let mut rounds = vec![Vec::new(); mounts.len()];
    for _ in 0..args.rounds {
        for ((_, mount), rounds) in mounts.iter().zip(&mut rounds) {
            let file = mount.directory().join(model.name).join("file");
            let achieved = fio(&file, args.seconds, &options).context(model.name)?;
            rounds.push(Kept {
                rate: achieved.iops / expected.iops,
                error_us: achieved.latency_us - expected.latency_us,
            });
        }
    }
    let middle = |rounds: Vec<Kept>| {
        let of = |value: fn(&Kept) -> f64| median(&rounds.iter().map(value).collect::<Vec<_>>());
        Kept {
            rate: of(|kept| kept.rate),
            error_us: of(|kept| kept.error_us),
        }
    };
    Ok(rounds.into_iter().map(middle).collect())
}

/// Rows in which a transport missed a goal.
#[derive(Default)]
struct Missed {
    rows: usize,
    of: Vec<(usize, String)>,
}

impl Missed {
    fn text(&self, transports: usize) -> String {
        let mut text = String::new();
        for (place, transport) in TRANSPORTS.iter().take(transports).enumerate() {
            let missed: Vec<_> = self.of.iter().filter(|(of, _)| *of == place).collect();
            let names: Vec<_> = missed.iter().map(|(_, name)| name.as_str()).collect();
            let kept = self.rows - missed.len();
            let _ = writeln!(
                text,
                "{transport}: {kept} of {} rows within the goals",
                self.rows
            );
            if !names.is_empty() {
                let _ = writeln!(text, "  beyond: {}", names.join(", "));
            }
        }
        text
    }
}

fn head(mounts: &[(&str, Mount)]) -> Vec<String> {
    let mut head = ["model", "depth", "IOPS", "latency us"]
        .map(str::to_owned)
        .to_vec();
    for (transport, _) in mounts {
        head.push(format!("{transport}: rate %"));
        head.push("latency off us".to_owned());
    }
    head
}

fn row(model: Model, depth: u32, kept: &[Kept], missed: &mut Missed) -> Vec<String> {
    let expected = model.expected(depth);
    let mut row = vec![
        model.name.to_owned(),
        depth.to_string(),
        format!("{:.0}", expected.iops),
        format!("{:.0}", expected.latency_us),
    ];
    missed.rows += 1;
    for (place, kept) in kept.iter().enumerate() {
        let (rate, latency) = (kept.rate_is_good(), kept.latency_is_good(depth, expected));
        let mark = |good| if good { ' ' } else { '*' };
        row.push(format!("{:.1}{}", kept.rate * 100.0, mark(rate)));
        row.push(format!("{:+.0}{}", kept.error_us, mark(latency)));
        if !rate || !latency {
            missed
                .of
                .push((place, format!("{} at depth {depth}", model.name)));
        }
    }
    row
}
