//! `README.md` of a move: the order, what can go wrong, and how to roll back.

use crate::tsql::{FilePath, FileSpec, Statement};
use askama::Template;
use model::Bytes;

use super::changes::{Fewer, Regrown, regrown};
use super::filters;
use super::placement::Placement;
use experiment::spec::Role;
use layout::quote::cell;
use layout::{README, Script};

#[derive(Template)]
#[template(path = "layout/readme.md")]
struct Readme<'a> {
    placement: &'a Placement<'a>,
    files: Vec<Row>,
    /// Whether files in use differ from those of the next start.
    is_pending: bool,
    /// Whether the data files are of unequal size.
    is_unequal: bool,
    /// Data files to remove.
    fewer: Option<Fewer>,
    /// Files with a new growth increment.
    regrown: Vec<Regrown>,
    /// Whether files are shrunk before the restart.
    shrinks: bool,
    /// Whether no size was requested.
    is_unsized: bool,
    /// Extension of the system's scripts.
    end: &'static str,
    /// Size of all files now.
    bytes_now: Bytes,
    /// Size of all resulting files.
    bytes_then: Bytes,
}

/// A file, before and after.
struct Row {
    name: String,
    now: String,
    then: String,
    size_now: String,
    size_then: String,
}

/// The script's text.
pub(super) fn tempdb(placement: &Placement<'_>) -> Script {
    let mut sizes = placement.moved.data.iter().map(|file| file.size);
    let first = sizes.next();
    let now = placement.moved.from.iter().map(|file| file.size.get());
    let then = placement
        .to()
        .filter_map(|file| file.size)
        .map(|size| size.get());
    let readme = Readme {
        placement,
        files: rows(placement),
        is_pending: is_pending(placement),
        is_unequal: sizes.any(|size| Some(size) != first),
        fewer: Fewer::of(&placement.moved, placement.target.capture.as_ref()),
        regrown: regrown(&placement.moved)
            .into_iter()
            .map(|(name, now, then)| (cell(&name), now, then))
            .collect(),
        shrinks: placement.plan.apply.iter().any(shrinks),
        is_unsized: placement
            .request
            .files(Role::Temp)
            .iter()
            .all(|file| file.size.is_none()),
        end: if placement.is_windows() { "ps1" } else { "sh" },
        bytes_now: Bytes(now.fold(0, u64::saturating_add)),
        bytes_then: Bytes(then.fold(0, u64::saturating_add)),
    };
    Script::new(README, &readme)
}

/// Resulting files, then those to remove.
fn rows(placement: &Placement<'_>) -> Vec<Row> {
    let from = &placement.moved.from;
    let path = |path: Option<&FilePath>| path.map_or("-".to_owned(), |path| cell(path.text()));
    let to = placement.to().map(|file| {
        let now = from.iter().find(|present| present.name == file.name);
        Row {
            name: cell(file.name.text()),
            now: path(now.and_then(|now| now.path.as_ref())),
            then: path(file.path.as_ref()),
            size_now: now.map_or("-".to_owned(), |now| now.size.to_string()),
            size_then: size(file),
        }
    });
    let goes = from
        .iter()
        .filter(|from| placement.to().all(|to| to.name != from.name));
    let goes = goes.map(|file| Row {
        name: cell(file.name.text()),
        now: path(file.path.as_ref()),
        then: "goes".to_owned(),
        size_now: file.size.to_string(),
        size_then: "-".to_owned(),
    });
    to.chain(goes).collect()
}

fn shrinks(statement: &Statement) -> bool {
    match statement {
        Statement::If { then, .. } => shrinks(then),
        other => matches!(other, Statement::Shrink { .. }),
    }
}

fn size(file: &FileSpec) -> String {
    file.size
        .map_or("as made".to_owned(), |size| size.to_string())
}

fn is_pending(placement: &Placement<'_>) -> bool {
    let in_use = placement
        .target
        .capture
        .iter()
        .flat_map(|capture| &capture.tempdb_in_use);
    let mut differing = in_use.filter(|used| {
        let next = placement.moved.from.iter().find(|file| file.id == used.id);
        next.is_none_or(|next| {
            next.path
                .as_ref()
                .is_some_and(|path| path.text() != used.path)
                || next.name.text() != used.name
        })
    });
    differing.next().is_some()
}
