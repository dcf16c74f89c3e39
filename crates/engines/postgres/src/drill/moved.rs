//! A data directory that was moved, on untrusted volumes: known contents are used, redirected to the new location, or rejected.
//!
//! The server reads its settings and access rules from outside of it (`access`), so nothing in it is executed as a command.

use std::fs::{self, File};
use std::io;
use std::os::unix::fs::{MetadataExt as _, lchown, symlink};
use std::path::{Component, Path, PathBuf};

use host::site::Site;

use crate::trial::tablespaces::Tablespaces;
use engine::drilled::Origin;
use engine::home;
use engine::managed_server::Owner;
use engine::tree;
use experiment::spec::Settings;

/// Settings that `ALTER SYSTEM` writes, which a server always reads. A drilled server has none.
/// <https://www.postgresql.org/docs/18/config-setting.html>, read 2026-11-26.
const ALTERED: &str = "postgresql.auto.conf";

/// Files that make a server fetch its log by commands, follow another server, or create links to any directory; no drilled server
/// has one.
/// <https://www.postgresql.org/docs/18/continuous-archiving.html> and
/// <https://www.postgresql.org/docs/18/runtime-config-wal.html>, "Archive Recovery", read 2026-11-26.
const RECOVERING: [&str; 5] = [
    "recovery.signal",
    "standby.signal",
    "recovery.conf",
    "backup_label",
    "tablespace_map",
];

/// Where a drilled server's files are on its volumes.
pub(crate) struct Places {
    pub(crate) data: PathBuf,
    pub(crate) log: PathBuf,
    pub(crate) tablespaces: Tablespaces,
}

impl Places {
    pub(crate) fn of(site: &dyn Site, settings: &Settings) -> Places {
        let placement = &settings.placement;
        Places {
            data: home(site, settings, &placement.data[0]).join("cluster"),
            log: home(site, settings, &placement.log).join("wal"),
            tablespaces: Tablespaces::of_placement("", site, settings),
        }
    }

    /// Prepares the copy to be started by `owner`: `moved` has the old and new mount points of the volumes. No other user may
    /// have access to the volumes before.
    ///
    /// # Errors
    /// Why a server cannot be, or must not be, started on it.
    pub(crate) fn make_ready(
        &self,
        volumes: &[&Path],
        moved: &[(PathBuf, PathBuf)],
        owner: Option<Owner>,
        origin: Origin,
    ) -> Result<(), String> {
        let failed = |error: io::Error| match error.kind() {
            io::ErrorKind::NotFound => "its data directory is gone".to_owned(),
            _ => format!("its data directory cannot be read: {error}"),
        };
        let links = self.links().map_err(failed)?;
        match origin {
            Origin::ThisRun => {}
            Origin::Folder => self.check(volumes, &links)?,
        }
        self.lead(&links, moved).map_err(failed)?;
        match owner {
            Some(owner) => self.give_to(owner).map_err(failed),
            None => Ok(()),
        }
    }

    /// Paths of the links in a data directory: to its log, and to its tablespaces.
    fn links(&self) -> io::Result<Vec<PathBuf>> {
        let folder = self.data.join("pg_tblspc");
        for own in [&self.data, &folder] {
            if fs::symlink_metadata(own)?.is_symlink() {
                return Err(io::Error::other(format!("{} is a link", own.display())));
            }
        }
        let mut links = vec![self.data.join("pg_wal")];
        for entry in fs::read_dir(&folder)? {
            links.push(entry?.path());
        }
        Ok(links)
    }

    /// Rejects contents of untrusted volumes that a drilled server never has.
    fn check(&self, volumes: &[&Path], links: &[PathBuf]) -> Result<(), String> {
        for volume in volumes {
            tree::check(volume, &|path| links.iter().any(|link| link == path))?;
        }
        for name in RECOVERING {
            if fs::symlink_metadata(self.data.join(name)).is_ok() {
                return Err(format!(
                    "its data directory has {name}, which no drilled server has"
                ));
            }
        }
        Ok(())
    }

