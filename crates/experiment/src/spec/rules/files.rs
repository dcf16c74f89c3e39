//! Rules of a placement and its files.

use std::collections::BTreeSet;
use std::fmt;

use model::Bytes;

use crate::spec::bounds::{FILE_MAX, VOLUME_MAX, named};
use crate::spec::error::{Fault, listed};
use crate::spec::placement::{Placement, Role};
use crate::spec::settings::Volume;

/// Maximum number of files of a role: the largest limit for a database of a server's (32,767).
///
/// Source: <https://learn.microsoft.com/sql/sql-server/maximum-capacity-specifications-for-sql-server>.
const FILES_MAX: u32 = 32_767;

/// Checks a placement on the existing `volumes`.
pub(crate) fn placement(placement: &Placement, volumes: &BTreeSet<&str>) -> Result<(), Fault> {
    let name = &placement.name;
    named(&["placement", name], name)?;
    for role in Role::ALL {
        let fault = |message: String| {
            let message = format!("placement \"{name}\" {message}");
            Fault::at(&["placement", name, role.name()], message)
        };
        let files = placement.files(role);
        if is_needed(role) || !files.is_empty() {
            file_count(role, u32::try_from(files.len()).unwrap_or(u32::MAX)).map_err(fault)?;
        }
        for file in files {
            if !volumes.contains(file.volume.as_str()) {
                return Err(fault(undefined(role, &file.volume, volumes)));
            }
            let size = file.size.map_or(Ok(()), file_size);
            size.map_err(|message| fault(format!("{message} for {role}")))?;
        }
    }
    Ok(())
}

/// Whether every engine has files of `role`.
fn is_needed(role: Role) -> bool {
    match role {
        Role::Data | Role::Temp | Role::Log => true,
        Role::Binlog | Role::Undo | Role::Doublewrite => false,
    }
}

/// The error for an undefined volume.
pub(crate) fn undefined<S: fmt::Display>(
    role: Role,
    volume: &str,
    volumes: impl IntoIterator<Item = S>,
) -> String {
    format!(
        "puts {role} on volume \"{volume}\", which is not defined (defined: {})",
        listed(volumes)
    )
}

/// Rejects zero files, and more than an engine supports.
pub(crate) fn file_count(role: Role, count: u32) -> Result<(), String> {
    match (1..=FILES_MAX).contains(&count) {
        true => Ok(()),
        false => Err(format!(
            "gives {role} {count} files; it needs 1 to {FILES_MAX}"
        )),
    }
}

/// Rejects an invalid initial file size.
pub(crate) fn file_size(size: Bytes) -> Result<(), String> {
    match size {
        Bytes::ZERO => {
            Err("has a file_size of zero; leave it out for a file that grows".to_owned())
        }
        size if size > FILE_MAX => Err(format!(
            "has a file_size of {size}, and at most {FILE_MAX} can be modelled,"
        )),
        _ => Ok(()),
    }
}

/// Rejects files that are together larger than the volume's disks, each with a capacity of `disk_size`, or than any volume.
pub(crate) fn check_fits(
    placement: &Placement,
    volume: &Volume,
    disk_size: Option<Bytes>,
) -> Result<(), Fault> {
    let asked = placement.size_on(&volume.name);
    let held = disk_size.map_or(VOLUME_MAX, |size| {
        Bytes(size.0.saturating_mul(u64::from(volume.count))).min(VOLUME_MAX)
    });
    if asked <= held {
        return Ok(());
    }
    let message = format!(
        "placement \"{}\" puts {asked} of files on volume \"{}\", which holds {held}; \
         make the files smaller, or the volume larger",
        placement.name, volume.name
    );
    Err(Fault::at(&["placement", &placement.name], message))
}
