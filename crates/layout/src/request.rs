//! What to place where.

use std::collections::{BTreeMap, BTreeSet};

use catalogue::{AfterStop, Catalogue};
use model::Bytes;

use super::LayoutError;
use super::folder::{Folder, Style};
use super::platform::Platform;
use experiment::spec::{Disk, File, Role, Settings, Volume};

/// What to place where, independent of the request's origin.
#[derive(Clone, Debug)]
pub struct LayoutRequest {
    /// Its origin, as text.
    pub title: String,
    /// The roles to lay out.
    pub roles: BTreeSet<Role>,
    /// The files of each role, laid out or not.
    pub files: BTreeMap<Role, Vec<File>>,
    /// Folders of volumes, on the server.
    pub folders: BTreeMap<String, String>,
    /// Volumes that are empty after the machine was moved or stopped.
    pub ephemeral: BTreeSet<String>,
    /// Those of them that come back without a file system, and the number of disks in each stripe.
    pub raw: BTreeMap<String, u32>,
    /// Growth increment of files.
    pub growth: Bytes,
    /// Whether temporary space may be left with fewer files than advised.
    pub allow_fewer_files: bool,
    /// Size of the log of temporary space; `None`: unchanged.
    pub log_size: Option<Bytes>,
    /// Service to restart, where its name is not the default.
    pub service: Option<String>,
    /// The database whose data and log are laid out.
    pub database: Option<String>,
    /// The server's platform, where no capture has it.
    pub on: Option<Platform>,
    /// Data directory of the server.
    pub data_directory: Option<String>,
}

impl LayoutRequest {
    /// Default growth of files: the value that a server's setup gives its temporary space.
    ///
    /// Source: <https://learn.microsoft.com/sql/relational-databases/databases/tempdb-database>, read 2026-11.
    pub const GROWTH: Bytes = Bytes::mib(64);

    /// An empty request, to be filled.
    pub fn new(title: impl Into<String>) -> LayoutRequest {
        LayoutRequest {
            title: title.into(),
            roles: [Role::Temp].into(),
            files: BTreeMap::new(),
            folders: BTreeMap::new(),
            ephemeral: BTreeSet::new(),
            raw: BTreeMap::new(),
            growth: LayoutRequest::GROWTH,
            allow_fewer_files: false,
            log_size: None,
            service: None,
            database: None,
            on: None,
            data_directory: None,
        }
    }

    /// The placement of an experiment's arm. `catalogue` says which of its disks are volatile.
    pub fn of(
        title: impl Into<String>,
        settings: &Settings,
        catalogue: &Catalogue,
    ) -> LayoutRequest {
        let machine = settings.machine.kind.as_deref();
        let after = |volume: &Volume| catalogue.after_stop(&volume.disk.to_string(), machine);
        let volumes = || settings.volumes.iter();
        let ephemeral = volumes().filter(|volume| after(volume).forgets());
        let raw = volumes().filter(|volume| after(volume) == AfterStop::Raw);
        LayoutRequest {
            files: Role::ALL
                .map(|role| (role, settings.placement.files(role).to_vec()))
                .into(),
            ephemeral: ephemeral.map(|volume| volume.name.clone()).collect(),
            raw: raw
                .map(|volume| (volume.name.clone(), volume.count))
                .collect(),
            ..LayoutRequest::new(title)
        }
    }

    /// Places `count` files of a role on volumes in rotation, one on each where no number is given. Without volumes, as on a managed
    /// instance, files have one without a name.
    pub fn distribute(&mut self, role: Role, volumes: &[&str], count: Option<u32>) {
        let volumes = if volumes.is_empty() { &[""] } else { volumes };
        let count = count.map_or(volumes.len(), |count| count as usize);
        let size = self.files(role).first().and_then(|file| file.size);
        let file = |volume: &&str| File {
            volume: (*volume).to_owned(),
            size,
        };
        let files = volumes.iter().cycle().take(count).map(file).collect();
        self.files.insert(role, files);
    }

    /// Replaces the files of a role by `count` on the same volumes.
    pub fn recount(&mut self, role: Role, count: u32) {
        let mut volumes: Vec<String> = Vec::new();
        for file in self.files(role) {
            if !volumes.contains(&file.volume) {
                volumes.push(file.volume.clone());
            }
        }
        let volumes: Vec<&str> = volumes.iter().map(String::as_str).collect();
        self.distribute(role, &volumes, Some(count));
    }

