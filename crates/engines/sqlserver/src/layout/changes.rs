//! What a move of tempdb changes besides the locations of its files: their number, and their growth.

use crate::capture::Capture;
use crate::lint::tempdb_files_advised;
use crate::tsql::tempdb::{Kind, TempdbFile, TempdbMove};

use layout::LayoutError;

/// Data files to remove, where there will be fewer than before.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Fewer {
    /// Current number of files.
    pub(super) now: usize,
    /// Requested number of files.
    pub(super) then: usize,
    /// Logical processors, and how many files `lint` advises for them; unknown without a capture that has them.
    pub(super) advised: Option<(i64, usize)>,
}

impl Fewer {
    /// `None` where no file is removed.
    pub(super) fn of(moved: &TempdbMove, capture: Option<&Capture>) -> Option<Fewer> {
        let data = |file: &&TempdbFile| file.kind == Kind::Data;
        let (now, then) = (moved.from.iter().filter(data).count(), moved.data.len());
        let processors = capture.and_then(|capture| capture.machine.processors);
        (then < now).then_some(Fewer {
            now,
            then,
            advised: processors.map(|processors| (processors, tempdb_files_advised(processors))),
        })
    }

    /// Refuses a move that leaves fewer files than `lint` advises, unless explicitly allowed.
    pub(super) fn check(&self, is_meant: bool) -> Result<(), LayoutError> {
        let (now, then) = (self.now, self.then);
        match self.advised {
            Some((processors, advised)) if then < advised && !is_meant => {
                Err(LayoutError::Impossible(format!(
                    "tempdb would have {then} data files instead of {now}; for {processors} logical processors {advised} \
                     are advised (`dbstow lint`, tempdb-file-count): add --files {now} to keep their number, or \
                     --allow-fewer-files if that is intended"
                )))
            }
            Some(_) | None => Ok(()),
        }
    }
}

/// A file whose growth changes: its name, and both growths.
pub(super) type Regrown = (String, String, String);

/// Files that stay and get another growth increment.
pub(super) fn regrown(moved: &TempdbMove) -> Vec<Regrown> {
    let to = moved.data.iter().chain(&moved.log);
    let changed = to.filter_map(|file| {
        let present = moved
            .from
            .iter()
            .find(|present| present.name == file.name)?;
        let growth = file.growth.filter(|growth| *growth != present.growth)?;
        let name = file.name.text().to_owned();
        Some((name, present.growth.to_string(), growth.to_string()))
    });
    changed.collect()
}

#[cfg(test)]
mod tests {
    use crate::tsql::{FilePath, FileSpec, Growth, MaxSize, Name, Size};

    use super::*;

    fn file(id: i64, growth_mib: u32) -> TempdbFile {
        TempdbFile {
            id,
            kind: if id == 2 { Kind::Log } else { Kind::Data },
            name: Name::new(format!("file{id}")).expect("a name"),
            path: Some(FilePath::new(format!("C:\\file{id}")).expect("a path")),
            size: Size::mib(8).expect("a size"),
            max: MaxSize::Unlimited,
            growth: Growth::By(Size::mib(growth_mib).expect("a size")),
        }
    }

    /// From eight data files, of which only the first ones stay, as many as given.
    fn moved(stay: i64) -> TempdbMove {
        let from: Vec<TempdbFile> = (1..=9).map(|id| file(id, 512)).collect();
        let data = from.iter().filter(|file| file.kind == Kind::Data);
        let specs: Vec<FileSpec> = data.map(TempdbFile::spec).collect();
        TempdbMove {
            data: specs[..usize::try_from(stay).expect("a few")].to_vec(),
            log: vec![from[1].spec()],
            from,
        }
    }

    fn on(processors: i64) -> Capture {
        let mut capture = Capture::default();
        capture.machine.processors = Some(processors);
        capture
    }

    #[test]
    fn fewer_files_than_lint_advises_are_refused_unless_that_is_meant() {
        let fewer = Fewer::of(&moved(2), Some(&on(16))).expect("six go");
        assert_eq!((fewer.now, fewer.then), (8, 2));
        let error = fewer.check(false).expect_err("8 are advised").to_string();
        assert!(
            error.contains("2 data files") && error.contains("--allow-fewer-files"),
            "{error}"
        );
        assert!(fewer.check(true).is_ok());
        // As many as there are processors.
        let fewer = Fewer::of(&moved(2), Some(&on(2))).expect("six go");
        assert!(fewer.check(false).is_ok());
        assert_eq!(Fewer::of(&moved(8), Some(&on(16))), None);
    }

    #[test]
    fn a_growth_that_changes_is_listed() {
        let mut moved = moved(8);
        assert_eq!(regrown(&moved), []);
        moved.data[0].growth = Some(Growth::By(Size::mib(64).expect("a size")));
        let one = ("file1".to_owned(), "512MB".to_owned(), "64MB".to_owned());
        assert_eq!(regrown(&moved), [one]);
    }
}
