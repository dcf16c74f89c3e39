//! What a search finds in the catalogue: parts of names, ranges of amounts, in natural order.

use std::collections::BTreeSet;

use model::Bytes;

use super::{Catalogue, CatalogueError, DiskEntry, MachineEntry, Range};

/// Which machines are asked for.
#[derive(Clone, Copy, Debug, Default)]
pub struct MachineQuery<'a> {
    /// Part of a name or title; where one machine is meant, it alone is found.
    pub pattern: &'a str,
    /// How names begin.
    pub cloud: Option<&'a str>,
    /// Number of virtual processors.
    pub cores: Option<Range<u32>>,
    /// Amount of memory.
    pub memory: Option<Range<Bytes>>,
    /// What comes first.
    pub order: Order,
}

/// What machines are ordered by; those of which it is not known come last.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Order {
    /// Name.
    #[default]
    Name,
    /// Price with Linux, the cheapest first.
    Price,
    /// Number of processors, the fewest first.
    Cores,
    /// Memory, the least first.
    Memory,
}

/// Why a search finds nothing.
#[derive(Debug, thiserror::Error)]
pub enum QueryError {
    /// No name is like this.
    #[error("{0}")]
    Unknown(#[from] CatalogueError),
    /// No machine is of this cloud.
    #[error("--cloud {cloud}: there is no such cloud; give {known}")]
    Cloud {
        /// What was asked for.
        cloud: String,
        /// The clouds that there are.
        known: String,
    },
    /// Machines are of this name, but none is of this size or cloud.
    #[error("no machine is like this; ask for other cores or memory, or leave --cloud out")]
    Nothing,
}

impl Catalogue {
    /// The disk that `pattern` means, or all whose name, title or class contains it, ignoring case, in natural order; not empty.
    ///
    /// # Errors
    /// When there is none; the error lists the nearest names.
    pub fn find_disks(&self, pattern: &str) -> Result<Vec<&DiskEntry>, CatalogueError> {
        let is_found = |disk: &&DiskEntry| {
            let titles = [disk.title.as_str(), disk.class.title.as_str()];
            contains(pattern, &disk.name, &titles, &disk.aliases)
        };
        let mut disks = match self.disks_meant(pattern).as_slice() {
            [one] => vec![*one],
            _ => self.disks().filter(is_found).collect(),
        };
        if disks.is_empty() {
            disks.push(self.disk(pattern)?);
        }
        disks.sort_by_cached_key(|disk| natural_key(&disk.name));
        Ok(disks)
    }

    /// The machines that a query asks for; not empty. A class of a service is found by its whole name alone.
    ///
    /// # Errors
    /// When there is none.
    pub fn find_machines(&self, query: &MachineQuery) -> Result<Vec<&MachineEntry>, QueryError> {
        let is_found = |machine: &&MachineEntry| {
            let titles = [machine.title.as_str()];
            contains(query.pattern, &machine.name, &titles, &machine.aliases)
        };
        let mut machines = match self.machines_meant(query.pattern).as_slice() {
            [one] => vec![*one],
            _ => self.machines().filter(is_found).collect(),
        };
        if machines.is_empty() {
            machines.push(self.machine(query.pattern)?);
        }
        if let Some(cloud) = query.cloud {
            self.check_cloud(cloud)?;
        }
        machines.retain(|machine| query.asks_for(machine));
        if machines.is_empty() {
            return Err(QueryError::Nothing);
        }
        machines.sort_by_cached_key(|machine| natural_key(&machine.name));
        let price = |machine: &MachineEntry| linux_per_month(machine).unwrap_or(f64::INFINITY);
        match query.order {
            Order::Name => {}
            Order::Price => machines.sort_by(|a, b| price(a).total_cmp(&price(b))),
            Order::Cores => machines.sort_by_key(|machine| machine.spec.cores),
            Order::Memory => machines.sort_by_key(|machine| machine.spec.memory),
        }
        Ok(machines)
    }

    fn check_cloud(&self, cloud: &str) -> Result<(), QueryError> {
        let known: BTreeSet<&str> = self.machines().map(cloud_of).collect();
        if known.iter().any(|name| name.eq_ignore_ascii_case(cloud)) {
            return Ok(());
        }
        let known: Vec<&str> = known.into_iter().collect();
        Err(QueryError::Cloud {
            cloud: cloud.to_owned(),
            known: known.join(", "),
        })
    }
}

impl MachineQuery<'_> {
    fn asks_for(&self, machine: &MachineEntry) -> bool {
        let is_of_cloud = |cloud: &str| cloud_of(machine).eq_ignore_ascii_case(cloud);
        self.cloud.is_none_or(is_of_cloud)
            && (self.cores).is_none_or(|range| range.holds(machine.spec.cores))
            && (self.memory).is_none_or(|range| range.holds(machine.spec.memory))
    }
}