    /// Redirects links to the new locations of volumes, and nowhere else.
    fn lead(&self, links: &[PathBuf], moved: &[(PathBuf, PathBuf)]) -> io::Result<()> {
        for link in links {
            let Ok(old) = fs::read_link(link) else {
                // If the log is not on its own volume, it is a directory.
                continue;
            };
            let new = moved_to(&old, moved).filter(|new| self.has(new));
            let new = new.ok_or_else(|| {
                io::Error::other(format!(
                    "{} leads to {}, which is not a place of this server",
                    link.display(),
                    old.display()
                ))
            })?;
            fs::remove_file(link)?;
            symlink(new, link)?;
        }
        // The lock file belongs to the crashed server; if it is damaged, another server would not start.
        for name in ["postmaster.pid", ALTERED] {
            match fs::remove_file(self.data.join(name)) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
                Ok(()) | Err(_) => {}
            }
        }
        // Regardless of which server writes are lost, this exists.
        for changed in [&self.data.join("pg_tblspc"), &self.data] {
            File::open(changed)?.sync_all()?;
        }
        Ok(())
    }

    /// Whether a link of the data directory may lead there.
    fn has(&self, place: &Path) -> bool {
        let mut tablespaces = self.tablespaces.all();
        place == self.log || tablespaces.any(|tablespace| place == tablespace.directory)
    }

    /// Changes the owner of all files to the server's user, if they were created by another one.
    fn give_to(&self, owner: Owner) -> io::Result<()> {
        if fs::symlink_metadata(&self.data)?.uid() == owner.0 {
            return Ok(());
        }
        let tablespaces = self.tablespaces.all();
        let tablespaces = tablespaces.map(|tablespace| tablespace.directory.as_path());
        for directory in [&*self.data, &*self.log].into_iter().chain(tablespaces) {
            if fs::symlink_metadata(directory).is_ok() {
                give_all(directory, owner)?;
            }
        }
        Ok(())
    }
}

/// New location of `old`, if it was in a directory that was moved.
fn moved_to(old: &Path, moved: &[(PathBuf, PathBuf)]) -> Option<PathBuf> {
    let is_plain = |part: Component| matches!(part, Component::RootDir | Component::Normal(_));
    if !old.components().all(is_plain) {
        return None;
    }
    moved
        .iter()
        .find_map(|(from, to)| Some(to.join(old.strip_prefix(from).ok()?)))
}

/// Changes the owner of a file, or of a directory and its contents; does not follow links.
fn give_all(path: &Path, owner: Owner) -> io::Result<()> {
    lchown(path, Some(owner.0), Some(owner.1))?;
    if fs::symlink_metadata(path)?.is_dir() {
        for entry in fs::read_dir(path)? {
            give_all(&entry?.path(), owner)?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trial::tablespaces::Tablespace;

    /// A copied data directory with a log and a tablespace elsewhere.
    struct Copied {
        place: tempfile::TempDir,
        places: Places,
    }

    impl Copied {
        fn new() -> Copied {
            let place = tempfile::tempdir().unwrap();
            let at = |name: &str| place.path().join(name);
            for directory in ["d/cluster/pg_tblspc", "d/data_1", "w/wal"] {
                fs::create_dir_all(at(directory)).unwrap();
            }
            fs::write(at("d/cluster/postgresql.auto.conf"), "fsync = off\n").unwrap();
            symlink("/was/w/wal", at("d/cluster/pg_wal")).unwrap();
            symlink("/was/d/data_1", at("d/cluster/pg_tblspc/16384")).unwrap();
            let tablespace = Tablespace {
                name: "data_1".to_owned(),
                directory: at("d/data_1"),
            };
            let places = Places {
                data: at("d/cluster"),
                log: at("w/wal"),
                tablespaces: Tablespaces {
                    data: vec![tablespace],
                    temp: Vec::new(),
                },
            };
            Copied { place, places }
        }

        fn at(&self, name: &str) -> PathBuf {
            self.place.path().join(name)
        }

        fn ready(&self) -> Result<(), String> {
            let moved = [(PathBuf::from("/was"), self.place.path().to_owned())];
            let volumes = [&*self.at("d"), &*self.at("w")];
            self.places
                .make_ready(&volumes, &moved, None, Origin::Folder)
        }
    }

    #[test]
    fn links_lead_to_where_volumes_are_now_and_settings_of_its_own_are_gone() {
        let copied = Copied::new();
        copied.ready().unwrap();
        let led = |name: &str| fs::read_link(copied.at(name)).unwrap();
        assert_eq!(led("d/cluster/pg_wal"), copied.at("w/wal"));
        assert_eq!(led("d/cluster/pg_tblspc/16384"), copied.at("d/data_1"));
        assert!(!copied.at("d/cluster/postgresql.auto.conf").exists());
    }

    #[test]
    fn a_link_to_any_other_place_is_refused_and_left() {
        for target in [
            "/etc",
            "/was/d/../../etc",
            "/was/d/data_2",
            "../../elsewhere",
        ] {
            let copied = Copied::new();
            let link = copied.at("d/cluster/pg_tblspc/16385");
            symlink(target, &link).unwrap();
            let error = copied.ready().unwrap_err();
            assert!(error.contains("not a place of this server"), "{error}");
            assert_eq!(fs::read_link(&link).unwrap(), Path::new(target));
        }
        let copied = Copied::new();
        symlink("/etc/passwd", copied.at("d/cluster/PG_VERSION")).unwrap();
        let error = copied.ready().unwrap_err();
        assert!(error.contains("PG_VERSION is a symbolic link"), "{error}");
    }

    #[test]
    fn files_that_have_a_server_run_commands_or_follow_another_are_refused() {
        for name in RECOVERING {
            let copied = Copied::new();
            fs::write(copied.at("d/cluster").join(name), "").unwrap();
            let error = copied.ready().unwrap_err();
            assert!(error.contains(name), "{error}");
        }
    }
}
