//! All inputs for the scripts of one move.

use std::collections::{BTreeMap, BTreeSet};

use crate::tsql::FileSpec;
use crate::tsql::tempdb::{TempdbMove, TempdbPlan};
use model::Bytes;

use super::changes::Fewer;
use super::files;
use super::mount_point::mount_point;
use super::service::Service;
use super::target::Target;
use layout::{Folder, Style};
use layout::{LayoutError, LayoutRequest, Platform};

/// The inputs for the scripts of one move of tempdb.
pub(super) struct Placement<'a> {
    pub(super) request: &'a LayoutRequest,
    pub(super) target: &'a Target,
    pub(super) service: Service,
    pub(super) moved: TempdbMove,
    pub(super) plan: TempdbPlan,
    /// Folders of all resulting files, and the bytes that go to them.
    pub(super) needs: BTreeMap<Folder, u64>,
    /// Those of them that get a new file.
    pub(super) fresh: Vec<Folder>,
    /// Those of them that are empty after the machine was moved.
    pub(super) ephemeral: Vec<Folder>,
    /// Mount points of disks that come back without a file system.
    pub(super) raw: Vec<String>,
    /// Striped volumes of such disks, which are not handled here.
    pub(super) striped: Vec<&'a str>,
}

impl<'a> Placement<'a> {
    /// Decides names, paths and sizes, and checks what can be checked without the server.
    pub(super) fn new(
        request: &'a LayoutRequest,
        target: &'a Target,
    ) -> Result<Placement<'a>, LayoutError> {
        let capture = target.capture.as_ref();
        let service = Service::new(request.service.as_deref(), target.on, capture)?;
        let from = match capture {
            Some(capture) => files::captured(capture)?,
            None => files::assumed(target.style())?,
        };
        let moved = files::planned(request, target, from, true)?;
        if let Some(fewer) = Fewer::of(&moved, capture) {
            fewer.check(request.allow_fewer_files)?;
        }
        let plan = moved.plan()?;
        let needs = needs(&moved);
        enough(target, &needs)?;
        let named = folders(request, target, request.ephemeral.iter())?;
        let named: Vec<Folder> = named.into_iter().map(|(_, folder)| folder).collect();
        let is_ephemeral =
            |folder: &&Folder| named.contains(folder) || target.supplied_ephemeral(folder);
        let ephemeral = needs.keys().filter(is_ephemeral).cloned().collect();
        let raw = folders(request, target, request.raw.keys())?;
        let mut raw: Vec<(&str, Folder)> = raw
            .into_iter()
            .filter(|(_, folder)| needs.contains_key(folder))
            .collect();
        let striped = raw
            .extract_if(.., |(volume, _)| request.raw[*volume] > 1)
            .map(|(volume, _)| volume)
            .collect();
        Ok(Placement {
            request,
            target,
            service,
            plan,
            fresh: fresh(&moved, &needs),
            needs,
            moved,
            ephemeral,
            raw: mount_points(target, &raw)?,
            striped,
        })
    }

    /// All resulting files.
    pub(super) fn to(&self) -> impl Iterator<Item = &FileSpec> {
        self.moved.data.iter().chain(&self.moved.log)
    }

    pub(super) fn is_windows(&self) -> bool {
        self.target.on == Platform::Windows
    }
}

/// The folders of volumes, where given.
fn folders<'a>(
    request: &LayoutRequest,
    target: &Target,
    volumes: impl Iterator<Item = &'a String>,
) -> Result<Vec<(&'a str, Folder)>, LayoutError> {
    let volumes = volumes.filter(|name| request.folders.contains_key(*name));
    volumes
        .map(|volume| Ok((volume.as_str(), request.folder(volume, target.style())?)))
        .collect()
}

/// Mount points of the volumes' disks, each once. On Linux they are unknown here: some folder above.
fn mount_points(target: &Target, volumes: &[(&str, Folder)]) -> Result<Vec<String>, LayoutError> {
    let mut places = BTreeSet::new();
    for (volume, folder) in volumes {
        places.insert(match target.on {
            Platform::Windows => mount_point(volume, folder)?,
            Platform::Linux | Platform::ManagedInstance | Platform::AzureSqlDatabase => {
                folder.text().to_owned()
            }
        });
    }
    Ok(places.into_iter().collect())
}

/// The folder of each file, and the bytes of its files.
fn needs(moved: &TempdbMove) -> BTreeMap<Folder, u64> {
    let mut needs = BTreeMap::new();
    for file in moved.data.iter().chain(&moved.log) {
        let Some(path) = &file.path else { continue };
        let style = Style::of(path.text()).unwrap_or(Style::Unix);
        let Some(end) = path.text().rfind(['\\', '/']) else {
            continue;
        };
        // A root keeps its separator; the rules for folders handle that.
        let Ok(folder) = Folder::new(&path.text()[..=end], style) else {
            continue;
        };
        let there = moved
            .from
            .iter()
            .find(|present| present.path.as_ref() == Some(path));
        let there = there.map_or(0, |present| present.size.get());
        let asked = file.size.map_or(0, |size| size.get());
        *needs.entry(folder).or_insert(0) += asked.saturating_sub(there);
    }
    needs
}

/// Folders of files whose paths are new.
fn fresh(moved: &TempdbMove, needs: &BTreeMap<Folder, u64>) -> Vec<Folder> {
    let to = moved.data.iter().chain(&moved.log);
    let paths = to.filter_map(|file| file.path.as_ref());
    let new = paths.filter(|path| {
        let mut present = moved.from.iter();
        !present.any(|file| file.path.as_ref() == Some(path))
    });
    let new: Vec<_> = new.collect();
    let gets_one = |folder: &&Folder| new.iter().any(|path| folder.holds(path.text()));
    needs.keys().filter(gets_one).cloned().collect()
}

/// Refuses a move that a captured volume has no space for. Files at the old location stay until the restart, so they
/// count in full.
pub(super) fn enough(target: &Target, needs: &BTreeMap<Folder, u64>) -> Result<(), LayoutError> {
    let mut volumes: BTreeMap<&str, (u64, u64)> = BTreeMap::new();
    for (folder, bytes) in needs {
        if let Some((mount_point, free)) = target.free(folder) {
            let entry = volumes.entry(mount_point).or_insert((free, 0));
            entry.1 += bytes;
        }
    }
    match volumes
        .into_iter()
        .find(|(_, (free, needed))| needed > free)
    {
        None => Ok(()),
        Some((volume, (free, needed))) => Err(LayoutError::Space {
            volume: volume.to_owned(),
            free: Bytes(free).to_string(),
            needed: Bytes(needed).to_string(),
        }),
    }
}
