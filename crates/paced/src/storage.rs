//! Modelled volumes that share a machine: requests, completion times and counters.

use model::{
    Durability, Duration, Instant, LimitSpec, MachineSpec, Request, Storage, Throttle, VolumeSpec,
};
use parking_lot::Mutex;

use crate::counters::Counters;
use host::clock::Clock;
use reading::cause::Limit;
use reading::{LimitReading, Reading};

/// Least depth of a limit in real time.
///
/// An allowance without depth loses whatever time passes between the instant at which it would let the
/// next request through and the one at which the program, woken late, submits it: at a depth of one
/// request and 500 IOPS that was 4 to 6 % of the rate. With 4 ms of depth, which is longer than nearly
/// all late wake-ups, the rate was kept within 1 %.
const DEPTH_MIN: Duration = Duration::from_millis(4);

/// Modelled volumes that share a machine, in real time.
pub struct PacedStorage {
    clock: Clock,
    storage: Mutex<Storage<Counters>>,
    /// Volumes' names.
    volumes: Vec<String>,
    machine_limits: Vec<String>,
}

/// The outcome of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Completion {
    /// When the modelled disk is done; never before the request arrived.
    pub due: Instant,
    /// The limit that held it back longest, if any.
    pub throttled_by: Option<Throttle>,
}

impl PacedStorage {
    /// Volumes with fresh state; `clock` is the emulation's.
    ///
    /// # Panics
    /// When a volume has no disk.
    pub fn new(
        clock: Clock,
        machine: &MachineSpec,
        volumes: &[VolumeSpec],
        seed: u64,
    ) -> PacedStorage {
        let (machine, volumes) = deepened(machine, volumes);
        let disks = volumes.iter().map(|volume| volume.disks.len());
        let counters = Box::new(Counters::new(disks));
        let storage = Storage::observed(&machine, &volumes, seed, counters);
        PacedStorage {
            clock,
            machine_limits: storage.machine_limit_names().map(str::to_owned).collect(),
            storage: Mutex::new(storage),
            volumes: volumes.into_iter().map(|volume| volume.name).collect(),
        }
    }

    /// The current instant.
    pub fn now(&self) -> Instant {
        self.clock.now()
    }

    /// Submits a request that arrived at `arrived`, and returns when to answer it. Call it when the
    /// real file is done, so that its true length is known and a failed one costs nothing.
    ///
    /// # Panics
    /// When no volume has that index.
    pub fn submit(&self, arrived: Instant, volume: usize, request: Request) -> Completion {
        let mut storage = self.storage.lock();
        let real = self.clock.now();
        // The model takes requests in time order; threads do not quite.
        let now = storage.observer().begin(arrived, real);
        let completion = storage.submit(now, volume, request);
        Completion {
            due: completion.done,
            throttled_by: completion.throttled_by,
        }
    }

    /// Like [`PacedStorage::submit`], for a write that must be durable before it is done, whatever cache its volume has: a flush
    /// follows it, as a kernel has it for a file opened with `O_SYNC`.
    pub fn submit_durable(&self, arrived: Instant, volume: usize, request: Request) -> Completion {
        let durable = Request {
            durability: Durability::OnCompletion,
            ..request
        };
        let written = self.submit(arrived, volume, durable);
        // The model takes requests in time order, so the flush cannot be submitted at a future instant:
        // it is submitted now, and its latency is added after the write.
        let flushed = self.submit(arrived, volume, Request::flush());
        Completion {
            due: written.due + flushed.due.since(arrived),
            ..written
        }
    }

    /// A limit that held a request back.
    pub fn throttled_by(&self, by: Throttle) -> Limit {
        Limit::that_throttled(by, &self.machine_limits)
    }

    /// Drops the content of the modelled host caches.
    pub fn empty_host_cache(&self) {
        self.storage.lock().clear_host_cache();
    }

