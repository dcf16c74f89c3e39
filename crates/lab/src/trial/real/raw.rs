//! Plain I/O in real time: fio in the place of an engine.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::thread;

use volume::site::Site;

use super::super::collect;
use super::pauses::Pauses;
use super::stop::{Stop, StopOnDrop};
use super::waits::divided;
use super::{Event, Trial, joined};
use crate::engine::raw::{self, Fio, RawSpec, Window};
use experiment::record::{NO_OPERATIONS, Note, Record};
use experiment::spec::Temperature;

impl Trial<'_> {
    /// Plain I/O on the volumes' directories.
    pub(super) fn plain_io(&self, site: &dyn Site, disks: &[String]) -> Result<Record, String> {
        let subject = self.subject;
        let stop = || (self.cancelled)();
        let words = |error: raw::RawError| error.to_string();
        let fio = Fio::find().map_err(words)?;
        let spec = RawSpec::from_parameters(subject.workload.parameters()).map_err(words)?;
        let window = Window::of(&subject.settings.workload).map_err(words)?;
        let places = subject.stage.places(&subject.settings.placement.data);
        let directories: Vec<(usize, PathBuf)> = places
            .into_iter()
            .map(|volume| (volume, site.directory(volume).to_owned()))
            .collect();
        (self.tell)(Event::Phase("load"));
        let files = raw::Files::lay_out(&fio, &directories, spec.span, &stop).map_err(words)?;
        (self.tell)(Event::Phase("quiesce"));
        let host_cache = subject.settings.engine.host_cache_start == Temperature::Cold;
        let cold = site.go_cold(host_cache);
        let cold = cold.map_err(|error| format!("emptying the volumes' caches: {error}"))?;
        let before = site.reading().map_err(|error| error.to_string())?;
        (self.tell)(Event::Phase("run"));
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
            let outcome = raw::measure(&fio, (&files, &names), &spec, seed, window, &stop);
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
