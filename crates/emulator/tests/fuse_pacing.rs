//! A mounted volume is as slow as its model says. Needs root, FUSE and fio.
//!
//! These tests measure time, for a second or two each, and one after the other: bounds are what a busy
//! machine with two processors keeps.
#![cfg(target_os = "linux")]

mod rig;

use std::collections::BTreeMap;
use std::fs::File;
use std::os::unix::fs::FileExt;

use model::{
    Bytes, DiskSpec, Duration, HostCacheMode, HostCacheSpec, Iops, LatencySpec, LimitSpec,
    MachineSpec, Throughput, VolumeSpec,
};
use parking_lot::{Mutex, MutexGuard};
use reading::Reading;
use rig::{Rig, run};

/// Tests that measure time must not run beside each other.
fn alone() -> MutexGuard<'static, ()> {
    static ALONE: Mutex<()> = Mutex::new(());
    ALONE.lock()
}

/// A file of `length` bytes in volume `volume`, written before anything is measured.
fn file(rig: &Rig, volume: usize, length: usize) -> File {
    let path = rig.spec.volumes[volume].directory.join("file");
    let backing = rig.spec.volumes[volume].backing.join("files/file");
    // Past the model, which would take its time.
    std::fs::write(backing, vec![1; length]).expect("room for a file");
    let mut options = File::options();
    options.read(true).write(true);
    options.open(path).expect("the file just made")
}

/// What happened while `work` ran.
fn during(rig: &Rig, work: impl FnOnce()) -> Reading {
    let before = rig.emulation.reading();
    work();
    let after = rig.emulation.reading();
    let elapsed = after.at.since(before.at);
    Reading {
        at: model::Instant::ZERO + elapsed,
        ..after.since(&before).expect("an earlier reading")
    }
}

/// fio on the files of volumes for two seconds, in one process each.
fn fio(rig: &Rig, volumes: &[usize], options: &[&str]) {
    let names: Vec<String> = volumes
        .iter()
        .flat_map(|volume| {
            let path = rig.spec.volumes[*volume].directory.join("file");
            [
                format!("--name=job{volume}"),
                format!("--filename={}", path.display()),
            ]
        })
        .collect();
    let common = [
        "--time_based",
        "--runtime=2",
        "--direct=1",
        "--ioengine=libaio",
        "--thread",
    ];
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    run("fio", &[&common, options, &names].concat());
}

fn limited(iops: u64, mb_per_s: u64) -> DiskSpec {
    DiskSpec::limited(Iops(iops), Throughput::from_mb_per_s(mb_per_s))
}

/// Whether `value` comes up to `cap` and does not exceed it. On a machine that has other work, fio asks less
/// often than it could, so that only half of it is sure to be reached.
fn is_capped_at(cap: f64, value: f64) -> bool {
    (0.5..=1.05).contains(&(value / cap))
}

#[test]
fn iops_are_capped_at_depth_1_and_8() {
    let _alone = alone();
    for (iops, depth) in [(500, "1"), (2_000, "8")] {
        let rig = Rig::of(vec![VolumeSpec::of("d", limited(iops, 1_000))]);
        file(&rig, 0, 4 << 20);
        let reading = during(&rig, || {
            fio(
                &rig,
                &[0],
                &["--rw=randread", "--bs=8k", "--iodepth", depth],
            );
        });
        // fio's own time is 2 s; what the depth of the allowance lets through at once, 4 ms, is 0.2 %.
        let achieved = reading.disks[0].reads as f64 / 2.0;
        assert!(
            is_capped_at(iops as f64, achieved),
            "{achieved} of {iops} IOPS"
        );
        assert_eq!(reading.limits[0].used, reading.disks[0].reads);
        assert_eq!(reading.limits[0].name.to_string(), "disk.d.1.iops");
        let held = reading.disks[0].spent_ns[&"read.throttled.disk.iops".parse().expect("a part")];
        assert!(held > 1_000_000_000, "{held} ns");
    }
}

#[test]
fn throughput_is_capped() {
    let _alone = alone();
    let rig = Rig::of(vec![VolumeSpec::of("d", limited(100_000, 60))]);
    file(&rig, 0, 16 << 20);
    let reading = during(&rig, || {
        fio(&rig, &[0], &["--rw=write", "--bs=256k", "--iodepth=4"]);
    });
    let achieved = reading.disks[0].write_bytes as f64 / 2.0;
    assert!(
        is_capped_at(60e6, achieved),
        "{achieved} bytes/s of 60 MB/s"
    );
}

