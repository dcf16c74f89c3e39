//! tempdb: number, sizes, growth and volume of its files.

use dbstow_sqlserver::capture::{FileKind, Growth, Unanswered};

use crate::support::{
    GIB, assert_quiet, assert_says, azure, capture, file, good, said, set_tempdb, tempdb,
};

#[test]
fn fewer_files_than_processors_up_to_eight_is_a_finding() {
    for (processors, files, finding) in [
        (16, 7, true),
        (16, 8, false),
        (4, 3, true),
        (4, 4, false),
        // Not equality: more than the processors, up to 8, is harmless.
        (4, 8, false),
        (1, 1, false),
    ] {
        let mut capture = good();
        capture.machine.processors = Some(processors);
        set_tempdb(&mut capture, files, GIB);
        let said = said(&capture, "tempdb-file-count");
        assert_eq!(said.starts_with("medium: "), finding, "{said}");
    }
}

#[test]
fn too_many_files_are_more_than_eight_and_more_than_half_of_the_processors() {
    for (processors, files, start) in [
        (16, 12, "low: "),
        // 12 of 32 is less than half, and 8 + 4.
        (32, 12, "fine: "),
        (64, 16, "fine: "),
        (128, 40, "fine: "),
        // Groups of 4 are a note and no more.
        (64, 10, "note: "),
    ] {
        let mut capture = good();
        capture.machine.processors = Some(processors);
        set_tempdb(&mut capture, files, GIB);
        assert_says(&capture, "tempdb-file-count", start);
    }
}

#[test]
fn without_processors_the_number_of_files_cannot_be_told() {
    let mut capture = good();
    capture.machine.processors = None;
    assert_says(
        &capture,
        "tempdb-file-count",
        "cannot tell: the number of processors",
    );
}

#[test]
fn the_rule_on_numbers_is_not_for_azures_services() {
    for name in ["managed-instance", "azure-sql-database"] {
        assert_says(&capture(name), "tempdb-file-count", "not applicable: ");
    }
}

#[test]
fn sizes_within_one_per_cent_are_alike() {
    for (other, start) in [
        (100 * GIB, "fine: "),
        (99 * GIB, "fine: "),
        // 1.5 % and 1.5 GiB apart.
        (98 * GIB + GIB / 2, "medium: "),
    ] {
        let mut capture = good();
        set_tempdb(&mut capture, 4, 100 * GIB);
        tempdb(&mut capture)[3].size_bytes = other;
        assert_says(&capture, "tempdb-sizes-alike", start);
    }
    let mut capture = good();
    set_tempdb(&mut capture, 4, 8 * GIB);
    // 100 MiB of 8 GiB: 1.2 %, less than 1 GiB.
    tempdb(&mut capture)[0].size_bytes -= 100 << 20;
    assert_says(&capture, "tempdb-sizes-alike", "low: ");
    // A small file beside a large one takes little of the writes, however few bytes that is.
    set_tempdb(&mut capture, 2, 64 << 20);
    tempdb(&mut capture)[0].size_bytes = 800 << 20;
    assert_says(&capture, "tempdb-sizes-alike", "medium: ");
}

#[test]
fn files_that_parted_since_the_start_are_found_in_use() {
    let mut capture = good();
    assert_quiet(&capture, "tempdb-skewed-in-use");
    let mut used = capture.tempdb_in_use.iter_mut();
    used.next().expect("there are files").size_bytes *= 3;
    assert_says(
        &capture,
        "tempdb-skewed-in-use",
        "medium: tempdb's data files now have 8 GiB to 24 GiB",
    );
    assert_quiet(&capture, "tempdb-sizes-alike");
}

#[test]
fn growth_since_the_start_says_what_to_start_with() {
    let mut capture = good();
    assert_quiet(&capture, "tempdb-grown");
    for used in &mut capture.tempdb_in_use {
        used.size_bytes *= 2;
    }
    assert_says(
        &capture,
        "tempdb-grown",
        "low: tempdb has grown from 64 GiB to 128 GiB",
    );
}

