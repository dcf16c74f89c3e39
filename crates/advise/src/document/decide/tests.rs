use std::collections::BTreeMap;

use reading::Role;

use super::*;

const GIB: u64 = 1 << 30;

fn volume(roles: &[Role], disk: &str, count: u32, iops: Option<u64>) -> Volume {
    Volume {
        name: Role::joined(roles, "-"),
        roles: roles.to_vec(),
        disk: disk.to_owned(),
        count,
        size: Some(60 * GIB),
        iops,
        throughput: None,
        usd_per_month: Some(4.8),
        requests_usd_per_month: None,
        forgets: false,
    }
}

fn layout(machine: &str, volumes: Vec<Volume>, usd: f64, time: f64) -> Layout {
    Layout {
        machine: Some(machine.to_owned()),
        switched_on: None,
        processors_used: None,
        machine_usd_per_month: None,
        volumes,
        usd_per_month: Some(usd),
        bill: Vec::new(),
        time,
        time_half: 0.0,
        time_range: None,
        time_mostly: None,
        time_is_least: false,
        data_reads: None,
        operation_ms: 1.0,
        parts_ms: BTreeMap::new(),
        used: Vec::new(),
        spent: BTreeMap::new(),
        headroom: None,
        headroom_is_least: false,
        differences: Vec::new(),
        survived: None,
    }
}

fn at(usd: f64, time: f64) -> Layout {
    layout("aws.m5.large", Vec::new(), usd, time)
}

#[test]
fn a_saving_below_the_threshold_is_no_reason_to_move() {
    // $2.40 of $74.88: the threshold is $10.
    assert!(!is_worth_it(74.88, &at(72.48, 1.0)));
    assert!(is_worth_it(74.88, &at(64.80, 1.0)));
    // 5 % of $1,000 is $50.
    assert!(!is_worth_it(1_000.0, &at(960.0, 1.0)));
    assert!(is_worth_it(1_000.0, &at(950.0, 1.0)));
}

#[test]
fn for_the_same_price_only_what_is_faster_by_more_than_the_models_error_is_worth_it() {
    assert!(!is_worth_it(74.88, &at(74.88, 0.91)));
    assert!(is_worth_it(74.88, &at(74.88, 0.79)));
    assert!(!is_worth_it(74.88, &at(80.0, 0.5)));
}

#[test]
fn what_differs_is_counted_by_machine_and_volume() {
    let catalogue = Catalogue::builtin();
    let all = &Role::COMMON[..];
    let of = |machine: &str, volumes| layout(machine, volumes, 80.0, 1.0);
    let today = of("aws.m6i.large", vec![volume(all, "aws.gp3", 1, None)]);
    let differs = |other: &Layout| differences(&catalogue, &today, other);

    // The same disk under its new rules, with the IOPS and throughput that are included.
    let mut renamed = volume(all, "aws.gp3.2025", 1, Some(3000));
    renamed.throughput = Some(125 << 20);
    let same = of("aws.m6i.large", vec![renamed.clone()]);
    assert_eq!(differs(&same), Vec::<String>::new());

    let machine = of("aws.m7i.large", vec![renamed.clone()]);
    assert_eq!(
        differs(&machine),
        ["machine aws.m7i.large instead of aws.m6i.large"]
    );

    let faster = of(
        "aws.m6i.large",
        vec![volume(all, "aws.gp3.2025", 1, Some(6000))],
    );
    assert_eq!(
        differs(&faster),
        ["volume for data, temp, log: aws.gp3.2025, 60 GiB, 6000 IOPS instead of aws.gp3, 60 GiB"]
    );

    renamed.roles = vec![Role::Data, Role::Temp];
    let log = volume(&[Role::Log], "aws.gp3.2025", 1, Some(3000));
    let apart = of("aws.m6i.large", vec![renamed, log]);
    assert_eq!(differs(&apart), ["log on aws.gp3.2025, 60 GiB, 3000 IOPS"]);

    let other = of(
        "aws.m7i.large",
        vec![
            volume(&[Role::Data, Role::Temp], "aws.io2", 2, Some(9000)),
            volume(&[Role::Log], "aws.gp3.2025", 1, Some(3000)),
        ],
    );
    // Today's disk stays for the log.
    assert_eq!(differs(&other).len(), 2);
}

#[test]
fn files_that_move_to_a_volume_that_stays_are_one_change() {
    let catalogue = Catalogue::builtin();
    let data = [Role::Data, Role::Temp];
    let today = layout(
        "aws.m6i.large",
        vec![
            volume(&data, "aws.gp3", 1, None),
            volume(&[Role::Log], "aws.gp3", 1, None),
        ],
        80.0,
        1.0,
    );
    let merged = layout(
        "aws.m6i.large",
        vec![volume(&Role::COMMON, "aws.gp3", 1, None)],
        75.0,
        1.0,
    );
    assert_eq!(
        differences(&catalogue, &today, &merged),
        ["without volume log"]
    );
}
