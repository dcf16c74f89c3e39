//! One sequence of requests on the model alone, under SQLite's file system in real time, and under FUSE: the
//! same bytes, and the same times within what threads that wake up late can keep.
//!
//! What is exact is checked exactly, every time: requests and bytes of every volume. Times depend on a
//! machine that other programs use too, so that each arm has a few attempts to keep them; what it has to
//! keep is stated with the check. A model that is wrong, or a file system that asks it for something else,
//! is wrong in every attempt.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread;

use host::clock::Clock;
use model::random;
use model::store::{Commit, ReadUnit};
use model::{
    Bytes, DiskSpec, Duration, HostCacheMode, HostCacheSpec, Instant, Iops, LatencySpec, LimitSpec,
    MachineSpec, Operation, Rate, Request, Storage, Throughput, VolumeSpec,
};
use paced::Pacer;
use parking_lot::Mutex;
use rand::RngExt;
use reading::Reading;
use sqlite_vfs::real_time::{Access, Aligned, DatabaseSpec, Disks, PlacedFile};
use tempfile::TempDir;

/// Where a lane's requests go: half as much again is what a lane's file holds at most.
const SPAN: u64 = 1 << 20;

/// Attempts to keep the time. Another program may have the processors for some seconds; a model that is wrong is wrong every time.
const ATTEMPTS: usize = 10;

/// A request later than this waited for a processor that another program had; what it waited is left out of
/// the sum. A file system that is late by so much every time does not get past the median.
const STALL: Duration = Duration::from_micros(500);

/// Arms take turns, so that they do not wait for each other's processor time.
static TURN: Mutex<()> = Mutex::new(());

/// Several lanes of requests, each of which issues its next one when the last is done: as many as the
/// sequence is deep. Lane `n` has a file of its own on volume `n % 2`.
struct Sequence {
    machine: MachineSpec,
    volumes: Vec<VolumeSpec>,
    lanes: Vec<Vec<Request>>,
    /// Whether the latency of a request does not depend on when the one before it was asked for.
    independent: bool,
}

/// When each request of each lane was asked for, and how long after that it was done.
type Times = Vec<Vec<(Instant, Duration)>>;

/// Requests and bytes by volume: reads, writes, flushes, bytes read, bytes written.
type Totals = BTreeMap<usize, [u64; 5]>;

impl Sequence {
    /// One request at a time, slower than every limit, with latencies drawn at random.
    fn one_at_a_time() -> Sequence {
        let log_normal = |us| LatencySpec::LogNormal {
            p50: Duration::from_micros(us),
            p99: Duration::from_micros(3 * us),
        };
        let disk = DiskSpec {
            read_latency: log_normal(1_500),
            write_latency: log_normal(2_000),
            flush_latency: log_normal(1_000),
            transfer: Some(Throughput::from_mb_per_s(100)),
            ..disk(Iops(5_000))
        };
        Sequence {
            independent: true,
            ..Sequence::new(disk, Iops(8_000), 1, 160)
        }
    }

    /// Four at a time, two on each volume: together they want more than the machine allows.
    fn four_at_a_time() -> Sequence {
        let disk = DiskSpec {
            read_latency: LatencySpec::constant(Duration::from_millis(3)),
            write_latency: LatencySpec::constant(Duration::from_millis(4)),
            flush_latency: LatencySpec::constant(Duration::from_millis(2)),
            ..disk(Iops(500))
        };
        Sequence::new(disk, Iops(700), 4, 150)
    }

    /// Four at a time behind host caches: one that writes back, of which flushes wait for what it holds, and a read-only one.
    /// A hit is slow enough that a thread's waking up late is a small part of it.
    fn behind_host_caches() -> Sequence {
        let ms = Duration::from_millis;
        let disk = DiskSpec {
            read_latency: LatencySpec::constant(ms(8)),
            write_latency: LatencySpec::constant(ms(10)),
            flush_latency: LatencySpec::constant(ms(6)),
            ..disk(Iops(500))
        };
        let mut sequence = Sequence::new(disk, Iops(700), 4, 150);
        sequence.machine.host_cache = Some(HostCacheSpec {
            size: Bytes::mib(64),
            hit_latency: LatencySpec::constant(ms(4)),
            through_latency: LatencySpec::constant(ms(5)),
            limit: "the machine has none of this name".to_owned(),
        });
        sequence.volumes[0].host_cache = HostCacheMode::ReadWrite;
        sequence.volumes[1].host_cache = HostCacheMode::ReadOnly;
        sequence
    }

