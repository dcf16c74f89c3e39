//! The counterpart of `orphans` for systems other than Linux: directories are created, but
//! nothing is recorded. Whatever a killed process leaves behind, the user must remove.

use std::fs;
use std::io;
use std::path::Path;

/// What a process creates outside of itself.
#[derive(Debug)]
pub struct Registration;

impl Registration {
    /// An empty registration.
    ///
    /// # Errors
    /// Never.
    pub fn new() -> io::Result<Registration> {
        Ok(Registration)
    }

    /// Creates `directory`, accessible to this user only. Returns whether it was created.
    ///
    /// # Errors
    /// When it cannot be created.
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

    /// `directory` is about to be created or taken over.
    ///
    /// # Errors
    /// Never.
    pub fn claiming(&self, _directory: &Path, _mark: &str) -> io::Result<()> {
        Ok(())
    }

    /// `directory` now belongs to this process.
    ///
    /// # Errors
    /// Never.
    pub fn claimed(&self, _directory: &Path) -> io::Result<()> {
        Ok(())
    }

    /// `directory` no longer exists.
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

    /// All of them have ended.
    ///
    /// # Errors
    /// Never.
    pub fn served(&self, _directory: &Path) -> io::Result<()> {
        Ok(())
    }

    /// Control group `group` is about to be created.
    ///
    /// # Errors
    /// Never.
    pub fn grouping(&self, _group: &Path) -> io::Result<()> {
        Ok(())
    }

    /// Control group `group` no longer exists.
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
