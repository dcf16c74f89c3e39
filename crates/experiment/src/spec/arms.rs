//! Turns a valid text into a [`Spec`]: one pass for the whole file, then one per arm with the keys it sets.

use std::collections::BTreeMap;

use super::arm::SETTABLE;
use super::bounds::{arm_named, named};
use super::document::Text;
use super::error::{Fault, listed, remedy, touches};
use super::given::{Given, Idle};
use super::mode::PLAIN_IO;
use super::origin::{Origin, with_all};
use super::settings::{Settings, Volume};
use super::{Arm, Source, Spec, Variant};
use super::{distribute, own, protocol, resolve, rules, wire};

/// The experiment that `text` describes, in which the variant and overrides are applied; `origin` has the text before that.
pub(super) fn spec(text: &Text, origin: &Origin) -> Result<Spec, Fault> {
    let asked = text.wire();
    check_whole(text, &asked, &origin.variant)?;
    if asked.workload.profile.is_some() {
        for (key, _) in &origin.overrides {
            let path: Vec<&str> = key.split('.').collect();
            check_counted(key).map_err(|message| Fault::at(&path, message))?;
        }
    }
    let asked_arms = asked_arms(text, &asked)?;
    let names: Vec<String> = asked_arms.iter().map(|arm| arm.name.clone()).collect();
    let section = match asked.arm.is_empty() {
        true => "placement",
        false => "arm",
    };
    for name in &names {
        arm_named(&[section, name], name)?;
    }
    let protocol = protocol::resolve(&asked.protocol, &asked.workload, &origin.variant, &names)?;
    protocol::check_trials(names.len(), protocol.blocks)?;
    protocol::check_published(&asked, &names)?;
    let (mut arms, mut given) = (Vec::new(), BTreeMap::new());
    for asked_arm in &asked_arms {
        let (arm, keys) = resolved(text, &asked, asked_arm, origin)?;
        given.insert(arm.name.clone(), keys);
        arms.push(arm);
    }
    let unused = unused(&asked, &asked_arms, &arms);
    let layouts = arms.iter().map(|arm| &arm.settings);
    rules::check_host_cache_is_used(layouts.map(|of| (&of.machine, of.volumes.as_slice())))?;
    let fitted = protocol::fitted(text, &asked.fitted, &arms)?;
    for arm in &mut arms {
        arm.fitted = fitted.iter().any(|entry| entry.to.contains(&arm.name));
    }
    let host_cache_start_given = host_cache_start_given(&asked);
    Ok(Spec {
        name: asked.name,
        question: asked.question,
        source: asked.source.map(|source| Source {
            title: source.title,
            date: source.date,
            note: source.note,
            figures_left_out: false,
        }),
        protocol,
        arms,
        fitted,
        overrides: origin.overrides.clone(),
        variant: origin.variant.clone(),
        host_cache_start_given,
        given,
        unused,
        sweeps: Vec::new(),
        origin: origin.clone(),
    })
}

fn host_cache_start_given(asked: &wire::Experiment) -> bool {
    let by_arm = |arm: &wire::Arm| arm.set.contains_key("engine.host_cache_start");
    asked.engine.host_cache_start.is_some() || asked.arm.values().any(by_arm)
}

/// An arm from the file, or implied by a placement.
struct ArmEntry {
    name: String,
    placement: String,
    baseline: Option<String>,
    set: BTreeMap<String, toml::Value>,
}

/// Checks everything except arms, whether or not an arm uses it.
fn check_whole(text: &Text, asked: &wire::Experiment, variant: &Variant) -> Result<(), Fault> {
    if asked.name.is_empty() {
        let message = "the experiment has no name; add one, such as name = \"mine\"";
        return Err(Fault::at(&["name"], message));
    }
    named(&["name"], &asked.name)?;
    protocol::check_question(&asked.question)?;
    for (section, names) in [
        ("volume", asked.volume.keys().collect::<Vec<_>>()),
        ("placement", asked.placement.keys().collect()),
        ("arm", asked.arm.keys().collect()),
    ] {
        for name in names {
            named(&[section, name], name)?;
        }
    }
    if asked.placement.is_empty() {
        let message = "there is no placement; add [placement.NAME] with data, temp and log";
        return Err(Fault::at(&["placement"], message));
    }
    for name in text.in_order("placement", asked.placement.keys()) {
        settings(text, asked, name, variant)?;
    }
    for name in text.in_order("volume", asked.volume.keys()) {
        resolve::volume(name, &asked.volume[name])?;
    }
    Ok(())
}

