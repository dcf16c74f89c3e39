//! All volumes of one machine: which limits a request passes, and which disks it reaches.
//!
//! How the caps of an Azure machine combine (*Virtual machine and disk performance*, 2020-10-12, also on a write through a
//! read-only cache, done once cache and disk have it, and on forced unit access, which a read-write cache passes on;
//! *Performance guidelines for SQL Server on Azure VMs*, storage, 2023-10-06):
//!
//! | host cache | request | disk limits | uncached limits | cached limits | done when |
//! |---|---|---|---|---|---|
//! | none | any | yes | yes | | the disk is done |
//! | read-only | read, hit | | | yes | the cache is done |
//! | read-only | read, miss | yes | yes | yes | the disk is done |
//! | read-only | write | yes | yes | yes | both are done |
//! | read-write | write | later | later | yes | the cache is done |
//! | read-write | durable write | yes | yes | yes | the cache is done, then the disk |
//! | (local disk) | any | its own | | yes | the disk is done |
//!
//! Other vendors have no host cache: a request passes the disk's limits and the machine limit that the
//! disk names, which is the first row.

use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec::Vec;

use crate::allowance::{Limit, LimitState};
use crate::backlog::{self, Backlog};
use crate::cache::HostCache;
use crate::disk::{Admission, Disk};
use crate::latency::Latency;
use crate::machine::Machine;
use crate::random;
use crate::request::{Completion, Durability, Operation, Owner, Request};
use crate::spec::{HostCacheMode, IoUnit, MachineSpec, VolumeSpec};
use crate::time::{Duration, Instant};
use crate::units::Bytes;

/// Most disks that a machine can have in the model, which numbers them with 16 bits.
pub const DISKS_MAX: usize = u16::MAX as usize;

/// Volumes on a machine, with their state.
///
/// Generic over the observer, so that storage with a `Send` observer is `Send` too.
pub struct Storage<O: Observer + ?Sized = dyn Observer> {
    machine: Machine,
    volumes: Vec<Stripe>,
    observer: Box<O>,
}

/// Sees every request at every disk.
pub trait Observer {
    /// A disk of a volume received `request` at `now`.
    fn request(
        &mut self,
        now: Instant,
        place: DiskPlace,
        request: &Request,
        completion: &Completion,
    );
}

impl Observer for () {
    fn request(&mut self, _: Instant, _: DiskPlace, _: &Request, _: &Completion) {}
}

/// The disk, and whether the host cache served the request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DiskPlace {
    /// Index of the volume.
    pub volume: usize,
    /// Index of the disk in the volume's stripe.
    pub disk: usize,
    /// Whether the host cache served a read.
    pub cache_hit: bool,
}

/// One limit and its usage so far.
#[derive(Clone, Debug, PartialEq)]
pub struct Usage {
    /// Its owner: the machine by limit name, or a disk by volume and index.
    pub owner: UsageOwner,
    /// The limit.
    pub limit: crate::LimitSpec,
    /// What it limits.
    pub measure: crate::Measure,
    /// Units taken so far: I/Os or bytes.
    pub used: u64,
    /// Sustained units per second.
    pub rate: u64,
    /// Its current state.
    pub state: LimitState,
}

/// The owner of the limit in a [`Usage`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum UsageOwner {
    /// The machine's limit of this name.
    Machine(String),
    /// A disk's.
    Disk {
        /// Index of the volume.
        volume: usize,
        /// Index of the disk in the volume.
        disk: usize,
    },
}

/// The disks of a volume.
struct Stripe {
    disks: Vec<Attached>,
    interleave: u64,
}

/// A disk as the machine sees it.
struct Attached {
    disk: Disk,
    /// Number over all volumes, for the host cache.
    number: u16,
    cache: HostCacheMode,
    /// Machine limits that direct requests to the disk pass.
    direct: Option<u8>,
    /// When everything the read-write cache has accepted will be on the disk.
    backlog: Backlog,
}

