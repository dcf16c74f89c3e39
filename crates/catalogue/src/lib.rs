//! Disks, machines and managed tiers: what vendors sell, with source and date of every figure.
//!
//! The catalogue is data (`entries/*.toml`), so that a new disk is one entry and no code. A name
//! leads to an entry; an entry, with what the user asks of it, becomes a [`model::DiskSpec`]:
//!
//! ```text
//! file text, or a row -> wire -> read -> entries -> provision -> model::DiskSpec
//!                                                   -> model::MachineSpec
//! ```
//!
//! ```
//! use catalogue::Catalogue;
//!
//! let disk = Catalogue::builtin().disk("azure.premium.p30").expect("it is built in").clone();
//! assert_eq!(disk.name, "azure.premium.p30");
//! ```

mod after_stop;
mod builtin;
mod catalogue;
mod change;
mod class;
mod commitment;
mod cpu_options;
mod disk;
mod each_row;
mod error;
mod host_caching;
mod hourly_price;
mod latency;
mod licence;
mod limit_value;
mod limits;
mod machine;
mod near;
mod on_machines;
mod own_prices;
mod price;
mod processor;
mod query;
mod range;
mod read;
mod rows;
mod rule;
mod service;
mod service_query;
mod service_rows;
mod services;
mod size;
mod source;
mod tables;
mod wire;

#[cfg(test)]
mod published;
#[cfg(test)]
mod published_prices;
#[cfg(test)]
mod published_services;
#[cfg(test)]
mod tests;

pub use after_stop::AfterStop;
pub use catalogue::Catalogue;
pub use change::{Change, MoreVolumes, NAMED, Part, Series, Shell, Switch};
pub use class::Class;
pub use commitment::{BackupPrice, Commitment};
pub use cpu_options::{CpuOption, CpuOptions};
pub use disk::{DiskEntry, LimitsFrom, Provision, Provisioned};
pub use error::CatalogueError;
pub use host_caching::{CACHED_LIMIT, CacheLatencies, HostCaching};
pub use hourly_price::{HOURS, HourlyPrice, PriceAssumed};
pub use latency::Latency;
pub use licence::{Edition, LicenceRate};
pub use limit_value::{Ios, LimitValue};
pub use limits::{BurstRule, Bursts, Holds, Limit, Limits};
pub use machine::{Generation, MachineEntry};
pub use on_machines::{OnMachines, Published};
pub use price::{IopsFree, Parts, PerRequest, Price, Step};
pub use processor::Processor;
pub use query::{MachineQuery, Order, QueryError};
pub use range::Range;
pub use rule::{Linear, Rule, Share, Tier};
pub use service::{Lies, MultiZone, Service, ServiceStorage};
pub use size::SizeRule;
pub use source::{
    Confidence, Known, Source, Spreads, delivered_by, is_delivered, limit_spread, statement_spread,
};
