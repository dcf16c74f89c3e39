use std::collections::{BTreeMap, BTreeSet};

use proptest::prelude::*;

use super::*;
use crate::spec::builtin_names;

fn spec(overrides: &[(&str, &str)]) -> Spec {
    let overrides: Vec<(String, String)> = overrides
        .iter()
        .map(|(key, value)| ((*key).to_owned(), (*value).to_owned()))
        .collect();
    Spec::builtin("tempdb-scale-out", &overrides, Variant::default()).expect("it is built in")
}

fn plan(overrides: &[(&str, &str)]) -> Plan {
    Plan::new(&spec(overrides), false)
}

#[test]
fn every_block_runs_every_arm_once_under_one_seed() {
    let plan = plan(&[]);
    assert_eq!(plan.trials().len(), 3 * 8);
    for block in plan.trials().chunk_by(|a, b| a.block == b.block) {
        let arms: BTreeSet<&str> = block.iter().map(|trial| trial.arm.as_str()).collect();
        assert_eq!(arms.len(), 3);
        assert!(block.iter().all(|trial| trial.seed == block[0].seed));
        assert!((0..3).eq(block.iter().map(|trial| trial.position)));
    }
    let seeds: BTreeSet<u64> = plan.trials().iter().map(|trial| trial.seed).collect();
    assert_eq!(seeds.len(), 8);
    assert!((0..24).eq(plan.trials().iter().map(|trial| trial.index)));
}

#[test]
fn every_order_of_the_arms_comes_up() {
    let plan = plan(&[("protocol.blocks", "600")]);
    let mut orders: BTreeMap<Vec<&str>, u32> = BTreeMap::new();
    for block in plan.trials().chunk_by(|a, b| a.block == b.block) {
        let order = block.iter().map(|trial| trial.arm.as_str()).collect();
        *orders.entry(order).or_default() += 1;
    }
    // 600 / 3! = 100 expected of each; five standard deviations of sqrt(600 x 1/6 x 5/6) = 9.1
    assert_eq!(orders.len(), 6);
    assert!(
        orders.values().all(|count| count.abs_diff(100) < 46),
        "{orders:?}"
    );
}

#[test]
fn same_seed_same_plan_and_another_seed_another_one() {
    assert_eq!(plan(&[]), plan(&[]));
    let other = plan(&[("protocol.seed", "2")]);
    assert_ne!(plan(&[]).trials(), other.trials());
    assert_ne!(plan(&[]).digest(), other.digest());
}

#[test]
fn more_blocks_continue_a_plan() {
    let short = plan(&[("protocol.blocks", "2")]);
    let long = plan(&[("protocol.blocks", "4")]);
    assert_eq!(short.digest(), long.digest());
    assert_eq!(short.trials(), &long.trials()[..short.trials().len()]);
}

#[test]
fn what_decides_a_trial_changes_the_digest_and_what_is_said_of_it_does_not() {
    let digest = |key, value| plan(&[(key, value)]).digest().to_owned();
    let original = plan(&[]).digest().to_owned();
    assert_ne!(digest("engine.memory", "1 GiB"), original);
    assert_ne!(digest("volume.t1.override.iops_limit", "400"), original);
    assert_eq!(digest("protocol.margin", "0.1"), original);
    assert_eq!(digest("question", "Why?"), original);
}

#[test]
fn another_place_is_another_plan_and_is_said() {
    let at = |directory: &str| {
        let place = BTreeMap::from([("volume d".to_owned(), directory.to_owned())]);
        plan(&[]).at(place)
    };
    assert_ne!(at("/mnt/a").digest(), at("/mnt/b").digest());
    assert_eq!(plan(&[]).at(BTreeMap::new()), plan(&[]));
    assert!(at("/mnt/a").describe().contains("volume d = /mnt/a"));
    let stored = Plan::from_json(&at("/mnt/a").to_json());
    assert_eq!(stored.expect("as stored"), at("/mnt/a"));
}

#[test]
fn the_twin_is_the_baseline_under_another_name() {
    let plan = Plan::new(&spec(&[]), true);
    assert_eq!(plan.trials().len(), 4 * 8);
    let twin = plan.arm("one-disk (twin)").expect("it was asked for");
    let baseline = plan.arm("one-disk").expect("it is an arm");
    assert_eq!(twin.settings, baseline.settings);
    assert!(twin.published.is_empty());
}

