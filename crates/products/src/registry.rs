//! What all products are together, and which one a name means.

use serde::de::{Deserialize, Deserializer};

use crate::setting::OneOf;
use crate::{
    Like, LogWrites, ProcessBytes, Product, WaitAdvice, mariadb, postgres, sqlite, sqlserver,
};

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

/// The product called `name`, if it has settings of its own.
pub fn find(name: &str) -> Option<&'static Product> {
    PRODUCTS.into_iter().find(|product| product.name == name)
}

impl<'de> Deserialize<'de> for &'static Like {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<&'static Like, D::Error> {
        let names = LIKES.map(|like| like.name);
        OneOf(&names)
            .read(deserializer)
            .map(|position| LIKES[position])
    }
}

impl LogWrites {
    /// Those of the product that a profile calls `product`; `None`: not known.
    pub fn of(product: &str) -> Option<&'static LogWrites> {
        const ALL: [&LogWrites; 3] = [
            &postgres::LOG_WRITES,
            &mariadb::LOG_WRITES,
            &sqlserver::LOG_WRITES,
        ];
        ALL.into_iter()
            .find(|writes| writes.products.contains(&product))
    }
}

impl ProcessBytes {
    /// What the counter `name` of a server counts; `None` if that is anything else.
    pub fn counted(name: &str) -> Option<ProcessBytes> {
        postgres::PROCESS_IO.counted(name)
    }
}

impl WaitAdvice {
    /// What helps against `event`, of `object` where that is known; `None`: no advice.
    pub fn on(event: &str, object: Option<&str>) -> Option<&'static WaitAdvice> {
        sqlserver::WAITS.iter().find(|advice| {
            let is_meant = |name: &&str| match name.strip_suffix('*') {
                Some(start) => event.starts_with(start),
                None => event == *name,
            };
            advice.events.iter().any(is_meant)
                && (advice.object.is_none() || advice.object == object)
        })
    }
}
