//! What vendors publish about their disks and machines, as exact numbers.
//!
//! Each test names its source and that source's date. Limits are paced strictly here (no depth), so that
//! a backlog shows the rate from its first request on.

use model::{
    Burst, Bytes, Completion, DiskSpec, Duration, HostCacheMode, HostCacheSpec, Instant, IoUnit,
    Iops, LatencySpec, LimitSpec, MachineSpec, Measure, Owner, Rate, Request, Storage, Throttle,
    Throughput, VolumeSpec,
};

// Azure: premium disks.

/// The worked table of a P30 by request size, "KB" there meaning KiB.
///
/// Source: MicrosoftDocs/azure-docs, `articles/virtual-machines/premium-storage-performance.md`,
/// 2021-06-29: 8 KB 5,000 IOPS and 40 MB/s; 32 KB 5,000 and 160; 64 KB 3,200 and 200; 1024 KB 200 and 200.
#[test]
fn a_p30_gives_the_table_of_iops_and_throughput_by_request_size() {
    // 5,000 x 8 KiB = 41.0 MB/s and 5,000 x 32 KiB = 163.8 MB/s, which the table rounds to 40 and 160.
    assert_eq!(rate(&p30(), Bytes::kib(8)), 5_000.0);
    assert_eq!(rate(&p30(), Bytes::kib(32)), 5_000.0);
    // From here on bytes bind. 200 MB/s / 64 KiB = 3,051.8 and 200 MB/s / 1 MiB = 190.7: the table has
    // 3,200 and 200, because it takes an MB for a MiB.
    assert_near(rate(&p30(), Bytes::kib(64)), 200e6 / 65_536.0);
    assert_near(rate(&p30(), Bytes::mib(1)), 200e6 / 1_048_576.0);
    let in_mib = DiskSpec {
        limits: vec![strict(LimitSpec::iops(Iops(5_000))), mib_per_s(200)],
        ..p30()
    };
    assert_near(rate(&in_mib, Bytes::kib(64)), 3_200.0);
    assert_near(rate(&in_mib, Bytes::mib(1)), 200.0);
}

/// Source: MicrosoftDocs/azure-compute-docs, `disk-bursting.md`, 2023-05-02: on-demand bursting bills
/// the larger of I/Os and MB/s x 1024 / 256, so that 256 KiB is the I/O unit.
#[test]
fn a_premium_disk_counts_every_256_kib_as_one_io() {
    let disk = DiskSpec {
        limits: vec![strict(LimitSpec::iops(Iops(5_000)))],
        ..p30()
    };

    assert_eq!(rate(&disk, Bytes::kib(256)), 5_000.0);
    // One byte more is a second I/O, and 1 MiB is four.
    assert_eq!(rate(&disk, Bytes(262_145)), 2_500.0);
    assert_eq!(rate(&disk, Bytes::mib(1)), 1_250.0);
}

/// Source: MicrosoftDocs/azure-compute-docs, `disk-bursting.md`, 2023-05-02: 30 minutes at the most;
/// `includes/disk-storage-premium-ssd-sizes.md`, 2023-03-16: P20 2,300 IOPS and 150 MB/s, bursting to
/// 3,500 and 170. The bucket's size is not printed; it follows as (3,500 - 2,300) x 1,800 s.
#[test]
fn a_p20_bursts_for_half_an_hour_and_then_falls_to_its_base() {
    let disk = DiskSpec {
        limits: vec![bursting(LimitSpec::iops(Iops(2_300)), 3_500, 2_160_000)],
        ..p30()
    };

    // 25 MiB count as 100 I/Os: one request in place of a hundred.
    let burst = burst_of(&disk, Bytes::mib(25));

    assert_eq!(burst.length, Duration::from_secs(1_800));
    assert_near(burst.rate_during * 100.0, 3_500.0);
    assert_near(burst.rate_after * 100.0, 2_300.0);
    let credits_gone = Throttle {
        owner: Owner::Disk,
        measure: Measure::Iops,
        credits: true,
    };
    assert_eq!(burst.throttled_by, Some(credits_gone));
}