#[test]
fn two_volumes_share_a_limit_of_their_machine() {
    let _alone = alone();
    let mut disk = DiskSpec::unlimited();
    disk.machine_limits = vec!["uncached".to_owned()];
    let mut machine = MachineSpec::unlimited();
    let limit = LimitSpec::iops(Iops(1_000));
    machine.limits = BTreeMap::from([("uncached".to_owned(), vec![limit])]);
    let volumes = ["d", "e"].map(|name| VolumeSpec::of(name, disk.clone()));
    let rig = Rig::on(machine, volumes.to_vec());
    file(&rig, 0, 4 << 20);
    file(&rig, 1, 4 << 20);

    let reading = during(&rig, || {
        fio(&rig, &[0, 1], &["--rw=randread", "--bs=8k", "--iodepth=4"]);
    });

    let each: Vec<f64> = reading
        .disks
        .iter()
        .map(|disk| disk.reads as f64 / 2.0)
        .collect();
    let sum: f64 = each.iter().sum();
    assert!(is_capped_at(1_000.0, sum), "{each:?}");
    assert!(each.iter().all(|one| *one > 125.0), "{each:?}");
    assert_eq!(reading.limits[0].name.to_string(), "machine.uncached.iops");
    assert!(
        reading.disks[0].spent_ns[&"read.throttled.machine.uncached.iops"
            .parse()
            .expect("a part")]
            > 0
    );
}

#[test]
fn latency_has_the_models_as_its_floor() {
    let _alone = alone();
    let latency = |us| LatencySpec::constant(Duration::from_micros(us));
    let disk = DiskSpec {
        read_latency: latency(2_000),
        write_latency: latency(1_000),
        flush_latency: latency(3_000),
        ..DiskSpec::unlimited()
    };
    let rig = Rig::of(vec![VolumeSpec::of("d", disk)]);
    let file = file(&rig, 0, 1 << 20);
    let clock = host::clock::Clock::start();
    let timed = |work: &dyn Fn()| {
        let mut times: Vec<u64> = (0..40)
            .map(|_| {
                let start = clock.now();
                work();
                clock.now().since(start).as_nanos() / 1_000
            })
            .collect();
        times.sort_unstable();
        times
    };
    let read = timed(&|| file.read_exact_at(&mut [0; 8_192], 0).unwrap());
    let written = timed(&|| file.write_all_at(&[0; 8_192], 0).unwrap());
    let flushed = timed(&|| file.sync_data().unwrap());
    for (times, floor) in [(read, 2_000), (written, 1_000), (flushed, 3_000)] {
        // A reply is sent a little early, because whoever waits for it wakes up late: 400 us at most.
        assert!(times[0] + 400 >= floor, "{} of {floor} us", times[0]);
        // On a machine that has other work, most may be much later, but not all.
        assert!(times[0] < floor + 1_000, "{} of {floor} us", times[0]);
    }
    let pacing = rig.emulation.reading().pacing.unwrap();
    assert!(pacing.error.len() + pacing.late <= pacing.requests);
    assert_eq!(pacing.requests, 120);
}

#[test]
fn a_host_cache_serves_what_it_holds() {
    let _alone = alone();
    let mut machine = MachineSpec::unlimited();
    machine.host_cache = Some(HostCacheSpec {
        size: Bytes::mib(64),
        hit_latency: LatencySpec::ZERO,
        through_latency: LatencySpec::ZERO,
        limit: "cached".to_owned(),
    });
    let volume = VolumeSpec {
        host_cache: HostCacheMode::ReadOnly,
        ..VolumeSpec::of("d", DiskSpec::unlimited())
    };
    let rig = Rig::on(machine, vec![volume]);
    let file = file(&rig, 0, 1 << 20);
    let read = || {
        for block in 0..16 {
            file.read_exact_at(&mut [0; 8_192], block * 8_192).unwrap();
        }
    };
    let hits = |rig: &Rig| rig.emulation.reading().disks[0].cache_hits;
    read();
    assert_eq!(hits(&rig), 0);
    read();
    assert_eq!(hits(&rig), 16);
    rig.emulation.empty_host_cache();
    read();
    assert_eq!(hits(&rig), 16);
}

#[test]
fn a_stripe_spreads_requests_over_its_disks() {
    let volume = VolumeSpec {
        disks: vec![DiskSpec::unlimited(), DiskSpec::unlimited()],
        ..VolumeSpec::of("d", DiskSpec::unlimited())
    };
    let rig = Rig::of(vec![volume]);
    let file = file(&rig, 0, 1 << 20);
    // 1 MiB over two disks by 64 KiB: half each.
    file.read_exact_at(&mut vec![0; 1 << 20], 0).unwrap();
    let bytes: Vec<u64> = rig
        .emulation
        .reading()
        .disks
        .iter()
        .map(|disk| disk.read_bytes)
        .collect();
    assert_eq!(bytes, [512 << 10, 512 << 10]);
}