#[test]
fn a_stored_plan_is_read_back_and_a_changed_or_cut_one_is_refused() {
    for name in builtin_names() {
        let plan = Plan::new(
            &Spec::builtin(name, &[], Variant::default()).expect("built in"),
            true,
        );
        assert_eq!(Plan::from_json(&plan.to_json()).expect("as stored"), plan);
    }
    let json = plan(&[]).to_json();
    let changed = json.replacen("\"sessions\": 32", "\"sessions\": 31", 1);
    assert_ne!(changed, json, "the experiment has 32 sessions");
    let error = Plan::from_json(&changed).expect_err("changed");
    assert!(error.to_string().contains("was changed"), "{error}");
    let error = Plan::from_json(&json[..json.len() / 2]).expect_err("cut");
    assert!(error.to_string().contains("not a plan"), "{error}");
    let error = Plan::from_json("{\"schema\": \"dbstow.plan/9\"}").expect_err("newer");
    assert!(error.to_string().contains("plan it again"), "{error}");
}

#[test]
fn a_stored_plan_whose_trials_are_not_those_of_its_blocks_is_refused() {
    let stored = |overrides: &[(&str, &str)], twin: bool| {
        let plan = Plan::new(&spec(overrides), twin);
        serde_json::from_str::<serde_json::Value>(&plan.to_json()).expect("JSON")
    };
    let error = |plan: &serde_json::Value| Plan::from_json(&plan.to_string()).err();
    // Blocks that were added later, and trials without their blocks.
    let mut plan = stored(&[], true);
    let longer = stored(&[("protocol.blocks", "9")], true);
    assert_eq!(plan["digest"], longer["digest"]);
    assert!(error(&longer).is_none());
    plan["trials"] = longer["trials"].clone();
    assert!(matches!(error(&plan), Some(PlanError::Trials(8))));

    type Change = fn(&mut serde_json::Value);
    let changes: [(&str, Change); 7] = [
        ("none", |plan| plan["trials"] = serde_json::json!([])),
        ("no blocks", |plan| {
            plan["trials"] = serde_json::json!([]);
            plan["protocol"]["blocks"] = 0.into();
        }),
        ("one less", |plan| {
            plan["trials"].as_array_mut().expect("a list").pop();
        }),
        ("an unknown arm", |plan| {
            plan["trials"][3]["arm"] = "three-disks".into();
        }),
        ("another seed", |plan| plan["trials"][3]["seed"] = 7.into()),
        ("another place", |plan| {
            plan["trials"][3]["index"] = 4.into()
        }),
        ("endless", |plan| {
            plan["protocol"]["blocks"] = u32::MAX.into();
        }),
    ];
    for (what, change) in changes {
        let mut plan = stored(&[], false);
        change(&mut plan);
        assert!(matches!(error(&plan), Some(PlanError::Trials(_))), "{what}");
    }
}

#[test]
fn a_plan_says_what_would_run() {
    let text = Plan::new(&spec(&[("protocol.blocks", "1")]), true).describe();
    for line in [
        "  set protocol.blocks = 1",
        "arm two-disks",
        "  machine   azure.A4_ExtraLarge",
        "  temp      8 files on t1, t2 in turn, 1 GiB each",
        "  volume    t1 = azure.blob_std_2013, with overrides",
        "arm one-disk (twin), the baseline once more",
        "4 arms x 1 block = 4 trials, compared by batch_requests_per_s against one-disk, margin 5 %",
    ] {
        assert!(
            text.lines().any(|shown| shown == line),
            "{line:?} is not in:\n{text}"
        );
    }
}

proptest! {
    /// Fractions round-trip to the last bit; otherwise a stored plan would look modified.
    #[test]
    fn any_rate_is_stored_exactly(rate in 1e-6..1e6_f64) {
        let rate = rate.to_string();
        let plan = plan(&[("workload.rate", &rate), ("workload.parameters.x", &rate)]);
        prop_assert_eq!(Plan::from_json(&plan.to_json()).expect("as stored"), plan);
    }
}
