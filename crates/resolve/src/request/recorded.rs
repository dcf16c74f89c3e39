//! Today's disks as a recording shows them: for a server whose disks the catalogue does not have.
//!
//! ```text
//! profile ──> Observed, by role ──> [volume.data] disk = "recorded"
//!                                   [volume.data.override] read_latency = { mean = .. }, iops_limit = ..
//! ```
//!
//! A recorded mean latency contains the waits that the recorded load met at the disks' own limits. A limit at the highest rate
//! that was seen would add them a second time, where a load was at that rate throughout. So the limit holds on average over an
//! interval of the recording, as it was seen, and requests within an interval are served as they come.

use std::collections::BTreeSet;
use std::path::Path;

use super::error::{RecordedError, RequestError};
use super::inputs;
use experiment::build;
use experiment::spec::{ExperimentText, Mode, Role, profile_window};
use model::Duration;
use profile::{Latency, Observed, Profile};
use toml_edit::{DocumentMut, InlineTable, Item, TableLike, Value, value};

/// What a layout calls such a disk.
const RECORDED: &str = "recorded";

/// A layout as a profile shows it.
#[derive(Clone, Debug)]
pub struct RecordedLayout {
    /// The layout, in the form of an experiment.
    pub text: ExperimentText,
    /// What it leaves out, a sentence each.
    pub notes: Vec<String>,
}

/// A profile, and which part of it is replayed.
struct ReplayedPart<'a> {
    file: &'a str,
    profile: Profile,
    window: Duration,
}

/// The layout of the server of the profile in `file`, in the form of an experiment: a volume for the files of each role whose
/// requests were counted separately, with what they show. Latencies are those of the busiest `window`; `None`: that of a
/// simulation. `set` has keys that a user sets; those of the machine complete what the profile does not know.
///
/// # Errors
/// When the profile cannot be read or has a mistake, or does not have what that takes.
pub fn recorded_layout(
    file: &str,
    window: Option<Duration>,
    set: &[(String, String)],
) -> Result<RecordedLayout, RequestError> {
    let recording = ReplayedPart::read(file, window)?;
    let profile = &recording.profile;
    let mut layout = build::Experiment::new("today", "Does the profile fit its server's disks?");
    let of_machine: Vec<(String, String)> =
        (set.iter().filter(|(key, _)| key.starts_with("machine.")))
            .cloned()
            .collect();
    let machine = &profile.machine;
    if let Some(name) = &machine.name {
        layout = layout.machine(name);
    } else if !of_machine.iter().any(|(key, _)| key == "machine.type") {
        let is_set = |key: &str| of_machine.iter().any(|(set, _)| set == key);
        let (cores, memory) = (is_set("machine.cores"), is_set("machine.memory"));
        let lacking = [
            (
                "processors",
                "--set machine.cores=16",
                machine.processors.is_some() || cores,
            ),
            (
                "memory",
                "--set machine.memory=128GiB",
                machine.memory.is_some() || memory,
            ),
        ];
        let lacking = lacking.into_iter().filter(|(.., is_there)| !is_there);
        let (missing, options): (Vec<_>, Vec<_>) =
            lacking.map(|(key, option, _)| (key, option)).unzip();
        if !missing.is_empty() {
            return Err(RecordedError::Machine {
                file: file.to_owned(),
                missing,
                options,
            }
            .into());
        }
        if let Some(processors) = machine.processors {
            layout = layout.set("machine.cores", i64::from(processors));
        }
        if let Some(memory) = machine.memory {
            layout = layout.set("machine.memory", format!("{} B", memory.0));
        }
    }
    let counted = profile.roles();
    let mut placement = build::Placement::on(Role::Data.name());
    for role in Role::COMMON {
        if !counted.contains(&role) {
            continue;
        }
        let volume = recording.volume(role)?;
        layout = layout.volume(role.name(), volume);
        placement = placement.files(role.name(), &[role.name()], 1);
    }
    let layout = layout.placement("today", placement);
    let layout = layout.workload(build::Workload::profile(file));
    let text = ExperimentText::of_file("--today recorded", layout.text());
    let text = text.with(&of_machine)?;
    let notes = recording.shared();
    Ok(RecordedLayout { text, notes })
}

