//! Layouts on three clouds, each with its bill summed by hand.

use std::collections::{BTreeMap, BTreeSet};

use analysis::report::advice::document::Volume;
use catalogue::{Edition, Provision};
use model::{Bytes, Iops, Throughput};
use reading::Role;

use super::*;
use crate::licence::Licence;
use crate::need::TempOn;
use crate::services::Services;
use crate::tariff::{Backup, Tariff};

/// The licensed product of the catalogue.
const PRODUCT: &str = "SQL Server";

/// What is bought: a machine, with so many of its cores (one thread each) if not all, and volumes: name, disk, count, what is
/// provisioned, requests per second to each.
struct Bill<'a> {
    machine: &'a str,
    cores: Option<u32>,
    system: System,
    tariff: Tariff,
    volumes: &'a [(&'a str, &'a str, u32, Provision, f64)],
}

impl Bill<'_> {
    fn lines(&self) -> Vec<Line> {
        let catalogue = Catalogue::builtin();
        let servers = self.tariff.servers();
        let volume = |(name, disk, count, asked, per_s): &(&str, &str, u32, Provision, f64)| {
            let disk = catalogue.disk(disk).expect("it is there");
            let usd = disk.provision(asked).expect("it is sold").usd_per_month;
            let usd = usd.expect("it has a price") * f64::from(*count) * servers;
            let requests = disk.requests.map(|price| price.usd_per_month(*per_s));
            let requests = requests.map(|usd| usd * f64::from(*count) * servers);
            Volume {
                name: (*name).to_owned(),
                roles: Role::COMMON.into(),
                disk: disk.name.clone(),
                count: *count,
                size: None,
                iops: None,
                throughput: None,
                usd_per_month: Some(usd + requests.unwrap_or_default()),
                requests_usd_per_month: requests,
                forgets: false,
            }
        };
        let need = Need {
            holdings: Vec::new(),
            separate: BTreeSet::new(),
            memory: Bytes::ZERO,
            cores: 0,
            cloud: None,
            region: None,
            machine: None,
            today: None,
            machine_pattern: None,
            arm: false,
            any_generation: false,
            processor: None,
            disks: BTreeSet::new(),
            disks_max: None,
            temp: TempOn::Any,
            services: Services::default(),
            system: self.system,
            tariff: self.tariff.clone(),
        };
        let layout = Layout {
            machine: Some(self.machine.to_owned()),
            switched_on: self.cores.map(|cores| SwitchedOn { cores, threads: 1 }),
            processors_used: None,
            machine_usd_per_month: None,
            volumes: self.volumes.iter().map(volume).collect(),
            usd_per_month: None,
            bill: Vec::new(),
            time: 1.0,
            time_half: 0.0,
            time_range: None,
            time_mostly: None,
            time_is_least: false,
            operation_ms: 1.0,
            used: Vec::new(),
            spent: BTreeMap::new(),
            parts_ms: BTreeMap::new(),
            headroom: None,
            headroom_is_least: false,
            survived: None,
        };
        billed(layout, &need, &catalogue).bill
    }

    /// The sum of its lines, in cents' precision.
    fn sum(&self) -> String {
        let lines = self.lines().into_iter();
        let sum: f64 = lines.filter_map(|line| line.usd_per_month).sum();
        format!("{sum:.2}")
    }
}

fn linux<'a>(
    machine: &'a str,
    tariff: Tariff,
    volumes: &'a [(&'a str, &'a str, u32, Provision, f64)],
) -> Bill<'a> {
    Bill {
        machine,
        cores: None,
        system: System::Linux,
        tariff,
        volumes,
    }
}

/// An edition's licence, by the hour (`None`) or of one's own for so many dollars a year.
fn licensed(cloud: &str, edition: &str, system: System, own: Option<f64>) -> Tariff {
    let catalogue = Catalogue::builtin();
    let edition: &Edition = catalogue
        .editions(PRODUCT)
        .find(|known| known.name == edition)
        .expect("it is one");
    let rate = catalogue.licence(edition, cloud, system == System::Windows);
    Tariff {
        licence: Some(Licence {
            edition: edition.clone(),
            paid: match own {
                None => Paid::Hourly(rate.cloned()),
                Some(usd_core_year) => Paid::Own { usd_core_year },
            },
            passive_secondary: false,
            version_known: true,
            smaller_than: None,
        }),
        ..Tariff::default()
    }
}

fn whole() -> Provision {
    Provision::default()
}

fn gib(gib: u64) -> Provision {
    Provision {
        size: Some(Bytes::gib(gib)),
        ..Provision::default()
    }
}

#[test]
fn a_bill_without_a_licence_is_machine_system_and_disks() {
    // 0.668 * 730 = 487.64; 3 * 135.17 = 405.51
    let disks = [
        ("data", "azure.premium.p30", 2, whole(), 0.0),
        ("log", "azure.premium.p30", 1, whole(), 0.0),
    ];
    let bill = linux("azure.E8bds_v5", Tariff::default(), &disks);
    assert_eq!(bill.sum(), "893.15");
    // 1.036 * 730 = 756.28; 200 * 0.0803 = 16.06; 5,000 * 0.00511 = 25.55; 175 * 0.04015 = 7.02625
    let asked = Provision {
        iops: Some(Iops(8_000)),
        throughput: Some(Throughput(300_000_000)),
        ..gib(200)
    };
    let disks = [("data", "azure.premium_v2", 1, asked, 0.0)];
    let bill = Bill {
        system: System::Windows,
        ..linux("azure.E8bds_v5", Tariff::default(), &disks)
    };
    assert_eq!(bill.sum(), "804.92");
    let names: Vec<String> = bill.lines().into_iter().map(|line| line.what).collect();
    assert_eq!(names, ["machine", "Windows", "data"]);
}

