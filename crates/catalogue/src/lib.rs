//! Disks, machines and managed tiers: what vendors sell, with source and date of every figure.
//!
//! The catalogue is data (`entries/*.toml`), so that a new disk is one entry and no code. A name
//! leads to an entry; an entry, with what the user asks of it, becomes a [`model::DiskSpec`]:
//!
//! ```text
//! file text, or a row -> wire -> read -> entries -> provision -> model::DiskSpec
//!                                                   -> model::MachineSpec
//! ```

mod after_stop;
mod class;
mod disk;
mod error;
mod host_caching;
mod latency;
mod limit_value;
mod limits;
mod machine;
mod near;
mod on_machines;
mod own_prices;
mod price;
mod read;
mod rows;
mod rule;
mod size;
mod source;
mod wire;

#[cfg(test)]
mod published;
#[cfg(test)]
mod published_prices;

use std::collections::{BTreeMap, BTreeSet};

pub use after_stop::AfterStop;
pub use class::Class;
pub use disk::{DiskEntry, Provision, Provisioned};
pub use error::CatalogueError;
pub use host_caching::{CACHED_LIMIT, HostCaching};
pub use latency::Latency;
pub use limit_value::{Ios, LimitValue};
pub use limits::{BurstRule, Bursts, Holds, Limit, Limits};
pub use machine::{HourlyPrice, MachineEntry, PriceAssumed};
use near::is_end;
pub use on_machines::{OnMachines, Published};
pub use price::{Parts, Price, Step};
pub use rule::{Linear, Rule, Share, Tier};
pub use size::SizeRule;
pub use source::{Confidence, Source};

/// The embedded files, ordered so that references resolve.
const BUILTIN: [(&str, &str); 6] = [
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
const MACHINES: (&str, &str) = (
    "catalogue/machines.csv",
    include_str!("../entries/machines.csv"),
);

/// Host caching, one series per row.
const HOST_CACHES: (&str, &str) = (
    "catalogue/host_caches.csv",
    include_str!("../entries/host_caches.csv"),
);

/// All known disks and machines, by name.
#[derive(Clone, Debug, Default)]
pub struct Catalogue {
    /// Sources that ship with the program.
    shipped_sources: BTreeMap<String, Source>,
    /// Sources of files that were added: the last one of each id.
    sources: BTreeMap<String, Source>,
    classes: BTreeMap<String, Class>,
    disks: BTreeMap<String, DiskEntry>,
    machines: BTreeMap<String, MachineEntry>,
    /// Other names of disks and machines, such as `aws.gp3` for the current rules of gp3.
    aliases: BTreeMap<String, String>,
}

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
            .and_then(|()| read::host_caches(&mut catalogue, HOST_CACHES.1, HOST_CACHES.0));
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

    /// Takes a share, 0 to 1, off every price.
    pub fn discount(&mut self, share: f64) {
        // Without floating-point error of the product.
        let off = format!("less {} %", (share * 1e4).round() / 1e2);
        for disk in self.disks.values_mut() {
            let list = disk.price_list();
            disk.own_price_list = list.map(|list| format!("{list}, {off}"));
            if let Some(price) = &mut disk.price {
                price.discount(share);
            }
        }
        for machine in self.machines.values_mut() {
            let list = machine.price_list();
            machine.own_price_list = list.map(|list| format!("{list}, {off}"));
            let less = |usd: Option<f64>| usd.map(|usd| usd * (1.0 - share));
            machine.price = machine.price.map(|price| HourlyPrice {
                linux: less(price.linux),
                windows: less(price.windows),
            });
        }
    }

    /// The disk of this name or alias.
    ///
    /// # Errors
    /// When it does not exist; the error lists the nearest names.
    pub fn disk(&self, name: &str) -> Result<&DiskEntry, CatalogueError> {
        let found = self.disks.get(self.unaliased(name));
        found.ok_or_else(|| CatalogueError::unknown("disk", name, self.names_of(&self.disks)))
    }

    /// The disks that `name` may refer to: the one of this name or alias, or else those whose name or alias ends in it after a
    /// dot, as `azure.premium.p30` for `P30`; case is ignored.
    pub fn disks_meant(&self, name: &str) -> Vec<&DiskEntry> {
        self.meant(&self.disks, name)
    }

    /// The machine of this name or alias.
    ///
    /// # Errors
    /// When it does not exist; the error lists the nearest names.
    pub fn machine(&self, name: &str) -> Result<&MachineEntry, CatalogueError> {
        let found = self.machines.get(self.unaliased(name));
        found.ok_or_else(|| CatalogueError::unknown("machine", name, self.names_of(&self.machines)))
    }

    /// The machines that `name` may refer to; see [`Catalogue::disks_meant`].
    pub fn machines_meant(&self, name: &str) -> Vec<&MachineEntry> {
        self.meant(&self.machines, name)
    }

    /// All disks, by name.
    pub fn disks(&self) -> impl Iterator<Item = &DiskEntry> {
        self.disks.values()
    }

    /// All machines, by name.
    pub fn machines(&self) -> impl Iterator<Item = &MachineEntry> {
        self.machines.values()
    }

    /// The names of `entries` and their aliases.
    fn names_of<'a, T>(
        &'a self,
        entries: &'a BTreeMap<String, T>,
    ) -> impl Iterator<Item = &'a String> + Clone {
        let aliases = self.aliases.iter();
        let aliases = aliases.filter(|(_, name)| entries.contains_key(*name));
        entries.keys().chain(aliases.map(|(alias, _)| alias))
    }

    fn meant<'a, T>(&'a self, entries: &'a BTreeMap<String, T>, name: &str) -> Vec<&'a T> {
        if let Some(entry) = entries.get(self.unaliased(name)) {
            return vec![entry];
        }
        let ends = self.names_of(entries).filter(|known| is_end(known, name));
        let names: BTreeSet<&str> = ends.map(|known| self.unaliased(known)).collect();
        names
            .into_iter()
            .filter_map(|name| entries.get(name))
            .collect()
    }

    fn unaliased<'a>(&'a self, name: &'a str) -> &'a str {
        self.aliases.get(name).map_or(name, String::as_str)
    }
}

