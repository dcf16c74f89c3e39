//! A workload's files as a value, so it can be read where the files do not exist.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::io;
use std::path::Path;

use files::input::Reach;
use products::Dialect;

use super::definition::Workload;
use super::error::WorkloadError;
use super::folder::{self, Folder, OnDisk};
use super::settings_file::without_logins;
use super::sqlquerystress::read_file;

/// Texts of files, by their names in the workload.
pub type Files = BTreeMap<String, String>;

/// Kinds of paths for [`Workload::from_path`].
enum Kind {
    Folder,
    Sql,
    Settings,
}

impl Kind {
    fn of(path: &Path) -> Kind {
        match path.extension().and_then(|end| end.to_str()) {
            Some("sql") => Kind::Sql,
            Some("json") => Kind::Settings,
            Some(_) | None => Kind::Folder,
        }
    }
}

impl Workload {
    /// A folder, a SQL script (`.sql`, by one session, once), or a settings file of SQLQueryStress (`.json`).
    ///
    /// # Errors
    /// The first error, with file, line, value and remedy.
    pub fn from_path(
        path: &Path,
        dialect: Dialect,
        reach: Reach,
    ) -> Result<Workload, WorkloadError> {
        match Kind::of(path) {
            Kind::Sql => Workload::from_sql_file(path, 1, 1, dialect),
            Kind::Settings => Workload::from_sqlquerystress(path, dialect),
            Kind::Folder => Workload::from_folder(path, dialect, reach),
        }
    }

    /// The files that [`Workload::from_path`] reads, and all scripts next to them; settings without their logins.
    ///
    /// # Errors
    /// As [`Workload::from_path`].
    pub fn files(path: &Path, dialect: Dialect, reach: Reach) -> Result<Files, WorkloadError> {
        match Kind::of(path) {
            Kind::Sql => Ok([(name_of(path), read_file(path)?)].into()),
            // It is stored in a plan that others may read.
            Kind::Settings => Ok([(name_of(path), without_logins(&read_file(path)?))].into()),
            Kind::Folder => {
                let kept = Kept {
                    folder: OnDisk { path, reach },
                    read: RefCell::default(),
                };
                folder::read(&kept, dialect)?;
                for script in kept.scripts() {
                    // Some are named but not read, such as a loop for another server.
                    let _ = kept.text(&script);
                }
                Ok(kept.read.into_inner())
            }
        }
    }

    /// The result of [`Workload::from_path`] if `path` contained these files.
    ///
    /// # Errors
    /// As [`Workload::from_path`]; a file that is not among them is missing.
    pub fn from_files(
        path: &Path,
        files: &Files,
        dialect: Dialect,
    ) -> Result<Workload, WorkloadError> {
        let carried = Carried { path, files };
        let only = || {
            let name = name_of(path);
            carried.text(&name).map_err(|source| WorkloadError::Read {
                path: path.to_owned(),
                source,
            })
        };
        match Kind::of(path) {
            Kind::Sql => Workload::from_sql_text(path, &only()?, (1, 1), dialect),
            Kind::Settings => Workload::from_sqlquerystress_text(path, &only()?, dialect),
            Kind::Folder => folder::read(&carried, dialect),
        }
    }
}

fn name_of(path: &Path) -> String {
    let name = path.file_name().unwrap_or_default();
    name.to_string_lossy().into_owned()
}

/// A folder that remembers which files were read.
struct Kept<'a> {
    folder: OnDisk<'a>,
    read: RefCell<Files>,
}

impl Folder for Kept<'_> {
    fn place(&self, file: &str) -> String {
        self.folder.place(file)
    }

    fn text(&self, file: &str) -> io::Result<String> {
        let text = self.folder.text(file)?;
        let mut read = self.read.borrow_mut();
        read.insert(file.to_owned(), text.clone());
        Ok(text)
    }

    fn scripts(&self) -> Vec<String> {
        self.folder.scripts()
    }
}

/// A folder that exists only as a value.
struct Carried<'a> {
    path: &'a Path,
    files: &'a Files,
}

impl Folder for Carried<'_> {
    fn place(&self, file: &str) -> String {
        self.path.join(file).display().to_string()
    }

    fn text(&self, file: &str) -> io::Result<String> {
        let text = self.files.get(file).cloned();
        text.ok_or_else(|| io::ErrorKind::NotFound.into())
    }

    fn scripts(&self) -> Vec<String> {
        let names = self.files.keys();
        names
            .filter(|name| name.ends_with(".sql"))
            .cloned()
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    const SETTINGS: &str = r#"{"MainDbConnectionInfo": {"Login": "sa",
        "Password": "hunter2"}, "MainQuery": "select @a;", "NumThreads": 2, "NumIterations": 3, "DelayBetweenQueries": 5,
        "ParamQuery": "select 1 as a", "ParamMappings": {"@a": "a"}}"#;

    #[test]
    fn a_workload_is_the_same_from_its_files_and_from_their_texts() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let at = |name: &str| folder.path().join(name);
        let inner = at("inner");
        fs::create_dir(&inner).expect("it can be made");
        let built_in = Path::new(env!("CARGO_MANIFEST_DIR")).join("workloads/trade");
        for entry in fs::read_dir(built_in).expect("it is there").flatten() {
            fs::copy(entry.path(), inner.join(entry.file_name())).expect("it can be copied");
        }
        fs::write(at("one.sql"), "select 1;").expect("it can be written");
        fs::write(at("settings.json"), SETTINGS).expect("it can be written");

        for name in ["inner", "one.sql", "settings.json"] {
            for dialect in [
                Dialect::SQLITE,
                Dialect::POSTGRES,
                Dialect::TSQL,
                Dialect::MARIADB,
            ] {
                let path = at(name);
                let here = Workload::from_path(&path, dialect, Reach::Beneath).expect("sound");
                let files = Workload::files(&path, dialect, Reach::Beneath).expect("sound");
                let there = Workload::from_files(&path, &files, dialect).expect("sound");
                assert_eq!(format!("{here:?}"), format!("{there:?}"), "{name}");
                assert!(!format!("{files:?}").contains("hunter2"));
            }
        }
    }

    #[test]
    fn a_file_that_is_not_carried_is_missing() {
        let path = Path::new("away");
        let error = Workload::from_files(path, &Files::new(), Dialect::SQLITE);
        let error = error.expect_err("there is none").to_string();
        assert!(error.contains("workload.toml"), "{error}");
    }
}
