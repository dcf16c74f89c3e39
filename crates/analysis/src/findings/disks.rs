//! What an arm's disks did: means over its trials, latencies over all their requests.

use super::metrics::NS_PER_MS;
use super::{ArmVolume, Counted, Disk, Latency, Utilisation};
use experiment::record::{DiskRecord, DiskTimes, Limit, LimitRecord, Record, histogram};
use reading::cause::Measure;

/// Bytes in a megabyte.
const BYTES_PER_MB: f64 = 1e6;

/// The volumes of an arm, as its first trial lists them.
pub(super) fn volumes(trials: &[&Record]) -> Vec<ArmVolume> {
    let Some(first) = trials.first() else {
        return Vec::new();
    };
    first
        .volumes
        .iter()
        .map(|volume| ArmVolume {
            name: volume.name.clone(),
            disk: volume.disk.clone(),
            files: volume.files.clone(),
            disks: volume
                .disks
                .iter()
                .map(|disk| over_trials(&disk.name, trials))
                .collect(),
        })
        .collect()
}

/// How long the phases that count took, in seconds.
pub(super) fn measured_s(record: &Record) -> f64 {
    let measured = record.phases.iter().filter(|phase| phase.measured);
    measured
        .map(|phase| phase.end_ns.saturating_sub(phase.start_ns) as f64 / 1e9)
        .sum()
}

fn over_trials(name: &str, trials: &[&Record]) -> Disk {
    let rate = |of: fn(&DiskRecord) -> u64| {
        let rates = trials.iter().map(|record| {
            let count = disk(record, name).map_or(0, of) as f64;
            ratio(count, measured_s(record))
        });
        rates.sum::<f64>() / trials.len() as f64
    };
    let latency = |of: fn(&DiskRecord) -> Option<&str>| {
        latency(
            trials
                .iter()
                .filter_map(|record| disk(record, name).and_then(of)),
        )
    };
    Disk {
        name: name.into(),
        read_iops: rate(|disk| disk.reads),
        write_iops: rate(|disk| disk.writes),
        read_mb_per_s: rate(|disk| disk.read_bytes) / BYTES_PER_MB,
        write_mb_per_s: rate(|disk| disk.write_bytes) / BYTES_PER_MB,
        read_latency_ms: latency(|disk| disk.read_latency.as_deref()),
        write_latency_ms: latency(|disk| disk.write_latency.as_deref()),
        utilisation: Utilisation {
            iops: utilisation(&Limit::of_disk(name, Measure::Iops), trials),
            throughput: utilisation(&Limit::of_disk(name, Measure::Throughput), trials),
        },
        cache_hits: cache_hits(name, trials),
        counted: counted(name, trials),
    }
}

/// Share of all reads of all trials.
fn cache_hits(name: &str, trials: &[&Record]) -> Option<f64> {
    let disks = || trials.iter().filter_map(|record| disk(record, name));
    let sum = |of: fn(&DiskRecord) -> u64| disks().map(of).fold(0, u64::saturating_add);
    let (hits, reads) = (sum(|disk| disk.cache_hits), sum(|disk| disk.reads));
    (hits > 0).then(|| ratio(hits as f64, reads as f64).min(1.0))
}

/// The operating system's counters of a real disk, over all of `trials` that have them.
fn counted(name: &str, trials: &[&Record]) -> Option<Counted> {
    let disks = trials.iter().filter_map(|record| {
        let disk = disk(record, name)?;
        Some((disk, disk.times?, measured_s(record)))
    });
    let disks: Vec<_> = disks.collect();
    let sum = |of: fn(&DiskRecord, &DiskTimes) -> u64| {
        let all = disks.iter().map(|(disk, times, _)| of(disk, times));
        all.fold(0, u64::saturating_add) as f64
    };
    let mean_ms = |ns: f64, count: f64| (count > 0.0).then(|| ns / count / NS_PER_MS);
    let measured: f64 = disks.iter().map(|(_, _, seconds)| seconds).sum();
    (!disks.is_empty()).then(|| Counted {
        busy: ratio(sum(|_, times| times.busy_ns) / 1e9, measured),
        read_mean_ms: mean_ms(sum(|_, times| times.read_ns), sum(|disk, _| disk.reads)),
        write_mean_ms: mean_ms(sum(|_, times| times.write_ns), sum(|disk, _| disk.writes)),
    })
}

