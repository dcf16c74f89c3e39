//! When would a request be done, and what held it up?
//!
//! `model` is the pure half of dbstow: disks, host caches, machines, stripes and what a database
//! engine puts between SQL and its files. It reads no clock, touches no file and draws no random
//! number that did not come from a seed: `now` comes in, a [`Completion`] goes out.
#![no_std]

extern crate alloc;

pub mod random;
pub mod request;
pub mod spec;
pub mod time;
pub mod units;

pub use request::{Completion, Measure, Operation, Owner, Request, Throttle};
pub use spec::{
    Burst, Counts, DiskSpec, HostCacheMode, HostCacheSpec, IoUnit, LatencySpec, LimitSpec,
    MachineSpec, Rate, VolumeSpec,
};
pub use time::{Duration, Instant};
pub use units::{Bytes, Iops, Throughput};
