//! Files of a server, and those of tempdb that will be others after the next start.

use sqlserver::capture::{Capture, File, FileInUse, FileKind, Growth, TEMPDB};

use super::super::super::words::wrapped;
use super::super::table::table;
use super::{bytes, places_files};

/// A row a file; a database is named at its first.
pub(super) fn all(capture: &Capture) -> String {
    if capture.files.is_empty() {
        let none = "files: the server showed none; what helps is above";
        return match places_files(capture) {
            true => wrapped("", none),
            false => String::new(),
        };
    }
    let mut files: Vec<&File> = capture.files.iter().collect();
    files.sort_by_key(|file| (file.database_id, file.id));
    let mut last = None;
    let rows = files.into_iter().map(|file| {
        let database = match last.replace(file.database_id) {
            Some(id) if id == file.database_id => String::new(),
            Some(_) | None => capture.database(file.database_id),
        };
        row(database, file)
    });
    let header = ["database", "file", "path", "size", "growth", "max"];
    table(header.map(String::from).to_vec(), rows.collect(), 3)
}

fn row(database: String, file: &File) -> Vec<String> {
    let kind = match file.kind {
        FileKind::Rows => "",
        FileKind::Log => " (log)",
        FileKind::Filestream => " (filestream)",
        FileKind::FullText => " (full text)",
    };
    let state = match &*file.state {
        "ONLINE" | "" => String::new(),
        other => format!(", {other}"),
    };
    vec![
        database,
        format!("{}{kind}{state}", file.name),
        file.path.clone(),
        bytes(file.size_bytes),
        match file.growth {
            Growth::None => "none".into(),
            Growth::Bytes(step) => bytes(step),
            Growth::Percent(percent) => format!("{percent} %"),
        },
        file.max_bytes.map_or_else(|| "-".into(), bytes),
    ]
}

/// What of tempdb the next start changes.
pub(super) fn tempdb(capture: &Capture) -> String {
    if capture.tempdb_in_use.is_empty() || capture.tempdb().next().is_none() {
        return String::new();
    }
    let now = |id: i64| capture.tempdb_in_use.iter().find(move |file| file.id == id);
    let then = |id: i64| {
        let mut files = capture.files.iter();
        files.find(move |file| file.database_id == TEMPDB && file.id == id)
    };
    let mut ids: Vec<i64> = capture.tempdb().map(|file| file.id).collect();
    ids.extend(capture.tempdb_in_use.iter().map(|file| file.id));
    ids.sort_unstable();
    ids.dedup();
    let files: Vec<_> = ids.into_iter().map(|id| (now(id), then(id))).collect();
    let moved = files
        .iter()
        .filter(|(now, then)| moves(*now, *then))
        .count();
    let data = capture
        .tempdb()
        .filter(|file| file.kind == FileKind::Rows)
        .count();
    if moved == 0 {
        let line = format!("{data} data files, in use where the next start puts them");
        return wrapped("tempdb: ", &line);
    }
    let changed = files.into_iter().filter(|(now, then)| moves(*now, *then));
    let rows = changed.map(|(now, then)| {
        let name = now.map(|file| &file.name).or(then.map(|file| &file.name));
        vec![
            name.cloned().unwrap_or_default(),
            now.map_or_else(|| "not there".into(), |file| file.path.clone()),
            then.map_or_else(|| "gone".into(), |file| file.path.clone()),
            now.map_or_else(|| "-".into(), |file| bytes(file.size_bytes)),
            then.map_or_else(|| "-".into(), |file| bytes(file.size_bytes)),
        ]
    });
    let header = [
        "file of tempdb",
        "in use now",
        "after the next start",
        "size now",
        "then",
    ];
    let mut text = table(header.map(String::from).to_vec(), rows.collect(), 3);
    let plural = if moved == 1 { "file" } else { "files" };
    let line = format!("a restart is pending: {moved} {plural} will be elsewhere after it");
    text.push_str(&wrapped("tempdb: ", &line));
    text
}

/// A size that has grown is no move: the next start makes the file anew.
fn moves(now: Option<&FileInUse>, then: Option<&File>) -> bool {
    match (now, then) {
        (Some(now), Some(then)) if now.path.starts_with('/') => now.path != then.path,
        // Windows does not tell case apart.
        (Some(now), Some(then)) => now.path.to_lowercase() != then.path.to_lowercase(),
        (Some(_), None) | (None, Some(_)) => true,
        (None, None) => false,
    }
}
