//! The finalists as an experiment: today's layout beside those of the answer.

use analysis::report::advice::document::{Advice, Layout, Volume};
use catalogue::{Catalogue, Provision};
use model::{Bytes, Iops, LimitSpec, Throughput};
use toml_edit::{Array, DocumentMut, InlineTable, Item, Table, TableLike, TomlError, value};

use super::recorded;
use super::request::Request;

/// The arm of the recommended layout.
pub(crate) const CHEAPEST: &str = "cheapest";

/// Remaining share of burst credits of new layouts, which are judged by their long-run performance.
const WITHOUT_BURSTS: i64 = 0;

/// Sections of an experiment about what it compares and asks; the finalists have their own.
const LEFT_OUT: [&str; 8] = [
    "arm",
    "published",
    "fitted",
    "quick",
    "source",
    "protocol",
    "workload",
    "real-time",
];

/// The sources of an experiment with the finalists.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finalists<'a> {
    /// Text of today's layout.
    pub today: &'a str,
    /// File of the profile that is replayed, as seen from the experiment.
    pub profile: String,
    /// The part of it that is replayed; `None`: all.
    pub window: Option<&'a str>,
}

/// An experiment with today's layout and the layouts that were found.
///
/// # Errors
/// When the text of today's layout is not TOML.
pub(crate) fn experiment(
    request: &Request<'_>,
    of: &Finalists<'_>,
    advice: &Advice,
) -> Result<String, TomlError> {
    let Finalists {
        today,
        profile,
        window,
    } = of;
    let catalogue = request.catalogue;
    let sessions = request.load.sessions_max();
    let mut document: DocumentMut = today.parse()?;
    let root = document.as_table_mut();
    for section in LEFT_OUT {
        root.remove(section);
    }
    root.insert("name", value("finalists"));
    let question = "Do the layouts that were found keep what was predicted, beside today's?";
    root.insert("question", value(question));
    let workload = section(root, "workload");
    workload.insert("profile", value(profile));
    if let Some(window) = window {
        workload.insert("window", value(*window));
    }
    workload.insert("sessions", value(i64::from(sessions)));
    // Each run names its own.
    if let Some(engine) = root.get_mut("engine").and_then(Item::as_table_like_mut) {
        engine.remove("name");
    }
    section(root, "protocol").insert("baseline", value("today"));
    let mut arms = Table::new();
    arms.set_implicit(true);
    arms.insert(
        "today",
        Item::Table(arm(&request.today.settings.placement.name)),
    );
    let sets = |key: &str| {
        let machine = root.get("machine").and_then(Item::as_table_like);
        machine.is_some_and(|machine| machine.contains_key(key))
    };
    let (cores, memory) = (sets("cores"), sets("memory"));
    for (name, layout) in named(advice) {
        let mut placed = Table::new();
        for volume in &layout.volumes {
            let own = volume_name(name, volume);
            for role in &volume.roles {
                let mut files = InlineTable::new();
                files.insert(
                    "volumes",
                    [own.as_str()].into_iter().collect::<Array>().into(),
                );
                placed.insert(role.name(), value(files));
            }
            let volume = described(volume, catalogue);
            section(root, "volume").insert(&own, Item::Table(volume));
        }
        section(root, "placement").insert(name, Item::Table(placed));
        let mut arm = arm(name);
        let mut set = InlineTable::new();
        if let Some(machine) = &layout.machine {
            set.insert("machine.type", machine.as_str().into());
            // Settings of today's layout for its own machine do not apply to this one.
            if let Ok(entry) = catalogue.machine(machine) {
                if entry.spec.limits.values().flatten().any(bursts) {
                    set.insert("machine.credits", WITHOUT_BURSTS.into());
                }
                if cores {
                    set.insert("machine.cores", i64::from(entry.spec.cores).into());
                }
                if memory {
                    set.insert("machine.memory", bytes(entry.spec.memory.0).into());
                }
            }
        }
        arm.insert("set", value(set));
        arms.insert(name, Item::Table(arm));
    }
    root.insert("arm", Item::Table(arms));
    recorded::add(root, request.today, catalogue);
    Ok(document.to_string())
}

/// The layouts that are answers, without duplicates.
fn named(advice: &Advice) -> Vec<(&'static str, &Layout)> {
    let mut all: Vec<(&'static str, &Layout)> = Vec::new();
    for (name, layout) in [
        (CHEAPEST, &advice.cheapest),
        ("runner-up", &advice.runner_up),
        ("best-value", &advice.best_value),
        ("fastest", &advice.fastest),
        ("above-budget", &advice.above_budget),
    ] {
        let Some(layout) = layout else { continue };
        let is_same =
            |known: &Layout| known.machine == layout.machine && known.volumes == layout.volumes;
        if !all.iter().any(|(_, known)| is_same(known)) {
            all.push((name, layout));
        }
    }
    all
}

/// The name of an arm's volume there.
pub(crate) fn volume_name(arm: &str, volume: &Volume) -> String {
    format!("{arm}-{}", volume.name)
}

fn arm(placement: &str) -> Table {
    let mut arm = Table::new();
    arm.insert("placement", value(placement));
    arm
}

fn bursts(limit: &LimitSpec) -> bool {
    limit.burst.is_some()
}

/// Whether a disk has burst credits.
fn has_credits(volume: &Volume, catalogue: &Catalogue) -> bool {
    let asked = Provision {
        size: volume.size.map(Bytes),
        iops: volume.iops.map(Iops),
        throughput: volume.throughput.map(Throughput),
        bursting: false,
    };
    let disk = catalogue.disk(&volume.disk);
    let provisioned = disk.and_then(|disk| disk.provision(&asked));
    provisioned.is_ok_and(|disk| disk.spec.limits.iter().any(bursts))
}

fn described(volume: &Volume, catalogue: &Catalogue) -> Table {
    let mut table = Table::new();
    table.insert("disk", value(volume.disk.as_str()));
    if volume.count > 1 {
        table.insert("count", value(i64::from(volume.count)));
    }
    if has_credits(volume, catalogue) {
        table.insert("credits", value(WITHOUT_BURSTS));
    }
    let parts = [
        ("size", volume.size.map(|size| value(bytes(size)))),
        ("iops", volume.iops.map(|iops| value(iops as i64))),
        (
            "throughput",
            volume.throughput.map(|rate| value(rate_text(rate))),
        ),
    ];
    for (key, part) in parts {
        if let Some(part) = part {
            table.insert(key, part);
        }
    }
    table
}

/// A size in whole units.
fn bytes(bytes: u64) -> String {
    let units = [(1_u64 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB")];
    let fits = units
        .into_iter()
        .find(|(unit, _)| bytes.is_multiple_of(*unit));
    match fits {
        Some((unit, name)) => format!("{} {name}", bytes / unit),
        None => format!("{bytes} B"),
    }
}

/// A rate in whole units.
fn rate_text(rate: u64) -> String {
    match rate.is_multiple_of(1_000_000) {
        true => format!("{} MB/s", rate / 1_000_000),
        false => format!("{}/s", bytes(rate)),
    }
}

fn section<'a>(root: &'a mut Table, name: &str) -> &'a mut dyn TableLike {
    let item = root.entry(name).or_insert_with(|| {
        let mut table = Table::new();
        table.set_implicit(true);
        Item::Table(table)
    });
    item.as_table_like_mut()
        .expect("a checked experiment has a table here")
}