/// Sources as above; the bucket of bytes holds 20 MB/s x 1,800 s.
#[test]
fn a_p20_bursts_in_bytes_for_half_an_hour_too() {
    let base = LimitSpec::throughput(Throughput::from_mb_per_s(150));
    let disk = DiskSpec {
        limits: vec![bursting(base, 170_000_000, 36_000_000_000)],
        ..p30()
    };

    let burst = burst_of(&disk, Bytes(1_000_000));

    assert_eq!(burst.length, Duration::from_secs(1_800));
    assert_near(burst.rate_during, 170.0);
    assert_near(burst.rate_after, 150.0);
}

/// Source: Wieman and Mishra, *Scaling-out SQL Server disks and data files on Windows Azure Virtual
/// Machines*, 2014-02: up to 60 MB per second, or up to 500 transactions per second, per blob.
#[test]
fn a_page_blob_gives_500_transactions_a_second_of_any_size_up_to_60_mb_per_s() {
    let disk = DiskSpec::limited(Iops(500), Throughput::from_mb_per_s(60));

    for length in [512, 8 << 10, 64 << 10, 120_000] {
        assert_eq!(rate(&disk, Bytes(length)), 500.0);
    }
    // 500 x 120 kB = 60 MB/s; longer requests are fewer. 60 MB/s / 1 MiB = 57.2
    assert_near(rate(&disk, Bytes::mib(1)), 60e6 / 1_048_576.0);
    assert_near(rate(&disk, Bytes::kib(256)), 60e6 / 262_144.0);
}

/// The same blob with the latencies measured at one request at a time.
///
/// Source: <https://gist.github.com/froop/25a2b8d3e1f380ba4c65>, 2014-09, CrystalDiskMark, 4 KiB: one at a
/// time 87.1 reads and 224.8 writes per second (11.5 and 4.45 ms); 32 at a time 506 and 505.
#[test]
fn a_page_blob_is_bound_by_latency_at_depth_1_and_by_its_limit_at_depth_32() {
    let disk = DiskSpec {
        read_latency: LatencySpec::constant(Duration::from_micros(11_500)),
        write_latency: LatencySpec::constant(Duration::from_micros(4_450)),
        ..DiskSpec::limited(Iops(500), Throughput::from_mb_per_s(60))
    };
    let read = Request::read(0, Bytes::kib(4));
    let write = Request::write(0, Bytes::kib(4));

    // 1 / 11.5 ms = 87.0 and 1 / 4.45 ms = 224.7
    assert_near(closed_loop(&disk, 1, read).rate, 1e3 / 11.5);
    assert_near(closed_loop(&disk, 1, write).rate, 1e3 / 4.45);
    assert_near(closed_loop(&disk, 32, read).rate, 500.0);
    assert_near(closed_loop(&disk, 32, write).rate, 500.0);
}

// Azure: machines. How their caps combine: MicrosoftDocs/azure-docs,
// `includes/virtual-machine-disk-performance.md`, 2020-10-12.

/// Source: MicrosoftDocs/azure-docs, `sizes-previous-gen.md`, 2020-11-01: DS14 cached and temporary
/// 64,000 IOPS and 512 MB/s, uncached 51,200 and 512. `includes/virtual-machines-managed-disks-benchmarking.md`,
/// 2019-01-11, measured on it: 10 P30 without cache 50,000 writes per second, cache hits 64,000
/// reads per second, both together 100,000; and 1,000 MB/s.
#[test]
fn the_cached_and_uncached_limits_of_a_ds14_add_up() {
    // Uncached: ten P30 x 5,000 = 50,000, just below the machine's 51,200. Cached: 64,000.
    let page = Bytes::kib(4);
    assert_near(rate_of_ds14(&[0], page), 50_000.0);
    assert_near(rate_of_ds14(&[1], page), 64_000.0);
    // Each goes its own pace. The vendor's own sum, measured, falls short of its parts by 12 %.
    assert_near(rate_of_ds14(&[0, 1], page), 114_000.0);

    // 512 + 512 MB/s in requests of 64 KiB.
    let extent = Bytes::kib(64);
    assert_near(rate_of_ds14(&[0], extent), 512e6 / 65_536.0);
    assert_near(rate_of_ds14(&[0, 1], extent), 1_024e6 / 65_536.0);
}

