//! Ten layouts on three clouds, with prices computed by hand from the vendors' lists.

use model::{Bytes, Iops, Throughput};

use super::{Catalogue, Provision};

const LINUX: bool = false;
const WINDOWS: bool = true;

/// Dollars a month, in cents' precision.
fn price(machine: &str, windows: bool, volumes: &[(u32, &str, Provision)]) -> String {
    let catalogue = Catalogue::builtin();
    let machine = catalogue.machine(machine).unwrap_or_else(|e| panic!("{e}"));
    let hourly = machine.price.expect("its price is known");
    let month = match windows {
        true => hourly.windows_per_month(),
        false => hourly.linux_per_month(),
    };
    let disk = |(count, name, asked): &(u32, &str, Provision)| {
        let disk = catalogue.disk(name).unwrap_or_else(|e| panic!("{e}"));
        let sold = disk.provision(asked).unwrap_or_else(|e| panic!("{e}"));
        f64::from(*count) * sold.usd_per_month.expect("its price is known")
    };
    let disks: f64 = volumes.iter().map(disk).sum();
    format!("{:.2}", month.expect("its price is known") + disks)
}

/// A disk of one size.
fn whole() -> Provision {
    Provision::default()
}

fn gib(gib: u64) -> Provision {
    Provision {
        size: Some(Bytes::gib(gib)),
        ..Provision::default()
    }
}

/// GiB, IOPS and throughput.
fn rates(size: u64, iops: u64, throughput: Throughput) -> Provision {
    Provision {
        iops: Some(Iops(iops)),
        throughput: Some(throughput),
        ..gib(size)
    }
}

fn mb(mb: u64) -> Throughput {
    Throughput(mb * 1_000_000)
}

#[test]
fn layouts_on_azure_cost_what_the_list_says() {
    // 0.668 * 730 = 487.64; 3 * 135.17 = 405.51
    let volumes = [
        (2, "azure.premium.p30", whole()),
        (1, "azure.premium.p30", whole()),
    ];
    assert_eq!(price("azure.E8bds_v5", LINUX, &volumes), "893.15");
    // 1.036 * 730 = 756.28; 200 * 0.0803 = 16.06; 5,000 * 0.00511 = 25.55; 175 * 0.04015 = 7.02625
    let volumes = [(1, "azure.premium_v2", rates(200, 8000, mb(300)))];
    assert_eq!(price("azure.E8bds_v5", WINDOWS, &volumes), "804.92");
    // 0.113 * 730 = 82.49; (60 + 20) * 0.0803 = 6.424
    let volumes = [
        (1, "azure.premium_v2", gib(60)),
        (1, "azure.premium_v2", gib(20)),
    ];
    assert_eq!(price("azure.E2as_v5", LINUX, &volumes), "88.91");
    // 1.192 * 730 = 870.16; 100 GiB are billed as 128: 15.32416; 20,000 * 0.04964 = 992.80; 500 * 0.34967 = 174.835
    let volumes = [(1, "azure.ultra.2026", rates(100, 20_000, mb(500)))];
    assert_eq!(price("azure.E16bs_v5", LINUX, &volumes), "2053.12");
}

#[test]
fn layouts_on_aws_cost_what_the_list_says() {
    // 0.5292 * 730 = 386.316; 500 * 0.08 = 40
    assert_eq!(
        price("aws.r7i.2xlarge", LINUX, &[(1, "aws.gp3", gib(500))]),
        "426.32"
    );
    // 0.1512 * 730 = 110.376; 200 * 0.08 + 3,000 * 0.005 + 125 * 0.04 = 36; its own disk costs nothing more
    let volumes = [(
        1,
        "aws.gp3",
        rates(200, 6000, Throughput::from_mib_per_s(250)),
    )];
    assert_eq!(price("aws.r6id.large", LINUX, &volumes), "146.38");
    // 9.613 * 730 = 7017.49; 1,000 * 0.125 + 32,000 * 0.065 + 32,000 * 0.0455 = 3661; 100 * 0.08 = 8
    let io2 = Provision {
        iops: Some(Iops(64_000)),
        ..gib(1000)
    };
    let volumes = [(1, "aws.io2", io2), (1, "aws.gp3", gib(100))];
    assert_eq!(price("aws.x2idn.16xlarge", WINDOWS, &volumes), "10686.49");
    // 0.686 * 730 = 500.78; 4 * 50 * 0.08 = 16
    assert_eq!(
        price("aws.i4i.2xlarge", LINUX, &[(4, "aws.gp3", gib(50))]),
        "516.78"
    );
}

#[test]
fn layouts_on_google_cloud_cost_what_the_list_says() {
    // 0.52406 * 730 = 382.5638; 500 * 0.17 = 85
    assert_eq!(
        price("gcp.n2-highmem-8", LINUX, &[(1, "gcp.pd_ssd", gib(500))]),
        "467.56"
    );
    // 0.8972 * 730 = 654.956; 100 * 0.08 + 3,000 * 0.005 + 100 * 0.04 = 27; 200 * 0.1 = 20
    let balanced = rates(100, 6000, Throughput::from_mib_per_s(240));
    let volumes = [
        (1, "gcp.hyperdisk_balanced", balanced),
        (1, "gcp.pd_balanced", gib(200)),
    ];
    assert_eq!(price("gcp.c3-highmem-8", WINDOWS, &volumes), "701.96");
}
