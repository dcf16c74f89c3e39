//! Laws that hold for every disk, machine and volume, tried on many random ones.
//!
//! A case that fails is kept in `laws.regressions` beside this file and tried first from then on; it
//! belongs in the commit that mends it.

#[path = "laws/cases.rs"]
mod cases;
#[path = "laws/storage.rs"]
mod storage;

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;

use cases::*;
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
        let passed = |usage: &Usage| i128::from(usage.used) - i128::from(usage.state.waiting);
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
                prop_assert!(done <= of(from.state.ready, pace), "{from:?} {until:?}");
                if let Some(credits) = from.state.credits {
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
