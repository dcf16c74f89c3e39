//! A small question with handmade records, for tests.

use std::collections::BTreeMap;

use model::Counts;

use crate::plan::Plan;
use crate::question::{ArmQuestion, Published, Question};
use crate::record::{
    Cause, ClientRecord, DiskRecord, DiskTimes, EngineRecord, Errors, LimitRecord, Outcome, Pacing,
    Phase, Record, SCHEMA, Series, VolumeRecord, histogram,
};
use crate::spec::Role;

/// Two placements of temporary space, as in the first article.
pub fn question() -> Question {
    Question {
        experiment: "tempdb-ssd-vs-premium".into(),
        question: "Is tempdb faster on the local SSD or on a P30?".into(),
        source: Some("an article".into()),
        mode: "simulate".into(),
        seed: 1,
        blocks: 3,
        margin: 0.05,
        errors_max: 0.01,
        baseline: Some("local-ssd".into()),
        metric: "elapsed_s".into(),
        arms: vec![arm("local-ssd", 157.0, true), arm("p30", 164.0, false)],
        fitted: Vec::new(),
        variations: Vec::new(),
        sweeps: Vec::new(),
        changed: Vec::new(),
        one_writer: false,
        aa: false,
    }
}

fn arm(name: &str, elapsed_s: f64, fitted: bool) -> ArmQuestion {
    ArmQuestion {
        name: name.into(),
        baseline: None,
        published: BTreeMap::from([("elapsed_s".into(), Published::Number(elapsed_s))]),
        fitted,
        usd_per_month: None,
        requests: BTreeMap::new(),
        with_machine: false,
        with_windows: false,
        price_lists: Vec::new(),
        forgets: Vec::new(),
    }
}

/// Three blocks of both placements, which tie.
pub fn records() -> Vec<Record> {
    let elapsed = [(0, 158.0, 164.5), (1, 157.2, 163.1), (2, 158.4, 164.0)];
    elapsed
        .into_iter()
        .flat_map(|(block, ssd, p30)| [trial("local-ssd", block, ssd), trial("p30", block, p30)])
        .collect()
}

/// One finished trial that took `elapsed_s` and was throttled by its machine.
pub fn trial(arm: &str, block: u32, elapsed_s: f64) -> Record {
    let end_ns = (elapsed_s * 1e9) as u64;
    Record {
        schema: SCHEMA.into(),
        version: "0.1.0".into(),
        experiment: "tempdb-ssd-vs-premium".into(),
        plan: "5f3a".into(),
        mode: "simulate".into(),
        arm: arm.into(),
        block,
        position: block % 2,
        seed: u64::from(block),
        drawn: BTreeMap::new(),
        outcome: Outcome::Finished,
        metrics: BTreeMap::from([
            ("elapsed_s".into(), elapsed_s),
            ("mb_per_s".into(), 8_300.0 / elapsed_s),
            ("physical_reads".into(), 67_000.0),
        ]),
        phases: vec![
            phase("load", 0, 30_000_000_000, false),
            phase("run", 0, end_ns, true),
        ],
        time_split_ns: split_of(&[
            ("cpu", 110),
            ("read.service", 180),
            ("read.throttled.machine.cached.throughput", 710),
        ]),
        volumes: vec![volume()],
        limits: vec![
            limit("machine.cached.throughput", Counts::All, 0.98),
            limit("disk.temp.1.iops", Counts::All, 0.09),
            limit("disk.temp.1.throughput", Counts::All, 0.32),
        ],
        operations: None,
        series: Series {
            interval_ns: 1_000_000_000,
            values: BTreeMap::new(),
        },
        errors: Errors::default(),
        engine: None,
        counters: BTreeMap::new(),
        environment: BTreeMap::new(),
        pacing: None,
        client: None,
        notes: Vec::new(),
    }
}

/// One finished trial of a server on modelled disks, without lag.
pub fn emulated(arm: &str, block: u32, elapsed_s: f64) -> Record {
    let mut error = histogram::empty();
    error.record_n(12_000, 980).expect("the histogram grows");
    error.record_n(90_000, 20).expect("the histogram grows");
    let mut record = trial(arm, block, elapsed_s);
    record.mode = "emulate".into();
    record.metrics.insert("cpu_utilisation".into(), 0.45);
    record.counters = BTreeMap::from([("temp_bytes".into(), 2.5e9)]);
    record.pacing = Some(Pacing {
        transport: "io_uring".into(),
        requests: 83_000,
        late: 40,
        error,
        lead_ns: 55_000,
        cpu_ns: 20_000_000_000,
    });
    real(record)
}