    fn new(disk: DiskSpec, machine_limit: Iops, depth: usize, each: usize) -> Sequence {
        let limits = BTreeMap::from([("all".to_owned(), vec![limit(Rate::Iops(machine_limit))])]);
        let volumes = ["a", "b"].map(|name| VolumeSpec::of(name, disk.clone()));
        let lanes = (0..depth).map(|lane| requests(lane, each)).collect();
        Sequence {
            machine: MachineSpec {
                limits,
                ..MachineSpec::unlimited()
            },
            volumes: volumes.to_vec(),
            lanes,
            independent: false,
        }
    }

    /// What reaches the volumes.
    fn totals(&self) -> Totals {
        let mut totals = Totals::new();
        for (lane, requests) in self.lanes.iter().enumerate() {
            let of_volume = totals.entry(lane % 2).or_default();
            for request in requests {
                match request.operation {
                    Operation::Read => {
                        of_volume[0] += 1;
                        of_volume[3] += request.length.0;
                    }
                    Operation::Write => {
                        of_volume[1] += 1;
                        of_volume[4] += request.length.0;
                    }
                    Operation::Flush => of_volume[2] += 1,
                }
            }
        }
        totals
    }

    /// On the model alone, in virtual time.
    fn modelled(&self) -> Times {
        let mut storage = Storage::new(&self.machine, &self.volumes, SEED);
        let mut times: Times = vec![Vec::new(); self.lanes.len()];
        let mut ready = vec![Instant::ZERO; self.lanes.len()];
        loop {
            let lanes =
                (0..self.lanes.len()).filter(|lane| times[*lane].len() < self.lanes[*lane].len());
            let Some(lane) = lanes.min_by_key(|lane| (ready[*lane], *lane)) else {
                return times;
            };
            let request = self.lanes[lane][times[lane].len()];
            let completion = storage.submit(ready[lane], lane % 2, request);
            times[lane].push((ready[lane], completion.latency()));
            ready[lane] = completion.done;
        }
    }

    /// The latencies of the model, by lane, if requests are asked for when `real` asked for them. A thread that wakes up late
    /// asks late; what the requests after it take from the limits follows from that.
    fn modelled_as_asked(&self, real: &Times) -> Vec<Vec<Duration>> {
        let mut storage = Storage::new(&self.machine, &self.volumes, SEED);
        let lanes = real.iter().enumerate();
        let asked = lanes.flat_map(|(lane, times)| times.iter().map(move |(at, _)| (*at, lane)));
        let mut asked: Vec<_> = asked.collect();
        asked.sort();
        let mut latencies = vec![Vec::new(); self.lanes.len()];
        for (at, lane) in asked {
            let request = self.lanes[lane][latencies[lane].len()];
            latencies[lane].push(storage.submit(at, lane % 2, request).latency());
        }
        latencies
    }

    /// In real time: `file` gives what carries a lane's requests out.
    fn in_lanes<F: FnMut(&Request) + Send>(&self, file: impl Fn(usize) -> F) -> Times {
        let clock = Clock::start();
        thread::scope(|scope| {
            let lane = |(lane, requests): (usize, &'_ Vec<Request>)| {
                let mut execute = file(lane);
                let requests = requests.clone();
                scope.spawn(move || {
                    let timed = requests.iter().map(|request| {
                        let asked = clock.now();
                        execute(request);
                        (asked, clock.now() - asked)
                    });
                    timed.collect()
                })
            };
            let lanes: Vec<_> = self.lanes.iter().enumerate().map(lane).collect();
            lanes
                .into_iter()
                .map(|lane| lane.join().expect("a lane goes to its end"))
                .collect()
        })
    }
}

const SEED: u64 = 7;

fn disk(iops: Iops) -> DiskSpec {
    DiskSpec {
        limits: vec![
            limit(Rate::Iops(iops)),
            limit(Rate::Throughput(Throughput::from_mb_per_s(200))),
        ],
        machine_limits: vec!["all".to_owned()],
        ..DiskSpec::unlimited()
    }
}

/// As deep as limits are at least in real time, so that the model alone is the same model.
fn limit(rate: Rate) -> LimitSpec {
    LimitSpec {
        rate,
        depth: Duration::from_millis(4),
        ..LimitSpec::iops(Iops(1))
    }
}

/// Reads, writes and flushes of 4 to 64 KiB. Lanes of one volume share no byte of it: each has a file of its own, and a host cache
/// that held what another lane read would answer too soon.
fn requests(lane: usize, count: usize) -> Vec<Request> {
    let mut random = random::stream(lane as u64, "conformance");
    let from = lane as u64 / 2 * SPAN;
    let mut one = || {
        let length = Bytes::kib(4 << random.random_range(0..5_u64));
        let offset = from + random.random_range(0..SPAN / 4096) * 4096;
        match random.random_range(0..10_u32) {
            0..5 => Request::read(offset, length),
            5..9 => Request::write(offset, length),
            _ => Request::flush(),
        }
    };
    (0..count).map(|_| one()).collect()
}