fn cloud_of(machine: &MachineEntry) -> &str {
    let name = machine.name.as_str();
    name.split_once('.').map_or(name, |(cloud, _)| cloud)
}

/// List price in dollars a month, with Linux.
fn linux_per_month(machine: &MachineEntry) -> Option<f64> {
    machine.price?.linux_per_month()
}

/// Whether a name, title or alias contains the pattern, ignoring case.
fn contains(pattern: &str, name: &str, titles: &[&str], aliases: &[String]) -> bool {
    let wanted = pattern.to_lowercase();
    let aliases = aliases.iter().map(String::as_str);
    let mut texts = [name]
        .into_iter()
        .chain(titles.iter().copied())
        .chain(aliases);
    texts.any(|text| text.to_lowercase().contains(&wanted))
}

/// A key that sorts `p4` before `p10`: runs of digits as numbers.
fn natural_key(name: &str) -> Vec<(String, u64)> {
    let mut key = Vec::new();
    let mut rest = name;
    while !rest.is_empty() {
        let digits_at = rest
            .find(|c: char| c.is_ascii_digit())
            .unwrap_or(rest.len());
        let (text, tail) = rest.split_at(digits_at);
        let digits_end = tail
            .find(|c: char| !c.is_ascii_digit())
            .unwrap_or(tail.len());
        let (digits, tail) = tail.split_at(digits_end);
        key.push((text.to_owned(), digits.parse().unwrap_or(0)));
        rest = tail;
    }
    key
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(entries: &[&DiskEntry]) -> Vec<String> {
        entries.iter().map(|entry| entry.name.clone()).collect()
    }

    #[test]
    fn a_part_of_a_name_finds_what_contains_it_in_natural_order() {
        let catalogue = Catalogue::builtin();
        let found = names(&catalogue.find_disks("PREMIUM.P").expect("several"));
        let at = |name: &str| found.iter().position(|found| found == name).expect(name);
        assert!(at("azure.premium.p4") < at("azure.premium.p10"));
        assert!(found.iter().all(|name| name.contains("premium.p")));
    }

    #[test]
    fn a_name_or_part_that_only_one_disk_has_finds_it_alone() {
        let catalogue = Catalogue::builtin();
        for one in ["azure.premium.p30", "p30", "Premium.P30", "premium ssd p30"] {
            let found = names(&catalogue.find_disks(one).expect(one));
            assert_eq!(found, ["azure.premium.p30"], "{one}");
        }
    }

    #[test]
    fn machines_of_a_size_come_cheapest_first_and_those_without_a_price_last() {
        let catalogue = Catalogue::builtin();
        let query = MachineQuery {
            cores: Some("8-16".parse().expect("a range")),
            cloud: Some("AWS"),
            order: Order::Price,
            ..MachineQuery::default()
        };
        let found = catalogue.find_machines(&query).expect("several");
        assert!(found.iter().all(|machine| {
            machine.name.starts_with("aws.") && (8..=16).contains(&machine.spec.cores)
        }));
        let prices = found
            .iter()
            .map(|machine| linux_per_month(machine).unwrap_or(f64::INFINITY));
        assert!(prices.is_sorted());
    }

    #[test]
    fn what_is_not_found_is_answered_with_what_there_is() {
        let catalogue = Catalogue::builtin();
        let error = |query: MachineQuery| {
            let found = catalogue.find_machines(&query);
            found.expect_err("no such machine").to_string()
        };
        let pattern = "azure.DS14_v22";
        let unknown = error(MachineQuery {
            pattern,
            ..MachineQuery::default()
        });
        assert!(unknown.contains("`azure.DS14_v2`"), "{unknown}");
        let cloud = error(MachineQuery {
            cloud: Some("oracle"),
            ..MachineQuery::default()
        });
        assert!(cloud.contains("give aws, azure"), "{cloud}");
        let typo = catalogue
            .find_disks("azure.premum.p30")
            .expect_err("a typo");
        assert!(typo.to_string().contains("azure.premium.p30"), "{typo}");
    }
}
