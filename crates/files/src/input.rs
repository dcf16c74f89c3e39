//! Reads files named by the user or by another file: completely, and never endlessly.
//!
//! | file | may be |
//! |---|---|
//! | named on the command line | anything that ends: a pipe is the user's own choice |
//! | found in a results folder | a regular file |
//! | found in the folder of a drill | a regular file, and no link to one |
//! | of a workload | a regular file beneath the workload's folder, unless the user allows more |

use std::fs::File;
use std::io::{self, Read};
use std::path::{Component, Path};

use super::{FileError, Folder};

/// Most bytes of a file that is read at once: experiment, catalogue, workload, script, capture.
pub const BYTES_MAX: u64 = 64 << 20;

/// Most bytes of a record, whose series grow with disks and seconds.
pub const RECORD_BYTES_MAX: u64 = 512 << 20;

/// Where the files of a workload may be.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Reach {
    /// In its folder, or below.
    #[default]
    Beneath,
    /// Anywhere, as its author specifies.
    Anywhere,
}

/// The text of a file named by the user. A pipe is read to its end.
///
/// # Errors
/// When it cannot be read, is a directory, is larger than [`BYTES_MAX`], or is not UTF-8.
pub fn named(path: &Path) -> io::Result<String> {
    let file = File::open(path)?;
    let metadata = file.metadata()?;
    if metadata.is_dir() {
        return Err(refused("it is a directory, not a file"));
    }
    text(file, BYTES_MAX)
}

/// The bytes of a file named by the user, for text in another tool's encoding. A pipe is read to its end.
///
/// # Errors
/// When it cannot be read, is a directory, or is larger than [`RECORD_BYTES_MAX`].
pub fn named_bytes(path: &Path) -> io::Result<Vec<u8>> {
    let file = File::open(path)?;
    if file.metadata()?.is_dir() {
        return Err(refused("it is a directory, not a file"));
    }
    bytes(file, RECORD_BYTES_MAX)
}

/// The text of a file that holds a private key or a password: accessible to its owner only, or owned by root and
/// readable by its group, as in libpq. On systems without such permissions, they are not checked.
///
/// # Errors
/// When it cannot be read, is not a regular file, is accessible to others, is larger than [`BYTES_MAX`], or is not UTF-8.
pub fn secret(path: &Path) -> io::Result<String> {
    let file = regular_only(open(path)?)?;
    #[cfg(unix)]
    check_closed(&file.metadata()?)?;
    text(file, BYTES_MAX)
}

/// Source: <https://www.postgresql.org/docs/18/libpq-ssl.html>, "Client Certificates", read 2026-11-25.
#[cfg(unix)]
fn check_closed(metadata: &std::fs::Metadata) -> io::Result<()> {
    use std::os::unix::fs::MetadataExt;
    let mode = metadata.mode() & 0o777;
    let others = if metadata.uid() == 0 { 0o037 } else { 0o077 };
    match mode & others {
        0 => Ok(()),
        _ => Err(refused(&format!(
            "others have access to it (its mode is {mode:04o}); restrict that with chmod 0600"
        ))),
    }
}

/// The text of a regular file of at most `bytes_max`.
///
/// # Errors
/// When it cannot be read, is not a regular file, is larger, or is not UTF-8.
pub fn regular(path: &Path, bytes_max: u64) -> io::Result<String> {
    text(regular_only(open(path)?)?, bytes_max)
}

/// The text of the regular file `name` in `folder`, of at most `bytes_max`; links are not followed.
///
/// # Errors
/// When it cannot be read, is not a regular file, is larger, or is not UTF-8; with its path.
pub fn inside(folder: &Folder, name: &str, bytes_max: u64) -> Result<String, FileError> {
    let file = folder.regular_file(name.as_ref())?;
    text(file, bytes_max).map_err(FileError::at(&folder.path().join(name)))
}

/// The text of the regular file `name`, relative to `folder`.
///
/// # Errors
/// When it cannot be read, is not a regular file, is larger than [`BYTES_MAX`], is not UTF-8, or lies outside
/// of the folder, by its name or by a link, without permission.
pub fn beneath(folder: &Path, name: &str, reach: Reach) -> io::Result<String> {
    let file = match reach {
        Reach::Anywhere => open(&folder.join(name))?,
        Reach::Beneath => open_beneath(folder, Path::new(name))?,
    };
    text(regular_only(file)?, BYTES_MAX)
}

