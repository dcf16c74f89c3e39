//! What one `Storage::submit` costs: the model is asked once for every request of a trial, so it has to
//! be far quicker than what it models. The target is 100 ns for one disk.
//!
//! `cargo bench -p dbstow-model --bench submit`

use divan::{Bencher, black_box};
use model::{
    Bytes, Completion, DiskSpec, Duration, HostCacheMode, HostCacheSpec, Instant, IoUnit, Iops,
    LatencySpec, LimitSpec, MachineSpec, Request, Storage, Throughput, VolumeSpec,
};

fn main() {
    divan::main();
}

/// Pages of a database of 512 MiB, which the benches ask for in a scattered order.
const PAGES: u64 = 1 << 16;
const PAGE: Bytes = Bytes::kib(8);

#[divan::bench(sample_size = 10_000)]
fn disk_unlimited(bencher: Bencher) {
    let volume = VolumeSpec::of("data", DiskSpec::unlimited());
    let storage = Storage::new(&MachineSpec::unlimited(), &[volume], 1);
    submit_every(bencher, storage, Duration::from_micros(1), Request::read);
}

/// 4,000 reads per second of the 5,000 allowed.
#[divan::bench(sample_size = 10_000)]
fn disk_p30_below_its_limit(bencher: Bencher) {
    let storage = Storage::new(&ds14(), &[VolumeSpec::of("data", p30())], 1);
    submit_every(bencher, storage, Duration::from_micros(250), Request::read);
}

/// 32 sessions that each write again once their last write is done.
#[divan::bench(sample_size = 10_000)]
fn disk_p30_at_its_limit(bencher: Bencher) {
    let mut storage = Storage::new(&ds14(), &[VolumeSpec::of("data", p30())], 1);
    let mut sessions = [Instant::ZERO; 32];
    let mut now = Instant::ZERO;
    let mut count = 0;
    bencher.bench_local(|| {
        let session = count as usize % sessions.len();
        now = now.max(sessions[session]);
        let completion = storage.submit(now, 0, Request::write(page(count), PAGE));
        sessions[session] = completion.done;
        count += 1;
        completion
    });
}

#[divan::bench(sample_size = 10_000)]
fn disk_p30_with_places(bencher: Bencher) {
    let disk = DiskSpec {
        in_flight_max: Some(32),
        transfer: Some(Throughput::from_mb_per_s(500)),
        ..p30()
    };
    let storage = Storage::new(&ds14(), &[VolumeSpec::of("data", disk)], 1);
    submit_every(bencher, storage, Duration::from_micros(250), Request::read);
}

/// Of 8 and of 512 MiB held: a hit costs what it takes to find the block in memory.
#[divan::bench(sample_size = 10_000, args = [1 << 10, PAGES])]
fn host_cache_hit(bencher: Bencher, pages: u64) {
    let volume = VolumeSpec {
        host_cache: HostCacheMode::ReadOnly,
        ..VolumeSpec::of("data", p30())
    };
    let mut storage = Storage::new(&ds14(), &[volume], 1);
    let held = Bytes(pages * PAGE.0);
    storage.warm(0, 0, held);
    let read = |offset, length| Request::read(offset % held.0, length);
    submit_every(bencher, storage, Duration::from_micros(20), read);
}

/// One page, which is one part on one of ten disks.
#[divan::bench(sample_size = 10_000)]
fn stripe_of_ten_one_page(bencher: Bencher) {
    submit_every(bencher, stripe(), Duration::from_micros(25), Request::read);
}

/// 640 KiB, which is a part on each of the ten disks.
#[divan::bench(sample_size = 10_000)]
fn stripe_of_ten_all_disks(bencher: Bencher) {
    let whole = |offset, _| Request::write(offset, Bytes::kib(640));
    submit_every(bencher, stripe(), Duration::from_millis(2), whole);
}

fn submit_every(
    bencher: Bencher,
    mut storage: Storage,
    gap: Duration,
    request: impl Fn(u64, Bytes) -> Request,
) {
    let mut now = Instant::ZERO;
    let mut count = 0;
    bencher.bench_local(|| -> Completion {
        now += gap;
        count += 1;
        storage.submit(black_box(now), 0, request(page(count), PAGE))
    });
}

/// Where the page of the `count`-th request stands: an odd factor visits all pages, none in sequence.
fn page(count: u64) -> u64 {
    count.wrapping_mul(0x9e37_79b9_7f4a_7c15) % PAGES * PAGE.0
}

fn stripe() -> Storage {
    let volume = VolumeSpec {
        disks: vec![p30(); 10],
        ..VolumeSpec::of("data", p30())
    };
    Storage::new(&ds14(), &[volume], 1)
}

/// A 1 TiB Azure premium disk; latencies as Microsoft gave them in 2018 (4 ms read, 2 ms write).
fn p30() -> DiskSpec {
    let around = |p50: u64| LatencySpec::LogNormal {
        p50: Duration::from_millis(p50),
        p99: Duration::from_millis(3 * p50),
    };
    DiskSpec {
        limits: vec![
            LimitSpec::iops(Iops(5_000)),
            LimitSpec::throughput(Throughput::from_mb_per_s(200)),
        ],
        io_unit: IoUnit {
            size_max: Some(Bytes::kib(256)),
            charge_min: None,
        },
        read_latency: around(4),
        write_latency: around(2),
        machine_limits: vec!["uncached".into()],
        ..DiskSpec::unlimited()
    }
}

fn ds14() -> MachineSpec {
    let both = |iops, mb_per_s| {
        vec![
            LimitSpec::iops(Iops(iops)),
            LimitSpec::throughput(Throughput::from_mb_per_s(mb_per_s)),
        ]
    };
    MachineSpec {
        limits: [
            ("cached".into(), both(64_000, 512)),
            ("uncached".into(), both(51_200, 512)),
        ]
        .into(),
        host_cache: Some(HostCacheSpec {
            size: Bytes::gib(576),
            hit_latency: LatencySpec::LogNormal {
                p50: Duration::from_micros(500),
                p99: Duration::from_micros(900),
            },
            through_latency: LatencySpec::ZERO,
            limit: "cached".into(),
        }),
        ..MachineSpec::unlimited()
    }
}
