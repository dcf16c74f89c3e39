//! Plain I/O: over the model against what the model's limits say, and through a real fio.

use std::collections::BTreeMap;
use std::num::NonZeroU32;
use std::path::Path;

use experiment::record::histogram;
use experiment::spec::{Spec, Variant};
use lab::inventory::{EMBEDDED, Inventory};
use lab::trial::Stage;
use model::{
    Bytes, DiskSpec, Duration, Instant, Iops, LatencySpec, MachineSpec, Throughput, VolumeSpec,
};
use raw::{self, Files, Fio, Pattern, RawError, RawOutcome, RawSpec, SyncSpec, Window};

fn spec(depth: u32, read_percent: u8) -> RawSpec {
    RawSpec {
        block_size: Bytes::kib(8),
        read_percent,
        depth,
        pattern: Pattern::Random,
        span: Bytes::mib(64),
        sync: SyncSpec::None,
        rate: None,
    }
}

fn window(from_ms: u64, until_ms: u64) -> Window {
    Window {
        from: Instant::ZERO + Duration::from_millis(from_ms),
        until: Instant::ZERO + Duration::from_millis(until_ms),
    }
}

fn simulated(disk: DiskSpec, files: &[usize], spec: &RawSpec) -> RawOutcome {
    let volumes = [VolumeSpec::of("v", disk)];
    let machine = MachineSpec::unlimited();
    let window = window(1_000, 11_000);
    raw::simulate((&machine, &volumes), files, spec, 1, window, &|| false)
        .expect("the disk takes time")
}

/// 1,000 IOPS and 100 MB/s; reads of 2 ms, writes of 4 ms, flushes of 1 ms.
fn disk() -> DiskSpec {
    DiskSpec {
        read_latency: LatencySpec::constant(Duration::from_millis(2)),
        write_latency: LatencySpec::constant(Duration::from_millis(4)),
        flush_latency: LatencySpec::constant(Duration::from_millis(1)),
        ..DiskSpec::limited(Iops(1_000), Throughput::from_mb_per_s(100))
    }
}

#[test]
fn one_request_at_a_time_takes_the_disks_latency() {
    let outcome = simulated(disk(), &[0], &spec(1, 100));

    // 10 s / 2 ms.
    assert_eq!(outcome.reads.count(), 5_000);
    assert_eq!(outcome.metrics()["iops"], 500.0);
    assert!((outcome.metrics()["read_latency_ms"] - 2.0).abs() < 0.002);
    assert_eq!(outcome.writes.count(), 0);
}

#[test]
fn many_requests_at_a_time_get_the_limit_and_wait_for_the_rest() {
    let outcome = simulated(disk(), &[0], &spec(16, 100));

    let metrics = outcome.metrics();
    assert!((metrics["iops"] - 1_000.0).abs() < 1.0, "{metrics:?}");
    // 16 / 1,000 per second.
    assert!((metrics["read_latency_ms"] - 16.0).abs() < 0.05);
    let used = &outcome.limits[0];
    assert_eq!(used.name.to_string(), "disk.v.1.iops");
    assert!((used.utilisation - 1.0).abs() < 0.01, "{used:?}");
    // All 16 are in flight at all times: 16 x 10 s, of which 2 ms in 16 are service.
    let spent = &outcome.time_split_ns;
    assert_eq!(spent.values().sum::<u64>(), 160_000_000_000, "{spent:?}");
    let service = spent[&"read.service".parse().expect("a cause")] as f64 / 160e9;
    assert!((service - 0.125).abs() < 0.001, "{spent:?}");
}

#[test]
fn depth_is_that_of_each_file_and_disks_add_up_to_the_operations() {
    let stripe = VolumeSpec {
        disks: vec![disk(), disk()],
        ..VolumeSpec::of("v", disk())
    };
    let volumes = [stripe, VolumeSpec::of("w", disk())];
    let machine = MachineSpec::unlimited();
    let window = window(1_000, 6_000);
    let spec = spec(4, 70);

    let run = || {
        raw::simulate((&machine, &volumes), &[0, 0, 1], &spec, 7, window, &|| {
            false
        })
    };
    let outcome = run().unwrap();

    assert_eq!(outcome, run().unwrap(), "same seed, same outcome");
    let disks = outcome.disks.iter().flatten();
    let reads: u64 = disks.clone().map(|disk| disk.reads).sum();
    let bytes: u64 = disks.map(|disk| disk.read_bytes + disk.write_bytes).sum();
    assert_eq!(
        reads,
        outcome.reads.count(),
        "no block lies across a stripe"
    );
    assert_eq!(bytes, outcome.transfers().bytes.0);
    let share = outcome.reads.count() as f64 / outcome.transfers().count() as f64;
    assert!((share - 0.7).abs() < 0.02, "{share}");
    // 3 files x 4 requests under way for 5 s.
    assert_eq!(outcome.time_split_ns.values().sum::<u64>(), 60_000_000_000);
    let operations: u64 = outcome.series.values["operations"][1..].iter().sum();
    assert_eq!(operations, outcome.transfers().count());
}

