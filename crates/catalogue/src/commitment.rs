//! What is paid beside or instead of the list price of a machine or disk: commitments for years, and snapshots.

use super::source::Source;

/// What a commitment makes of the list price of a cloud's machines.
#[derive(Clone, Debug, PartialEq)]
pub struct Commitment {
    /// The cloud, as names of machines begin.
    pub cloud: String,
    /// Years.
    pub years: u32,
    /// Share of the list price with Linux that is paid, 0 to 1.
    pub share: f64,
    /// What it is called there.
    pub title: String,
    /// Where it comes from.
    pub sources: Vec<Source>,
    /// What is taken for granted, in a phrase.
    pub assumed: String,
}

/// What snapshots of disks cost.
#[derive(Clone, Debug, PartialEq)]
pub struct BackupPrice {
    /// The cloud, as names of machines begin.
    pub cloud: String,
    /// Dollars a month for each GiB that they take.
    pub usd_gib_month: f64,
    /// Where it comes from.
    pub sources: Vec<Source>,
}

impl BackupPrice {
    /// Whose list price it is, of which region, and its date.
    pub fn price_list(&self) -> Option<String> {
        self.sources.iter().find_map(Source::price_list)
    }
}
