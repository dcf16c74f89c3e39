//! Maps existing files to requested files.

use super::{FileSpec, Kind, Name, TempdbError, TempdbFile};

/// The files of one kind, before and after.
pub(super) struct Pairs<'a> {
    /// The one that cannot be removed.
    pub(super) first: &'a TempdbFile,
    /// Kept files, possibly moved and renamed.
    pub(super) kept: Vec<(&'a TempdbFile, &'a FileSpec)>,
    /// New files.
    pub(super) added: Vec<&'a FileSpec>,
    /// Removed files.
    pub(super) removed: Vec<&'a TempdbFile>,
}

impl<'a> Pairs<'a> {
    /// Files with the same name are the same file. The first file is always kept: if no requested file has its name, it gets the
    /// name of the first new one.
    pub(super) fn of(
        from: &'a [TempdbFile],
        to: &'a [FileSpec],
        kind: Kind,
    ) -> Result<Pairs<'a>, TempdbError> {
        let present = from.iter().filter(|file| file.kind == kind);
        let mut present: Vec<&TempdbFile> = present.collect();
        present.sort_by_key(|file| file.id);
        let first = *present.first().ok_or(TempdbError::Incomplete(kind))?;
        let named = |file: &TempdbFile| to.iter().find(|asked| is(asked, file));
        let is_new = |asked: &&FileSpec| !present.iter().any(|file| is(asked, file));
        let mut added: Vec<&FileSpec> = to.iter().filter(is_new).collect();
        let mut kept = Vec::new();
        let mut removed = Vec::new();
        for file in &present {
            match named(file) {
                Some(asked) => kept.push((*file, asked)),
                None if file.id == first.id && !added.is_empty() => {
                    kept.push((*file, added.remove(0)));
                }
                // All requested files exist, and the first one is not among them.
                None if file.id == first.id => {
                    let name = file.name.text().to_owned();
                    return Err(TempdbError::First { kind, name });
                }
                None => removed.push(*file),
            }
        }
        Ok(Pairs {
            first,
            kept,
            added,
            removed,
        })
    }

    /// Name of a kept file from the first step on.
    pub(super) fn name_of<'b>(&self, present: &'b TempdbFile, asked: &'b FileSpec) -> &'b Name {
        match is(asked, present) {
            true => &present.name,
            false => &asked.name,
        }
    }
}

fn is(asked: &FileSpec, present: &TempdbFile) -> bool {
    same(asked.name.text(), present.name.text())
}

/// Whether two texts may be equal for the server: names follow its collation, paths its system, and most of both ignore case.
pub(super) fn same(one: &str, other: &str) -> bool {
    one.to_lowercase() == other.to_lowercase()
}
