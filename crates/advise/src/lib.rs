//! Which machine, which disks, and where a database's files go, for how much a month.
//!
//! ```text
//! catalogue ─► machines x groups of files x disks, counts, sizes, rates ─► layouts, by price
//!                 without what another one beats at its own price              │
//! profile ───► load: parts of like intensity ─────────────────────────────────►│
//!                                                                              ▼
//!              bound: no simulation can be faster ─► simulate what is left ─► cheapest, fastest, best value
//!                                                                              │
//! wishes, today's layout ─────────────────────────────────────────────────────►▼
//!                                                    document: answer, prices, reasons, assumptions, what is next
//! ```
//!
//! A [`Server`] is the way to a [`Request`], and that is the whole: from wishes and today's layout to the document. [`Search`] is the part of it in the middle.
//! Neither opens a file, prints, or reads a clock.
//!
//! The search is exact up to [`TOLD_APART`], and up to chance where a bound is a simulation itself: a layout is pruned only if its
//! bound shows that it is not faster than a cheaper one by that margin and, while no cheaper layout meets the target, does not
//! meet it either.
//!
//! ```
//! use advise::{Holding, Layouts, Limits, Load, Need, Search, System, TempOn};
//! use model::Bytes;
//! use replay::{Access, Demand, DemandSeries, Each, LogDemand};
//! use reading::Role;
//!
//! // Eight sessions, each operation of which reads 4 pages.
//! let reads = Each { per_operation: 4.0, size: Bytes::kib(8) };
//! let demand = Demand {
//!     sessions: 8,
//!     processor: model::Duration::from_micros(200),
//!     lock: model::Duration::ZERO,
//!     delay: model::Duration::ZERO,
//!     data: Access { reads, ..Access::default() },
//!     temp: Access::default(),
//!     log: LogDemand::default(),
//! };
//! let load = Load::of_series(&DemandSeries::steady(demand, 500.0));
//! let need = Need {
//!     holdings: vec![Holding { roles: Role::COMMON.into(), size: Bytes::gib(100) }],
//!     separate: Role::COMMON.into(),
//!     memory: Bytes::gib(16),
//!     cores: 0,
//!     cloud: Some("aws".into()),
//!     region: None,
//!     machine: None,
//!     today: None,
//!     processor: None,
//!     machine_pattern: Some("r6i.large".into()),
//!     arm: false,
//!     any_generation: false,
//!     disks: ["aws.gp3.2025".into()].into(),
//!     disks_max: Some(2),
//!     temp: TempOn::Any,
//!     services: advise::Services::default(),
//!     system: System::Linux,
//!     tariff: advise::Tariff::default(),
//! };
//! let catalogue = catalogue::Catalogue::builtin();
//! let layouts = Layouts::new(&catalogue, &need, &load, f64::INFINITY, false)?;
//! // As if the dearest were what there is today.
//! let today = layouts.placed(layouts.iter().last().expect("there are layouts"));
//! let limits = Limits { slower_max: 0.5, budget: None, simulations_max: 1_000, quick: false };
//! let search = Search { layouts: &layouts, today: &today, today_load: &load, today_share: 1.0, limits };
//! let advice = search.run(&mut |_step| true)?;
//! let cheapest = advice.cheapest.expect("there is one");
//! assert_eq!(layouts.machine(&cheapest.layout).0, "aws.r6i.large");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod advice;
mod bound;
mod document;
mod drawing;
mod error;
mod finalists;
mod group;
mod headroom;
mod kinds;
mod layout;
mod licence;
mod load;
mod machine;
mod memory;
mod need;
mod offer;
mod prefer;
mod recorded;
mod request;
mod search;
mod server;
mod service_wish;
mod services;
mod simulate;
mod system;
mod tariff;
mod today;
pub mod verify;
pub mod what_if;
mod wishes;
mod worlds;

pub use error::AdviseError;
pub use finalists::{Experiment, Finalists, LeftOut};
pub use group::{Group, Grouping, On};
pub use headroom::{Headroom, headroom};
pub use layout::{Layout, Layouts, NoLayout, PlannedVolume};
pub use licence::{HowPaid, Licence, LicenceError, LicenceWish, Paid};
pub use load::{Load, Part};
pub use need::{Holding, Need, TempOn};
pub use offer::Offer;
pub use prefer::SAME_PRICE;
pub use recorded::{keys_of_plan, teach};
pub use request::{Names, Rehearsal, Request, Scripts};
pub use search::{Counts, Found, Limits, Results, Search, Step, TOLD_APART};
pub use server::Server;
pub use service_wish::ServiceWish;
pub use services::Services;
pub use simulate::{Measured, Placed, Ratio, Utilisation};
pub use system::System;
pub use tariff::{Backup, Tariff};
pub use today::Today;
pub use wishes::Wishes;
