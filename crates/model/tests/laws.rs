//! Laws that hold for every disk, machine and volume, tried on many random ones.
//!
//! A case that fails is kept in `laws.regressions` beside this file and tried first from then on; it
//! belongs in the commit that mends it.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;

use model::storage::{DiskPlace, Usage, UsageOwner};
use model::{
    Burst, Bytes, Completion, Counts, DiskSpec, Durability, Duration, HostCacheMode, HostCacheSpec,
    Instant, IoUnit, Iops, LatencySpec, LimitSpec, MachineSpec, Observer, Operation, Rate, Request,
    Storage, Throughput, VolumeSpec,
};
use proptest::prelude::*;
use proptest::test_runner::FileFailurePersistence;

const NANOS_PER_SECOND: i128 = 1_000_000_000;

fn config() -> ProptestConfig {
    ProptestConfig {
        failure_persistence: Some(Box::new(FileFailurePersistence::WithSource("regressions"))),
        ..ProptestConfig::default()
    }
}

// Time.

proptest! {
    #![proptest_config(config())]

    #[test]
    fn a_request_is_never_done_before_it_is_submitted_and_its_parts_add_up(case in case()) {
        for (now, _, completion) in case.run(1) {
            prop_assert!(completion.done >= now);
            let parts = completion.throttled + completion.queued + completion.service;
            prop_assert_eq!(completion.done, now + parts);
            prop_assert_eq!(completion.latency(), parts);
            prop_assert_eq!(completion.submitted(), now);
            prop_assert_eq!(completion.throttled_by.is_some(), completion.throttled > Duration::ZERO);
        }
    }

    #[test]
    fn the_tail_of_a_completion_adds_up_to_the_wait_or_to_all_of_it(
        parts in [span(), span(), span()],
        wait in span(),
    ) {
        let [throttled, queued, service] = parts;
        let latency = throttled + queued + service;
        let submitted = Instant::from_nanos(7);
        let completion =
            Completion { done: submitted + latency, throttled, throttled_by: None, queued, service };

        let tail = completion.tail(wait);

        prop_assert_eq!(tail.latency(), wait.min(latency));
        prop_assert_eq!(tail.done, completion.done);
        // Time is taken from the end: an earlier part counts only once the later ones are used up.
        prop_assert!(tail.service == service || tail.queued == Duration::ZERO);
        prop_assert!(tail.queued == queued || tail.throttled == Duration::ZERO);
    }

    #[test]
    fn the_same_seed_gives_the_same_answers(case in case(), seed: u64) {
        prop_assert_eq!(case.run(seed), case.run(seed));
    }

    /// Straight to the disk: a longer range may miss the host cache where a shorter one hits.
    #[test]
    fn more_bytes_are_never_done_sooner(
        case in case_with(latency_constant().boxed(), Just(HostCacheMode::None).boxed()),
        offset in 0..1_u64 << 30,
        length in 0..1_u64 << 20,
        more in 0..1_u64 << 20,
    ) {
        let [short, long] = [length, length + more].map(|length| {
            let (mut storage, now) = case.storage_after(1);
            let request = storage.submit(now, 0, Request::read(offset, Bytes(length)));
            let next = storage.submit(now, 0, Request::read(offset, Bytes::kib(8)));
            (request, next)
        });

        prop_assert!(long.0.done >= short.0.done, "{long:?} {short:?}");
        prop_assert!(long.1.done >= short.1.done, "the next request: {long:?} {short:?}");
    }

    /// One disk whose limits count reads and writes alike.
    #[test]
    fn requests_that_take_equally_long_are_done_in_the_order_of_submission(
        limits in prop::collection::vec(limit(), 0..3),
        in_flight_max in in_flight_max(),
        latency in latency_constant(),
        arrivals in arrivals(),
    ) {
        let disk = DiskSpec {
            limits,
            in_flight_max,
            read_latency: latency,
            write_latency: latency,
            ..DiskSpec::unlimited()
        };
        let done = Case::of_disk(disk, without_flushes(arrivals)).done();

        prop_assert!(done.is_sorted(), "{done:?}");
    }

    #[test]
    fn no_more_requests_are_served_at_once_than_the_disk_has_places(
        disk in disk(latency().boxed()),
        places in 1..8_u32,
        arrivals in arrivals(),
    ) {
        let disk = DiskSpec { in_flight_max: Some(places), ..disk };
        let run = Case::of_disk(disk, arrivals).run(1);

        // The number in service only rises where a request starts. One that ends there has left.
        for (now, _, completion) in &run {
            let start = *now + completion.throttled + completion.queued;
            let in_service = run
                .iter()
                .filter(|(now, _, other)| {
                    *now + other.throttled + other.queued <= start && start < other.done
                })
                .count();
            prop_assert!(in_service <= places as usize, "{in_service} at {start:?}");
        }
    }
}

// Limits.

