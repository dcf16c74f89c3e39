//! Finds the emulator that serves a directory given by the user.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use emulator::control::{Control, Description, Request};

/// `directory` as in the kernel's mount table, however it is spelled; its last component need not exist yet, and its
/// emulator may be gone.
pub(super) fn absolute(directory: &Path) -> Result<PathBuf> {
    if let Ok(path) = fs::canonicalize(directory) {
        return Ok(path);
    }
    let whole = std::path::absolute(directory).context("the current directory")?;
    // An existing directory's name is no longer a link's, and one to be created is not a link yet.
    let (Some(parent), Some(name)) = (whole.parent(), whole.file_name()) else {
        return Ok(whole);
    };
    match fs::canonicalize(parent) {
        Ok(parent) => Ok(parent.join(name)),
        Err(_) => Ok(whole),
    }
}

/// The emulator that serves `directory`.
///
/// # Errors
/// When there is none, or more than one.
pub(super) fn emulator(directory: &Path) -> Result<(Control, Description)> {
    let path = absolute(directory)?;
    let found = Control::find(&path).context("looking for emulators")?;
    let described = found.into_iter().map(|control| {
        let description = control.ask(Request::Describe)?;
        Ok((control, description))
    });
    let mut described: Vec<(Control, Description)> = described.collect::<io::Result<_>>()?;
    match described.len() {
        0 => bail!(
            "nothing that this user emulates is mounted at {}; `dbstow mount` gives its directory",
            directory.display()
        ),
        1 => Ok(described.remove(0)),
        _ => {
            let volumes = described.iter().flat_map(|(_, emulated)| &emulated.volumes);
            let directories: Vec<String> = volumes
                .map(|(_, path)| path.display().to_string())
                .collect();
            bail!(
                "several emulators serve {}; give one of their directories: {}",
                directory.display(),
                directories.join(", ")
            )
        }
    }
}