impl Storage {
    /// Volumes with their state untouched.
    ///
    /// # Panics
    /// When a volume has no disk, or all of them together have more than [`DISKS_MAX`].
    pub fn new(machine: &MachineSpec, volumes: &[VolumeSpec], seed: u64) -> Storage {
        Storage::observed(machine, volumes, seed, Box::new(()))
    }
}

impl<O: Observer + ?Sized> Storage<O> {
    /// Volumes with their state untouched, watched by `observer`.
    ///
    /// # Panics
    /// When a volume has no disk, or all of them together have more than [`DISKS_MAX`].
    pub fn observed(
        machine: &MachineSpec,
        volumes: &[VolumeSpec],
        seed: u64,
        observer: Box<O>,
    ) -> Storage<O> {
        let machine = Machine::new(machine);
        let mut number: u16 = 0;
        let mut attach = |volume: &VolumeSpec, disk: &crate::DiskSpec| {
            number = number
                .checked_add(1)
                .expect("a machine has no more disks than DISKS_MAX");
            Attached {
                disk: Disk::new(disk, random::derive(seed, "disk", u64::from(number))),
                number,
                cache: if machine.cache.is_some() {
                    volume.host_cache
                } else {
                    HostCacheMode::None
                },
                direct: machine.limit_of(&disk.machine_limits),
                backlog: Backlog::default(),
            }
        };
        let volumes = volumes
            .iter()
            .map(|volume| {
                assert!(
                    !volume.disks.is_empty(),
                    "volume {} has no disk",
                    volume.name
                );
                Stripe {
                    disks: volume
                        .disks
                        .iter()
                        .map(|disk| attach(volume, disk))
                        .collect(),
                    interleave: volume.interleave.0.max(512),
                }
            })
            .collect();
        Storage {
            machine,
            volumes,
            observer,
        }
    }

    /// Replaces the observer.
    pub fn observe(&mut self, observer: Box<O>) {
        self.observer = observer;
    }

    /// The observer.
    pub fn observer(&mut self) -> &mut O {
        &mut self.observer
    }

    /// Submits `request` to a volume at `now`; calls must come in the order of `now`.
    ///
    /// # Panics
    /// When no volume has that index.
    pub fn submit(&mut self, now: Instant, volume: usize, request: Request) -> Completion {
        let Storage {
            machine,
            volumes,
            observer,
        } = self;
        let stripe = &mut volumes[volume];
        let mut one = |attached: &mut Attached, disk: usize, part: &Request| {
            let (completion, cache_hit) = attached.submit(machine, now, part);
            let place = DiskPlace {
                volume,
                disk,
                cache_hit,
            };
            observer.request(now, place, part, &completion);
            completion
        };
        if let [only] = stripe.disks.as_mut_slice() {
            return one(only, 0, &request);
        }
        let mut slowest: Option<Completion> = None;
        stripe.split(request, |disk, place, part| {
            let completion = one(disk, place, &part);
            if slowest.is_none_or(|slowest| completion.done > slowest.done) {
                slowest = Some(completion);
            }
        });
        slowest.unwrap_or(Completion::immediate(now))
    }

    /// Puts a range into the host cache, if the volume has one, at no cost: for what was read or
    /// written before the measurement began.
    pub fn warm(&mut self, volume: usize, offset: u64, length: Bytes) {
        let Storage {
            machine, volumes, ..
        } = self;
        volumes[volume].split(Request::read(offset, length), |disk, _, part| {
            if let (Some((cache, _)), true) =
                (&mut machine.cache, disk.cache != HostCacheMode::None)
            {
                cache.fill(disk.number, part.offset, part.length);
            }
        });
    }

    /// Empties the host cache.
    pub fn clear_host_cache(&mut self) {
        if let Some((cache, _)) = &mut self.machine.cache {
            cache.clear();
        }
    }

