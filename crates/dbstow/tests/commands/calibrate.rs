//! Calibration: measurements of a modelled disk reproduce that disk, and those of a real directory give an entry that the
//! catalogue can read.

use calibrate::{About, Fitted, Job, Rates, Sample};
use catalogue::{Catalogue, Provision};
use model::{
    Bytes, Counts, DiskSpec, Duration, Iops, LatencySpec, LimitSpec, MachineSpec, Rate, Throughput,
    VolumeSpec,
};
use raw::Fio;
use testing::folder::{Folder, contains};

/// Duration of a job; 3 s at 2,500 reads a second leave the p99 uncertain by about 4 %.
const EACH: Duration = Duration::from_secs(3);
const SPAN: Bytes = Bytes::gib(1);

/// What a calibration would measure on a volume that is `disk`.
fn samples(disk: &DiskSpec) -> Vec<Sample> {
    let volumes = [VolumeSpec::of("v", disk.clone())];
    let machine = MachineSpec::unlimited();
    let mut seed = 1_000;
    let mut one = |job: &Job| {
        seed += 1;
        let storage = (&machine, volumes.as_slice());
        raw::simulate(
            storage,
            &[0],
            &job.spec(SPAN),
            seed,
            Job::window(EACH),
            &|| false,
        )
    };
    calibrate::sweep(&mut one).expect("the disk takes time")
}

fn log_normal(p50_us: u64, p99_us: u64) -> LatencySpec {
    LatencySpec::LogNormal {
        p50: Duration::from_micros(p50_us),
        p99: Duration::from_micros(p99_us),
    }
}

/// A disk with a latency each, and a transfer rate.
fn disk(limits: Vec<LimitSpec>) -> DiskSpec {
    DiskSpec {
        size: Bytes::gib(100),
        limits,
        read_latency: log_normal(500, 1_200),
        write_latency: log_normal(800, 2_000),
        flush_latency: log_normal(1_500, 4_000),
        transfer: Some(Throughput::from_mb_per_s(1_000)),
        ..DiskSpec::unlimited()
    }
}

fn about() -> About {
    About {
        name: "my-disk".to_owned(),
        size: Bytes::gib(100),
        host: "host".to_owned(),
        date: "2026-01-31".to_owned(),
        fio: "fio-3.33".to_owned(),
        note: "a test".to_owned(),
    }
}

fn near(own: f64, wanted: f64, share: f64) {
    assert!(
        (own / wanted - 1.0).abs() < share,
        "{own} instead of {wanted}"
    );
}

fn near_latency(own: LatencySpec, wanted: LatencySpec) {
    let parts = |latency| match latency {
        LatencySpec::LogNormal { p50, p99 } => (p50.as_secs_f64(), p99.as_secs_f64()),
        other => panic!("{other:?} is not log-normal"),
    };
    let (own, wanted) = (parts(own), parts(wanted));
    near(own.0, wanted.0, 0.04);
    // The p99 of 3,000 draws has a standard error of about 4 %.
    near(own.1, wanted.1, 0.15);
}

#[test]
fn a_disk_with_shared_limits_is_found_again() {
    let limits = vec![
        LimitSpec::iops(Iops(5_000)),
        LimitSpec::throughput(Throughput::from_mb_per_s(200)),
    ];
    let disk = disk(limits);

    let fitted = calibrate::fit(&samples(&disk));

    assert!(
        matches!(fitted.iops, Some(Rates::Shared(iops)) if iops.abs_diff(5_000) < 50),
        "{fitted:?}"
    );
    assert!(
        matches!(fitted.throughput, Some(Rates::Shared(rate)) if rate.abs_diff(200_000_000) < 4_000_000),
        "{fitted:?}"
    );
    near_latency(fitted.read, disk.read_latency);
    near_latency(fitted.write, disk.write_latency);
    near_latency(fitted.flush, disk.flush_latency);
    near(fitted.transfer.unwrap().0 as f64, 1e9, 0.10);
    assert_eq!(fitted.in_flight_max, None);
    assert_eq!(fitted.warnings, [""; 0]);
}

