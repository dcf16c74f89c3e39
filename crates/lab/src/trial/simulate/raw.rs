//! Plain I/O in virtual time: only the model.

use super::super::{Subject, collect};
use experiment::record::{self, Record, VolumeRecord};
use raw::{RawError, RawOutcome, RawSpec, Window};

/// The record of plain I/O over the modelled volumes.
pub(super) fn record(subject: &Subject<'_>, cancelled: &dyn Fn() -> bool) -> Record {
    let mode = subject.mode;
    match outcome(subject, cancelled) {
        Ok(outcome) if outcome.is_empty() => {
            collect::failed(subject.id, mode, record::NO_OPERATIONS.to_owned())
        }
        Ok(outcome) => outcome.fill(collect::blank(subject.id, mode), volumes(subject)),
        Err(error) => collect::failed(subject.id, mode, error.to_string()),
    }
}

fn outcome(subject: &Subject<'_>, cancelled: &dyn Fn() -> bool) -> Result<RawOutcome, RawError> {
    let stage = subject.stage;
    let spec = RawSpec::from_parameters(subject.workload().parameters())?;
    let window = Window::of(&subject.settings.workload)?;
    let files = stage.places(&subject.settings.placement.data);
    let seed = subject.id.seed;
    let modelled = (&stage.machine, stage.volumes.as_slice());
    raw::simulate(modelled, &files, &spec, seed, window, cancelled)
}

fn volumes(subject: &Subject<'_>) -> Vec<VolumeRecord> {
    let stage = subject.stage;
    let volumes = stage.volumes.iter().zip(&stage.disks).zip(&stage.files);
    volumes
        .map(|((volume, disk), files)| VolumeRecord {
            name: volume.name.clone(),
            disk: disk.clone(),
            files: files.clone(),
            disks: Vec::new(),
        })
        .collect()
}
