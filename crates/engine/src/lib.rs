//! The engine interface: the traits that a database product implements, and what products share.
//!
//! ```text
//! experiment ─► Engines::find ─► EngineProvider ─open─► EngineRun ─start─► Engine ─connect─► Client
//!               by its name      what it takes         all trials         one trial         a session
//! ```
//!
//! A product is a crate that depends on this one. Neither this crate nor the code that runs trials names one; a program
//! registers its products as [`Engines`].

// The interface of a product to a run.
mod check;
mod error;
mod home;
mod options;
mod product_options;
mod provider;
mod real;
mod registry;

// Its interface to a recording, a drill and a rehearsal.
#[cfg(target_os = "linux")]
pub mod copies;
#[cfg(target_os = "linux")]
pub mod drilled;
#[cfg(target_os = "linux")]
pub mod log_gathering;
#[cfg(target_os = "linux")]
pub mod log_lines;
#[cfg(target_os = "linux")]
pub mod log_text;
#[cfg(target_os = "linux")]
pub mod logged;
pub mod recorder;
#[cfg(target_os = "linux")]
pub mod rehearsed;
#[cfg(target_os = "linux")]
pub mod tree;

// Services of the calling program.
pub mod hooks;

// Shared by servers.
#[cfg(all(unix, feature = "server"))]
pub mod certificates;
pub mod interruption;
#[cfg(all(unix, feature = "server"))]
pub mod managed_server;
pub mod mark;
#[cfg(unix)]
pub mod own_directory;
mod patience;
#[cfg(all(unix, feature = "server"))]
pub mod prepared;
#[cfg(all(unix, feature = "server"))]
pub mod row;
mod run_facts;
#[cfg(all(unix, feature = "server"))]
pub mod server_url;
#[cfg(all(unix, feature = "server"))]
pub mod socket;
pub mod wait;

pub use check::{OptionsError, check};
pub use error::EngineError;
pub use home::home;
pub use options::{FrontKind, Options, TransportKind};
pub use patience::Patience;
pub use product_options::{OptionKind, OptionSpec, OptionValue, ProductOptions};
pub use provider::{
    Closed, EngineProvider, EngineRun, Measured, Modelled, Opening, Simulated, Started,
    TrialVolumes, Users,
};
pub use real::{
    Client, CounterSample, CounterSampler, Engine, NOT_LOADED, NOT_RESTARTED, SAMPLE_EVERY, Table,
    WaitKind, WaitSampler, Waiting,
};
pub use registry::{Engines, LeftOut, UnknownEngine, UnknownServer};
