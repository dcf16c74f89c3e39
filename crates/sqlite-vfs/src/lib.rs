//! Embedded SQLite over its file system interface (VFS), in virtual time and in real time.
//!
//! [`virtual_time`] runs it over a [`model::store::Store`]: the SQL really executes, on real bytes, while disks, processors and
//! waits exist in virtual time only. [`real_time`] runs it on real files, paced by modelled volumes if those are given
//! ([`paced::Pacer`]).
//!
//! ```
//! use model::store::{Role, Store, StoreSpec};
//! use model::{Bytes, DiskSpec, Iops, MachineSpec, Storage, Throughput, VolumeSpec};
//! use sqlite_vfs::virtual_time::{CpuCosts, Simulation};
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

pub mod compile_options;
pub mod real_time;
mod vfs;
pub mod virtual_time;
