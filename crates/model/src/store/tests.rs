use super::*;
use crate::{DiskSpec, Iops, LatencySpec, MachineSpec, Throughput, VolumeSpec};

fn spec() -> StoreSpec {
    StoreSpec {
        writes_in_flight: 8,
        ..StoreSpec::plain(Bytes::mib(1))
    }
}

fn store(spec: &StoreSpec) -> Store {
    let disk = DiskSpec {
        read_latency: LatencySpec::constant(Duration::from_millis(1)),
        write_latency: LatencySpec::constant(Duration::from_millis(1)),
        ..DiskSpec::limited(Iops(1_000), Throughput::from_mb_per_s(100))
    };
    let storage = Storage::new(&MachineSpec::unlimited(), &[VolumeSpec::of("d", disk)], 1);
    Store::new(spec, storage, 1)
}

/// Retries until done; returns when that was.
fn patiently(mut now: Instant, mut ask: impl FnMut(Instant) -> Step) -> Instant {
    while let Step::Wait(wait) = ask(now) {
        now = wait.until;
    }
    now
}

fn written(store: &mut Store, file: FileId, pages: u64) -> Instant {
    (0..pages).fold(Instant::ZERO, |now, page| {
        patiently(now, |now| {
            store
                .write(now, file, page)
                .expect("files that grow are never full")
        })
    })
}

#[test]
fn a_write_that_finds_a_frame_does_not_wait() {
    let mut store = store(&spec());
    let file = store.create(Role::Temp);
    assert_eq!(written(&mut store, file, 64), Instant::ZERO);
    assert_eq!(store.counters().pages_written, 0);
}

#[test]
fn writes_beyond_memory_go_at_the_speed_of_the_disk_and_gathered() {
    let mut store = store(&spec());
    let file = store.create(Role::Temp);
    // 100 MiB through a pool of 1 MiB at 100 MB/s: 99 MiB take 1.04 s, and need far fewer than the
    // 12,672 requests of single pages.
    let end = written(&mut store, file, 12_800).as_secs_f64();
    assert!((1.0..1.1).contains(&end), "{end}");
    assert!(
        store.storage().usage(Instant::ZERO)[0].used < 1_000,
        "{:?}",
        store.storage().usage(Instant::ZERO)[0]
    );
}

#[test]
fn a_missing_page_waits_for_the_disk_and_a_held_one_does_not() {
    let mut store = store(&spec());
    let file = store.create(Role::Data);
    let now = written(&mut store, file, 1_000);
    let arrived = patiently(now, |now| store.read(now, 0, file, 0));
    assert!(arrived > now);
    assert_eq!(store.read(arrived, 0, file, 0), Step::Done);
}

#[test]
fn an_extent_read_brings_in_its_neighbours() {
    let mut store = store(&StoreSpec {
        read_unit: ReadUnit::Extent,
        ..spec()
    });
    let file = store.create(Role::Data);
    let now = written(&mut store, file, 1_000);
    let arrived = patiently(now, |now| store.read(now, 0, file, 3));
    for page in 0..8 {
        assert_eq!(
            store.read(arrived, 0, file, page),
            Step::Done,
            "page {page}"
        );
    }
}

#[test]
fn dropped_pages_are_never_written() {
    let mut store = store(&spec());
    let file = store.create(Role::Temp);
    written(&mut store, file, 64);
    store.drop_file(file);
    assert_eq!(store.counters().pages_discarded, 64);
    let other = store.create(Role::Temp);
    assert_eq!(written(&mut store, other, 96), Instant::ZERO);
    assert_eq!(store.counters().pages_written, 0);
}

#[test]
fn a_data_page_is_written_when_it_has_been_dirty_for_too_long() {
    let mut store = store(&StoreSpec {
        checkpoint: Some(Duration::SECOND),
        ..spec()
    });
    let file = store.create(Role::Data);
    written(&mut store, file, 16);
    store.advance(Instant::from_nanos(999_999_999));
    assert_eq!(store.counters().pages_written, 0);
    store.advance(Instant::ZERO + Duration::from_secs(2));
    assert_eq!(store.counters().pages_written, 16);
}

