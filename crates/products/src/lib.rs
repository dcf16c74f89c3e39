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
mod like;
mod log_writes;
mod mariadb;
mod own;
mod postgres;
mod process_io;
mod setting;
mod sqlite;
mod sqlserver;
mod wait;

pub use dialect::{Dialect, Grammar, Placeholder};
pub use like::{Defaults, Like};
pub use log_writes::{LogInFlight, LogLimit, LogWrites};
pub use own::Own;
pub use process_io::ProcessBytes;
pub use setting::{Kind, Meaning, Setting, Value};
pub use sqlserver::ALLOCATION_PAGE;
pub use wait::{WaitAdvice, Waited};

/// The products that have settings of their own in `[engine]`.
pub const PRODUCTS: [&Product; 2] = [&postgres::PRODUCT, &mariadb::PRODUCT];

/// The counter of operations, where a server is recorded by counters.
pub const OPERATIONS_COUNTER: &str = sqlserver::OPERATIONS;

/// The engines that a simulated one can be like.
pub const LIKES: [&Like; 4] = [
    &sqlserver::LIKE,
    &postgres::LIKE,
    &mariadb::LIKE,
    &sqlite::LIKE,
];

/// The engine of a server that a remedy names as an example.
pub const EXAMPLE_SERVER: &str = postgres::PRODUCT.name;

/// The engines that can be drilled, as documents of drills call them.
pub const DRILLED: [&str; 2] = [postgres::PRODUCT.name, sqlite::LIKE.name];

/// Levels of space in temporary files, by use: how their names begin and end.
pub const TEMP_SPACE: [(&str, &str); 1] = [sqlserver::TEMP_SPACE];

/// Counters of pages that checkpoints write, as each server counts them, or each version of it.
pub const CHECKPOINT_PAGES: [(&str, &str); 3] = [
    sqlserver::CHECKPOINT_PAGES,
    postgres::CHECKPOINT_PAGES,
    postgres::CHECKPOINT_PAGES_TO_16,
];

/// Where the clients of servers look for a password, other than on the command line.
pub const PASSWORDS: &str = "in the environment (PGPASSWORD, MYSQL_PWD for MariaDB, or SQLCMDPASSWORD for SQL Server) or in a \
                             file (~/.pgpass for PostgreSQL, ~/.my.cnf for MariaDB)";

/// A product with settings of its own.
#[derive(Debug)]
pub struct Product {
    /// Its name: that of its engine, and of its section of `[engine]`.
    pub name: &'static str,
    /// Its name in sentences.
    pub title: &'static str,
    /// Its settings, in the order in which a plan has them.
    pub settings: &'static [Setting],
    /// What the simulated engine has to be like to have these settings; `None`: simulate has none of them.
    pub simulated: Option<&'static Like>,
}

impl Product {
    /// The setting called `key`.
    pub fn setting(&self, key: &str) -> Option<&'static Setting> {
        self.settings.iter().find(|setting| setting.key == key)
    }
}

/// The product called `name`, if it has settings of its own.
pub fn find(name: &str) -> Option<&'static Product> {
    PRODUCTS.into_iter().find(|product| product.name == name)
}
