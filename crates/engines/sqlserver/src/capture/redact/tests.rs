use std::collections::BTreeSet;

use proptest::prelude::*;

use super::super::{Database, File, FileInUse, Growth, MountedVolume, Service, Unanswered};
use super::*;
use crate::lint::{self, LintRequest, Outcome};

/// The captures that rules are tested with.
fn captures() -> Vec<Capture> {
    let texts = [
        include_str!("../../../tests/captures/azure-sql-database.json"),
        include_str!("../../../tests/captures/linux-2022-container.json"),
        include_str!("../../../tests/captures/managed-instance.json"),
        include_str!("../../../tests/captures/standalone-2016-bad-layout.json"),
        include_str!("../../../tests/captures/windows-2019-azure-vm.json"),
        include_str!("../../../tests/captures/windows-2022-good-layout.json"),
    ];
    let read = |text| Capture::from_json("test", text).expect("it is a capture");
    texts.map(read).into()
}

/// Outcomes of rules, without names.
fn said(capture: &Capture) -> Vec<String> {
    let mut said = Vec::new();
    for judged in lint::judge(capture, &LintRequest::default()) {
        for outcome in &judged.outcomes {
            let what = match outcome {
                Outcome::Finding(finding) => format!("{:?}", finding.severity),
                Outcome::Exempt { exception, .. } => format!("exempt {exception}"),
                Outcome::CannotTell { .. } => "cannot tell".to_owned(),
                Outcome::Fine { .. } => "fine".to_owned(),
                Outcome::NotApplicable { .. } => "not applicable".to_owned(),
            };
            said.push(format!("{} {what}", judged.rule.id));
        }
    }
    said.sort();
    said
}

/// The JSON without the fields that may contain a name.
fn unnamed(capture: &Capture) -> String {
    let mut capture = capture.clone();
    capture.redacted = false;
    capture.identity.data_path = None;
    capture.identity.log_path = None;
    for database in &mut capture.databases {
        database.name.clear();
    }
    for service in &mut capture.services {
        service.name.clear();
        service.account.clear();
    }
    for file in &mut capture.files {
        file.name.clear();
        file.path.clear();
    }
    for file in &mut capture.tempdb_in_use {
        file.name.clear();
        file.path.clear();
    }
    for volume in &mut capture.volumes {
        volume.mount_point.clear();
        volume.label.clear();
    }
    for unanswered in &mut capture.unanswered {
        unanswered.why.clear();
    }
    serde_json::to_string(&capture).expect("its keys are texts")
}

fn folder_of(path: &str) -> &str {
    path.rfind(['\\', '/']).map_or("", |at| &path[..at])
}

#[test]
fn rules_say_the_same_of_a_redacted_capture() {
    for capture in captures() {
        let redacted = capture.redacted();
        assert_eq!(said(&redacted), said(&capture));
        assert_eq!(unnamed(&redacted), unnamed(&capture));
    }
}

#[test]
fn a_redacted_capture_stays_as_it_is() {
    for capture in captures() {
        let once = capture.redacted();
        assert!(once.redacted);
        assert_eq!(once.redacted(), once);
    }
}

#[test]
fn what_every_server_has_keeps_its_name() {
    let mut capture = captures().remove(5);
    capture.services.push(Service {
        name: "SQL Server Agent (PROD)".into(),
        account: r"NT Service\SQLAgent$PROD".into(),
        instant_file_initialization: None,
    });
    let redacted = capture.redacted();
    let databases: Vec<&str> = redacted
        .databases
        .iter()
        .map(|database| &*database.name)
        .collect();
    assert_eq!(
        databases[..5],
        ["master", "tempdb", "model", "msdb", "database-1"]
    );
    let tempdb: Vec<&File> = redacted.tempdb().collect();
    assert_eq!(tempdb[0].path, r"T:\tempdb\tempdb.mdf");
    let agent = redacted.services.last().expect("it was put there");
    assert_eq!(agent.name, "SQL Server Agent (instance-1)");
    assert_eq!(agent.account, r"NT Service\SQLAgent$instance-1");
}

#[test]
fn a_rule_about_long_names_of_tempdb_files_still_sees_them() {
    let mut names = Names::default();
    assert_eq!(
        logical(&mut names, "a-name-of-20-letters", true),
        "file-1--------------"
    );
    assert_eq!(logical(&mut names, "two words", true), "file 2   ");
    assert_eq!(logical(&mut names, "a-name-of-20-letters", false), "file-1");
}

prop_compose! {
    /// Letters that no key, number or word of ours has.
    fn name()(text in "[ÄÖßЖΩ][ÄÖßЖΩ'$ -]{2,7}[ÄÖßЖΩ]") -> String { text }
}

