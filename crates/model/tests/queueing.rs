//! The disk against queueing theory: waits of random arrivals come out as the textbooks have them.
//!
//! A run's mean wait is itself random, so each check makes [`RUNS`] runs with seeds of their own, and
//! asks that theory lie within [`ERRORS_MAX`] standard errors of their mean, and that this bound be
//! narrower than [`BOUND_MAX`] of the mean, or it would prove nothing.
//!
//! Source of the formulas: Kleinrock, *Queueing Systems*, volume 1 (1975): Little's law in chapter 2, M/M/1
//! and M/M/m in chapter 3, M/G/1 by Pollaczek and Khinchin in chapter 5, of which M/D/1 is a case.

use std::collections::BTreeSet;

use model::random::{Stream, derive, stream};
use model::{
    Bytes, Completion, DiskSpec, Duration, Instant, Iops, LatencySpec, MachineSpec, Request,
    Storage, Throughput, VolumeSpec,
};
use rand_distr::{Distribution, Exp1};

/// Independent runs of one check.
const RUNS: u64 = 20;
/// Requests of one run; the empty start bears on some hundreds of them.
const REQUESTS: usize = 50_000;
/// How far from the mean of the runs theory may lie, in standard errors.
const ERRORS_MAX: f64 = 3.0;
/// How wide that may be, as a share of the mean.
const BOUND_MAX: f64 = 0.04;

/// Mean time of service, 1 ms.
const SERVICE: Duration = Duration::from_millis(1);

#[test]
fn exponential_service_at_one_place_waits_like_m_m_1() {
    let disk = with_places(1, LatencySpec::Exponential { mean: SERVICE });

    let waits = mean_waits(&disk, 0.7, |completion| completion.queued);

    // Wq = rho / (1 - rho) x service = 0.7 / 0.3 x 1 ms = 2.33 ms
    assert_near(&waits, 0.7 / 0.3);
}

#[test]
fn constant_service_at_one_place_waits_like_m_d_1() {
    let disk = with_places(1, LatencySpec::constant(SERVICE));

    let waits = mean_waits(&disk, 0.7, |completion| completion.queued);

    // Wq = rho / (2 (1 - rho)) x service, half of M/M/1 = 1.17 ms
    assert_near(&waits, 0.7 / 0.6);
}

#[test]
fn log_normal_service_at_one_place_waits_like_m_g_1() {
    let latency = LatencySpec::LogNormal {
        p50: SERVICE,
        p99: Duration::from_millis(3),
    };
    // sigma = ln 3 / z(0.99); mean = p50 exp(sigma² / 2); squared coefficient of variation = exp(sigma²) - 1
    let sigma_squared = (3_f64.ln() / 2.326_347_9).powi(2);
    let mean = (sigma_squared / 2.0).exp();
    let variation = sigma_squared.exp() - 1.0;

    let waits = mean_waits(&with_places(1, latency), 0.7 / mean, |completion| {
        completion.queued
    });

    // Wq = rho / (1 - rho) x (1 + variation) / 2 x mean service
    assert_near(&waits, 0.7 / 0.3 * (1.0 + variation) / 2.0 * mean);
}

#[test]
fn exponential_service_at_four_places_waits_like_m_m_4() {
    let disk = with_places(4, LatencySpec::Exponential { mean: SERVICE });

    let waits = mean_waits(&disk, 3.2, |completion| completion.queued);

    // Erlang's C with 4 places and a load a = 3.2, of which 0.8 a place:
    // (a⁴/4!) / (1 - 0.8) = 21.85; a⁰/0! + a + a²/2 + a³/6 = 14.78; C = 21.85 / (21.85 + 14.78) = 0.596
    let c = erlang_c_of_4(3.2);
    // Wq = C / (places - a) x service = 0.596 / 0.8 x 1 ms = 0.746 ms
    assert_near(&waits, c / (4.0 - 3.2));
}

/// A limit without depth lets one request through each 1/rate: it is a server with constant service.
#[test]
fn a_limit_without_depth_throttles_like_m_d_1() {
    let disk = DiskSpec::limited(Iops(1_000), Throughput(u64::MAX));

    let waits = mean_waits(&disk, 0.7, |completion| completion.throttled);

    // Wq = rho / (2 (1 - rho)) x 1 ms
    assert_near(&waits, 0.7 / 0.6);
}

/// Open arrivals, the number in the system counted as time passes and not from the latencies, which are
/// theory's: with measured ones, the law holds whatever the disk does.
#[test]
fn the_number_in_the_system_is_arrival_rate_times_latency() {
    let disk = with_places(4, LatencySpec::Exponential { mean: SERVICE });

    let numbers: Vec<f64> = (0..RUNS)
        .map(|index| number_inside(&run(&disk, 3.2, derive(1, "run", index))))
        .collect();

    // L = lambda x (Wq + service) = 3.2 / ms x (C / (4 - 3.2) + 1) ms = 3.2 x 1.746 = 5.59
    assert_near(&numbers, 3.2 * (erlang_c_of_4(3.2) / (4.0 - 3.2) + 1.0));
}

