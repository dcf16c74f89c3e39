//! Plain I/O over modelled volumes, in virtual time.

use std::cell::RefCell;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};
use std::rc::Rc;

use model::random::{self, Stream};
use model::split::Part;
use model::storage::{DiskPlace, Usage};
use model::{
    Bytes, Completion, Duration, Instant, MachineSpec, Observer, Operation, Request, Storage,
    VolumeSpec,
};
use rand::RngExt;
use reading::cause::{self, Io};
use reading::{DiskCounter, LimitReading};

use super::outcome::Tally;
use super::{Pattern, RawError, RawOutcome, RawSpec, SyncSpec, Window};
use experiment::record::series::{self, DiskSeries, Points};
use experiment::record::{Cause, DiskRecord, EngineRecord, LimitRecord, Phase, Series};

/// Maximum number of requests without progress of time before the simulation is considered stuck.
const TIMELESS_MAX: u64 = 1_000_000;
/// Maximum number of requests in flight at all files together.
const IN_FLIGHT_MAX: u64 = 1 << 20;
/// Maximum total size of a volume's files, so no offset overflows.
const VOLUME_MAX: u64 = 1 << 60;
/// Number of requests between checks for a stop request.
const LOOK_EVERY: u64 = 4096;

/// Runs plain I/O: `spec.depth` concurrent requests at each of `files`, given by the index of its volume in `volumes`; each is
/// followed by the next as soon as it completes.
///
/// Requests that complete within the `window` are counted. Same seed, same outcome.
///
/// # Errors
/// When a volume takes zero time, or `stop` is set before the end.
///
/// # Panics
/// When a file's volume is not in `volumes`.
pub fn simulate(
    (machine, volumes): (&MachineSpec, &[VolumeSpec]),
    files: &[usize],
    spec: &RawSpec,
    seed: u64,
    window: Window,
    stop: &dyn Fn() -> bool,
) -> Result<RawOutcome, RawError> {
    check_size(files, spec)?;
    let mut storage = Storage::new(machine, volumes, random::derive(seed, "storage", 0));
    let meter = Rc::new(RefCell::new(Meter::new(volumes, window)));
    storage.observe(Box::new(SharedMeter(Rc::clone(&meter))));
    let limits: Vec<String> = storage.machine_limit_names().map(str::to_owned).collect();
    let mut run = Run {
        spec,
        window,
        storage,
        files: cursors(files, spec),
        places: Vec::new(),
        random: random::stream(seed, "raw requests"),
        counted: Counted::new(),
    };
    let from = run.run_all(volumes, stop)?;
    let usage = limit_records(&from, &run.storage.usage(window.until), volumes, window);
    let counted = run.counted;
    drop(run.storage);
    let meter = Rc::into_inner(meter)
        .expect("the storage that shared it is gone")
        .into_inner();
    let time_split_ns = counted.spent(&limits);
    let series = meter.series(counted.operations);
    let [reads, writes, flushes] = counted.tallies;
    Ok(RawOutcome {
        phases: phases(window),
        elapsed: window.until.since(window.from),
        reads,
        writes,
        flushes,
        disks: meter.records(),
        limits: usage,
        time_split_ns,
        series,
        engine: EngineRecord {
            name: "raw".to_owned(),
            version: format!("dbstow {}", env!("CARGO_PKG_VERSION")),
            file: "a range of the volume".to_owned(),
            settings: BTreeMap::from([("io".to_owned(), spec.to_string())]),
        },
        ended_s: None,
        client_busy: None,
        notes: Vec::new(),
    })
}

/// Rejects more than can be modelled, before memory is allocated for it.
fn check_size(files: &[usize], spec: &RawSpec) -> Result<(), RawError> {
    let in_flight = files.len() as u64 * u64::from(spec.depth);
    if in_flight > IN_FLIGHT_MAX {
        return Err(RawError::TooMany {
            files: files.len(),
            depth: spec.depth,
            most: IN_FLIGHT_MAX,
        });
    }
    let size = (files.len() as u64).saturating_mul(spec.span.0);
    if size > VOLUME_MAX {
        return Err(RawError::TooLarge {
            files: files.len(),
            span: spec.span,
            most: Bytes(VOLUME_MAX),
        });
    }
    Ok(())
}

/// A file, and the position of its next sequential requests.
struct Cursor {
    volume: usize,
    /// Where it begins on its volume.
    start: u64,
    /// Next block to read, and next one to write.
    next: [u64; 2],
    /// Earliest instant of the next request if the rate is limited.
    due: Instant,
}