#[test]
fn limits_of_each_side_are_told_apart() {
    let one = |counts, rate| LimitSpec {
        counts,
        rate,
        ..LimitSpec::iops(Iops(1))
    };
    let limits = vec![
        one(Counts::Reads, Rate::Iops(Iops(8_000))),
        one(Counts::Writes, Rate::Iops(Iops(3_000))),
        one(
            Counts::Reads,
            Rate::Throughput(Throughput::from_mb_per_s(300)),
        ),
        one(
            Counts::Writes,
            Rate::Throughput(Throughput::from_mb_per_s(150)),
        ),
    ];
    let fitted = calibrate::fit(&samples(&disk(limits)));

    let Some(Rates::Split { read, write }) = fitted.iops else {
        panic!("{fitted:?}");
    };
    near(read as f64, 8_000.0, 0.02);
    near(write as f64, 3_000.0, 0.02);
    let Some(Rates::Split { read, write }) = fitted.throughput else {
        panic!("{fitted:?}");
    };
    near(read as f64, 300e6, 0.02);
    near(write as f64, 150e6, 0.02);
}

#[test]
fn a_limit_that_another_one_hides_is_not_made_up() {
    // 200 MB/s are 24,414 requests of 8 KiB, so that 50,000 IOPS never show.
    let limits = vec![
        LimitSpec::iops(Iops(50_000)),
        LimitSpec::throughput(Throughput::from_mb_per_s(200)),
    ];
    let fitted = calibrate::fit(&samples(&disk(limits)));

    assert_eq!(fitted.iops, None, "{fitted:?}");
    assert!(fitted.throughput.is_some());
    assert!(
        fitted
            .assumed
            .iter()
            .any(|text| text.starts_with("no limit on requests"))
    );
}

#[test]
fn places_in_flight_are_told_from_limits() {
    let disk = DiskSpec {
        in_flight_max: Some(4),
        ..disk(Vec::new())
    };
    let fitted = calibrate::fit(&samples(&disk));

    assert_eq!(fitted.in_flight_max, Some(4), "{fitted:?}");
    assert_eq!((fitted.iops, fitted.throughput), (None, None));
}

#[test]
fn the_fitted_disk_behaves_like_the_one_it_was_fitted_to() {
    let limits = vec![
        LimitSpec::iops(Iops(5_000)),
        LimitSpec::throughput(Throughput::from_mb_per_s(200)),
    ];
    let samples = samples(&disk(limits));
    let text = calibrate::entry(&calibrate::fit(&samples), &about());
    let modelled = calibrate::disk_of(&text, "my-disk.toml", "my-disk").unwrap();

    let agreements = calibrate::check(&samples, &modelled, SPAN, EACH, &|| false).unwrap();

    assert_eq!(agreements.len(), samples.len());
    for agreement in &agreements {
        let [iops, mean, p50, p99] = agreement.deviations();
        let close = iops.abs() < 0.05 && mean.abs() < 0.05 && p50.abs() < 0.06 && p99.abs() < 0.2;
        assert!(close, "{}: {iops} {mean} {p50} {p99}", agreement.job);
    }
}

#[test]
fn a_disk_that_was_slower_than_the_fit_does_not_agree() {
    let fast = disk(vec![LimitSpec::iops(Iops(5_000))]);
    let slow = disk(vec![LimitSpec::iops(Iops(4_000))]);
    let samples = samples(&slow);
    let agreements = calibrate::check(&samples, &fast, SPAN, EACH, &|| false).unwrap();
    assert!(agreements.iter().any(|agreement| !agreement.is_close()));
}

