//! Finding PostgreSQL's programs on this machine.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};
use std::{env, fs};

use host::child;

use engine::EngineError;

/// Supported major versions, whose settings and counters are known.
pub const VERSIONS: RangeInclusive<u32> = 13..=18;

/// PostgreSQL's programs, of one version.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Binaries {
    /// The folder with `initdb` and `postgres`.
    pub folder: PathBuf,
    /// Major version.
    pub major: u32,
    /// The whole version, such as `15.13`.
    pub version: String,
}

impl Binaries {
    /// The programs in `asked`, or the newest of [`VERSIONS`] on this machine.
    ///
    /// # Errors
    /// When there are none, or none of a supported version, with the remedy.
    pub fn find(asked: Option<&Path>) -> Result<Binaries, EngineError> {
        Binaries::among(asked, &usual_folders())
    }

    /// The programs in `asked`, or the newest among `folders`.
    pub(crate) fn among(
        asked: Option<&Path>,
        folders: &BTreeSet<PathBuf>,
    ) -> Result<Binaries, EngineError> {
        if let Some(folder) = asked {
            return Binaries::of(folder).and_then(Binaries::supported);
        }
        let found: Vec<Binaries> = folders
            .iter()
            .filter_map(|folder| Binaries::of(folder).ok())
            .collect();
        let usable = found
            .iter()
            .filter(|binaries| VERSIONS.contains(&binaries.major))
            .max_by_key(|binaries| binaries.major);
        usable.cloned().ok_or_else(|| missing(&found))
    }

    /// The program `name`.
    pub fn program(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }

    fn of(folder: &Path) -> Result<Binaries, EngineError> {
        let refused = |why: &str| {
            EngineError::Missing(format!(
                "{}: {why}; name the folder that holds both `initdb` and `postgres`, such as \
                 /usr/lib/postgresql/15/bin",
                folder.display()
            ))
        };
        if !folder.join("initdb").is_file() {
            return Err(refused("there is no `initdb` in it"));
        }
        // If this is a link to one program, the others are beside its target.
        let postgres = fs::canonicalize(folder.join("postgres"))
            .map_err(|error| refused(&format!("there is no `postgres` in it: {error}")))?;
        let folder = match postgres.parent() {
            Some(parent) if parent.join("initdb").is_file() => parent,
            _ => folder,
        };
        let output = child::command(postgres.as_os_str())
            .arg("--version")
            .output()
            .map_err(|error| refused(&format!("its `postgres` does not start: {error}")))?;
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        let (version, major) =
            version_in(&text).ok_or_else(|| refused("its `postgres` reports no version"))?;
        Ok(Binaries {
            folder: folder.to_owned(),
            major,
            version,
        })
    }

    fn supported(self) -> Result<Binaries, EngineError> {
        if VERSIONS.contains(&self.major) {
            return Ok(self);
        }
        Err(EngineError::Missing(format!(
            "{}: PostgreSQL {} is not one of the versions {} to {} that dbstow knows; install one \
             of them, or name its folder with --postgres-bin",
            self.folder.display(),
            self.version,
            VERSIONS.start(),
            VERSIONS.end()
        )))
    }
}

/// Version and major version in the output of `postgres --version`.
fn version_in(text: &str) -> Option<(String, u32)> {
    let version = text.strip_prefix("postgres (PostgreSQL) ")?;
    let version = version.split_whitespace().next()?;
    let digits: &str = version.split(|c: char| !c.is_ascii_digit()).next()?;
    Some((version.to_owned(), digits.parse().ok()?))
}

fn missing(found: &[Binaries]) -> EngineError {
    let others: Vec<String> = found
        .iter()
        .map(|binaries| format!("{} in {}", binaries.version, binaries.folder.display()))
        .collect();
    let others = match others.is_empty() {
        true => String::new(),
        false => format!(" (there is {})", others.join(", ")),
    };
    EngineError::Missing(format!(
        "no PostgreSQL of version {} to {} on this machine{others}; install one, with `apt-get \
         install postgresql` or your system's own means, or name its folder with --postgres-bin",
        VERSIONS.start(),
        VERSIONS.end()
    ))
}

/// Common folders of PostgreSQL, and those from the user's PATH and `pg_config`.
fn usual_folders() -> BTreeSet<PathBuf> {
    let mut folders = BTreeSet::new();
    // Debian; Red Hat's own and PostgreSQL's packages; Homebrew.
    for (parent, start, inside) in [
        ("/usr/lib/postgresql", "", "bin"),
        ("/usr", "pgsql-", "bin"),
        ("/usr/lib64", "pgsql", "bin"),
        ("/opt/homebrew/opt", "postgresql", "bin"),
        ("/usr/local/opt", "postgresql", "bin"),
    ] {
        let entries = fs::read_dir(parent).into_iter().flatten().flatten();
        let named = entries.filter(|entry| entry.file_name().to_string_lossy().starts_with(start));
        folders.extend(named.map(|entry| entry.path().join(inside)));
    }
    if let Ok(output) = child::command("pg_config").arg("--bindir").output() {
        folders.insert(PathBuf::from(
            String::from_utf8_lossy(&output.stdout).trim(),
        ));
    }
    let path = env::var_os("PATH");
    folders.extend(env::split_paths(path.as_deref().unwrap_or(OsStr::new(""))));
    folders.retain(|folder| folder.join("initdb").is_file());
    folders
}

/// Option for the folder of its programs.
pub(crate) const BIN: &str = "postgres-bin";

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    /// A folder with programs that report a version.
    fn programs(parent: &Path, name: &str, version: &str) -> PathBuf {
        let folder = parent.join(name);
        fs::create_dir(&folder).unwrap();
        for program in ["initdb", "postgres"] {
            let path = folder.join(program);
            let text = format!("#!/bin/sh\necho 'postgres (PostgreSQL) {version}'\n");
            fs::write(&path, text).unwrap();
            fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
        }
        folder
    }

    #[test]
    fn the_newest_version_that_is_known_is_taken() {
        let parent = tempfile::tempdir().unwrap();
        let folders = ["12.2", "16.4 (Debian 16.4-1)", "17beta1", "99.1"]
            .map(|version| programs(parent.path(), &version[..2], version));
        let found = Binaries::among(None, &folders.into()).unwrap();
        assert_eq!((found.major, found.version.as_str()), (17, "17beta1"));
    }

    #[test]
    fn a_version_that_is_not_known_is_named() {
        let parent = tempfile::tempdir().unwrap();
        let old = programs(parent.path(), "old", "12.2");
        let error = Binaries::among(None, &BTreeSet::from([old.clone()])).unwrap_err();
        assert!(error.to_string().contains("there is 12.2 in "), "{error}");
        let error = Binaries::among(Some(&old), &BTreeSet::new()).unwrap_err();
        assert!(
            error.to_string().contains("PostgreSQL 12.2 is not"),
            "{error}"
        );
    }

    #[test]
    fn no_postgresql_at_all_says_what_to_install() {
        let error = Binaries::among(None, &BTreeSet::new()).unwrap_err();
        assert!(error.to_string().contains("apt-get install postgresql"));
        let empty = tempfile::tempdir().unwrap();
        let error = Binaries::among(Some(empty.path()), &BTreeSet::new()).unwrap_err();
        assert!(error.to_string().contains("no `initdb` in it"), "{error}");
    }
}