/// The mean number in the system over a run, which starts and ends empty.
fn number_inside(run: &[(Instant, Completion)]) -> f64 {
    let mut events: Vec<(Instant, i64)> = run
        .iter()
        .flat_map(|(now, completion)| [(*now, 1), (completion.done, -1)])
        .collect();
    events.sort();
    let (mut inside, mut area, mut last) = (0, 0.0, Instant::ZERO);
    for (at, change) in events {
        area += inside as f64 * (at - last).as_secs_f64();
        inside += change;
        last = at;
    }
    assert_eq!(inside, 0);
    area / last.as_secs_f64()
}

/// A closed loop: as many requests a second as sessions, places and think time give in theory.
#[test]
fn sessions_in_a_closed_loop_get_the_rate_that_their_number_and_latency_give() {
    let (sessions, think) = (16, Duration::from_millis(10));
    let disk = with_places(4, LatencySpec::Exponential { mean: SERVICE });
    let mut storage = storage(&disk, 1);
    let mut ready: BTreeSet<(Instant, usize)> = (0..sessions)
        .map(|session| (Instant::ZERO, session))
        .collect();
    let (mut count, mut now) = (0_u32, Instant::ZERO);

    while let Some((at, session)) = ready.pop_first() {
        if at > Instant::ZERO + Duration::from_secs(20) {
            break;
        }
        now = at;
        let completion = storage.submit(now, 0, Request::read(0, Bytes::kib(8)));
        count += 1;
        ready.insert((completion.done + think, session));
    }

    // With n at the disk, requests come at (16 - n) / 10 ms and go at min(n, 4) / 1 ms: the share of time
    // with n is that with n - 1, times the rate up over the rate down. The distribution of the think time
    // does not matter (Baskett, Chandy, Muntz and Palacios, J. ACM 22, 1975).
    let up = |n: usize| (sessions - n) as f64 / 0.010;
    let down = |n: usize| n.min(4) as f64 / 0.001;
    let mut shares = vec![1.0];
    (1..=sessions).for_each(|n| shares.push(shares[n - 1] * up(n - 1) / down(n)));
    let went: f64 = (0..=sessions).map(|n| shares[n] * down(n)).sum();
    let theory = went / shares.iter().sum::<f64>();
    let rate = f64::from(count) / now.as_secs_f64();
    // Some 29,000 services of 1 ms each: their mean is within 3 / sqrt(29,000) = 1.8 % of it, which is 0.2 %
    // of a cycle of 11 ms; the first and the last cycle of 1,800 are cut off.
    assert!((rate / theory - 1.0).abs() < 0.004, "{rate}, {theory}");
}

/// The chance to find all of 4 places taken under a load of `a` (Erlang's C).
fn erlang_c_of_4(a: f64) -> f64 {
    let all_busy = a.powi(4) / 24.0 / (1.0 - a / 4.0);
    let some_free = 1.0 + a + a.powi(2) / 2.0 + a.powi(3) / 6.0;
    all_busy / (all_busy + some_free)
}

fn with_places(in_flight_max: u32, read_latency: LatencySpec) -> DiskSpec {
    DiskSpec {
        in_flight_max: Some(in_flight_max),
        read_latency,
        ..DiskSpec::unlimited()
    }
}

fn storage(disk: &DiskSpec, seed: u64) -> Storage {
    let volume = VolumeSpec::of("data", disk.clone());
    Storage::new(&MachineSpec::unlimited(), &[volume], seed)
}

/// One run of Poisson arrivals, `load` of them in each mean time of service.
fn run(disk: &DiskSpec, load: f64, seed: u64) -> Vec<(Instant, Completion)> {
    let mut storage = storage(disk, seed);
    let mut random: Stream = stream(seed, "arrivals");
    let mut now = Instant::ZERO;
    let mut arrive = || {
        let gap: f64 = Exp1.sample(&mut random);
        now += Duration::from_secs_f64(gap * SERVICE.as_secs_f64() / load);
        (now, storage.submit(now, 0, Request::read(0, Bytes::kib(8))))
    };
    (0..REQUESTS).map(|_| arrive()).collect()
}

/// The mean of a part of the latency in each run, in milliseconds.
fn mean_waits(disk: &DiskSpec, load: f64, part: impl Fn(&Completion) -> Duration) -> Vec<f64> {
    let mean = |index| {
        let run = run(disk, load, derive(1, "run", index));
        let total: Duration = run.iter().map(|(_, completion)| part(completion)).sum();
        total.as_millis_f64() / REQUESTS as f64
    };
    (0..RUNS).map(mean).collect()
}

fn assert_near(runs: &[f64], theory: f64) {
    let count = runs.len() as f64;
    let mean = runs.iter().sum::<f64>() / count;
    let squares: f64 = runs.iter().map(|run| (run - mean).powi(2)).sum();
    let bound = ERRORS_MAX * (squares / (count - 1.0) / count).sqrt();
    assert!(
        bound < BOUND_MAX * mean,
        "{mean} ± {bound} is too wide a bound to tell anything"
    );
    assert!(
        (mean - theory).abs() < bound,
        "theory says {theory}, {count} runs say {mean} ± {bound}"
    );
}