proptest! {
    #![proptest_config(config())]

    #[test]
    fn a_limit_admits_no_more_than_its_depth_and_rate_over_any_window(
        limit in limit(),
        io_unit in io_unit(),
        arrivals in arrivals(),
    ) {
        let disk = DiskSpec { limits: vec![limit], io_unit, ..DiskSpec::unlimited() };
        let admitted = Case::of_disk(disk, without_flushes(arrivals)).admitted(limit, io_unit);

        prop_assert_eq!(window_over(&admitted, limit), None);
    }

    #[test]
    fn disks_of_one_machine_share_its_limit(
        limit in limit(),
        arrivals in arrivals(),
        places in prop::collection::vec(0..2_usize, 64),
    ) {
        let disk =
            DiskSpec { machine_limits: vec!["uncached".into()], ..DiskSpec::unlimited() };
        let case = Case {
            machine: MachineSpec {
                limits: [("uncached".into(), vec![limit])].into(),
                ..MachineSpec::unlimited()
            },
            volumes: vec![VolumeSpec::of("data", disk.clone()), VolumeSpec::of("log", disk)],
            arrivals: without_flushes(arrivals),
            places,
        };
        let admitted = case.admitted(limit, IoUnit::default());

        prop_assert_eq!(window_over(&admitted, limit), None);
    }

    #[test]
    fn a_limit_holds_a_request_exactly_as_long_as_it_must(
        limit in limit_without_burst(),
        arrivals in arrivals(),
    ) {
        let disk = DiskSpec { limits: vec![limit], ..DiskSpec::unlimited() };
        let run = Case::of_disk(disk, without_flushes(arrivals)).run(1);
        let rate = i128::from(rate_of(limit));
        let depth = rate * i128::from(limit.depth.as_nanos());

        // The definition, told from the requests: what was taken and not yet paid off at the rate.
        let mut debt = 0;
        let mut last = Instant::ZERO;
        for (now, request, completion) in run {
            debt = (debt - rate * nanos(last, now)).max(0);
            last = now;
            let wait = nanos(now, completion.done);
            prop_assert!(debt - rate * wait <= depth, "not yet its turn after {wait} ns");
            if wait > 0 {
                prop_assert!(debt - rate * (wait - 1) > depth, "its turn one ns before {wait} ns");
            }
            debt += units_of(limit, IoUnit::default(), &request) * NANOS_PER_SECOND;
        }
    }

    #[test]
    fn a_saturated_limit_admits_at_its_rate_to_the_nanosecond(
        iops in 1..100_000_u64,
        count in 1..2_000_u64,
    ) {
        let disk = DiskSpec::limited(Iops(iops), Throughput(u64::MAX));
        let mut storage = Storage::new(&MachineSpec::unlimited(), &[VolumeSpec::of("data", disk)], 1);
        for n in 0..count {
            let completion = storage.submit(Instant::ZERO, 0, Request::read(0, Bytes::kib(8)));
            // The n-th of `iops` a second is due after n / iops seconds, rounded up.
            let due = (n * 1_000_000_000).div_ceil(iops);
            prop_assert_eq!(completion.done.as_nanos(), due);
        }
    }

    /// It stands in all queues at the same time: its turn at one limit passes while another still holds
    /// it. So the law of windows above is one limit's alone; several together keep to each rate from the
    /// first request on, but what one held back may arrive at the disk closer than another's pace.
    #[test]
    fn a_request_waits_for_its_slowest_limit_and_for_that_one_alone(
        limits in prop::collection::vec(limit(), 1..4),
        arrivals in arrivals(),
    ) {
        let arrivals = without_flushes(arrivals);
        let disk = |limits| DiskSpec { limits, ..DiskSpec::unlimited() };
        let together = Case::of_disk(disk(limits.clone()), arrivals.clone()).done();
        let alone: Vec<_> = limits
            .iter()
            .map(|limit| Case::of_disk(disk(vec![*limit]), arrivals.clone()).done())
            .collect();

        for (n, done) in together.iter().enumerate() {
            prop_assert_eq!(Some(*done), alone.iter().map(|done| done[n]).max());
        }
    }

    #[test]
    fn no_more_passes_a_limit_than_where_it_stood_and_its_rates_allow(
        limit in limit(),
        io_unit in io_unit(),
        arrivals in arrivals(),
    ) {
        let disk = DiskSpec { limits: vec![limit], io_unit, ..DiskSpec::unlimited() };
        let case = Case::of_disk(disk, arrivals);
        let mut storage = case.storage(1);
        let mut seen = Vec::new();
        for (now, place, request) in case.requests() {
            seen.push((now, storage.usage(now).remove(0)));
            storage.submit(now, place, request);
            seen.push((now, storage.usage(now).remove(0)));
        }
        let passed = |usage: &Usage| i128::from(usage.used) - i128::from(usage.standing.waiting);
        let pace = limit.burst.map_or(rate_of(limit), |burst| burst.rate);
        for (place, (start, from)) in seen.iter().enumerate() {
            for (end, until) in &seen[place..] {
                let ns = i128::from(end.since(*start).as_nanos());
                // In units x 10^9; standings are whole units.
                let of = |ready: u64, rate: u64| {
                    (i128::from(ready) + 1) * NANOS_PER_SECOND + i128::from(rate) * ns
                };
                let done = (passed(until) - passed(from)) * NANOS_PER_SECOND;
                prop_assert!(done >= 0, "{from:?} {until:?}");
                prop_assert!(done <= of(from.standing.ready, pace), "{from:?} {until:?}");
                if let Some(credits) = from.standing.credits {
                    prop_assert!(done <= of(credits, rate_of(limit)), "{from:?} {until:?}");
                }
            }
        }
    }

    #[test]
    fn a_limit_counts_its_own_direction_only(
        limit in limit_without_burst(),
        io_unit in io_unit(),
        arrivals in arrivals(),
    ) {
        for (counts, operation) in
            [(Counts::Reads, Operation::Read), (Counts::Writes, Operation::Write)]
        {
            let limit = LimitSpec { counts, ..limit };
            let disk = DiskSpec { limits: vec![limit], io_unit, ..DiskSpec::unlimited() };
            let case = Case::of_disk(disk, arrivals.clone());
            let (storage, _) = case.storage_after(1);
            let expected: i128 = arrivals
                .iter()
                .filter(|arrival| arrival.request.operation == operation)
                .map(|arrival| units_of(limit, io_unit, &arrival.request))
                .sum();

            prop_assert_eq!(i128::from(storage.usage(Instant::ZERO)[0].used), expected);
            for (_, request, completion) in case.run(1) {
                let held = completion.throttled > Duration::ZERO;
                prop_assert!(request.operation == operation || !held);
            }
        }
    }
}

