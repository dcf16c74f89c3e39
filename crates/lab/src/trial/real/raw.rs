//! Plain I/O in real time: fio instead of an engine.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::thread;

use host::site::Site;
use model::Bytes;

use super::super::collect;
use super::event::Event;
use super::pauses::Pauses;
use super::stop::{Stop, StopOnDrop};
use super::trial::{RealTrial, joined};
use super::waits::divided;
use crate::trial::{Subject, Work};
use experiment::record::{NO_OPERATIONS, Note, Record};
use experiment::spec::{Mode, Role, Temperature};
use raw::{Fio, RawError, RawRecording, RawSpec, RoleFiles, Window};

/// The load for fio.
enum Load<'a> {
    /// Constant.
    Steady(RawSpec),
    /// Recorded in a profile.
    Recorded(RawRecording<'a>),
}

impl Load<'_> {
    fn of<'a>(subject: &Subject<'a>) -> Result<Load<'a>, RawError> {
        match subject.work {
            Work::Statements(workload) => {
                RawSpec::from_parameters(workload.parameters()).map(Load::Steady)
            }
            Work::Recording(recording) => Ok(Load::Recorded(RawRecording {
                profile: &recording.profile,
                in_flight: subject.settings.workload.sessions.max(1),
                span: span(subject.mode),
            })),
        }
    }

    /// Size of each file.
    fn span(&self) -> Bytes {
        match self {
            Load::Steady(spec) => spec.span,
            Load::Recorded(recording) => recording.span,
        }
    }

    /// The volumes of the files that it uses, by role.
    fn files(&self, subject: &Subject<'_>) -> Vec<(Role, Vec<usize>)> {
        let of = |role: Role| {
            let files = subject.settings.placement.files(role);
            (role, subject.stage.places(files))
        };
        match self {
            Load::Steady(_) => vec![of(Role::Data)],
            Load::Recorded(recording) => recording.profile.roles().into_iter().map(of).collect(),
        }
    }
}

/// File size for requests of a profile: a modelled disk serves all offsets alike, a real one has caches.
fn span(mode: Mode) -> Bytes {
    match mode {
        Mode::Simulate | Mode::Emulate => Bytes::mib(64),
        Mode::Measure => Bytes::gib(1),
    }
}

/// The same files by number, in layout order.
fn numbered(roles: &[(Role, Vec<usize>)]) -> RoleFiles {
    let mut next = 0..;
    let files =
        |(role, volumes): &(Role, Vec<usize>)| (*role, next.by_ref().take(volumes.len()).collect());
    roles.iter().map(files).collect()
}

impl RealTrial<'_> {
    /// Plain I/O on the volumes' directories.
    pub(super) fn plain_io(&self, site: &dyn Site, disks: &[String]) -> Result<Record, String> {
        let subject = self.subject;
        let stop = || (self.cancelled)();
        let words = |error: RawError| error.to_string();
        let fio = Fio::find().map_err(words)?;
        let load = Load::of(subject).map_err(words)?;
        let window = Window::of(&subject.settings.workload).map_err(words)?;
        let roles = load.files(subject);
        let places = roles.iter().flat_map(|(_, volumes)| volumes);
        let directories: Vec<(usize, PathBuf)> = places
            .map(|volume| (*volume, site.directory(*volume).to_owned()))
            .collect();
        (self.report)(Event::Phase("load"));
        let files = raw::Files::lay_out(&fio, &directories, load.span(), &stop).map_err(words)?;
        (self.report)(Event::Phase("quiesce"));
        let host_cache = subject.settings.engine.host_cache_start == Temperature::Cold;
        let cold = site.go_cold(host_cache);
        let cold = cold.map_err(|error| format!("emptying the volumes' caches: {error}"))?;
        let before = site.reading().map_err(|error| error.to_string())?;
        (self.report)(Event::Phase("run"));
        let names: Vec<String> = subject
            .stage
            .volumes
            .iter()
            .map(|volume| volume.name.clone())
            .collect();
        let seed = subject.id.seed;
        let over = &Stop::new(self.common.clock);
        let (outcome, pauses) = thread::scope(|scope| {
            let watched = scope.spawn(move || Pauses::watch(self.common.clock, over));
            let ended = StopOnDrop(over);
            let outcome = match load {
                Load::Steady(spec) => {
                    raw::measure(&fio, (&files, &names), &spec, seed, window, &stop)
                }
                Load::Recorded(recording) => {
                    let on = (&files, &numbered(&roles), names.as_slice());
                    raw::play(&fio, on, recording, seed, window, &stop)
                }
            };
            drop(ended);
            (outcome.map_err(words), joined(watched))
        });
        let outcome = outcome?;
        let after = site.reading().map_err(|error| error.to_string())?;
        let done = after.since(&before).map_err(|error| error.to_string())?;
        files.remove().map_err(words)?;
        if outcome.is_empty() {
            return Err(NO_OPERATIONS.to_owned());
        }
        let elapsed = outcome.elapsed;
        let blank = collect::blank(subject.id, subject.mode);
        let volumes = collect::volumes(subject.stage, disks, &done);
        let mut record = outcome.fill(blank, volumes);
        record.time_split_ns = divided(&record.time_split_ns, &done.disks, &subject.stage.files);
        record.limits = collect::limits(&done, elapsed);
        record.pacing = done.pacing;
        record.environment = site.environment().into_iter().collect::<BTreeMap<_, _>>();
        record
            .notes
            .splice(0..0, cold.into_iter().map(Note::NotCold));
        record.notes.extend(pauses.all_notes());
        Ok(record)
    }
}
