//! A machine's list price.

use serde::Serialize;

/// Hours per month, as the vendors count them.
pub const HOURS: f64 = 730.0;

/// On-demand list price per hour in US dollars, without disks.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct HourlyPrice {
    /// With Linux; `None` if unknown.
    pub linux: Option<f64>,
    /// With Windows; `None` if unknown.
    pub windows: Option<f64>,
}

impl HourlyPrice {
    /// Dollars for a month of 730 hours, with Linux.
    pub fn linux_per_month(&self) -> Option<f64> {
        self.linux.map(|usd| usd * HOURS)
    }

    /// Dollars for a month of 730 hours, with Windows.
    pub fn windows_per_month(&self) -> Option<f64> {
        self.windows.map(|usd| usd * HOURS)
    }
}

/// Assumptions in place of unpublished prices, with the reason.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PriceAssumed {
    /// For the price with Linux.
    pub linux: Vec<String>,
    /// For the price with Windows.
    pub windows: Vec<String>,
}
