use super::*;

fn text(source: &str) -> Text {
    let whole = format!("name = \"x\"\nquestion = \"?\"\n{source}[workload]\nname = \"w\"\n");
    Text::read(&whole).expect("an experiment").0
}

fn path(key: &str) -> Vec<String> {
    key.split('.').map(str::to_owned).collect()
}

#[test]
fn a_key_is_found_on_its_line_and_a_missing_one_at_its_table() {
    let text = text("[volume.d]\ndisk = \"local\"\n");
    assert_eq!(text.line(&path("volume.d.disk")), 4);
    assert_eq!(text.line(&path("volume.d.count")), 3);
    assert_eq!(text.line(&path("protocol.seed")), 1);
}

#[test]
fn a_set_key_replaces_or_adds() {
    let text = text("[volume.d]\ndisk = \"local\"\n");
    let text = text.with("volume.d.count", typed("2")).expect("known key");
    let text = text.with("volume.d.disk", typed("a.b")).expect("bare text");
    let wire = text.wire();
    assert_eq!(wire.volume["d"].count, Some(2));
    assert_eq!(wire.volume["d"].disk, "a.b");
}

#[test]
fn a_set_folder_takes_the_place_of_the_workload_and_its_parameters() {
    let text = text("").with("workload.parameters.rows", typed("3"));
    let text = text.expect("known key");
    let text = text.with("workload.folder", typed("mine"));
    let workload = text.expect("known key").wire().workload;
    assert_eq!(workload.name, None);
    assert_eq!(workload.folder.as_deref(), Some("mine"));
    assert!(workload.parameters.is_empty());
}

#[test]
fn a_set_profile_takes_the_place_of_the_workload_and_of_what_it_was_compared_by() {
    let before = text("").with("protocol.metric", typed("elapsed_s"));
    let before = before
        .expect("known key")
        .with("workload.sessions", typed("3"));
    let after = before
        .expect("known key")
        .with("workload.profile", typed("a.toml"));
    let wire = after.expect("known key").wire();
    assert_eq!(wire.workload.name, None);
    assert_eq!(wire.workload.sessions, None);
    assert_eq!(wire.workload.profile.as_deref(), Some("a.toml"));
    assert_eq!(wire.protocol.metric, None);
}

#[test]
fn a_set_volume_takes_the_place_of_the_old_one_and_what_was_fitted_of_it() {
    let fitted = |parameter: &str| {
        format!("[[fitted]]\nparameter = \"{parameter}\"\nto = \"a\"\nwhy = \"w\"\n")
    };
    let both = fitted("volume.d.override.iops_limit") + &fitted("engine.memory");
    let text = text(&format!("{both}[volume.d]\ndisk = \"a.b\"\ncount = 2\n"));
    let text = text.with("volume.d", typed("{ disk = \"mine\" }"));
    let wire = text.expect("known volume").wire();
    assert_eq!(wire.volume["d"].disk, "mine");
    assert_eq!(wire.volume["d"].count, None);
    let left: Vec<_> = wire.fitted.iter().map(|entry| &entry.parameter).collect();
    assert_eq!(left, ["engine.memory"]);
}

#[test]
fn a_mistyped_key_is_refused_with_the_near_one() {
    let text = text("[volume.d]\ndisk = \"local\"\n");
    let refuse = |key: &str| text.with(key, typed("2")).expect_err("unknown");
    assert_eq!(
        refuse("workload.sesions"),
        "there is no key \"sesions\"; did you mean \"sessions\"?"
    );
    assert_eq!(
        refuse("volume.e.count"),
        "there is no volume \"e\"; did you mean \"d\"?"
    );
    assert!(refuse("volume.e").contains("did you mean \"d\"?"));
    assert!(refuse("volume").contains("is a section"));
    assert!(refuse("volume..count").contains("dotted path"));
}

#[test]
fn edits_together_are_edits_one_by_one() {
    let source =
        "[volume.d]\ndisk = \"a.b\"\n[volume.d.override]\niops_limit = 5\n[protocol]\nblocks = 2\n";
    let text = text(source);
    for edits in [
        &[("protocol.blocks", "3"), ("protocol.seed", "7")][..],
        &[("engine.memory", "1 GiB"), ("engine.sort_memory", "1 MiB")],
        &[("volume.d", "{ disk = \"mine\" }"), ("volume.d.iops", "3")],
        &[("workload.sessions", "3"), ("workload.folder", "mine")],
        &[
            ("engine.memory", "1 GiB"),
            ("volume.d.iops", "3"),
            ("machine.cores", "2"),
        ],
    ] {
        let typed: Vec<_> = edits
            .iter()
            .map(|(key, value)| (*key, typed(value)))
            .collect();
        let together = text.edited(&typed).expect("known keys");
        let each = typed.iter().try_fold(text.clone(), |text, (key, value)| {
            text.with(key, value.clone())
        });
        let each = each.expect("known keys");
        assert_eq!(
            format!("{:?}", together.wire()),
            format!("{:?}", each.wire())
        );
    }
}

#[test]
fn the_first_edit_at_fault_is_reported_even_if_a_later_one_corrects_it() {
    let text = text("[volume.d]\ndisk = \"a.b\"\n");
    let at_fault = |edits: &[(&str, &str)]| {
        let edits: Vec<_> = edits
            .iter()
            .map(|(key, value)| (*key, typed(value)))
            .collect();
        text.edited(&edits).map(|_| ()).map_err(|(at, _)| at)
    };
    let latency = "volume.d.override.read_latency";
    for edits in [
        &[
            ("engine.memory", "1 MiB"),
            ("workload.sessions", "x"),
            ("workload.sessions", "4"),
        ][..],
        &[
            ("engine.memory", "1 MiB"),
            ("workload.sessions", "x"),
            ("workload.profile", "p"),
        ],
        &[
            ("engine.memory", "1 MiB"),
            ("volume.d", "{ count = 2 }"),
            ("volume.d.disk", "c.d"),
        ],
        &[
            ("engine.memory", "1 MiB"),
            ("source.date", "2026"),
            ("source.title", "t"),
        ],
        &[
            (latency, "{ p50 = \"1 ms\", p99 = \"2 ms\" }"),
            ("volume.d.override.read_latency.p50", "4 ms"),
            ("volume.d.override.read_latency.p99", "8 ms"),
        ],
        &[
            ("engine.memory", "1 MiB"),
            ("workload.sesions", "4"),
            ("workload.operations", "x"),
        ],
    ] {
        assert_eq!(at_fault(edits), Err(1), "{edits:?}");
    }
    assert_eq!(
        at_fault(&[("engine.memory", "1 MiB"), ("workload.sessions", "4")]),
        Ok(())
    );
}

#[test]
fn a_section_that_was_applied_before_is_not_set() {
    let text = text("[volume.d]\ndisk = \"local\"\n");
    for (key, remedy) in [
        (
            "quick.x",
            "[quick] is applied before this, which would change nothing; set x without it",
        ),
        (
            "quick.\"workload.sessions\"",
            "set workload.sessions without it",
        ),
        ("real-time.engine.memory", "set engine.memory without it"),
        ("real-time-sqlserver", "set its keys without it"),
    ] {
        let error = text.with(key, typed("3")).expect_err("no effect");
        assert!(error.ends_with(remedy), "{key}: {error}");
    }
}