#[cfg(test)]
mod tests {
    use model::{Bytes, Iops, Rate, Throughput};
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn the_embedded_files_parse_and_every_disk_that_needs_no_size_is_provisioned() {
        let catalogue = Catalogue::builtin();
        assert!(catalogue.disks().count() > 80);
        assert!(catalogue.machines().count() > 1_100);
        for disk in catalogue.disks() {
            if matches!(disk.size, SizeRule::Fixed(_)) {
                let provisioned = disk.provision(&Provision::default()).expect(&disk.name);
                assert!(!provisioned.spec.limits.is_empty(), "{}", disk.name);
            }
        }
    }

    #[test]
    fn an_unknown_name_is_answered_with_the_near_ones() {
        let catalogue = Catalogue::builtin();
        let error = catalogue.disk("azure.premium.p3O").expect_err("a typo");
        assert!(error.to_string().contains("azure.premium.p30"), "{error}");
        let error = catalogue.machine("azure.ds2").expect_err("wrong case");
        assert!(error.to_string().contains("azure.DS2"), "{error}");
    }

    #[test]
    fn the_end_of_a_name_means_its_disk_and_an_unknown_name_says_how_names_begin() {
        let catalogue = Catalogue::builtin();
        let meant = |name: &str| {
            let disks = catalogue.disks_meant(name);
            let names: Vec<_> = disks.iter().map(|disk| disk.name.as_str()).collect();
            names.join(" ")
        };
        assert_eq!(meant("P30"), "azure.premium.p30");
        assert_eq!(meant("gp3"), "aws.gp3.2025", "an alias");
        assert_eq!(meant("premium"), "");
        let machines = catalogue.machines_meant("ds14_V2");
        assert_eq!(machines[0].name, "azure.DS14_v2");

        let error = catalogue.disk("p30").expect_err("a part").to_string();
        let question = "`p30` in the catalogue (did you mean `azure.premium.p30`?);";
        assert!(error.contains(question), "{error}");
        let error = catalogue.disk("generic").expect_err("unknown").to_string();
        let begin = "(names begin with `aws`, `azure`, `gcp` or `measured`)";
        assert!(error.contains(begin), "{error}");
    }

