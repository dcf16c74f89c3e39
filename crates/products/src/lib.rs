//! What crates for all products must know about each, without a driver: tables for each product.
//!
//! ```text
//!  mariadb.rs ──┐                 ┌─► PRODUCTS     [engine.mariadb], [engine.postgres]: settings by the product's own names
//!  postgres.rs ─┤  tables    ──►  ├─► LIKES        like = "innodb": defaults of the keys of [engine]
//!  sqlite.rs ───┤                 ├─► Dialect      how scripts in its SQL are read
//!  sqlserver.rs ┘                 ├─► LogWrites    how it writes its log: for the replay of a profile
//!                                 ├─► ProcessBytes how it counts I/O by process
//!                                 └─► WaitAdvice   what helps against its wait events
//! ```
//!
//! The tables need no server and no driver: every program reads every experiment and plan.
//!
//! ```
//! use products::{Meaning, find};
//!
//! let setting = find("mariadb").and_then(|product| product.setting("log_file_size"));
//! assert!(matches!(setting.expect("it has one").meaning, Meaning::LogCapacity));
//! ```

#![warn(missing_docs)]

mod dialect;
mod dialects;
mod like;
mod log_writes;
mod mariadb;
mod own;
mod postgres;
mod process_io;
mod product;
mod registry;
mod setting;
mod sqlite;
mod sqlserver;
mod wait;

pub use dialect::{Dialect, Grammar, Placeholder};
pub use like::{Defaults, Like};
pub use log_writes::{LogInFlight, LogLimit, LogWrites};
pub use own::Own;
pub use process_io::ProcessBytes;
pub use product::Product;
pub use registry::{
    CHECKPOINT_PAGES, DRILLED, EXAMPLE_SERVER, LIKES, OPERATIONS_COUNTER, PASSWORDS, PRODUCTS,
    TEMP_SPACE, find,
};
pub use setting::{Kind, Meaning, Setting, Value};
pub use sqlserver::ALLOCATION_PAGE;
pub use wait::{WaitAdvice, Waited};