// Burst credits.

proptest! {
    #![proptest_config(config())]

    /// As many requests as there are credits pass at once as far as the credits are concerned; with
    /// what is earned meanwhile, a backlog runs at the burst rate until both curves meet.
    #[test]
    fn a_backlog_runs_at_the_burst_rate_until_the_credits_are_gone_and_then_at_the_sustained_rate(
        (sustained, burst) in burst_iops(0..2_000),
        count in 1..4_000_u64,
    ) {
        let disk = bursting(sustained, burst);
        let mut storage = Storage::new(&MachineSpec::unlimited(), &[VolumeSpec::of("data", disk)], 1);
        for n in 0..count {
            let completion = storage.submit(Instant::ZERO, 0, Request::read(0, Bytes::kib(8)));
            let at_burst_rate = (n * 1_000_000_000).div_ceil(burst.rate);
            let beyond = n.saturating_sub(burst.credits_initial);
            let at_sustained_rate = (beyond * 1_000_000_000).div_ceil(sustained.0);
            prop_assert_eq!(completion.done.as_nanos(), at_burst_rate.max(at_sustained_rate));
            let credits = completion.throttled_by.is_some_and(|by| by.credits);
            prop_assert_eq!(credits, at_sustained_rate > at_burst_rate);
        }
    }

    #[test]
    fn credits_are_spent_at_the_rate_used_less_the_rate_provisioned(
        (sustained, burst) in burst_iops(0..500),
        share in 1..100_u64,
    ) {
        // A steady stream between the two rates: all of it passes until the credits are gone.
        let used = sustained.0 + ((burst.rate - sustained.0) * share / 100).max(1);
        let mut storage = Storage::new(
            &MachineSpec::unlimited(),
            &[VolumeSpec::of("data", bursting(sustained, burst))],
            1,
        );
        for n in 0..5_000 {
            let now = Instant::from_nanos((n * 1_000_000_000_u64).div_ceil(used));
            let completion = storage.submit(now, 0, Request::read(0, Bytes::kib(8)));
            // n requests used, and provisioned x time earned meanwhile, must be within the credits.
            let spent = i128::from(n) * NANOS_PER_SECOND
                - i128::from(sustained.0) * i128::from(now.as_nanos());
            let gone = spent > i128::from(burst.credits_initial) * NANOS_PER_SECOND;
            prop_assert_eq!(completion.throttled > Duration::ZERO, gone, "request {}", n);
            if gone {
                break;
            }
        }
    }

    #[test]
    fn idleness_earns_credits_at_the_sustained_rate_and_never_more_than_the_bucket_holds(
        (sustained, burst) in burst_iops(1..2_000),
        idle in 0..10_000_000_000_u64,
    ) {
        // A backlog that empties the bucket, and the instant the last of it is paid off.
        let mut storage = Storage::new(
            &MachineSpec::unlimited(),
            &[VolumeSpec::of("data", bursting(sustained, burst))],
            1,
        );
        let mut submit = |now| storage.submit(now, 0, Request::read(0, Bytes::kib(8)));
        // The longest: 2,000 credits spent at 2 a second take 1,000 s, of 2,000 requests each.
        let mut backlog = 0..3_000_000_u64;
        let short = backlog.clone()
            .map(|_| submit(Instant::ZERO))
            .find(|completion| completion.throttled_by.is_some_and(|by| by.credits))
            .expect("a backlog uses up any credits");
        let now = short.done + Duration::from_nanos(idle);

        let burst_length = backlog
            .find(|n| {
                let completion = submit(now);
                completion.throttled.as_nanos() > (n * 1_000_000_000).div_ceil(burst.rate)
            })
            .expect("a backlog uses up any credits");

        // Passed at once as far as credits go: what was earned, less the request that was due then,
        // and while the backlog runs, what is earned meanwhile: n <= earned + sustained x n / burst.
        let earned = (u128::from(sustained.0) * u128::from(idle) / 1_000_000_000)
            .min(u128::from(burst.credits)) as f64;
        let gain = 1.0 / (1.0 - sustained.0 as f64 / burst.rate as f64);
        let expected = earned * gain;
        // One request of rounding before, one after, each with what is earned while it passes.
        prop_assert!((burst_length as f64 - expected).abs() <= 2.0 * gain + 1.0,
            "{burst_length} requests passed at the burst rate instead of {expected}");
    }
}