#[test]
fn a_size_as_setup_leaves_it_is_none() {
    let mut capture = good();
    assert_quiet(&capture, "tempdb-initial-size");
    tempdb(&mut capture)[2].size_bytes = 8 << 20;
    assert_says(
        &capture,
        "tempdb-initial-size",
        "medium: temp3 starts with 8 MiB",
    );
}

#[test]
fn growth_is_one_amount_for_all_files() {
    let mut capture = good();
    assert_quiet(&capture, "tempdb-growth-alike");
    assert_quiet(&capture, "tempdb-growth-percent");
    tempdb(&mut capture)[0].growth = Growth::Percent(10);
    assert_says(&capture, "tempdb-growth-alike", "medium: ");
    assert_says(
        &capture,
        "tempdb-growth-percent",
        "low: 1 file of tempdb grows by per cent",
    );
}

#[test]
fn tempdb_beside_data_is_a_finding_on_a_machine_of_ones_own() {
    let mut capture = good();
    assert_quiet(&capture, "tempdb-shares-volume");
    file(&mut capture, "sales").path = "T:\\data\\sales.mdf".into();
    move_to(&mut capture, (5, 1), "T:\\");
    assert_says(
        &capture,
        "tempdb-shares-volume",
        "medium: tempdb shares T:\\ with sales",
    );
}

#[test]
fn azures_machines_are_exempt_from_a_volume_of_its_own_for_tempdb() {
    let mut capture = azure();
    assert_quiet(&capture, "tempdb-shares-volume");
    for file in tempdb(&mut capture) {
        file.path = file.path.replace("D:\\tempDb", "F:\\tempdb");
    }
    assert_says(&capture, "tempdb-shares-volume", "exempt (azure-vm): ");
    capture.supplied = None;
    assert_says(&capture, "tempdb-shares-volume", "medium: ");
    let asked = dbstow_sqlserver::lint::LintRequest::default();
    let judged = dbstow_sqlserver::lint::judge(&capture, &asked);
    let text = format!("{judged:?}");
    assert!(text.contains("say so with --host"), "{text}");
}

#[test]
fn a_disk_for_each_file_is_a_note_and_one_for_all_is_fine() {
    let mut capture = good();
    assert_says(
        &capture,
        "tempdb-files-own-disks",
        "fine: 8 data files on 1 volume",
    );
    set_tempdb(&mut capture, 2, GIB);
    tempdb(&mut capture)[0].path = "E:\\tempdb.mdf".into();
    tempdb(&mut capture)[1].path = "L:\\tempdb2.ndf".into();
    assert_says(&capture, "tempdb-files-own-disks", "note: ");
}

#[test]
fn what_the_next_start_changes_is_named_file_by_file() {
    let mut capture = good();
    assert_quiet(&capture, "tempdb-pending-restart");
    // Case and slashes do not make a different path.
    capture.tempdb_in_use[0].path = "t:/TEMPDB/tempdb.mdf".into();
    assert_quiet(&capture, "tempdb-pending-restart");
    capture.tempdb_in_use[0].path = "C:\\old\\tempdb.mdf".into();
    capture.tempdb_in_use.pop();
    assert_says(
        &capture,
        "tempdb-pending-restart",
        "medium: 2 files of tempdb will be different",
    );
}

#[test]
fn trace_flags_are_for_2014_and_before() {
    let mut capture = good();
    assert_quiet(&capture, "tempdb-trace-flags");
    capture.trace_flags = vec![1118, 3226];
    assert_says(&capture, "tempdb-trace-flags", "low: trace flag 1118 is on");
    capture.identity.version = "12.0.6024.0".into();
    assert_says(
        &capture,
        "tempdb-trace-flags",
        "low: trace flag 1117 is off",
    );
    capture.trace_flags = vec![1117, 1118];
    assert_quiet(&capture, "tempdb-trace-flags");
}

/// Puts a file on another volume, as the server would say it.
fn move_to(capture: &mut dbstow_sqlserver::capture::Capture, key: (i64, i64), mount: &str) {
    for volume in &mut capture.volumes {
        volume.files.retain(|file| *file != key);
        if volume.mount_point == mount {
            volume.files.push(key);
        }
    }
    assert!(capture.files.iter().any(|file| file.kind == FileKind::Rows));
}

