//! Files of a server, and the tempdb files that change at the next start.

use super::super::{Capture, File, FileInUse, FileKind, Growth, Product, TEMPDB};
use crate::tsql::question::{self, Needs};
use table::{Cell, Column, Table, Width, wrapped};

/// One row per file; the database is named in its first row.
pub(super) fn all(capture: &Capture) -> String {
    if capture.files.is_empty() {
        return match places_files(capture) {
            true => wrapped("files: ", &none(capture)),
            false => String::new(),
        };
    }
    let mut files: Vec<&File> = capture.files.iter().collect();
    files.sort_by_key(|file| (file.database_id, file.id));
    let columns = [
        Column::text("database", |file: &&File| {
            capture.database(file.database_id)
        })
        .once(),
        Column::text("file", |file: &&File| named(file)),
        Column::text("path", |file: &&File| file.path.clone()),
        Column::figure("size", |file: &&File| Cell::Bytes(file.size_bytes)),
        Column::figure("growth", |file: &&File| match file.growth {
            Growth::None => "none".into(),
            Growth::Bytes(step) => Cell::Bytes(step),
            Growth::Percent(percent) => format!("{percent} %").into(),
        }),
        Column::figure("max", |file: &&File| file.max_bytes.map(Cell::Bytes)),
    ];
    Table::of(files, columns).text(Width::default())
}

/// Why there are no files to show, and where to find a remedy, if there is one.
fn none(capture: &Capture) -> String {
    let none = "the server showed none";
    let asked = question::FILES.name;
    let is_unanswered = capture.unanswered.iter().any(|un| un.question == asked);
    let grant = Needs::Definition.grant(capture.identity.major(), capture.identity.product());
    let capabilities = capture.capabilities();
    let is_proposed = capabilities.iter().any(|can| Some(&*can.grant) == grant);
    match (is_unanswered, grant.filter(|_| is_proposed)) {
        (true, _) => format!("{none}; why is under \"Without an answer\""),
        (false, Some(grant)) => format!("{none}; what helps is above: {grant}"),
        (false, None) => format!("{none}, and does not say why"),
    }
}

fn named(file: &File) -> String {
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
    format!("{}{kind}{state}", file.name)
}

/// Changes to tempdb at the next start.
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
    type Row<'a> = (Option<&'a FileInUse>, Option<&'a File>);
    let columns = [
        Column::text("file of tempdb", |(now, then): &Row| {
            let name = now.map(|file| &file.name).or(then.map(|file| &file.name));
            name.cloned().unwrap_or_default()
        }),
        Column::text("in use now", |(now, _): &Row| {
            now.map_or("not there", |file| &file.path).to_owned()
        }),
        Column::text("after the next start", |(_, then): &Row| {
            then.map_or("gone", |file| &file.path).to_owned()
        }),
        Column::figure("size now", |(now, _): &Row| {
            now.map(|file| Cell::Bytes(file.size_bytes))
        }),
        Column::figure("then", |(_, then): &Row| {
            then.map(|file| Cell::Bytes(file.size_bytes))
        }),
    ];
    let mut text = Table::of(changed, columns).text(Width::default());
    let plural = if moved == 1 { "file" } else { "files" };
    let line = format!("a restart is pending: {moved} {plural} will be elsewhere after it");
    text.push_str(&wrapped("tempdb: ", &line));
    text
}

/// A larger size does not count as a move: the next start recreates the file.
fn moves(now: Option<&FileInUse>, then: Option<&File>) -> bool {
    match (now, then) {
        (Some(now), Some(then)) if now.path.starts_with('/') => now.path != then.path,
        // Windows paths are case-insensitive.
        (Some(now), Some(then)) => now.path.to_lowercase() != then.path.to_lowercase(),
        (Some(_), None) | (None, Some(_)) => true,
        (None, None) => false,
    }
}

/// Whether a server has files that can be placed.
pub(super) fn places_files(capture: &Capture) -> bool {
    match capture.identity.product() {
        Product::Boxed | Product::ManagedInstance | Product::Other => true,
        Product::AzureDatabase | Product::Babelfish => false,
    }
}