    /// Sentences on volumes that are named as `ephemeral` or as `raw`, and whose disks in an arm keep what they hold, as `catalogue` says.
    pub fn contradictions(
        settings: &Settings,
        catalogue: &Catalogue,
        (ephemeral, raw): (&[String], &[String]),
    ) -> Vec<String> {
        let machine = settings.machine.kind.as_deref();
        let of = |name: &String, option: &str, is_so: fn(AfterStop) -> bool| {
            let mut volumes = settings.volumes.iter();
            let volume = volumes.find(|volume| volume.name == *name)?;
            let Disk::Catalogue(disk) = &volume.disk else {
                return None;
            };
            let after = catalogue.after_stop(disk, machine);
            (!is_so(after)).then(|| {
                format!(
                    "{option} {name}: the catalogue says of {disk} after a stop: {}; leave {option} out if this is the disk",
                    after.shown()
                )
            })
        };
        let ephemeral = ephemeral
            .iter()
            .filter_map(|name| of(name, "--ephemeral", AfterStop::forgets));
        let raw = raw
            .iter()
            .filter_map(|name| of(name, "--raw", |after| after == AfterStop::Raw));
        ephemeral.chain(raw).collect()
    }

    /// Files of a role; none where the request has none.
    pub fn files(&self, role: Role) -> &[File] {
        self.files.get(&role).map_or(&[], Vec::as_slice)
    }

    /// Volumes that hold a file of the layout and come back without a file system.
    pub fn raw_in_use(&self) -> impl Iterator<Item = &str> {
        let is_used = |volume: &&String| {
            let mut roles = self.roles.iter();
            roles.any(|role| self.files(*role).iter().any(|file| file.volume == **volume))
        };
        self.raw.keys().filter(is_used).map(String::as_str)
    }

    /// The server's platform without a capture: as requested, or by the style of the folders.
    ///
    /// # Errors
    /// When neither says it.
    pub fn platform(&self) -> Result<Platform, LayoutError> {
        let style = || self.folders.values().find_map(|folder| Style::of(folder));
        match (self.on, style()) {
            (Some(on), _) => Ok(on),
            (None, Some(Style::Windows)) => Ok(Platform::Windows),
            (None, Some(Style::Unix)) => Ok(Platform::Linux),
            (None, None) => Err(LayoutError::Where),
        }
    }

    /// Refuses another platform than Linux for a product whose scripts are for Linux alone. `product` is its own name.
    ///
    /// # Errors
    /// When the platform is another one, or the folders do not say which.
    pub fn check_linux(&self, product: &str) -> Result<(), LayoutError> {
        match self.platform() {
            Ok(Platform::Linux) => Ok(()),
            Ok(on) => Err(LayoutError::Impossible(format!(
                "the scripts for {product} are for Linux, and this is {on}; give folders of Linux, and no --on"
            ))),
            Err(_) if self.folders.is_empty() => Ok(()),
            Err(error) => Err(error),
        }
    }

    /// Whether a role is part of the layout.
    pub fn has(&self, role: Role) -> bool {
        self.roles.contains(&role)
    }

    /// The folder of a volume.
    ///
    /// # Errors
    /// When none is given, or it does not fit the style.
    pub fn folder(&self, volume: &str, style: Style) -> Result<Folder, LayoutError> {
        let Some(given) = self.folders.get(volume) else {
            // Files that no experiment placed have a volume without a name.
            let volume = if volume.is_empty() { "d" } else { volume };
            return Err(LayoutError::NoFolder {
                volume: volume.to_owned(),
                example: style.example(),
            });
        };
        Folder::new(given, style).map_err(|why| LayoutError::Folder {
            volume: volume.to_owned(),
            folder: given.clone(),
            why,
        })
    }

    /// Refuses folders of volumes that hold no file: most often a typo in the volume's name.
    ///
    /// # Errors
    /// The first such volume.
    pub fn check_folders(&self) -> Result<(), LayoutError> {
        let roles = self.roles.iter();
        let used: BTreeSet<&str> = roles
            .flat_map(|role| self.files(*role))
            .map(|file| file.volume.as_str())
            .collect();
        let unused = self
            .folders
            .keys()
            .find(|name| !used.contains(name.as_str()));
        match unused {
            None => Ok(()),
            Some(volume) => Err(LayoutError::Unused {
                volume: volume.clone(),
                used: format!(
                    "volumes that hold one: {}; see --role",
                    used.into_iter().collect::<Vec<_>>().join(", ")
                ),
            }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn volumes(request: &LayoutRequest) -> Vec<&str> {
        let files = request.files(Role::Temp).iter();
        files.map(|file| file.volume.as_str()).collect()
    }

    #[test]
    fn files_go_to_volumes_in_rotation_and_keep_their_size() {
        let mut request = LayoutRequest::new("by hand");
        request.distribute(Role::Temp, &["a", "b"], None);
        assert_eq!(volumes(&request), ["a", "b"]);
        for file in request.files.entry(Role::Temp).or_default() {
            file.size = Some(Bytes::gib(4));
        }
        request.recount(Role::Temp, 3);
        assert_eq!(volumes(&request), ["a", "b", "a"]);
        let mut files = request.files(Role::Temp).iter();
        assert!(files.all(|file| file.size == Some(Bytes::gib(4))));
    }

    #[test]
    fn a_managed_instance_has_files_without_a_volume() {
        let mut request = LayoutRequest::new("by hand");
        request.distribute(Role::Temp, &[], Some(2));
        assert_eq!(volumes(&request), ["", ""]);
    }
}
