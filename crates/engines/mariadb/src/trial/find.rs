//! Finding MariaDB's programs on this machine.

use std::fmt;
use std::path::{Path, PathBuf};
use std::{env, fs};

use host::child;

use engine::EngineError;

/// Option for the folder of its programs.
pub(crate) const BIN: &str = "mariadb-bin";

/// The oldest and the newest supported release, whose settings and counters are known.
pub(crate) const RELEASES: (Release, Release) = (Release(10, 6), Release(11, 8));

/// The same for MySQL, as an external server.
pub(crate) const RELEASES_MYSQL: (Release, Release) = (Release(8, 0), Release(9, 7));

/// The name of the server's program.
const SERVER: &str = "mariadbd";

/// The scripts that initialize a new data directory, in order; `mariadb-install-db` runs the same.
const SCRIPTS: [&str; 3] = [
    "mysql_system_tables.sql",
    "mysql_performance_tables.sql",
    "mysql_system_tables_data.sql",
];

/// Locations of the scripts, relative to the parent of the server program's folder.
const SCRIPT_FOLDERS: [&str; 4] = ["share/mysql", "share/mariadb", "share", "scripts"];

/// Common folders of the server, besides those in the user's PATH: Debian and Red Hat; Homebrew.
const USUAL_FOLDERS: [&str; 6] = [
    "/usr/sbin",
    "/usr/libexec",
    "/usr/local/sbin",
    "/usr/local/bin",
    "/opt/homebrew/opt/mariadb/bin",
    "/usr/local/opt/mariadb/bin",
];

/// A release: the two numbers before the patch level.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Release(pub(crate) u32, pub(crate) u32);

impl fmt::Display for Release {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.0, self.1)
    }
}

/// MariaDB's programs, of one version.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Programs {
    /// The server.
    pub(crate) server: PathBuf,
    /// The whole version, such as `10.11.19-MariaDB`.
    pub(crate) version: String,
    /// The folder with [`SCRIPTS`].
    scripts: PathBuf,
}

impl Programs {
    /// The programs in `asked`, or the first on this machine of a supported release.
    ///
    /// # Errors
    /// When there are none, with the remedy.
    pub fn find(asked: Option<&Path>) -> Result<Programs, EngineError> {
        match asked {
            Some(folder) => Programs::of(folder).map_err(|why| {
                EngineError::Missing(format!(
                    "{}: {why}; name the folder that holds `{SERVER}` with --mariadb-bin, such as /usr/sbin",
                    folder.display()
                ))
            }),
            None => Programs::among(&usual_folders()),
        }
    }

    /// Programs that are not there, of this version.
    #[cfg(all(test, target_os = "linux"))]
    pub(crate) fn example(version: &str) -> Programs {
        Programs {
            server: PathBuf::from("/usr/sbin/mariadbd"),
            version: version.to_owned(),
            scripts: PathBuf::new(),
        }
    }

    fn among(folders: &[PathBuf]) -> Result<Programs, EngineError> {
        let mut refused = None;
        let with_server = folders
            .iter()
            .filter(|folder| folder.join(SERVER).is_file());
        for folder in with_server {
            match Programs::of(folder) {
                Ok(programs) => return Ok(programs),
                Err(why) => refused = refused.or(Some(format!(" ({}: {why})", folder.display()))),
            }
        }
        Err(EngineError::Missing(format!(
            "no MariaDB of release {} to {} on this machine{}; install one, with `apt-get install mariadb-server` or \
             your system's own means, or name its folder with --mariadb-bin",
            RELEASES.0,
            RELEASES.1,
            refused.unwrap_or_default()
        )))
    }

    fn of(folder: &Path) -> Result<Programs, String> {
        let server = fs::canonicalize(folder.join(SERVER))
            .map_err(|error| format!("there is no `{SERVER}` in it: {error}"))?;
        let output = child::command(&server)
            .args(["--no-defaults", "--version"])
            .output()
            .map_err(|error| format!("its `{SERVER}` does not start: {error}"))?;
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        let (version, release) = version_in(&text)
            .ok_or_else(|| format!("its `{SERVER}` reports no version of MariaDB"))?;
        if release < RELEASES.0 || release > RELEASES.1 {
            return Err(format!(
                "MariaDB {version} is not of the releases {} to {} that dbstow knows",
                RELEASES.0, RELEASES.1
            ));
        }
        let above = server.parent().and_then(Path::parent);
        let mut folders = SCRIPT_FOLDERS
            .iter()
            .filter_map(|place| Some(above?.join(place)));
        let scripts =
            folders.find(|folder| SCRIPTS.iter().all(|script| folder.join(script).is_file()));
        let scripts = scripts.ok_or_else(|| {
            format!(
                "the scripts of its system tables ({}) are not in {}",
                SCRIPTS[0],
                SCRIPT_FOLDERS.join(", ")
            )
        })?;
        Ok(Programs {
            server,
            version,
            scripts,
        })
    }

