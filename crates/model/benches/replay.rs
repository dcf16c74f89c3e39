//! What replaying a trace costs: a sweep replays one trace over many disks, so it has to take far less time
//! than the run that it stands for.
//!
//! `cargo bench -p dbstow-model --bench replay`

use divan::{Bencher, black_box};
use model::replay::replay;
use model::store::{Commit, FileSpec, ReadUnit, Role, StoreSpec};
use model::trace::{Access, Event, Start, Temperature, Trace};
use model::{Bytes, DiskSpec, Duration, Iops, MachineSpec, Storage, Throughput, VolumeSpec};

fn main() {
    divan::main();
}

/// Pages of a database of 128 MiB.
const PAGES: u64 = 1 << 14;
const READS: u64 = 100_000;

/// By one session and by 32, over a pool that holds an eighth of the pages; loading them is part of it.
#[divan::bench(args = [1, 32])]
fn reads(bencher: Bencher, sessions: u64) {
    let trace = trace(sessions);
    let spec = spec();
    bencher
        .with_inputs(storage)
        .bench_local_values(|storage| replay(black_box(&trace), &spec, storage, 4, 1));
}

fn trace(sessions: u64) -> Trace {
    // An odd factor visits all pages, none in sequence.
    let read = |n: u64| Access::Read {
        file: 0,
        page: n.wrapping_mul(0x9e37_79b9_7f4a_7c15) % PAGES,
    };
    let events = |session| {
        (session..READS)
            .step_by(sessions as usize)
            .map(|n| Event::new(Duration::from_micros(20), read(n)))
            .collect()
    };
    Trace {
        files: vec![Role::Data],
        loaded: (0..PAGES)
            .map(|page| Access::Write { file: 0, page })
            .collect(),
        start: Start {
            pool: Temperature::Cold,
            host_cache: Temperature::Cold,
        },
        sessions: (0..sessions).map(events).collect(),
        ..Trace::default()
    }
}

fn storage() -> Storage {
    let disk = DiskSpec::limited(Iops(5_000), Throughput::from_mb_per_s(200));
    Storage::new(
        &MachineSpec::unlimited(),
        &[VolumeSpec::of("data", disk)],
        1,
    )
}

fn spec() -> StoreSpec {
    let file = FileSpec {
        volume: 0,
        size: None,
    };
    StoreSpec {
        memory: Bytes::mib(16),
        read_unit: ReadUnit::Page,
        read_ahead: Bytes(0),
        write_gather: Bytes::kib(256),
        writes_in_flight: 32,
        checkpoint: None,
        commit: Commit::Durable,
        log_block: model::store::LOG_BLOCK,
        versions: None,
        data: vec![file],
        temp: vec![file],
        log: file,
    }
}