#[test]
fn a_licence_by_the_hour_is_a_line_of_its_own() {
    // 0.892 * 730 = 651.16; 4 * 0.1 * 730 = 292; 135.17
    let disks = [("data", "azure.premium.p30", 1, whole(), 0.0)];
    let tariff = licensed("azure", "standard", System::Windows, None);
    let bill = Bill {
        system: System::Windows,
        ..linux("azure.E8-4ads_v5", tariff, &disks)
    };
    assert_eq!(bill.sum(), "1078.33");
    // 0.524 * 730 = 382.52; 8 * 0.375 * 730 = 2,190; 100 * 0.0803 = 8.03
    let disks = [("data", "azure.premium_v2", 1, gib(100), 0.0)];
    let tariff = licensed("azure", "enterprise", System::Linux, None);
    assert_eq!(linux("azure.E8ads_v5", tariff, &disks).sum(), "2580.55");
    // 2.1168 * 730 = 1,545.264; 16 * 0.421 * 730 = 4,917.28 with Windows; 500 * 0.08 = 40
    let disks = [("data", "aws.gp3", 1, gib(500), 0.0)];
    let tariff = licensed("aws", "enterprise", System::Windows, None);
    let bill = Bill {
        cores: Some(16),
        system: System::Windows,
        ..linux("aws.r7i.8xlarge", tariff, &disks)
    };
    assert_eq!(bill.sum(), "6502.54");
    let windows = bill.lines().into_iter().find(|line| line.what == "Windows");
    let windows = windows.expect("it has one");
    assert_eq!(
        (windows.usd_per_month, windows.included_in.as_deref()),
        (None, Some(LICENCE))
    );
    // 0.5292 * 730 = 386.316; 8 * 0.017 * 730 = 99.28; 100 * 0.08 = 8
    let disks = [("data", "aws.gp3", 1, gib(100), 0.0)];
    let tariff = licensed("aws", "web", System::Linux, None);
    assert_eq!(linux("aws.r7i.2xlarge", tariff, &disks).sum(), "493.60");
    // 0.52406 * 730 = 382.5638; 8 * 0.1645 * 730 = 960.68; 500 * 0.17 = 85
    let disks = [("data", "gcp.pd_ssd", 1, gib(500), 0.0)];
    let tariff = licensed("gcp", "standard", System::Linux, None);
    assert_eq!(linux("gcp.n2-highmem-8", tariff, &disks).sum(), "1428.24");
}

#[test]
fn own_licences_and_replicas_are_summed() {
    // 0.1512 * 730 = 110.376; 4 cores of 100 dollars a month; 200 * 0.08 = 16
    let disks = [("data", "aws.gp3", 1, gib(200), 0.0)];
    let tariff = licensed("aws", "standard", System::Linux, Some(1_200.0));
    assert_eq!(linux("aws.r6id.large", tariff, &disks).sum(), "526.38");
    // 2 * (0.41 * 730 + 135.17) = 868.94; 4 cores of 200 dollars on one of the servers
    let disks = [("data", "azure.premium.p30", 1, whole(), 0.0)];
    let own = licensed("azure", "standard", System::Windows, Some(2_400.0));
    let licence = own.licence.expect("it has one");
    let tariff = Tariff {
        licence: Some(Licence {
            passive_secondary: true,
            ..licence
        }),
        replicas: 1,
        ..Tariff::default()
    };
    let bill = Bill {
        system: System::Windows,
        ..linux("azure.E4as_v5", tariff, &disks)
    };
    assert_eq!(bill.sum(), "1668.94");
}

#[test]
fn commitments_backups_and_requests_are_summed() {
    let catalogue = Catalogue::builtin();
    // 0.5292 * 730 * 0.6615 = 255.548; 500 * 0.08 = 40; 300 * 0.05 = 15
    let disks = [("data", "aws.gp3", 1, gib(500), 0.0)];
    let tariff = Tariff {
        commitment: catalogue.commitment("aws", 1).cloned(),
        backup: Some(Backup {
            days: 7,
            size: Bytes::gib(300),
            price: catalogue.backup("aws").cloned(),
        }),
        ..Tariff::default()
    };
    assert_eq!(linux("aws.r7i.2xlarge", tariff, &disks).sum(), "310.55");
    // 0.226 * 730 = 164.98; 9.60; 20 * 3,600 / 10,000 * 0.002 * 730 = 10.512
    let of = |per_s| {
        let disks = [("log", "azure.stdssd.e10", 1, whole(), per_s)];
        linux("azure.E4as_v5", Tariff::default(), &disks).sum()
    };
    assert_eq!(of(20.0), "185.09");
    // At most 147,200 an hour: 14.72 * 0.002 * 730 = 21.4912.
    assert_eq!(of(1_000.0), "196.07");
}

#[test]
fn a_licence_whose_price_is_not_known_is_listed_apart() {
    let disks = [("data", "gcp.pd_ssd", 1, gib(500), 0.0)];
    let tariff = licensed("gcp", "enterprise", System::Linux, None);
    let bill = linux("gcp.n2-highmem-8", tariff, &disks);
    let licence = bill.lines().into_iter().find(|line| line.what == LICENCE);
    assert_eq!(licence.expect("it is there").usd_per_month, None);
    // 382.5638 + 85, without it.
    assert_eq!(bill.sum(), "467.56");
}