fn settings(
    text: &Text,
    asked: &wire::Experiment,
    placement: &str,
    variant: &Variant,
) -> Result<Settings, Fault> {
    let mode = variant.mode;
    let defined = text.in_order("volume", asked.volume.keys());
    let mut placement = distribute::placement(placement, &asked.placement[placement], &defined)?;
    own::check_like(&asked.engine, mode)?;
    own::place_binlog(&mut placement, &asked.engine.own);
    let used = placement.volumes();
    let volumes = defined
        .iter()
        .filter(|name| used.contains(name.as_str()))
        .map(|name| resolve::volume(name, &asked.volume[*name]))
        .collect::<Result<Vec<Volume>, Fault>>()?;
    let has_memory = asked.workload.profile.is_none() && variant.engine.as_str() != PLAIN_IO;
    let settings = Settings {
        machine: resolve::machine(&asked.machine)?,
        volumes,
        workload: resolve::workload(&asked.workload, mode)?,
        engine: resolve::engine(&asked.engine, has_memory)?,
        placement,
    };
    own::check_simulated(&settings.engine.own, mode)?;
    rules::together(&settings)?;
    Ok(settings)
}

fn asked_arms(text: &Text, asked: &wire::Experiment) -> Result<Vec<ArmEntry>, Fault> {
    if asked.arm.is_empty() {
        let placements = text.in_order("placement", asked.placement.keys());
        let arm = |name: &String| ArmEntry {
            name: name.clone(),
            placement: name.clone(),
            baseline: None,
            set: BTreeMap::new(),
        };
        return Ok(placements.into_iter().map(arm).collect());
    }
    text.in_order("arm", asked.arm.keys())
        .into_iter()
        .map(|name| {
            let arm = &asked.arm[name];
            Ok(ArmEntry {
                name: name.clone(),
                placement: placement_of(name, arm, asked)?,
                baseline: baseline_of(name, arm, asked)?,
                set: arm.set.clone(),
            })
        })
        .collect()
}

/// The arm's own baseline, which must be another arm.
fn baseline_of(
    name: &str,
    arm: &wire::Arm,
    asked: &wire::Experiment,
) -> Result<Option<String>, Fault> {
    let Some(baseline) = &arm.baseline else {
        return Ok(None);
    };
    if baseline != name && asked.arm.contains_key(baseline) {
        return Ok(Some(baseline.clone()));
    }
    let others = asked
        .arm
        .keys()
        .map(String::as_str)
        .filter(|other| *other != name);
    let hint = remedy(baseline, "defined", others);
    let message = format!("baseline \"{baseline}\" is not another arm{hint}");
    Err(Fault::at(&["arm", name, "baseline"], message))
}

fn placement_of(name: &str, arm: &wire::Arm, asked: &wire::Experiment) -> Result<String, Fault> {
    let placements = &asked.placement;
    match &arm.placement {
        Some(given) if placements.contains_key(given) => Ok(given.clone()),
        Some(given) => {
            let hint = remedy(given, "defined", placements.keys().map(String::as_str));
            let message = format!(
                "arm \"{name}\" is to use placement \"{given}\", which is not defined{hint}"
            );
            Err(Fault::at(&["arm", name, "placement"], message))
        }
        None if placements.contains_key(name) => Ok(name.to_owned()),
        None => match (placements.keys().next(), placements.len()) {
            (Some(only), 1) => Ok(only.clone()),
            (_, _) => {
                let message = format!(
                    "arm \"{name}\" does not say which placement it uses (defined: {})",
                    listed(placements.keys())
                );
                Err(Fault::at(&["arm", name], message))
            }
        },
    }
}