fn text(file: File, bytes_max: u64) -> io::Result<String> {
    let bytes = bytes(file, bytes_max)?;
    String::from_utf8(bytes).map_err(|_| refused("it is not text in UTF-8"))
}

fn bytes(file: File, bytes_max: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    file.take(bytes_max + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > bytes_max {
        return Err(refused(&format!(
            "it is larger than the limit of {}",
            model::Bytes(bytes_max)
        )));
    }
    Ok(bytes)
}

fn regular_only(file: File) -> io::Result<File> {
    match file.metadata()?.is_file() {
        true => Ok(file),
        false => Err(refused(
            "it is not a regular file (it is a directory, pipe, socket or device)",
        )),
    }
}

fn refused(why: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidInput, why)
}

fn outside() -> io::Error {
    refused("it is outside the workload's folder; --allow-outside permits this")
}

/// Opens without blocking on the writer of a pipe.
fn open(path: &Path) -> io::Result<File> {
    let mut options = File::options();
    options.read(true);
    #[cfg(unix)]
    {
        use std::os::unix::fs::OpenOptionsExt;
        options.custom_flags(rustix::fs::OFlags::NONBLOCK.bits().cast_signed());
    }
    options.open(path)
}

/// Opens a file in `folder` or below it, regardless of links on the way.
fn open_beneath(folder: &Path, name: &Path) -> io::Result<File> {
    let plain = |part: Component| matches!(part, Component::Normal(_) | Component::CurDir);
    if !name.components().all(plain) {
        return Err(outside());
    }
    #[cfg(target_os = "linux")]
    match linux::open_beneath(folder, name) {
        // An old kernel, or a sandbox that blocks the call.
        Err(error) if linux::is_unknown(&error) => {}
        result => return result,
    }
    // Two steps, so a user who can change the folder in between could still lead out of it.
    let path = folder.join(name).canonicalize()?;
    match path.starts_with(folder.canonicalize()?) {
        true => open(&path),
        false => Err(outside()),
    }
}

#[cfg(target_os = "linux")]
mod linux {
    //! A single call: the kernel refuses to leave the folder.

    use std::fs::File;
    use std::io;
    use std::os::unix::fs::OpenOptionsExt;
    use std::path::Path;

    use rustix::fs::{Mode, OFlags, ResolveFlags, openat2};
    use rustix::io::Errno;

    pub(super) fn open_beneath(folder: &Path, name: &Path) -> io::Result<File> {
        let directory = OFlags::PATH | OFlags::DIRECTORY;
        let mut options = File::options();
        options
            .read(true)
            .custom_flags(directory.bits().cast_signed());
        let folder = options.open(folder)?;
        let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::CLOEXEC | OFlags::NOCTTY;
        let resolve = ResolveFlags::BENEATH | ResolveFlags::NO_MAGICLINKS;
        match openat2(&folder, name, flags, Mode::empty(), resolve) {
            Ok(file) => Ok(File::from(file)),
            Err(Errno::XDEV) => Err(super::outside()),
            Err(error) => Err(error.into()),
        }
    }