// Volumes and caches.

proptest! {
    #![proptest_config(config())]

    #[test]
    fn a_stripe_hands_every_byte_to_its_one_disk(
        count in 1..12_u64,
        interleave in prop::sample::select(vec![4_u64 << 10, 64 << 10, 100_000]),
        (offset, length) in range(),
        read: bool,
    ) {
        let volume = VolumeSpec {
            disks: vec![DiskSpec::unlimited(); count as usize],
            interleave: Bytes(interleave),
            ..VolumeSpec::of("data", DiskSpec::unlimited())
        };
        let mut storage = Storage::new(&MachineSpec::unlimited(), &[volume], 1);
        let seen = Seen::by(&mut storage);
        let request = match read {
            true => Request::read(offset, Bytes(length)),
            false => Request::write(offset, Bytes(length)),
        };

        storage.submit(Instant::ZERO, 0, request);

        // Told unit by unit: unit i stands on disk i mod count, in that disk's unit i div count. What a
        // disk gets is contiguous there, so the lowest address and the sum of lengths say it all.
        let mut expected: BTreeMap<usize, (u64, u64)> = BTreeMap::new();
        let mut at = offset;
        while at < offset + length {
            let unit = at / interleave;
            let end = ((unit + 1) * interleave).min(offset + length);
            let address = match count {
                1 => at,
                _ => unit / count * interleave + at % interleave,
            };
            let part = expected.entry((unit % count) as usize).or_insert((address, 0));
            part.1 += end - at;
            at = end;
        }
        let parts: BTreeMap<usize, (u64, u64)> = seen
            .take()
            .iter()
            .map(|seen| (seen.place.disk, (seen.request.offset, seen.request.length.0)))
            .collect();
        prop_assert_eq!(&parts.values().map(|(_, length)| length).sum::<u64>(), &length);
        prop_assert_eq!(parts, expected);
    }

    #[test]
    fn a_request_to_a_stripe_is_done_when_the_last_of_its_parts_is(case in case()) {
        let (mut storage, now) = case.storage_after(1);
        let seen = Seen::by(&mut storage);

        let completion = storage.submit(now, 0, Request::read(0, Bytes::mib(1)));

        prop_assert_eq!(Some(completion.done), seen.take().iter().map(|seen| seen.done).max());
    }

    #[test]
    fn a_host_cache_hit_counts_on_the_cached_limits_and_on_nothing_else(
        case in case_with(latency().boxed(), Just(HostCacheMode::ReadOnly).boxed()),
    ) {
        let mut storage = case.storage(1);
        let seen = Seen::by(&mut storage);
        let names_a_limit = matches!(&case.machine.host_cache, Some(cache) if cache.limit == "cached");
        for (now, place, request) in case.requests() {
            let before = storage.usage(Instant::ZERO);
            storage.submit(now, place, request);
            let after = storage.usage(Instant::ZERO);
            let parts = seen.take();
            seen.clear();
            if !parts.iter().all(|part| part.place.cache_hit) {
                continue;
            }
            for (before, after) in before.iter().zip(&after) {
                let cached = matches!(&after.owner, UsageOwner::Machine(name) if name == "cached")
                    && names_a_limit;
                let counted = after.limit.counts != Counts::Writes;
                prop_assert_eq!(after.used > before.used, cached && counted, "{:?}", after);
            }
        }
    }

    #[test]
    fn no_host_cache_makes_a_durable_write_faster(
        case in case_with(latency_constant().boxed(), Just(HostCacheMode::None).boxed()),
        mode in prop::sample::select(vec![HostCacheMode::ReadOnly, HostCacheMode::ReadWrite]),
    ) {
        let mut case = case;
        for arrival in &mut case.arrivals {
            let Request { offset, length, .. } = arrival.request;
            arrival.request = Request::durable_write(offset, length);
        }
        let without = case.done();
        for volume in &mut case.volumes {
            volume.host_cache = mode;
        }
        let with = case.done();

        for (without, with) in without.iter().zip(&with) {
            prop_assert!(with >= without, "{mode:?}: {with:?}, without {without:?}");
        }
    }

    #[test]
    fn what_was_read_or_written_through_a_cache_that_holds_it_all_is_hit(
        mode in prop::sample::select(vec![HostCacheMode::ReadOnly, HostCacheMode::ReadWrite]),
        request in request(),
        disks in 1..5_usize,
    ) {
        let mut storage = Storage::new(
            &MachineSpec {
                host_cache: Some(HostCacheSpec {
                    size: Bytes::mib(64),
                    hit_latency: LatencySpec::constant(Duration::from_micros(500)),
                    through_latency: LatencySpec::ZERO,
                    limit: "the machine has none of this name".into(),
                }),
                ..MachineSpec::unlimited()
            },
            &[VolumeSpec {
                disks: vec![DiskSpec::unlimited(); disks],
                host_cache: mode,
                ..VolumeSpec::of("data", DiskSpec::unlimited())
            }],
            1,
        );
        storage.submit(Instant::ZERO, 0, request);
        let seen = Seen::by(&mut storage);

        let again = storage.submit(Instant::ZERO, 0, Request::read(request.offset, request.length));

        if request.operation != Operation::Flush {
            prop_assert!(seen.take().iter().all(|part| part.place.cache_hit));
            prop_assert_eq!(again.service, Duration::from_micros(500), "a hit takes its time");
        }
    }
}

