//! The capture of a real server (`captures/README.md`).

use std::path::Path;

use mariadb::capture::Capture;

use crate::support::assert_says;

fn captured() -> Capture {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/captures/mariadb-10.11.json");
    let text = std::fs::read_to_string(file).expect("it can be read");
    Capture::from_json("mariadb-10.11.json", &text).expect("it is a capture")
}

#[test]
fn a_server_under_load_with_a_small_redo_log_is_found_though_it_has_just_started() {
    let capture = captured();
    // 11,223,973 of 12,871,804 bytes.
    let hurried = "medium: the checkpoint is at 87 % of its largest age";
    assert_says(&capture, "redo-log-small", hurried);
    assert_says(&capture, "buffer-pool-small", "cannot tell: rates");
}

#[test]
fn one_directory_for_all_logs_is_found() {
    let capture = captured();
    assert_says(&capture, "binlog-and-redo-together", "low: ");
    assert_says(&capture, "binlog-never-expires", "medium: ");
    assert_says(&capture, "tmpdir-in-memory", "medium: ");
}
