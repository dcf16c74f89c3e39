//! Moving tempdb: from its current files to the target files, and back.
//!
//! ```text
//! apply ──► restart ──► after_restart          undo ──► restart ──► after_undo
//! paths, new files      sizes, removals        paths, files back    sizes, removals
//! ```
//!
//! - Paths and sizes from `MODIFY FILE` apply from the next start on; until then the old files stay in use. Files are recreated
//!   at every start; nothing is copied.
//! - Nothing grows at the old location: paths first, then the restart, then sizes. Files that become smaller are shrunk before,
//!   so the new location is not filled with the old size.
//! - New files are added before the restart, no larger than the first one: that verifies the new location while the server runs.
//!   Files to be removed are removed after it, before they are used: only an empty file can be removed.
//! - The first data file and the first log cannot be removed, only moved and renamed.
//! - Every statement that may have been executed already is conditional, so a script can be rerun.
//!
//! Source: <https://learn.microsoft.com/sql/relational-databases/databases/move-system-databases> and
//! <https://learn.microsoft.com/sql/relational-databases/databases/tempdb-database>, read 2026-11. What
//! happens to a size that `DBCC SHRINKFILE` left: it counts as the last one that was set, and so at the next
//! start (<https://learn.microsoft.com/sql/relational-databases/databases/shrink-tempdb-database>).

mod error;
mod file;
#[cfg(test)]
mod model;
mod pair;
#[cfg(test)]
mod tests;

pub use error::TempdbError;
pub use file::{Kind, PresentError, TempdbFile};

use super::{Alter, Condition, FileChange, FilePath, FileSpec, Name, Size, Statement};
use pair::{Pairs, same};

/// A requested move.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TempdbMove {
    /// The existing files: their paths, sizes and growth as of the next start.
    pub from: Vec<TempdbFile>,
    /// Target data files. One with the name of an existing file is that file; its omitted properties are unchanged.
    pub data: Vec<FileSpec>,
    /// Target log files, usually one.
    pub log: Vec<FileSpec>,
}

/// The statements of a move, in the order in which they are executed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TempdbPlan {
    /// While the server still runs as before: nothing moves yet. Files that become smaller are shrunk in place.
    pub apply: Vec<Statement>,
    /// After the restart, before it has work to do.
    pub after_restart: Vec<Statement>,
    /// Undoes the move, at any point of it; also while the server runs.
    pub undo: Vec<Statement>,
    /// After the restart following `undo`.
    pub after_undo: Vec<Statement>,
    /// For a server that does not start, started without tempdb's files (`-f -T3608`): every file back to where
    /// the present ones are. First the two that every tempdb has: with `-f` the server may know no others. Then
    /// `undo` as usual.
    pub rescue: Vec<Statement>,
}

impl TempdbMove {
    /// All statements of the move.
    ///
    /// # Errors
    /// When names or paths clash, or a kind of file would be missing.
    pub fn plan(&self) -> Result<TempdbPlan, TempdbError> {
        self.check()?;
        let data = Pairs::of(&self.from, &self.data, Kind::Data)?;
        let log = Pairs::of(&self.from, &self.log, Kind::Log)?;
        let kinds = [FilesOfKind(&data, Kind::Data), FilesOfKind(&log, Kind::Log)];
        type Part = for<'a, 'b> fn(&'a FilesOfKind<'b>) -> Vec<Statement>;
        let of = |part: Part| kinds.iter().flat_map(|files| part(files)).collect();
        Ok(TempdbPlan {
            apply: in_tempdb(of(|files| files.apply())),
            after_restart: in_tempdb(of(|files| files.after_restart())),
            undo: in_tempdb(of(|files| files.undo())),
            after_undo: in_tempdb(of(|files| files.after_undo())),
            rescue: rescue(&kinds),
        })
    }