/// A disk behind a cache of that size, which takes no time and has no limit.
fn behind_a_write_back_cache(size: Bytes, disk: DiskSpec) -> Storage {
    let machine = MachineSpec {
        host_cache: Some(HostCacheSpec {
            size,
            hit_latency: LatencySpec::ZERO,
            through_latency: LatencySpec::ZERO,
            limit: "the machine has none of this name".into(),
        }),
        ..MachineSpec::unlimited()
    };
    let volume = VolumeSpec {
        host_cache: HostCacheMode::ReadWrite,
        ..VolumeSpec::of("data", disk)
    };
    Storage::new(&machine, &[volume], 1)
}

#[test]
fn a_flush_waits_until_all_that_the_write_back_cache_took_is_on_the_disk() {
    let disk = DiskSpec {
        transfer: Some(Throughput::from_mib_per_s(1)),
        ..DiskSpec::unlimited()
    };
    let at = |ms| Instant::ZERO + Duration::from_millis(ms);
    // 1 MiB at 1 MiB/s is on the disk after 1 s; the 8 KiB after it, beside it, after 1/128 s.
    for (flushed_at, waits_ms) in [(0, 1_000), (400, 600), (1_000, 0), (2_000, 0)] {
        let mut storage = behind_a_write_back_cache(Bytes::mib(64), disk.clone());
        for length in [Bytes::mib(1), Bytes::kib(8)] {
            let write = storage.submit(at(0), 0, Request::write(0, length));
            assert_eq!(write.done, at(0), "the cache takes it at once");
        }

        let flush = storage.submit(at(flushed_at), 0, Request::flush());

        assert_eq!(flush.queued, Duration::from_millis(waits_ms));
    }
}

#[test]
fn a_full_write_back_cache_takes_writes_at_the_pace_of_the_disk() {
    let disk = DiskSpec::limited(Iops(10), Throughput::from_mb_per_s(1_000));
    let mut storage = behind_a_write_back_cache(Bytes::mib(1), disk);
    let write = Request::write(0, Bytes::kib(64));
    // The disk has the first one at once, and one more each 100 ms; 16 more of 64 KiB fill the cache.
    let done: Vec<u64> = (0..20)
        .map(|_| {
            let done = storage.submit(Instant::ZERO, 0, write).done;
            done.since(Instant::ZERO).as_nanos() / 1_000_000
        })
        .collect();
    assert_eq!(done[..17], [0; 17]);
    assert_eq!(done[17..], [100, 200, 300]);
    // What has drained makes room again.
    let later = Instant::ZERO + Duration::from_secs(60);
    assert_eq!(storage.submit(later, 0, write).done, later);
}

#[test]
fn units_of_a_stripe_are_a_sector_at_least() {
    let volume = VolumeSpec {
        disks: vec![DiskSpec::unlimited(); 2],
        interleave: Bytes::ZERO,
        ..VolumeSpec::of("data", DiskSpec::unlimited())
    };
    let mut storage = Storage::new(&MachineSpec::unlimited(), &[volume], 1);
    let seen = Seen::by(&mut storage);

    storage.submit(Instant::ZERO, 0, Request::read(0, Bytes(1_024)));

    // 1,024 bytes are two sectors of 512, one on each disk.
    let parts = seen.take();
    let lengths: Vec<_> = parts
        .iter()
        .map(|part| (part.place.disk, part.request.length.0))
        .collect();
    assert_eq!(lengths, [(0, 512), (1, 512)]);
}

#[test]
fn warming_a_volume_without_a_host_cache_takes_no_room_in_it() {
    let machine = MachineSpec {
        host_cache: Some(HostCacheSpec {
            size: Bytes::kib(8),
            hit_latency: LatencySpec::ZERO,
            through_latency: LatencySpec::ZERO,
            limit: "the machine has none of this name".into(),
        }),
        ..MachineSpec::unlimited()
    };
    let cached = VolumeSpec {
        host_cache: HostCacheMode::ReadOnly,
        ..VolumeSpec::of("data", DiskSpec::unlimited())
    };
    let plain = VolumeSpec::of("log", DiskSpec::unlimited());
    let mut storage = Storage::new(&machine, &[cached, plain], 1);
    storage.warm(0, 0, Bytes::kib(8));
    storage.warm(1, 0, Bytes::kib(8));
    let seen = Seen::by(&mut storage);

    storage.submit(Instant::ZERO, 0, Request::read(0, Bytes::kib(8)));
    storage.clear_host_cache();
    storage.submit(Instant::ZERO, 0, Request::read(0, Bytes::kib(8)));

    // The cache has room for one block, which is still the first volume's, until it is cleared.
    let hits: Vec<_> = seen
        .take()
        .iter()
        .map(|part| part.place.cache_hit)
        .collect();
    assert_eq!(hits, [true, false]);
}

