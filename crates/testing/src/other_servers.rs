//! The servers that `scripts/other-servers` fetches.

use std::path::{Path, PathBuf};
use std::process::Command;

/// Version and folder of each of `product`; `None`, with a message, where they are not available.
pub(crate) fn other_servers(product: &str) -> Option<Vec<(String, PathBuf)>> {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scripts/other-servers");
    let output = Command::new(script).arg(product).output();
    let output = output.expect("bash starts");
    if !output.status.success() {
        let why = String::from_utf8_lossy(&output.stderr);
        crate::skip(why);
        return None;
    }
    let text = String::from_utf8(output.stdout).expect("text");
    let servers = text.lines().map(|line| {
        let (version, folder) = line.split_once(' ').expect("two words");
        (version.to_owned(), PathBuf::from(folder))
    });
    Some(servers.collect())
}

/// Copies such a folder to `place`, where another user can access it, as not every user can enter the folders above `target`.
pub(crate) fn copy(folder: &Path, place: &Path) {
    let copied = Command::new("cp")
        .args(["--recursive", "--preserve=mode,links"])
        .arg(folder)
        .arg(place)
        .status();
    assert!(copied.expect("cp starts").success());
}
