//! The file in which a local server publishes its process id.

use std::path::Path;

use files::{Folder, input};

/// Most bytes of it: a few lines.
const BYTES_MAX: u64 = 4096;

/// Its lines, the first of which is the process id. `None` if it cannot be read safely.
pub fn lines(path: &Path) -> Option<Vec<String>> {
    let text = text(path)?;
    Some(text.lines().map(|line| line.trim().to_owned()).collect())
}

/// The process id. `None` if it cannot be read.
pub(super) fn process(path: &Path) -> Option<i32> {
    lines(path)?.first()?.parse().ok()
}

/// Its text. `None` if it does not exist, or is not a regular file: the path comes from a server, or an impostor, and
/// the server's user may have put a link or a FIFO there, which would be read with this program's privileges or block it.
fn text(path: &Path) -> Option<String> {
    let folder = Folder::open(path.parent()?).ok()?;
    input::inside(&folder, path.file_name()?.to_str()?, BYTES_MAX).ok()
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn a_link_a_fifo_and_a_file_without_end_are_not_read() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        fs::write(path("pid"), "7\n").unwrap();
        fs::write(path("long"), vec![b'7'; 5000]).unwrap();
        symlink("pid", path("link")).unwrap();
        symlink("/dev/zero", path("endless")).unwrap();
        nix::unistd::mkfifo(&path("fifo"), nix::sys::stat::Mode::S_IRWXU).unwrap();
        assert_eq!(text(&path("pid")).as_deref(), Some("7\n"));
        for other in ["long", "link", "endless", "fifo", "missing"] {
            assert_eq!(text(&path(other)), None, "{other}");
        }
    }
}