/// `text` of a layout in which each volume with `disk = "recorded"` and no override has what the profile in `file` shows of the
/// files on it; latencies are as in [`recorded_layout`]. A text without such a volume is unchanged, and the profile is not read.
///
/// # Errors
/// When the profile cannot be read or has a mistake, or does not have what that takes.
pub fn with_recorded_disks(
    text: String,
    file: &str,
    window: Option<Duration>,
) -> Result<String, RequestError> {
    filled(text, file, &|| ReplayedPart::read(file, window))
}

/// The same for a `profile` that was read already, and goes by the name of `file`.
///
/// # Errors
/// When the profile does not have what that takes.
pub fn with_disks_of(text: String, file: &str, profile: &Profile) -> Result<String, RequestError> {
    filled(text, file, &|| {
        Ok(ReplayedPart {
            file,
            profile: profile.clone().in_common_roles(),
            window: profile_window(Mode::Simulate),
        })
    })
}

/// `text` with what a profile, of `file`, shows of volumes without figures. It is read where there is such a volume.
fn filled<'a>(
    text: String,
    file: &str,
    read: &dyn Fn() -> Result<ReplayedPart<'a>, RequestError>,
) -> Result<String, RequestError> {
    // What is not TOML is reported when the layout is read.
    let Ok(mut document) = text.parse::<DocumentMut>() else {
        return Ok(text);
    };
    let open = open(document.as_table());
    if open.is_empty() {
        return Ok(text);
    }
    let recording = read()?;
    for (name, roles) in open {
        if let Some(role) = roles.iter().find(|role| {
            let volumes = volumes_of(document.as_table(), **role);
            volumes.iter().any(|other| *other != name)
        }) {
            let (file, role) = (file.to_owned(), *role);
            return Err(RecordedError::Several {
                volume: name,
                file,
                role,
            }
            .into());
        }
        let figures = recording.figures(&name, &roles)?;
        let volumes = document.get_mut("volume").and_then(Item::as_table_like_mut);
        let volume = volumes.and_then(|volumes| volumes.get_mut(&name)?.as_table_like_mut());
        if let Some((volume, figures)) = volume.zip(figures) {
            volume.insert("override", value(figures));
        }
    }
    Ok(document.to_string())
}

/// Whether the files are those of data alone.
fn is_data(roles: &BTreeSet<Role>) -> bool {
    roles.iter().all(|role| *role == Role::Data)
}

/// The volumes that are to be as recorded, and the roles of the files on them.
fn open(layout: &dyn TableLike) -> Vec<(String, BTreeSet<Role>)> {
    let volumes = layout.get("volume").and_then(Item::as_table_like);
    let volumes = volumes.into_iter().flat_map(TableLike::iter);
    let is_open = |volume: &&dyn TableLike| {
        let disk = volume.get("disk").and_then(Item::as_str);
        disk == Some(RECORDED) && !volume.contains_key("override")
    };
    let named = volumes.filter_map(|(name, volume)| {
        volume.as_table_like().filter(is_open)?;
        let on_it = |role: &Role| {
            volumes_of(layout, *role)
                .iter()
                .any(|volume| volume == name)
        };
        let roles: BTreeSet<Role> = Role::COMMON.into_iter().filter(on_it).collect();
        // A volume without files is refused when the layout is read.
        (!roles.is_empty()).then(|| (name.to_owned(), roles))
    });
    named.collect()
}

/// The volumes of the files of `role`, in any placement.
fn volumes_of(layout: &dyn TableLike, role: Role) -> Vec<String> {
    let placements = layout.get("placement").and_then(Item::as_table_like);
    let placements = placements.into_iter().flat_map(TableLike::iter);
    let named = placements.filter_map(|(_, placement)| {
        let files = placement.as_table_like()?.get(role.name())?;
        let volumes = files.as_table_like()?.get("volumes")?.as_value()?;
        let names = match volumes {
            Value::Array(names) => names
                .iter()
                .filter_map(Value::as_str)
                .map(str::to_owned)
                .collect(),
            one => one
                .as_str()
                .map(str::to_owned)
                .into_iter()
                .collect::<Vec<String>>(),
        };
        Some(names)
    });
    named.flatten().collect()
}

