//! Where a disk of Windows is mounted.

use layout::{Folder, LayoutError};

/// Mount point of a volume's disk: its drive, or the volume's folder where that drive is the system's.
///
/// # Errors
/// For a share, which is on another machine.
pub(super) fn mount_point(volume: &str, folder: &Folder) -> Result<String, LayoutError> {
    let drive = drive(folder);
    match drive.as_str() {
        "\\" => Err(LayoutError::Folder {
            volume: volume.to_owned(),
            folder: folder.text().to_owned(),
            why: "a disk inside the machine is not a share; give a folder on a drive of its own, such as D:\\tempdb"
                .to_owned(),
        }),
        "C:\\" | "c:\\" if folder.is_root() => Err(LayoutError::Folder {
            volume: volume.to_owned(),
            folder: folder.text().to_owned(),
            why: "this is the system's drive; give a drive of its own, such as D:\\tempdb, or a folder to mount the disk at"
                .to_owned(),
        }),
        "C:\\" | "c:\\" => Ok(format!("{folder}\\")),
        _ => Ok(drive),
    }
}

pub(super) fn drive(folder: &Folder) -> String {
    let before = folder.text().split('\\').next().unwrap_or_default();
    format!("{before}\\")
}