fn totals(reading: &Reading) -> Totals {
    let mut totals = Totals::new();
    for disk in &reading.disks {
        let of_disk = [
            disk.reads,
            disk.writes,
            disk.flushes,
            disk.read_bytes,
            disk.write_bytes,
        ];
        if of_disk != [0; 5] {
            totals.insert(disk.volume, of_disk);
        }
    }
    totals
}

/// Says how an attempt did not keep the time; nothing when it did.
fn deviation(sequence: &Sequence, real: &Times, lead: Duration) -> Option<String> {
    let modelled = sequence.modelled_as_asked(real);
    let pairs = || {
        let real = real.iter().flatten().map(|(_, latency)| *latency);
        modelled.iter().flatten().copied().zip(real)
    };
    // No earlier than the model says, less what is taken off for waking up late.
    let early = pairs().find(|(modelled, real)| *real + lead < *modelled);
    if let Some((modelled, real)) = early.filter(|_| sequence.independent) {
        return Some(format!(
            "{real} where the model takes {modelled}, with a lead of {lead}"
        ));
    }
    let apart = |(modelled, real): (Duration, Duration)| {
        real.saturating_sub(modelled)
            .max(modelled.saturating_sub(real))
    };
    let mut errors: Vec<Duration> = pairs().map(apart).collect();
    errors.sort_unstable();
    let median = errors[errors.len() / 2];
    let allowed = match sequence.independent {
        true => Duration::from_micros(200),
        // Two requests that are asked for at once may arrive in either order.
        false => STALL,
    };
    if median > allowed {
        return Some(format!("the median error is {median}"));
    }
    let whole: Duration = pairs().map(|(modelled, _)| modelled).sum();
    let stalled: Duration = pairs()
        .filter(|(modelled, real)| *real > *modelled + STALL)
        .map(|(modelled, real)| real - modelled)
        .sum();
    let real: Duration = pairs().map(|(_, real)| real).sum();
    let ratio = real.saturating_sub(stalled).as_secs_f64() / whole.as_secs_f64();
    (!(0.9..=1.1).contains(&ratio)).then(|| format!("{ratio:.3} of the modelled time"))
}

/// Lets an arm try: it gives what it counted, its times, and the lead with which it wakes threads.
fn conforms(sequence: &Sequence, arm: impl Fn(&Sequence, &Path) -> (Reading, Times, Duration)) {
    let _turn = TURN.lock();
    let mut deviations = Vec::new();
    for _ in 0..ATTEMPTS {
        let directory = TempDir::new().expect("a temporary folder");
        let (reading, real, lead) = arm(sequence, directory.path());
        assert_eq!(totals(&reading), sequence.totals());
        match deviation(sequence, &real, lead) {
            None => return,
            Some(deviation) => deviations.push(deviation),
        }
    }
    panic!("times were not kept: {deviations:?}");
}

/// SQLite's file system in real time: the requests its buffer pool makes.
fn under_sqlite(sequence: &Sequence, root: &Path) -> (Reading, Times, Duration) {
    let file = |volume: usize| PlacedFile {
        volume,
        directory: root.to_owned(),
        size: Some(Bytes(3 * SPAN)),
    };
    let spec = DatabaseSpec {
        data: (0..sequence.lanes.len())
            .map(|lane| file(lane % 2))
            .collect(),
        temp: vec![file(0)],
        log: file(0),
        memory: Bytes::mib(1),
        sort_memory: Bytes::mib(1),
        read_unit: ReadUnit::Page,
        write_gather: Bytes::kib(256),
        log_gather: Bytes::kib(60),
        writes_in_flight: 1,
        commit: Commit::Durable,
        access: Access::Cached,
    };
    let pacer = Arc::new(Pacer::start(&sequence.machine, &sequence.volumes, SEED));
    let disks = Disks::create(&spec, Some(Arc::clone(&pacer))).expect("an empty folder");
    let latencies = sequence.in_lanes(|lane| {
        let (disks, mut buffer) = (&disks, Aligned::zeros(64 << 10));
        move |request| {
            buffer.resize(request.length.0 as usize);
            let offset = request.offset;
            match request.operation {
                Operation::Read => disks.read(lane, offset, offset, &mut buffer, &|| false),
                Operation::Write => disks.write(lane, offset, offset, &buffer, &|| false),
                Operation::Flush => disks.flush(lane),
            }
            .expect("a real file does it");
        }
    });
    (pacer.reading(), latencies, pacer.lead())
}

