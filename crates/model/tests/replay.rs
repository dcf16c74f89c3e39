//! A replayed trace takes the time that arithmetic, or a loop over the store by hand, says it takes.

use model::cores::QUANTUM;
use model::replay::{Replayed, Unfaithful, replay};
use model::split::{Part, Spent};
use model::store::{
    Cause, Commit, CommitTicket, FileSpec, Full, ReadUnit, Role, Step, Store, StoreSpec,
    VersionSpec,
};
use model::trace::{Access, Event, Start, Temperature, Trace};
use model::{
    Bytes, DiskSpec, Duration, Instant, Iops, LatencySpec, MachineSpec, Storage, Throughput,
    VolumeSpec,
};

const MS: Duration = Duration::from_millis(1);
/// Pages of a file; a pool of 1 MiB holds 128 pages.
const PAGES: u64 = 1_000;

#[test]
fn reads_of_missing_pages_take_their_cpu_time_and_their_latency() {
    let trace = cold(vec![reads(0, 100, MS * 2)]);

    let replayed = replayed(&trace, &disk(1_000), 1);

    // 100 x (2 ms of CPU + 1 ms of latency) = 300 ms; 1 IOPS per ms never holds them up.
    assert_eq!(replayed.end, Instant::ZERO + MS * 300);
    let split: Vec<_> = replayed.splits[0].iter().collect();
    let service = Spent::Waiting(Cause::Read, Part::Service);
    assert_eq!(split, [(Spent::Cpu, MS * 200), (service, MS * 100)]);
    assert_eq!(replayed.counters.physical_reads, 100);
}

#[test]
fn a_single_session_ends_when_a_loop_by_hand_over_the_store_does() {
    let mut events = Vec::new();
    for n in 0..2_000_u64 {
        let page = n * 389 % PAGES;
        events.push(Event::new(MS, Access::Read { file: 0, page }));
        events.push(Event::new(Duration::ZERO, Access::Write { file: 0, page }));
        if n % 10 == 0 {
            let (log_bytes, rows) = (5_000, 10);
            events.push(Event::new(MS, Access::Commit { log_bytes, rows }));
            events.push(Event::new(Duration::ZERO, Access::Sleep(MS * 5)));
        }
    }

    let replayed = replayed(&cold(vec![events]), &disk(500), 1);

    let mut store = Store::new(&spec(), storage(&disk(500)), 1);
    let file = store.create(Role::Data);
    store.set_timeless(true);
    for page in 0..PAGES {
        patiently(Instant::ZERO, |now| store.write(now, file, page));
    }
    store.set_timeless(false);
    store.empty_pool();
    let (mut now, mut cpu) = (Instant::ZERO, Duration::ZERO);
    for n in 0..2_000_u64 {
        let page = n * 389 % PAGES;
        cpu += MS;
        if cpu >= QUANTUM || !store.holds(file, page) {
            now += std::mem::take(&mut cpu);
        }
        now = patiently(now, |now| Ok(store.read(now, 0, file, page)));
        now = patiently(now, |now| store.write(now, file, page));
        if n % 10 == 0 {
            now += std::mem::take(&mut cpu) + MS;
            let mut ticket = CommitTicket::new(0, 5_000, 10);
            now = patiently(now, |now| store.commit(now, &mut ticket)) + MS * 5;
        }
    }
    assert_eq!(replayed.end, now);
    assert!(replayed.counters.pages_written > 0);
}

#[test]
fn a_pool_that_holds_everything_reads_each_page_once() {
    let twice = || [reads(0, 100, MS), reads(0, 100, MS)].concat();
    let spec = StoreSpec {
        memory: Bytes::mib(16),
        ..spec()
    };

    let first = replay(&cold(vec![twice()]), &spec, storage(&disk(1_000)), 1, 1);

    let counters = first.expect("one session is faithful").counters;
    assert_eq!(counters.physical_reads, 100);
}

#[test]
fn twelve_bursts_of_16_s_take_192_96_and_48_s_on_1_2_and_4_cores() {
    // 12 sessions x 4,000 bursts of 4 ms = 192 s of CPU time, shared evenly.
    let session = vec![Event::new(QUANTUM, Access::Sleep(Duration::ZERO)); 4_000];
    let trace = cold(vec![session; 12]);

    let ends = [1, 2, 4].map(|cores| replayed(&trace, &disk(1_000), cores).end);

    assert_eq!(
        ends,
        [192, 96, 48].map(|s| Instant::ZERO + Duration::from_secs(s))
    );
}

#[test]
fn more_cores_are_never_slower_for_sessions_bound_by_cpu() {
    let bursts = |session: u64| {
        let burst = |n| Duration::from_micros(100 + (session * 7_919 + n * 104_729) % 5_000);
        let access = |page| Access::Read { file: 0, page };
        (0..200)
            .map(|n| Event::new(burst(n), access(n % 16)))
            .chain([Event::new(burst(200), Access::Sleep(Duration::ZERO))])
            .collect()
    };
    let trace = Trace {
        start: Start::default(),
        ..cold((0..12).map(bursts).collect())
    };

    let ends = [1, 2, 3, 4, 8, 16].map(|cores| replayed(&trace, &disk(100_000), cores).end);

    assert!(ends.is_sorted_by(|fewer, more| fewer >= more), "{ends:?}");
}

