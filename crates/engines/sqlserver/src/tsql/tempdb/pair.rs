//! Which present file becomes which file that is asked for.

use super::{FileSpec, Kind, Name, TempdbError, TempdbFile};

/// The files of one kind, before and after.
pub(super) struct Pairs<'a> {
    /// The one that cannot be removed.
    pub(super) first: &'a TempdbFile,
    /// Files that stay, perhaps elsewhere and under another name.
    pub(super) kept: Vec<(&'a TempdbFile, &'a FileSpec)>,
    /// Files that are new.
    pub(super) added: Vec<&'a FileSpec>,
    /// Files that go.
    pub(super) removed: Vec<&'a TempdbFile>,
}

impl<'a> Pairs<'a> {
    /// Files of one name are one file. The first file stays in any case: where none that is asked for has its
    /// name, it gets the name of the first one that is new.
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
                // All that is asked for are files that are there, and the first one is not among them.
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

    /// What a kept file is called from the first step on.
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

/// Whether two texts may be one to the server: names follow its collation, paths its system, and most of both
/// do not tell case.
pub(super) fn same(one: &str, other: &str) -> bool {
    one.to_lowercase() == other.to_lowercase()
}