    fn check(&self) -> Result<(), TempdbError> {
        if self.data.is_empty() {
            return Err(TempdbError::None(Kind::Data));
        }
        if self.log.is_empty() {
            return Err(TempdbError::None(Kind::Log));
        }
        let asked: Vec<&FileSpec> = self.data.iter().chain(&self.log).collect();
        for (index, file) in asked.iter().enumerate() {
            for other in &asked[..index] {
                if same(file.name.text(), other.name.text()) {
                    return Err(TempdbError::NameTwice(file.name.text().to_owned()));
                }
                if let (Some(path), Some(others)) = (&file.path, &other.path)
                    && same(path.text(), others.text())
                {
                    return Err(TempdbError::PathTwice(path.text().to_owned()));
                }
            }
            let Some(path) = &file.path else { continue };
            let there = self.from.iter().find(|present| {
                let its = present.path.as_ref().map(FilePath::text);
                its.is_some_and(|its| same(its, path.text()))
            });
            if let Some(other) = there.filter(|other| !same(other.name.text(), file.name.text())) {
                return Err(TempdbError::PathTaken {
                    file: file.name.text().to_owned(),
                    path: path.text().to_owned(),
                    other: other.name.text().to_owned(),
                });
            }
        }
        Ok(())
    }
}

/// The name of tempdb.
pub fn tempdb() -> Name {
    Name::new("tempdb").expect("a name of six letters")
}

/// The statements, executed in tempdb: shrinking applies to the current database.
fn in_tempdb(statements: Vec<Statement>) -> Vec<Statement> {
    if statements.is_empty() {
        return statements;
    }
    let start = [Statement::Use(tempdb())];
    start.into_iter().chain(statements).collect()
}

fn rescue(kinds: &[FilesOfKind<'_>]) -> Vec<Statement> {
    let (first, others): (Vec<_>, Vec<_>) = kinds
        .iter()
        .flat_map(FilesOfKind::rescue)
        .partition(|(is_first, _)| *is_first);
    let all = first.into_iter().chain(others);
    all.map(|(_, statement)| statement).collect()
}

/// The files of one kind, as they are and as they are asked for: what moves them.
struct FilesOfKind<'a>(&'a Pairs<'a>, Kind);

impl FilesOfKind<'_> {
    fn apply(&self) -> Vec<Statement> {
        let FilesOfKind(pairs, kind) = self;
        let mut steps = Vec::new();
        for (present, asked) in &pairs.kept {
            let smaller = asked.size.filter(|size| *size < present.size);
            steps.extend(smaller.map(|size| shrink(&present.name, size)));
            if !same(present.name.text(), asked.name.text()) {
                steps.push(rename(&present.name, &asked.name));
            }
            let moved = asked
                .path
                .as_ref()
                .filter(|path| present.path.as_ref() != Some(path));
            let name = pairs.name_of(present, asked);
            steps.extend(moved.map(|path| modify(name, FileChange::Path(path.clone()))));
        }
        for asked in &pairs.added {
            let first = pairs.first.size;
            let size = asked.size.map_or(first, |size| size.min(first));
            let size = Some(size);
            let small = FileSpec {
                size,
                ..(*asked).clone()
            };
            steps.push(add(small, *kind));
        }
        steps
    }

    fn after_restart(&self) -> Vec<Statement> {
        let FilesOfKind(pairs, kind) = self;
        let mut steps = Vec::new();
        for (present, asked) in &pairs.kept {
            let name = pairs.name_of(present, asked);
            let size = asked.size.filter(|size| *size != present.size);
            let max = asked.max.filter(|max| *max != present.max);
            let growth = asked.growth.filter(|growth| *growth != present.growth);
            steps.extend(size.map(|size| shrink(name, size)));
            steps.extend(max.map(|max| modify(name, FileChange::Max(max))));
            steps.extend(size.map(|size| grow(name, size)));
            steps.extend(growth.map(|growth| modify(name, FileChange::Growth(growth))));
        }
        for asked in &pairs.added {
            steps.extend(asked.size.map(|size| grow(&asked.name, size)));
        }
        for present in &pairs.removed {
            steps.extend(remove(&present.name, *kind));
        }
        steps
    }

    /// Files that the move removed are recreated at once; those that it added are removed after the restart.
    fn undo(&self) -> Vec<Statement> {
        let FilesOfKind(pairs, kind) = self;
        let mut steps = Vec::new();
        for (present, asked) in &pairs.kept {
            let name = pairs.name_of(present, asked);
            let larger = asked.size.is_some_and(|size| size > present.size);
            steps.extend(larger.then(|| shrink(name, present.size)));
            if !same(present.name.text(), asked.name.text()) {
                steps.push(rename(&asked.name, &present.name));
            }
            let moved = present.path.as_ref().filter(|_| asked.path.is_some());
            let moved = moved.filter(|path| asked.path.as_ref() != Some(path));
            steps.extend(moved.map(|path| modify(&present.name, FileChange::Path(path.clone()))));
        }
        let back = pairs.removed.iter();
        steps.extend(back.map(|present| add(present.spec(), *kind)));
        steps
    }

    fn after_undo(&self) -> Vec<Statement> {
        let FilesOfKind(pairs, kind) = self;
        let added = pairs.added.iter();
        let mut steps: Vec<Statement> =
            added.flat_map(|asked| remove(&asked.name, *kind)).collect();
        for (present, asked) in &pairs.kept {
            let name = &present.name;
            let sized = asked.size.is_some_and(|size| size != present.size);
            let limited = asked.max.is_some_and(|max| max != present.max);
            let grows = asked.growth.is_some_and(|growth| growth != present.growth);
            steps.extend(sized.then(|| shrink(name, present.size)));
            steps.extend(limited.then(|| modify(name, FileChange::Max(present.max))));
            steps.extend(sized.then(|| grow(name, present.size)));
            steps.extend(grows.then(|| modify(name, FileChange::Growth(present.growth))));
        }
        steps
    }

    /// Statements, each with whether it concerns the first file. Unconditional: what a server without its tempdb reports about
    /// tempdb's files is unknown.
    fn rescue(&self) -> Vec<(bool, Statement)> {
        let FilesOfKind(pairs, kind) = self;
        let kept = pairs.kept.iter().filter_map(|(present, asked)| {
            let moved = asked.path.as_ref() != present.path.as_ref() && asked.path.is_some();
            let path = present.path.clone().filter(|_| moved)?;
            let is_first = present.id == pairs.first.id;
            Some((is_first, pairs.name_of(present, asked).clone(), path))
        });
        let home = pairs.first.path.as_ref();
        let added = (1..).zip(&pairs.added).filter_map(|(number, asked)| {
            let path = file::beside(home?, *kind, number)?;
            Some((false, asked.name.clone(), path))
        });
        let back = |(is_first, name, path): (bool, Name, FilePath)| {
            (is_first, modify(&name, FileChange::Path(path)))
        };
        kept.chain(added).map(back).collect()
    }
}

