//! A server as a value: its settings, counters and volumes at one moment. `dbstow doctor` writes it to a file, and rules check
//! it, on any machine, at any later time.

mod kept;
#[cfg(all(unix, feature = "driver"))]
mod of_server;
mod places;
mod product;
mod redact;
mod report;
#[cfg(feature = "driver")]
mod take;

#[cfg(all(unix, feature = "driver"))]
pub use of_server::of_server;
#[cfg(all(unix, feature = "driver"))]
pub(crate) use of_server::{is_here, process_of};
pub use places::Places;
pub use product::Captures;
#[cfg(feature = "driver")]
pub use take::{AskError, Process, Rows, process, take};

use std::collections::BTreeMap;

use rules::capture::CaptureError;
use serde::{Deserialize, Serialize};

/// Version of the file format; readers reject a higher one.
pub const FORMAT: u32 = 1;

/// What a server reported about itself, and what is known about the volumes of its directories.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Capture {
    /// [`FORMAT`].
    pub format: u32,
    /// The dbstow version that wrote it.
    pub dbstow: String,
    /// The product.
    pub product: Product,
    /// Time of the capture by the server's clock, in UTC, ISO 8601.
    pub taken: String,
    /// Whether names of folders were replaced.
    pub redacted: bool,
    /// `version`, such as `10.11.19-MariaDB-0+deb12u1-log`.
    pub version: String,
    /// `version_comment`, such as `Debian 12`.
    pub edition: String,
    /// `version_compile_os`, such as `debian-linux-gnu`.
    pub platform: String,
    /// Global variables that rules check, by name, as reported by the server.
    pub variables: BTreeMap<String, String>,
    /// Global counters that rules check, by name.
    pub status: BTreeMap<String, u64>,
    /// The server's directories, if it runs on the capturing machine.
    #[serde(default)]
    pub directories: Vec<Directory>,
    /// The volumes of these directories.
    #[serde(default)]
    pub volumes: Vec<MountedVolume>,
    /// Properties that neither the server nor its machine exposes, supplied by the user; not part of the file.
    #[serde(skip)]
    pub supplied: Vec<VolumeFacts>,
    /// Why [`Capture::directories`] are missing or incomplete; empty if complete.
    #[serde(default)]
    pub unseen: String,
    /// The URL that was queried, without a password, where that was just now; not part of the file.
    #[serde(skip)]
    pub url: Option<String>,
}

/// The product.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Product {
    /// MariaDB.
    #[default]
    MariaDb,
    /// MySQL, or a derivative that reports itself as MySQL.
    MySql,
}

impl Product {
    /// The product with these values of `version` and `version_comment`: MariaDB is named in its version, or only in a package's
    /// comment.
    pub fn of(version: &str, comment: &str) -> Product {
        let mut texts = [version, comment].into_iter();
        match texts.any(|text| text.to_ascii_lowercase().contains("mariadb")) {
            true => Product::MariaDb,
            false => Product::MySql,
        }
    }

    /// Its name in files.
    pub fn id(self) -> &'static str {
        match self {
            Product::MariaDb => "mariadb",
            Product::MySql => "mysql",
        }
    }

    /// Its name in texts.
    pub fn name(self) -> &'static str {
        match self {
            Product::MariaDb => "MariaDB",
            Product::MySql => "MySQL",
        }
    }
}

/// A directory with files of the server.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Directory {
    /// Its path, as in [`Places`].
    pub path: String,
    /// Mount point of its volume.
    pub volume: String,
}

/// A volume with a directory of the server.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct MountedVolume {
    /// Where it is mounted.
    pub mount_point: String,
    /// `ext4`, `xfs`, `tmpfs`, `nfs4`.
    pub file_system: String,
    /// The whole disks under it, by kernel name; empty if unknown.
    #[serde(default)]
    pub disks: Vec<String>,
    /// Whether all of them report being non-rotational; `None` if no disk is known.
    #[serde(default)]
    pub solid_state: Option<bool>,
    /// The largest write that all of them guarantee to be atomic on power loss; 0: not guaranteed; `None`: not reported by the
    /// kernel.
    #[serde(default)]
    pub atomic_write_bytes: Option<u64>,
    /// Its size.
    pub total_bytes: u64,
    /// Free space.
    pub available_bytes: u64,
}

/// User-supplied properties of a volume; they override captured ones.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct VolumeFacts {
    /// Where it is mounted.
    pub mount_point: String,
    /// Whether it loses its contents when the machine is moved or stopped.
    pub ephemeral: Option<bool>,
    /// The host's cache: `none`, `read-only` or `read-write`.
    pub host_cache: Option<String>,
    /// Requests per second that it can serve.
    pub iops: Option<u64>,
    /// Whether it is solid-state.
    pub solid_state: Option<bool>,
    /// As [`MountedVolume::atomic_write_bytes`].
    pub atomic_write_bytes: Option<u64>,
}

