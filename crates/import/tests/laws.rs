//! Whatever a file holds: it is read or refused, and no figure is negative.

use std::fs;
use std::path::Path;

use import::{Format, Options, Source};
use proptest::prelude::*;

/// Every file, with devices that make it a profile.
const FILES: [(&str, &[&str]); 21] = [
    ("sysstat/iostat-iso.json", &[]),
    ("sysstat/iostat-us.json", &["data=vda"]),
    ("sysstat/iostat-blocks-called-kB.json", &[]),
    ("sysstat/sadf.json", &[]),
    ("sysstat/sadf-d.csv", &[]),
    ("sql-server/dm-io-virtual-file-stats.csv", &[]),
    ("perfmon/relog.csv", &["data=D:", "log=D:", "temp=T:"]),
    ("perfmon/relog-decimal-comma-utf16.csv", &["data=D:"]),
    ("perfmon/typeperf.csv", &["data=D:"]),
    ("perfmon/export-csv.csv", &["data=D:"]),
    ("blitz-first/file-stats.csv", &[]),
    ("blitz-first/file-stats-deltas.csv", &[]),
    ("microsoft/server_PerformanceAggregated_Counters.csv", &[]),
    ("microsoft/SkuRecommendationReport.json", &[]),
    ("fio/data.iolog", &["data=shop.dat"]),
    ("fio/version-2.iolog", &["data=shop.dat"]),
    ("blktrace/blkparse.txt", &[]),
    ("blktrace/blkparse-short.txt", &[]),
    ("cloudwatch/rds.json", &[]),
    ("cloudwatch/rds-log-volume.json", &[]),
    ("azure-monitor/flexible.json", &[]),
];

fn bytes(name: &str) -> Vec<u8> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/files");
    fs::read(folder.join(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
}

/// Imports it, and checks what was imported: writing refuses negative figures, holes and overlaps.
fn import(
    name: &str,
    bytes: &[u8],
    devices: &[&str],
    format: Option<Format>,
) -> Result<(), TestCaseError> {
    let devices = devices
        .iter()
        .map(|device| device.parse().expect("a role and a device"));
    let options = Options {
        format,
        devices: devices.collect(),
        ..Options::default()
    };
    let imported = import::decode(name, bytes.to_vec()).and_then(|text| {
        import::read(
            &[Source {
                file: name,
                text: &text,
            }],
            &options,
        )
    });
    if let Ok(imported) = imported {
        let text = profile::write(name, &imported.profile);
        prop_assert!(text.is_ok(), "{name}: {text:?}");
        let read = text.and_then(|text| profile::read(name, &text));
        prop_assert!(read.is_ok(), "{name}: {read:?}");
        replay::answers(&imported.profile);
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn a_truncated_file_is_read_or_refused(file in 0..FILES.len(), at in 0.0..1.0f64) {
        let (name, devices) = FILES[file];
        let bytes = bytes(name);
        let end = (bytes.len() as f64 * at) as usize;
        import(name, &bytes[..end], devices, None)?;
    }

    #[test]
    fn a_mutated_file_is_read_or_refused(
        file in 0..FILES.len(),
        changes in prop::collection::vec((0.0..1.0f64, prop::sample::select(b"0123456789-.,:;\"{}[]e \n\tXF\xff\x00".to_vec())), 1..20),
    ) {
        let (name, devices) = FILES[file];
        let mut bytes = bytes(name);
        for (at, byte) in changes {
            let at = (bytes.len() as f64 * at) as usize;
            bytes[at] = byte;
        }
        import(name, &bytes, devices, None)?;
    }

    #[test]
    fn lines_in_any_order_and_number_are_read_or_refused(
        file in 0..FILES.len(),
        lines in prop::collection::vec(0.0..1.0f64, 1..40),
    ) {
        let (name, devices) = FILES[file];
        let text = import::decode(name, bytes(name)).expect("text");
        let all: Vec<&str> = text.lines().collect();
        let mut shuffled = vec![all[0]];
        shuffled.extend(lines.iter().map(|at| all[(all.len() as f64 * at) as usize]));
        import(name, shuffled.join("\n").as_bytes(), devices, None)?;
    }

    #[test]
    fn a_file_of_one_tool_is_read_or_refused_as_that_of_another(file in 0..FILES.len(), format in 0..Format::ALL.len()) {
        let (name, devices) = FILES[file];
        import(name, &bytes(name), devices, Some(Format::ALL[format]))?;
    }
}