#[test]
fn sqlite_takes_the_modelled_time_for_one_request_after_the_other() {
    conforms(&Sequence::one_at_a_time(), under_sqlite);
}

#[test]
fn sqlite_takes_the_modelled_time_for_four_requests_at_once_and_a_shared_limit() {
    conforms(&Sequence::four_at_a_time(), under_sqlite);
}

#[test]
fn sqlite_takes_the_modelled_time_behind_host_caches() {
    conforms(&Sequence::behind_host_caches(), under_sqlite);
}

#[cfg(target_os = "linux")]
mod under_fuse {
    use std::fs::OpenOptions;
    use std::os::unix::fs::{FileExt, OpenOptionsExt};

    use emulator::{Contents, Emulation, EmulationSpec, Front, MountSpec, TransportChoice};
    use rustix::fs::OFlags;

    use super::*;

    /// A mounted volume in file mode, whose files are read and written past the page cache.
    fn under_fuse(sequence: &Sequence, root: &Path) -> (Reading, Times, Duration) {
        let made = |name: &str| -> PathBuf {
            let directory = root.join(name);
            std::fs::create_dir(&directory).expect("a new name");
            directory
        };
        let volumes = sequence.volumes.iter().map(|volume| MountSpec {
            volume: volume.clone(),
            front: Front::File,
            directory: made(&volume.name),
            backing: made(&format!("{}-bytes", volume.name)),
            size: Bytes::mib(64),
            owner: None,
            others: emulator::Others::List,
        });
        let spec = EmulationSpec {
            machine: sequence.machine.clone(),
            volumes: volumes.collect(),
            seed: SEED,
            transport: TransportChoice::Fuser,
            trace: None,
            contents: Contents::InPlace,
        };
        let emulation = Emulation::start(&spec).expect("FUSE, and root");
        let open = |lane: usize| {
            let path = spec.volumes[lane % 2]
                .directory
                .join(format!("lane-{lane}"));
            let file = OpenOptions::new()
                .read(true)
                .write(true)
                .create_new(true)
                .custom_flags(OFlags::DIRECT.bits().cast_signed())
                .open(path)
                .expect("an empty volume");
            file.set_len(3 * SPAN).expect("there is room");
            file
        };
        let files: Vec<_> = (0..sequence.lanes.len()).map(open).collect();
        let before = emulation.reading();
        let latencies = sequence.in_lanes(|lane| {
            let (file, mut buffer) = (&files[lane], Aligned::zeros(64 << 10));
            move |request| {
                buffer.resize(request.length.0 as usize);
                match request.operation {
                    Operation::Read => file.read_exact_at(&mut buffer, request.offset),
                    Operation::Write => file.write_all_at(&buffer, request.offset),
                    Operation::Flush => file.sync_data(),
                }
                .expect("a real file does it");
            }
        });
        let reading = emulation
            .reading()
            .since(&before)
            .expect("the same emulation");
        drop(files);
        emulation.stop().expect("nobody uses it");
        let lead = reading.pacing.as_ref().map(|pacing| pacing.lead_ns);
        (reading, latencies, Duration::from_nanos(lead.unwrap_or(0)))
    }

    #[test]
    fn fuse_takes_the_modelled_time_for_one_request_after_the_other() {
        conforms(&Sequence::one_at_a_time(), under_fuse);
    }

    #[test]
    fn fuse_takes_the_modelled_time_for_four_requests_at_once_and_a_shared_limit() {
        conforms(&Sequence::four_at_a_time(), under_fuse);
    }

    #[test]
    fn fuse_takes_the_modelled_time_behind_host_caches() {
        conforms(&Sequence::behind_host_caches(), under_fuse);
    }
}

#[test]
fn an_arm_that_asks_for_other_times_does_not_conform() {
    let sequence = Sequence::one_at_a_time();
    let modelled = sequence.modelled();
    let stretched = |by: Duration| -> Times {
        let later = |lane: &Vec<(Instant, Duration)>| {
            let times = lane.iter().enumerate();
            let later = times.map(|(n, (at, latency))| (*at + by * n as u64, *latency + by));
            later.collect()
        };
        modelled.iter().map(later).collect()
    };
    let lead = Duration::from_micros(50);
    let judged = |real| deviation(&sequence, &real, lead);
    assert_eq!(judged(stretched(Duration::from_micros(100))), None);
    assert!(judged(stretched(Duration::from_micros(300))).is_some());
    let mut early = modelled.clone();
    early[0][3].1 = early[0][3].1.saturating_sub(Duration::from_micros(60));
    assert!(judged(early).is_some());
}
