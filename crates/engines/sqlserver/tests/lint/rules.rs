//! All rules together: their names, sources and words.

use std::collections::BTreeSet;

use dbstow_sqlserver::lint::{self, LintRequest, Outcome, Severity};
use rules::Selection;

use crate::support::{good, line};

#[test]
fn every_rule_has_a_stable_name_a_reason_and_a_source_with_its_day() {
    let mut ids = BTreeSet::new();
    for rule in lint::rules() {
        assert!(ids.insert(rule.id), "{} is there twice", rule.id);
        let kebab = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
        assert!(rule.id.chars().all(kebab), "{}", rule.id);
        for text in [rule.title, rule.why, rule.says] {
            assert!(text.len() > 10, "{}: \"{text}\"", rule.id);
        }
        assert!(!rule.sources.is_empty(), "{} has no source", rule.id);
        for source in rule.sources {
            assert!(source.url.starts_with("https://"), "{}", source.url);
            assert!(source.read.starts_with("2026-"), "{}", source.name);
        }
    }
    assert!(ids.len() >= 35, "{} rules", ids.len());
}

#[test]
fn a_good_layout_has_no_finding_above_a_note() {
    for judged in lint::judge(&good(), &LintRequest::default()) {
        for outcome in &judged.outcomes {
            let note = |outcome: &Outcome| matches!(outcome, Outcome::Finding(f) if f.severity > Severity::Note);
            assert!(!note(outcome), "{}: {}", judged.rule.id, line(outcome));
        }
    }
}

#[test]
fn no_rule_gives_more_than_it_says() {
    let names = [
        "windows-2019-azure-vm",
        "linux-2022-container",
        "managed-instance",
        "azure-sql-database",
        "standalone-2016-bad-layout",
        "windows-2022-good-layout",
    ];
    let captures = names.map(crate::support::capture);
    for capture in captures.iter().chain([&crate::support::azure()]) {
        for judged in lint::judge(capture, &all_profiles()) {
            for outcome in &judged.outcomes {
                if let Outcome::Finding(finding) = outcome {
                    assert!(finding.severity <= judged.rule.severity, "{finding:?}");
                }
            }
        }
    }
}

#[test]
fn ladders_of_latency_are_asleep_until_they_are_asked_for() {
    let judged = lint::judge(&good(), &LintRequest::default());
    assert!(
        judged
            .iter()
            .all(|judged| !judged.rule.id.starts_with("latency-"))
    );
    let judged = lint::judge(&good(), &all_profiles());
    let awake = judged
        .iter()
        .filter(|judged| judged.rule.id.starts_with("latency-"));
    assert_eq!(awake.count(), 4);
}

#[test]
fn a_rule_that_is_ignored_says_nothing_and_one_that_is_named_is_alone() {
    let asked = LintRequest {
        selection: Selection {
            ignored: ["tempdb-grown".to_owned()].into(),
            ..Selection::default()
        },
        ..LintRequest::default()
    };
    let judged = lint::judge(&good(), &asked);
    assert!(judged.iter().all(|judged| judged.rule.id != "tempdb-grown"));
    let asked = LintRequest {
        selection: Selection {
            only: ["tempdb-grown".to_owned()].into(),
            ..Selection::default()
        },
        ..LintRequest::default()
    };
    assert_eq!(lint::judge(&good(), &asked).len(), 1);
}

#[test]
fn an_empty_capture_is_never_fine_for_want_of_files() {
    let mut empty = dbstow_sqlserver::capture::Capture::default();
    empty.identity.engine_edition = 3;
    empty.identity.version = "16.0.1.1".into();
    empty.machine.platform = "Windows".into();
    empty.machine.azure = Some(true);
    let silent = [
        // These look at what is there: no trace flag is a value, not a gap.
        "tempdb-trace-flags",
        // Without databases of users there is nothing to cache.
        "data-and-log-together",
        "azure-data-cache",
        "azure-log-cache",
        "azure-disk-class",
    ];
    for judged in lint::judge(&empty, &all_profiles()) {
        for outcome in &judged.outcomes {
            let fine = matches!(outcome, Outcome::Fine { .. } | Outcome::Exempt { .. });
            let allowed = silent.contains(&judged.rule.id);
            assert!(!fine || allowed, "{}: {}", judged.rule.id, line(outcome));
        }
    }
}

fn all_profiles() -> LintRequest {
    LintRequest {
        profiles: lint::Profile::ALL.into(),
        ..LintRequest::default()
    }
}