fn disk<'a>(record: &'a Record, name: &str) -> Option<&'a DiskRecord> {
    let mut disks = record.volumes.iter().flat_map(|volume| &volume.disks);
    disks.find(|disk| disk.name == name)
}

/// Mean over trials of the used share of a limit, by the busier direction where it has two.
pub(super) fn utilisation(limit: &Limit, trials: &[&Record]) -> f64 {
    let of_trial = |record: &&Record| {
        let same = record.limits.iter().filter(|l| l.name == *limit);
        same.map(share_used).fold(0.0, f64::max)
    };
    ratio(trials.iter().map(of_trial).sum(), trials.len() as f64)
}

fn share_used(limit: &LimitRecord) -> f64 {
    if limit.utilisation.is_finite() {
        limit.utilisation
    } else {
        0.0
    }
}

fn latency<'a>(texts: impl Iterator<Item = &'a str>) -> Option<Latency> {
    // Damaged histograms have a warning elsewhere.
    let (merged, _) = histogram::merge(texts);
    let at = |quantile| merged.value_at_quantile(quantile) as f64 / NS_PER_MS;
    (!merged.is_empty()).then(|| Latency {
        mean: merged.mean() / NS_PER_MS,
        p50: at(0.5),
        p99: at(0.99),
    })
}

pub(super) fn ratio(part: f64, whole: f64) -> f64 {
    if whole > 0.0 { part / whole } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use experiment::examples::trial;

    #[test]
    fn rates_count_over_the_measured_time_alone() {
        let record = trial("p30", 0, 100.0);

        let volumes = volumes(&[&record]);

        // 67,000 reads of 64 KiB in 100 measured seconds
        let disk = &volumes[0].disks[0];
        assert_eq!(disk.read_iops, 670.0);
        assert!((disk.read_mb_per_s - 43.909_12).abs() < 1e-9);
    }

    #[test]
    fn latencies_of_all_trials_are_one_distribution() {
        let with_latency = |ns: u64| {
            let mut latency = histogram::empty();
            latency.record_n(ns, 10).unwrap();
            let mut record = trial("p30", 0, 100.0);
            record.volumes[0].disks[0].read_latency = Some(histogram::encode(&latency));
            record
        };
        let (fast, slow) = (with_latency(1_000_000), with_latency(3_000_000));

        let latency = volumes(&[&fast, &slow])[0].disks[0]
            .read_latency_ms
            .unwrap();

        assert!((latency.mean - 2.0).abs() < 0.01);
        assert!((latency.p50 - 1.0).abs() < 0.01 && (latency.p99 - 3.0).abs() < 0.01);
    }

    #[test]
    fn reads_that_the_host_cache_served_are_a_share_of_all_reads() {
        let with_hits = |hits: u64| {
            let mut record = trial("p30", 0, 100.0);
            record.volumes[0].disks[0].cache_hits = hits;
            record
        };
        let (cold, warm) = (with_hits(0), with_hits(33_500));
        let hits = |trials: &[&Record]| volumes(trials)[0].disks[0].cache_hits;

        // 33,500 of 2 x 67,000 reads
        assert_eq!(hits(&[&cold, &warm]), Some(0.25));
        assert_eq!(hits(&[&cold]), None);
    }

    #[test]
    fn a_real_disk_has_means_and_a_share_of_busy_time() {
        let mut record = trial("p30", 0, 100.0);
        record.volumes[0].disks[0].times = Some(DiskTimes {
            busy_ns: 97_000_000_000,
            read_ns: 134_000_000_000,
            write_ns: 16_000_000_000,
        });

        let counted = volumes(&[&record])[0].disks[0].counted.unwrap();

        // 97 of 100 s; 134 s over 67,000 reads; 16 s over 16,000 writes
        assert!((counted.busy - 0.97).abs() < 1e-9);
        assert!((counted.read_mean_ms.unwrap() - 2.0).abs() < 1e-9);
        assert!((counted.write_mean_ms.unwrap() - 1.0).abs() < 1e-9);
    }

    #[test]
    fn a_trial_without_measured_time_has_no_rates() {
        let mut record = trial("p30", 0, 100.0);
        record.phases.clear();

        assert_eq!(volumes(&[&record])[0].disks[0].read_iops, 0.0);
    }
}
