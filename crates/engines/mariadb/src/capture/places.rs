//! The locations of a server's files, from its variables.

use super::Capture;

/// Directories of a server, absolute and without a trailing slash, as for [`Capture::volume`].
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Places {
    /// Tables.
    pub data: Option<String>,
    /// The redo log.
    pub redo: Option<String>,
    /// The binary log; `None` if disabled.
    pub binlog: Option<String>,
    /// Undo tablespaces.
    pub undo: Option<String>,
    /// The doublewrite area: its own directory in MySQL, in MariaDB the system tablespace's.
    pub doublewrite: Option<String>,
    /// Temporary files: sorts and internal temporary tables. They are used in turn.
    pub temp: Vec<String>,
    /// The file of InnoDB's temporary tables.
    pub temp_tablespace: Option<String>,
}

impl Places {
    /// The locations named by the variables of `capture`.
    pub fn of(capture: &Capture) -> Places {
        let Some(data) = capture.variable("datadir").map(|path| clean(path, "/")) else {
            return Places::default();
        };
        let set = |name: &str| capture.variable(name).filter(|value| !value.is_empty());
        let below = |name: &str| set(name).map_or_else(|| data.clone(), |path| clean(path, &data));
        let home = below("innodb_data_home_dir");
        let binlog = match capture.switch("log_bin") {
            Some(true) => set("log_bin_basename").map(|base| folder(&clean(base, &data))),
            Some(false) | None => None,
        };
        let doublewrite = match set("innodb_doublewrite_dir") {
            Some(path) => clean(path, &home),
            None => first_file(set("innodb_data_file_path"), &home),
        };
        let temp = set("tmpdir").into_iter().flat_map(|list| list.split(':'));
        Places {
            redo: Some(below("innodb_log_group_home_dir")),
            binlog,
            undo: Some(below("innodb_undo_directory")),
            doublewrite: Some(doublewrite),
            temp: temp
                .filter(|path| !path.is_empty())
                .map(|path| clean(path, &data))
                .collect(),
            temp_tablespace: Some(first_file(set("innodb_temp_data_file_path"), &home)),
            data: Some(data),
        }
    }

    /// All of them, without duplicates.
    pub fn all(&self) -> Vec<&str> {
        let one = [
            &self.data,
            &self.redo,
            &self.binlog,
            &self.undo,
            &self.doublewrite,
            &self.temp_tablespace,
        ];
        let one = one.into_iter().flatten();
        let mut all: Vec<&str> = Vec::new();
        for path in one.chain(&self.temp) {
            if !all.contains(&path.as_str()) {
                all.push(path);
            }
        }
        all
    }
}

/// A path without `./` and the trailing slash; relative paths are below `home`.
fn clean(path: &str, home: &str) -> String {
    let path = match path.starts_with('/') {
        true => path.to_owned(),
        false => format!("{home}/{path}"),
    };
    let parts = path.split('/').filter(|part| !matches!(*part, "" | "."));
    let parts: Vec<&str> = parts.collect();
    format!("/{}", parts.join("/"))
}

/// The folder of a file.
fn folder(file: &str) -> String {
    match file.rsplit_once('/') {
        Some(("", _)) | None => "/".to_owned(),
        Some((folder, _)) => folder.to_owned(),
    }
}

/// The folder of the first file in an InnoDB list: `ibdata1:12M;ibdata2:12M:autoextend`.
fn first_file(list: Option<&str>, home: &str) -> String {
    let file = list.and_then(|list| list.split([':', ';']).next());
    file.map_or_else(|| home.to_owned(), |file| folder(&clean(file, home)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn places(variables: &[(&str, &str)]) -> Places {
        let variables = variables.iter();
        Places::of(&Capture {
            variables: variables
                .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
                .collect(),
            ..Capture::default()
        })
    }

    #[test]
    fn what_is_not_named_is_in_the_data_directory() {
        let places = places(&[
            ("datadir", "/var/lib/mysql/"),
            ("log_bin", "ON"),
            ("log_bin_basename", "/var/lib/mysql/binlog"),
            ("innodb_log_group_home_dir", "./"),
            ("innodb_data_home_dir", ""),
            ("innodb_temp_data_file_path", "ibtmp1:12M:autoextend"),
            ("tmpdir", "/tmp"),
        ]);
        assert_eq!(places.binlog.as_deref(), Some("/var/lib/mysql"));
        assert_eq!(places.all(), ["/var/lib/mysql", "/tmp"]);
    }

    #[test]
    fn each_place_may_be_elsewhere() {
        let places = places(&[
            ("datadir", "/data/"),
            ("log_bin", "ON"),
            ("log_bin_basename", "/binlog/db1/bin"),
            ("innodb_log_group_home_dir", "/redo/"),
            ("innodb_data_home_dir", "/system"),
            (
                "innodb_data_file_path",
                "ibdata1:12M;ibdata2:12M:autoextend",
            ),
            ("innodb_undo_directory", "/undo"),
            ("innodb_doublewrite_dir", "/doublewrite"),
            (
                "innodb_temp_data_file_path",
                "../fast/ibtmp1:12M:autoextend",
            ),
            ("tmpdir", "/t1:/t2/"),
        ]);
        assert_eq!(places.redo.as_deref(), Some("/redo"));
        assert_eq!(places.binlog.as_deref(), Some("/binlog/db1"));
        assert_eq!(places.undo.as_deref(), Some("/undo"));
        assert_eq!(places.doublewrite.as_deref(), Some("/doublewrite"));
        assert_eq!(places.temp, ["/t1", "/t2"]);
        assert_eq!(places.temp_tablespace.as_deref(), Some("/system/../fast"));
    }

    #[test]
    fn a_binary_log_that_is_off_has_no_place() {
        let places = places(&[("datadir", "/data"), ("log_bin", "OFF")]);
        assert_eq!(places.binlog, None);
    }
}
