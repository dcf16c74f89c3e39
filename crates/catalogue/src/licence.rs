//! Licences of databases that are paid for by processor, apart from the machine: what they cost, and what their editions can use.

use model::Bytes;

use super::source::Source;

/// What a licence costs by the hour, where the database's vendor is paid through the cloud.
#[derive(Clone, Debug, PartialEq)]
pub struct LicenceRate {
    /// The database product, as profiles call it.
    pub product: String,
    /// Its edition, as [`Edition::name`].
    pub edition: String,
    /// The cloud, as names of machines begin.
    pub cloud: String,
    /// Whether it is with Windows (or else Linux); `None`: with both.
    pub windows: Option<bool>,
    /// Dollars an hour for each processor that is switched on.
    pub usd_hour_core: f64,
    /// The least number of processors that is charged.
    pub cores_min: u32,
    /// Whether it falls with the processors that are switched on; `false`: that is not known.
    pub counts_switched_on: bool,
    /// Whether the price of the operating system is in it.
    pub with_system: bool,
    /// Origin of its price, if not its sources.
    pub own_price_list: Option<String>,
    /// Where it comes from.
    pub sources: Vec<Source>,
    /// Assumptions in place of what was not published, with the reason.
    pub assumed: Vec<String>,
}

impl LicenceRate {
    /// Whose list price it is, and its date.
    pub fn price_list(&self) -> Option<String> {
        let of_sources = || self.sources.iter().find_map(Source::price_list);
        self.own_price_list.clone().or_else(of_sources)
    }
}

/// An edition of a licensed database, in some of its versions.
#[derive(Clone, Debug, PartialEq)]
pub struct Edition {
    /// The database product, as profiles call it.
    pub product: String,
    /// The edition in lower case: `standard`.
    pub name: String,
    /// Its name in sentences.
    pub title: String,
    /// The first major version for which this holds.
    pub from: u32,
    /// The last one; `None`: those after it too.
    pub until: Option<u32>,
    /// Logical processors of a virtual machine that it uses at most.
    pub cores_max: Option<u32>,
    /// Size of its buffer pool at most.
    pub memory_max: Option<Bytes>,
    /// Size of one database at most.
    pub database_max: Option<Bytes>,
    /// What of the largest edition it does not have, as far as that moves I/O or maintenance.
    pub lacks: Vec<String>,
    /// Whether it may not be used in production.
    pub not_for_production: bool,
    /// Where this comes from.
    pub sources: Vec<Source>,
}

impl Edition {
    /// Whether this holds for a major version.
    pub fn holds_for(&self, major: u32) -> bool {
        self.from <= major && self.until.is_none_or(|until| major <= until)
    }

    /// Processors that it uses of a machine's.
    pub fn cores_of(&self, cores: u32) -> u32 {
        self.cores_max.map_or(cores, |most| most.min(cores))
    }

    /// Whether a server that names its edition so has this one: `Standard Edition (64-bit)`.
    pub fn is_called(&self, text: &str) -> bool {
        let first = text.split([' ', ':']).next().unwrap_or_default();
        first.eq_ignore_ascii_case(&self.name)
    }
}
