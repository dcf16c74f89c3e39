//! The store takes the time, and reads and writes the pages, that arithmetic says it does.

use model::store::{
    Commit, CommitTicket, FileId, FileSpec, Full, ReadUnit, Role, Step, Store, StoreSpec,
    VersionSpec,
};
use model::{
    Bytes, DiskSpec, Duration, Instant, Iops, LatencySpec, MachineSpec, Storage, Throughput,
    VolumeSpec,
};

const MS: Duration = Duration::from_millis(1);

#[test]
fn a_missing_page_takes_its_latency() {
    let (mut store, file) = cold(spec());

    let end = reads(&mut store, Instant::ZERO, file);

    // 100 x 1 ms of latency; 1 IOPS per ms never holds them up.
    assert_eq!(end, Instant::ZERO + MS * 100);
    assert_eq!(store.counters().physical_reads, 100);
}

#[test]
fn a_pool_that_holds_everything_reads_each_page_once() {
    let (mut store, file) = cold(StoreSpec {
        memory: Bytes::mib(16),
        ..spec()
    });

    let first = reads(&mut store, Instant::ZERO, file);
    let second = reads(&mut store, first, file);

    assert_eq!(second, first);
    assert_eq!(store.counters().physical_reads, 100);
}

#[test]
fn a_released_page_is_never_written() {
    let mut store = Store::new(&spec(), storage(&disk(1_000)), 1);
    let file = store.create(Role::Temp);

    for _ in 0..2 {
        for page in 0..64 {
            let step = store.write(Instant::ZERO, file, page);
            assert_eq!(step, Ok(Step::Done));
        }
        store.release(file, 0);
    }

    assert_eq!(store.counters().pages_discarded, 128);
    assert_eq!(store.counters().pages_written, 0);
}

#[test]
fn row_versions_fill_a_small_file_of_temporary_space() {
    let small = FileSpec {
        volume: 0,
        size: Some(Bytes::mib(1)),
    };
    let spec = StoreSpec {
        temp: vec![small],
        versions: Some(VersionSpec {
            bytes_per_row: Bytes::kib(8),
            retention: Duration::from_secs(60),
        }),
        ..spec()
    };
    let mut store = Store::new(&spec, storage(&disk(1_000)), 1);
    let mut ticket = CommitTicket::new(0, 0, 1_000);

    // 1,000 rows of 8 KiB are more than 1 MiB.
    let mut now = Instant::ZERO;
    let full = loop {
        match store.commit(now, &mut ticket) {
            Ok(Step::Wait(wait)) => now = wait.until,
            other => break other,
        }
    };

    let (role, capacity) = (Role::Temp, Bytes::mib(1));
    assert_eq!(full, Err(Full { role, capacity }));
}

/// A store with a loaded file of 1,000 pages, of which nothing is in memory.
fn cold(spec: StoreSpec) -> (Store, FileId) {
    let mut store = Store::new(&spec, storage(&disk(1_000)), 1);
    let file = store.create(Role::Data);
    store.set_timeless(true);
    for page in 0..1_000 {
        let step = store.write(Instant::ZERO, file, page);
        assert_eq!(step, Ok(Step::Done));
    }
    store.set_timeless(false);
    store.empty_pool();
    store.empty_host_cache();
    (store, file)
}

/// The first 100 pages, one after the other: when the last one is there.
fn reads(store: &mut Store, from: Instant, file: FileId) -> Instant {
    (0..100).fold(from, |now, page| {
        patiently(now, |now| store.read(now, 0, file, page))
    })
}

/// Asks until done, and says when that was.
fn patiently(mut now: Instant, mut ask: impl FnMut(Instant) -> Step) -> Instant {
    while let Step::Wait(wait) = ask(now) {
        now = wait.until;
    }
    now
}

fn storage(disk: &DiskSpec) -> Storage {
    let volume = VolumeSpec::of("data", disk.clone());
    Storage::new(&MachineSpec::unlimited(), &[volume], 1)
}

/// With a latency of 1 ms.
fn disk(iops: u64) -> DiskSpec {
    DiskSpec {
        read_latency: LatencySpec::constant(MS),
        write_latency: LatencySpec::constant(MS),
        ..DiskSpec::limited(Iops(iops), Throughput::from_mb_per_s(1_000))
    }
}

fn spec() -> StoreSpec {
    let file = FileSpec {
        volume: 0,
        size: None,
    };
    StoreSpec {
        memory: Bytes::mib(1),
        read_unit: ReadUnit::Page,
        read_ahead: Bytes(0),
        write_gather: Bytes::kib(256),
        writes_in_flight: 4,
        checkpoint: None,
        commit: Commit::Durable,
        log_block: model::store::LOG_BLOCK,
        versions: None,
        data: vec![file],
        temp: vec![file],
        log: file,
    }
}
