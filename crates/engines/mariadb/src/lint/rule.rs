//! A rule for MariaDB and MySQL, and the products that it applies to.

use crate::capture::{Capture, Product};

/// A rule for MariaDB and MySQL.
pub type Rule = rules::Rule<Capture, Applies>;

/// Products that a rule applies to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Applies {
    /// At least one.
    pub products: &'static [Product],
}

impl Applies {
    /// MariaDB and MySQL.
    pub const BOTH: Applies = Applies {
        products: &[Product::MariaDb, Product::MySql],
    };

    /// MariaDB only.
    pub const MARIADB: Applies = Applies {
        products: &[Product::MariaDb],
    };
}