#[test]
fn a_machine_limit_counts_a_request_once_whichever_way_it_applies() {
    // Given a disk whose own machine limit is the one that its host cache passes too
    let machine = MachineSpec {
        limits: [("cached".into(), vec![LimitSpec::iops(Iops(500))])].into(),
        host_cache: Some(HostCacheSpec {
            size: Bytes::mib(1),
            hit_latency: LatencySpec::ZERO,
            through_latency: LatencySpec::ZERO,
            limit: "cached".into(),
        }),
        ..MachineSpec::unlimited()
    };
    let disk = DiskSpec {
        machine_limits: vec!["cached".into()],
        ..DiskSpec::unlimited()
    };
    let volume = VolumeSpec {
        host_cache: HostCacheMode::ReadOnly,
        ..VolumeSpec::of("data", disk)
    };
    let mut storage = Storage::new(&machine, &[volume], 1);

    storage.submit(Instant::ZERO, 0, Request::read(0, Bytes::kib(8)));

    assert_eq!(storage.usage(Instant::ZERO)[0].used, 1);
}

#[test]
fn a_machine_limit_counts_the_bytes_that_move_and_not_what_the_disk_charges() {
    let bytes = || LimitSpec::throughput(Throughput::from_mib_per_s(250));
    let machine = MachineSpec {
        limits: [("ebs".into(), vec![bytes()])].into(),
        ..MachineSpec::unlimited()
    };
    let disk = DiskSpec {
        limits: vec![bytes()],
        io_unit: IoUnit {
            size_max: None,
            charge_min: Some(Bytes::mib(1)),
        },
        machine_limits: vec!["ebs".into()],
        ..DiskSpec::unlimited()
    };
    let mut storage = Storage::new(&machine, &[VolumeSpec::of("data", disk)], 1);

    storage.submit(Instant::ZERO, 0, Request::read(0, Bytes::kib(8)));

    let used: Vec<_> = storage
        .usage(Instant::ZERO)
        .iter()
        .map(|usage| usage.used)
        .collect();
    assert_eq!(used, [8 << 10, 1 << 20]);
}

#[test]
fn another_seed_gives_other_latencies() {
    let disk = DiskSpec {
        read_latency: LatencySpec::LogNormal {
            p50: Duration::from_millis(1),
            p99: Duration::from_millis(3),
        },
        ..DiskSpec::unlimited()
    };
    let read = |seed| {
        let volume = [VolumeSpec::of("data", disk.clone())];
        let mut storage = Storage::new(&MachineSpec::unlimited(), &volume, seed);
        storage.submit(Instant::ZERO, 0, Request::read(0, Bytes::kib(8)))
    };

    assert_ne!(read(1), read(2));
}

// What is tried: requests, and the disks they are tried on.

/// A request and the time since the one before it.
#[derive(Clone, Copy, Debug)]
struct Arrival {
    gap: Duration,
    request: Request,
}

/// A machine with volumes, and the requests it gets.
#[derive(Clone, Debug)]
struct Case {
    machine: MachineSpec,
    volumes: Vec<VolumeSpec>,
    arrivals: Vec<Arrival>,
    /// Which volume each request is for, over and over, counted round the volumes there are.
    places: Vec<usize>,
}

impl Case {
    fn of_disk(disk: DiskSpec, arrivals: Vec<Arrival>) -> Case {
        Case {
            machine: MachineSpec::unlimited(),
            volumes: vec![VolumeSpec::of("data", disk)],
            arrivals,
            places: vec![0],
        }
    }

    fn storage(&self, seed: u64) -> Storage {
        Storage::new(&self.machine, &self.volumes, seed)
    }

    fn requests(&self) -> impl Iterator<Item = (Instant, usize, Request)> {
        let mut now = Instant::ZERO;
        let places = self.places.iter().cycle();
        self.arrivals
            .iter()
            .zip(places)
            .map(move |(arrival, place)| {
                now += arrival.gap;
                (now, place % self.volumes.len(), arrival.request)
            })
    }

    fn run(&self, seed: u64) -> Vec<(Instant, Request, Completion)> {
        let mut storage = self.storage(seed);
        self.requests()
            .map(|(now, place, request)| (now, request, storage.submit(now, place, request)))
            .collect()
    }

    /// The storage after all requests, and the instant of the last.
    fn storage_after(&self, seed: u64) -> (Storage, Instant) {
        let mut storage = self.storage(seed);
        let mut last = Instant::ZERO;
        for (now, place, request) in self.requests() {
            storage.submit(now, place, request);
            last = now;
        }
        (storage, last)
    }

    fn done(&self) -> Vec<Instant> {
        self.run(1)
            .iter()
            .map(|(_, _, completion)| completion.done)
            .collect()
    }

    /// When each request was admitted, and how much of `limit` it took.
    fn admitted(&self, limit: LimitSpec, io_unit: IoUnit) -> Vec<(Instant, i128)> {
        let admitted = |(now, request, completion): (Instant, Request, Completion)| {
            (
                now + completion.throttled,
                units_of(limit, io_unit, &request),
            )
        };
        self.run(1).into_iter().map(admitted).collect()
    }
}

