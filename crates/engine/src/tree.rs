//! Checks the content of a volume whose file system is of unknown origin.

use std::fs;
use std::os::unix::fs::FileTypeExt as _;
use std::path::Path;

/// Maximum directory depth; a drilled server needs six.
const DEPTH_MAX: usize = 32;

/// Refuses what no drilled server has on its volumes, and what would lead it or this program elsewhere: links, except
/// those accepted by `is_known`, devices, FIFOs and sockets. The volume must not change meanwhile.
///
/// # Errors
/// What was found, or that a directory cannot be read.
pub fn check(root: &Path, is_known: &dyn Fn(&Path) -> bool) -> Result<(), String> {
    let mut left = vec![(root.to_owned(), 0)];
    while let Some((directory, depth)) = left.pop() {
        let unread = |error| format!("{} cannot be read: {error}", directory.display());
        if depth > DEPTH_MAX {
            return Err(format!(
                "{} has more than {DEPTH_MAX} directories above it on its volume",
                directory.display()
            ));
        }
        for entry in fs::read_dir(&directory).map_err(unread)? {
            let entry = entry.map_err(unread)?;
            let (path, kind) = (entry.path(), entry.file_type().map_err(unread)?);
            let what = if kind.is_dir() {
                left.push((path, depth + 1));
                continue;
            } else if kind.is_file() || kind.is_symlink() && is_known(&path) {
                continue;
            } else if kind.is_symlink() {
                "a symbolic link"
            } else if kind.is_fifo() {
                "a FIFO"
            } else if kind.is_socket() {
                "a socket"
            } else {
                "a device"
            };
            return Err(format!(
                "{} is {what}, which no drilled server has there",
                path.display()
            ));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn only_files_directories_and_known_links_are_on_a_volume() {
        let place = tempfile::tempdir().unwrap();
        let known = place.path().join("cluster/pg_wal");
        fs::create_dir_all(place.path().join("cluster/base/1")).unwrap();
        fs::write(place.path().join("cluster/base/1/1259"), "").unwrap();
        symlink("/elsewhere", &known).unwrap();
        let look = || check(place.path(), &|path| path == known);
        assert_eq!(look(), Ok(()));

        let other = place.path().join("cluster/base/1/2601");
        symlink("/etc/passwd", &other).unwrap();
        assert!(look().unwrap_err().contains("2601 is a symbolic link"));
        fs::remove_file(&other).unwrap();
        let made = std::process::Command::new("mkfifo").arg(&other).status();
        assert!(made.unwrap().success());
        assert!(look().unwrap_err().contains("is a FIFO"));
        fs::remove_file(&other).unwrap();
        let deep = (0..40).fold(place.path().to_owned(), |path, _| path.join("d"));
        fs::create_dir_all(deep).unwrap();
        assert!(look().unwrap_err().contains("more than 32 directories"));
    }
}