#[test]
fn the_entry_says_where_it_comes_from_and_means_what_was_fitted() {
    let fitted = Fitted {
        read: log_normal(500, 1_200),
        write: LatencySpec::constant(Duration::from_micros(90)),
        flush: log_normal(1_500, 4_000),
        transfer: Some(Throughput(987_600_000)),
        iops: Some(Rates::Split {
            read: 54_990,
            write: 30_460,
        }),
        throughput: Some(Rates::Shared(200_100_000)),
        in_flight_max: Some(3),
        assumed: vec!["this".to_owned()],
        warnings: vec!["that".to_owned()],
    };
    let text = calibrate::entry(&fitted, &about());

    let mut catalogue = Catalogue::builtin();
    catalogue.add(&text, "my-disk.toml").unwrap();
    let entry = catalogue.disk("my-disk").unwrap();
    assert_eq!(
        entry.sources[0].title,
        "calibrated on host at 2026-01-31 with fio-3.33"
    );
    let disk = entry.provision(&Provision::default()).unwrap().spec;
    assert_eq!(disk.read_latency, fitted.read);
    assert_eq!(disk.write_latency, fitted.write);
    assert_eq!(disk.transfer, fitted.transfer);
    assert_eq!(disk.in_flight_max, Some(3));
    let rates: Vec<_> = disk
        .limits
        .iter()
        .map(|limit| (limit.counts, limit.rate))
        .collect();
    assert_eq!(
        rates,
        [
            (Counts::Reads, Rate::Iops(Iops(54_990))),
            (Counts::Writes, Rate::Iops(Iops(30_460))),
            (Counts::All, Rate::Throughput(Throughput(200_100_000))),
        ]
    );
}

#[test]
fn names_that_are_taken_or_unusual_are_refused() {
    let catalogue = Catalogue::builtin();
    for (name, why) in [
        ("azure.premium.p30", "is in the catalogue already"),
        (
            "local",
            "is reserved: experiments call the machine's own disk so",
        ),
        (
            "unlimited",
            "is reserved: experiments call a disk without limits so",
        ),
        ("my disk", "letters, digits"),
        ("", "1 to 64"),
    ] {
        let error = About::check_name(name, &catalogue).unwrap_err().to_string();
        assert!(error.contains("--name") && error.contains(why), "{error}");
    }
    About::check_name("nvme-1", &catalogue).unwrap();
}

#[test]
fn mistakes_are_told_before_anything_is_measured() {
    let folder = Folder::with(&[("there.toml", "")]);
    for (arguments, wanted) in [
        (["--time", "1s"], "too short"),
        (["--size", "4KiB"], "too small"),
        (["--name", "a b"], "cannot be a disk's name"),
        (["--out", "there.toml"], "is there already"),
        (["--out", "none/x.toml"], "not a folder"),
        (["--out", "/proc/x.toml"], "/proc/x.toml"),
    ] {
        let printed = folder.printed(&["calibrate", ".", arguments[0], arguments[1]]);
        assert_ne!(printed.code, 0, "{}", printed.stderr);
        contains(&printed.stderr, &[wanted]);
    }
    assert_eq!(folder.root().read_dir().unwrap().count(), 1);
}

#[test]
fn a_real_directory_becomes_an_entry_and_its_file_is_removed() {
    if testing::or_skip(Fio::find()).is_none() {
        return;
    }
    let folder = Folder::new();
    let printed = folder.stdout(&[
        "calibrate",
        ".",
        "--size",
        "64MiB",
        "--time",
        "6s",
        "--format",
        "json",
    ]);
    let report: serde_json::Value = serde_json::from_str(&printed).unwrap();
    let jobs = report["jobs"].as_array().unwrap();
    // Three depths at least of each side and size, two mixes, four latencies and the flush.
    assert!(jobs.len() >= 2 * 2 * 3 + 7, "{}", jobs.len());
    assert!(
        jobs.iter()
            .all(|job| job["measured"]["iops"].as_f64() > Some(0.0))
    );
    let text = folder.read("my-disk.toml");
    calibrate::disk_of(&text, "my-disk.toml", "my-disk").unwrap();
    assert!(text.contains("with fio-"), "{text}");
    assert_eq!(
        folder.root().read_dir().unwrap().count(),
        1,
        "the entry alone is left"
    );
}
