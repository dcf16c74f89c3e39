//! The placement: a folder for each role on its volume.

use std::collections::BTreeSet;

use experiment::spec::{File, Role};
use layout::{Folder, LayoutError, LayoutRequest, Style};

/// Folders for the request; all are new ones inside the volumes' folders.
pub(super) struct Placement<'a> {
    pub(super) request: &'a LayoutRequest,
    /// The systemd unit, without its suffix.
    pub(super) service: String,
    places: Vec<Place<'a>>,
}

/// A folder to create.
struct Place<'a> {
    role: Role,
    volume: &'a str,
    folder: Folder,
}

/// MariaDB's roles, in the order in which they are shown.
const ROLES: [Role; 6] = [
    Role::Data,
    Role::Temp,
    Role::Log,
    Role::Binlog,
    Role::Undo,
    Role::Doublewrite,
];

/// Below these, `ProtectHome=` hides everything. Source: systemd.exec(5).
const HOMES: [&str; 3] = ["/home", "/root", "/run/user"];

impl<'a> Placement<'a> {
    pub(super) fn new(request: &'a LayoutRequest) -> Result<Placement<'a>, LayoutError> {
        if request.database.is_some() {
            return Err(LayoutError::Database(
                "--database: MariaDB's data directory moves as a whole; leave it out".to_owned(),
            ));
        }
        if request.data_directory.is_some() {
            return Err(LayoutError::Impossible(
                "--data-directory: the scripts ask the server for MariaDB's data directory; leave it out"
                    .to_owned(),
            ));
        }
        let service = request.service.as_deref().unwrap_or("mariadb");
        let service = service.strip_suffix(".service").unwrap_or(service);
        let allowed = |letter: char| letter.is_ascii_alphanumeric() || "._-".contains(letter);
        if service.is_empty() || !service.chars().all(allowed) {
            return Err(LayoutError::Impossible(format!(
                "\"{service}\" is not a unit of systemd that the scripts can drive; give --service mariadb, or mysql"
            )));
        }
        let mut places = Vec::new();
        for role in ROLES.into_iter().filter(|role| request.has(*role)) {
            places.extend(places_of(request, role)?);
        }
        Ok(Placement {
            request,
            service: service.to_owned(),
            places,
        })
    }

    fn of(&self, role: Role) -> impl Iterator<Item = &Folder> {
        let places = self.places.iter();
        places
            .filter(move |place| place.role == role)
            .map(|place| &place.folder)
    }

    /// The folder that a role moves to; empty: it stays.
    pub(super) fn one(&self, role: Role) -> &str {
        self.of(role).next().map_or("", Folder::text)
    }

    /// The folder that a role moves to as a whole, by its name in the scripts.
    pub(super) fn moves(&self) -> impl Iterator<Item = (Role, &str)> {
        let roles = ROLES.into_iter().filter(|role| *role != Role::Temp);
        roles.map(|role| (role, self.one(role)))
    }

    pub(super) fn has(&self, role: Role) -> bool {
        self.of(role).next().is_some()
    }

    /// In MariaDB's syntax for several folders, used in rotation.
    pub(super) fn tmpdir(&self) -> String {
        texts(self.of(Role::Temp)).join(":")
    }

    /// Folders of the data files after the first, which hold single tables.
    pub(super) fn tables(&self) -> Vec<&str> {
        texts(self.of(Role::Data).skip(1))
    }

    pub(super) fn folders(&self) -> Vec<&str> {
        texts(self.places.iter().map(|place| &place.folder))
    }

    /// Folders to recreate on volumes that come back empty. Folders of other roles are not recreated: if they are missing
    /// the server does not start, but in empty ones it may create new files as if nothing had been lost.
    pub(super) fn ephemeral(&self) -> Vec<&str> {
        let temp = self.places.iter().filter(|place| place.role == Role::Temp);
        texts(
            temp.filter(|place| self.is_ephemeral(place))
                .map(|place| &place.folder),
        )
    }

    /// Those that systemd hides from the server.
    pub(super) fn homes(&self) -> Vec<&str> {
        let folders = self.places.iter().map(|place| &place.folder);
        texts(folders.filter(|folder| HOMES.iter().any(|home| folder.is_under(home))))
    }

    /// A role whose files must not be lost, on a volume that may come back empty.
    pub(super) fn lost(&self) -> Option<Role> {
        let mut kept = self.places.iter().filter(|place| place.role != Role::Temp);
        kept.find(|place| self.is_ephemeral(place))
            .map(|place| place.role)
    }

    fn is_ephemeral(&self, place: &Place<'_>) -> bool {
        self.request.ephemeral.contains(place.volume)
    }

    /// The placement, human-readable.
    pub(super) fn shown(&self) -> impl Iterator<Item = (&'static str, &Folder)> {
        self.places
            .iter()
            .map(|place| (name(place.role), &place.folder))
    }
}

fn name(role: Role) -> &'static str {
    match role {
        Role::Data => "data directory, or tables",
        Role::Temp => "temporary files",
        Role::Log => "redo log",
        Role::Binlog => "binary log",
        Role::Undo => "undo tablespaces",
        Role::Doublewrite => "system tablespace, with the doublewrite area",
    }
}

fn texts<'a>(folders: impl Iterator<Item = &'a Folder>) -> Vec<&'a str> {
    folders.map(Folder::text).collect()
}

/// One for each volume of a role, as MariaDB has no number of files to choose.
fn places_of(request: &LayoutRequest, role: Role) -> Result<Vec<Place<'_>>, LayoutError> {
    let mut seen = BTreeSet::new();
    let mut all = Vec::new();
    let files = request.files(role);
    if files.is_empty() {
        return Err(LayoutError::Impossible(format!(
            "--role {role}: the arm does not place {role}; add placement.NAME.{role}, or leave the role out"
        )));
    }
    for File { volume, .. } in files {
        if seen.insert(volume) {
            let number = all.len() + 1;
            let name = match role {
                Role::Data | Role::Temp => format!("dbstow_{role}_{number}"),
                Role::Log | Role::Binlog | Role::Undo | Role::Doublewrite => {
                    format!("dbstow_{role}")
                }
            };
            let folder = folder(request, volume)?.file(&name);
            let folder = Folder::new(&folder, Style::Unix).expect("a folder in a folder is one");
            all.push(Place {
                role,
                volume,
                folder,
            });
        }
    }
    Ok(all)
}

/// A volume's folder, restricted to characters that shells, my.cnf, AppArmor and SELinux all read literally: each has its
/// own list of special characters, and `tmpdir` and the system tablespace have no quoting at all.
fn folder(request: &LayoutRequest, volume: &str) -> Result<Folder, LayoutError> {
    let folder = request.folder(volume, Style::Unix)?;
    let plain = |letter: char| letter.is_ascii_alphanumeric() || "/._-".contains(letter);
    match folder.text().chars().find(|letter| !plain(*letter)) {
        None => Ok(folder),
        Some(odd) => Err(LayoutError::Folder {
            volume: volume.to_owned(),
            folder: folder.text().to_owned(),
            why: format!(
                "MariaDB's settings and AppArmor's rules take {odd:?} for something else; give a folder of plain letters, digits and . _ -"
            ),
        }),
    }
}
