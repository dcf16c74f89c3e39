//! What was asked for.

use std::borrow::Cow;

use reading::Role;
use serde::{Deserialize, Serialize};

use crate::report::advice::money::Currency;

/// The request.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Conditions {
    /// File of the profile.
    pub profile: String,
    /// Name prefixes of allowed machines and disks.
    pub cloud: Option<String>,
    /// By what share operations may take longer than today.
    pub slower_max: f64,
    /// Maximum price a month, in dollars.
    pub budget_usd_per_month: Option<f64>,
    /// Whether a bound answers alone, and no layout was simulated; absent where they were.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub quick: bool,
    /// The load that a layout must carry, as a multiple of today's.
    pub growth: f64,
    /// The currency in which prices are shown. All prices of this document are in US dollars.
    pub currency: Currency,
    /// The operating system of machines: Linux or Windows.
    pub system: Cow<'static, str>,
    /// The licence of the database; absent where it needs none, or its edition is not known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub licence: Option<Licence>,
    /// Further servers with the same machine and disks.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub replicas: u32,
    /// Years that machines are committed to; absent on demand.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub commitment_years: Option<u32>,
    /// Days for which backups are kept; absent where none are paid.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub backup_days: u32,
    /// Bytes that must fit, by the files that share them.
    pub capacity: Vec<Capacity>,
    /// Least main memory, in bytes.
    pub memory: u64,
}

impl Conditions {
    /// On which terms machines are paid.
    pub(in crate::report::advice) fn term(&self) -> String {
        match self.commitment_years {
            None => "on demand".to_owned(),
            Some(1) => "committed for 1 year".to_owned(),
            Some(years) => format!("committed for {years} years"),
        }
    }
}

/// A licence of the database.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Licence {
    /// The product.
    pub product: String,
    /// Its edition.
    pub edition: String,
    /// How it is paid for: `payg` by the hour, or `own`.
    pub model: Cow<'static, str>,
    /// Dollars a year for each core of the user's own licences; `None` by the hour.
    pub own_usd_per_core_year: Option<f64>,
    /// Whether one of the replicas is passive, and needs none.
    pub passive_secondary: bool,
}

/// Files, and their size.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Capacity {
    /// What files are for.
    pub roles: Vec<Role>,
    /// Bytes.
    pub bytes: u64,
}

fn is_zero(number: &u32) -> bool {
    *number == 0
}
