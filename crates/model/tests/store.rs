//! The store takes the time, and reads and writes the pages, that arithmetic says it does.

use model::store::{
    Commit, CommitTicket, DoublewriteSpec, FileId, FileSpec, Full, PageSize, Role, Step, Store,
    StoreSpec, VersionSpec,
};
use model::{
    Bytes, DiskSpec, Duration, Instant, Iops, LatencySpec, MachineSpec, Measure, Storage,
    Throughput, VolumeSpec,
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
fn extents_side_by_side_are_read_ahead_by_one_request() {
    let (mut store, file) = cold(StoreSpec {
        memory: Bytes::mib(16),
        read_ahead: Bytes::kib(256),
        ..spec()
    });

    reads(&mut store, Instant::ZERO, file);

    // Pages 0 to 7 one by one, which come before anything is read ahead. Page 4 asks for a window, the 32 pages from page 8
    // on, and pages 8, 40 and 72, the first of a window, for the next one.
    assert_eq!(store.counters().physical_reads, 8 + 1 + 3);
}

#[test]
fn what_the_pool_evicts_is_found_in_the_page_cache() {
    // The pool holds 64 of the 100 pages, in turn: each of them is asked for after it was evicted.
    let small = StoreSpec {
        memory: Bytes::kib(512),
        ..spec()
    };
    let twice = |spec: StoreSpec| {
        let (mut store, file) = cold(spec);
        let first = reads(&mut store, Instant::ZERO, file);
        let second = reads(&mut store, first, file);
        (store.counters().physical_reads, second - first)
    };

    assert_eq!(twice(small.clone()), (200, MS * 100));
    let cached = StoreSpec {
        page_cache: Bytes::mib(1),
        ..small
    };
    assert_eq!(twice(cached), (100, Duration::from_micros(2) * 100));
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

/// I/Os and bytes that reached the disk while 2,000 pages, every eighth of a file, were changed in a pool that holds far
/// fewer, and log that was written.
fn changes(spec: &StoreSpec) -> (u64, u64, u64) {
    let mut store = Store::new(spec, storage(&disk(100_000)), 1);
    let file = store.create(Role::Data);
    let mut now = Instant::ZERO;
    for page in (0..16_000).step_by(8) {
        now = patiently(now, |now| {
            store.write(now, file, page).expect("the file grows")
        });
    }
    let mut ticket = CommitTicket::new(0, 512, 1);
    now = patiently(now, |now| {
        store.commit(now, &mut ticket).expect("no versions")
    });
    let used = |measure| {
        let usage = store.storage().usage(now).into_iter();
        let mut used = usage.filter(|usage| usage.measure == measure);
        used.next().expect("the disk has such a limit").used
    };
    let (ios, bytes) = (used(Measure::Iops), used(Measure::Throughput));
    (ios, bytes, store.counters().log_bytes)
}

#[test]
fn pages_written_twice_are_twice_the_bytes_and_hardly_more_requests() {
    let once = StoreSpec {
        write_gather: PageSize::DEFAULT.bytes(),
        writes_in_flight: 64,
        ..spec()
    };
    let twice = StoreSpec {
        doublewrite: Some(DoublewriteSpec {
            batch: 16,
            volume: None,
        }),
        ..once.clone()
    };

    let (ios, bytes, _) = changes(&once);
    let (ios_twice, bytes_twice, _) = changes(&twice);

    // Pages that are not evicted at the end differ by a batch or so.
    let ratio = |one: u64, other: u64| one as f64 / other as f64;
    assert!((ratio(bytes_twice, bytes) - 2.0).abs() < 0.05);
    let more = ratio(ios_twice, ios);
    assert!(
        (1.04..1.25).contains(&more),
        "{more}: a copy for 16 pages or less"
    );
}

#[test]
fn copies_go_to_the_volume_that_is_named_and_pages_to_their_own() {
    let volumes = [
        VolumeSpec::of("data", disk(1_000)),
        VolumeSpec::of("copies", disk(1_000)),
    ];
    let storage = Storage::new(&MachineSpec::unlimited(), &volumes, 1);
    let spec = StoreSpec {
        write_gather: PageSize::DEFAULT.bytes(),
        writes_in_flight: 64,
        checkpoint: Some(Duration::SECOND),
        doublewrite: Some(DoublewriteSpec {
            batch: 16,
            volume: Some(1),
        }),
        ..spec_of(Bytes::mib(64))
    };
    let mut store = Store::new(&spec, storage, 1);
    let file = store.create(Role::Data);
    for page in 0..32 {
        let step = store.write(Instant::ZERO, file, page);
        assert_eq!(step, Ok(Step::Done));
    }
    store.advance(Instant::ZERO + Duration::from_secs(10));
    let usage = store.storage().usage(Instant::ZERO).into_iter();
    let iops = usage.filter(|usage| usage.measure == Measure::Iops);
    let used: Vec<u64> = iops.map(|usage| usage.used).collect();
    // 32 pages, and two batches of 16.
    assert_eq!(used, [32, 2]);
}

#[test]
fn a_page_that_is_logged_whole_is_logged_once_between_checkpoints() {
    let images = StoreSpec {
        full_page_images: true,
        memory: Bytes::mib(64),
        ..spec()
    };

    // 2,000 pages of 8 KiB, and a record of 512 bytes.
    assert_eq!(changes(&images).2, 2_000 * (8 << 10) + 512);
    let plain = StoreSpec {
        full_page_images: false,
        ..images
    };
    assert_eq!(changes(&plain).2, 512);
}

#[test]
fn a_page_that_stays_dirty_over_a_checkpoint_is_logged_whole_again() {
    let spec = StoreSpec {
        full_page_images: true,
        checkpoint: Some(Duration::SECOND),
        ..spec()
    };
    let mut store = Store::new(&spec, storage(&disk(1_000)), 1);
    let file = store.create(Role::Data);
    for ms in [900, 950, 1_100, 1_200] {
        let now = Instant::ZERO + MS * ms;
        let step = store.write(now, file, 0);
        assert_eq!(step, Ok(Step::Done));
    }
    let now = Instant::ZERO + MS * 1_300;
    let mut ticket = CommitTicket::new(0, 512, 1);
    patiently(now, |now| {
        store.commit(now, &mut ticket).expect("no versions")
    });
    assert_eq!(store.counters().log_bytes, 2 * (8 << 10) + 512);
}

#[test]
fn reads_and_memory_are_in_pages_of_the_size_that_is_set() {
    for kib in [4, 8, 16, 32, 64] {
        let page_size = PageSize::try_from(Bytes::kib(kib)).expect("a power of two");
        let (mut store, file) = cold(StoreSpec {
            page_size,
            memory: page_size.of(200),
            ..spec()
        });
        let first = reads(&mut store, Instant::ZERO, file);
        let read = store.storage().usage(first).into_iter();
        let bytes: Vec<u64> = read
            .filter(|usage| usage.measure == Measure::Throughput)
            .map(|usage| usage.used)
            .collect();
        assert_eq!(bytes, [page_size.of(100).0]);
        // All 100 fit.
        assert_eq!(reads(&mut store, first, file), first, "pages of {kib} KiB");
    }
}

/// When 1,000 transactions are done that change a page each and log 4 KiB, over a data disk of 100 IOPS; and how many
/// pages were written by then.
fn logged_changes(log_capacity: Option<Bytes>) -> (Instant, u64) {
    let volumes = [
        VolumeSpec::of("data", disk(100)),
        VolumeSpec::of("log", DiskSpec::unlimited()),
    ];
    let storage = Storage::new(&MachineSpec::unlimited(), &volumes, 1);
    let spec = StoreSpec {
        log_capacity,
        write_gather: model::store::PAGE,
        commit: Commit::Relaxed,
        log: FileSpec {
            volume: 1,
            size: None,
        },
        ..spec_of(Bytes::mib(64))
    };
    let mut store = Store::new(&spec, storage, 1);
    let file = store.create(Role::Data);
    let end = (0..1_000).fold(Instant::ZERO, |now, page| {
        let now = patiently(now, |now| store.write(now, file, page).expect("room"));
        let mut ticket = CommitTicket::default();
        ticket.log_bytes = 4 << 10;
        patiently(now, |now| store.commit(now, &mut ticket).expect("room"))
    });
    (end, store.counters().pages_written)
}

#[test]
fn a_log_that_fills_has_pages_written_and_a_full_one_makes_sessions_wait_for_that() {
    let (end, written) = logged_changes(None);
    assert_eq!((end, written), (Instant::ZERO, 0));

    // 14/16 of 8 MiB are 1,792 transactions.
    assert_eq!(logged_changes(Some(Bytes::mib(8))), (Instant::ZERO, 0));

    // 15/16 of 1 MiB are the log of 240 transactions; the other 760 wait for pages to be written, at 100 a second, except
    // for 4 that are in flight.
    let (end, written) = logged_changes(Some(Bytes::mib(1)));
    assert!((7.3..7.7).contains(&end.as_secs_f64()), "{end:?}");
    assert!((740..=780).contains(&written), "{written}");
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
    spec_of(Bytes::mib(1))
}

fn spec_of(memory: Bytes) -> StoreSpec {
    StoreSpec {
        writes_in_flight: 4,
        ..StoreSpec::plain(memory)
    }
}
