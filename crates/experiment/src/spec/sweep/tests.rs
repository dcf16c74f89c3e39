use super::super::tests::{Little, SPLIT};
use super::*;

fn swept(overrides: &[(&str, &str)]) -> Result<Spec, String> {
    let own = |(key, value): &(&str, &str)| ((*key).to_owned(), (*value).to_owned());
    let overrides: Vec<_> = overrides.iter().map(own).collect();
    let variant = Variant::default();
    let split = ExperimentText::of_file("split.toml", SPLIT);
    let spec = Spec::swept(&split, &overrides, &variant, &Little);
    spec.map_err(|error| error.to_string())
}

/// Names of the arms, each with the arm it is compared with if that is not the experiment's baseline.
fn arms(spec: &Spec) -> Vec<String> {
    let arms = spec.arms.iter();
    arms.map(|arm| match &arm.baseline {
        Some(baseline) => format!("{} vs {baseline}", arm.name),
        None => arm.name.clone(),
    })
    .collect()
}

#[test]
fn an_arm_is_there_for_each_value_where_it_uses_the_key() {
    let spec = swept(&[("volume.data.iops", "3000,6_000")]).expect("both are possible");

    assert_eq!(
        arms(&spec),
        ["together", "split-iops-3000", "split-iops-6_000"]
    );
    assert_eq!(spec.protocol.baseline, "together");
    let iops = |arm: usize| {
        let volume = spec.arms[arm].settings.volume("data").expect("it has one");
        volume.provision.iops.expect("it was set").0
    };
    assert_eq!((iops(1), iops(2)), (3000, 6000));
    let [sweep] = &spec.sweeps[..] else {
        panic!("one arm uses the volume: {:?}", spec.sweeps);
    };
    assert_eq!((&*sweep.of, &*sweep.key), ("split", "volume.data.iops"));
    let values = sweep.values.iter();
    let values: Vec<_> = values.map(|value| (&*value.value, &*value.arm)).collect();
    assert_eq!(
        values,
        [("3000", "split-iops-3000"), ("6_000", "split-iops-6_000")]
    );
}

#[test]
fn choices_are_compared_across_values_and_conditions_within() {
    let choices = swept(&[("volume.slow.iops", "1,2")]).expect("both are possible");
    assert_eq!(choices.protocol.baseline, "together-iops-1");
    assert_eq!(
        arms(&choices),
        [
            "together-iops-1",
            "together-iops-2",
            "split-iops-1",
            "split-iops-2"
        ]
    );

    let conditions = swept(&[("workload.sessions", "1,16")]).expect("both are possible");
    assert_eq!(conditions.protocol.baseline, "together-sessions-1");
    assert_eq!(
        arms(&conditions),
        [
            "together-sessions-1",
            "together-sessions-16 vs together-sessions-16",
            "split-sessions-1",
            "split-sessions-16 vs together-sessions-16"
        ]
    );
    // More sessions are more work, not an improvement.
    assert_eq!(conditions.sweeps, []);

    let alone = swept(&[
        ("placement.together.temp.volumes", "slow,data"),
        ("workload.operations", "1,2"),
    ]);
    let alone = arms(&alone.expect("all are possible"));
    assert_eq!(
        alone[1],
        "together-volumes-slow-operations-2 vs together-volumes-slow-operations-2"
    );
    assert_eq!(
        alone[3],
        "together-volumes-data-operations-2 vs together-volumes-slow-operations-2"
    );
}

#[test]
fn keys_are_combined_and_each_sweep_holds_the_others_still() {
    let both = swept(&[
        ("volume.data.iops", "1,2"),
        ("engine.memory", "8 MiB, 16 MiB"),
    ]);
    let both = both.expect("all are possible");

    assert_eq!(both.arms.len(), 2 + 4);
    assert_eq!(
        arms(&both)[2..4],
        [
            "split-iops-1-memory-8-MiB",
            "split-iops-1-memory-16-MiB vs together-memory-16-MiB"
        ]
    );
    let of: Vec<String> = both
        .sweeps
        .iter()
        .map(|sweep| format!("{} of {}", sweep.key, sweep.of))
        .collect();
    assert_eq!(
        of,
        [
            "engine.memory of together",
            "volume.data.iops of split, engine.memory = 8 MiB",
            "volume.data.iops of split, engine.memory = 16 MiB",
            "engine.memory of split, volume.data.iops = 1",
            "engine.memory of split, volume.data.iops = 2",
        ]
    );
}

#[test]
fn keys_that_end_alike_and_long_values_keep_names_apart() {
    let alike = swept(&[("volume.data.iops", "1,2"), ("volume.slow.iops", "1,2")]);
    let alike = alike.expect("all are possible");
    assert_eq!(alike.arms[2].name, "split-data-iops-1-slow-iops-1");

    let long = swept(&[(
        "volume.data",
        "{ disk = 'azure.premium.p30', host_cache = 'read-only', size = '1 GiB' }, {disk = 'azure.premium.p30'}",
    )]);
    let names = arms(&long.expect("both are possible"));
    assert_eq!(names[1..], ["split-1", "split-data-disk-azure-premium-p30"]);
}

#[test]
fn a_wrong_value_is_blamed_alone() {
    assert_eq!(
        swept(&[("volume.data.iops", "3000,0")]).expect_err("0 is not possible"),
        "--set volume.data.iops=0: volume.data.iops is zero; give at least 1, or leave it out"
    );
}

#[test]
fn values_that_nothing_depends_on_are_refused() {
    let unused = swept(&[("volume.data.iops", "1,2"), ("volume.data.iops", "3")]);
    let unused = unused.expect_err("the last one holds");
    assert!(unused.starts_with("--set volume.data.iops=1,2: all of these give the same arms"));

    let numbers: Vec<String> = (1..=32).map(|number| number.to_string()).collect();
    let numbers = numbers.join(",");
    let many = swept(&[
        ("workload.sessions", &numbers),
        ("volume.data.iops", &numbers),
    ]);
    assert!(many.expect_err("too many").contains("1024 combinations"));
}