/// The machine's temporary disk is on the same solid state drive as the host cache.
///
/// Source: MicrosoftDocs/azure-docs, `sizes-previous-gen.md`, 2020-11-01: one limit, "cached and
/// temporary storage", 64 MB/s for a DS2.
#[test]
fn the_local_disk_shares_the_cached_limit() {
    let machine = with_host_cache(&[("cached", strict_mb_per_s(64))]);
    let local = DiskSpec {
        machine_limits: vec!["cached".into()],
        ..DiskSpec::unlimited()
    };
    let volumes = [
        VolumeSpec::of("temp", local),
        cached("data", DiskSpec::unlimited(), HostCacheMode::ReadOnly),
    ];
    let mut storage = Storage::new(&machine, &volumes, 1);
    storage.warm(1, 0, Bytes::mib(1));

    storage.submit(Instant::ZERO, 0, Request::write(0, Bytes(6_400_000)));
    let hit = storage.submit(Instant::ZERO, 1, Request::read(0, Bytes::kib(8)));

    // 6.4 MB / 64 MB/s = 0.1 s
    assert_eq!(hit.throttled, Duration::from_millis(100));
}

/// A read-only cache: hits pass the cached limits alone, misses and writes pass all three.
#[test]
fn a_read_only_cache_spares_the_disk_its_hits_and_nothing_else() {
    let mut storage = cached_storage(HostCacheMode::ReadOnly);
    let page = Bytes::kib(8);

    storage.submit(Instant::ZERO, 0, Request::read(0, page));
    assert_eq!(used(&storage), [1, 1, 1], "a miss");
    storage.submit(Instant::ZERO, 0, Request::read(0, page));
    assert_eq!(used(&storage), [2, 1, 1], "a hit");
    storage.submit(Instant::ZERO, 0, Request::write(8 << 10, page));
    assert_eq!(used(&storage), [3, 2, 2], "a write goes through");
    storage.submit(Instant::ZERO, 0, Request::read(8 << 10, page));
    assert_eq!(used(&storage), [4, 2, 2], "what was written is hit");
    storage.submit(Instant::ZERO, 0, Request::flush());
    assert_eq!(used(&storage), [4, 2, 2], "a flush moves nothing");
}

/// A read-write cache: a write is done in the cache; its way to the disk counts there, and a flush waits.
#[test]
fn a_read_write_cache_takes_a_write_at_once_and_a_flush_waits_for_the_disk() {
    let mut storage = cached_storage(HostCacheMode::ReadWrite);

    let write = storage.submit(Instant::ZERO, 0, Request::write(0, Bytes::kib(8)));
    let flush = storage.submit(Instant::ZERO, 0, Request::flush());

    // The cache takes 1 ms, the disk 10 ms, and a flush of the disk no time.
    assert_eq!(write.latency(), Duration::from_millis(1));
    assert_eq!(flush.latency(), Duration::from_millis(10));
    assert_eq!(used(&storage), [1, 1, 1]);
}

/// No cache makes a durable write faster: a read-write one passes it on to the disk.
///
/// Source: Microsoft, *Virtual machine and disk performance*, 2020-10-12: a write through a read-only cache "has to be written to
/// both the cache and the disk before it is considered complete"; through a read-write one, "customers can additionally force a
/// flush by issuing an f/sync or fua command". The order is that of SQL Server's commits on a P30
/// (<https://github.com/Hevand/SQLServerDiskPerformance/blob/9322d6b/Readme.md>, 2020-01-22): 2.4 to 2.7 ms without a cache, 2.8 to
/// 3.1 read-write, 3.7 to 3.8 read-only.
#[test]
fn a_durable_write_takes_longer_through_a_read_write_cache_and_longest_through_a_read_only_one() {
    let modes = [
        HostCacheMode::None,
        HostCacheMode::ReadWrite,
        HostCacheMode::ReadOnly,
    ];
    let [none, read_write, read_only] = modes.map(|mode| {
        let mut storage = cached_storage(mode);
        let write = storage.submit(Instant::ZERO, 0, Request::durable_write(0, Bytes::kib(8)));
        (write.latency(), used(&storage))
    });

    // The disk takes 10 ms, the cache 1 ms before it, and a read-only cache 3 ms beyond the disk.
    let ms = Duration::from_millis;
    assert_eq!(none, (ms(10), [0, 1, 1]));
    assert_eq!(read_write, (ms(11), [1, 1, 1]));
    assert_eq!(read_only, (ms(13), [1, 1, 1]));
}

