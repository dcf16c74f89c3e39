//! Requirements for a layout, from the request and today's layout.

use std::collections::{BTreeMap, BTreeSet};

use advise::{Holding, Need, System, TempOn};
use catalogue::{Catalogue, DiskEntry, MachineEntry};
use experiment::spec::Placement;
use lab::trial::Stage;
use model::{Bytes, MachineSpec};
use profile::Profile;
use reading::Role;

use super::{Args, Temp, UsageError};

/// Today's layout.
pub(super) struct Today<'a> {
    /// The machine's name in the catalogue, if it has one.
    pub(super) machine: Option<&'a str>,
    pub(super) stage: &'a Stage,
    pub(super) placement: &'a Placement,
    pub(super) profile: &'a Profile,
}

/// The requirements for a layout.
///
/// # Errors
/// A requirement that cannot be met, with the remedy.
pub(super) fn of(
    args: &Args,
    today: &Today<'_>,
    catalogue: &Catalogue,
) -> Result<Need, UsageError> {
    let cloud = cloud(args, today, catalogue)?;
    check_region(args, &cloud, catalogue)?;
    let machine = match args.keep_machine {
        false => None,
        true => Some(kept(today, catalogue)?),
    };
    let mut disks = BTreeSet::new();
    for name in &args.disk {
        let disk = match catalogue.disks_meant(name).as_slice() {
            [one] => one.name.clone(),
            _ => {
                let disk = catalogue.disk(name);
                let disk = disk.map_err(|error| UsageError(format!("--disk {name}: {error}")))?;
                disk.name.clone()
            }
        };
        disks.insert(disk);
    }
    let separate = today.profile.roles();
    if args.temp == Temp::Local && !separate.contains(&Role::Temp) {
        let message = "--temp local: requests for temporary files were not counted separately, so that what moving them does \
                       is not known; record the server itself (`dbstow record`), or leave --temp out";
        return Err(UsageError(message.to_owned()));
    }
    Ok(Need {
        holdings: holdings(args, today)?,
        separate,
        memory: memory(today),
        cloud: Some(cloud),
        region: args.region.clone(),
        machine,
        machine_pattern: args.machine.clone(),
        arm: args.arm,
        disks,
        disks_max: args.disks_max,
        temp: match args.temp {
            Temp::Any => TempOn::Any,
            Temp::Local => TempOn::Local,
            Temp::Remote => TempOn::Remote,
        },
        system: match args.windows {
            true => System::Windows,
            false => System::Linux,
        },
    })
}

/// The requested cloud, or else today's.
fn cloud(args: &Args, today: &Today<'_>, catalogue: &Catalogue) -> Result<String, UsageError> {
    let begins = |name: &str| {
        name.split_once('.')
            .map_or(name, |(begins, _)| begins)
            .to_owned()
    };
    let known: BTreeSet<String> = catalogue
        .machines()
        .map(|machine| begins(&machine.name))
        .collect();
    let shown = || known.iter().cloned().collect::<Vec<_>>().join(", ");
    let wanted = args.cloud.clone().or(today.machine.map(begins));
    let Some(wanted) = wanted else {
        let message = format!("it is not known which cloud; give --cloud ({})", shown());
        return Err(UsageError(message));
    };
    let found = known.iter().find(|name| name.eq_ignore_ascii_case(&wanted));
    found.cloned().ok_or_else(|| {
        UsageError(format!(
            "--cloud {wanted}: there is no such cloud; give one of {}",
            shown()
        ))
    })
}

fn check_region(args: &Args, cloud: &str, catalogue: &Catalogue) -> Result<(), UsageError> {
    let Some(region) = &args.region else {
        return Ok(());
    };
    let of_cloud = |name: &str| {
        name.split_once('.')
            .is_some_and(|(begins, _)| begins == cloud)
    };
    let machines = catalogue
        .machines()
        .filter(|machine| of_cloud(&machine.name));
    let lists: BTreeSet<String> = machines.filter_map(MachineEntry::price_list).collect();
    if lists.iter().any(|list| list.contains(region.as_str())) {
        return Ok(());
    }
    let lists: Vec<String> = lists.into_iter().collect();
    Err(UsageError(format!(
        "--region {region}: there are no prices of it; those that there are: {}; leave --region out, or give your own \
         (--prices FILE)",
        lists.join("; ")
    )))
}