#[test]
fn each_place_flushes_after_its_own_writes_and_waits_for_it() {
    let spec = RawSpec {
        sync: SyncSpec::FlushEvery(NonZeroU32::new(2).unwrap()),
        ..spec(1, 0)
    };
    let outcome = simulated(disk(), &[0], &spec);

    // Two writes of 4 ms and a flush of 1 ms: 9 ms.
    assert_eq!(outcome.flushes.count(), outcome.writes.count() / 2);
    assert!(
        outcome.writes.count().abs_diff(2_222) <= 2,
        "{}",
        outcome.writes.count()
    );
    assert!((outcome.flushes.latency.mean() / 1e6 - 1.0).abs() < 0.01);
}

#[test]
fn a_rate_bounds_what_a_file_is_asked_for() {
    let spec = RawSpec {
        rate: Some(Iops(100)),
        ..spec(1, 100)
    };
    let outcome = simulated(disk(), &[0], &spec);
    assert!(outcome.reads.count().abs_diff(1_000) <= 1);
}

#[test]
fn a_volume_that_takes_no_time_is_refused_and_a_stop_is_obeyed() {
    let machine = MachineSpec::unlimited();
    let run = |disk: DiskSpec, stop: bool| {
        let volumes = [VolumeSpec::of("v", disk)];
        let window = window(0, 100_000);
        raw::simulate((&machine, &volumes), &[0], &spec(8, 50), 1, window, &|| {
            stop
        })
    };
    let error = run(DiskSpec::unlimited(), false).unwrap_err();
    assert!(
        matches!(&error, RawError::Timeless(volume) if volume == "v"),
        "{error}"
    );
    assert!(matches!(run(disk(), true), Err(RawError::Cancelled)));
}

/// Simulates every arm of the built-in experiment like a real trial: the outcome, and its disk, by arm.
fn volume_alone() -> BTreeMap<String, (RawOutcome, DiskSpec)> {
    let inventory = Inventory::with_engines(EMBEDDED);
    let checked = Spec::builtin("volume-alone", &[], Variant::QUICK)
        .and_then(|spec| spec.check(&inventory))
        .expect("it was checked");
    let plan = experiment::plan::Plan::new(&checked, false);
    let one = |arm: &experiment::spec::Arm| {
        let stage = Stage::new(&arm.settings, &inventory.catalogue).expect("it was checked");
        let workload = inventory
            .workload(&arm.settings.workload)
            .expect("it was checked");
        let spec = RawSpec::from_parameters(workload.parameters()).expect("it was checked");
        let window = Window::of(&arm.settings.workload).expect("it was checked");
        let files: Vec<usize> = stage.store.data.iter().map(|file| file.volume).collect();
        let storage = (&stage.machine, stage.volumes.as_slice());
        let outcome =
            raw::simulate(storage, &files, &spec, 1, window, &|| false).expect("it was checked");
        (
            arm.name.clone(),
            (outcome, stage.volumes[0].disks[0].clone()),
        )
    };
    plan.arms.iter().map(one).collect()
}

#[test]
fn the_built_in_experiment_shows_latency_at_depth_1_and_limits_at_depth_64() {
    let arms = volume_alone();
    let iops = |arm: &str| arms[arm].0.metrics()["iops"];

    assert_eq!(arms.len(), 6);
    // P30: 5,000 IOPS; gp3 unasked: 3,000 IOPS (the vendors' pages, in the catalogue).
    assert!((iops("premium-depth-64") - 5_000.0).abs() < 100.0);
    assert!((iops("gp3-depth-64") - 3_000.0).abs() < 60.0);
    for arm in ["premium-depth-1", "gp3-depth-1"] {
        let disk = &arms[arm].1;
        // One after the other: 0.7 of the time of a read and 0.3 of that of a write each. 3 s of at
        // least 200 a second have a standard error below 2 %.
        let (read, write) = (disk.read_latency.mean(), disk.write_latency.mean());
        let each_s = 0.7 * read.as_secs_f64() + 0.3 * write.as_secs_f64();
        assert!(
            (iops(arm) * each_s - 1.0).abs() < 0.06,
            "{arm}: {}",
            iops(arm)
        );
    }
}