/// Volumes and placements of the whole file that no arm uses.
fn unused(asked: &wire::Experiment, asked_arms: &[ArmEntry], arms: &[Arm]) -> Vec<Idle> {
    let is_placed = |name: &String| {
        let mut arms = arms.iter();
        arms.any(|arm| arm.settings.volume(name).is_some())
    };
    let is_used = |name: &String| asked_arms.iter().any(|arm| arm.placement == *name);
    let volumes = asked.volume.keys().filter(|name| !is_placed(name));
    let volumes = volumes.map(|name| Idle {
        key: format!("volume.{name}"),
        why: "no arm has files there".to_owned(),
    });
    let placements = asked.placement.keys().filter(|name| !is_used(name));
    let placements = placements.map(|name| Idle {
        key: format!("placement.{name}"),
        why: "no arm uses it".to_owned(),
    });
    volumes.chain(placements).collect()
}

/// The arm with its own settings applied, and the keys given for it.
fn resolved(
    text: &Text,
    whole: &wire::Experiment,
    arm: &ArmEntry,
    origin: &Origin,
) -> Result<(Arm, Given), Fault> {
    let set_path = ["arm", arm.name.as_str(), "set"];
    for key in arm.set.keys() {
        check_settable(arm, key, origin)?;
        if whole.workload.profile.is_some() {
            check_counted(key).map_err(|message| {
                in_arm(
                    &arm.name,
                    Fault::at(&[&set_path[..], &[key]].concat(), message),
                )
            })?;
        }
    }
    let own = with_all(text, &arm.set, &set_path).map_err(|fault| in_arm(&arm.name, fault))?;
    let settings = settings(&own, &own.wire(), &arm.placement, &origin.variant)
        .map_err(|fault| blamed(&arm.name, &arm.set, fault))?;
    let given = Given::of(own.source(), &arm.name, &arm.set, &settings);
    let arm = Arm {
        name: arm.name.clone(),
        baseline: arm.baseline.clone(),
        settings,
        published: whole.published.get(&arm.name).cloned().unwrap_or_default(),
        fitted: false,
    };
    Ok((arm, given))
}

/// The fault, attributed to the arm's setting if that touches its key.
pub(super) fn blamed(arm: &str, set: &BTreeMap<String, toml::Value>, fault: Fault) -> Fault {
    match set.keys().find(|set| touches(set, &fault.key)) {
        Some(key) => in_arm(arm, Fault::at(&["arm", arm, "set", key], fault.message)),
        None => fault,
    }
}

fn in_arm(arm: &str, fault: Fault) -> Fault {
    Fault {
        message: format!("arm \"{arm}\": {}", fault.message),
        ..fault
    }
}

/// Rejects a key of the engine, which has no effect for a profile.
fn check_counted(key: &str) -> Result<(), String> {
    match key.starts_with("engine.") {
        true => Err(format!(
            "{key} changes nothing here: a profile counts what reached the disks of a server with its own memory and \
             settings; leave it out, or run a workload"
        )),
        false => Ok(()),
    }
}

/// Rejects a key that arms cannot set, and one that is also overridden from outside: one of the two would silently have no
/// effect.
fn check_settable(arm: &ArmEntry, key: &str, origin: &Origin) -> Result<(), Fault> {
    let section = key.split('.').next().unwrap_or_default();
    if !SETTABLE.contains(&section) {
        let message = format!(
            "arm \"{}\" sets \"{key}\", but an arm sets keys of {} only",
            arm.name,
            listed(SETTABLE)
        );
        return Err(Fault::at(&["arm", &arm.name, "set", key], message));
    }
    if origin.overrides.iter().any(|(set, _)| set == key) {
        let path: Vec<&str> = key.split('.').collect();
        let message = format!(
            "arm \"{}\" sets this key itself, so this would change nothing there; \
             change the arm in a copy of the file",
            arm.name
        );
        return Err(Fault::at(&path, message));
    }
    Ok(())
}
