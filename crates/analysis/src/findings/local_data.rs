//! Data and logs on the disk inside a machine, whose price does not include the cost of losing them.

use super::warnings::{list, warning};
use super::{Arm, Findings, Warning};
use experiment::question::Question;
use experiment::spec::Role;

/// Warns of arms that keep durable files on a volatile volume.
pub(super) fn warnings(question: &Question, findings: &Findings) -> Option<Warning> {
    let arms = list(
        question
            .arms
            .iter()
            .zip(&findings.arms)
            .filter(|(asked, arm)| is_kept(arm, &asked.forgets))
            .map(|(_, arm)| arm.name.clone()),
    )?;
    Some(warning(
        "local-data",
        format!(
            "{arms}: data or log is lost when the machine stops, moves or fails: it is on a disk inside it. Figures and price \
             are those of temporary files and of databases that can be lost; keep others on disks of their own."
        ),
    ))
}

/// Whether durable files saw I/O on one of the volatile volumes.
fn is_kept(arm: &Arm, forgets: &[String]) -> bool {
    let lasting = Role::ALL.into_iter().filter(|role| *role != Role::Temp);
    let mut volumes = arm
        .volumes
        .iter()
        .filter(|volume| forgets.contains(&volume.name));
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
            record.volumes[0].files = BTreeMap::from([(role, 1)]);
        }
        let mut question = question();
        question.arms[0].forgets = vec![records[0].volumes[0].name.clone()];
        let warnings = make(&question, &records).warnings;
        warnings.iter().any(|warning| warning.id == "local-data")
    }

    #[test]
    fn a_log_on_a_disk_that_is_lost_is_reported_and_temporary_files_are_not() {
        assert!(is_warned(Role::Log));
        assert!(!is_warned(Role::Temp));
    }
}