/// Today's machine, which is to stay.
fn kept(today: &Today<'_>, catalogue: &Catalogue) -> Result<String, UsageError> {
    let Some(name) = today.machine else {
        let message =
            "--keep-machine: today's layout does not name its machine; add `type` to [machine]";
        return Err(UsageError(message.to_owned()));
    };
    let machine = catalogue
        .machine(name)
        .map_err(|error| UsageError(error.to_string()))?;
    Ok(machine.name.clone())
}

/// The server's current main memory, where known: with less it would read more.
fn memory(today: &Today<'_>) -> Bytes {
    let of_machine = Some(today.stage.machine.memory);
    let unlimited = MachineSpec::unlimited().memory;
    let memory = of_machine.filter(|memory| *memory != unlimited);
    memory
        .or(today.profile.machine.memory)
        .unwrap_or(Bytes::ZERO)
}

/// The required space: as requested, or the size of today's volumes.
fn holdings(args: &Args, today: &Today<'_>) -> Result<Vec<Holding>, UsageError> {
    let mut asked: BTreeMap<Role, Bytes> = BTreeMap::new();
    for (name, size) in &args.capacity {
        let at = |problem: String| UsageError(format!("--capacity {name}={size}: {problem}"));
        let role = Role::COMMON.into_iter().find(|role| role.name() == name);
        let role = role.ok_or_else(|| at("there are data, temp and log".to_owned()))?;
        let bytes: Bytes = size.parse().map_err(|error| at(format!("{error}")))?;
        if bytes == Bytes::ZERO {
            return Err(at("it is 0; give what the files take".to_owned()));
        }
        if asked.insert(role, bytes).is_some() {
            return Err(at(format!("{name} is given twice; keep one")));
        }
    }
    let separate = today.profile.roles();
    let mut holdings: Vec<Holding> = Vec::new();
    for volume in &today.stage.volumes {
        let roles = Role::COMMON.into_iter().filter(|role| {
            let mut files = today.placement.files(*role).iter();
            // Files that stay with the data are included in the space requested for it.
            let is_in_data = asked.contains_key(&Role::Data) && !separate.contains(role);
            let is_left = !asked.contains_key(role) && !is_in_data;
            is_left && files.any(|file| file.volume == volume.name)
        });
        let roles: BTreeSet<Role> = roles.collect();
        let sizes = volume.disks.iter().map(|disk| disk.size.0);
        let size = sizes.fold(0_u64, u64::saturating_add);
        if roles.is_empty() {
            continue;
        }
        if size == u64::MAX {
            let roles: Vec<&str> = roles.iter().map(|role| role.name()).collect();
            let roles = roles.join(" and --capacity ");
            return Err(UsageError(format!(
                "volume \"{}\" has no size, so that what has to fit is not known; give --capacity {roles}=SIZE",
                volume.name
            )));
        }
        holdings.push(Holding {
            roles,
            size: Bytes(size),
        });
    }
    holdings.extend(asked.into_iter().map(|(role, size)| Holding {
        roles: [role].into(),
        size,
    }));
    for holding in &mut holdings {
        let grown = holding.size.0 as f64 * args.growth;
        if grown >= u64::MAX as f64 {
            let (size, growth) = (holding.size, args.growth);
            return Err(UsageError(format!(
                "--growth {growth}: {size} would grow to more than 2^64 bytes; give less --growth or --capacity"
            )));
        }
        holding.size = Bytes(grown as u64);
    }
    Ok(holdings)
}

/// The source of a price.
pub(super) fn price_list_of_disk(catalogue: &Catalogue, name: &str) -> Option<String> {
    catalogue.disk(name).ok().and_then(DiskEntry::price_list)
}