    pub(super) fn is_unknown(error: &io::Error) -> bool {
        let unknown = [Errno::NOSYS, Errno::PERM];
        unknown
            .iter()
            .any(|errno| error.raw_os_error() == Some(errno.raw_os_error()))
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[cfg(unix)]
    #[test]
    fn a_key_that_others_could_read_is_refused() {
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir().expect("a folder");
        let key = folder.path().join("key");
        fs::write(&key, "secret").expect("the folder is ours");
        let of_root = rustix::process::geteuid().is_root();
        for (mode, taken) in [
            (0o600, true),
            (0o400, true),
            (0o640, of_root),
            (0o660, false),
            (0o604, false),
        ] {
            fs::set_permissions(&key, fs::Permissions::from_mode(mode)).expect("it is ours");
            match secret(&key) {
                Ok(text) => assert!(taken && text == "secret", "{mode:o}"),
                Err(error) => assert!(
                    !taken && error.to_string().contains("chmod 0600"),
                    "{error}"
                ),
            }
        }
        assert!(secret(folder.path()).is_err());
    }

    #[test]
    fn a_file_beneath_the_folder_is_read_and_one_outside_is_not() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let inner = folder.path().join("inner");
        fs::create_dir_all(inner.join("sub")).expect("it can be made");
        fs::write(folder.path().join("secret"), "secret").expect("it can be written");
        fs::write(inner.join("sub/a.sql"), "select 1").expect("it can be written");

        let read = |name: &str, reach| beneath(&inner, name, reach);
        assert_eq!(
            read("sub/a.sql", Reach::Beneath).expect("inside"),
            "select 1"
        );
        assert_eq!(
            read("./sub/a.sql", Reach::Beneath).expect("inside"),
            "select 1"
        );
        let absolute = folder.path().join("secret").display().to_string();
        for name in ["../secret", "sub/../../secret", &absolute] {
            let error = read(name, Reach::Beneath).expect_err("outside").to_string();
            assert!(error.contains("--allow-outside"), "{name}: {error}");
            assert_eq!(read(name, Reach::Anywhere).expect("allowed"), "secret");
        }
        let missing = read("none.sql", Reach::Beneath).expect_err("it is not there");
        assert_eq!(missing.kind(), io::ErrorKind::NotFound);
    }

    #[cfg(unix)]
    #[test]
    fn a_link_is_followed_inside_of_the_folder_only() {
        use std::os::unix::fs::symlink;
        let folder = tempfile::tempdir().expect("a temporary folder");
        let inner = folder.path().join("inner");
        fs::create_dir(&inner).expect("it can be made");
        fs::write(folder.path().join("secret"), "secret").expect("it can be written");
        fs::write(inner.join("a.sql"), "select 1").expect("it can be written");
        symlink("a.sql", inner.join("b.sql")).expect("it can be made");
        symlink("../secret", inner.join("c.sql")).expect("it can be made");
        symlink("..", inner.join("up")).expect("it can be made");
        symlink(folder.path().join("secret"), inner.join("d.sql")).expect("it can be made");

        let read = |name: &str| beneath(&inner, name, Reach::Beneath);
        assert_eq!(read("b.sql").expect("inside"), "select 1");
        for name in ["c.sql", "up/secret", "d.sql"] {
            let error = read(name).expect_err("outside").to_string();
            assert!(error.contains("--allow-outside"), "{name}: {error}");
        }
    }

    #[cfg(unix)]
    #[test]
    fn a_pipe_device_socket_or_directory_of_somebody_else_is_refused_at_once() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let path = |name: &str| folder.path().join(name);
        let made = std::process::Command::new("mkfifo")
            .arg(path("pipe.sql"))
            .status();
        assert!(made.expect("mkfifo runs").success());
        let _socket = std::os::unix::net::UnixListener::bind(path("socket.sql")).expect("it binds");
        fs::create_dir(path("directory.sql")).expect("it can be made");

        for name in ["pipe.sql", "directory.sql"] {
            for reach in [Reach::Beneath, Reach::Anywhere] {
                let error = beneath(folder.path(), name, reach).expect_err("no file");
                assert!(error.to_string().contains("not a regular file"), "{error}");
            }
        }
        // A socket cannot be opened in the first place.
        beneath(folder.path(), "socket.sql", Reach::Beneath).expect_err("no file");
        let error = regular(Path::new("/dev/zero"), 10).expect_err("no file");
        assert!(error.to_string().contains("not a regular file"), "{error}");
    }

    #[cfg(unix)]
    #[test]
    fn what_the_user_names_may_be_endless_and_ends_at_the_bound() {
        let error = named(Path::new("/dev/zero")).expect_err("it has no end");
        assert!(
            error
                .to_string()
                .contains("larger than the limit of 64 MiB"),
            "{error}"
        );
        let error = named(Path::new("/")).expect_err("no file");
        assert!(error.to_string().contains("directory"), "{error}");
    }

    #[test]
    fn a_file_may_be_as_large_as_the_bound() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let file = folder.path().join("file");
        fs::write(&file, "12345").expect("it can be written");
        assert_eq!(regular(&file, 5).expect("it fits"), "12345");
        regular(&file, 4).expect_err("it does not");
    }
}
