//! Whether a machine's host caches its remote disks: with a known size, with an unknown size, or not at all.

use std::collections::BTreeMap;

use model::{Bytes, HostCacheSpec, LatencySpec};
use serde::Deserialize;

use super::class::Class;
use super::each_row::{RowError, each};
use super::source::Source;

/// Whether a machine's host caches its remote disks, and what is known about it.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum HostCaching {
    /// Its size is known: [`model::MachineSpec::host_cache`].
    Sized,
    /// It caches; the size is not published.
    SizeUnknown {
        /// How long requests take in it.
        latencies: CacheLatencies,
        /// Source of the claim that it caches.
        source: Source,
    },
    /// The vendor states that it does not.
    Unsupported {
        /// Where.
        source: Source,
    },
    /// The catalogue has no entry for it: only Azure caches on its hosts.
    #[default]
    NotInCatalogue,
}

/// How long requests take in a host cache.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CacheLatencies {
    /// Of a hit: a read of the local SSDs that it is on.
    pub hit: LatencySpec,
    /// Of a write through a read-only one, beyond the disk's.
    pub through: LatencySpec,
}

impl CacheLatencies {
    /// Those of a cache on disks of `class`.
    pub(super) fn on(class: &Class) -> CacheLatencies {
        let through = class.through_cache.as_ref();
        CacheLatencies {
            hit: class.read.spec,
            through: through.map_or(LatencySpec::ZERO, |latency| latency.spec),
        }
    }

    /// A cache of this size, behind the machine's limit of this name.
    pub fn cache(self, size: Bytes, limit: String) -> HostCacheSpec {
        HostCacheSpec {
            size,
            hit_latency: self.hit,
            through_latency: self.through,
            limit,
        }
    }
}

/// Name of the machine limit on requests through the host cache.
pub const CACHED_LIMIT: &str = "cached";

/// Known host caching of series, by name.
#[derive(Default)]
pub(super) struct Series(BTreeMap<String, Row>);

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Row {
    family: String,
    caches: Answer,
    except: String,
    page: String,
    commit: String,
    date: String,
}

#[derive(Clone, Copy, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Answer {
    Yes,
    No,
}

impl Series {
    /// Reads a table; lines that begin with `#` are comments.
    ///
    /// # Errors
    /// The first invalid line.
    pub(super) fn read(text: &str) -> Result<Series, RowError> {
        let mut series = Series::default();
        each(text, |_, row: Row| {
            series.0.insert(row.family.clone(), row);
            Ok(())
        })?;
        Ok(series)
    }

    /// Host caching of the machine `name` of `family`, in which requests take `latencies` where it caches.
    pub(super) fn of(&self, family: &str, name: &str, latencies: CacheLatencies) -> HostCaching {
        let Some(row) = self.0.get(family) else {
            return HostCaching::NotInCatalogue;
        };
        let source = row.source();
        let is_exception = name
            .strip_prefix("azure.")
            .is_some_and(|size| size == row.except);
        match (row.caches, is_exception) {
            (Answer::Yes, false) | (Answer::No, true) => {
                HostCaching::SizeUnknown { latencies, source }
            }
            (Answer::No, false) | (Answer::Yes, true) => HostCaching::Unsupported { source },
        }
    }
}

impl Row {
    fn source(&self) -> Source {
        const PAGES: &str = "https://github.com/MicrosoftDocs/azure-compute-docs/blob";
        let Row {
            family,
            page,
            commit,
            date,
            ..
        } = self;
        Source {
            id: format!("host-cache-{family}"),
            title: format!("{family}: Premium Storage caching"),
            url: Some(format!(
                "{PAGES}/{commit}/articles/virtual-machines/sizes/{page}"
            )),
            date: date.clone(),
            note: None,
            prices: None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::Catalogue;
    use super::*;

    fn caching(machine: &str) -> HostCaching {
        let catalogue = Catalogue::builtin();
        let machine = catalogue.machine(machine).expect("it is in the catalogue");
        machine.host_caching.clone()
    }

    #[test]
    fn three_cases_are_told_apart() {
        for sized in ["azure.E8s_v3", "azure.D8ds_v4", "azure.DS1"] {
            assert_eq!(caching(sized), HostCaching::Sized, "{sized}");
        }
        for unknown in [
            "azure.E8ds_v5",
            "azure.D8ds_v5",
            "azure.D32ads_v7",
            "azure.L8s_v4",
        ] {
            let caching = caching(unknown);
            assert!(
                matches!(caching, HostCaching::SizeUnknown { .. }),
                "{unknown}: {caching:?}"
            );
        }
        for without in [
            "azure.L8s_v3",
            "azure.L96s_v4",
            "azure.L96as_v4",
            "azure.L32aos_v4",
        ] {
            let caching = caching(without);
            assert!(
                matches!(caching, HostCaching::Unsupported { .. }),
                "{without}: {caching:?}"
            );
        }
        assert_eq!(caching("aws.m6i.large"), HostCaching::NotInCatalogue);
    }

    #[test]
    fn one_of_a_known_size_is_behind_a_limit() {
        for machine in Catalogue::builtin().machines() {
            let limit = machine.spec.host_cache.as_ref().map(|cache| &cache.limit);
            assert_eq!(
                machine.host_caching == HostCaching::Sized,
                limit.is_some_and(|limit| machine.spec.limits.contains_key(limit)),
                "{}",
                machine.name
            );
        }
    }

    /// A missing one would be rejected with "not in the catalogue", although its vendor's page says more.
    #[test]
    fn every_series_of_the_table_of_machines_has_an_answer() {
        let catalogue = Catalogue::builtin();
        let machines = catalogue.machines();
        let mut azure = machines
            .filter(|machine| machine.name.starts_with("azure.") && !machine.family.is_empty());
        let silent = azure.find(|machine| machine.host_caching == HostCaching::NotInCatalogue);
        assert!(silent.is_none(), "{silent:?}");
    }
}
