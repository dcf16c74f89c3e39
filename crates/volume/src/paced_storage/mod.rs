//! The model in real time, for all volumes of an emulation: who asks, when it would be done, what was
//! counted.

mod counters;

use model::{Duration, Instant, LimitSpec, MachineSpec, Request, Storage, Throttle, VolumeSpec};
use parking_lot::Mutex;

use crate::clock::Clock;
use counters::Counters;
#[cfg(target_os = "linux")]
use reading::cause::Limit;
use reading::{LimitReading, Reading};

/// Least depth of a limit in real time.
///
/// An allowance without depth loses whatever time passes between the instant at which it would let the
/// next request through and the one at which the program, woken late, asks for it: at a depth of one
/// request and 500 IOPS that was 4 to 6 % of the rate. Saved up for 4 ms, which is longer than nearly all
/// late wake-ups, the rate was kept within 1 %.
const DEPTH_MIN: Duration = Duration::from_millis(4);

/// Modelled volumes that share a machine, in real time.
pub(crate) struct PacedStorage {
    clock: Clock,
    storage: Mutex<Storage<Counters>>,
    /// Volumes' names.
    volumes: Vec<String>,
    machine_limits: Vec<String>,
}

/// What becomes of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Completion {
    /// When the modelled disk is done; never before the request arrived.
    pub(crate) due: Instant,
    /// The limit that held it back longest, when one did.
    pub(crate) throttled_by: Option<Throttle>,
}

impl PacedStorage {
    /// Volumes with their state untouched; `clock` is the emulation's.
    ///
    /// # Panics
    /// When a volume has no disk.
    pub(crate) fn new(
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

    /// The present instant.
    pub(crate) fn now(&self) -> Instant {
        self.clock.now()
    }

    /// When a request that arrived at `arrived` is to be answered; to be called when the real file is
    /// done with it, so that its true length is known and a failed one costs nothing.
    ///
    /// # Panics
    /// When there is no volume at that place.
    pub(crate) fn submit(&self, arrived: Instant, volume: usize, request: Request) -> Completion {
        let mut storage = self.storage.lock();
        let real = self.clock.now();
        // Requests in the model come in the order of their time; threads do not quite.
        let now = storage.observer().begin(arrived, real);
        let completion = storage.submit(now, volume, request);
        Completion {
            due: completion.done,
            throttled_by: completion.throttled_by,
        }
    }

    /// As [`PacedStorage::submit`], for a write that is done only when it is durable: a flush follows it.
    #[cfg(target_os = "linux")]
    pub(crate) fn submit_durable(
        &self,
        arrived: Instant,
        volume: usize,
        request: Request,
    ) -> Completion {
        let written = self.submit(arrived, volume, request);
        // The model takes requests in the order of their time, so the flush cannot be given at an instant
        // to come: it is given now, and its latency comes after the write.
        let flushed = self.submit(arrived, volume, Request::flush());
        Completion {
            due: written.due + flushed.due.since(arrived),
            ..written
        }
    }

    /// A limit that held a request up.
    #[cfg(target_os = "linux")]
    pub(crate) fn throttled_by(&self, by: Throttle) -> Limit {
        Limit::that_throttled(by, &self.machine_limits)
    }

    /// Forgets what the modelled host caches hold.
    pub(crate) fn empty_host_cache(&self) {
        self.storage.lock().clear_host_cache();
    }

    /// Everything counted so far, but the pacing of replies.
    pub(crate) fn reading(&self) -> Reading {
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

/// The same machine and volumes with no limit shallower than [`DEPTH_MIN`].
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
    use model::{Bytes, DiskSpec, Iops, Throughput};

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

    #[cfg(target_os = "linux")]
    #[test]
    fn a_durable_write_is_done_when_its_flush_is() {
        let disk = DiskSpec {
            write_latency: model::LatencySpec::constant(Duration::from_millis(2)),
            flush_latency: model::LatencySpec::constant(Duration::from_millis(5)),
            ..DiskSpec::unlimited()
        };
        let volumes = [VolumeSpec::of("d", disk)];
        let paced = PacedStorage::new(Clock::start(), &MachineSpec::unlimited(), &volumes, 1);
        let now = paced.now();
        let completion = paced.submit_durable(now, 0, Request::write(0, Bytes::kib(8)));
        assert_eq!(completion.due.since(now), Duration::from_millis(7));
        assert_eq!(paced.reading().disks[0].flushes, 1);
    }
}
