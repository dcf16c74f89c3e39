//! The folder of advice: page, document, and an experiment with the finalists.

use std::ffi::OsStr;
use std::fs;
use std::path::{Component, Path, PathBuf};

use analysis::report::advice::document::{Advice, Layout, Volume};
use anyhow::Result;
use catalogue::{Catalogue, Provision};
use files::{Folder, Readers};
use model::{Bytes, Iops, LimitSpec, Throughput};
use toml_edit::{Array, DocumentMut, InlineTable, Item, Table, TableLike, value};

use super::{Args, UsageError};

/// The arm of the recommended layout.
pub(super) const CHEAPEST: &str = "cheapest";

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

/// Files of the folder: the page, the document, the experiment of the finalists.
const FILES: [&str; 3] = ["advice.html", "advice.json", "finalists.toml"];

/// The location of the folder.
pub(super) fn name(args: &Args) -> PathBuf {
    match &args.out {
        Some(out) => out.clone(),
        None => {
            let stem = args.profile.file_stem().unwrap_or(OsStr::new("profile"));
            let mut name = stem.to_owned();
            name.push("-advice");
            PathBuf::from(name)
        }
    }
}

/// Refuses a folder that already contains an answer, whose finalists may have been edited by hand.
///
/// # Errors
/// When it has one, unless `--force` allows replacing it.
pub(super) fn check_free(args: &Args) -> Result<(), UsageError> {
    let folder = name(args);
    let there = FILES.iter().find(|name| folder.join(name).exists());
    match there.filter(|_| !args.force) {
        None => Ok(()),
        Some(name) => Err(UsageError(format!(
            "{} is there already; give another folder with --out, or --force to replace it",
            folder.join(name).display()
        ))),
    }
}

/// The folder, created if missing.
///
/// # Errors
/// When it is not writable, or does not belong to this user.
pub(super) fn made(args: &Args) -> Result<Folder> {
    Ok(Folder::to_fill(&name(args), Readers::Umask)?)
}

/// Writes the page, the document and the experiment of the finalists.
///
/// # Errors
/// When they cannot be written.
pub(super) fn write(folder: &Folder, advice: &Advice, finalists: &str, page: &str) -> Result<()> {
    let json = advice.json();
    for (name, text) in FILES.into_iter().zip([page, json.as_str(), finalists]) {
        folder.write(name.as_ref(), text.as_bytes(), Readers::Umask)?;
    }
    Ok(())
}

/// `file` relative to `folder`, so that both can be used from any directory, and moved together. An absolute path given
/// by the user stays absolute.
pub(super) fn seen_from(folder: &Path, file: &Path) -> String {
    let relative = match file.is_absolute() {
        true => None,
        false => relative(folder, file),
    };
    relative
        .unwrap_or_else(|| file.to_owned())
        .display()
        .to_string()
}

/// `file` relative to `folder`; `None` where there is no such path, or one of them cannot be resolved. Links are
/// followed: `..` of a link's target is not `..` of the link.
fn relative(folder: &Path, file: &Path) -> Option<PathBuf> {
    let parent = match file.parent()? {
        parent if parent.as_os_str().is_empty() => Path::new("."),
        parent => parent,
    };
    let from = fs::canonicalize(folder).ok()?;
    let to = fs::canonicalize(parent).ok()?.join(file.file_name()?);
    let (from, to): (Vec<_>, Vec<_>) = (from.components().collect(), to.components().collect());
    let common = from.iter().zip(&to).take_while(|(one, other)| one == other);
    let common = common.count();
    // Without a common root there is no path from one to the other: two drives.
    (common > 0).then(|| {
        let up = from[common..].iter().map(|_| Component::ParentDir);
        up.chain(to[common..].iter().copied()).collect()
    })
}

/// The sources of an experiment with the finalists.
pub(super) struct Finalists<'a> {
    /// Text of today's layout.
    pub(super) today: &'a str,
    /// Name of its placement.
    pub(super) placement: &'a str,
    pub(super) catalogue: &'a Catalogue,
    /// File of the profile that is replayed, relative to the folder.
    pub(super) profile: String,
    /// The part of it that is replayed; `None`: all.
    pub(super) window: Option<&'a str>,
    /// Sessions that the layouts are for.
    pub(super) sessions: u32,
}

/// An experiment with today's layout and the layouts that were found.
///
/// # Errors
/// When the text of today's layout is not TOML, although it parsed before.
pub(super) fn finalists(of: &Finalists<'_>, advice: &Advice) -> Result<String> {
    let Finalists {
        today,
        placement,
        catalogue,
        profile,
        window,
        sessions,
    } = of;
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
    workload.insert("sessions", value(i64::from(*sessions)));
    // Each run names its own.
    if let Some(engine) = root.get_mut("engine").and_then(Item::as_table_like_mut) {
        engine.remove("name");
    }
    section(root, "protocol").insert("baseline", value("today"));
    let mut arms = Table::new();
    arms.set_implicit(true);
    arms.insert("today", Item::Table(arm(placement)));
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
pub(super) fn volume_name(arm: &str, volume: &Volume) -> String {
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
