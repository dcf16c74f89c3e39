//! What ships with the program, and what is added to it.

use std::collections::BTreeSet;

use super::catalogue::Catalogue;
use super::error::CatalogueError;
use super::{own_prices, read, service_rows, services, tables};

/// An embedded file: its name in messages, and its text.
macro_rules! embedded {
    ($name:literal) => {
        (
            concat!("catalogue/", $name),
            include_str!(concat!("../entries/", $name)),
        )
    };
}

/// The embedded files, ordered so that references resolve.
pub(super) const BUILTIN: [(&str, &str); 6] = [
    embedded!("machines.toml"),
    embedded!("measured.toml"),
    embedded!("azure.toml"),
    embedded!("aws.toml"),
    embedded!("gcp.toml"),
    embedded!("managed.toml"),
];

/// Machines, one per row.
pub(super) const MACHINES: (&str, &str) = embedded!("machines.csv");

/// Adds the rows of a table: its text, and its name in messages.
type Add = fn(&mut Catalogue, &str, &str) -> Result<(), CatalogueError>;

/// The embedded tables, ordered likewise: what reads a row, and what has the rows.
const TABLES: [(Add, (&str, &str)); 13] = [
    (read::table, MACHINES),
    // A series' host caching.
    (read::host_caches, embedded!("host_caches.csv")),
    // Sizes with fewer processors than the size that they are made of.
    (tables::constrained, embedded!("constrained.csv")),
    // Processors of a machine that can be left off.
    (tables::cpu_options, embedded!("cpu_options.csv")),
    (tables::visible_cores, embedded!("visible_cores.csv")),
    // Processors of series.
    (tables::processors, embedded!("processors.csv")),
    // What a burstable machine may use of its processors in the long run.
    (tables::burstable, embedded!("burstable.csv")),
    // Prices of licences, and what editions can use.
    (tables::licences, embedded!("licences.csv")),
    (tables::editions, embedded!("editions.csv")),
    // What a commitment for a term makes of the prices of a cloud, and its price of snapshots.
    (tables::commitments, embedded!("commitments.csv")),
    (tables::backups, embedded!("backups.csv")),
    // Managed services and their storage types, and classes of them.
    (services::file, embedded!("services.toml")),
    (service_rows::table, embedded!("service_classes.csv")),
];

impl Catalogue {
    /// What ships with the program.
    ///
    /// # Panics
    /// When an embedded file does not parse; a test reads them all.
    pub fn builtin() -> Catalogue {
        let mut catalogue = Catalogue::default();
        let files = BUILTIN.map(|embedded| (read::file as Add, embedded));
        for (add, (file, text)) in files.into_iter().chain(TABLES) {
            if let Err(error) = add(&mut catalogue, text, file) {
                panic!("the embedded catalogue is broken: {error}");
            }
        }
        catalogue.shipped_sources = std::mem::take(&mut catalogue.sources);
        catalogue
    }

    /// Adds the entries of a file of the same format; they may refer to sources, classes and disks
    /// that already exist. A source may reuse an id of another added file: entries keep their own.
    ///
    /// # Errors
    /// When the text is not a catalogue file, refers to something unknown, or defines a name again.
    /// The catalogue is then unchanged.
    pub fn add(&mut self, text: &str, file: &str) -> Result<(), CatalogueError> {
        let mut next = self.clone();
        read::file(&mut next, text, file)?;
        *self = next;
        Ok(())
    }

    /// Puts the prices of a table (`name,usd,per`; per hour, month, GiB, IOPS, MB/s or MiB/s) in place of list prices. Returns
    /// the names of the entries whose price changed.
    ///
    /// # Errors
    /// The first invalid row, with its line. The catalogue is then unchanged.
    pub fn add_prices(
        &mut self,
        text: &str,
        file: &str,
    ) -> Result<BTreeSet<String>, CatalogueError> {
        let mut next = self.clone();
        let names = own_prices::add(&mut next, text, file)?;
        *self = next;
        Ok(names)
    }
}
