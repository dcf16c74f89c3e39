//! Data and logs on the disk inside a machine, whose price says nothing of what losing it costs.

use super::warnings::{list, warning};
use super::{Arm, Findings, Warning};
use experiment::spec::Role;

/// The disk inside a machine: as experiments call it, and parts of the names that the catalogue has for such disks.
const LOCAL: &str = "local";
const OF_CATALOGUE: [&str; 2] = ["instance_store", "local_ssd"];

/// Says which arms keep there what has to survive.
pub(super) fn warnings(findings: &Findings) -> Option<Warning> {
    let arms = list(
        findings
            .arms
            .iter()
            .filter(|arm| is_kept(arm))
            .map(|arm| arm.name.clone()),
    )?;
    Some(warning(
        "local-data",
        format!(
            "{arms}: data or log is on the machine's local disk, which is empty after the machine was stopped, moved or \
             failed. Its figures and price are those of temporary files and of databases that can be lost; keep others on \
             disks of their own."
        ),
    ))
}

/// Whether files that have to last saw I/O on the local disk.
fn is_kept(arm: &Arm) -> bool {
    let lasting = Role::ALL.into_iter().filter(|role| *role != Role::Temp);
    let mut volumes = arm.volumes.iter().filter(|volume| {
        let named = OF_CATALOGUE.iter().any(|part| volume.disk.contains(part));
        volume.disk == LOCAL || named
    });
    volumes.any(|volume| {
        let holds = |role: &Role| volume.files.get(role).is_some_and(|files| *files > 0);
        let mut disks = volume.disks.iter();
        lasting.clone().any(|role| holds(&role))
            && disks.any(|disk| disk.read_iops + disk.write_iops > 0.0)
    })
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::super::make;
    use experiment::examples::{question, records};
    use experiment::spec::Role;

    fn is_warned(role: Role) -> bool {
        let mut records = records();
        for record in records
            .iter_mut()
            .filter(|record| record.arm == "local-ssd")
        {
            record.volumes[0].disk = "local".into();
            record.volumes[0].files = BTreeMap::from([(role, 1)]);
        }
        let warnings = make(&question(), &records).warnings;
        warnings.iter().any(|warning| warning.id == "local-data")
    }

    #[test]
    fn a_log_on_a_disk_that_is_lost_is_told_and_temporary_files_are_not() {
        assert!(is_warned(Role::Log));
        assert!(!is_warned(Role::Temp));
    }
}
