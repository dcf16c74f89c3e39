//! Resolves machine, volumes, workload and engine as written: fills in defaults, rejects invalid values.

use model::store::PageSize;
use model::{Bytes, Duration, Iops};
use products::Defaults;

use super::bounds::not_zero;
use super::error::Fault;
use super::own;
use super::rules::{self, MEMORY_MIN};
use super::settings::{
    Amount, Arrival, Burst, Cpu, Disk, Engine, HostCache, Machine, Override, Provision, Script,
    Versions, Volume, Workload,
};
use super::{Mode, amount::Span, wire};

/// The machine.
pub(crate) fn machine(asked: &wire::Machine) -> Result<Machine, Fault> {
    let machine = Machine {
        kind: asked.kind.clone(),
        cores: asked.cores,
        processor_speed: asked.processor_speed,
        memory: asked.memory,
        system: asked.system,
        credits: asked.credits.map(|share| share.0),
        host_cache: asked.host_cache.as_ref().map(|cache| HostCache {
            size: cache.size,
            iops: cache.iops.map(Iops),
            throughput: cache.throughput,
        }),
        entry: None,
    };
    rules::machine(&machine)?;
    Ok(machine)
}

/// A volume alone; whether its disk exists is checked with the catalogue.
pub(crate) fn volume(name: &str, asked: &wire::Volume) -> Result<Volume, Fault> {
    let volume = Volume {
        name: name.to_owned(),
        disk: Disk::from(asked.disk.clone()),
        count: asked.count.unwrap_or(1),
        interleave: asked.interleave.unwrap_or(Volume::INTERLEAVE_DEFAULT),
        host_cache: asked.host_cache.unwrap_or_default(),
        provision: Provision {
            size: asked.size,
            iops: asked.iops.map(Iops),
            throughput: asked.throughput,
            bursting: asked.bursting,
        },
        credits: asked.credits.map(|share| share.0),
        replaced: replaced(name, asked.replaced.as_ref())?,
        entry: None,
    };
    rules::volume(&volume)?;
    Ok(volume)
}

fn replaced(name: &str, asked: Option<&wire::Override>) -> Result<Override, Fault> {
    let Some(asked) = asked else {
        return Ok(Override::default());
    };
    Ok(Override {
        iops_limit: asked.iops_limit.map(Iops),
        throughput_limit: asked.throughput_limit,
        iops_burst: burst(name, IOPS_BURST, asked.iops_burst, asked.iops_credits)?,
        throughput_burst: burst(
            name,
            THROUGHPUT_BURST,
            asked.throughput_burst.map(|rate| rate.0),
            asked.throughput_credits.map(|credits| credits.0),
        )?,
        in_flight_max: asked.in_flight_max,
        read_latency: asked.read_latency.map(|latency| latency.0),
        write_latency: asked.write_latency.map(|latency| latency.0),
        flush_latency: asked.flush_latency.map(|latency| latency.0),
        transfer: asked.transfer,
    })
}

