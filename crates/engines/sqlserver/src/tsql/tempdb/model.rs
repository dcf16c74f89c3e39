//! A model of a server's tempdb for moves: files in use, and files of the next start. Its errors are those that Microsoft
//! documents; it is not a server.

use std::collections::BTreeMap;

use super::super::{
    Alter, Condition, FileChange, FileSpec, Growth, MaxSize, Name, Size, Statement,
};
use super::{Kind, TempdbFile, tempdb};

/// A file, in use or of the next start.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct File {
    pub(super) kind: Kind,
    pub(super) path: Option<String>,
    pub(super) size: Size,
    pub(super) max: MaxSize,
    pub(super) growth: Growth,
    pub(super) first: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Server {
    /// Files of the next start.
    pub(super) next: BTreeMap<String, File>,
    /// Files in use.
    pub(super) in_use: BTreeMap<String, File>,
    /// Whether no file was written since the start.
    quiet: bool,
    current: Name,
}

impl Server {
    pub(super) fn of(files: &[TempdbFile]) -> Server {
        let file = |file: &TempdbFile| {
            let own = File {
                kind: file.kind,
                path: file.path.as_ref().map(|path| path.text().to_owned()),
                size: file.size,
                max: file.max,
                growth: file.growth,
                first: file.id <= 2,
            };
            (file.name.text().to_owned(), own)
        };
        let next: BTreeMap<_, _> = files.iter().map(file).collect();
        Server {
            in_use: next.clone(),
            next,
            quiet: false,
            current: Name::new("master").expect("a name"),
        }
    }

    pub(super) fn restart(&mut self) {
        self.in_use = self.next.clone();
        self.quiet = true;
    }

    /// Sessions use all files.
    pub(super) fn work(&mut self) {
        self.quiet = false;
    }

    /// Bytes at `path`'s beginning in use.
    pub(super) fn bytes_at(&self, start: &str) -> u64 {
        let files = self.in_use.values();
        let there = files.filter(|file| file.path.as_ref().is_some_and(|p| p.starts_with(start)));
        there.map(|file| file.size.get()).sum()
    }

    pub(super) fn run(&mut self, statements: &[Statement]) -> Result<(), String> {
        for statement in statements {
            self.one(statement)
                .map_err(|why| format!("{statement}\n{why}\n{self:#?}"))?;
        }
        Ok(())
    }

    fn one(&mut self, statement: &Statement) -> Result<(), String> {
        match statement {
            Statement::Use(name) => self.current = name.clone(),
            Statement::If { condition, then } => {
                if self.holds(condition) {
                    self.one(then)?;
                }
            }
            Statement::Shrink { file, size } => {
                let whole = Size::bytes(size.whole_mib() << 20).expect("a size");
                self.own()?;
                for files in [&mut self.in_use, &mut self.next] {
                    let file = files.get_mut(file.text()).ok_or("no such file")?;
                    file.size = file.size.min(whole);
                }
            }
            Statement::Empty { file } => {
                self.own()?;
                self.in_use.get(file.text()).ok_or("no such file")?;
            }
            Statement::Alter { database, alter } => {
                assert_eq!(*database, tempdb());
                self.alter(alter)?;
            }
            other => return Err(format!("no part of a move: {other}")),
        }
        Ok(())
    }

    fn own(&self) -> Result<(), String> {
        match self.current == tempdb() {
            true => Ok(()),
            false => Err("another database is the current one".to_owned()),
        }
    }

    fn holds(&self, condition: &Condition) -> bool {
        let size = |name: &Name| self.in_use.get(name.text()).map(|file| file.size);
        match condition {
            Condition::Present(name) => size(name).is_some(),
            Condition::Absent(name) => size(name).is_none(),
            Condition::Smaller(name, than) => size(name).is_some_and(|size| size < *than),
            Condition::Larger(name, than) => size(name).is_some_and(|size| size > *than),
        }
    }

    fn alter(&mut self, alter: &Alter) -> Result<(), String> {
        match alter {
            Alter::Modify { file, change } => self.modify(file.text(), change),
            Alter::Add(file) => self.add(file, Kind::Data),
            Alter::AddLog(file) => self.add(file, Kind::Log),
            Alter::Remove(name) => {
                let file = self.in_use.get(name.text()).ok_or("no such file")?;
                if file.first {
                    return Err("the first file cannot be removed".to_owned());
                }
                if !self.quiet {
                    return Err("the file is not empty".to_owned());
                }
                self.in_use.remove(name.text());
                self.next.remove(name.text());
                Ok(())
            }
            Alter::Set(_) => Err("no part of a move".to_owned()),
        }
    }

    fn add(&mut self, file: &FileSpec, kind: Kind) -> Result<(), String> {
        let name = file.name.text().to_owned();
        let path = file.path.as_ref().map(|path| path.text().to_owned());
        let used = |other: &File| path.is_some() && other.path == path;
        if self.in_use.contains_key(&name) || self.in_use.values().any(used) {
            return Err("the name or the path is in use".to_owned());
        }
        let own = File {
            kind,
            path,
            size: file.size.unwrap_or(Size::mib(8).expect("a size")),
            max: file.max.unwrap_or(MaxSize::Unlimited),
            growth: file
                .growth
                .unwrap_or(Growth::By(Size::mib(64).expect("a size"))),
            first: false,
        };
        self.in_use.insert(name.clone(), own.clone());
        self.next.insert(name, own);
        Ok(())
    }

    fn modify(&mut self, name: &str, change: &FileChange) -> Result<(), String> {
        let used = self.in_use.get(name).ok_or("no such file")?.clone();
        match change {
            FileChange::Path(path) => {
                let next = self.next.get_mut(name).ok_or("no such file")?;
                next.path = Some(path.text().to_owned());
            }
            FileChange::NewName(new) => {
                for files in [&mut self.in_use, &mut self.next] {
                    if files.contains_key(new.text()) {
                        return Err("the name is in use".to_owned());
                    }
                    let file = files.remove(name).ok_or("no such file")?;
                    files.insert(new.text().to_owned(), file);
                }
            }
            FileChange::Size(size) if *size <= used.size => {
                return Err("the size is not larger than the present one".to_owned());
            }
            FileChange::Size(size) if exceeds(*size, used.max) => {
                return Err("the size is larger than MAXSIZE".to_owned());
            }
            FileChange::Max(max) if exceeds(used.size, *max) => {
                return Err("MAXSIZE is smaller than the size".to_owned());
            }
            FileChange::Size(_) | FileChange::Max(_) | FileChange::Growth(_) => {
                for files in [&mut self.in_use, &mut self.next] {
                    let file = files.get_mut(name).ok_or("no such file")?;
                    match *change {
                        FileChange::Size(size) => file.size = size,
                        FileChange::Max(max) => file.max = max,
                        FileChange::Growth(growth) => file.growth = growth,
                        FileChange::Path(_) | FileChange::NewName(_) => {}
                    }
                }
            }
        }
        Ok(())
    }
}

fn exceeds(size: Size, max: MaxSize) -> bool {
    match max {
        MaxSize::Unlimited => false,
        MaxSize::At(max) => size > max,
    }
}
