//! What ships with the program, and what is added to it.

use std::collections::BTreeSet;

use super::catalogue::Catalogue;
use super::error::CatalogueError;
use super::{own_prices, read, tables};

/// The embedded files, ordered so that references resolve.
pub(super) const BUILTIN: [(&str, &str); 6] = [
    (
        "catalogue/machines.toml",
        include_str!("../entries/machines.toml"),
    ),
    (
        "catalogue/measured.toml",
        include_str!("../entries/measured.toml"),
    ),
    (
        "catalogue/azure.toml",
        include_str!("../entries/azure.toml"),
    ),
    ("catalogue/aws.toml", include_str!("../entries/aws.toml")),
    ("catalogue/gcp.toml", include_str!("../entries/gcp.toml")),
    (
        "catalogue/managed.toml",
        include_str!("../entries/managed.toml"),
    ),
];

/// Machines, one per row.
pub(super) const MACHINES: (&str, &str) = (
    "catalogue/machines.csv",
    include_str!("../entries/machines.csv"),
);

/// Host caching, one series per row.
const HOST_CACHES: (&str, &str) = (
    "catalogue/host_caches.csv",
    include_str!("../entries/host_caches.csv"),
);

/// Sizes with fewer processors than the size that they are made of, one per row.
const CONSTRAINED: (&str, &str) = (
    "catalogue/constrained.csv",
    include_str!("../entries/constrained.csv"),
);

/// Processors that can be left off, one machine per row.
const CPU_OPTIONS: (&str, &str) = (
    "catalogue/cpu_options.csv",
    include_str!("../entries/cpu_options.csv"),
);

/// Processors of series, one per row.
const PROCESSORS: (&str, &str) = (
    "catalogue/processors.csv",
    include_str!("../entries/processors.csv"),
);

/// What burstable machines may use of their processors in the long run, one machine per row.
const BURSTABLE: (&str, &str) = (
    "catalogue/burstable.csv",
    include_str!("../entries/burstable.csv"),
);

/// Prices of licences, one per row.
const LICENCES: (&str, &str) = (
    "catalogue/licences.csv",
    include_str!("../entries/licences.csv"),
);

/// What commitments make of prices, one cloud and term per row.
const COMMITMENTS: (&str, &str) = (
    "catalogue/commitments.csv",
    include_str!("../entries/commitments.csv"),
);

/// Prices of snapshots, one cloud per row.
const BACKUPS: (&str, &str) = (
    "catalogue/backups.csv",
    include_str!("../entries/backups.csv"),
);

/// What editions can use, one per row.
const EDITIONS: (&str, &str) = (
    "catalogue/editions.csv",
    include_str!("../entries/editions.csv"),
);

impl Catalogue {
    /// What ships with the program.
    ///
    /// # Panics
    /// When an embedded file does not parse; a test reads them all.
    pub fn builtin() -> Catalogue {
        let mut catalogue = Catalogue::default();
        for (file, text) in BUILTIN {
            if let Err(error) = catalogue.add(text, file) {
                panic!("the embedded catalogue is broken: {error}");
            }
        }
        let (file, text) = MACHINES;
        let tables = read::table(&mut catalogue, text, file)
            .and_then(|()| read::host_caches(&mut catalogue, HOST_CACHES.1, HOST_CACHES.0))
            .and_then(|()| tables::constrained(&mut catalogue, CONSTRAINED.1, CONSTRAINED.0))
            .and_then(|()| tables::cpu_options(&mut catalogue, CPU_OPTIONS.1, CPU_OPTIONS.0))
            .and_then(|()| tables::processors(&mut catalogue, PROCESSORS.1, PROCESSORS.0))
            .and_then(|()| tables::burstable(&mut catalogue, BURSTABLE.1, BURSTABLE.0))
            .and_then(|()| tables::licences(&mut catalogue, LICENCES.1, LICENCES.0))
            .and_then(|()| tables::editions(&mut catalogue, EDITIONS.1, EDITIONS.0))
            .and_then(|()| tables::commitments(&mut catalogue, COMMITMENTS.1, COMMITMENTS.0))
            .and_then(|()| tables::backups(&mut catalogue, BACKUPS.1, BACKUPS.0));
        if let Err(error) = tables {
            panic!("the embedded catalogue is broken: {error}");
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
