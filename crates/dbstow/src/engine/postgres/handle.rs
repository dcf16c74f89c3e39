//! Directories and files by handle: what a less privileged user may have put in their place is not followed.

use std::ffi::OsStr;
use std::fs::{File, Permissions};
use std::io::{self, Write};
use std::os::unix::fs::{MetadataExt, PermissionsExt, fchown};
use std::path::Path;

use nix::fcntl::{OFlag, openat};
use nix::sys::stat::{Mode, mkdirat};
use nix::unistd::geteuid;

use super::directories::Owner;

const DIRECTORY: OFlag = OFlag::O_DIRECTORY
    .union(OFlag::O_NOFOLLOW)
    .union(OFlag::O_CLOEXEC);

/// Opens a directory; a link is none.
pub(super) fn open(path: &Path) -> io::Result<File> {
    let opened = nix::fcntl::open(path, DIRECTORY, Mode::empty())?;
    Ok(File::from(opened))
}

/// Makes directory `name` in `parent`, for `owner` alone.
pub(super) fn make_directory(parent: &File, name: &OsStr, owner: Option<Owner>) -> io::Result<()> {
    mkdirat(parent, name, Mode::S_IRWXU)?;
    let Some((user, group)) = owner else {
        return Ok(());
    };
    let made = File::from(openat(parent, name, DIRECTORY, Mode::empty())?);
    // Whoever owns the parent may have put another there; only the directory that was just made is given away.
    if made.metadata()?.uid() != geteuid().as_raw() {
        return Err(io::Error::other("somebody else replaced it meanwhile"));
    }
    fchown(&made, Some(user), Some(group))
}

/// Writes a new file `name` in `parent`, which everybody may read.
pub(super) fn write(parent: &File, name: &str, text: &str) -> io::Result<()> {
    let new = OFlag::O_CREAT | OFlag::O_EXCL | OFlag::O_WRONLY;
    let flags = new | OFlag::O_NOFOLLOW | OFlag::O_CLOEXEC;
    let mut file = File::from(openat(parent, name, flags, Mode::S_IRUSR | Mode::S_IWUSR)?);
    file.write_all(text.as_bytes())?;
    // Whatever this process takes from the modes of new files.
    file.set_permissions(Permissions::from_mode(0o644))
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn a_link_in_the_place_of_a_directory_or_file_is_not_followed() {
        let place = tempfile::tempdir().unwrap();
        let (precious, link) = (place.path().join("precious"), place.path().join("link"));
        fs::create_dir(&precious).unwrap();
        symlink(&precious, &link).unwrap();
        symlink(precious.join("file"), place.path().join("file")).unwrap();
        let parent = open(place.path()).unwrap();

        assert!(open(&link).is_err());
        assert!(make_directory(&parent, OsStr::new("link"), Some((65_534, 65_534))).is_err());
        assert!(write(&parent, "file", "text").is_err());

        assert_eq!(fs::read_dir(&precious).unwrap().count(), 0);
        let kept = fs::metadata(&precious).unwrap().uid();
        assert_eq!(kept, geteuid().as_raw());
    }
}