prop_compose! {
    fn place()(
        windows in any::<bool>(),
        drive in prop::sample::select(vec!["C:", "D:", "\\\\"]),
        folders in prop::collection::vec(name(), 1..4),
    ) -> String {
        let (root, separator) = if windows { (drive, "\\") } else { ("", "/") };
        folders.iter().fold(root.to_owned(), |path, folder| {
            let between = if path.ends_with('\\') { "" } else { separator };
            format!("{path}{between}{folder}")
        })
    }
}

/// A server whose owner named everything.
fn named() -> impl Strategy<Value = (Capture, BTreeSet<String>)> {
    let places = prop::collection::vec(place(), 1..4);
    let names = prop::collection::vec(name(), 12..=12);
    (
        places,
        names,
        prop::collection::vec((0..3_usize, 0..4_usize), 1..8),
    )
        .prop_map(|(places, names, spread)| {
            let mut capture = Capture::default();
            let greeting = Greeting {
                server: format!("{}\\{}", names[0], names[1]),
                instance: String::new(),
                database: names[2].clone(),
                login: format!("{}\\{}", names[3], names[4]),
            };
            capture.services.push(Service {
                name: format!("SQL Server ({})", names[1]),
                account: format!("{}\\{}", names[3], names[5]),
                instant_file_initialization: None,
            });
            capture.databases.push(Database {
                id: 5,
                name: names[2].clone(),
                recovery: "FULL".into(),
                read_committed_snapshot: false,
                encrypted: false,
            });
            for (number, place) in (0..).zip(&places) {
                let separator = if place.starts_with('/') { '/' } else { '\\' };
                capture.volumes.push(MountedVolume {
                    mount_point: format!("{place}{separator}"),
                    label: names[6].clone(),
                    file_system: "NTFS".into(),
                    total_bytes: number,
                    available_bytes: 0,
                    files: Vec::new(),
                });
            }
            for (id, (volume, file)) in (1..).zip(spread) {
                let volume = volume % places.len();
                let name = names[7 + file].clone();
                let path = format!("{}{name}.ndf", capture.volumes[volume].mount_point);
                capture.volumes[volume].files.push((5, id));
                capture.tempdb_in_use.push(FileInUse {
                    id,
                    kind: FileKind::Rows,
                    name: name.clone(),
                    path: path.clone(),
                    size_bytes: 0,
                });
                capture.files.push(File {
                    database_id: 5,
                    id,
                    kind: FileKind::Rows,
                    name,
                    path,
                    size_bytes: id,
                    max_bytes: None,
                    growth: Growth::None,
                    state: "ONLINE".into(),
                });
            }
            let paths = capture.files.iter().map(|file| &file.path);
            let texts = names.iter().chain(paths);
            for text in texts {
                let whys = [
                    format!("error 1, class 16: the principal \"{text}\" may not"),
                    format!("a file '{text}' (of {}) is not there", greeting.login),
                    format!("no {text} on {}", greeting.server),
                ];
                capture.unanswered.extend(whys.map(|why| Unanswered {
                    question: "files".into(),
                    why,
                    remedy: String::new(),
                }));
            }
            capture.asked = Some(greeting);
            let folders = places
                .iter()
                .flat_map(|place| place.split(['\\', '/', ':']));
            let folders = folders.filter(|name| name.chars().count() >= 4);
            let mut all: BTreeSet<String> = folders.map(str::to_owned).collect();
            // Those of no file are in error texts alone, in quotation marks first.
            all.extend(names);
            (capture, all)
        })
}

proptest! {
    #[test]
    fn no_name_is_left_in_a_redacted_capture((capture, names) in named()) {
        let json = serde_json::to_string(&capture.redacted()).expect("its keys are texts");
        let met = ["database", "files"].map(|key| json.contains(key));
        prop_assert_eq!(met, [true, true]);
        for name in names {
            prop_assert!(!json.contains(&name), "{} is in {}", name, json);
        }
    }

    #[test]
    fn files_stay_together_and_on_their_volumes((capture, _) in named()) {
        let redacted = capture.redacted();
        prop_assert_eq!(unnamed(&redacted), unnamed(&capture));
        for (file, was) in redacted.files.iter().zip(&capture.files) {
            for (other, other_was) in redacted.files.iter().zip(&capture.files) {
                let together = folder_of(&file.path) == folder_of(&other.path);
                prop_assert_eq!(together, folder_of(&was.path) == folder_of(&other_was.path));
                prop_assert_eq!(file.name == other.name, was.name == other_was.name);
            }
            let mount = &redacted.volume_of(file).expect("it is on one").mount_point;
            prop_assert!(file.path.starts_with(mount), "{} is not on {}", file.path, mount);
            prop_assert!(file.path.ends_with(".ndf"));
        }
        prop_assert_eq!(said(&redacted), said(&capture));
    }
}