    /// The text of the scripts that initialize a new data directory.
    ///
    /// # Errors
    /// When one cannot be read.
    pub(crate) fn system_tables(&self) -> Result<String, EngineError> {
        let mut text = String::new();
        for script in SCRIPTS {
            let path = self.scripts.join(script);
            let read = fs::read_to_string(&path);
            text += &read
                .map_err(|error| EngineError::failed(format!("read {}", path.display()), error))?;
            text.push('\n');
        }
        Ok(text)
    }
}

/// Version and release in the output of `mariadbd --version`.
fn version_in(text: &str) -> Option<(String, Release)> {
    let (_, rest) = text.split_once("Ver ")?;
    version_of(rest.split_whitespace().next()?)
}

/// The same in a version such as `10.11.19-MariaDB-log`; `None` if it is not MariaDB.
fn version_of(whole: &str) -> Option<(String, Release)> {
    let (numbers, _) = whole.split_once("-MariaDB")?;
    Some((format!("{numbers}-MariaDB"), release_of(numbers)?))
}

/// The release of a server's `version`, such as `8.0.45-1`.
pub(crate) fn release_of(version: &str) -> Option<Release> {
    let mut parts = version.split('.').map(|part| part.parse().ok());
    Some(Release(parts.next()??, parts.next()??))
}

fn usual_folders() -> Vec<PathBuf> {
    let path = env::var_os("PATH").unwrap_or_default();
    let usual = USUAL_FOLDERS.iter().map(PathBuf::from);
    env::split_paths(&path).chain(usual).collect()
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    /// A folder with a server that reports a version, and the scripts.
    fn installed(parent: &Path, version: &str) -> PathBuf {
        let folder = parent.join("bin");
        let share = parent.join("share/mysql");
        fs::create_dir_all(&folder).unwrap();
        fs::create_dir_all(&share).unwrap();
        for script in SCRIPTS {
            fs::write(share.join(script), "").unwrap();
        }
        let program = folder.join(SERVER);
        fs::write(
            &program,
            format!("#!/bin/sh\necho 'mariadbd  Ver {version}'\n"),
        )
        .unwrap();
        fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
        folder
    }

    #[test]
    fn the_first_of_a_known_release_is_taken() {
        let (old, known) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let folders = [
            installed(old.path(), "10.3.39-MariaDB-0+deb10u2 for debian-linux-gnu"),
            installed(
                known.path(),
                "10.11.19-MariaDB-0+deb12u1 for debian-linux-gnu",
            ),
        ];
        let found = Programs::among(&folders).unwrap();
        assert_eq!(found.version, "10.11.19-MariaDB");
        assert!(found.scripts.ends_with("share/mysql"));

        let refused = Programs::among(&folders[..1]).unwrap_err().to_string();
        assert!(
            refused.contains("MariaDB 10.3.39-MariaDB is not of the releases 10.6 to 11.8"),
            "{refused}"
        );
        assert!(
            refused.contains("apt-get install mariadb-server"),
            "{refused}"
        );
    }

    #[test]
    fn another_server_or_none_is_named() {
        let place = tempfile::tempdir().unwrap();
        let folder = installed(
            place.path(),
            "8.4.3 for Linux on x86_64 (MySQL Community Server - GPL)",
        );
        let refused = Programs::find(Some(&folder)).unwrap_err().to_string();
        assert!(
            refused.contains("reports no version of MariaDB"),
            "{refused}"
        );
        let refused = Programs::find(Some(place.path())).unwrap_err().to_string();
        assert!(
            refused.contains("there is no `mariadbd` in it"),
            "{refused}"
        );
        assert!(refused.contains("--mariadb-bin"), "{refused}");
    }

    #[test]
    fn a_server_without_its_scripts_is_refused() {
        let place = tempfile::tempdir().unwrap();
        let folder = installed(place.path(), "10.11.19-MariaDB");
        fs::remove_file(place.path().join("share/mysql").join(SCRIPTS[1])).unwrap();
        let refused = Programs::find(Some(&folder)).unwrap_err().to_string();
        assert!(
            refused.contains("the scripts of its system tables"),
            "{refused}"
        );
    }
}
