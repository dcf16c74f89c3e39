//! The workloads that are embedded in the program.

use std::io;

use include_dir::{Dir, include_dir};
use products::Dialect;

use super::definition::Workload;
use super::error::WorkloadError;
use super::folder::{self, Folder};
use super::suggest;

static WORKLOADS: Dir<'_> = include_dir!("$CARGO_MANIFEST_DIR/workloads");

impl Workload {
    /// Names of the built-in workloads, in alphabetical order.
    pub fn builtin_names() -> Vec<&'static str> {
        let mut names: Vec<&str> = WORKLOADS
            .dirs()
            .filter_map(|folder| folder.path().to_str())
            .collect();
        names.sort_unstable();
        names
    }

    /// The built-in workload of that name, in `dialect`.
    ///
    /// # Errors
    /// When it does not exist.
    pub fn builtin(name: &str, dialect: Dialect) -> Result<Workload, WorkloadError> {
        // A name with a path in it could escape the folders that `builtin_names` lists.
        let known = Workload::builtin_names();
        match WORKLOADS.get_dir(name).filter(|_| known.contains(&name)) {
            Some(folder) => folder::read(folder, dialect),
            None => Err(WorkloadError::UnknownWorkload {
                name: name.to_owned(),
                remedy: suggest::remedy(name, known),
            }),
        }
    }
}

impl Folder for Dir<'_> {
    fn place(&self, file: &str) -> String {
        format!("workloads/{}/{file}", self.path().display())
    }

    fn text(&self, file: &str) -> io::Result<String> {
        let found = self.get_file(self.path().join(file));
        let text = found.and_then(|file| file.contents_utf8());
        text.map(str::to_owned)
            .ok_or_else(|| io::Error::from(io::ErrorKind::NotFound))
    }

    fn scripts(&self) -> Vec<String> {
        self.files()
            .filter_map(|file| file.path().file_name()?.to_str())
            .filter(|name| name.ends_with(".sql"))
            .map(str::to_owned)
            .collect()
    }
}
