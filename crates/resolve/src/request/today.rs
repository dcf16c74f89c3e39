//! The layout of a profile's server, where the profile names its machine and disks.

use std::path::Path;

use super::error::RequestError;
use super::inputs;
use experiment::build;
use experiment::spec::{ExperimentText, Role};

/// The layout that the profile in `file` names, in the form of an experiment.
///
/// # Errors
/// When the profile cannot be read, has a mistake, or does not name its server's machine and disks.
pub fn layout_of(file: &str) -> Result<ExperimentText, RequestError> {
    let profile = inputs::profile(Path::new(file))?.in_common_roles();
    let disks = profile.volumes.iter().map(|volume| volume.disk.as_deref());
    let disks: Option<Vec<&str>> = disks.collect();
    let known = profile.machine.name.as_deref().zip(disks);
    let Some((machine, disks)) = known.filter(|(_, disks)| !disks.is_empty()) else {
        let file = file.to_owned();
        return Err(RequestError::DisksUnknown { file });
    };
    let mut layout = build::Experiment::new("today", "Does the profile fit its server's disks?");
    layout = layout.machine(machine);
    let name = |number: usize| format!("v{}", number + 1);
    for (number, (volume, disk)) in profile.volumes.iter().zip(disks).enumerate() {
        let built = build::Volume::of(disk);
        let built = match volume.size {
            Some(size) => built.set("size", size.to_string()),
            None => built,
        };
        layout = layout.volume(&name(number), built);
    }
    let holding = |role: Role| -> Vec<String> {
        let volumes = profile.volumes.iter().enumerate();
        let held = volumes.filter(|(_, volume)| volume.roles.contains(&role));
        held.map(|(number, _)| name(number)).collect()
    };
    let mut placement = build::Placement::on(&name(0));
    for role in Role::COMMON {
        let own = holding(role);
        // Files without recorded requests are placed with the data.
        let volumes = if own.is_empty() {
            holding(Role::Data)
        } else {
            own
        };
        let volumes: Vec<&str> = volumes.iter().map(String::as_str).collect();
        placement = placement.files(role.name(), &volumes, volumes.len() as u32);
    }
    let layout = layout.placement("today", placement);
    let layout = layout.workload(build::Workload::profile(file));
    Ok(ExperimentText::of_file(file, layout.text()))
}