    /// Every limit with its usage so far and its state at `now`: the machine's, then each disk's.
    pub fn usage(&self, now: Instant) -> Vec<Usage> {
        let machine = self.machine.limits.iter().flat_map(|(name, limits)| {
            limits
                .iter()
                .map(move |limit| usage(UsageOwner::Machine(name.clone()), limit, now))
        });
        let disks =
            self.volumes
                .iter()
                .enumerate()
                .flat_map(|(volume, stripe)| {
                    stripe
                        .disks
                        .iter()
                        .enumerate()
                        .flat_map(move |(disk, attached)| {
                            attached.disk.limits.iter().map(move |limit| {
                                usage(UsageOwner::Disk { volume, disk }, limit, now)
                            })
                        })
                });
        machine.chain(disks).collect()
    }

    /// Names of the machine's limits, in the order of [`crate::Owner::Machine`].
    pub fn machine_limit_names(&self) -> impl Iterator<Item = &str> {
        self.machine.limits.iter().map(|(name, _)| name.as_str())
    }
}

fn usage(owner: UsageOwner, limit: &Limit, now: Instant) -> Usage {
    Usage {
        owner,
        limit: limit.spec,
        measure: limit.measure(),
        used: limit.used,
        rate: limit.rate(),
        state: limit.state(now),
    }
}

impl Stripe {
    /// Passes each disk its part of `request`.
    ///
    /// ```text
    /// volume  | 0 | 1 | 2 | 3 | 4 | 5 |     interleave units
    /// disk 0  | 0 | 2 | 4 |                 a request over units 1..=4 becomes
    /// disk 1  | 1 | 3 | 5 |                 one part on disk 1 (1, 3) and one on disk 0 (2, 4)
    /// ```
    fn split(&mut self, request: Request, mut part: impl FnMut(&mut Attached, usize, Request)) {
        let count = self.disks.len() as u64;
        if count == 1 || request.operation == Operation::Flush {
            for (place, disk) in self.disks.iter_mut().enumerate() {
                part(disk, place, request);
            }
            return;
        }
        let unit = self.interleave;
        let end = request.offset + request.length.0;
        let first = request.offset / unit;
        let last = end.saturating_sub(1).max(request.offset) / unit;
        for start in first..=last.min(first + count - 1) {
            let inside =
                |index: u64| end.min((index + 1) * unit) - request.offset.max(index * unit);
            let length = (start..=last).step_by(count as usize).map(inside).sum();
            let skipped = request.offset.max(start * unit) - start * unit;
            let place = (start % count) as usize;
            let offset = start / count * unit + skipped;
            part(
                &mut self.disks[place],
                place,
                Request {
                    offset,
                    length: Bytes(length),
                    ..request
                },
            );
        }
    }
}

impl Attached {
    /// Executes a request; returns whether it was a cache hit.
    fn submit(
        &mut self,
        machine: &mut Machine,
        now: Instant,
        request: &Request,
    ) -> (Completion, bool) {
        let completion = match (self.cache, request.operation) {
            (_, Operation::Flush) => self.flush(now, request),
            (HostCacheMode::None, Operation::Read | Operation::Write) => {
                self.through(machine, now, request, None)
            }
            (HostCacheMode::ReadOnly | HostCacheMode::ReadWrite, Operation::Read) => {
                return self.cached_read(machine, now, request);
            }
            (HostCacheMode::ReadOnly, Operation::Write) => {
                self.write_through(machine, now, request, |cache| &cache.through_latency)
            }
            (HostCacheMode::ReadWrite, Operation::Write) => match request.durability {
                Durability::OnFlush => self.write_back(machine, now, request),
                Durability::OnCompletion => {
                    self.write_through(machine, now, request, |cache| &cache.hit_latency)
                }
            },
        };
        (completion, false)
    }

    /// Puts the range into the cache; returns the index of the cache's limits.
    fn fill(&self, machine: &mut Machine, request: &Request) -> Option<u8> {
        machine.cache.as_mut().and_then(|(cache, limit)| {
            cache.fill(self.number, request.offset, request.length);
            *limit
        })
    }