/// The first window in which more was admitted than `limit` allows: from one admission up to, but
/// without, a later one, whose own units are the excess that a limit lets through.
fn window_over(admitted: &[(Instant, i128)], limit: LimitSpec) -> Option<(usize, usize)> {
    let sustained = i128::from(rate_of(limit));
    let depth = i128::from(limit.depth.as_nanos());
    // With burst credits there are two curves to stay under, and the bucket is the second one's depth.
    let curves = match limit.burst {
        None => vec![(sustained, sustained * depth)],
        Some(burst) => {
            let rate = i128::from(burst.rate);
            let credits = i128::from(burst.credits) * NANOS_PER_SECOND;
            vec![(rate, rate * depth), (sustained, credits)]
        }
    };
    for (start, (from, _)) in admitted.iter().enumerate() {
        let mut taken = 0;
        for end in start + 1..admitted.len() {
            taken += admitted[end - 1].1 * NANOS_PER_SECOND;
            // Admissions are rounded up to a nanosecond, so a window may look one too short.
            let window = nanos(*from, admitted[end].0) + 1;
            if curves
                .iter()
                .any(|(rate, depth)| taken > depth + rate * window)
            {
                return Some((start, end));
            }
        }
    }
    None
}

fn rate_of(limit: LimitSpec) -> u64 {
    match limit.rate {
        Rate::Iops(iops) => iops.0,
        Rate::Throughput(throughput) => throughput.0,
    }
}

/// What a vendor counts for one request, told by counting up.
fn units_of(limit: LimitSpec, io_unit: IoUnit, request: &Request) -> i128 {
    let length = i128::from(request.length.0);
    match (limit.rate, io_unit.size_max, io_unit.charge_min) {
        (Rate::Iops(_), None, _) => 1,
        (Rate::Iops(_), Some(size), _) => {
            let size = i128::from(size.0);
            1 + (length - 1).max(0) / size
        }
        (Rate::Throughput(_), _, None) => length,
        (Rate::Throughput(_), _, Some(charge)) => length.max(i128::from(charge.0)),
    }
}

fn nanos(from: Instant, to: Instant) -> i128 {
    i128::from(to.as_nanos()) - i128::from(from.as_nanos())
}

fn bursting(sustained: Iops, burst: Burst) -> DiskSpec {
    let limit = LimitSpec {
        depth: Duration::ZERO,
        burst: Some(burst),
        ..LimitSpec::iops(sustained)
    };
    DiskSpec {
        limits: vec![limit],
        ..DiskSpec::unlimited()
    }
}

fn without_flushes(arrivals: Vec<Arrival>) -> Vec<Arrival> {
    let moves_bytes = |arrival: &Arrival| arrival.request.operation != Operation::Flush;
    arrivals.into_iter().filter(moves_bytes).collect()
}

/// What an observer saw of one request at one disk.
#[derive(Clone, Debug)]
struct Part {
    place: DiskPlace,
    request: Request,
    done: Instant,
}

/// Keeps what was seen where the test can look at it.
#[derive(Clone, Default)]
struct Seen(Rc<RefCell<Vec<Part>>>);

impl Seen {
    fn by(storage: &mut Storage) -> Seen {
        let seen = Seen::default();
        storage.observe(Box::new(seen.clone()));
        seen
    }

    fn take(&self) -> Vec<Part> {
        self.0.borrow().clone()
    }

    fn clear(&self) {
        self.0.borrow_mut().clear();
    }
}

impl Observer for Seen {
    fn request(
        &mut self,
        _: Instant,
        place: DiskPlace,
        request: &Request,
        completion: &Completion,
    ) {
        self.0.borrow_mut().push(Part {
            place,
            request: *request,
            done: completion.done,
        });
    }
}

/// A range of a volume; databases' own begin and end on pages, and so on the bounds of a stripe's units.
fn range() -> impl Strategy<Value = (u64, u64)> {
    prop_oneof![
        (0..10_u64 << 20, 1..4_u64 << 20),
        (0..2_560_u64, 1..1_024_u64).prop_map(|(page, pages)| (page << 12, pages << 12)),
    ]
}

fn span() -> impl Strategy<Value = Duration> {
    (0..20_000_000_u64).prop_map(Duration::from_nanos)
}

fn request() -> impl Strategy<Value = Request> {
    let operation = prop_oneof![
        4 => Just(Operation::Read),
        4 => Just(Operation::Write),
        1 => Just(Operation::Flush),
    ];
    let durability = prop::sample::select(vec![Durability::OnFlush, Durability::OnCompletion]);
    (operation, 0..1_u64 << 22, 1..1_u64 << 20, durability).prop_map(
        |(operation, offset, length, durability)| match operation {
            Operation::Flush => Request::flush(),
            Operation::Read => Request::read(offset, Bytes(length)),
            Operation::Write => Request {
                durability,
                ..Request::write(offset, Bytes(length))
            },
        },
    )
}

fn arrivals() -> impl Strategy<Value = Vec<Arrival>> {
    let gap = prop_oneof![Just(Duration::ZERO), span()];
    let arrival = (gap, request()).prop_map(|(gap, request)| Arrival { gap, request });
    prop::collection::vec(arrival, 0..60)
}

fn limit_without_burst() -> impl Strategy<Value = LimitSpec> {
    let limit = prop_oneof![
        (1..20_000_u64).prop_map(|iops| LimitSpec::iops(Iops(iops))),
        (1_000..1_000_000_000_u64).prop_map(|rate| LimitSpec::throughput(Throughput(rate))),
    ];
    (limit, prop_oneof![Just(Duration::ZERO), span()])
        .prop_map(|(limit, depth)| LimitSpec { depth, ..limit })
}