    /// All counters so far, except the pacing of replies.
    pub fn reading(&self) -> Reading {
        let mut storage = self.storage.lock();
        let at = self.clock.now();
        let usage = storage.usage(at).into_iter();
        let limits = usage.map(|usage| LimitReading::of(usage, &self.volumes));
        let limits = limits.collect();
        let disks = storage
            .observer()
            .readings(at, &self.volumes, &self.machine_limits);
        Reading {
            at,
            disks,
            limits,
            pacing: None,
        }
    }
}

/// The same machine and volumes, with no limit shallower than [`DEPTH_MIN`].
fn deepened(machine: &MachineSpec, volumes: &[VolumeSpec]) -> (MachineSpec, Vec<VolumeSpec>) {
    let deepen = |limits: &mut Vec<LimitSpec>| {
        for limit in limits {
            limit.depth = limit.depth.max(DEPTH_MIN);
        }
    };
    let (mut machine, mut volumes) = (machine.clone(), volumes.to_vec());
    machine.limits.values_mut().for_each(deepen);
    for disk in volumes.iter_mut().flat_map(|volume| &mut volume.disks) {
        deepen(&mut disk.limits);
    }
    (machine, volumes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::{Bytes, DiskSpec, HostCacheMode, HostCacheSpec, Iops, LatencySpec, Throughput};

    #[test]
    fn a_strict_limit_lets_what_four_milliseconds_saved_up_pass_at_once() {
        let disk = DiskSpec::limited(Iops(500), Throughput::from_mb_per_s(1_000));
        let volumes = [VolumeSpec::of("d", disk)];
        let paced = PacedStorage::new(Clock::start(), &MachineSpec::unlimited(), &volumes, 1);
        let now = paced.now();
        let read = || {
            paced
                .submit(now, 0, Request::read(0, Bytes::kib(8)))
                .due
                .since(now)
        };
        // 4 ms at 500 IOPS are two requests; a third is held once both are owed.
        let waits: Vec<u64> = (0..5).map(|_| read().as_nanos()).collect();
        assert_eq!(waits, [0, 0, 0, 2_000_000, 4_000_000]);
    }

    #[test]
    fn a_durable_write_is_done_when_its_flush_is() {
        let disk = DiskSpec {
            write_latency: LatencySpec::constant(Duration::from_millis(2)),
            flush_latency: LatencySpec::constant(Duration::from_millis(5)),
            ..DiskSpec::unlimited()
        };
        let volumes = [VolumeSpec::of("d", disk)];
        let paced = PacedStorage::new(Clock::start(), &MachineSpec::unlimited(), &volumes, 1);
        let now = paced.now();
        let completion = paced.submit_durable(now, 0, Request::write(0, Bytes::kib(8)));
        assert_eq!(completion.due.since(now), Duration::from_millis(7));
        assert_eq!(paced.reading().disks[0].flushes, 1);
    }

    #[test]
    fn a_host_cache_does_not_make_a_durable_write_faster() {
        let ms = Duration::from_millis;
        let machine = MachineSpec {
            host_cache: Some(HostCacheSpec {
                size: Bytes::mib(1),
                hit_latency: LatencySpec::constant(ms(1)),
                through_latency: LatencySpec::constant(ms(3)),
                limit: "the machine has none of this name".into(),
            }),
            ..MachineSpec::unlimited()
        };
        let disk = DiskSpec {
            write_latency: LatencySpec::constant(ms(10)),
            flush_latency: LatencySpec::constant(ms(2)),
            ..DiskSpec::unlimited()
        };
        // The disk and its flush; 1 ms for the cache before, or 3 ms beyond the disk.
        for (host_cache, takes) in [
            (HostCacheMode::None, ms(12)),
            (HostCacheMode::ReadWrite, ms(13)),
            (HostCacheMode::ReadOnly, ms(15)),
        ] {
            let volume = VolumeSpec {
                host_cache,
                ..VolumeSpec::of("d", disk.clone())
            };
            let paced = PacedStorage::new(Clock::start(), &machine, &[volume], 1);
            let now = paced.now();
            let completion = paced.submit_durable(now, 0, Request::write(0, Bytes::kib(8)));
            assert_eq!(completion.due.since(now), takes, "{host_cache:?}");
        }
    }
}
