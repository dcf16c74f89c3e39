//! Which devices hold which files, as specified by the user.

use std::collections::BTreeSet;
use std::str::FromStr;

use reading::Role;
use thiserror::Error;

use super::error::{Choice, OptionError};
use profile::{Draft, ServerVolume};

/// Files of a role are on this device: `data=vda`, `log=E:`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Device {
    /// What is on it.
    pub role: Role,
    /// Its name in the imported file.
    pub name: String,
}

/// A text that does not name a role and a device.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("give a role (data, log or temp) and a device, such as data=vda or log=E:")]
pub struct DeviceError;

impl FromStr for Device {
    type Err = DeviceError;

    fn from_str(text: &str) -> Result<Device, DeviceError> {
        let (role, name) = text.split_once('=').ok_or(DeviceError)?;
        let role = Role::COMMON
            .into_iter()
            .find(|known| known.name() == role.trim());
        let name = name.trim();
        match (role, name.is_empty()) {
            (Some(role), false) => Ok(Device {
                role,
                name: name.to_owned(),
            }),
            _ => Err(DeviceError),
        }
    }
}

/// Quotes an argument of a suggested command for all shells, including those of Windows.
pub fn argument(text: &str) -> String {
    let plain = |c: char| c.is_alphanumeric() || "._-,:/@=".contains(c);
    match text.chars().all(plain) {
        true => text.to_owned(),
        false => format!("\"{text}\""),
    }
}

/// A device of a file.
pub(super) struct Found<'a> {
    pub(super) name: &'a str,
    /// Whether it had any requests.
    pub(super) is_active: bool,
}

/// The role that each device's requests count for; `None` for devices without files of the server. Notes volumes in
/// the draft.
///
/// # Errors
/// When a device that the user named is missing, or none was named and the choice is ambiguous.
pub(super) fn assign_roles(
    asked: &[Device],
    found: &[Found],
    is_same: fn(asked: &str, found: &str) -> bool,
    draft: &mut Draft,
) -> Result<Vec<Option<Role>>, OptionError> {
    let roles = match asked {
        [] => only_one(found)?,
        asked => named(asked, found, is_same)?,
    };
    for roles in &roles {
        if !roles.is_empty() {
            draft.volumes.push(ServerVolume {
                roles: roles.clone(),
                disk: None,
                size: None,
            });
        }
    }
    let is_left_out =
        |(device, roles): &(&Found, &BTreeSet<Role>)| device.is_active && roles.is_empty();
    let left_out = found.iter().zip(&roles).filter(is_left_out);
    let left_out: Vec<&str> = left_out.map(|(device, _)| device.name).collect();
    if !left_out.is_empty() {
        draft.assume(format!(
            "Requests to devices without a role are left out; devices with requests and no role: {}.",
            left_out.len()
        ));
        draft.notes.push(format!(
            "requests to {} are left out; give each device of the server a role with --device",
            names(left_out.into_iter())
        ));
    }
    let one = |roles: &BTreeSet<Role>| match roles.len() {
        0 => None,
        1 => roles.first().copied(),
        _ => Some(Role::Data),
    };
    Ok(roles.iter().map(one).collect())
}

/// Notes which files share a device, so that their requests cannot be distinguished; those of `known` are distinguished by other
/// figures.
pub(super) fn assume_shared(asked: &[Device], known: Option<Role>, draft: &mut Draft) {
    if asked.is_empty() {
        draft.assume("The one device with requests holds all files.");
    }
    let roles = draft.volumes.iter().map(|volume| {
        let roles = volume.roles.iter().filter(|role| Some(**role) != known);
        roles.map(|role| role.name()).collect()
    });
    let shared: Vec<Vec<&str>> = roles.filter(|roles: &Vec<&str>| roles.len() > 1).collect();
    for roles in shared {
        draft.assume(format!(
            "Files for {} share a device, whose requests cannot be distinguished; all of them count as data.",
            roles.join(" and ")
        ));
    }
}

fn only_one(found: &[Found]) -> Result<Vec<BTreeSet<Role>>, OptionError> {
    let active: Vec<&Found> = found.iter().filter(|device| device.is_active).collect();
    match active.as_slice() {
        [] => Err("no device has any request: record while the server works"
            .to_owned()
            .into()),
        [only] => {
            let all: BTreeSet<Role> = Role::COMMON.into_iter().collect();
            let one = |device: &Found| match device.name == only.name {
                true => all.clone(),
                false => BTreeSet::new(),
            };
            Ok(found.iter().map(one).collect())
        }
        several => {
            let message = format!(
                "it has {} devices with requests: {}; name those with the server's files, such as --device {} --device {}",
                several.len(),
                names(several.iter().map(|device| device.name)),
                argument(&format!("data={}", several[0].name)),
                argument(&format!("log={}", several[1].name))
            );
            let all = several.iter().map(|device| device.name.to_owned());
            Err(OptionError::open(message, Choice::Devices(all.collect())))
        }
    }
}

fn named(
    asked: &[Device],
    found: &[Found],
    is_same: fn(&str, &str) -> bool,
) -> Result<Vec<BTreeSet<Role>>, OptionError> {
    for device in asked {
        if !found.iter().any(|other| is_same(&device.name, other.name)) {
            // A drive is named with its colon.
            let drive = format!("{}:", device.name);
            let is_meant = found.iter().any(|other| is_same(&drive, other.name));
            let role = device.role.name();
            let remedy = match is_meant {
                true => format!("give --device {}", argument(&format!("{role}={drive}"))),
                false => format!(
                    "give --device {role}= with one of these, or record {} too; without it {role} is left out",
                    device.name
                ),
            };
            let there = names(found.iter().map(|other| other.name));
            let message = format!(
                "it has no device `{}`; it has {there}; {remedy}",
                device.name
            );
            return Err(message.into());
        }
    }
    let roles = |device: &Found| {
        let here = asked
            .iter()
            .filter(|asked| is_same(&asked.name, device.name));
        here.map(|asked| asked.role).collect()
    };
    Ok(found.iter().map(roles).collect())
}

/// Names for an error, limited in number.
fn names<'a>(names: impl Iterator<Item = &'a str>) -> String {
    const SHOWN: usize = 12;
    let names: Vec<&str> = names.collect();
    let more = names.len().saturating_sub(SHOWN);
    let shown = names[..names.len() - more].join(", ");
    match (names.is_empty(), more) {
        (true, _) => "none".to_owned(),
        (false, 0) => shown,
        (false, more) => format!("{shown} and {more} more"),
    }
}