/// Files one after the other on their volumes.
fn cursors(files: &[usize], spec: &RawSpec) -> Vec<Cursor> {
    let mut ends: BTreeMap<usize, u64> = BTreeMap::new();
    let cursor = |volume: &usize| {
        let end = ends.entry(*volume).or_default();
        let start = *end;
        *end += spec.span.0;
        Cursor {
            volume: *volume,
            start,
            next: [0, 0],
            due: Instant::ZERO,
        }
    };
    files.iter().map(cursor).collect()
}

/// One slot in flight.
struct Slot {
    file: usize,
    /// Writes since its last flush.
    unflushed: u32,
}

struct Run<'a> {
    spec: &'a RawSpec,
    window: Window,
    storage: Storage,
    files: Vec<Cursor>,
    places: Vec<Slot>,
    random: Stream,
    counted: Counted,
}

impl Run<'_> {
    /// Runs to the end of the window. Returns the use of limits at its start.
    fn run_all(
        &mut self,
        volumes: &[VolumeSpec],
        stop: &dyn Fn() -> bool,
    ) -> Result<Vec<Usage>, RawError> {
        let mut ready = BinaryHeap::new();
        for file in 0..self.files.len() {
            for _ in 0..self.spec.depth {
                ready.push(Reverse((
                    Instant::ZERO,
                    self.places.len() as u64,
                    self.places.len(),
                )));
                self.places.push(Slot { file, unflushed: 0 });
            }
        }
        let mut order = self.places.len() as u64;
        let mut before = None;
        let (mut last, mut since_moved) = (Instant::ZERO, 0);
        while let Some(Reverse((now, _, place))) = ready.pop() {
            if before.is_none() && now >= self.window.from {
                before = Some(self.storage.usage(self.window.from));
            }
            if now >= self.window.until {
                break;
            }
            since_moved = if now > last { 0 } else { since_moved + 1 };
            last = now;
            if since_moved > TIMELESS_MAX {
                let volume = self.files[self.places[place].file].volume;
                return Err(RawError::Timeless(volumes[volume].name.clone()));
            }
            if order.is_multiple_of(LOOK_EVERY) && stop() {
                return Err(RawError::Cancelled);
            }
            let next = self.turn(now, place);
            ready.push(Reverse((next, order, place)));
            order += 1;
        }
        Ok(before.unwrap_or_else(|| self.storage.usage(self.window.from)))
    }

    /// Issues one request of slot `place`; returns when its next one is due.
    fn turn(&mut self, now: Instant, place: usize) -> Instant {
        let request = self.request(place);
        let file = &mut self.files[self.places[place].file];
        let completion = self.storage.submit(now, file.volume, request);
        self.counted.add(self.window, now, &request, &completion);
        match self.spec.rate {
            None => completion.done,
            Some(rate) => {
                file.due += Duration::from_nanos(1_000_000_000 / rate.0.max(1));
                completion.done.max(file.due)
            }
        }
    }

    fn request(&mut self, place: usize) -> Request {
        let place = &mut self.places[place];
        if let SyncSpec::FlushEvery(count) = self.spec.sync
            && place.unflushed >= count.get()
        {
            place.unflushed = 0;
            return Request::flush();
        }
        let reads = self.random.random_range(0..100) < self.spec.read_percent;
        place.unflushed += u32::from(!reads);
        let file = &mut self.files[place.file];
        let block = match self.spec.pattern {
            Pattern::Random => self.random.random_range(0..self.spec.blocks()),
            Pattern::Sequential => {
                let next = &mut file.next[usize::from(!reads)];
                let block = *next;
                *next = (block + 1) % self.spec.blocks();
                block
            }
        };
        let size = self.spec.block_size;
        let offset = file.start + block * size.0;
        match reads {
            true => Request::read(offset, size),
            false => Request::write(offset, size),
        }
    }
}

/// Counters of all slots.
struct Counted {
    /// Reads, writes, flushes.
    tallies: [Tally; 3],
    /// How their time within the window was spent.
    spent: BTreeMap<(Io, Part), u64>,
    /// Completed reads and writes, per interval from the start.
    operations: Points,
}

impl Counted {
    fn new() -> Counted {
        Counted {
            tallies: [Tally::new(), Tally::new(), Tally::new()],
            spent: BTreeMap::new(),
            operations: Points::counts(),
        }
    }

