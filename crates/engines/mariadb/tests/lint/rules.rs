//! All rules together: their names, sources and words.

use std::collections::BTreeSet;

use ::rules::{Outcome, Selection};
use mariadb::capture::Capture;
use mariadb::lint;

use crate::support::{good, good_mysql, line};

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
        assert!(!rule.applies.products.is_empty(), "{}", rule.id);
        for source in rule.sources {
            assert!(source.url.starts_with("https://"), "{}", source.url);
            assert!(source.read.starts_with("2026-"), "{}", source.name);
        }
    }
}

#[test]
fn a_good_server_has_no_finding_and_leaves_nothing_open() {
    for capture in [good(), good_mysql()] {
        for judged in lint::judge(&capture, &Selection::default()) {
            for outcome in &judged.outcomes {
                let well = matches!(
                    outcome,
                    Outcome::Fine { .. } | Outcome::Exempt { .. } | Outcome::NotApplicable { .. }
                );
                assert!(well, "{}: {}", judged.rule.id, line(outcome));
            }
        }
    }
}

#[test]
fn an_empty_capture_leaves_every_rule_open() {
    for judged in lint::judge(&Capture::default(), &Selection::default()) {
        for outcome in &judged.outcomes {
            let open = matches!(outcome, Outcome::CannotTell { how, .. } if !how.is_empty());
            assert!(open, "{}: {}", judged.rule.id, line(outcome));
        }
    }
}

#[test]
fn no_rule_gives_more_than_it_says() {
    let mut worst = good();
    worst.variables.clear();
    for (name, value) in [
        ("datadir", "/data/mysql/"),
        ("log_bin", "ON"),
        ("log_bin_basename", "/data/mysql/bin"),
        ("binlog_expire_logs_seconds", "0"),
        ("innodb_buffer_pool_size", "134217728"),
        ("innodb_doublewrite", "OFF"),
        ("innodb_flush_log_at_trx_commit", "0"),
        ("innodb_flush_method", "nosync"),
        ("innodb_io_capacity", "200"),
        ("innodb_log_file_size", "100663296"),
        ("innodb_temp_data_file_path", "ibtmp1:12M:autoextend"),
        ("innodb_undo_tablespaces", "0"),
        ("performance_schema", "OFF"),
        ("sync_binlog", "0"),
    ] {
        crate::support::set(&mut worst, name, value);
    }
    let mut found = 0;
    for judged in lint::judge(&worst, &Selection::default()) {
        for outcome in &judged.outcomes {
            if let Outcome::Finding(finding) = outcome {
                assert!(finding.severity <= judged.rule.severity, "{finding:?}");
                found += 1;
            }
        }
    }
    // Nine rules whose variables are set badly, one of them once for each log.
    assert_eq!(found, 10);
}

#[test]
fn a_rule_that_is_ignored_says_nothing_and_one_that_is_named_is_alone() {
    let id = "redo-log-small".to_owned();
    let ignored = Selection {
        ignored: [id.clone()].into(),
        ..Selection::default()
    };
    let judged = lint::judge(&good(), &ignored);
    assert!(judged.iter().all(|judged| judged.rule.id != id));
    let only = Selection {
        only: [id].into(),
        ..Selection::default()
    };
    assert_eq!(lint::judge(&good(), &only).len(), 1);
}