/// A durable write leaves nothing behind in the cache for a flush to wait for.
#[test]
fn a_flush_does_not_wait_for_a_durable_write() {
    let mut storage = cached_storage(HostCacheMode::ReadWrite);

    storage.submit(Instant::ZERO, 0, Request::durable_write(0, Bytes::kib(8)));
    let flush = storage.submit(Instant::ZERO, 0, Request::flush());

    assert_eq!(flush.latency(), Duration::ZERO);
}

/// Without a cache a request passes the disk's and the uncached limits.
#[test]
fn a_disk_without_cache_leaves_the_cached_limits_alone() {
    let mut storage = cached_storage(HostCacheMode::None);

    storage.submit(Instant::ZERO, 0, Request::write(0, Bytes::kib(8)));
    storage.submit(Instant::ZERO, 0, Request::read(0, Bytes::kib(8)));

    assert_eq!(used(&storage), [0, 2, 2]);
}

// AWS.

/// Source: awsdocs/amazon-ec2-user-guide, `doc_source/general-purpose.md`, 2023-05-31: 5.4 million
/// credits at the start, spent at 3,000 less the base; its table of sizes.
#[test]
fn a_gp2_volume_bursts_as_long_as_the_table_says() {
    // Base 3 IOPS per GiB (GB in the table's second row); 5.4 million / (3,000 - base).
    for (base, seconds) in [(300, 2_000), (1_500, 3_600), (2_250, 7_200)] {
        let disk = DiskSpec {
            limits: vec![bursting(LimitSpec::iops(Iops(base)), 3_000, 5_400_000)],
            ..ebs()
        };

        // 25 MiB count as 100 I/Os.
        let burst = burst_of(&disk, Bytes::mib(25));

        assert_eq!(burst.length, Duration::from_secs(seconds), "base {base}");
        assert_near(burst.rate_during * 100.0, 3_000.0);
        assert_near(burst.rate_after * 100.0, base as f64);
    }
}

/// Source: awsdocs/amazon-ec2-user-guide, `doc_source/hdd-vols.md`, 2023-05-31: per TiB 40 MiB/s base,
/// 250 MiB/s burst and 1 TiB of credit.
#[test]
fn an_st1_volume_of_1_tib_bursts_until_its_tebibyte_of_credit_is_spent() {
    let burst = burst_of(&st1(), Bytes::mib(10));

    // 1 TiB / (250 - 40) MiB/s = 4,993.22 s. Requests of 10 MiB start every 40 ms, the last of them
    // within that at 4,993.20 s.
    assert_eq!(burst.length, Duration::from_millis(4_993_200));
    assert_near(burst.rate_during * 10.0, 250.0);
    assert_near(burst.rate_after * 10.0, 40.0);
}

/// Source: awsdocs/amazon-ec2-user-guide, `doc_source/hdd-vols.md`, 2023-05-31: each random I/O of up to
/// 1 MiB costs a whole MiB of credit.
#[test]
fn an_st1_volume_charges_a_small_request_as_1_mib() {
    // 250 MiB/s are 250 requests per second of 1 MiB, and of 8 KiB no more.
    assert_near(rate(&st1(), Bytes::mib(1)), 250.0);
    assert_near(rate(&st1(), Bytes::kib(8)), 250.0);
    assert_near(rate(&st1(), Bytes::mib(2)), 125.0);
}

/// Source: bitofsky/aws-ebs-benchmark, `readme.md`, 2021-05-07, 16 KiB reads by 16 jobs at 3,000 IOPS: gp2
/// 3,023 IOPS, mean 5.291 ms, p50 5.276 ms; gp3 3,016 IOPS, mean 5.303 ms, p50 5.342 ms.
#[test]
fn an_ebs_volume_at_its_limit_has_the_latency_of_its_depth_over_its_limit() {
    let disk = DiskSpec {
        limits: vec![
            LimitSpec::iops(Iops(3_000)),
            LimitSpec::throughput(Throughput::from_mib_per_s(250)),
        ],
        read_latency: LatencySpec::constant(Duration::from_micros(310)),
        ..ebs()
    };

    let steady = closed_loop(&disk, 16, Request::read(0, Bytes::kib(16)));

    // 16 / 3,000 per second = 5.333 ms, whatever the disk itself takes.
    assert_near(steady.rate, 3_000.0);
    assert_near(steady.latency.as_millis_f64(), 16.0 / 3.0);
    assert!((steady.latency.as_millis_f64() / 5.291 - 1.0).abs() < 0.01);
}

// Asking: the rate of a backlog, the length of a burst, a closed loop.

