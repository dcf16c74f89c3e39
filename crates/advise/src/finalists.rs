//! The finalists as an experiment: today's layout beside those of the answer.

use analysis::report::advice::document::{Advice, Volume};
use catalogue::{Catalogue, Provision};
use experiment::spec::Settings;
use model::{Bytes, Iops, LimitSpec, Throughput};
use reading::Role;
use toml_edit::{Array, DocumentMut, InlineTable, Item, Table, TableLike, TomlError, value};

use super::need::speed;
use super::recorded::Recorded;
use super::system::System;

/// The arm of today's layout, and its placement.
const TODAY: &str = "today";

/// The arm of the recommended layout.
pub(crate) const CHEAPEST: &str = "cheapest";

/// The arm of the layout with the best value.
pub(crate) const BEST_VALUE: &str = "best-value";

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
    /// Temporary files of a layout: one for each processor of its machine, up to this many; at least 1.
    pub temp_files_max: u32,
}

/// The experiment of the finalists, and the answers that it lacks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Experiment {
    /// Its text, with today's layout and every answer that can be run.
    pub text: String,
    /// Answers that an experiment cannot express.
    pub left_out: Vec<LeftOut>,
}

/// An answer that is not part of the experiment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LeftOut {
    /// The arm that it would be.
    pub arm: &'static str,
    /// Why it cannot be run; without a full stop.
    pub why: String,
}

/// An arm: a layout that was found.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Finalist<'a> {
    /// Name of the arm.
    pub(crate) arm: &'static str,
    /// Name of its machine in the catalogue.
    pub(crate) machine: Option<&'a str>,
    /// Processors that the database uses; `None`: all of the machine's.
    pub(crate) processors: Option<u32>,
    /// Its volumes.
    pub(crate) volumes: &'a [Volume],
}

/// Writes experiments with today's layout.
pub(crate) struct Writer<'a> {
    /// Disks and machines.
    pub(crate) catalogue: &'a Catalogue,
    /// Today's layout, which is `of.today`.
    pub(crate) today: &'a Settings,
    /// Where the load grows: sessions of the busiest period today, and on layouts that were found.
    pub(crate) grown: Option<[u32; 2]>,
    /// What was recorded on today's disks.
    pub(crate) recorded: Option<Recorded<'a>>,
    /// The operating system that machines are priced with.
    pub(crate) system: System,
    /// What is replayed.
    pub(crate) of: &'a Finalists<'a>,
}