#[test]
fn commits_under_way_share_the_next_flush() {
    let mut store = store(&spec());
    let mut tickets: [CommitTicket; 5] =
        core::array::from_fn(|session| CommitTicket::new(session as u32, 1_000, 0));
    // All five ask at once: the first flush carries one, the second the other four.
    let waits = tickets
        .each_mut()
        .map(|ticket| store.commit(Instant::ZERO, ticket).expect("no versions"));
    assert!(waits.iter().all(|step| matches!(step, Step::Wait(_))));
    let [first, second, others @ ..] = &mut tickets;
    let first = patiently(Instant::ZERO, |now| {
        store.commit(now, first).expect("no versions")
    });
    let second = patiently(first, |now| store.commit(now, second).expect("no versions"));
    assert_eq!(first, Instant::ZERO + Duration::from_millis(1));
    assert_eq!(second, Instant::ZERO + Duration::from_millis(2));
    for other in others {
        assert_eq!(store.commit(second, other), Ok(Step::Done));
    }
    assert_eq!(store.storage().usage(Instant::ZERO)[0].used, 2);
}

#[test]
fn relaxed_commits_write_full_blocks_and_do_not_wait() {
    let mut store = store(&StoreSpec {
        commit: Commit::Relaxed,
        ..spec()
    });
    for _ in 0..120 {
        let mut ticket = CommitTicket::new(0, 1_024, 0);
        assert_eq!(store.commit(Instant::ZERO, &mut ticket), Ok(Step::Done));
    }
    // 120 KiB are two blocks of 60 KiB.
    assert_eq!(store.storage().usage(Instant::ZERO)[0].used, 2);
}

#[test]
fn a_pool_has_64_frames_at_least() {
    let mut store = store(&StoreSpec {
        memory: Bytes::ZERO,
        ..spec()
    });
    let file = store.create(Role::Temp);
    // Two extents are kept free: what comes after 64 - 16 pages may be written out.
    assert_eq!(written(&mut store, file, 48), Instant::ZERO);
    assert_eq!(store.counters().pages_written, 0);
}

#[test]
fn versions_are_written_by_the_page_and_go_by_the_extent() {
    let mut store = store(&StoreSpec {
        versions: Some(VersionSpec {
            bytes_per_row: Bytes::kib(4),
            retention: Duration::from_millis(1),
        }),
        ..spec()
    });
    let mut changed = |rows| {
        let mut ticket = CommitTicket::new(0, 0, rows);
        let step = store.commit(Instant::ZERO, &mut ticket);
        assert_eq!(step, Ok(Step::Done));
        (store.counters().page_requests, store.next_due().is_some())
    };
    // Two rows of 4 KiB are a page, and 16 an extent, of which only a full one will go.
    assert_eq!(changed(1), (0, false));
    assert_eq!(changed(1), (1, false));
    assert_eq!(changed(13), (7, false));
    assert_eq!(changed(1), (8, true));
    let due = store.next_due().expect("the extent is to go");
    assert!(due > Instant::ZERO, "it is kept for a while");
    store.advance(due);
    assert_eq!(store.counters().pages_discarded, 8);
}

#[test]
fn versions_that_expire_in_memory_cost_no_write() {
    let versions = VersionSpec {
        bytes_per_row: PAGE,
        retention: Duration::from_millis(1),
    };
    let mut store = store(&StoreSpec {
        versions: Some(versions),
        ..spec()
    });
    let mut now = Instant::ZERO;
    for _ in 0..1_000 {
        let mut ticket = CommitTicket::new(0, 0, 1);
        now = patiently(now + Duration::from_millis(1), |now| {
            store
                .commit(now, &mut ticket)
                .expect("files that grow are never full")
        });
    }
    assert_eq!(store.counters().pages_written, 0);
    assert!(store.counters().pages_discarded > 900);
}
