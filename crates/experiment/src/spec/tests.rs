use proptest::prelude::*;

use super::*;

pub(super) const SPLIT: &str = r#"name = "split"
question = "Do data and log want disks of their own?"
[machine]
type = "azure.DS2"
[volume.slow]
disk = "azure.premium.p30"
[volume.data]
disk = "azure.premium.p30"
count = 2
size = "1 GiB"
[placement.together]
data = { volumes = "slow" }
temp = { volumes = "slow" }
log = { volumes = "slow" }
[placement.split]
data = { volumes = "data", files = 2 }
temp = { volumes = "slow" }
log = { volumes = "slow" }
[workload]
name = "trade"
operations = 100
[workload.parameters]
rows = 1000
[engine]
memory = "512 MiB"
[quick]
"workload.parameters.rows" = 10
"protocol.blocks" = 2
"#;

fn parse(text: &str, overrides: &[(&str, &str)], quick: bool) -> Result<Spec, String> {
    let overrides: Vec<(String, String)> = overrides
        .iter()
        .map(|(key, value)| ((*key).to_owned(), (*value).to_owned()))
        .collect();
    let variant = Variant {
        quick,
        ..Variant::default()
    };
    Spec::parse("split.toml", text, &overrides, variant).map_err(|error| error.to_string())
}

fn refused(from: &str, to: &str) -> String {
    assert!(SPLIT.contains(from), "{from:?} is not in the sample");
    let error = parse(&SPLIT.replacen(from, to, 1), &[], false);
    error.expect_err("the sample was broken")
}

fn set(key: &str, value: &str) -> Result<Spec, String> {
    parse(SPLIT, &[(key, value)], false)
}

/// Knows one machine, one disk of 2 GiB, and one workload with one parameter.
pub(super) struct Little;

impl Known for Little {
    fn engine(&self, name: &EngineName) -> Result<(), String> {
        match name.as_str() {
            "sqlite" | "postgres" => Ok(()),
            other => Err(format!("there is no engine \"{other}\"")),
        }
    }

    fn roles(&self, name: &EngineName, _: Mode) -> &'static [Role] {
        match name.as_str() {
            "postgres" => &Role::COMMON,
            _ => &Role::ALL,
        }
    }

    fn engine_with(&self, _: Role, _: Mode) -> Option<&str> {
        Some("mariadb")
    }

    fn machine(&self, machine: &Machine) -> Result<(), String> {
        match machine.kind.as_deref() {
            Some("azure.DS2") | None => Ok(()),
            Some(kind) => Err(format!("there is no machine \"{kind}\"")),
        }
    }

    fn disk(&self, _: &Machine, volume: &Volume) -> Result<Option<model::Bytes>, String> {
        match &volume.disk {
            Disk::Catalogue(name) if name == "azure.premium.p30" => Ok(Some(model::Bytes::gib(2))),
            Disk::Local | Disk::Unlimited | Disk::Recorded | Disk::Catalogue(_) => {
                Err(format!("there is no disk \"{}\"", volume.disk))
            }
        }
    }

    fn workload(&self, script: &Script) -> Result<KnownWorkload, String> {
        match script {
            Script::BuiltIn(name) if name == "trade" => Ok(KnownWorkload {
                parameters: [
                    ("rows".to_owned(), Parameter::Integer(5)),
                    ("skew".to_owned(), Parameter::Number(0.5)),
                ]
                .into(),
                ranges: [("rows".to_owned(), 1..=1_000)].into(),
                digest: "d".to_owned(),
                ..KnownWorkload::default()
            }),
            Script::Folder(name) if name == "stress.json" => Ok(KnownWorkload {
                sessions: Some(3),
                ..KnownWorkload::default()
            }),
            Script::Profile { file, .. } if file == "shop.toml" => Ok(KnownWorkload {
                digest: "e".to_owned(),
                recorded: Some(Recorded {
                    sessions: 8,
                    length: model::Duration::from_secs(1_800),
                    operations_per_s: 820.0,
                }),
                ..KnownWorkload::default()
            }),
            Script::BuiltIn(_) | Script::Folder(_) | Script::Profile { .. } => {
                Err(format!("there is no workload \"{script}\""))
            }
        }
    }

    /// As in the settings file: seven operations of each session.
    fn end(&self, workload: &Workload) -> Result<Option<Amount>, String> {
        let operations = Amount::Operations(7 * u64::from(workload.sessions));
        let is_known = matches!(workload.script, Script::Folder(_));
        Ok(is_known.then_some(operations))
    }
}

