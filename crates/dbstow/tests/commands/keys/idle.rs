//! Keys without effect are reported with the reason.

use super::*;

/// What does something on the disks of these tests, and nothing on others.
#[test]
fn keys_without_effect_on_a_disk_or_in_a_mode_are_reported_with_the_reason() {
    let place = Place::new();
    let told = |text: &str, words: &[&str], expected: &[&str]| {
        let words = [&["check", "keys.toml"], words].concat();
        let (code, _, said) = place.dbstow(text, &words);
        assert_eq!(code, 0, "{said}");
        for part in expected {
            assert!(said.contains(part), "no {part}: {said}");
        }
    };
    let one = base(
        STATEMENTS,
        &[("volume.d.count", "1"), ("volume.d.interleave", "'1 MiB'")],
    );
    let no_stripe = "without effect: volume.d.interleave (one disk is not striped)";
    told(&one.to_string(), &[], &[no_stripe]);
    let unused = [("volume.e", "{ disk = 'unlimited' }")];
    told(
        &base(STATEMENTS, &unused).to_string(),
        &[],
        &["without effect: volume.e (no arm has files there)"],
    );
    let bare = [
        (
            "volume.d",
            "{ disk = 'unlimited', iops = 500, bursting = true }",
        ),
        ("machine", "{ cores = 4, memory = '8 GiB', credits = 0.5 }"),
        ("engine.host_cache_start", "'warm'"),
        ("engine.log_flush", "true"),
        ("engine.commit", "'relaxed'"),
    ];
    told(
        &base(STATEMENTS, &bare).to_string(),
        &[],
        &[
            "volume.d.bursting, volume.d.iops (an unlimited disk has no limits to provision)",
            "machine.credits (no limit of the machine for these volumes has burst credits)",
            "engine.host_cache_start (no volume has a host cache)",
            "engine.log_flush (no commit waits for the log, engine.commit)",
        ],
    );
    let more = [
        ("engine.read_ahead", "'512 KiB'"),
        ("workload.log_bytes_per_row", "100"),
        ("volume.d.override", "{ in_flight_max = 4 }"),
    ];
    let more = base(STATEMENTS, &more).to_string();
    told(
        &more,
        &["--mode", "emulate"],
        &[
            "engine.checkpoint, engine.read_ahead (sqlite in emulate has its own)",
            "workload.log_bytes_per_row (a real engine writes its own log)",
        ],
    );
    told(
        &more,
        &["--mode", "measure", "--volume", "d=."],
        &[
            "machine.type, volume.d.count, volume.d.disk, volume.d.host_cache, volume.d.override.in_flight_max (in measure, \
             machine and disks are real)",
        ],
    );
}

#[test]
fn no_built_in_experiment_has_a_key_without_effect_where_it_is_simulated() {
    let inventory = Inventory::with_engines(dbstow::engines::ENGINES);
    for name in builtin_names() {
        let text = builtin_text(name).expect("it is built in");
        let variant = Variant {
            engine: EngineName::meant_by(text),
            ..Variant::default()
        };
        let spec = Spec::builtin(name, &[], variant).expect("it makes sense");
        let spec = spec.check(&inventory).expect("its names are known");
        let idle = spec.idle(&inventory);
        // They run as SQL too, by as many sessions, on as many processors.
        let of_plain_io = [
            "managed-instance-tiers",
            "rds-postgres-400gib",
            "volume-alone",
        ];
        let of_sql = [
            "workload.sessions",
            "machine.cores",
            "engine.memory",
            "workload.parameters.rows",
        ];
        // Its arms set the sessions themselves.
        let is_of_sql = |told: &str| {
            let mut keys = of_sql.into_iter();
            keys.any(|key| told == key || told.ends_with(&format!(".set.\"{key}\"")))
        };
        let is_for_sql = |idle: &&Idle| of_plain_io.contains(&name) && is_of_sql(&idle.key);
        let others: Vec<&Idle> = idle.iter().filter(|idle| !is_for_sql(idle)).collect();
        assert!(others.is_empty(), "{name}: {others:?}");
    }
}