fn modify(file: &Name, change: FileChange) -> Statement {
    let file = file.clone();
    Statement::alter(&tempdb(), Alter::Modify { file, change })
}

fn rename(old: &Name, new: &Name) -> Statement {
    modify(old, FileChange::NewName(new.clone())).only_if(Condition::Present(old.clone()))
}

fn add(file: FileSpec, kind: Kind) -> Statement {
    let absent = Condition::Absent(file.name.clone());
    let alter = match kind {
        Kind::Data => Alter::Add(file),
        Kind::Log => Alter::AddLog(file),
    };
    Statement::alter(&tempdb(), alter).only_if(absent)
}

/// Only data moves to other files; a log can be removed when no part of it is in use.
fn remove(name: &Name, kind: Kind) -> Vec<Statement> {
    let empty = Statement::Empty { file: name.clone() };
    let remove = Statement::alter(&tempdb(), Alter::Remove(name.clone()));
    let steps = match kind {
        Kind::Data => vec![empty, remove],
        Kind::Log => vec![remove],
    };
    let guarded = |step: Statement| step.only_if(Condition::Present(name.clone()));
    steps.into_iter().map(guarded).collect()
}

fn shrink(name: &Name, size: Size) -> Statement {
    let file = name.clone();
    Statement::Shrink { file, size }.only_if(Condition::Larger(name.clone(), size))
}

fn grow(name: &Name, size: Size) -> Statement {
    modify(name, FileChange::Size(size)).only_if(Condition::Smaller(name.clone(), size))
}