/// Requests per second that a backlog gets.
fn rate(disk: &DiskSpec, length: Bytes) -> f64 {
    let mut storage = alone(disk);
    let count = 10_000;
    let last = (0..=count)
        .map(|_| storage.submit(Instant::ZERO, 0, Request::read(0, length)))
        .last()
        .expect("there were requests");
    f64::from(count) / last.done.as_secs_f64()
}

struct BurstSeen {
    /// When the last request went that did not want for credits.
    length: Duration,
    rate_during: f64,
    rate_after: f64,
    throttled_by: Option<Throttle>,
}

/// A backlog of requests of one length, until well after the credits are gone.
fn burst_of(disk: &DiskSpec, length: Bytes) -> BurstSeen {
    let mut storage = alone(disk);
    let mut submit = || storage.submit(Instant::ZERO, 0, Request::read(0, length));
    let mut during: Vec<Completion> = Vec::new();
    let short = loop {
        let completion = submit();
        if completion.throttled_by.is_some_and(|by| by.credits) {
            break completion;
        }
        during.push(completion);
        assert!(during.len() < 1_000_000, "the credits never run out");
    };
    let after = 1_000;
    let last = (0..after)
        .map(|_| submit())
        .last()
        .expect("there were requests");
    let end = during.last().expect("credits for one request").done;
    let gaps = (during.len() - 1) as f64;
    BurstSeen {
        length: end.since(Instant::ZERO),
        rate_during: gaps / end.as_secs_f64(),
        rate_after: f64::from(after) / (last.done - short.done).as_secs_f64(),
        throttled_by: short.throttled_by,
    }
}

struct Steady {
    rate: f64,
    latency: Duration,
}

/// So many sessions that each ask again once they are answered, watched after a first second.
fn closed_loop(disk: &DiskSpec, sessions: usize, request: Request) -> Steady {
    let mut storage = alone(disk);
    let mut ready = vec![Instant::ZERO; sessions];
    let mut rounds = |count: u32| {
        let mut latency = Duration::ZERO;
        let mut last = Instant::ZERO;
        for _ in 0..count {
            let next = ready
                .iter_mut()
                .min()
                .expect("there is at least one session");
            let completion = storage.submit(*next, 0, request);
            latency += completion.latency();
            *next = completion.done;
            last = completion.done;
        }
        (last, latency)
    };
    let (start, _) = rounds(4_000);
    let count = 8_000;
    let (end, latency) = rounds(count);
    Steady {
        rate: f64::from(count) / (end - start).as_secs_f64(),
        latency: Duration::from_nanos(latency.as_nanos() / u64::from(count)),
    }
}

/// Requests that a DS14 admits in the first second of a backlog to each of `volumes`: volume 0 is ten
/// P30 without cache that are written to, volume 1 a disk whose reads hit the cache.
fn rate_of_ds14(volumes: &[usize], length: Bytes) -> f64 {
    let both = |iops, mb_per_s| {
        let [iops, throughput] = p30_limits(iops, mb_per_s);
        vec![iops, throughput]
    };
    let machine = with_host_cache(&[
        ("cached", both(64_000, 512)),
        ("uncached", both(51_200, 512)),
    ]);
    let uncached = DiskSpec {
        machine_limits: vec!["uncached".into()],
        ..p30()
    };
    let pool = VolumeSpec {
        disks: vec![uncached.clone(); 10],
        ..VolumeSpec::of("uncached", uncached.clone())
    };
    let specs = [pool, cached("cached", uncached, HostCacheMode::ReadOnly)];
    let mut storage = Storage::new(&machine, &specs, 1);
    storage.warm(1, 0, Bytes::mib(64));

    let second = Instant::ZERO + Duration::SECOND;
    let mut count = 0;
    for &volume in volumes {
        for n in 0_u64.. {
            // Requests of 64 KiB go round the disks of the pool in turn, and stay in what the cache holds.
            let offset = n % 1_000 * (64 << 10);
            let request = match volume {
                0 => Request::write(offset, length),
                _ => Request::read(offset, length),
            };
            let completion = storage.submit(Instant::ZERO, volume, request);
            if Instant::ZERO + completion.throttled >= second {
                break;
            }
            count += 1;
        }
    }
    f64::from(count)
}

fn assert_near(value: f64, expected: f64) {
    // What is counted in a second is counted in whole requests.
    assert!(
        (value / expected - 1.0).abs() < 1e-4,
        "{value} instead of {expected}"
    );
}

