use super::*;
use crate::findings::Question;
use crate::findings::make;
use experiment::examples;
use experiment::spec::{Spec, Variant};

const HEAD: &str = "name = \"t\"\nquestion = \"Which?\"\n[machine]\ntype = \"azure.DS14_v2\"\n\
    [volume.d]\ndisk = \"local\"\n[volume.f]\ndisk = \"azure.premium.p30\"\n[volume.g]\ndisk = \"azure.premium.p30\"\n\
    [workload]\nname = \"spill\"\nsessions = 4\noperations = 16\n[engine]\nmemory = \"128 MiB\"\n\
    [protocol]\nbaseline = \"a\"\n";

/// A placement: volumes of data, temporary space and log, with numbers of files.
fn placement(name: &str, data: (&str, u32), temp: (&str, u32), log: &str) -> String {
    format!(
        "[placement.{name}]\ndata = {{ volumes = \"{}\", files = {} }}\n\
         temp = {{ volumes = \"{}\", files = {} }}\nlog = {{ volumes = \"{log}\" }}\n",
        data.0, data.1, temp.0, temp.1
    )
}

/// The result of three blocks for a change, where arm b took `factor` times as long as arm a.
fn said(change: Change, a: &str, b: &str, factor: f64) -> Vec<Measured> {
    let text = format!("{HEAD}{a}{b}");
    let spec = Spec::parse("t.toml", &text, &[], Variant::default()).expect("it makes sense");
    let plan = Plan::new(&spec, false);
    let question = Question {
        experiment: "t".into(),
        baseline: Some("a".into()),
        arms: ["a", "b"]
            .map(|name| crate::findings::ArmQuestion {
                name: name.into(),
                forgets: vec!["d".into()],
                ..Default::default()
            })
            .into(),
        ..examples::question()
    };
    let mut records = Vec::new();
    for (block, elapsed) in [100.0, 101.0, 99.5].into_iter().enumerate() {
        let block = u32::try_from(block).expect("it is small");
        for (arm, elapsed) in [("a", elapsed), ("b", elapsed * factor)] {
            let mut record = examples::trial(arm, block, elapsed);
            record.experiment = "t".into();
            records.push(record);
        }
    }
    let findings = make(&question, &records);
    let results = Results {
        folder: "r",
        plan: &plan,
        question: &question,
        findings: &findings,
    };
    about(change, &results)
}

#[test]
fn more_files_that_bring_nothing_speak_against_more_files() {
    let one = placement("a", ("f", 1), ("d", 1), "f");
    let eight = placement("b", ("f", 1), ("d", 8), "f");
    let measured = said(Change::MoreTempFiles, &one, &eight, 0.99).remove(0);
    assert_eq!(measured.speaks, Support::Against);
    insta::assert_snapshot!(measured.text, @"simulated here with sqlite (t): 8 temp files: 0.99x the elapsed time of 1 temp file (0.99-0.99): does not support this");

    let measured = said(Change::MoreTempFiles, &one, &eight, 0.5).remove(0);
    assert_eq!(measured.speaks, Support::For);
    // The same figures support fewer files when the arms are swapped.
    let measured = said(Change::FewerTempFiles, &one, &eight, 2.0).remove(0);
    assert_eq!(measured.speaks, Support::For);
}

#[test]
fn a_comparison_that_changes_two_things_at_once_says_nothing_of_either() {
    let one = placement("a", ("f", 1), ("d", 1), "f");
    let both = placement("b", ("f", 1), ("g", 8), "f");
    assert!(said(Change::MoreTempFiles, &one, &both, 0.5).is_empty());
    let data_too = placement("b", ("f", 2), ("d", 8), "f");
    assert!(said(Change::MoreTempFiles, &one, &data_too, 0.5).is_empty());
    assert!(said(Change::MoreDataFiles, &one, &data_too, 0.5).is_empty());
}

#[test]
fn each_change_knows_its_arms() {
    let cases = [
        (
            Change::MoreDataFiles,
            (("f", 1), ("d", 1), "f"),
            (("f", 4), ("d", 1), "f"),
        ),
        (
            Change::TempApart,
            (("f", 1), ("f", 1), "f"),
            (("f", 1), ("g", 1), "f"),
        ),
        (
            Change::TempLocal,
            (("f", 1), ("g", 1), "f"),
            (("f", 1), ("d", 1), "f"),
        ),
        (
            Change::LogApart,
            (("f", 1), ("d", 1), "f"),
            (("f", 1), ("d", 1), "g"),
        ),
    ];
    for (change, a, b) in cases {
        let a = placement("a", a.0, a.1, a.2);
        let b = placement("b", b.0, b.1, b.2);
        let measured = said(change, &a, &b, 0.5);
        assert_eq!(measured.len(), 1, "{change:?}");
        assert_eq!(measured[0].speaks, Support::For, "{change:?}");
        for other in Change::ALL.into_iter().filter(|other| *other != change) {
            assert!(
                said(other, &a, &b, 0.5).is_empty(),
                "{change:?} as {other:?}"
            );
        }
    }
}

#[test]
fn going_to_the_local_disk_can_also_be_going_apart() {
    let together = placement("a", ("f", 1), ("f", 1), "f");
    let local = placement("b", ("f", 1), ("d", 1), "f");
    for change in [Change::TempApart, Change::TempLocal] {
        let measured = said(change, &together, &local, 2.0).remove(0);
        assert_eq!(measured.speaks, Support::Against);
        assert!(
            measured.text.contains("b: 2.00x the elapsed time of a ("),
            "{}",
            measured.text
        );
    }
}

#[test]
fn a_binary_log_that_leaves_the_log_is_apart_and_one_that_was_not_there_is_not() {
    let with = |name: &str, volume: &str| {
        let text = placement(name, ("f", 1), ("d", 1), "f");
        format!("{text}binlog = {{ volumes = \"{volume}\" }}\n")
    };
    let (together, apart) = (with("a", "f"), with("b", "g"));
    for change in Change::ALL {
        let measured = said(change, &together, &apart, 0.5);
        assert_eq!(measured.len(), usize::from(change == Change::BinlogApart));
    }
    let none = placement("a", ("f", 1), ("d", 1), "f");
    assert!(said(Change::BinlogApart, &none, &apart, 0.5).is_empty());
}