#[test]
fn cpu_time_of_pages_in_memory_is_spent_by_the_quantum() {
    let held = vec![
        Event::new(
            MS,
            Access::Read {
                file: 0,
                page: PAGES - 1
            }
        );
        10
    ];
    let rest = Event::new(Duration::ZERO, Access::Sleep(Duration::ZERO));
    let trace = Trace {
        start: Start::default(),
        ..cold(vec![[held, vec![rest]].concat()])
    };

    let replayed = replayed(&trace, &disk(1_000), 1);

    // Bursts of 4, 4 and 2 ms.
    assert_eq!(replayed.end, Instant::ZERO + MS * 10);
    assert_eq!(replayed.splits[0].total(), MS * 10);
    assert_eq!(replayed.counters.physical_reads, 0);
}

#[test]
fn the_parts_of_each_session_sum_to_its_time() {
    let trace = cold((0..8).map(|n| reads(n * 100, 100, MS)).collect());

    let replayed = replayed(&trace, &disk(500), 2);

    let last = replayed.splits.iter().map(|split| split.total()).max();
    assert_eq!(Some(replayed.end - Instant::ZERO), last);
}

#[test]
fn a_faster_disk_ends_earlier() {
    let trace = cold(
        (0..4)
            .map(|n| reads(n * 200, 200, Duration::ZERO))
            .collect(),
    );

    let ends = [100, 500, 2_000].map(|iops| replayed(&trace, &disk(iops), 4).end);

    assert!(ends.is_sorted_by(|slow, fast| slow > fast), "{ends:?}");
}

#[test]
fn same_seed_same_result() {
    let disk = DiskSpec {
        read_latency: LatencySpec::Exponential { mean: MS },
        ..disk(500)
    };
    let trace = cold((0..4).map(|n| reads(n * 200, 200, MS)).collect());

    assert_eq!(replayed(&trace, &disk, 2), replayed(&trace, &disk, 2));
}

#[test]
fn a_released_page_is_never_written() {
    let write = |page| Event::new(Duration::ZERO, Access::Write { file: 0, page });
    let release = Event::new(Duration::ZERO, Access::Release { file: 0, first: 0 });
    let round = (0..64).map(write).chain([release]);
    let trace = Trace {
        files: vec![Role::Temp],
        sessions: vec![round.clone().chain(round).collect()],
        ..Trace::default()
    };

    let replayed = replayed(&trace, &disk(1_000), 1);

    assert_eq!(replayed.end, Instant::ZERO);
    assert_eq!(replayed.counters.pages_discarded, 128);
    assert_eq!(replayed.counters.pages_written, 0);
}

#[test]
fn a_trace_with_lock_waits_is_refused() {
    let trace = Trace {
        lock_waits: 3,
        ..cold(vec![reads(0, 1, MS)])
    };

    assert_eq!(refusal(&trace, &spec()), Unfaithful::LockWaits(3));
    assert_eq!(
        Unfaithful::LockWaits(3).to_string(),
        "sessions of the recorded run waited for locks (3), so its page references depend on time; run it \
         instead of replaying it"
    );
}

#[test]
fn a_trace_whose_recorder_saw_shared_writes_is_refused() {
    let trace = Trace {
        shared_writes: true,
        ..cold(vec![reads(0, 1, MS)])
    };

    assert_eq!(refusal(&trace, &spec()), Unfaithful::SharedWrites);
}

#[test]
fn a_file_that_one_session_writes_and_another_one_uses_is_refused() {
    let write = || vec![Event::new(MS, Access::Write { file: 0, page: 0 })];
    let read = || reads(0, 1, MS);

    for sessions in [[write(), write()], [write(), read()], [read(), write()]] {
        assert_eq!(
            refusal(&cold(sessions.into()), &spec()),
            Unfaithful::SharedFile(0)
        );
    }
}

#[test]
fn files_that_fill_up_refuse_the_replay() {
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
    let commit = Event::new(
        MS,
        Access::Commit {
            log_bytes: 0,
            rows: 1_000,
        },
    );
    let full = Full {
        role: Role::Temp,
        capacity: Bytes::mib(1),
    };

    assert_eq!(
        refusal(&cold(vec![vec![commit]]), &spec),
        Unfaithful::Full(full)
    );
}

/// Reads of `count` pages of the only file, each after `cpu`.
fn reads(first: u64, count: u64, cpu: Duration) -> Vec<Event> {
    let read = |page| Event::new(cpu, Access::Read { file: 0, page });
    (first..first + count).map(read).collect()
}

/// A trace over one loaded file, of which nothing is in memory.
fn cold(sessions: Vec<Vec<Event>>) -> Trace {
    Trace {
        files: vec![Role::Data],
        loaded: (0..PAGES)
            .map(|page| Access::Write { file: 0, page })
            .collect(),
        start: Start {
            pool: Temperature::Cold,
            host_cache: Temperature::Cold,
        },
        sessions,
        ..Trace::default()
    }
}

fn replayed(trace: &Trace, disk: &DiskSpec, cores: u32) -> Replayed {
    replay(trace, &spec(), storage(disk), cores, 1).expect("the trace is faithful")
}

fn refusal(trace: &Trace, spec: &StoreSpec) -> Unfaithful {
    replay(trace, spec, storage(&disk(1_000)), 1, 1).expect_err("the trace is not faithful")
}

/// Asks until done, and says when that was.
fn patiently(mut now: Instant, mut ask: impl FnMut(Instant) -> Result<Step, Full>) -> Instant {
    while let Step::Wait(wait) = ask(now).expect("files that grow are never full") {
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