impl<'a> ReplayedPart<'a> {
    fn read(file: &'a str, window: Option<Duration>) -> Result<ReplayedPart<'a>, RequestError> {
        Ok(ReplayedPart {
            file,
            profile: inputs::profile(Path::new(file))?.in_common_roles(),
            window: window.unwrap_or(profile_window(Mode::Simulate)),
        })
    }

    /// The volumes of the profile that hold files of several roles whose requests were counted separately.
    fn shared(&self) -> Vec<String> {
        let counted = self.profile.roles();
        let volumes = self.profile.volumes.iter();
        let roles = volumes.map(|volume| {
            let own = volume.roles.intersection(&counted);
            own.map(|role| role.name()).collect::<Vec<&str>>()
        });
        let shared = roles.filter(|roles| roles.len() > 1).map(|roles| {
            format!(
                "{} share a volume; each has one of its own here, with the latencies and highest rates of its own requests",
                roles.join(" and ")
            )
        });
        shared.collect()
    }

    /// A volume for the files of one role, with its size where volumes of the profile hold nothing else.
    fn volume(&self, role: Role) -> Result<build::Volume, RecordedError> {
        let figures = self.figures(role.name(), &[role].into())?;
        // Of which nothing is asked.
        let volume = match figures {
            Some(figures) => build::Volume::of(RECORDED).set("override", figures),
            None => build::Volume::of("unlimited"),
        };
        let counted = self.profile.roles();
        let holding = self.profile.volumes.iter();
        let holding = holding.filter(|volume| volume.roles.contains(&role));
        let sizes: Option<Vec<u64>> = holding
            .map(|volume| {
                let is_alone = volume
                    .roles
                    .iter()
                    .all(|other| *other == role || !counted.contains(other));
                volume.size.filter(|_| is_alone).map(|size| size.0)
            })
            .collect();
        Ok(
            match sizes
                .unwrap_or_default()
                .into_iter()
                .reduce(u64::saturating_add)
            {
                Some(size) => volume.set("size", format!("{size} B")),
                None => volume,
            },
        )
    }

    /// What the profile shows of the disks of the volume `name` with files of `roles`, as keys of its override; `None`: it counted
    /// no requests for them.
    fn figures(
        &self,
        name: &str,
        roles: &BTreeSet<Role>,
    ) -> Result<Option<InlineTable>, RecordedError> {
        let (volume, file) = (name.to_owned(), self.file.to_owned());
        let counted = self.profile.roles();
        if roles.is_disjoint(&counted) {
            let roles = Role::joined(roles, " and ");
            return Err(RecordedError::NotCounted {
                volume,
                file,
                roles,
            });
        }
        let Observed {
            reads,
            writes,
            flushes,
            requests_per_s,
            bytes_per_s,
            interval,
        } = self.profile.observed(roles, self.window);
        let mut figures = InlineTable::new();
        for (kind, key, latency) in [
            ("reads", "read_latency", reads),
            ("writes", "write_latency", writes),
            ("flushes", "flush_latency", flushes),
        ] {
            match latency {
                Latency::NoRequests => {}
                // A server that gives pages to the kernel does not know: sessions hardly wait for these.
                Latency::NotRecorded if key == "write_latency" && is_data(roles) => {}
                Latency::NotRecorded => {
                    return Err(RecordedError::NoLatency { volume, file, kind });
                }
                Latency::Mean(mean) => {
                    let us = (mean.as_secs_f64() * 1e6).round().max(1.0);
                    let mean = format!("{us} us");
                    // A commit waits for all older writes of the log: if each took a time of its own, it would wait for the longest
                    // of those in flight, and not for the mean that was recorded.
                    let is_in_order = key != "read_latency" && roles.contains(&Role::Log);
                    figures.insert(
                        key,
                        match is_in_order {
                            true => Value::from(mean),
                            false => {
                                let mut exponential = InlineTable::new();
                                exponential.insert("mean", mean.into());
                                Value::InlineTable(exponential)
                            }
                        },
                    );
                }
            }
        }
        let interval_s = interval.as_secs_f64();
        // Credits for an interval, without a rate: within it, nothing limits.
        for (rate, limit, credits) in [
            (requests_per_s, "iops_limit", "iops_credits"),
            (bytes_per_s, "throughput_limit", "throughput_credits"),
        ] {
            if rate > 0.0 {
                let whole = |number: f64| Value::from(number.ceil().max(1.0) as i64);
                figures.insert(limit, whole(rate));
                figures.insert(credits, whole(rate * interval_s));
            }
        }
        Ok((!figures.is_empty()).then_some(figures))
    }
}
