//! What a recorded server asks of other disks.
//!
//! ```text
//! profile ──► demand of an operation, over time ──► replay on other disks ──► rates, latencies
//!                                              └──► replay on its own disks ──► back-test: does it fit?
//! ```
//!
//! ```
//! use model::{DiskSpec, Duration, Iops, MachineSpec, Throughput, VolumeSpec};
//! use replay::{Arrivals, DemandSeries, Places, Replay};
//!
//! let text = r#"
//! format = "dbstow.profile/1"
//! start = "2026-11-22T10:00:00Z"
//!
//! [origin]
//! tool = "iostat"
//!
//! [intervals]
//! at_s = [0.0]
//! length_s = [10.0]
//! operations = [1000.0]
//! processor_s = [1.0]
//! sessions = [4.0]
//!
//! [intervals.data]
//! reads = [5000.0]
//! read_bytes = [40960000.0]
//! read_wait_s = [20.0]
//! "#;
//! let profile = profile::read("shop.toml", text)?;
//! // 100 IOPS serve 20 operations of 5 reads.
//! let disk = DiskSpec::limited(Iops(100), Throughput::from_mb_per_s(100));
//! let replay = Replay {
//!     demand: &DemandSeries::of(&profile)?,
//!     arrivals: Arrivals::Closed,
//!     machine: &MachineSpec::unlimited(),
//!     volumes: &[VolumeSpec::of("data", disk)],
//!     places: &Places { data: vec![0], temp: vec![0], log: 0 },
//!     warm_up: Duration::from_secs(10),
//!     length: Duration::from_secs(60),
//!     seed: 1,
//! };
//! let outcome = replay.run(Box::new(()), &mut ())?;
//! assert!((outcome.operations_per_s() - 20.0).abs() < 1.0);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod answers;
mod backtest;
mod demand;
mod log_assumption;
mod log_writer;
mod own_disks;
mod parts;
mod replay;
mod run;
mod series;

pub use answers::{Answer, Question, answers};
pub use backtest::{BackTest, Detail, Figure, Fit, Measure, OFF_MAX, Reason, Replayed};
pub use demand::{Access, Demand, DemandError, Each, LogDemand};
pub use own_disks::{OwnLatency, start_with_recorded_credits};
pub use parts::{Parts, TimePart};
pub use replay::{Arrivals, Follow, Outcome, Places, Replay, ReplayError, Service};
pub use series::{DemandSeries, Period};
