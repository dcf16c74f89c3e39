//! Disks, machines and requests that laws are tried with, and what is seen of them.

use super::*;

// What is tried: requests, and the disks they are tried on.

/// A request and the time since the one before it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Arrival {
    pub(super) gap: Duration,
    pub(super) request: Request,
}

/// A machine with volumes, and the requests it gets.
#[derive(Clone, Debug)]
pub(super) struct Case {
    pub(super) machine: MachineSpec,
    pub(super) volumes: Vec<VolumeSpec>,
    pub(super) arrivals: Vec<Arrival>,
    /// Which volume each request is for, over and over, counted round the volumes there are.
    pub(super) places: Vec<usize>,
}

impl Case {
    pub(super) fn of_disk(disk: DiskSpec, arrivals: Vec<Arrival>) -> Case {
        Case {
            machine: MachineSpec::unlimited(),
            volumes: vec![VolumeSpec::of("data", disk)],
            arrivals,
            places: vec![0],
        }
    }

    pub(super) fn storage(&self, seed: u64) -> Storage {
        Storage::new(&self.machine, &self.volumes, seed)
    }

    pub(super) fn requests(&self) -> impl Iterator<Item = (Instant, usize, Request)> {
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

    pub(super) fn run(&self, seed: u64) -> Vec<(Instant, Request, Completion)> {
        let mut storage = self.storage(seed);
        self.requests()
            .map(|(now, place, request)| (now, request, storage.submit(now, place, request)))
            .collect()
    }

    /// The storage after all requests, and the instant of the last.
    pub(super) fn storage_after(&self, seed: u64) -> (Storage, Instant) {
        let mut storage = self.storage(seed);
        let mut last = Instant::ZERO;
        for (now, place, request) in self.requests() {
            storage.submit(now, place, request);
            last = now;
        }
        (storage, last)
    }

    pub(super) fn done(&self) -> Vec<Instant> {
        self.run(1)
            .iter()
            .map(|(_, _, completion)| completion.done)
            .collect()
    }

    /// When each request was admitted, and how much of `limit` it took.
    pub(super) fn admitted(&self, limit: LimitSpec, io_unit: IoUnit) -> Vec<(Instant, i128)> {
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
pub(super) fn window_over(
    admitted: &[(Instant, i128)],
    limit: LimitSpec,
) -> Option<(usize, usize)> {
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

pub(super) fn rate_of(limit: LimitSpec) -> u64 {
    match limit.rate {
        Rate::Iops(iops) => iops.0,
        Rate::Throughput(throughput) => throughput.0,
    }
}

/// What a vendor counts for one request, told by counting up.
pub(super) fn units_of(limit: LimitSpec, io_unit: IoUnit, request: &Request) -> i128 {
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

pub(super) fn nanos(from: Instant, to: Instant) -> i128 {
    i128::from(to.as_nanos()) - i128::from(from.as_nanos())
}

pub(super) fn bursting(sustained: Iops, burst: Burst) -> DiskSpec {
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

pub(super) fn without_flushes(arrivals: Vec<Arrival>) -> Vec<Arrival> {
    let moves_bytes = |arrival: &Arrival| arrival.request.operation != Operation::Flush;
    arrivals.into_iter().filter(moves_bytes).collect()
}

/// What an observer saw of one request at one disk.
#[derive(Clone, Debug)]
pub(super) struct Part {
    pub(super) place: DiskPlace,
    pub(super) request: Request,
    pub(super) done: Instant,
}

/// Keeps what was seen where the test can look at it.
#[derive(Clone, Default)]
pub(super) struct Seen(pub(super) Rc<RefCell<Vec<Part>>>);

impl Seen {
    pub(super) fn by(storage: &mut Storage) -> Seen {
        let seen = Seen::default();
        storage.observe(Box::new(seen.clone()));
        seen
    }

    pub(super) fn take(&self) -> Vec<Part> {
        self.0.borrow().clone()
    }

    pub(super) fn clear(&self) {
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
pub(super) fn range() -> impl Strategy<Value = (u64, u64)> {
    prop_oneof![
        (0..10_u64 << 20, 1..4_u64 << 20),
        (0..2_560_u64, 1..1_024_u64).prop_map(|(page, pages)| (page << 12, pages << 12)),
    ]
}

pub(super) fn span() -> impl Strategy<Value = Duration> {
    (0..20_000_000_u64).prop_map(Duration::from_nanos)
}

pub(super) fn request() -> impl Strategy<Value = Request> {
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

pub(super) fn arrivals() -> impl Strategy<Value = Vec<Arrival>> {
    let gap = prop_oneof![Just(Duration::ZERO), span()];
    let arrival = (gap, request()).prop_map(|(gap, request)| Arrival { gap, request });
    prop::collection::vec(arrival, 0..60)
}

pub(super) fn limit_without_burst() -> impl Strategy<Value = LimitSpec> {
    let limit = prop_oneof![
        (1..20_000_u64).prop_map(|iops| LimitSpec::iops(Iops(iops))),
        (1_000..1_000_000_000_u64).prop_map(|rate| LimitSpec::throughput(Throughput(rate))),
    ];
    (limit, prop_oneof![Just(Duration::ZERO), span()])
        .prop_map(|(limit, depth)| LimitSpec { depth, ..limit })
}

pub(super) fn limit() -> impl Strategy<Value = LimitSpec> {
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
pub(super) fn burst_iops(credits: std::ops::Range<u64>) -> impl Strategy<Value = (Iops, Burst)> {
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

pub(super) fn io_unit() -> impl Strategy<Value = IoUnit> {
    let size = || prop::option::of((12..21_u32).prop_map(|power| Bytes(1 << power)));
    (size(), size()).prop_map(|(size_max, charge_min)| IoUnit {
        size_max,
        charge_min,
    })
}

pub(super) fn in_flight_max() -> impl Strategy<Value = Option<u32>> {
    prop::option::of(1..8_u32)
}

pub(super) fn latency_constant() -> impl Strategy<Value = LatencySpec> {
    span().prop_map(LatencySpec::constant)
}

pub(super) fn latency() -> impl Strategy<Value = LatencySpec> {
    prop_oneof![
        latency_constant(),
        span().prop_map(|mean| LatencySpec::Exponential { mean }),
        (span(), span()).prop_map(|(p50, more)| LatencySpec::LogNormal {
            p50,
            p99: p50 + more
        }),
    ]
}

pub(super) fn disk(latency: BoxedStrategy<LatencySpec>) -> impl Strategy<Value = DiskSpec> {
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

pub(super) fn counts() -> impl Strategy<Value = Counts> {
    prop::sample::select(vec![Counts::All, Counts::Reads, Counts::Writes])
}

pub(super) fn machine() -> impl Strategy<Value = MachineSpec> {
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

pub(super) fn case() -> impl Strategy<Value = Case> {
    let modes = vec![
        HostCacheMode::None,
        HostCacheMode::ReadOnly,
        HostCacheMode::ReadWrite,
    ];
    case_with(latency().boxed(), prop::sample::select(modes).boxed())
}

pub(super) fn case_with(
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