    /// To the disk itself, and past the cache's limits too if `cached` is set.
    fn through(
        &mut self,
        machine: &mut Machine,
        now: Instant,
        request: &Request,
        cached: Option<u8>,
    ) -> Completion {
        let unit = self.disk.io_unit;
        let mut admission =
            Admission::default().pass(&mut self.disk.limits, Owner::Disk, unit, now, request);
        let places = [
            self.direct,
            cached.filter(|cached| Some(*cached) != self.direct),
        ];
        for place in places.into_iter().flatten() {
            admission = admission.pass(
                machine.at(Some(place)),
                Owner::Machine(place),
                machine_unit(unit),
                now,
                request,
            );
        }
        let (queued, service) = self.disk.serve(now + admission.wait, request);
        completion(now, admission, queued, service)
    }

    fn cached_read(
        &mut self,
        machine: &mut Machine,
        now: Instant,
        request: &Request,
    ) -> (Completion, bool) {
        let Some((cache, limit)) = &mut machine.cache else {
            return (self.through(machine, now, request, None), false);
        };
        let limit = *limit;
        if !cache.holds(self.number, request.offset, request.length) {
            cache.fill(self.number, request.offset, request.length);
            return (self.through(machine, now, request, limit), false);
        }
        (self.in_cache(machine, now, request), true)
    }

    /// Served by the cache alone.
    fn in_cache(&mut self, machine: &mut Machine, now: Instant, request: &Request) -> Completion {
        let Some((cache, limit)) = &machine.cache else {
            return Completion::immediate(now);
        };
        // A cache without a limit still takes its time.
        let (latency, limit) = (cache.hit_latency.clone(), *limit);
        let mut admission = Admission::default();
        if let Some(place) = limit {
            admission = admission.pass(
                machine.at(Some(place)),
                Owner::Machine(place),
                machine_unit(self.disk.io_unit),
                now,
                request,
            );
        }
        completion(now, admission, Duration::ZERO, self.disk.draw(&latency))
    }

    /// Done once cache and disk have it, which takes what `beyond` the disk takes.
    fn write_through(
        &mut self,
        machine: &mut Machine,
        now: Instant,
        request: &Request,
        beyond: fn(&HostCache) -> &Latency,
    ) -> Completion {
        let limit = self.fill(machine, request);
        let completion = self.through(machine, now, request, limit);
        let beyond = machine.cache.as_ref().map(|(cache, _)| beyond(cache));
        let beyond = beyond.map_or(Duration::ZERO, |latency| self.disk.draw(latency));
        Completion {
            done: completion.done + beyond,
            service: completion.service + beyond,
            ..completion
        }
    }

    /// Accepted by the cache once it has room; reaches the disk later, past the limits it would have passed.
    fn write_back(&mut self, machine: &mut Machine, now: Instant, request: &Request) -> Completion {
        let size = machine.cache.as_ref().map(|(cache, _)| cache.size());
        let in_the_way = size.and_then(|size| self.backlog.in_the_way(now, request.length, size));
        self.fill(machine, request);
        let accepted = self.in_cache(machine, now, request);
        let drained = self.through(machine, now, request, None);
        self.backlog.push(drained, request.length);
        match in_the_way {
            Some(write) => backlog::after(now, accepted, write),
            None => accepted,
        }
    }

    /// Waits for what the cache has not yet written to the disk, then for the disk.
    fn flush(&mut self, now: Instant, request: &Request) -> Completion {
        let waited = self.backlog.drained().since(now);
        let (queued, service) = self.disk.serve(now + waited, request);
        completion(now, Admission::default(), waited + queued, service)
    }
}

/// A machine counts large requests as the disk does, but charges no minimum.
fn machine_unit(unit: IoUnit) -> IoUnit {
    IoUnit {
        charge_min: None,
        ..unit
    }
}

fn completion(
    now: Instant,
    admission: Admission,
    queued: Duration,
    service: Duration,
) -> Completion {
    Completion {
        done: now + admission.wait + queued + service,
        throttled: admission.wait,
        throttled_by: admission.by,
        queued,
        service,
    }
}
