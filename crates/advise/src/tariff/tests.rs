//! Prices computed by hand from what the vendors publish.

use catalogue::{Catalogue, Edition};

use super::*;

fn licence(catalogue: &Catalogue, cloud: &str, edition: &str, system: System) -> Licence {
    let edition: &Edition = catalogue
        .editions(PRODUCT)
        .find(|known| known.name == edition)
        .expect("it is one");
    let rate = catalogue.licence(edition, cloud, system == System::Windows);
    Licence {
        edition: edition.clone(),
        paid: Paid::Hourly(rate.cloned()),
        passive_secondary: false,
        version_known: true,
        smaller_than: None,
    }
}

/// The licensed product of the catalogue.
const PRODUCT: &str = "SQL Server";

/// Dollars a month of a machine with so many processors (0: all), and its licence.
fn usd(machine: &str, processors: u32, edition: &str, system: System) -> String {
    let catalogue = Catalogue::builtin();
    let entry = catalogue.machine(machine).expect("it is there");
    let (cloud, _) = machine.split_once('.').expect("it has a cloud");
    let tariff = Tariff {
        licence: Some(licence(&catalogue, cloud, edition, system)),
        ..Tariff::default()
    };
    let options = entry.cpu_options.as_ref();
    let options = options.map(|options| options.below(entry.spec.cores));
    let mut options = options.into_iter().flatten();
    let option = options.find(|option| option.processors() == processors);
    assert_eq!(option.is_some(), processors > 0, "{machine}");
    let one = tariff
        .machine(entry, option, system)
        .expect("it has a price");
    format!("{:.2}", tariff.machines_usd(one))
}

#[test]
fn aws_charges_windows_and_licence_in_one_rate_for_the_processors_that_are_on() {
    // AWS's own example, for 100 hours: r7i.8xlarge with 16 of 32 processors, 211.68 + 673.60 dollars.
    let month: f64 = usd("aws.r7i.8xlarge", 16, "enterprise", System::Windows)
        .parse()
        .expect("a number");
    assert!(
        (month / HOURS * 100.0 - (211.68 + 673.60)).abs() < 0.01,
        "{month}"
    );
    // With Linux 0.375 instead of 0.421: 2.1168 * 730 + 16 * 0.375 * 730 = 1545.264 + 4380.
    assert_eq!(
        usd("aws.r7i.8xlarge", 16, "enterprise", System::Linux),
        "5925.26"
    );
}

#[test]
fn azure_charges_the_licence_for_active_processors_and_windows_for_those_of_the_base() {
    let catalogue = Catalogue::builtin();
    let price = |name: &str| catalogue.machine(name).expect("it is there").price;
    assert_eq!(price("azure.E8-4ads_v5"), price("azure.E8ads_v5"));
    let month = |name: &str| {
        let price = price(name).and_then(|price| price.windows_per_month());
        price.expect("it has one")
    };
    // 4 x 0.1 x 730 = 292
    let standard = usd("azure.E8-4ads_v5", 0, "standard", System::Windows);
    assert_eq!(standard, format!("{:.2}", month("azure.E8ads_v5") + 292.0));
    // 2 active processors are charged as 4: 4 x 0.375 x 730 = 1095
    let enterprise = usd("azure.E8-2ads_v5", 0, "enterprise", System::Windows);
    assert_eq!(
        enterprise,
        format!("{:.2}", month("azure.E8ads_v5") + 1095.0)
    );
}

#[test]
fn own_licences_are_for_four_cores_at_least_and_sold_in_pairs() {
    let catalogue = Catalogue::builtin();
    let own = Licence {
        paid: Paid::Own {
            usd_core_year: 1_200.0,
        },
        ..licence(&catalogue, "aws", "standard", System::Linux)
    };
    // 100 dollars a month for each core.
    assert_eq!(own.usd(2), Some(400.0));
    assert_eq!(own.usd(5), Some(600.0));
}

#[test]
fn a_replica_costs_as_much_and_a_passive_one_needs_no_licence() {
    let catalogue = Catalogue::builtin();
    let entry = catalogue.machine("azure.E8ads_v5").expect("it is there");
    let own = Licence {
        paid: Paid::Own {
            usd_core_year: 1_200.0,
        },
        ..licence(&catalogue, "azure", "standard", System::Linux)
    };
    let of = |passive_secondary, replicas| {
        let tariff = Tariff {
            licence: Some(Licence {
                passive_secondary,
                ..own.clone()
            }),
            replicas,
            ..Tariff::default()
        };
        let one = tariff
            .machine(entry, None, System::Linux)
            .expect("it has a price");
        (tariff.machines_usd(one), one.both)
    };
    let (alone, machine) = of(false, 0);
    assert!((alone - (machine + 800.0)).abs() < 1e-9);
    let (both, _) = of(false, 1);
    assert!((both - 2.0 * alone).abs() < 1e-9);
    let (passive, _) = of(true, 1);
    assert!((passive - (2.0 * machine + 800.0)).abs() < 1e-9);
}

#[test]
fn a_licence_without_a_known_price_is_not_taken_for_a_free_one() {
    let catalogue = Catalogue::builtin();
    let unknown = licence(&catalogue, "gcp", "enterprise", System::Linux);
    assert_eq!(unknown.paid, Paid::Hourly(None));
    assert_eq!(unknown.usd(8), None);
    // Neither does it make fewer processors worth buying.
    let tariff = Tariff {
        licence: Some(unknown),
        ..Tariff::default()
    };
    assert!(!tariff.is_by_processor());
}

#[test]
fn a_commitment_is_off_the_machine_and_not_off_windows_and_the_licence() {
    let catalogue = Catalogue::builtin();
    let entry = catalogue.machine("azure.E8ads_v5").expect("it is there");
    let price = entry.price.expect("it has one");
    let linux = price.linux_per_month().expect("it is known");
    let windows = price.windows_per_month().expect("it is known");
    let tariff = Tariff {
        licence: Some(licence(&catalogue, "azure", "standard", System::Windows)),
        commitment: catalogue.commitment("azure", 3).cloned(),
        ..Tariff::default()
    };
    let one = tariff
        .machine(entry, None, System::Windows)
        .expect("it has a price");
    // 38 % of the machine; Windows as before; 8 cores x 0.1 x 730 = 584.
    let expected = linux * 0.38 + (windows - linux) + 584.0;
    assert!(
        (tariff.machines_usd(one) - expected).abs() < 1e-6,
        "{one:?}"
    );
}

#[test]
fn backups_cost_what_they_take_and_once_for_all_servers() {
    let catalogue = Catalogue::builtin();
    let entry = catalogue.machine("aws.r7i.2xlarge").expect("it is there");
    let of = |replicas, backup| {
        let tariff = Tariff {
            replicas,
            backup,
            ..Tariff::default()
        };
        let one = tariff
            .machine(entry, None, System::Linux)
            .expect("it has a price");
        tariff.machines_usd(one)
    };
    let backup = Backup {
        days: 7,
        size: Bytes::gib(300),
        price: catalogue.backup("aws").cloned(),
    };
    // 300 x 0.05 = 15
    let more = of(1, Some(backup)) - of(1, None);
    assert!((more - 15.0).abs() < 1e-9, "{more}");
}