fn alone(disk: &DiskSpec) -> Storage {
    let volume = VolumeSpec::of("data", disk.clone());
    Storage::new(&MachineSpec::unlimited(), &[volume], 1)
}

fn strict(limit: LimitSpec) -> LimitSpec {
    LimitSpec {
        depth: Duration::ZERO,
        ..limit
    }
}

fn bursting(limit: LimitSpec, rate: u64, credits: u64) -> LimitSpec {
    LimitSpec {
        burst: Some(Burst {
            rate,
            credits,
            credits_initial: credits,
        }),
        ..strict(limit)
    }
}

fn mib_per_s(rate: u64) -> LimitSpec {
    strict(LimitSpec::throughput(Throughput::from_mib_per_s(rate)))
}

fn strict_mb_per_s(rate: u64) -> Vec<LimitSpec> {
    vec![strict(LimitSpec::throughput(Throughput::from_mb_per_s(
        rate,
    )))]
}

fn p30_limits(iops: u64, mb_per_s: u64) -> [LimitSpec; 2] {
    [
        LimitSpec::iops(Iops(iops)),
        LimitSpec::throughput(Throughput::from_mb_per_s(mb_per_s)),
    ]
    .map(strict)
}

/// A 1 TiB premium disk that takes no time beyond its limits.
///
/// Source: MicrosoftDocs/azure-docs, `includes/disk-storage-premium-ssd-sizes.md`, 2023-03-16.
fn p30() -> DiskSpec {
    DiskSpec {
        limits: p30_limits(5_000, 200).into(),
        ..ebs()
    }
}

/// A disk that counts as EBS solid state volumes and Azure premium disks do.
///
/// Source: awsdocs/amazon-ec2-user-guide, `doc_source/ebs-io-characteristics.md`, 2023-05-31.
fn ebs() -> DiskSpec {
    DiskSpec {
        io_unit: IoUnit {
            size_max: Some(Bytes::kib(256)),
            charge_min: None,
        },
        ..DiskSpec::unlimited()
    }
}

fn st1() -> DiskSpec {
    DiskSpec {
        limits: vec![LimitSpec {
            rate: Rate::Throughput(Throughput::from_mib_per_s(40)),
            ..bursting(mib_per_s(40), 250 << 20, 1 << 40)
        }],
        io_unit: IoUnit {
            size_max: Some(Bytes::mib(1)),
            charge_min: Some(Bytes::mib(1)),
        },
        ..DiskSpec::unlimited()
    }
}

fn with_host_cache(limits: &[(&str, Vec<LimitSpec>)]) -> MachineSpec {
    MachineSpec {
        limits: limits
            .iter()
            .map(|(name, limits)| ((*name).to_owned(), limits.clone()))
            .collect(),
        host_cache: Some(HostCacheSpec {
            size: Bytes::gib(1),
            hit_latency: LatencySpec::constant(Duration::from_millis(1)),
            through_latency: LatencySpec::constant(Duration::from_millis(3)),
            limit: "cached".into(),
        }),
        ..MachineSpec::unlimited()
    }
}

fn cached(name: &str, disk: DiskSpec, host_cache: HostCacheMode) -> VolumeSpec {
    VolumeSpec {
        host_cache,
        ..VolumeSpec::of(name, disk)
    }
}

/// One disk of 10 ms, one IOPS limit each on the cache, on what goes uncached, and on the disk.
fn cached_storage(mode: HostCacheMode) -> Storage {
    let limits = || vec![LimitSpec::iops(Iops(5_000))];
    let disk = DiskSpec {
        limits: limits(),
        read_latency: LatencySpec::constant(Duration::from_millis(10)),
        write_latency: LatencySpec::constant(Duration::from_millis(10)),
        machine_limits: vec!["uncached".into()],
        ..DiskSpec::unlimited()
    };
    let machine = with_host_cache(&[("cached", limits()), ("uncached", limits())]);
    Storage::new(&machine, &[cached("data", disk, mode)], 1)
}

/// What was used of the limits: cached, uncached, the disk's.
fn used(storage: &Storage) -> [u64; 3] {
    let used: Vec<_> = storage
        .usage(Instant::ZERO)
        .iter()
        .map(|usage| usage.used)
        .collect();
    used.try_into().expect("three limits")
}