    /// Rows, counted over by hand from the sources that they name.
    #[test]
    fn a_row_is_a_machine_with_its_limits_disks_and_price() {
        let catalogue = Catalogue::builtin();
        let machine = |name: &str| catalogue.machine(name).expect("it is a row");
        let d2ads = machine("azure.D2ads_v5");
        assert_eq!((d2ads.spec.cores, d2ads.spec.memory), (2, Bytes::gib(8)));
        let price = d2ads.price.expect("it has one");
        assert_eq!(price.linux_per_month(), Some(0.103 * 730.0));
        assert_eq!(price.windows_per_month(), Some(0.195 * 730.0));
        assert_eq!(
            d2ads.price_list().as_deref(),
            Some("Azure eastus, 2026-06-18")
        );
        // 3,750 IOPS, 10,000 for half an hour; 82 MB/s, 600.
        let uncached = &d2ads.spec.limits["uncached"];
        assert_eq!(uncached[0].rate, Rate::Iops(Iops(3_750)));
        let burst = uncached[0].burst.expect("it bursts");
        assert_eq!((burst.rate, burst.credits), (10_000, 6_250 * 1_800));
        let rate = Rate::Throughput(Throughput::from_mb_per_s(82));
        assert_eq!(uncached[1].rate, rate);
        let local = d2ads.spec.local_disk.as_ref().expect("it has one");
        assert_eq!((d2ads.local_disks, local.size), (Some(1), Bytes::gib(75)));
        assert_eq!(d2ads.local_disks_raw, Some(false));

        // Hyperdisk has another limit on machines where it was found.
        let n4 = machine("gcp.n2-standard-8");
        assert!(
            n4.price.is_some(),
            "a TOML file has its limits, the row its price"
        );
        assert!(n4.spec.limits.contains_key("pd-balanced"));

        // The row's figures are for all four disks together.
        let i4i = machine("aws.i4i.16xlarge");
        let local = i4i.spec.local_disk.as_ref().expect("it has some");
        let Rate::Iops(reads) = local.limits[0].rate else {
            panic!("{local:?}");
        };
        assert_eq!(i4i.local_disks, Some(4));
        assert_eq!(4 * reads.0, 1_600_000);
    }

    #[test]
    fn a_broken_row_is_reported_with_its_line() {
        let (file, text) = MACHINES;
        let broken = |from: &str, to: &str| {
            let mut catalogue = Catalogue::builtin();
            let text = text.replacen(from, to, 1);
            let error = read::table(&mut catalogue, &text, file).expect_err(to);
            error.to_string()
        };
        // Six lines of comment, the names of columns, and then the first row.
        let error = broken("azure.D2ads_v5,Dadsv5,,2,", "azure.D2ads_v5,Dadsv5,,two,");
        assert!(error.starts_with("catalogue/machines.csv:8: "), "{error}");
        let error = broken("win-2023-adder", "win-2032-adder");
        assert!(error.contains("no flag `win-2032-adder`"), "{error}");
        let error = broken(",uncached,", ",unached,");
        assert!(error.contains("`unached`"), "{error}");
    }

    #[test]
    fn every_price_has_a_region() {
        for machine in Catalogue::builtin().machines() {
            let (has_list, has_price) = (machine.price_list().is_some(), machine.price.is_some());
            assert_eq!(has_list, has_price, "{}", machine.name);
        }
        for disk in Catalogue::builtin().disks() {
            assert_eq!(
                disk.price_list().is_some(),
                disk.price.is_some(),
                "{}",
                disk.name
            );
        }
    }

    #[test]
    fn an_alias_leads_to_the_entry() {
        let catalogue = Catalogue::builtin();
        assert_eq!(
            catalogue.disk("aws.gp3").expect("alias").name,
            "aws.gp3.2025"
        );
    }

    #[test]
    fn a_users_file_may_use_the_classes_that_ship() {
        let mut catalogue = Catalogue::builtin();
        let text = r#"
            [source.lab]
            title = "our own measurement"
            date = "2026-03-01"
            [disk."lab.nvme"]
            class = "local-nvme"
            title = "the lab's NVMe"
            size = "1 TB"
            iops = 400_000
            throughput = "3 GB/s"
            confidence = "measured"
            sources = ["lab"]
        "#;
        catalogue.add(text, "lab.toml").expect("a valid file");
        let disk = catalogue.disk("lab.nvme").expect("it was added");
        assert_eq!(disk.sources[0].title, "our own measurement");
    }

