//! When is a request done, and what held it up?
//!
//! `model` is the pure half of dbstow: disks, host caches, machines, stripes and what a database
//! engine puts between SQL and its files. It reads no clock, touches no file and draws no random
//! number that did not come from a seed: `now` comes in, a [`Completion`] goes out.
//!
//! ```
//! use model::{Bytes, DiskSpec, Duration, Instant, Iops, MachineSpec, Request, Storage, Throughput, VolumeSpec};
//!
//! let disk = DiskSpec::limited(Iops(500), Throughput::from_mb_per_s(60));
//! let volume = VolumeSpec::of("data", disk);
//! let mut storage = Storage::new(&MachineSpec::unlimited(), &[volume], 1);
//! let first = storage.submit(Instant::ZERO, 0, Request::read(0, Bytes::kib(8)));
//! let second = storage.submit(Instant::ZERO, 0, Request::read(8192, Bytes::kib(8)));
//! // 500 requests per second are 2 ms apart.
//! assert_eq!(second.done - first.done, Duration::from_millis(2));
//! ```
#![no_std]

extern crate alloc;

// Units.
pub mod number;
pub mod random;
pub mod spread;
pub mod time;
pub mod units;
mod world;

// One request and its outcome.
pub mod request;

// What holds requests up: limits, then the disk, the cache in front of it, the machine around it.
pub mod allowance;
mod backlog;
pub mod cache;
pub mod disk;
pub mod latency;
pub mod machine;
pub mod spec;
pub mod storage;

// What a database engine puts between SQL and its files, the processors it runs on, and locks between sessions.
pub mod cores;
mod cost;
pub mod locks;
pub mod split;
pub mod store;

pub use cost::CpuCosts;
pub use request::{Completion, Durability, Measure, Operation, Owner, Request, Throttle};
pub use spec::{
    Burst, Counts, DiskSpec, HostCacheMode, HostCacheSpec, IoUnit, LatencySpec, LimitSpec,
    MachineSpec, Rate, VolumeSpec,
};
pub use spread::{Spread, SpreadError};
pub use storage::{Observer, Storage};
pub use time::{Duration, Instant};
pub use units::{Bytes, Iops, Throughput};
pub use world::{STRATA, World};
