//! As [`fuse::orphans`](crate) on Linux, for other systems: directories are made, and nothing is written
//! down. What a killed process leaves there is for its user to remove.

use std::fs;
use std::io;
use std::path::Path;

/// What a process makes outside of itself.
#[derive(Debug)]
pub struct Registration;

impl Registration {
    /// Nothing yet.
    ///
    /// # Errors
    /// Never.
    pub fn new() -> io::Result<Registration> {
        Ok(Registration)
    }

    /// Makes `directory`, for this user alone. Gives whether it was made.
    ///
    /// # Errors
    /// When it cannot be made.
    pub fn make_directory(&self, directory: &Path, _with_contents: bool) -> io::Result<bool> {
        let builder = fs::DirBuilder::new();
        #[cfg(unix)]
        let builder = {
            let mut builder = builder;
            std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
            builder
        };
        match builder.create(directory) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(false),
            made => made.map(|()| true),
        }
    }

    /// `directory` is about to be made, or taken over.
    ///
    /// # Errors
    /// Never.
    pub fn claiming(&self, _directory: &Path, _mark: &str) -> io::Result<()> {
        Ok(())
    }

    /// `directory` is this process's own now.
    ///
    /// # Errors
    /// Never.
    pub fn claimed(&self, _directory: &Path) -> io::Result<()> {
        Ok(())
    }

    /// `directory` is there no more.
    ///
    /// # Errors
    /// Never.
    pub fn removed(&self, _directory: &Path) -> io::Result<()> {
        Ok(())
    }

    /// Processes of `user` are about to work in `directory`.
    ///
    /// # Errors
    /// Never.
    pub fn serving(&self, _name: &str, _directory: &Path, _user: u32) -> io::Result<()> {
        Ok(())
    }

    /// They have all ended.
    ///
    /// # Errors
    /// Never.
    pub fn served(&self, _directory: &Path) -> io::Result<()> {
        Ok(())
    }

    /// Control group `group` is about to be made.
    ///
    /// # Errors
    /// Never.
    pub fn grouping(&self, _group: &Path) -> io::Result<()> {
        Ok(())
    }

    /// Control group `group` is there no more.
    ///
    /// # Errors
    /// Never.
    pub fn ungrouped(&self, _group: &Path) -> io::Result<()> {
        Ok(())
    }

    /// Ends the registration.
    ///
    /// # Errors
    /// Never.
    pub fn finish(&self) -> Result<(), Vec<String>> {
        Ok(())
    }
}
