//! Captures by name, and what a rule says of one, as text.

use std::path::Path;

use dbstow_sqlserver::capture::{Capture, File, FileKind, Growth, HostFacts, VolumeFacts};
use dbstow_sqlserver::lint::{self, LintRequest, Outcome, Profile};
use rules::Selection;

pub(crate) const GIB: i64 = 1 << 30;

/// A server without findings.
pub(crate) fn good() -> Capture {
    capture("windows-2022-good-layout")
}

/// An Azure virtual machine, with user-supplied properties.
pub(crate) fn azure() -> Capture {
    let mut capture = capture("windows-2019-azure-vm");
    let volume = |mount: &str, ephemeral, disk: Option<&str>, cache: Option<&str>| VolumeFacts {
        mount_point: mount.to_owned(),
        allocation_unit_bytes: Some(if ephemeral { 4096 } else { 65_536 }),
        ephemeral: Some(ephemeral),
        disk: disk.map(str::to_owned),
        disks: disk.map(|_| 4),
        host_cache: cache.map(str::to_owned),
    };
    capture.supplied = Some(HostFacts {
        azure: Some(true),
        volumes: vec![
            volume("D:\\", true, None, None),
            volume("F:\\", false, Some("azure.premium.p30"), Some("read-only")),
            volume("g:", false, Some("azure.premium.p30"), Some("none")),
        ],
    });
    capture
}

/// User-supplied properties of a volume of [`azure`].
pub(crate) fn facts<'a>(capture: &'a mut Capture, mount: &str) -> &'a mut VolumeFacts {
    let supplied = capture.supplied.as_mut().expect("a host file was given");
    let mut volumes = supplied.volumes.iter_mut();
    volumes
        .find(|volume| volume.mount_point == mount)
        .expect("of this volume")
}

/// A capture of the folder `captures`.
pub(crate) fn capture(name: &str) -> Capture {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/captures");
    let file = folder.join(format!("{name}.json"));
    let text = std::fs::read_to_string(&file).expect("it can be read");
    Capture::from_json(name, &text).expect("it is a capture")
}

/// Makes all data files of tempdb anew: so many, of this size.
pub(crate) fn set_tempdb(capture: &mut Capture, files: usize, size: i64) {
    let template = tempdb(capture)[0].clone();
    capture
        .files
        .retain(|file| file.database_id != 2 || file.kind != FileKind::Rows);
    for number in 0..files {
        let number = i64::try_from(number).expect("it is small");
        capture.files.push(File {
            id: if number == 0 { 1 } else { number + 2 },
            name: format!("temp{number}"),
            size_bytes: size,
            ..template.clone()
        });
    }
}

/// Data files of tempdb.
pub(crate) fn tempdb(capture: &mut Capture) -> Vec<&mut File> {
    let files = capture.files.iter_mut();
    files
        .filter(|file| file.database_id == 2 && file.kind == FileKind::Rows)
        .collect()
}

/// A file by its logical name.
pub(crate) fn file<'a>(capture: &'a mut Capture, name: &str) -> &'a mut File {
    let mut files = capture.files.iter_mut();
    files.find(|file| file.name == name).expect("it is there")
}

/// Every file grows like this.
pub(crate) fn grow_all(capture: &mut Capture, growth: Growth) {
    for file in &mut capture.files {
        file.growth = growth;
    }
}

/// What a rule says: a line for each outcome.
pub(crate) fn said(capture: &Capture, rule: &str) -> String {
    let asked = LintRequest {
        selection: Selection {
            only: [rule.to_owned()].into(),
            ..Selection::default()
        },
        profiles: Profile::ALL.into(),
    };
    let judged = lint::judge(capture, &asked);
    assert_eq!(judged.len(), 1, "{rule} is a rule");
    let lines: Vec<String> = judged[0].outcomes.iter().map(line).collect();
    lines.join("\n")
}

/// An outcome in a line.
pub(crate) fn line(outcome: &Outcome) -> String {
    match outcome {
        Outcome::Finding(finding) => {
            assert!(!finding.remedy.is_empty(), "no remedy: {finding:?}");
            format!("{}: {}", finding.severity.name(), finding.message)
        }
        Outcome::Fine { value } => format!("fine: {value}"),
        Outcome::Exempt { exception, why } => format!("exempt ({exception}): {why}"),
        Outcome::CannotTell { missing, how } => format!("cannot tell: {missing}; {how}"),
        Outcome::NotApplicable { why } => format!("not applicable: {why}"),
    }
}

/// Asserts that a rule says something that starts like this.
#[track_caller]
pub(crate) fn assert_says(capture: &Capture, rule: &str, start: &str) {
    let said = said(capture, rule);
    assert!(
        said.lines().any(|line| line.starts_with(start)),
        "{rule} does not say \"{start}\" but\n{said}"
    );
}

/// Asserts that a rule finds nothing, and says why.
#[track_caller]
pub(crate) fn assert_quiet(capture: &Capture, rule: &str) {
    let said = said(capture, rule);
    let quiet = |line: &str| line.starts_with("fine: ") || line.starts_with("exempt ");
    assert!(said.lines().all(quiet), "{rule} is not quiet:\n{said}");
}
