//! One disk: limits, places in flight, and the time to serve a request.

use alloc::collections::BinaryHeap;
use alloc::vec::Vec;
use core::cmp::Reverse;

use crate::allowance::Limit;
use crate::latency::Latency;
use crate::random::{self, Stream};
use crate::request::{Operation, Owner, Request, Throttle};
use crate::spec::{DiskSpec, IoUnit};
use crate::time::{Duration, Instant};
use crate::units::Throughput;

/// A disk with its state.
pub struct Disk {
    /// Its limits and their usage.
    pub limits: Vec<Limit>,
    /// How it counts.
    pub io_unit: IoUnit,
    latency: [Latency; 3],
    transfer: Option<Throughput>,
    places: Option<Places>,
    random: Stream,
}

/// A bounded number of concurrent requests: when each place is free again.
struct Places {
    count: usize,
    busy_until: BinaryHeap<Reverse<Instant>>,
}

/// The limit that holds a request back before a disk starts it, and for how long.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Admission {
    pub(crate) wait: Duration,
    pub(crate) by: Option<Throttle>,
}

impl Admission {
    /// Lets `request` pass `limits` too; the longest wait counts.
    pub(crate) fn pass(
        mut self,
        limits: &mut [Limit],
        owner: Owner,
        unit: IoUnit,
        now: Instant,
        request: &Request,
    ) -> Admission {
        for limit in limits {
            let held = limit.pass(now, request, unit);
            if held.wait > self.wait {
                let by = Throttle {
                    owner,
                    measure: limit.measure(),
                    credits: held.credits,
                };
                self = Admission {
                    wait: held.wait,
                    by: Some(by),
                };
            }
        }
        self
    }
}

impl Disk {
    /// A fresh disk; `seed` determines its latencies.
    pub fn new(spec: &DiskSpec, seed: u64) -> Disk {
        Disk {
            limits: spec.limits.iter().copied().map(Limit::new).collect(),
            io_unit: spec.io_unit,
            latency: [spec.read_latency, spec.write_latency, spec.flush_latency].map(Latency::new),
            transfer: spec.transfer,
            places: spec.in_flight_max.map(|count| Places {
                count: count.max(1) as usize,
                busy_until: BinaryHeap::new(),
            }),
            random: random::stream(seed, "disk latency"),
        }
    }

    /// Draws a latency from this disk's stream.
    pub(crate) fn draw(&mut self, latency: &Latency) -> Duration {
        latency.draw(&mut self.random)
    }

    /// Executes a request admitted at `admitted`; returns the time queued and the service time.
    pub(crate) fn serve(&mut self, admitted: Instant, request: &Request) -> (Duration, Duration) {
        let drawn = match request.operation {
            Operation::Read => self.latency[0].draw(&mut self.random),
            Operation::Write => self.latency[1].draw(&mut self.random),
            Operation::Flush => self.latency[2].draw(&mut self.random),
        };
        let service = drawn
            + self
                .transfer
                .map_or(Duration::ZERO, |rate| rate.time_for(request.length));
        let Some(places) = &mut self.places else {
            return (Duration::ZERO, service);
        };
        let start = match places.busy_until.len() < places.count {
            true => admitted,
            false => places
                .busy_until
                .pop()
                .map_or(admitted, |Reverse(free)| free.max(admitted)),
        };
        places.busy_until.push(Reverse(start + service));
        (start - admitted, service)
    }
}