/// A plausible record, for the second block of the plan's first arm.
pub fn of_plan(plan: &Plan) -> Record {
    let trial = plan.trial(&plan.arms[0].name, 1).expect("a block of it");
    let example = emulated(&trial.arm, 1, 158.0);
    let mut record = Record {
        plan: plan.digest().to_owned(),
        experiment: plan.experiment.clone(),
        mode: "simulate".to_owned(),
        position: trial.position,
        seed: trial.seed,
        engine: None,
        ..example
    };
    let volume = plan.arms[0].settings.volumes[0].name.clone();
    record.phases[1].start_ns = record.phases[0].end_ns;
    record.volumes.truncate(1);
    record.volumes[0].name = volume;
    let operations = vec![5; 150];
    record
        .series
        .values
        .insert("operations".to_owned(), operations);
    record
}

/// One finished trial of a server on a real disk.
pub fn measured(arm: &str, block: u32, elapsed_s: f64) -> Record {
    let mut record = trial(arm, block, elapsed_s);
    record.mode = "measure".into();
    record.time_split_ns = split_of(&[("cpu", 200), ("read.service", 700), ("log.service", 100)]);
    record.limits.clear();
    record.counters = BTreeMap::from([
        ("device_bytes.temp".into(), 8.4e9),
        ("other_bytes.temp".into(), 0.1e9),
        ("foreign_bytes.temp".into(), 0.0),
    ]);
    let disk = &mut record.volumes[0].disks[0];
    (disk.read_latency, disk.write_latency) = (None, None);
    disk.times = Some(DiskTimes {
        busy_ns: (elapsed_s * 0.97e9) as u64,
        read_ns: 67_000 * 1_500_000,
        write_ns: 16_000 * 4_000_000,
    });
    record.volumes[0].disk = "nvme0n1".into();
    real(record)
}

fn real(mut record: Record) -> Record {
    record.engine = Some(EngineRecord {
        name: "postgres".into(),
        version: "17.2".into(),
        file: "a tablespace".into(),
        settings: BTreeMap::from([("shared_buffers".into(), "1GB".into())]),
    });
    let facts = [
        ("system", "Linux (Debian GNU/Linux 13)"),
        ("kernel", "6.18.1"),
        ("cpu", "AMD EPYC"),
        ("cpus", "8"),
        ("memory", "32 GiB"),
        ("cloud", "Amazon EC2, r6id.2xlarge"),
        ("volume temp: filesystem", "ext4"),
        ("volume temp: device", "nvme0n1 (259:0)"),
    ];
    record.environment = facts
        .map(|(name, value)| (name.to_owned(), value.to_owned()))
        .into();
    record.client = Some(ClientRecord {
        cpu_ns: 9_000_000_000,
        cores: 8,
        between_ns: 10_000_000,
    });
    record
}

/// The question in another mode, and three blocks of both placements as `trial` makes them.
pub fn in_mode(mode: &str, trial: fn(&str, u32, f64) -> Record) -> (Question, Vec<Record>) {
    let question = Question {
        mode: mode.into(),
        ..question()
    };
    let again = |record: Record| trial(&record.arm, record.block, record.metrics["elapsed_s"]);
    (question, records().into_iter().map(again).collect())
}

fn phase(name: &str, start_ns: u64, end_ns: u64, measured: bool) -> Phase {
    Phase {
        name: name.into(),
        start_ns,
        end_ns,
        measured,
    }
}

fn volume() -> VolumeRecord {
    VolumeRecord {
        name: "temp".into(),
        disk: "azure/p30".into(),
        files: BTreeMap::from([(Role::Temp, 1)]),
        disks: vec![DiskRecord {
            name: "temp.1".into(),
            reads: 67_000,
            writes: 16_000,
            flushes: 0,
            cache_hits: 0,
            read_bytes: 67_000 * 65_536,
            write_bytes: 4_000_000_000,
            read_latency: Some(latency(1_500_000)),
            write_latency: Some(latency(4_000_000)),
            times: None,
        }],
    }
}

fn latency(typical_ns: u64) -> String {
    let mut latency = histogram::empty();
    latency
        .record_n(typical_ns, 95)
        .expect("the histogram grows");
    latency
        .record_n(typical_ns * 8, 5)
        .expect("the histogram grows");
    histogram::encode(&latency)
}

/// A limit that counts requests of `counts`.
pub fn limit(name: &str, counts: Counts, utilisation: f64) -> LimitRecord {
    LimitRecord {
        name: name.parse().expect("a limit"),
        counts,
        used: utilisation * 64e6 * 160.0,
        rate: 64e6,
        documented: None,
        utilisation,
        burst: None,
    }
}

/// A split of the sessions' time.
pub fn split_of(parts: &[(&str, u64)]) -> BTreeMap<Cause, u64> {
    parts
        .iter()
        .map(|(cause, ns)| (cause.parse().expect("a cause"), ns * 1_000_000))
        .collect()
}
