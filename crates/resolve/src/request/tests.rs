use experiment::build;
use model::Bytes;

use super::*;
use crate::EMBEDDED;

fn set(key: &str, value: &str) -> (String, String) {
    owned((key, value))
}

fn small() -> build::Experiment {
    build::Experiment::new("small", "Which is faster?")
        .machine_of(4, "16 GiB")
        .volume("one", build::Volume::of("azure.premium.p30"))
        .volume("two", build::Volume::of("azure.premium.p30").count(2))
        .placement("single", build::Placement::on("one"))
        .placement("striped", build::Placement::on("two"))
}

fn working() -> build::Experiment {
    let workload = build::Workload::builtin("spill").operations(8);
    small().workload(workload).memory("128 MiB")
}

fn whole() -> RunRequest {
    RunRequest::new((&working()).into())
}

fn refused(request: &RunRequest) -> String {
    let error = request.resolve(EMBEDDED).err();
    error.expect("it makes no sense").to_string()
}

#[test]
fn an_experiment_built_in_code_is_resolved_and_its_errors_name_keys() {
    let resolved = whole().resolve(EMBEDDED).expect("it makes sense");
    assert_eq!(resolved.plan.experiment, "small");
    assert_eq!(resolved.plan.arms.len(), 2);

    let wrong = working().set("volume.two.count", 0);
    let error = refused(&RunRequest::new((&wrong).into()));
    assert!(
        error.starts_with("experiment \"small\", volume.two.count: "),
        "{error}"
    );
}

#[test]
fn keys_are_set_in_the_order_that_is_documented() {
    let request = RunRequest {
        sustained: true,
        set: vec![
            set("protocol.blocks", "2"),
            set("volume.one.credits", "0.5"),
        ],
        blocks: Some(3),
        ..whole()
    };
    let resolved = request.resolve(EMBEDDED).expect("it makes sense");
    let keys = resolved.plan.overrides.iter().map(|(key, _)| key.as_str());
    assert_eq!(
        keys.collect::<Vec<_>>(),
        [
            "machine.credits",
            "volume.one.credits",
            "volume.two.credits",
            "protocol.blocks",
            "volume.one.credits",
            "protocol.blocks",
        ]
    );
    assert_eq!(resolved.plan.protocol.blocks, 3);
}

#[test]
fn placements_need_no_workload_and_keep_the_sections_that_there_are() {
    let request = RunRequest::placements((&small()).into());
    let plan = request.resolve(EMBEDDED).expect("it makes sense").plan;
    assert_eq!(plan.arms[0].settings.engine.memory, Bytes::mib(64));

    let with_memory = small().memory("128 MiB");
    let request = RunRequest::placements((&with_memory).into());
    let plan = request.resolve(EMBEDDED).expect("it makes sense").plan;
    assert_eq!(plan.arms[0].settings.engine.memory, Bytes::mib(128));

    let replaying = small().workload(build::Workload::profile("missing.toml"));
    let request = RunRequest::placements((&replaying).into());
    assert!(request.resolve(EMBEDDED).is_ok());
}

#[test]
fn what_does_not_go_together_is_refused() {
    let measured = RunRequest {
        mode: Mode::Measure,
        sustained: true,
        ..whole()
    };
    assert!(refused(&measured).starts_with("--sustained applies to modelled disks only"));
    let disks = ["a.toml", "b.toml"].map(|file| ("one".to_owned(), PathBuf::from(file)));
    let measured = RunRequest {
        mode: Mode::Measure,
        disks: disks.into(),
        ..whole()
    };
    assert!(refused(&measured).starts_with("--disk is about modelled disks"));
    let replayed = RunRequest {
        engine: Some(EngineName::SQLITE),
        profile: Some("shop.toml".to_owned()),
        ..whole()
    };
    assert!(refused(&replayed).starts_with("--engine sqlite: simulate replays a profile"));
    let missing = RunRequest {
        disks: vec![("one".to_owned(), PathBuf::from("missing.toml"))],
        ..whole()
    };
    let error = refused(&missing);
    assert!(error.starts_with("--disk one=missing.toml: "), "{error}");
    assert!(
        error.ends_with("such as `dbstow calibrate` writes"),
        "{error}"
    );
}
