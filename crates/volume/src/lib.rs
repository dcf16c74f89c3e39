//! Real files that behave like modelled volumes.
//!
//! [`virtual_time`] runs embedded SQLite over a [`model::store::Store`]: the SQL really executes, on real
//! bytes, while disks, processors and waits exist in virtual time only. [`real_time`] runs it on real files,
//! optionally on modelled volumes.
//!
//! ```
//! use model::store::{Role, Store, StoreSpec};
//! use model::{Bytes, DiskSpec, Iops, MachineSpec, Storage, Throughput, VolumeSpec};
//! use volume::virtual_time::{CpuCosts, Simulation};
//!
//! let disk = VolumeSpec::of("d", DiskSpec::limited(Iops(500), Throughput::from_mb_per_s(60)));
//! let spec = StoreSpec::plain(Bytes::mib(1));
//! let store = Store::new(&spec, Storage::new(&MachineSpec::unlimited(), &[disk], 1), 1);
//! let simulation = Simulation::new(store, 2, CpuCosts::default())?;
//! let end = simulation.run(vec![Box::new(|session| {
//!     let connection = session.open("example", Role::Data).expect("a new database");
//!     connection.execute_batch("CREATE TABLE t(x); INSERT INTO t VALUES (zeroblob(8000000))").expect("valid SQL");
//! })]).expect("no session stalls");
//! // 8 MB through a pool of 1 MiB at 60 MB/s.
//! assert!(end.as_secs_f64() > 0.1);
//! # Ok::<(), std::io::Error>(())
//! ```

// What real-time modes count, and where.
pub mod clock;
pub mod hangup;
pub mod site;

// Real volumes.
pub mod plain;

// The model in real time.
mod paced_storage;

// Emulated volumes for any program.
#[cfg(target_os = "linux")]
pub mod fuse;

// The environment of child processes, and what outlives a killed one.
pub mod child;
#[cfg(target_os = "linux")]
pub use fuse::orphans;
#[cfg(not(target_os = "linux"))]
#[path = "orphans_elsewhere.rs"]
pub mod orphans;

// SQLite.
pub mod real_time;
pub mod sqlite_settings;
mod vfs;
pub mod virtual_time;