    #[test]
    fn a_mistake_is_reported_with_its_file_and_line_and_changes_nothing() {
        let mut catalogue = Catalogue::builtin();
        let before = catalogue.disks().count();
        let text = "[source.lab]\ntitle = \"x\"\ndate = \"2026\"\n\n[disk.a]\nclass = \"local-nvm\"\ntitle = \"t\"\n\
                    size = \"1 TB\"\nconfidence = \"measured\"\nsources = [\"lab\"]\n";
        let error = catalogue.add(text, "lab.toml").expect_err("no such class");
        assert!(error.to_string().starts_with("lab.toml:5: "), "{error}");
        assert!(error.to_string().contains("`local-nvme`"), "{error}");
        assert_eq!(catalogue.disks().count(), before);
    }

    #[test]
    fn a_machine_costs_more_than_nothing_and_less_than_the_world() {
        let added = |price: &str| {
            let text = format!(
                "[source.lab]\ntitle = \"x\"\ndate = \"2026\"\n[machine.m]\ncores = 4\nmemory = \"8 GiB\"\n\
                 confidence = \"assumed\"\nsources = [\"lab\"]\nprice = {{ {price} }}\n"
            );
            Catalogue::builtin().add(&text, "lab.toml")
        };
        assert_eq!(added("linux = 1e9").map_err(|e| e.to_string()), Ok(()));
        for (price, part) in [
            ("linux = 1e308", "is not a price"),
            ("linux = inf", "is not a price"),
            ("windows = nan", "is not a price"),
            ("linux = 1, windows = -1", "-1 is not a price"),
            ("linux = 0.0", "is not above zero"),
        ] {
            let error = added(price).expect_err(price).to_string();
            let key = price
                .rsplit(", ")
                .next()
                .and_then(|last| last.split(' ').next());
            for part in [
                "lab.toml:4",
                "`m`",
                part,
                key.expect("it begins with a key"),
            ] {
                assert!(error.contains(part), "{price}: no {part}: {error}");
            }
        }
    }

    #[test]
    fn a_name_is_not_silently_defined_twice() {
        let mut catalogue = Catalogue::builtin();
        let text = "[source.aws-ebs-2023]\ntitle = \"x\"\ndate = \"2026\"\n";
        let error = catalogue.add(text, "mine.toml").expect_err("already there");
        assert!(error.to_string().contains("already defined"), "{error}");
    }

    #[test]
    fn two_files_may_call_their_sources_alike() {
        let mut catalogue = Catalogue::builtin();
        for name in ["a", "b"] {
            let text = format!(
                "[source.lab]\ntitle = \"of {name}\"\ndate = \"2026\"\n\n[disk.{name}]\nclass = \"local-nvme\"\ntitle = \"t\"\n\
                 size = \"1 TB\"\niops = 1000\nthroughput = \"100 MB/s\"\nconfidence = \"measured\"\nsources = [\"lab\"]\n"
            );
            let file = format!("{name}.toml");
            catalogue
                .add(&text, &file)
                .expect("its sources are its own");
        }
        for name in ["a", "b"] {
            let disk = catalogue.disk(name).expect("it was added");
            assert_eq!(disk.sources[0].title, format!("of {name}"));
        }
    }

    /// Lines of a catalogue file, valid and invalid.
    fn line() -> impl Strategy<Value = String> {
        const PAIR: &str = concat!(
            "(title|date|size|iops|throughput|class|sources|read|burst|confidence|price)",
            " = (\"[ -~]{0,12}\"|-?[0-9]{1,20}(\\.[0-9]+)?|\\{[ -~]{0,24}\\}|\\[[ -~]{0,8}\\])",
        );
        prop_oneof![
            "\\[(source|class|disk|machine)\\.[a-c]\\]",
            PAIR,
            "\\PC{0,20}"
        ]
    }

    proptest! {
        #[test]
        fn no_text_makes_add_panic(text in "\\PC*") {
            let _ = Catalogue::default().add(&text, "fuzz.toml");
        }

        #[test]
        fn no_damage_to_a_catalogue_makes_add_panic(
            at in 0usize..6000,
            gone in 0usize..8,
            text in "[ -~]{0,4}",
        ) {
            let mut damaged: Vec<u8> = BUILTIN[0].1.bytes().collect();
            let start = at.min(damaged.len());
            let end = (start + gone).min(damaged.len());
            damaged.splice(start..end, text.bytes());
            let _ = Catalogue::default().add(&String::from_utf8_lossy(&damaged), "fuzz.toml");
        }

        #[test]
        fn no_near_catalogue_makes_add_panic(lines in prop::collection::vec(line(), 0..20)) {
            let _ = Catalogue::default().add(&lines.join("\n"), "fuzz.toml");
        }
    }
}