#[test]
fn trace_flags_that_the_server_did_not_show_are_not_off() {
    for version in ["12.0.6024.0", "16.0.4085.2"] {
        let mut capture = good();
        capture.identity.version = version.into();
        capture.trace_flags.clear();
        capture.unanswered = vec![Unanswered {
            question: "trace flags".into(),
            why: "error 2571: no permission to run DBCC TRACESTATUS".into(),
            remedy: String::new(),
        }];
        assert_says(
            &capture,
            "tempdb-trace-flags",
            "cannot tell: which trace flags are on; capture again",
        );
    }
}

#[test]
fn what_shows_files_is_granted_where_files_are_missing_and_statistics_of_files_too() {
    let mut capture = good();
    capture.files.clear();
    let grant = |right: &str| format!("GRANT {right} TO [login]");
    capture.unanswered = vec![Unanswered {
        question: "file statistics".into(),
        why: "error 300".into(),
        remedy: grant("VIEW SERVER PERFORMANCE STATE"),
    }];
    let definition = "capture again as a login with VIEW ANY DEFINITION";
    for (rule, what) in [
        ("tempdb-file-count", "the files of tempdb"),
        ("growth-percent", "the files of the databases"),
    ] {
        assert_says(
            &capture,
            rule,
            &format!("cannot tell: {what}; {definition}"),
        );
    }
    capture.file_io.clear();
    capture.unanswered.insert(
        0,
        Unanswered {
            question: "permissions".into(),
            why: "timeout".into(),
            remedy: grant("NOTHING"),
        },
    );
    let performance = grant("VIEW SERVER PERFORMANCE STATE");
    let expected = format!("cannot tell: what the files did; {performance}");
    assert_says(&capture, "latency-azure", &expected);
}

/// The capture of an administrator whose server was busy: a right would not have helped.
#[test]
fn after_a_timeout_lint_names_the_timeout_and_no_right() {
    // As captures have it, and as people write it.
    let captured = "no answer within the time that was allowed; check what answers at that address, or allow more with --timeout";
    for why in [captured, "timed out after 30 s"] {
        let mut capture = good();
        capture.files.clear();
        capture.volumes.clear();
        capture.tempdb_in_use.clear();
        capture.machine.processors = None;
        capture.machine.memory_bytes = None;
        capture
            .settings
            .insert("max server memory (MB)".into(), 4096);
        let timed_out = |question: &str| Unanswered {
            question: question.into(),
            why: why.into(),
            remedy: String::new(),
        };
        let asked = ["files", "machine", "trace flags"];
        capture.unanswered = asked.map(timed_out).into();
        let remedy = "capture again with a longer --timeout; the server did not answer in time";
        for (rule, what) in [
            ("growth-percent", "the files of the databases"),
            ("tempdb-pending-restart", "the files of tempdb"),
            ("tempdb-file-count", "the number of processors"),
            (
                "max-server-memory",
                "the machine's memory, to hold 4 GiB against",
            ),
            ("tempdb-trace-flags", "which trace flags are on"),
        ] {
            assert_says(
                &capture,
                rule,
                &format!("cannot tell: {what}; {remedy}: {why}"),
            );
        }
    }
}

#[test]
fn no_processors_and_no_memory_are_not_told() {
    let mut capture = good();
    capture.machine.processors = Some(0);
    capture.machine.memory_bytes = Some(0);
    capture
        .settings
        .insert("max server memory (MB)".into(), 4096);
    let text = serde_json::to_string(&capture).expect("its keys are texts");
    let capture = dbstow_sqlserver::capture::Capture::from_json("c.json", &text);
    let capture = capture.expect("it is one");
    assert_says(
        &capture,
        "max-server-memory",
        "cannot tell: the machine's memory, to hold 4 GiB against; capture again",
    );
    assert_says(
        &capture,
        "tempdb-file-count",
        "cannot tell: the number of processors; capture again",
    );
}
