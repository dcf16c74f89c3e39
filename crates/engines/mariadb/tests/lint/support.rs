//! A server without findings, changes to it, and a rule's outcome as text.

use ::rules::{Outcome, Selection};
use mariadb::capture::{Capture, Directory, MountedVolume, Product, VolumeFacts};
use mariadb::lint;

pub(crate) const MIB: u64 = 1 << 20;
pub(crate) const GIB: u64 = 1 << 30;
const HOUR: u64 = 3600;

/// Variables of a server without findings.
const VARIABLES: [(&str, &str); 23] = [
    ("datadir", "/data/mysql/"),
    ("innodb_data_home_dir", ""),
    ("innodb_data_file_path", "ibdata1:12M:autoextend"),
    ("innodb_log_group_home_dir", "/redo"),
    ("innodb_undo_directory", "./"),
    ("log_bin", "ON"),
    ("log_bin_basename", "/binlog/bin"),
    ("tmpdir", "/fast/tmp"),
    (
        "innodb_temp_data_file_path",
        "ibtmp1:12M:autoextend:max:20G",
    ),
    ("binlog_expire_logs_seconds", "604800"),
    ("innodb_buffer_pool_size", "68719476736"),
    ("innodb_doublewrite", "ON"),
    ("innodb_flush_log_at_trx_commit", "1"),
    ("innodb_flush_method", "O_DIRECT"),
    ("innodb_flush_neighbors", "0"),
    ("innodb_io_capacity", "2000"),
    ("innodb_log_file_size", "8589934592"),
    ("innodb_page_size", "16384"),
    ("innodb_undo_tablespaces", "3"),
    ("innodb_undo_log_truncate", "ON"),
    ("performance_schema", "ON"),
    ("sync_binlog", "1"),
    ("tmp_disk_table_size", "18446744073709551615"),
];

/// Its counters, of a day: 1,000,000,000 page requests with 100,000 misses, 24 GiB of redo, a tenth of temporary tables on disk.
const COUNTERS: [(&str, u64); 9] = [
    ("Uptime", 24 * HOUR),
    ("Innodb_buffer_pool_read_requests", 1_000_000_000),
    ("Innodb_buffer_pool_reads", 100_000),
    ("Innodb_os_log_written", 24 * GIB),
    ("Innodb_checkpoint_age", GIB),
    ("Innodb_checkpoint_max_age", 7 * GIB),
    ("Created_tmp_tables", 1_000_000),
    ("Created_tmp_disk_tables", 100_000),
    ("Sort_merge_passes", 10),
];

/// A server without findings: five volumes, each on a solid-state disk without atomic write guarantees.
pub(crate) fn good() -> Capture {
    let mut capture = Capture {
        version: "10.11.19-MariaDB-log".to_owned(),
        ..Capture::default()
    };
    for (name, value) in VARIABLES {
        set(&mut capture, name, value);
    }
    for (name, value) in COUNTERS {
        capture.status.insert(name.to_owned(), value);
    }
    for (path, mount, disk) in [
        ("/data/mysql", "/data", "sda"),
        ("/redo", "/redo", "sdb"),
        ("/binlog", "/binlog", "sdc"),
        ("/fast/tmp", "/fast", "nvme0n1"),
    ] {
        capture.directories.push(Directory {
            path: path.to_owned(),
            volume: mount.to_owned(),
        });
        capture.volumes.push(MountedVolume {
            mount_point: mount.to_owned(),
            file_system: "ext4".to_owned(),
            disks: vec![disk.to_owned()],
            solid_state: Some(true),
            atomic_write_bytes: Some(0),
            total_bytes: 100 * GIB,
            available_bytes: 50 * GIB,
        });
    }
    capture
}

/// The same as MySQL 8.0.
pub(crate) fn good_mysql() -> Capture {
    let mut capture = good();
    capture.product = Product::MySql;
    capture.version = "8.0.40".to_owned();
    capture
}

/// Nothing known of volumes, as over a network.
pub(crate) fn remote() -> Capture {
    Capture {
        directories: Vec::new(),
        volumes: Vec::new(),
        ..good()
    }
}

/// Sets a variable.
pub(crate) fn set(capture: &mut Capture, name: &str, value: &str) {
    capture.variables.insert(name.to_owned(), value.to_owned());
}

/// With variables set.
pub(crate) fn with(mut capture: Capture, variables: &[(&str, &str)]) -> Capture {
    for (name, value) in variables {
        set(&mut capture, name, value);
    }
    capture
}

/// With counters set.
pub(crate) fn counted(mut capture: Capture, counters: &[(&str, u64)]) -> Capture {
    for (name, value) in counters {
        capture.status.insert((*name).to_owned(), *value);
    }
    capture
}

/// With a volume of the capture changed.
pub(crate) fn on(
    mut capture: Capture,
    mount: &str,
    change: impl Fn(&mut MountedVolume),
) -> Capture {
    let mut volumes = capture.volumes.iter_mut();
    let volume = volumes.find(|volume| volume.mount_point == mount);
    change(volume.expect("it is there"));
    capture
}

/// With user-supplied properties of the data's volume.
pub(crate) fn with_facts(mut capture: Capture, change: impl Fn(&mut VolumeFacts)) -> Capture {
    let mut facts = VolumeFacts {
        mount_point: "/data".to_owned(),
        ..VolumeFacts::default()
    };
    change(&mut facts);
    capture.supplied.push(facts);
    capture
}

/// A rule's outcomes, one per line.
pub(crate) fn said(capture: &Capture, rule: &str) -> String {
    let selection = Selection {
        only: [rule.to_owned()].into(),
        ..Selection::default()
    };
    let judged = lint::judge(capture, &selection);
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

/// Asserts that a rule says one thing, which starts like this.
#[track_caller]
pub(crate) fn assert_says(capture: &Capture, rule: &str, start: &str) {
    let said = said(capture, rule);
    assert!(
        said.starts_with(start) && said.lines().count() == 1,
        "{rule} does not say \"{start}\" alone but\n{said}"
    );
}
