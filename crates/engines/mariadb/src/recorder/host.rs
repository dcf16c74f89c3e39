//! Where a server's files and its process are on this machine.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use reading::Role;

use super::snapshot::{Facts, Snapshot};
use engine::recorder::Host;

/// Locates the server on this machine.
///
/// # Errors
/// As text, why it is not visible here.
pub(super) fn find(snapshot: &Snapshot) -> Result<Host, String> {
    const ELSEWHERE: &str =
        "the server is on another machine, or its process file cannot be read here";
    let server = &snapshot.server;
    let file = directory(server, "pid_file").ok_or(ELSEWHERE)?;
    // It is written when the server starts.
    let written = fs::metadata(&file).and_then(|metadata| metadata.modified());
    let written_s = written
        .map_err(|_| ELSEWHERE)?
        .duration_since(UNIX_EPOCH)
        .map_or(0.0, |time| time.as_secs_f64());
    let apart_s = written_s - snapshot.started_s();
    Host::find(file, apart_s, places(server), ELSEWHERE)
}

/// A path variable; relative ones are below the data directory. `None` if empty.
fn directory(server: &Facts, name: &str) -> Option<PathBuf> {
    let text = server.variable(name);
    (!text.is_empty()).then(|| Path::new(server.variable("datadir")).join(text))
}

/// Directories of temporary files.
pub(super) fn temporary(server: &Facts) -> Vec<PathBuf> {
    let list = server.variable("tmpdir").split(':');
    let list = list.filter(|place| !place.is_empty()).map(PathBuf::from);
    let of_innodb = directory(server, "innodb_tmpdir");
    list.chain(of_innodb).collect()
}

/// File locations according to the server's settings; options of single tables are ignored.
fn places(server: &Facts) -> Vec<(Role, PathBuf)> {
    let data = PathBuf::from(server.variable("datadir"));
    let or_data = |name: &str| directory(server, name).unwrap_or_else(|| data.clone());
    let system = or_data("innodb_data_home_dir");
    let mut places = vec![
        (Role::Data, data.clone()),
        (Role::Data, system.clone()),
        (Role::Log, or_data("innodb_log_group_home_dir")),
    ];
    places.extend(
        temporary(server)
            .into_iter()
            .map(|place| (Role::Temp, place)),
    );
    // `ibtmp1:12M:autoextend`, which may begin with a path.
    let path = server.variable("innodb_temp_data_file_path");
    let file = system.join(path.split(':').next().unwrap_or_default());
    if let Some(place) = file.parent() {
        places.push((Role::Temp, place.to_owned()));
    }
    if server.is_on("log_bin") {
        let file = or_data("log_bin_basename");
        let place = file.parent().map_or_else(|| data.clone(), Path::to_owned);
        places.push((Role::Binlog, place));
    }
    if has_undo(server) {
        places.push((Role::Undo, or_data("innodb_undo_directory")));
    }
    if has_doublewrite(server) {
        let place = directory(server, "innodb_doublewrite_dir").unwrap_or(system);
        places.push((Role::Doublewrite, place));
    }
    places
}

/// Whether undo records have separate tablespaces: MySQL's always do.
pub(super) fn has_undo(server: &Facts) -> bool {
    !server.is_mariadb() || !matches!(server.variable("innodb_undo_tablespaces"), "" | "0" | "1")
}

pub(super) fn has_doublewrite(server: &Facts) -> bool {
    !matches!(server.variable("innodb_doublewrite"), "" | "OFF" | "0")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn facts(version: &str, variables: &[(&str, &str)]) -> Facts {
        let owned = |(name, value): &(&str, &str)| ((*name).to_owned(), (*value).to_owned());
        Facts {
            version: version.to_owned(),
            variables: variables.iter().map(owned).collect(),
            ..Facts::default()
        }
    }

    #[test]
    fn files_lie_where_the_settings_put_them() {
        let server = facts(
            "10.11.19-MariaDB",
            &[
                ("datadir", "/d/"),
                ("tmpdir", "/t1:/t2"),
                ("innodb_log_group_home_dir", "./"),
                ("innodb_temp_data_file_path", "/t1/ibtmp1:12M:autoextend"),
                ("log_bin", "ON"),
                ("log_bin_basename", "/b/bin"),
                ("innodb_undo_tablespaces", "3"),
                ("innodb_undo_directory", "/u"),
                ("innodb_doublewrite", "ON"),
            ],
        );
        let shown: Vec<String> = places(&server)
            .iter()
            .map(|(role, place)| format!("{role} {}", place.display()))
            .collect();
        assert_eq!(
            shown,
            [
                "data /d/",
                "data /d/",
                "log /d/./",
                "temp /t1",
                "temp /t2",
                "temp /t1",
                "binlog /b",
                "undo /u",
                "doublewrite /d/",
            ]
        );
        let plain = facts("10.11.19-MariaDB", &[("innodb_undo_tablespaces", "0")]);
        assert!(!has_undo(&plain) && !has_doublewrite(&plain));
        assert!(has_undo(&facts("8.4.6", &[])));
    }
}
