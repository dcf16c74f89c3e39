//! What fio writes to a mounted volume, it reads back unchanged, by every way of asking. Needs root, FUSE
//! and fio.
#![cfg(target_os = "linux")]

mod rig;

use rig::{Rig, run};

/// Writes and verifies 24 MiB in requests of mixed sizes.
fn verify(engine: &str, more: &[&str]) {
    let rig = Rig::unlimited();
    let directory = format!("--directory={}", rig.path("").display());
    let engine = format!("--ioengine={engine}");
    let job = [
        "--name=verify",
        &directory,
        &engine,
        "--size=8m",
        "--numjobs=3",
        "--rw=randwrite",
        "--bsrange=512-64k",
        "--blockalign=512",
        "--verify=crc32c",
        "--verify_fatal=1",
        "--verify_state_save=0",
        "--randseed=7",
        "--group_reporting",
    ];
    run("fio", &[&job, more].concat());

    let reading = rig.emulation.reading();
    let disk = &reading.disks[0];
    assert!(disk.write_bytes >= 24 << 20, "{}", disk.write_bytes);
    assert!(disk.read_bytes >= 24 << 20, "{}", disk.read_bytes);
    assert_eq!(
        reading.pacing.expect("volumes are paced").requests,
        disk.reads + disk.writes + disk.flushes
    );
}

#[test]
fn one_request_after_the_other() {
    verify("psync", &["--fsync=64"]);
}

#[test]
fn native_asynchronous_requests_past_the_page_cache() {
    verify("libaio", &["--direct=1", "--iodepth=16"]);
}

#[test]
fn io_uring() {
    verify("io_uring", &["--direct=1", "--iodepth=16"]);
}

#[test]
fn requests_of_one_page_through_mapped_memory() {
    // A mapping's requests are pages, whatever fio's are.
    let rig = Rig::unlimited();
    let directory = format!("--directory={}", rig.path("").display());
    let job = [
        "--name=verify",
        &directory,
        "--ioengine=mmap",
        "--size=8m",
        "--rw=randwrite",
        "--bs=4k",
        "--verify=crc32c",
        "--verify_fatal=1",
        "--verify_state_save=0",
        "--fsync=256",
    ];
    run("fio", &job);
    assert!(rig.emulation.reading().disks[0].write_bytes >= 8 << 20);
}