fn check(overrides: &[(&str, &str)]) -> Result<Spec, String> {
    check_text(SPLIT, overrides)
}

fn check_text(text: &str, overrides: &[(&str, &str)]) -> Result<Spec, String> {
    let spec = parse(text, overrides, false)?;
    spec.check(&Little).map_err(|error| error.to_string())
}

#[test]
fn without_arms_every_placement_is_one_in_the_order_of_the_file() {
    let spec = parse(SPLIT, &[], false).expect("the sample is right");
    let names: Vec<&str> = spec.arms.iter().map(|arm| arm.name.as_str()).collect();
    assert_eq!(names, ["together", "split"]);
    assert_eq!(spec.protocol.baseline, "together");
    assert_eq!(spec.arms[0].settings.volumes.len(), 1);
    assert_eq!(spec.arms[1].settings.volumes[0].name, "slow");
}

#[test]
fn mistakes_are_named_with_line_value_and_remedy() {
    let lines = [
        refused(
            "log = { volumes = \"slow\" }",
            "log = { volumes = \"fast\" }",
        ),
        refused("memory =", "memori ="),
        refused("count = 2", "count = -2"),
        refused("size = \"1 GiB\"", "size = \"-1 GiB\""),
        refused("size = \"1 GiB\"", "size = \"0 GiB\""),
        refused("temp = { volumes = \"slow\" }\n", ""),
        refused("files = 2", "files = 2, file_size = \"3 GiB\""),
        refused("[volume.slow]", "[volume.data]"),
        refused("operations = 100", "operations = 0"),
        refused("memory = \"512 MiB\"", "memory = \"512 MiB"),
        refused(
            "memory = \"512 MiB\"",
            "memory = \"512 MiB\"\ncommit = \"durabel\"",
        ),
        refused("[volume.slow]", "[volume.\"sl ow\"]"),
        refused("blocks\" = 2", "blok\" = 2"),
    ];
    insta::assert_snapshot!(lines.join("\n"), @r#"
    split.toml:14: placement "together" puts log on volume "fast", which is not defined (defined: "slow", "data")
    split.toml:25: there is no key "memori"; did you mean "memory"?
    split.toml:9: invalid value: integer `-2`, expected a whole number that is not negative
    split.toml:10: `-1 GiB` is not a size such as "64 KiB", "512 MiB" or "2 GB"
    split.toml:10: volume.data.size is zero; give at least 1, or leave it out
    split.toml:11: placement "together" does not say where temp lives; add temp = { volumes = "..." } (defined: "slow", "data")
    split.toml:15: placement "split" puts 6 GiB of files on volume "data", which holds 2 GiB; make the files smaller, or the volume larger
    split.toml:7: this key or section stands here a second time; remove or rename one
    split.toml:21: workload.operations is zero; give at least 1, or leave it out
    split.toml:25: invalid basic string, expected `"`
    split.toml:26: "durabel" is not possible here; did you mean "durable"?
    split.toml:5: "sl ow" is not a name; use 1 to 64 of the letters a-z, digits, "-" and "_"
    split.toml:28: protocol.blok: there is no key "blok"; did you mean "blocks"?
    "#);
}

#[test]
fn protocol_arms_published_and_fitted_have_to_agree() {
    let added = |text: &str| {
        parse(&format!("{SPLIT}{text}"), &[], false).expect_err("what was added is wrong")
    };
    let lines = [
        added("[protocol]\nblocks = 0\n"),
        added("[protocol]\nmargin = 1.5\n"),
        added("[protocol]\nbaseline = \"togeter\"\n"),
        added("[protocol]\nmetric = \"elapsd_s\"\n"),
        added("[published.splt]\nelapsed_s = 1\n"),
        added("[published.split]\nelapsed = 1\n"),
        added("[arm.a]\nplacement = \"splt\"\n"),
        added("[arm.a]\n"),
        added("[arm.split.set]\n\"protocol.seed\" = 2\n"),
        added("[arm.split.set]\n\"workload.sesions\" = 2\n"),
        added("[arm.split.set]\n\"workload.sessions\" = 0\n"),
        added("[[fitted]]\nparameter = \"engine.memori\"\nto = \"split\"\nwhy = \"?\"\n"),
        added("[[fitted]]\nparameter = \"engine.memory\"\nto = \"split\"\nwhy = \"?\"\n"),
        added(
            "[published.split]\nelapsed_s = 1\n\
             [[fitted]]\nparameter = \"engine.memory\"\nto = \"split\"\nwhy = \"?\"\n\
             [[fitted]]\nparameter = \"engine.memory\"\nto = []\nwhy = \"?\"\n",
        ),
    ];
    insta::assert_snapshot!(lines.join("\n"), @r#"
    split.toml:30: 0 blocks cannot be run; give 1 to 10000
    split.toml:30: a margin of 1.5 is not between 0 and 1; 0.05 stands for 5 %
    split.toml:30: the baseline "togeter" is not an arm; did you mean "together"?
    split.toml:30: there is no metric "elapsd_s"; did you mean "elapsed_s"?
    split.toml:29: figures are published for "splt", which is not an arm; did you mean "split"?
    split.toml:30: there is no metric "elapsed"; did you mean "elapsed_s"?
    split.toml:30: arm "a" is to use placement "splt", which is not defined; did you mean "split"?
    split.toml:29: arm "a" does not say which placement it uses (defined: "split", "together")
    split.toml:30: arm "split" sets "protocol.seed", but an arm sets keys of "machine", "volume", "placement", "workload", "engine" only
    split.toml:30: arm "split": workload.sesions: there is no key "sesions"; did you mean "sessions"?
    split.toml:30: arm "split": workload.sessions is zero; give at least 1, or leave it out
    split.toml:29: "engine.memori" is marked as fitted, but is not a key of this file with a value
    split.toml:29: "engine.memory" is fitted to "split", which is not an arm with published figures (those are: none)
    split.toml:35: "engine.memory" does not say which arms it was fitted to
    "#);
}

#[test]
fn an_arm_is_a_placement_with_what_it_sets() {
    let text = format!(
        "{SPLIT}[arm.two]\nplacement = \"split\"\nset = {{ \"workload.sessions\" = 2 }}\n[arm.split]\n"
    );
    let spec = parse(&text, &[], false).expect("two arms");
    assert_eq!(spec.arms[0].settings.workload.sessions, 2);
    assert_eq!(spec.arms[1].settings.workload.sessions, 1);
    let error = parse(&text, &[("workload.sessions", "3")], false).expect_err("one has no effect");
    assert!(
        error.starts_with("--set workload.sessions=3: arm \"two\""),
        "{error}"
    );

    let text = format!("{SPLIT}[arm.split]\nset = {{ \"workload.name\" = \"trede\" }}\n");
    let spec = parse(&text, &[], false).expect("names are looked up later");
    let error = spec
        .check(&Little)
        .expect_err("no such workload")
        .to_string();
    assert!(
        error.starts_with("split.toml:30: arm \"split\": there is no"),
        "{error}"
    );
}

#[test]
fn overrides_come_after_quick_and_are_blamed_for_their_own_mistakes() {
    let rows = |spec: Spec| spec.arms[0].settings.workload.parameters["rows"].clone();
    let quick = parse(SPLIT, &[], true).expect("quick");
    assert_eq!(quick.protocol.blocks, 2);
    assert_eq!(rows(quick), Parameter::Integer(10));
    let both = parse(SPLIT, &[("workload.parameters.rows", "7")], true);
    assert_eq!(rows(both.expect("both")), Parameter::Integer(7));
    assert!(set("engine.memory", "1 GiB").is_ok());
    let lines = [
        set("engine.memory", "1").map(|_| ()),
        set("workload.sesions", "2").map(|_| ()),
        set("workload.sessions", "two").map(|_| ()),
        set("volume.fast.count", "2").map(|_| ()),
        set("protocol.blocks", "0").map(|_| ()),
        set("placement.split.log.volumes", "fast").map(|_| ()),
    ]
    .map(|result| result.err().unwrap_or_else(|| "right".to_owned()));
    insta::assert_snapshot!(lines.join("\n"), @r#"
    --set engine.memory=1: a buffer pool of 1 B is too small; give at least 1 MiB, with its unit
    --set workload.sesions=2: there is no key "sesions"; did you mean "sessions"?
    --set workload.sessions=two: invalid type: string "two", expected a whole number that is not negative
    --set volume.fast.count=2: there is no volume "fast" (defined: "slow", "data")
    --set protocol.blocks=0: 0 blocks cannot be run; give 1 to 10000
    --set placement.split.log.volumes=fast: placement "split" puts log on volume "fast", which is not defined (defined: "slow", "data")
    "#);
}

#[test]
fn shares_are_read_as_percentages_of_options_are() {
    let protocol = |key: &str, value: &str| set(key, value).map(|spec| spec.protocol);
    assert_eq!(
        protocol("protocol.margin", "5%").map(|of| of.margin),
        Ok(0.05)
    );
    let errors = protocol("protocol.errors_max", "\"20 %\"");
    assert_eq!(errors.map(|of| of.errors_max), Ok(0.2));
    let arm = set("volume.slow.credits", "50%").map(|spec| spec.arms[0].settings.clone());
    assert_eq!(arm.map(|arm| arm.volumes[0].credits), Ok(Some(0.5)));
    let machine = set("machine.credits", "100%").map(|spec| spec.arms[0].settings.clone());
    assert_eq!(machine.map(|arm| arm.machine.credits), Ok(Some(1.0)));
    for (key, value, expected) in [
        ("protocol.margin", "-5%", "-5% is below 0"),
        (
            "protocol.margin",
            "150%",
            "a margin of 1.5 is not between 0 and 1",
        ),
        (
            "protocol.errors_max",
            "\"5\"",
            "Give 5%, or 0.05 for the same",
        ),
        ("volume.slow.credits", "150%", "volume.slow.credits is 1.5"),
        ("machine.credits", "many", "give a percentage such as 5%"),
    ] {
        let error = set(key, value).expect_err("no such share");
        assert!(error.contains(expected), "{key}={value}: {error}");
    }
}

#[test]
fn an_override_of_what_quick_or_real_time_set_is_refused() {
    for key in ["quick.x", "real-time.x", "quick.workload.sessions"] {
        let error = set(key, "3").expect_err("it would change nothing");
        assert!(error.contains(&format!("{key}=3")), "{error}");
        assert!(error.contains("is applied before this"), "{error}");
    }
}

#[test]
fn the_override_that_brings_a_fault_in_is_blamed_and_no_other() {
    let both = |overrides: &[(&str, &str)]| {
        let error = check(overrides).expect_err("one is wrong");
        error.split(": ").next().unwrap_or_default().to_owned()
    };
    // Found at workload.duration, volume.slow, placement.split and engine.memory: the first two keys are set, or contained in one
    // that is set later, and the last two are not set at all.
    for (overrides, blamed) in [
        (
            vec![("workload.duration", "1 s"), ("workload.sessions", "2")],
            "--set workload.duration=1 s",
        ),
        (
            vec![("volume.slow.disk", "none"), ("volume.slow.count", "2")],
            "--set volume.slow.disk=none",
        ),
        (
            vec![
                ("placement.split.data.file_size", "1 GiB"),
                ("volume.data.count", "1"),
                ("workload.sessions", "2"),
            ],
            "--set volume.data.count=1",
        ),
        (
            vec![("machine.memory", "256 MiB"), ("workload.sessions", "2")],
            "--set machine.memory=256 MiB",
        ),
    ] {
        assert_eq!(both(&overrides), blamed);
    }
    // An error in the file is attributed to the file, regardless of other overrides.
    let text = SPLIT.replacen("operations = 100\n", "", 1);
    let error = check_text(&text, &[("workload.sessions", "2")]).expect_err("no end");
    assert!(
        error.starts_with("split.toml:19: the workload has no end"),
        "{error}"
    );
}

#[test]
fn names_are_looked_up_and_defaults_of_parameters_added() {
    let spec = check(&[]).expect("all known");
    let workload = &spec.arms[0].settings.workload;
    assert_eq!(workload.parameters["rows"], Parameter::Integer(1000));
    assert_eq!(workload.parameters["skew"], Parameter::Number(0.5));
    assert_eq!(workload.digest.as_deref(), Some("d"));
}

#[test]
fn a_settings_file_has_sessions_and_an_end_and_those_of_the_experiment_come_first() {
    let stress = |keys: &str| {
        let begins = "name = \"trade\"\noperations = 100\n[workload.parameters]\nrows = 1000\n";
        let text = SPLIT.replacen(begins, &format!("folder = \"stress.json\"\n{keys}"), 1);
        let text = text.replacen("\"workload.parameters.rows\" = 10\n", "", 1);
        let spec = check_text(&text, &[]).expect(&text);
        let workload = spec.arms.into_iter().next().expect("an arm").settings;
        (workload.workload.sessions, workload.workload.amount)
    };
    assert_eq!(stress(""), (3, Amount::Operations(21)));
    assert_eq!(stress("sessions = 2\n"), (2, Amount::Operations(14)));
    assert_eq!(stress("operations = 5\n"), (3, Amount::Operations(5)));
}

#[test]
fn names_that_are_not_known_are_refused_at_their_place() {
    let lines = [
        check(&[("machine.type", "azure.DS9")]),
        check(&[("volume.data.disk", "azure.p30")]),
        check(&[("workload.name", "trede")]),
        check(&[("workload.parameters.rosw", "1")]),
        check(&[("workload.parameters.rows", "many")]),
        check(&[("placement.split.log.file_size", "3 GiB")]),
        check(&[("engine.name", "postgre")]),
        check_text(
            &SPLIT.replacen("[engine]", "[engine]\nname = \"postgre\"", 1),
            &[],
        ),
    ]
    .map(|result| result.map(|_| ()).expect_err("not known"));
    insta::assert_snapshot!(lines.join("\n"), @r#"
    --set machine.type=azure.DS9: there is no machine "azure.DS9"
    --set volume.data.disk=azure.p30: there is no disk "azure.p30"
    --set workload.name=trede: there is no workload "trede"
    --set workload.parameters.rosw=1: workload "trade" has no parameter "rosw"; did you mean "rows"?
    --set workload.parameters.rows=many: parameter "rows" is many, which is not of the kind of its default, 5
    --set placement.split.log.file_size=3 GiB: placement "split" puts 3 GiB of files on volume "slow", which holds 2 GiB; make the files smaller, or the volume larger
    --set engine.name=postgre: use --engine, or change [engine] name in a file of your own
    split.toml:25: there is no engine "postgre"
    "#);
}

#[test]
fn files_of_roles_that_an_engine_does_not_have_are_refused_at_their_line() {
    let slow = "log = { volumes = \"slow\" }\n[workload]";
    let binlog = "log = { volumes = \"slow\" }\nbinlog = { volumes = \"data\" }\n[workload]";
    let text = SPLIT.replacen(slow, binlog, 1);
    let checked = |engine: &'static str, mode| {
        let variant = Variant {
            mode,
            engine: EngineName::new(engine),
            quick: false,
        };
        let spec = Spec::parse("split.toml", &text, &[], variant).expect("it makes sense");
        spec.check(&Little).map_err(|error| error.to_string())
    };
    assert!(checked("sqlite", Mode::Simulate).is_ok());
    assert_eq!(
        checked("postgres", Mode::Emulate).expect_err("it has none"),
        "split.toml:19: placement \"split\" says where binlog lives, and postgres in emulate has data, temp, log alone; add \
         --engine mariadb, or remove binlog"
    );
}

#[test]
fn the_binary_log_is_where_it_is_placed_beside_the_data_or_nowhere() {
    let like = SPLIT.replace("[engine]", "[engine]\nlike = \"innodb\"");
    let placed = like.replacen(
        "[placement.split]",
        "[placement.split]\nbinlog = { volumes = \"slow\" }",
        1,
    );
    let of_split = |text: &str, asked: Option<&str>| {
        let asked: Vec<(&str, &str)> = asked
            .into_iter()
            .map(|on| ("engine.mariadb.binlog", on))
            .collect();
        let spec = parse(text, &asked, false).expect("it makes sense");
        let binlog = spec.arms[1].settings.placement.binlog.clone();
        binlog.map(|file| file.volume)
    };
    assert_eq!(of_split(&like, None), None);
    assert_eq!(of_split(&like, Some("true")).as_deref(), Some("data"));
    assert_eq!(of_split(&placed, None).as_deref(), Some("slow"));
    assert_eq!(of_split(&placed, Some("true")).as_deref(), Some("slow"));
    assert_eq!(of_split(&placed, Some("false")), None);
}

#[test]
fn a_profile_has_no_requests_for_a_binary_log() {
    let text = SPLIT.replace(
        "name = \"trade\"\noperations = 100\n[workload.parameters]\nrows = 1000\n",
        "profile = \"shop.toml\"\n",
    );
    let text = text.replace("\"workload.parameters.rows\" = 10\n", "");
    assert!(parse(&text, &[], false).is_ok());
    let error = parse(&text, &[("placement.split.binlog.volumes", "slow")], false);
    let error = error.expect_err("nothing would reach it");
    assert!(
        error.contains("data, temp and log alone; remove binlog"),
        "{error}"
    );
}

#[test]
fn plans_of_experiments_about_other_engines_know_nothing_of_mariadb() {
    for name in builtin_names() {
        let spec = Spec::builtin(name, &[], Variant::default()).expect("it is built in");
        let settings = spec.arms.iter().map(|arm| &arm.settings);
        let written = serde_json::to_string(&settings.collect::<Vec<_>>()).expect("plain data");
        let own = [
            "\"mariadb\":",
            "\"binlog\":",
            "\"undo\":",
            "\"doublewrite\":",
        ];
        let has_own = own.iter().any(|key| written.contains(key));
        let is_mariadbs = ["mariadb-binlog-apart", "mariadb-doublewrite"].contains(&name);
        assert_eq!(has_own, is_mariadbs, "{name}");
    }
}

#[test]
fn every_experiment_that_is_built_in_is_right_and_is_named_as_its_file() {
    assert_eq!(builtin_names().len(), 20);
    for name in builtin_names() {
        for quick in [false, true] {
            let spec = Spec::builtin(
                name,
                &[],
                Variant {
                    quick,
                    ..Variant::default()
                },
            )
            .unwrap_or_else(|error| panic!("{error}"));
            assert_eq!(spec.name, name);
        }
    }
    let error =
        Spec::builtin("tempdb-spil", &[], Variant::default()).expect_err("no such experiment");
    assert!(
        error
            .to_string()
            .ends_with("did you mean \"tempdb-spill\"?"),
        "{error}"
    );
}

proptest! {
    #[test]
    fn any_text_is_read_or_refused(text in "(?s).{0,200}") {
        drop(Spec::parse("any.toml", &text, &[], Variant::QUICK));
    }

    /// With one error, the sample reaches every stage of reading.
    #[test]
    fn a_broken_experiment_is_read_or_refused(
        at in 0..SPLIT.len(),
        gone in 0..20_usize,
        put in "[\\[\\]{}=\",.#\na-z0-9 -]{0,12}",
    ) {
        let end = (at + gone).min(SPLIT.len());
        let text = format!("{}{put}{}", &SPLIT[..at], &SPLIT[end..]);
        drop(Spec::parse("any.toml", &text, &[], Variant::QUICK));
    }

    #[test]
    fn any_override_is_taken_or_refused(key in "[a-z._\"\\[ ]{0,24}", value in ".{0,24}") {
        for key in [key.clone(), format!("volume.data.{key}"), format!("workload.{key}")] {
            drop(Spec::parse("any.toml", SPLIT, &[(key, value.clone())], Variant::default()));
        }
    }
}

#[test]
fn an_arm_may_have_a_baseline_of_its_own_which_is_another_arm() {
    let spec = Spec::builtin("tempdb-mixes", &[], Variant::default()).expect("built in");
    let own = |name: &str| {
        let arm = spec.arms.iter().find(|arm| arm.name == name);
        arm.and_then(|arm| arm.baseline.clone())
    };
    assert_eq!(own("read-only-p30").as_deref(), Some("read-only-local-ssd"));
    assert_eq!(own("read-only-local-ssd"), None);

    let overrides = [(
        "arm.read-only-p30.baseline".to_owned(),
        "read-only-local".to_owned(),
    )];
    let error =
        Spec::builtin("tempdb-mixes", &overrides, Variant::default()).expect_err("no such arm");
    assert!(error.to_string().contains("read-only-local-ssd"), "{error}");
}
