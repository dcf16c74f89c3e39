//! The site of a measured trial.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};

use super::platform::{self, Activity, MountedOn};
use super::{host, machine};
use crate::clock::Clock;
use crate::site::Site;
use reading::{Reading, fact};

/// A volume that is a real directory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlainVolume {
    /// Its name in the experiment.
    pub name: String,
    /// Its path; it exists.
    pub directory: PathBuf,
}

/// Real directories that represent an arm's volumes.
#[derive(Debug)]
pub struct PlainSite {
    clock: Clock,
    volumes: Vec<(PlainVolume, MountedOn)>,
    activity: Activity,
}

impl PlainSite {
    /// A site of `volumes`, in the order of the arm.
    ///
    /// # Errors
    /// When a path does not exist or is not a directory.
    pub fn new(volumes: Vec<PlainVolume>) -> io::Result<PlainSite> {
        let placed = volumes.into_iter().map(|volume| {
            let place = look_at(&volume)?;
            Ok((volume, place))
        });
        let volumes = placed.collect::<io::Result<Vec<_>>>()?;
        let places = volumes
            .iter()
            .map(|(volume, place)| (volume.name.as_str(), place));
        Ok(PlainSite {
            clock: Clock::start(),
            activity: Activity::of(places),
            volumes,
        })
    }

    /// The volume before `volume` that is on the same device, and has its counters.
    fn counted_by(&self, volume: usize) -> Option<&str> {
        let (_, place) = &self.volumes[volume];
        let mut before = self.volumes[..volume].iter();
        before
            .find(|(_, other)| other.same_device(place))
            .map(|(volume, _)| volume.name.as_str())
    }

    /// The other volumes that share a disk with `volume`.
    fn shared_with(&self, volume: usize) -> Vec<&str> {
        let (_, place) = &self.volumes[volume];
        let others = self.volumes.iter().enumerate();
        others
            .filter(|(at, (_, other))| *at != volume && other.shares_disk(place))
            .map(|(_, (other, _))| other.name.as_str())
            .collect()
    }

    fn facts_of(&self, volume: usize) -> BTreeMap<String, String> {
        let (plain, place) = &self.volumes[volume];
        let mut facts = host::space(&plain.directory);
        facts.extend(place.facts());
        let shared = self.shared_with(volume);
        if !shared.is_empty() {
            facts.insert(fact::SHARES_A_DISK.into(), shared.join(", "));
        }
        if let Some(first) = self.counted_by(volume) {
            facts.insert("counters".into(), format!("counted with volume {first}"));
        }
        facts
    }
}

fn look_at(volume: &PlainVolume) -> io::Result<MountedOn> {
    let directory = &volume.directory;
    let said = |why: &dyn std::fmt::Display| {
        format!(
            "volume {}: {} is not usable as a directory: {why}",
            volume.name,
            directory.display()
        )
    };
    let kind = std::fs::metadata(directory)
        .map_err(|why| io::Error::new(why.kind(), said(&why)))?
        .file_type();
    if !kind.is_dir() {
        let why = "it is something else; give an existing directory";
        return Err(io::Error::new(io::ErrorKind::NotADirectory, said(&why)));
    }
    Ok(MountedOn::of(directory))
}

impl Site for PlainSite {
    fn directory(&self, volume: usize) -> &Path {
        &self.volumes[volume].0.directory
    }

    /// A volume without its own counters has no disk in the reading; the environment gives the reason.
    fn reading(&self) -> io::Result<Reading> {
        let mut disks = Vec::new();
        for (at, (volume, place)) in self.volumes.iter().enumerate() {
            if self.counted_by(at).is_some() {
                continue;
            }
            disks.extend(place.reading(at, &format!("{}.1", volume.name))?);
        }
        Ok(Reading {
            at: self.clock.now(),
            disks,
            limits: Vec::new(),
            pacing: None,
        })
    }

    fn counters(&self) -> io::Result<BTreeMap<String, f64>> {
        self.activity.counters()
    }

    fn go_cold(&self, host_cache: bool) -> io::Result<Vec<String>> {
        let mut undone = Vec::new();
        for (volume, _) in &self.volumes {
            let left = platform::forget(&volume.directory)?;
            undone.extend(
                left.into_iter()
                    .map(|left| format!("volume {}: {left}", volume.name)),
            );
        }
        if host_cache {
            undone.push(
                "caches beyond this operating system (the device's, the host's) cannot be emptied from \
                 here"
                    .into(),
            );
        }
        Ok(undone)
    }

    fn environment(&self) -> Vec<(String, String)> {
        let mut facts: Vec<(String, String)> = machine().into_iter().collect();
        facts.push(("other activity".into(), self.activity.basis()));
        for (at, (volume, _)) in self.volumes.iter().enumerate() {
            let own = self.facts_of(at).into_iter();
            facts.extend(own.map(|(name, value)| (fact::of_volume(&volume.name, &name), value)));
        }
        facts
    }
}