impl Writer<'_> {
    /// An experiment with today's layout and those of `found` that `check` accepts, given the text of an experiment.
    ///
    /// # Errors
    /// When the text of today's layout is not TOML.
    pub(crate) fn experiment(
        &self,
        found: &[Finalist<'_>],
        check: &mut dyn FnMut(&str) -> Result<(), String>,
    ) -> Result<Experiment, TomlError> {
        let mut finalists = Vec::new();
        let mut left_out = Vec::new();
        for finalist in found {
            match self.taken_name(finalist) {
                None => finalists.push(*finalist),
                Some(name) => left_out.push(LeftOut {
                    arm: finalist.arm,
                    why: format!(
                        "today's file has a volume \"{name}\" of its own; rename it there"
                    ),
                }),
            }
        }
        let text = self.text(&finalists)?;
        if check(&text).is_ok() {
            return Ok(Experiment { text, left_out });
        }
        // Which one is refused, and why.
        let mut accepted = Vec::new();
        for finalist in finalists {
            match check(&self.text(&[finalist])?) {
                Ok(()) => accepted.push(finalist),
                Err(why) => left_out.push(LeftOut {
                    arm: finalist.arm,
                    why,
                }),
            }
        }
        let text = self.text(&accepted)?;
        Ok(Experiment { text, left_out })
    }

    /// The name of a volume that one of today's volumes has.
    fn taken_name(&self, finalist: &Finalist<'_>) -> Option<String> {
        let own = finalist.volumes.iter();
        let mut own = own.map(|volume| volume_name(finalist.arm, volume));
        own.find(|name| {
            let mut today = self.today.volumes.iter();
            today.any(|volume| volume.name == *name)
        })
    }

    /// An experiment with today's layout and these.
    ///
    /// # Errors
    /// When the text of today's layout is not TOML.
    pub(crate) fn text(&self, finalists: &[Finalist<'_>]) -> Result<String, TomlError> {
        let mut document: DocumentMut = self.of.today.parse()?;
        let root = document.as_table_mut();
        for section in LEFT_OUT {
            root.remove(section);
        }
        root.insert("name", value("finalists"));
        let question = "Do the layouts that were found keep what was predicted, beside today's?";
        root.insert("question", value(question));
        // What `advise` priced, `run` prices.
        let machine = section(root, "machine");
        match self.system {
            System::Windows => machine.insert("system", value("windows")),
            System::Linux => machine.remove("system"),
        };
        let workload = section(root, "workload");
        // Without `sessions`, each period has as many as were recorded: the load of the back-test.
        workload.insert("profile", value(&self.of.profile));
        if let Some(window) = self.of.window {
            workload.insert("window", value(window));
        }
        // Each run names its own.
        if let Some(engine) = root.get_mut("engine").and_then(Item::as_table_like_mut) {
            engine.remove("name");
        }
        let protocol = section(root, "protocol");
        protocol.insert("baseline", value(TODAY));
        if self.grown.is_some() {
            // More sessions complete more operations, whatever the disks.
            protocol.insert("metric", value("operation_latency_mean_ms"));
        }
        let placements = section(root, "placement");
        if let Some(today) = placements.remove(&self.today.placement.name) {
            placements.insert(TODAY, today);
        }
        let mut arms = Table::new();
        arms.set_implicit(true);
        let mut today = arm(TODAY);
        if let Some([sessions, _]) = self.grown {
            today.insert("set", value(with_sessions(sessions)));
        }
        arms.insert(TODAY, Item::Table(today));
        for finalist in finalists {
            for volume in finalist.volumes {
                let names = self.volume_names(finalist, volume);
                let count = if names.len() > 1 { 1 } else { volume.count };
                let table = described(volume, count, self.catalogue);
                for name in names {
                    section(root, "volume").insert(&name, Item::Table(table.clone()));
                }
            }
            section(root, "placement").insert(finalist.arm, Item::Table(self.placed(finalist)));
            let mut arm = arm(finalist.arm);
            arm.insert("set", value(self.set(root, finalist)));
            arms.insert(finalist.arm, Item::Table(arm));
        }
        root.insert("arm", Item::Table(arms));
        if let Some(recorded) = &self.recorded {
            recorded.add(root, self.catalogue);
        }
        Ok(document.to_string())
    }

    /// The volumes of an experiment that a volume of a layout is: where each file has a disk of its own, one for each.
    fn volume_names(&self, finalist: &Finalist<'_>, volume: &Volume) -> Vec<String> {
        let name = volume_name(finalist.arm, volume);
        let mut services = self.catalogue.services_with(&volume.disk);
        let has_file_each = services.any(|service| {
            let storage = service.storage_of(&volume.disk);
            storage.is_some_and(|storage| storage.file_each)
        });
        match has_file_each && volume.count > 1 {
            true => (1..=volume.count)
                .map(|number| format!("{name}-{number}"))
                .collect(),
            false => vec![name],
        }
    }

    fn placed(&self, finalist: &Finalist<'_>) -> Table {
        let machine = finalist.machine;
        let machine = machine.and_then(|name| self.catalogue.machine(name).ok());
        let cores = finalist
            .processors
            .or(machine.map(|machine| machine.spec.cores));
        let cores = cores.unwrap_or(1);
        let temp_files = cores.clamp(1, self.of.temp_files_max.max(1));
        let mut placed = Table::new();
        for volume in finalist.volumes {
            let own = self.volume_names(finalist, volume);
            for role in &volume.roles {
                let volumes: Array = own.iter().map(String::as_str).collect();
                let mut files = InlineTable::new();
                files.insert("volumes", volumes.into());
                if *role == Role::Temp && temp_files > 1 {
                    files.insert("files", i64::from(temp_files).into());
                }
                placed.insert(role.name(), value(files));
            }
        }
        placed
    }

    /// Keys that an arm sets: its machine, and its sessions where the load grows.
    fn set(&self, root: &Table, finalist: &Finalist<'_>) -> InlineTable {
        let grown = self.grown.map(|[_, sessions]| with_sessions(sessions));
        let mut set = grown.unwrap_or_default();
        let Some(machine) = finalist.machine else {
            return set;
        };
        set.insert("machine.type", machine.into());
        // Settings of today's layout for its own machine do not apply to this one.
        let today = root.get("machine").and_then(Item::as_table_like);
        let sets = |key: &str| today.is_some_and(|machine| machine.contains_key(key));
        if let Ok(entry) = self.catalogue.machine(machine) {
            if entry.spec.limits.values().flatten().any(bursts) {
                set.insert("machine.credits", WITHOUT_BURSTS.into());
            }
            if sets("cores") || finalist.processors.is_some() {
                let cores = finalist.processors.unwrap_or(entry.spec.cores);
                set.insert("machine.cores", i64::from(cores).into());
            }
            let now = self.today.machine.kind.as_deref();
            let now = now.and_then(|name| self.catalogue.machine(name).ok());
            let speed = speed(now.and_then(|now| now.processor.as_ref()), entry);
            if !speed.is_same() {
                set.insert("machine.processor_speed", speed.multiple().into());
            }
            if sets("memory") {
                set.insert("machine.memory", bytes(entry.spec.memory.0).into());
            }
        }
        set
    }
}

/// The layouts that are answers, without duplicates; today's has an arm of its own.
pub(crate) fn named<'a>(advice: &'a Advice) -> Vec<Finalist<'a>> {
    let mut all: Vec<Finalist<'a>> = Vec::new();
    let best_value = advice.best_value.as_ref();
    let best_value = best_value.filter(|best| **best != advice.today);
    for (arm, layout) in [
        (CHEAPEST, advice.cheapest.as_ref()),
        ("runner-up", advice.runner_up.as_ref()),
        (BEST_VALUE, best_value),
        ("fastest", advice.fastest.as_ref()),
        ("above-budget", advice.above_budget.as_ref()),
    ] {
        let Some(layout) = layout else { continue };
        let own = Finalist {
            arm,
            machine: layout.machine.as_deref(),
            processors: layout.processors_used,
            volumes: &layout.volumes,
        };
        let key = |of: &Finalist<'a>| (of.machine, of.processors, of.volumes);
        let is_same = |known: &Finalist<'a>| key(known) == key(&own);
        if !all.iter().any(is_same) {
            all.push(own);
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

fn with_sessions(sessions: u32) -> InlineTable {
    let mut set = InlineTable::new();
    set.insert("workload.sessions", i64::from(sessions).into());
    set
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

fn described(volume: &Volume, count: u32, catalogue: &Catalogue) -> Table {
    let mut table = Table::new();
    table.insert("disk", value(volume.disk.as_str()));
    if count > 1 {
        table.insert("count", value(i64::from(count)));
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

#[cfg(test)]
mod tests;