impl Capture {
    /// Reads the text of `file`.
    ///
    /// # Errors
    /// When it is not JSON, not a capture, of a later format, or a member is missing or invalid.
    pub fn from_json(file: &str, text: &str) -> Result<Capture, CaptureError> {
        rules::capture::from_json(file, text, FORMAT)
    }

    /// Major and minor version, such as `(10, 11)`; zeros if it cannot be parsed.
    pub fn release(&self) -> (u32, u32) {
        let mut parts = self.version.split(['.', '-']).map(|part| part.parse().ok());
        let mut next = || parts.next().flatten().unwrap_or(0);
        (next(), next())
    }

    /// A variable's value.
    pub fn variable(&self, name: &str) -> Option<&str> {
        self.variables.get(name).map(String::as_str)
    }

    /// A variable that is a number.
    pub fn number(&self, name: &str) -> Option<u64> {
        self.variable(name)?.parse().ok()
    }

    /// A variable that is on or off.
    pub fn switch(&self, name: &str) -> Option<bool> {
        match self.variable(name)? {
            "ON" | "1" => Some(true),
            "OFF" | "0" => Some(false),
            _ => None,
        }
    }

    /// A counter.
    pub fn counter(&self, name: &str) -> Option<u64> {
        self.status.get(name).copied()
    }

    /// The volume of a directory.
    pub fn volume(&self, path: &str) -> Option<&MountedVolume> {
        let mut directories = self.directories.iter();
        let mount = &directories.find(|known| known.path == path)?.volume;
        let mut volumes = self.volumes.iter();
        volumes.find(|volume| volume.mount_point == *mount)
    }

    /// User-supplied properties of a directory's volume: that of the innermost mount point above it.
    pub fn supplied(&self, path: &str) -> Option<&VolumeFacts> {
        let holds = |facts: &&VolumeFacts| {
            let mount = facts.mount_point.trim_end_matches('/');
            let rest = path.strip_prefix(mount);
            rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        };
        let facts = self.supplied.iter().filter(holds);
        facts.max_by_key(|facts| facts.mount_point.len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_is_mariadb_where_it_says_so() {
        for (version, comment, expected) in [
            (
                "10.11.19-MariaDB-0+deb12u1-log",
                "Debian 12",
                Product::MariaDb,
            ),
            (
                "11.4.2",
                "mariadb.org binary distribution",
                Product::MariaDb,
            ),
            ("8.4.2", "MySQL Community Server - GPL", Product::MySql),
            ("8.0.36-28", "Percona Server (GPL)", Product::MySql),
        ] {
            assert_eq!(Product::of(version, comment), expected, "{version}");
        }
    }

    #[test]
    fn a_capture_comes_back_as_it_was_written() {
        let capture = Capture {
            format: FORMAT,
            dbstow: "0.1.0".into(),
            product: Product::MySql,
            ..Capture::default()
        };
        let text = serde_json::to_string_pretty(&capture).expect("its keys are texts");
        assert_eq!(rules::capture::product(&text).as_deref(), Some("mysql"));
        let read = Capture::from_json("c.json", &text);
        assert_eq!(read.expect("it is one"), capture);
    }

    #[test]
    fn the_release_is_the_first_two_numbers() {
        let release = |version: &str| {
            let version = version.to_owned();
            let capture = Capture {
                version,
                ..Capture::default()
            };
            capture.release()
        };
        assert_eq!(release("10.11.19-MariaDB-0+deb12u1-log"), (10, 11));
        assert_eq!(release("8.4.2"), (8, 4));
        assert_eq!(release("?"), (0, 0));
    }

    #[test]
    fn supplied_facts_are_of_the_innermost_volume() {
        let volume = |mount: &str| VolumeFacts {
            mount_point: mount.to_owned(),
            ..VolumeFacts::default()
        };
        let capture = Capture {
            supplied: vec![volume("/"), volume("/srv/"), volume("/srv/data")],
            ..Capture::default()
        };
        let mount_of = |path: &str| {
            capture
                .supplied(path)
                .map(|facts| facts.mount_point.as_str())
        };
        assert_eq!(mount_of("/srv/data/mysql"), Some("/srv/data"));
        assert_eq!(mount_of("/srv/database"), Some("/srv/"));
        assert_eq!(mount_of("/tmp"), Some("/"));
    }
}