/// The keys of a burst: its rate, and its credits.
type BurstKeys = [&'static str; 2];
const IOPS_BURST: BurstKeys = ["iops_burst", "iops_credits"];
const THROUGHPUT_BURST: BurstKeys = ["throughput_burst", "throughput_credits"];

/// A burst that replaces the catalogue's: a rate while credits last; without one, any.
fn burst(
    volume: &str,
    keys: BurstKeys,
    rate: Option<u64>,
    credits: Option<u64>,
) -> Result<Option<Burst>, Fault> {
    let path = |key: &'static str| ["volume", volume, "override", key];
    let [rate_key, credits_key] = keys;
    match (rate, credits) {
        (None, None) => Ok(None),
        (rate, Some(credits)) => Ok(Some(Burst {
            rate: rate.unwrap_or(Burst::ANY_RATE),
            credits,
        })),
        (Some(_), None) => Err(Fault::at(
            &path(rate_key),
            format!("{rate_key} says how fast, not for how long; give {credits_key} too"),
        )),
    }
}

/// The workload; [`super::Known`] checks whether it exists and has its parameters.
pub(crate) fn workload(asked: &wire::Workload, mode: Mode) -> Result<Workload, Fault> {
    if let Some(file) = &asked.profile {
        return profile(file, asked, mode);
    }
    for (key, is_given) in [
        ("window", asked.window.is_some()),
        ("demand", asked.demand.is_some()),
    ] {
        if is_given {
            let message =
                format!("{key} is about a profile; remove it, or give profile = \"FILE\"");
            return Err(Fault::at(&["workload", key], message));
        }
    }
    rules::sessions(asked.sessions)?;
    rules::parameters(&asked.parameters)?;
    let (amount, arrival, script) = (amount(asked)?, arrival(asked)?, script(asked)?);
    let workload = Workload {
        sessions: match &script {
            Script::BuiltIn(_) | Script::Profile { .. } => asked.sessions.unwrap_or(1),
            Script::Folder(_) => asked.sessions.unwrap_or(0),
        },
        script,
        amount: amount.unwrap_or(Amount::Duration(Duration::ZERO)),
        warm_up: span(asked.warm_up, Duration::ZERO),
        arrival,
        parameters: asked.parameters.clone(),
        log_bytes_per_row: asked.log_bytes_per_row,
        digest: None,
    };
    // What the workload determines is checked once it is known.
    rules::workload(&Workload {
        sessions: workload.sessions.max(1),
        amount: amount.unwrap_or(Amount::Operations(1)),
        ..workload.clone()
    })?;
    Ok(workload)
}

/// Default length of the replayed part of a profile, its busiest.
pub fn profile_window(mode: Mode) -> Duration {
    match mode {
        Mode::Simulate => Duration::from_secs(3_600),
        // Each trial takes this long.
        Mode::Emulate | Mode::Measure => Duration::from_secs(60),
    }
}

/// The demand of a profile, which determines unspecified values.
fn profile(file: &str, asked: &wire::Workload, mode: Mode) -> Result<Workload, Fault> {
    let given = [
        ("name", asked.name.is_some()),
        ("folder", asked.folder.is_some()),
        ("operations", asked.operations.is_some()),
        ("think", asked.think.is_some()),
        ("log_bytes_per_row", asked.log_bytes_per_row.is_some()),
        ("parameters", !asked.parameters.is_empty()),
    ];
    if let Some((key, _)) = given.into_iter().find(|(_, is_given)| *is_given) {
        let message = format!("a profile defines its own demand and has no {key}; remove {key}");
        return Err(Fault::at(&["workload", key], message));
    }
    rules::sessions(asked.sessions)?;
    for (key, span) in [("window", asked.window), ("duration", asked.duration)] {
        not_zero(
            &["workload", key],
            span.map(|Span(duration)| duration.as_nanos()),
        )?;
    }
    let arrival = match arrival(asked)? {
        Arrival::Open { .. } if asked.demand == Some(wire::Demand::Closed) => {
            let message = "the demand is closed, and a rate is of an open one; keep one";
            return Err(Fault::at(&["workload", "rate"], message));
        }
        Arrival::Closed { .. } if asked.demand == Some(wire::Demand::Open) => {
            Arrival::Open { rate_per_s: 0.0 }
        }
        arrival => arrival,
    };
    Ok(Workload {
        script: Script::Profile {
            file: file.to_owned(),
            window: span(asked.window, profile_window(mode)),
        },
        sessions: asked.sessions.unwrap_or(0),
        amount: Amount::Duration(span(asked.duration, Duration::ZERO)),
        warm_up: span(asked.warm_up, Duration::ZERO),
        arrival,
        parameters: asked.parameters.clone(),
        log_bytes_per_row: None,
        digest: None,
    })
}

fn script(asked: &wire::Workload) -> Result<Script, Fault> {
    match (&asked.name, &asked.folder) {
        (Some(name), None) if !name.is_empty() => Ok(Script::BuiltIn(name.clone())),
        (None, Some(folder)) if !folder.is_empty() => Ok(Script::Folder(folder.clone())),
        (Some(_), Some(_)) => Err(Fault::at(
            &["workload", "folder"],
            "the workload has both a name and a folder; keep one",
        )),
        (Some(_) | None, None) | (None, Some(_)) => Err(Fault::at(
            &["workload"],
            "the workload is empty; give the name of one that is built in, a folder, or a profile",
        )),
    }
}

/// When the run ends; `None`: determined by its workload.
fn amount(asked: &wire::Workload) -> Result<Option<Amount>, Fault> {
    match (asked.operations, asked.duration) {
        (Some(count), None) => Ok(Some(Amount::Operations(count))),
        (None, Some(Span(duration))) => Ok(Some(Amount::Duration(duration))),
        (Some(_), Some(_)) => Err(Fault::at(
            &["workload", "duration"],
            "the workload ends after its operations and after a duration; keep one",
        )),
        (None, None) => Ok(None),
    }
}

fn arrival(asked: &wire::Workload) -> Result<Arrival, Fault> {
    let think = span(asked.think, Duration::ZERO);
    let rate = asked.rate.unwrap_or(0.0);
    if rate == 0.0 {
        return Ok(Arrival::Closed { think });
    }
    let arrival = Arrival::Open { rate_per_s: rate };
    rules::arrival(arrival)?;
    match think {
        Duration::ZERO => Ok(arrival),
        _ => Err(Fault::at(
            &["workload", "rate"],
            "operations come at a rate, or after a pause (think), not both",
        )),
    }
}

/// The engine; unspecified values are the defaults of what it is `like`.
///
/// `has_memory` is false for a profile, which was counted below its server's memory, and for plain I/O.
pub(crate) fn engine(asked: &wire::Engine, has_memory: bool) -> Result<Engine, Fault> {
    let memory = asked.memory.or((!has_memory).then_some(MEMORY_MIN));
    let Some(memory) = memory else {
        return Err(Fault::at(
            &["engine"],
            "the size of the buffer pool is not known, and it decides what reaches the disks; \
             add [engine] with memory = \"512 MiB\" or as much as it is",
        ));
    };
    let defaults = asked.like.map_or(&Defaults::GENERIC, |like| &like.defaults);
    let page_size = match asked.page_size {
        None => defaults.page_size,
        Some(size) => PageSize::try_from(size)
            .map_err(|error| Fault::at(&["engine", "page_size"], error.to_string()))?,
    };
    let engine = Engine {
        memory,
        page_size,
        read_unit: asked.read_unit.unwrap_or_default(),
        read_ahead: asked.read_ahead.unwrap_or(defaults.read_ahead),
        write_gather: asked.write_gather.unwrap_or(defaults.write_gather),
        writes_in_flight: asked.writes_in_flight.unwrap_or(defaults.writes_in_flight),
        checkpoint: checkpoint(asked.checkpoint.as_deref(), defaults.checkpoint)?,
        log_capacity: own::log_capacity(asked, defaults.log_capacity),
        doublewrite_pages: own::doublewrite_pages(asked, defaults.doublewrite_pages)?,
        full_page_images: asked.full_page_images.unwrap_or(defaults.full_page_images),
        commit: own::commit(asked),
        log_gather: asked.log_gather.unwrap_or(defaults.log_gather),
        log_in_flight_max: defaults.log_in_flight_max,
        log_flush: asked.log_flush.unwrap_or(defaults.log_flush),
        data_durability: defaults.data_durability,
        page_cache: asked.page_cache.unwrap_or(Bytes::ZERO),
        sort_memory: asked.sort_memory.unwrap_or(Bytes::mib(2)),
        start: asked.start.unwrap_or_default(),
        host_cache_start: asked.host_cache_start.unwrap_or_default(),
        cpu: Cpu {
            statement: span(asked.cpu.statement, defaults.statement),
            logical_read: span(asked.cpu.logical_read, Duration::from_micros(1)),
            vm_step: span(asked.cpu.vm_step, Duration::from_nanos(50)),
            is_given: [
                asked.cpu.statement,
                asked.cpu.logical_read,
                asked.cpu.vm_step,
            ]
            .iter()
            .any(Option::is_some),
        },
        versions: asked.versions.as_ref().map(versions),
        own: asked.own.resolved(),
    };
    rules::engine(&engine)?;
    Ok(engine)
}

fn checkpoint(asked: Option<&str>, default: Option<Duration>) -> Result<Option<Duration>, Fault> {
    let fault = |message: String| Fault::at(&["engine", "checkpoint"], message);
    match asked {
        None => Ok(default),
        Some("none") => Ok(None),
        Some(text) => match text.parse() {
            Ok(interval) => Ok(Some(interval)),
            Err(error) => Err(fault(format!("{error}; \"none\" turns checkpoints off"))),
        },
    }
}

fn versions(asked: &wire::Versions) -> Versions {
    Versions {
        bytes_per_row: asked.bytes_per_row,
        retention: asked.retention.0,
    }
}

fn span(asked: Option<Span>, default: Duration) -> Duration {
    asked.map_or(default, |span| span.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read<T: for<'de> serde::Deserialize<'de>>(text: &str) -> T {
        toml::from_str(text).expect("the shape is right")
    }

    fn refused<T: std::fmt::Debug>(result: Result<T, Fault>) -> String {
        result.expect_err("it makes no sense").message
    }

    #[test]
    fn a_machine_needs_a_type_or_cores_and_memory() {
        assert!(machine(&read("type = \"azure.DS2\"")).is_ok());
        assert!(machine(&read("cores = 2\nmemory = \"7 GiB\"")).is_ok());
        assert!(refused(machine(&read("cores = 2"))).contains("cores and memory"));
        assert!(refused(machine(&read("type = \"x\"\ncores = 0"))).contains("machine.cores"));
    }

    #[test]
    fn local_disks_are_striped_and_have_no_host_cache() {
        let local = |rest: &str| volume("d", &read(&format!("disk = \"local\"\n{rest}")));
        assert!(local("").is_ok());
        assert_eq!(local("count = 4").map(|local| local.count).ok(), Some(4));
        assert!(refused(local("host_cache = \"read-only\"")).contains("leave host_cache out"));
    }

    #[test]
    fn a_size_of_zero_is_refused_by_its_key() {
        let error = refused(volume("f", &read("disk = \"x\"\nsize = \"0 GiB\"")));
        assert!(error.starts_with("volume.f.size is zero"), "{error}");
    }

    #[test]
    fn credits_are_a_share_and_a_burst_has_a_rate_and_credits() {
        let disk = |rest: &str| volume("f", &read(&format!("disk = \"x\"\n{rest}")));
        assert_eq!(disk("credits = 0").map(|f| f.credits).ok(), Some(Some(0.0)));
        for wrong in ["-0.1", "1.5", "nan"] {
            let error = refused(disk(&format!("credits = {wrong}")));
            assert!(error.starts_with("volume.f.credits is"), "{error}");
        }
        assert!(refused(machine(&read("type = \"x\"\ncredits = 2"))).contains("machine.credits"));
        let burst = |rest: &str| disk(&format!("override = {{ {rest} }}"));
        let both = burst("iops_burst = 3000, iops_credits = 5_400_000").expect("both are there");
        let expected = Burst {
            rate: 3_000,
            credits: 5_400_000,
        };
        assert_eq!(both.replaced.iops_burst, Some(expected));
        assert!(refused(burst("iops_burst = 3000")).contains("give iops_credits too"));
        // Without a rate, nothing limits while they last.
        let credits = burst("throughput_credits = \"1 GiB\"").expect("credits are enough");
        let expected = Burst {
            rate: Burst::ANY_RATE,
            credits: 1 << 30,
        };
        assert_eq!(credits.replaced.throughput_burst, Some(expected));
        assert!(refused(burst("iops_burst = 0, iops_credits = 1")).contains("iops_burst is zero"));
    }

    #[test]
    fn a_workload_has_one_script_one_end_and_one_arrival() {
        for (text, expected) in [
            ("operations = 1", "is empty"),
            ("name = \"\"\noperations = 1", "is empty"),
            ("name = \"w\"\nfolder = \"f\"\noperations = 1", "keep one"),
            (
                "name = \"w\"\noperations = 1\nparameters = { x = nan }",
                "is NaN",
            ),
            (
                "name = \"w\"\noperations = 0",
                "workload.operations is zero",
            ),
            (
                "name = \"w\"\noperations = 1\nduration = \"1 s\"",
                "keep one",
            ),
            ("name = \"w\"\noperations = 1\nrate = -1.0", "a rate of -1"),
            (
                "name = \"w\"\noperations = 1\nrate = 5.0\nthink = \"1 s\"",
                "not both",
            ),
            (
                "name = \"w\"\noperations = 1\nsessions = 0",
                "workload.sessions is zero",
            ),
        ] {
            let error = refused(workload(&read(text), Mode::Simulate));
            assert!(error.contains(expected), "{text}: {error}");
        }
    }

    #[test]
    fn an_engine_says_how_much_memory_it_has() {
        assert!(refused(engine(&read(""), true)).contains("buffer pool"));
        let engine =
            engine(&read("memory = \"1 GiB\"\ncheckpoint = \"none\""), true).expect("enough");
        assert_eq!(engine.checkpoint, None);
        assert_eq!(engine.write_gather, Bytes::kib(256));
    }

    #[test]
    fn an_engine_like_another_has_its_defaults_unless_a_key_says_otherwise() {
        let like = |name: &str, rest: &str| {
            let text = format!("memory = \"1 GiB\"\nlike = \"{name}\"\n{rest}");
            engine(&read(&text), true).expect("it makes sense")
        };
        let innodb = like("innodb", "");
        assert_eq!(innodb.page_size.bytes(), Bytes::kib(16));
        assert_eq!((innodb.doublewrite_pages, innodb.checkpoint), (128, None));
        assert_eq!(innodb.log_capacity, Bytes::mib(100));
        assert_eq!(like("innodb", "log_capacity = 0").log_capacity, Bytes::ZERO);
        let changed = like(
            "innodb",
            "page_size = \"4 KiB\"\ndoublewrite_pages = 0\ncheckpoint = \"1 s\"",
        );
        assert_eq!(changed.page_size.bytes(), Bytes::kib(4));
        assert_eq!(changed.doublewrite_pages, 0);
        assert_eq!(changed.checkpoint, Some(Duration::SECOND));
        assert!(like("postgres", "").full_page_images);
        assert!(!like("postgres", "full_page_images = false").full_page_images);
        assert_eq!(like("sqlserver", "").read_ahead, Bytes::kib(512));
        assert_eq!(like("sqlite", "").page_size.bytes(), Bytes::kib(4));
    }

    #[test]
    fn pages_that_nobody_has_and_pools_of_too_many_are_refused() {
        let error =
            |rest: &str| refused(engine(&read(&format!("memory = \"20 TiB\"\n{rest}")), true));
        let page = error("page_size = \"12 KiB\"");
        assert_eq!(
            page,
            "pages of 12 KiB are not possible; give 4, 8, 16, 32 or 64 KiB"
        );
        let pool = error("page_size = \"4 KiB\"");
        assert!(pool.contains("2^32 pages of 4 KiB or more"), "{pool}");
    }
}
