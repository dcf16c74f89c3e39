//! Redacts a capture for sharing: folders that no installation creates by default are replaced by placeholders. Numbers,
//! versions, settings, and which directory is on which volume are unchanged.

use std::collections::BTreeMap;

use super::Capture;
use super::kept::PATHS;

/// Path components that reveal nothing: those of systems and packages, and common names for volumes by use.
const COMMON: [&str; 44] = [
    ".",
    "..",
    "backup",
    "bin",
    "bin-log",
    "binlog",
    "binlogs",
    "data",
    "database",
    "db",
    "dev",
    "disk",
    "disk1",
    "disk2",
    "doublewrite",
    "fast",
    "home",
    "ibdata1",
    "ibtmp1",
    "innodb",
    "lib",
    "local",
    "log",
    "logs",
    "mariadb",
    "media",
    "mnt",
    "mysql",
    "mysql-bin",
    "nvme",
    "opt",
    "redo",
    "redolog",
    "root",
    "run",
    "shm",
    "srv",
    "ssd",
    "temp",
    "tmp",
    "undo",
    "usr",
    "var",
    "volume",
];

/// Attributes of InnoDB's files.
const ATTRIBUTES: [&str; 3] = ["autoextend", "max", "raw"];

/// Placeholders, in the order in which names were encountered.
#[derive(Default)]
struct Names(BTreeMap<String, String>);

impl Capture {
    /// The server without names of its folders. The same name has the same placeholder everywhere. The rest can still identify a
    /// server: sizes, counts, times, versions.
    pub fn redacted(&self) -> Capture {
        let mut capture = self.clone();
        if self.redacted {
            return capture;
        }
        let mut names = Names::default();
        capture.redacted = true;
        for name in PATHS {
            if let Some(value) = capture.variables.get_mut(name) {
                *value = names.list(value);
            }
        }
        for directory in &mut capture.directories {
            directory.path = names.path(&directory.path);
            directory.volume = names.path(&directory.volume);
        }
        for volume in &mut capture.volumes {
            volume.mount_point = names.path(&volume.mount_point);
        }
        capture.unseen = match capture.unseen.is_empty() {
            true => String::new(),
            // It may contain a path or a host.
            false => "not all directories were seen".to_owned(),
        };
        capture
    }
}

impl Names {
    /// A list of paths or InnoDB files.
    fn list(&mut self, value: &str) -> String {
        let lists = value.split(';').map(|files| {
            let parts = files.split(':').map(|part| match plain(part) {
                true => part.to_owned(),
                false => self.path(part),
            });
            parts.collect::<Vec<_>>().join(":")
        });
        lists.collect::<Vec<_>>().join(";")
    }

    fn path(&mut self, path: &str) -> String {
        let parts = path.split('/').map(|part| self.part(part));
        parts.collect::<Vec<_>>().join("/")
    }

    fn part(&mut self, part: &str) -> String {
        if part.is_empty() || COMMON.contains(&part.to_ascii_lowercase().as_str()) {
            return part.to_owned();
        }
        let number = self.0.len() + 1;
        let stand_in = self.0.entry(part.to_owned());
        let stand_in = stand_in.or_insert_with(|| format!("folder-{number}"));
        stand_in.clone()
    }
}

/// Whether a part is a size or an attribute of an InnoDB file.
fn plain(part: &str) -> bool {
    let number = part.trim_end_matches(['K', 'M', 'G', 'T', 'k', 'm', 'g', 't']);
    let size = !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit());
    size || ATTRIBUTES.contains(&part)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::capture::{Directory, MountedVolume, Places};

    #[test]
    fn folders_become_stand_ins_and_stay_the_same_ones() {
        let mut capture = Capture::default();
        for (name, value) in [
            ("datadir", "/srv/acme/mysql/"),
            ("log_bin", "ON"),
            ("log_bin_basename", "/mnt/acme-logs/binlog/db-acme"),
            ("tmpdir", "/tmp:/srv/acme/tmp"),
            (
                "innodb_temp_data_file_path",
                "acmetmp:12M:autoextend:max:5G",
            ),
            ("sync_binlog", "1"),
        ] {
            capture.variables.insert(name.into(), value.into());
        }
        capture.directories = vec![Directory {
            path: "/srv/acme/mysql".into(),
            volume: "/srv/acme".into(),
        }];
        capture.volumes = vec![MountedVolume {
            mount_point: "/srv/acme".into(),
            ..MountedVolume::default()
        }];
        let redacted = capture.redacted();
        let text = serde_json::to_string(&redacted).expect("its keys are texts");
        assert!(!text.contains("acme"), "{text}");
        let places = Places::of(&redacted);
        let data = places.data.as_deref().expect("it has one");
        assert!(redacted.volume(data).is_some(), "{text}");
        assert_eq!(places.temp[0], "/tmp");
        let temp = redacted.variable("innodb_temp_data_file_path");
        let (_, size) = temp.and_then(|file| file.split_once(':')).expect("a size");
        assert_eq!(size, "12M:autoextend:max:5G");
        assert_eq!(redacted.redacted(), redacted);
    }
}
