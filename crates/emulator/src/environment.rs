//! The basis of an emulation, for the record of a trial.

use std::collections::BTreeSet;
use std::path::Path;

use reading::fact;

use super::setup::{EmulationSpec, Filesystem, Front, MountSpec, READ_AHEAD};
use host::mounts;

/// Kernel, transport, and the underlying storage of each volume, by name.
pub(super) fn of(spec: &EmulationSpec, transport: &str) -> Vec<(String, String)> {
    let release = rustix::system::uname()
        .release()
        .to_string_lossy()
        .into_owned();
    let volumes = spec
        .volumes
        .iter()
        .map(|mount| (format!("volume.{}", mount.volume.name), describe(mount)));
    let fronts = spec.volumes.iter().map(|mount| match mount.front {
        Front::File => "file",
        Front::Block { .. } => "block",
    });
    let fronts: BTreeSet<&str> = fronts.collect();
    [
        (fact::FRONT, Vec::from_iter(fronts).join(", ")),
        ("kernel", release),
        ("fuse.transport", transport.to_owned()),
    ]
    .map(|(name, value)| (name.to_owned(), value))
    .into_iter()
    .chain(volumes)
    .collect()
}

fn describe(mount: &MountSpec) -> String {
    let under = under(&mount.backing);
    match mount.front {
        Front::File => format!("file mode, no page cache; {} on {under}", mount.size),
        Front::Block {
            filesystem,
            read_ahead,
        } => {
            let name = match filesystem {
                Filesystem::Ext4 => "ext4",
                Filesystem::Xfs => "xfs",
            };
            let read_ahead = read_ahead.unwrap_or(READ_AHEAD);
            format!(
                "block mode, {name}, read-ahead {read_ahead}; an image of {} on {under}",
                mount.size
            )
        }
    }
}

/// The real file system that holds `directory`, or will.
fn under(directory: &Path) -> String {
    let mounted = directory
        .ancestors()
        .find_map(|path| mounts::at(path).ok().flatten());
    match mounted {
        Some(mounted) => format!("{} ({})", mounted.kind, mounted.source),
        None => "a file system that the kernel's list does not name".to_owned(),
    }
}
