//! Captures an existing server: what it reports about itself, and, if it runs on this machine, the volumes of its directories.

use std::fs;
use std::path::Path;
use std::time::UNIX_EPOCH;

use crate::capture::{self, Capture, Directory, MountedVolume, Places, Process};
use host::plain::DeviceInfo;

use crate::session::failure::Failure;
use crate::session::url::ServerUrl;
use crate::session::wire::Connection;
use engine::EngineError;
use engine::row::Row;

/// Maximum distance between the start of a server and the time of its pid file: it recovers in between.
const START_APART_S: u64 = 600;

/// Captures the server at `url`. It changes nothing there.
///
/// # Errors
/// When it rejects the login or does not answer.
pub fn of_server(url: &ServerUrl) -> Result<Capture, EngineError> {
    let mut connection = url.connect()?;
    let asked = |error: capture::AskError<Failure>| {
        EngineError::failed(format!("capture the server at {url}"), error)
    };
    let mut capture = capture::take(&mut |sql| rows(&mut connection, sql)).map_err(asked)?;
    let process = process_of(url, &mut connection)?;
    match is_here(&process) {
        true => look(&mut capture),
        false => {
            capture.unseen =
                "the server runs on another machine, in a container, or its pid_file cannot be seen by this user"
                    .to_owned();
        }
    }
    capture.url = Some(url.to_string());
    Ok(capture)
}

/// The server's process, as reported by it.
pub(crate) fn process_of(
    url: &ServerUrl,
    connection: &mut Connection,
) -> Result<Process, EngineError> {
    capture::process(&mut |sql| rows(connection, sql))
        .map_err(|error| EngineError::failed(format!("capture the server at {url}"), error))
}

/// The result of a query, in the form that a capture expects.
fn rows(connection: &mut Connection, sql: &str) -> Result<Vec<Vec<Option<String>>>, Failure> {
    let rows = connection.query(sql)?;
    Ok(rows.into_iter().map(Row::into_columns).collect())
}

/// Whether a server runs on this machine and sees the same files: its pid file exists here, with the right time. A host name
/// would not suffice, since a container can have its machine's.
pub(crate) fn is_here(process: &Process) -> bool {
    let written = fs::metadata(&process.file).and_then(|file| file.modified());
    let written = written
        .ok()
        .and_then(|at| at.duration_since(UNIX_EPOCH).ok());
    written.is_some_and(|at| at.as_secs().abs_diff(process.started_s) <= START_APART_S)
}

/// Adds the server's directories, and the volumes under them.
fn look(capture: &mut Capture) {
    let places = Places::of(capture);
    let mut unseen = Vec::new();
    for path in places.all() {
        let device_info = match DeviceInfo::of(Path::new(path)) {
            Ok(device_info) => device_info,
            Err(why) => {
                unseen.push(format!("{path}: {why}"));
                continue;
            }
        };
        let volume = volume(device_info);
        capture.directories.push(Directory {
            path: path.to_owned(),
            volume: volume.mount_point.clone(),
        });
        let mut known = capture.volumes.iter();
        if !known.any(|known| known.mount_point == volume.mount_point) {
            capture.volumes.push(volume);
        }
    }
    capture.unseen = unseen.join("; ");
}

fn volume(device_info: DeviceInfo) -> MountedVolume {
    MountedVolume {
        mount_point: device_info.mount_point.display().to_string(),
        file_system: device_info.file_system,
        disks: device_info.disks,
        solid_state: device_info.solid_state,
        atomic_write_bytes: device_info.atomic_write.map(|bytes| bytes.0),
        total_bytes: device_info.size.0,
        available_bytes: device_info.free.0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_is_here_where_its_process_file_has_its_time() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let file = folder.path().join("server.pid");
        fs::write(&file, "1\n").expect("it can be written");
        let written = fs::metadata(&file).and_then(|file| file.modified());
        let written = written.expect("it has a time");
        let written = written.duration_since(UNIX_EPOCH).expect("it is not 1969");
        let process = |started_s: u64| Process {
            file: file.display().to_string(),
            started_s,
        };
        let written_s = written.as_secs();
        assert!(is_here(&process(written_s - 5)));
        // Another server's file, at the same path on its own machine.
        assert!(!is_here(&process(written_s - 3600)));
        fs::remove_file(&file).expect("it is there");
        assert!(!is_here(&process(written_s)));
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn directories_of_one_volume_share_it_and_a_missing_one_is_named() {
        let mut capture = Capture::default();
        for (name, value) in [
            ("datadir", "/dev/shm/"),
            ("innodb_log_group_home_dir", "/no/such/directory"),
            ("tmpdir", "/dev/shm/."),
        ] {
            capture.variables.insert(name.into(), value.into());
        }
        look(&mut capture);
        assert_eq!(capture.directories.len(), 1);
        assert_eq!(capture.volumes.len(), 1);
        assert!(
            capture.unseen.starts_with("/no/such/directory: "),
            "{}",
            capture.unseen
        );
    }
}
