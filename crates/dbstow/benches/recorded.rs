//! What recording every write costs, beside the same volume that is not recorded: as fio sees it, and on a modelled disk.
//!
//! `cargo bench --package dbstow --bench recorded`, as root on Linux, with fio. Both take turns in each round; the table has
//! medians of rounds. A drill records volumes with modelled disks, whose time hides the cost; those without limits show all of
//! it.

mod bench;

use std::fs;
use std::path::Path;

use anyhow::{Context, Result};
use bench::{fio, median};
use clap::Parser;
use emulator::{
    Contents, Emulation, EmulationSpec, Filesystem, Front, MountSpec, RecordSpec, TransportChoice,
};
use model::{Bytes, DiskSpec, MachineSpec, VolumeSpec};

#[derive(Parser)]
struct Args {
    /// Rounds, of which the table has medians
    #[arg(long, default_value_t = 5)]
    rounds: usize,
    /// Seconds of each measurement
    #[arg(long, default_value_t = 5)]
    seconds: u32,
    /// What cargo says to every benchmark
    #[arg(long, hide = true)]
    bench: bool,
}

/// What fio does.
const REQUESTS: [(&str, &[&str]); 3] = [
    ("8 KiB writes, depth 1", &["--rw=randwrite", "--bs=8k"]),
    (
        "8 KiB writes, 8 jobs",
        &["--rw=randwrite", "--bs=8k", "--numjobs=8"],
    ),
    (
        "8 KiB writes, depth 1, fdatasync after each",
        &["--rw=randwrite", "--bs=8k", "--fdatasync=1"],
    ),
];

fn main() -> Result<()> {
    let args = Args::parse();
    let folder = tempfile::tempdir()?;
    let disks = [("without limits", DiskSpec::unlimited()), ("P30", p30()?)];
    println!(
        "medians of {} rounds of {} s; {}",
        args.rounds,
        args.seconds,
        bench::load()
    );
    let mut rows = Vec::new();
    for (name, disk) in disks {
        // Of each kind of request: not recorded, recorded.
        let mut rates = vec![[Vec::new(), Vec::new()]; REQUESTS.len()];
        for round in 0..args.rounds {
            for turn in 0..2 {
                let is_recorded = (round + turn) % 2;
                let place = folder.path().join(format!("{name}-{round}-{turn}"));
                let achieved = measured(&args, &place, &disk, is_recorded == 1)?;
                for (rates, iops) in rates.iter_mut().zip(achieved) {
                    rates[is_recorded].push(iops);
                }
                fs::remove_dir_all(&place)?;
            }
        }
        for ((what, _), [plain, recorded]) in REQUESTS.iter().zip(&rates) {
            let (plain, recorded) = (median(plain), median(recorded));
            rows.push(vec![
                name.to_owned(),
                (*what).to_owned(),
                format!("{plain:.0}"),
                format!("{recorded:.0}"),
                format!("{:+.1} %", 100.0 * (recorded / plain - 1.0)),
            ]);
        }
    }
    let head = ["disk", "requests", "IOPS", "recorded", "difference"].map(str::to_owned);
    println!("{}", bench::table(2, head.to_vec(), rows));
    Ok(())
}

fn p30() -> Result<DiskSpec> {
    let catalogue = catalogue::Catalogue::builtin();
    let entry = catalogue.disk("azure.premium.p30")?;
    Ok(entry.provision(&catalogue::Provision::default())?.spec)
}

/// Requests per second of each kind.
fn measured(args: &Args, place: &Path, disk: &DiskSpec, is_recorded: bool) -> Result<Vec<f64>> {
    let recording = place.join("recording");
    let mounted = place.join("volume");
    for directory in [&recording, &mounted] {
        fs::create_dir_all(directory)?;
    }
    let spec = EmulationSpec {
        machine: MachineSpec::unlimited(),
        volumes: vec![MountSpec {
            volume: VolumeSpec::of("volume", disk.clone()),
            front: Front::Block {
                filesystem: Filesystem::Ext4,
                read_ahead: None,
            },
            directory: mounted.clone(),
            backing: place.join("backing"),
            size: Bytes::gib(1),
            owner: None,
            others: emulator::Others::List,
        }],
        seed: 1,
        transport: TransportChoice::default(),
        trace: None,
        contents: match is_recorded {
            true => Contents::Recorded(RecordSpec {
                directory: recording,
                most: Bytes::gib(4),
            }),
            false => Contents::InPlace,
        },
    };
    let emulation = Emulation::start(&spec)?;
    let file = mounted.join("fio");
    bench::fill(&file, 64 << 20)?;
    let achieved = REQUESTS.iter().map(|(what, options)| {
        let options = [&["--direct=1"], *options].concat();
        let achieved = fio(&file, args.seconds, &options).context(*what)?;
        Ok(achieved.iops)
    });
    let achieved = achieved.collect::<Result<Vec<f64>>>();
    emulation.stop()?;
    achieved
}