    fn add(&mut self, window: Window, now: Instant, request: &Request, done: &Completion) {
        let (kind, cause) = match request.operation {
            Operation::Read => (0, Io::Read),
            Operation::Write => (1, Io::Write),
            Operation::Flush => (2, Io::Log),
        };
        if kind < 2 && done.done < window.until {
            self.operations.add(done.done, 1);
        }
        if done.done >= window.from && done.done < window.until {
            self.tallies[kind].add(done.done.since(now), request.length);
        }
        let inside = done.done.min(window.until).since(now.max(window.from));
        let within = done.in_proportion(inside);
        let mut spend = |part, time: Duration| {
            if time > Duration::ZERO {
                let spent = self.spent.entry((cause, part)).or_default();
                *spent = spent.saturating_add(time.as_nanos());
            }
        };
        spend(Part::Service, within.service);
        spend(Part::Queued, within.queued);
        if let Some(by) = within.throttled_by {
            spend(Part::Throttled(by), within.throttled);
        }
    }
}

impl Counted {
    /// Time by cause, in the terms of records.
    fn spent(&self, machine_limits: &[String]) -> BTreeMap<Cause, u64> {
        let spent = self.spent.iter();
        let cause = |io, part| Cause::Io(io, cause::Part::of(part, machine_limits));
        spent
            .map(|((io, part), ns)| (cause(*io, *part), *ns))
            .collect()
    }
}

/// Observes the requests that reach each disk.
struct Meter {
    window: Window,
    names: Vec<Vec<String>>,
    disks: Vec<Vec<DiskMeter>>,
}

struct DiskMeter {
    counter: DiskCounter,
    series: DiskSeries,
}

impl Meter {
    fn new(volumes: &[VolumeSpec], window: Window) -> Meter {
        let count = volumes.iter().map(|volume| volume.disks.len()).sum();
        let disk = || DiskMeter {
            counter: DiskCounter::default(),
            series: DiskSeries::of(count),
        };
        let names = |volume: &VolumeSpec| {
            let places = 1..=volume.disks.len();
            places.map(|n| format!("{}.{n}", volume.name)).collect()
        };
        Meter {
            window,
            names: volumes.iter().map(names).collect(),
            disks: volumes
                .iter()
                .map(|volume| volume.disks.iter().map(|_| disk()).collect())
                .collect(),
        }
    }

    fn records(&self) -> Vec<Vec<DiskRecord>> {
        let volumes = self.names.iter().zip(&self.disks).enumerate();
        let records = volumes.map(|(volume, (names, disks))| {
            let disks = names.iter().zip(disks);
            let reading =
                |(name, disk): (&String, &DiskMeter)| disk.counter.reading(volume, name.clone());
            disks.map(|disk| DiskRecord::from(&reading(disk))).collect()
        });
        records.collect()
    }

    fn series(&self, operations: Points) -> Series {
        let disks = self.names.iter().flatten().zip(self.disks.iter().flatten());
        let disks = disks.flat_map(|(name, disk)| disk.series.named(name));
        series::record(disks.chain([("operations".to_owned(), operations)]))
    }
}

struct SharedMeter(Rc<RefCell<Meter>>);

impl Observer for SharedMeter {
    fn request(&mut self, now: Instant, at: DiskPlace, request: &Request, done: &Completion) {
        let mut meter = self.0.borrow_mut();
        let window = meter.window;
        if done.done >= window.until {
            return;
        }
        let disk = &mut meter.disks[at.volume][at.disk];
        disk.series.add(done.done, request, done.done.since(now));
        if done.done >= window.from {
            disk.counter
                .add(request, done.done.since(now), at.cache_hit);
        }
    }
}

pub(crate) fn phases(window: Window) -> Vec<Phase> {
    let phase = |name: &str, from: Instant, until: Instant, measured| Phase {
        name: name.to_owned(),
        start_ns: from.as_nanos(),
        end_ns: until.as_nanos(),
        measured,
    };
    let warm_up = phase("warm-up", Instant::ZERO, window.from, false);
    let run = phase("run", window.from, window.until, true);
    [warm_up, run]
        .into_iter()
        .filter(|phase| phase.end_ns > phase.start_ns)
        .collect()
}

fn limit_records(
    from: &[Usage],
    until: &[Usage],
    volumes: &[VolumeSpec],
    window: Window,
) -> Vec<LimitRecord> {
    let elapsed = window.until.since(window.from);
    let volumes: Vec<String> = volumes.iter().map(|volume| volume.name.clone()).collect();
    let reading = |usage: &Usage| LimitReading::of(usage.clone(), &volumes);
    let record = |(from, until): (&Usage, &Usage)| {
        let done = reading(until).since(&reading(from));
        LimitRecord::of(&done.expect("what a limit let pass only grows"), elapsed)
    };
    from.iter().zip(until).map(record).collect()
}