fn left_in(directory: &Path) -> usize {
    directory.read_dir().expect("it is there").count()
}

#[test]
fn fio_measures_files_by_volume_and_they_are_removed() {
    let Some(fio) = testing::or_skip(Fio::find()) else {
        return;
    };
    let folders = [tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap()];
    let place = |at: usize| (at, folders[at].path().to_owned());
    let span = Bytes::mib(16);
    let files = Files::lay_out(&fio, &[place(0), place(1), place(1)], span, &|| false).unwrap();
    let spec = RawSpec {
        span,
        sync: SyncSpec::FlushEvery(NonZeroU32::new(2).unwrap()),
        ..spec(2, 50)
    };
    let volumes = ["a".to_owned(), "b".to_owned()];
    // A seed of all 64 bits, which is more than fio takes.
    let (seed, window) = (u64::MAX, window(50, 550));
    let outcome = raw::measure(&fio, (&files, &volumes), &spec, seed, window, &|| false);
    let outcome = outcome.unwrap();

    assert_eq!(outcome.disks.len(), 2);
    let reads = outcome.disks.iter().flatten().map(|disk| disk.reads);
    assert_eq!(reads.sum::<u64>(), outcome.reads.count());
    assert!(outcome.reads.count() > 0 && outcome.writes.count() > 0);
    assert!(outcome.flushes.count() > 0);
    let read_latency = outcome.disks[1][0].read_latency.as_deref().unwrap();
    assert_eq!(
        histogram::decode(read_latency).unwrap().len(),
        outcome.disks[1][0].reads
    );
    assert!(outcome.engine.version.starts_with("fio-"));
    files.remove().unwrap();
    assert!(folders.iter().all(|folder| left_in(folder.path()) == 0));
}

#[test]
fn a_measurement_that_is_stopped_ends_fio_and_leaves_no_file() {
    let Some(fio) = testing::or_skip(Fio::find()) else {
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    let place = [(0, folder.path().to_owned())];
    let span = Bytes::mib(8);
    let files = Files::lay_out(&fio, &place, span, &|| false).unwrap();
    let spec = RawSpec {
        span,
        ..spec(1, 100)
    };
    let volumes = ["a".to_owned()];
    // A minute, were it not stopped.
    let long = window(0, 60_000);
    let outcome = raw::measure(&fio, (&files, &volumes), &spec, 1, long, &|| true);
    assert!(matches!(outcome, Err(RawError::Cancelled)));
    drop(files);
    assert_eq!(left_in(folder.path()), 0);
}

#[test]
fn no_room_and_no_directory_are_told_before_anything_is_written() {
    let Some(fio) = testing::or_skip(Fio::find()) else {
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    let place = [(0, folder.path().to_owned())];
    let error = Files::lay_out(&fio, &place, Bytes(1 << 60), &|| false).unwrap_err();
    assert!(matches!(error, RawError::Space { .. }), "{error}");
    assert_eq!(left_in(folder.path()), 0);
    let missing = [(0, folder.path().join("missing"))];
    let error = Files::lay_out(&fio, &missing, Bytes::mib(1), &|| false).unwrap_err();
    assert!(error.to_string().contains("missing"), "{error}");
}

#[test]
fn a_file_of_another_run_is_left_alone() {
    let Some(fio) = testing::or_skip(Fio::find()) else {
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    let theirs = folder.path().join("dbstow-raw-1.dat");
    std::fs::write(&theirs, "theirs").unwrap();
    let place = [(0, folder.path().to_owned())];
    let error = Files::lay_out(&fio, &place, Bytes::mib(1), &|| false).unwrap_err();
    assert!(matches!(error, RawError::Exists(_)), "{error}");
    assert_eq!(std::fs::read_to_string(theirs).unwrap(), "theirs");
}