fn limit() -> impl Strategy<Value = LimitSpec> {
    (
        limit_without_burst(),
        prop::option::of((1..5_u64, 0..500_u64, 0..=100_u64)),
    )
        .prop_map(|(limit, burst)| {
            let burst = burst.map(|(times, credit_millis, percent)| {
                let credits = rate_of(limit) * credit_millis / 1_000;
                Burst {
                    rate: rate_of(limit) * times,
                    credits,
                    credits_initial: credits * percent / 100,
                }
            });
            LimitSpec { burst, ..limit }
        })
}

/// A sustained rate, and a burst above it with up to so many `credits`.
fn burst_iops(credits: std::ops::Range<u64>) -> impl Strategy<Value = (Iops, Burst)> {
    (100..2_000_u64, 2..5_000_u64, credits, 0..=100_u64).prop_map(
        |(sustained, more, credits, percent)| {
            let credits_initial = credits * percent / 100;
            let burst = Burst {
                rate: sustained + more,
                credits,
                credits_initial,
            };
            (Iops(sustained), burst)
        },
    )
}

fn io_unit() -> impl Strategy<Value = IoUnit> {
    let size = || prop::option::of((12..21_u32).prop_map(|power| Bytes(1 << power)));
    (size(), size()).prop_map(|(size_max, charge_min)| IoUnit {
        size_max,
        charge_min,
    })
}

fn in_flight_max() -> impl Strategy<Value = Option<u32>> {
    prop::option::of(1..8_u32)
}

fn latency_constant() -> impl Strategy<Value = LatencySpec> {
    span().prop_map(LatencySpec::constant)
}

fn latency() -> impl Strategy<Value = LatencySpec> {
    prop_oneof![
        latency_constant(),
        span().prop_map(|mean| LatencySpec::Exponential { mean }),
        (span(), span()).prop_map(|(p50, more)| LatencySpec::LogNormal {
            p50,
            p99: p50 + more
        }),
    ]
}

fn disk(latency: BoxedStrategy<LatencySpec>) -> impl Strategy<Value = DiskSpec> {
    let machine_limits = prop::sample::select(vec![
        vec![],
        vec!["cached".to_owned()],
        vec!["uncached".to_owned()],
        vec!["absent".to_owned(), "uncached".to_owned()],
    ]);
    (
        prop::collection::vec((limit(), counts()), 0..3),
        io_unit(),
        [latency.clone(), latency.clone(), latency],
        prop::option::of((1_000_000..1_000_000_000_u64).prop_map(Throughput)),
        in_flight_max(),
        machine_limits,
    )
        .prop_map(
            |(limits, io_unit, latencies, transfer, in_flight_max, machine_limits)| {
                let counting = |(limit, counts)| LimitSpec { counts, ..limit };
                let [read_latency, write_latency, flush_latency] = latencies;
                DiskSpec {
                    limits: limits.into_iter().map(counting).collect(),
                    io_unit,
                    read_latency,
                    write_latency,
                    flush_latency,
                    transfer,
                    in_flight_max,
                    machine_limits,
                    ..DiskSpec::unlimited()
                }
            },
        )
}

fn counts() -> impl Strategy<Value = Counts> {
    prop::sample::select(vec![Counts::All, Counts::Reads, Counts::Writes])
}

fn machine() -> impl Strategy<Value = MachineSpec> {
    let limits = || prop::collection::vec(limit(), 0..3);
    let cache = (
        1..300_u64,
        span(),
        span(),
        prop::sample::select(vec!["cached", "absent"]),
    )
        .prop_map(|(blocks, hit, through, limit)| HostCacheSpec {
            size: Bytes(blocks << 13),
            hit_latency: LatencySpec::constant(hit),
            through_latency: LatencySpec::constant(through),
            limit: limit.into(),
        });
    (limits(), limits(), prop::option::of(cache)).prop_map(|(cached, uncached, host_cache)| {
        MachineSpec {
            limits: [("cached".into(), cached), ("uncached".into(), uncached)].into(),
            host_cache,
            ..MachineSpec::unlimited()
        }
    })
}

fn case() -> impl Strategy<Value = Case> {
    let modes = vec![
        HostCacheMode::None,
        HostCacheMode::ReadOnly,
        HostCacheMode::ReadWrite,
    ];
    case_with(latency().boxed(), prop::sample::select(modes).boxed())
}

fn case_with(
    latency: BoxedStrategy<LatencySpec>,
    mode: BoxedStrategy<HostCacheMode>,
) -> impl Strategy<Value = Case> {
    let interleave = prop::sample::select(vec![4_u64 << 10, 64 << 10, 100_000]);
    let volume = (prop::collection::vec(disk(latency), 1..4), interleave, mode).prop_map(
        |(disks, interleave, host_cache)| VolumeSpec {
            disks,
            interleave: Bytes(interleave),
            host_cache,
            ..VolumeSpec::of("any", DiskSpec::unlimited())
        },
    );
    let volumes = prop::collection::vec(volume, 1..3);
    let places = prop::collection::vec(0..3_usize, 8);
    (machine(), volumes, arrivals(), places).prop_map(|(machine, volumes, arrivals, places)| Case {
        machine,
        volumes,
        arrivals,
        places,
    })
}
