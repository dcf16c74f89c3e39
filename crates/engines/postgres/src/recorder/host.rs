//! Where a server's files and its processes are on this machine.

use std::path::{Path, PathBuf};

use reading::Role;

use super::snapshot::Snapshot;
use engine::recorder::{Host, process_lines};

/// Locates the server on this machine.
///
/// # Errors
/// As text, why it is not visible here.
pub(super) fn find(snapshot: &Snapshot) -> Result<Host, String> {
    const ELSEWHERE: &str = "it is on another machine, or its data directory cannot be read here";
    let setting = |name: &str| snapshot.settings.get(name).map(String::as_str);
    let data = Path::new(setting("data_directory").ok_or(ELSEWHERE)?);
    let file = data.join("postmaster.pid");
    // Process, directory, start, port.
    let lines = process_lines(&file).ok_or(ELSEWHERE)?;
    let [_, _, started, port, ..] = lines.as_slice() else {
        return Err(ELSEWHERE.to_owned());
    };
    let started_s: f64 = started.parse().map_err(|_| ELSEWHERE)?;
    if port != setting("port").unwrap_or_default() {
        return Err(ELSEWHERE.to_owned());
    }
    let apart_s = started_s - snapshot.started_s;
    Host::find(file, apart_s, places(snapshot, data), ELSEWHERE)
}

/// File locations: tablespaces that the server uses for temporary files have nothing else.
fn places(snapshot: &Snapshot, data: &Path) -> Vec<(Role, PathBuf)> {
    let temp = snapshot.settings.get("temp_tablespaces");
    let temp = names(temp.map(String::as_str).unwrap_or_default());
    let mut places = vec![
        (Role::Data, data.to_owned()),
        (Role::Log, data.join("pg_wal")),
    ];
    for (name, place) in &snapshot.tablespaces {
        let role = match temp.contains(name) {
            true => Role::Temp,
            false => Role::Data,
        };
        // Without a place of its own it is in the data directory: joined with nothing, that.
        places.push((role, data.join(place)));
    }
    if temp.is_empty() {
        places.push((Role::Temp, data.to_owned()));
    }
    places
}

/// A list of names, quoted or not.
fn names(list: &str) -> Vec<String> {
    let names = list
        .split(',')
        .map(|name| name.trim().trim_matches('"').to_owned());
    names.filter(|name| !name.is_empty()).collect()
}
