//! What database products call their settings, and which defaults a simulated engine has from them: a table a product.
//!
//! ```text
//!  mariadb.rs ──┐                    ┌─► PRODUCTS   [engine.mariadb], [engine.postgres]: settings by the product's own names
//!  postgres.rs ─┤  a table each  ──► ┤
//!  sqlite.rs ───┤                    └─► LIKES      like = "innodb": defaults of the keys of [engine]
//!  sqlserver.rs ┘
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

mod like;
mod mariadb;
mod own;
mod postgres;
mod setting;
mod sqlite;
mod sqlserver;

pub use like::{Defaults, Like};
pub use own::Own;
pub use setting::{Kind, Meaning, Setting, Value};

/// The products that have settings of their own in `[engine]`.
pub const PRODUCTS: [&Product; 2] = [&postgres::PRODUCT, &mariadb::PRODUCT];

/// The engines that a simulated one can be like.
pub const LIKES: [&Like; 4] = [
    &sqlserver::LIKE,
    &postgres::LIKE,
    &mariadb::LIKE,
    &sqlite::LIKE,
];

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
