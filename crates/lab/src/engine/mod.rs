//! Engines: what executes a workload's statements.
//!
//! An engine is a folder here with an [`EngineProvider`], declared below, and a line in [`PROVIDERS`].

#[cfg(all(unix, feature = "own-server"))]
mod certificates;
mod check;
#[cfg(any(feature = "sqlserver", all(unix, feature = "own-server")))]
mod interruption;
#[cfg(all(unix, feature = "mariadb"))]
pub mod mariadb;
#[cfg(any(feature = "sqlserver", all(unix, feature = "postgres")))]
mod mark;
mod options;
#[cfg(all(unix, feature = "own-server"))]
mod own_server;
#[cfg(any(feature = "sqlserver", all(unix, feature = "own-server")))]
mod patience;
#[cfg(all(unix, feature = "postgres"))]
pub mod postgres;
#[cfg(all(unix, feature = "own-server"))]
mod prepared;
mod provider;
pub mod raw;
mod real;
mod registry;
#[cfg(all(unix, feature = "own-server"))]
mod row;
#[cfg(all(unix, feature = "own-server"))]
mod server_url;
#[cfg(all(unix, feature = "own-server"))]
mod socket;
pub mod sqlite;
#[cfg(feature = "sqlserver")]
pub mod sqlserver;
#[cfg(all(unix, feature = "own-server"))]
mod wait;
#[cfg(any(feature = "sqlserver", all(unix, feature = "own-server")))]
pub mod watch;

pub use check::{OptionsError, check};
pub use options::{
    DrivenKind, EncryptKind, FrontKind, LoginOptions, MariadbOptions, Options, PostgresOptions,
    SqlServerOptions, TransportKind,
};
#[cfg(any(feature = "sqlserver", all(unix, feature = "own-server")))]
pub use patience::Patience;
pub use provider::{
    Closed, EngineProvider, EngineRun, Measured, Modelled, Opening, Simulated, Started,
    TrialVolumes, Users,
};
pub use real::{
    Client, CounterSample, CounterSampler, Engine, EngineError, SAMPLE_EVERY, Table, WaitKind,
    WaitSampler, Waiting,
};
pub use registry::{LEFT_OUT, PROVIDERS, UnknownEngine, provider};
