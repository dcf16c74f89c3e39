//! Decides tempdb's files: unused names and paths, one size and one growth.

use std::collections::BTreeSet;

use crate::capture::Capture;
use crate::tsql::tempdb::{Kind, TempdbFile, TempdbMove};
use crate::tsql::{FilePath, FileSpec, Growth, MaxSize, Name, Size};
use model::Bytes;

use super::target::Target;
use experiment::spec::Role;
use layout::{Folder, Style};
use layout::{LayoutError, LayoutRequest};

/// Names and paths in use, case-insensitive.
pub(super) struct Taken {
    names: BTreeSet<String>,
    paths: BTreeSet<String>,
}

impl Taken {
    pub(super) fn new(from: &[TempdbFile], capture: Option<&Capture>) -> Taken {
        let own = from.iter().filter_map(|file| file.path.as_ref());
        let captured = capture.iter().flat_map(|capture| &capture.files);
        let captured = captured.map(|file| file.path.to_lowercase());
        Taken {
            names: from
                .iter()
                .map(|file| file.name.text().to_lowercase())
                .collect(),
            paths: own
                .map(|path| path.text().to_lowercase())
                .chain(captured)
                .collect(),
        }
    }

    /// Names only.
    pub(super) fn empty<'a>(names: impl Iterator<Item = &'a str>) -> Taken {
        Taken {
            names: names.map(str::to_lowercase).collect(),
            paths: BTreeSet::new(),
        }
    }

    /// `stem` with the first free number from `number` on, which is how setup names files.
    pub(super) fn name(&mut self, stem: &str, number: usize) -> Result<Name, LayoutError> {
        let free = (number..).map(|n| format!("{stem}{n}"));
        let mut free = free.filter(|name| !self.names.contains(&name.to_lowercase()));
        let name = free.next().expect("there is always another number");
        self.names.insert(name.to_lowercase());
        Ok(Name::new(name)?)
    }

    fn path(
        &mut self,
        folder: &Folder,
        name: impl Fn(usize) -> String,
    ) -> Result<FilePath, LayoutError> {
        let paths = (0..).map(|again| folder.file(&name(again)));
        let mut free = paths.filter(|path| !self.paths.contains(&path.to_lowercase()));
        let path = free.next().expect("there is always another number");
        self.paths.insert(path.to_lowercase());
        Ok(FilePath::new(path)?)
    }
}

/// The move from `from` to the requested files. With `placed`, folders of volumes are resolved.
pub(super) fn planned(
    request: &LayoutRequest,
    target: &Target,
    from: Vec<TempdbFile>,
    placed: bool,
) -> Result<TempdbMove, LayoutError> {
    let style = target.style();
    let mut taken = Taken::new(&from, target.capture.as_ref());
    let folder = |volume: &str| match placed {
        true => request.folder(volume, style).map(Some),
        false => Ok(None),
    };
    let of = |kind: Kind| {
        let mut files: Vec<&TempdbFile> = from.iter().filter(|file| file.kind == kind).collect();
        files.sort_by_key(|file| file.id);
        files
    };
    let present = of(Kind::Data);
    let largest = present.iter().map(|file| file.size).max();
    let mut data = Vec::new();
    for (index, file) in request.files(Role::Temp).iter().enumerate() {
        let folder = folder(&file.volume)?;
        let asked = size(file.size)?;
        let spec = one(
            &mut taken,
            present.get(index).copied(),
            folder,
            index,
            Kind::Data,
        )?;
        data.push(FileSpec {
            size: asked.or(largest),
            growth: Some(growth(request.growth)?),
            ..spec
        });
    }
    let volume = log_volume(request);
    let mut log = Vec::new();
    for (index, file) in of(Kind::Log).into_iter().enumerate() {
        let folder = folder(volume)?;
        let spec = one(&mut taken, Some(file), folder, index, Kind::Log)?;
        let asked = if index == 0 { log_size(request)? } else { None };
        log.push(FileSpec {
            size: asked.or(Some(file.size)),
            ..spec
        });
    }
    Ok(TempdbMove { from, data, log })
}

/// tempdb's log is next to its first data file, unless the log was requested too.
fn log_volume(request: &LayoutRequest) -> &str {
    let own = request.has(Role::Log) && !request.has(Role::Data);
    let role = if own { Role::Log } else { Role::Temp };
    let file = request.files(role).first();
    file.map_or("", |file| file.volume.as_str())
}

fn log_size(request: &LayoutRequest) -> Result<Option<Size>, LayoutError> {
    let own = request.has(Role::Log) && !request.has(Role::Data);
    let placed = request
        .files(Role::Log)
        .first()
        .filter(|_| own)
        .and_then(|file| file.size);
    size(request.log_size.or(placed))
}

/// An existing file keeps its name, and its path where it is already in the right folder. Without a folder, the location
/// cannot be specified.
fn one(
    taken: &mut Taken,
    present: Option<&TempdbFile>,
    folder: Option<Folder>,
    index: usize,
    kind: Kind,
) -> Result<FileSpec, LayoutError> {
    let name = match present {
        Some(file) => file.name.clone(),
        None => taken.name("temp", index + 1)?,
    };
    let path = match folder {
        None => None,
        Some(folder) => {
            let own = present.and_then(|file| file.path.clone());
            match own.filter(|path| folder.holds(path.text())) {
                Some(path) => Some(path),
                None => Some(taken.path(&folder, |again| file_name(kind, index, again))?),
            }
        }
    };
    Ok(FileSpec {
        path,
        ..FileSpec::named(name)
    })
}

/// Setup's names, with an extra letter where that name is taken.
fn file_name(kind: Kind, index: usize, again: usize) -> String {
    let more = if again == 0 {
        String::new()
    } else {
        format!("_{again}")
    };
    match (kind, index) {
        (Kind::Data, 0) => format!("tempdb{more}.mdf"),
        (Kind::Data, _) => format!("tempdb_mssql_{}{more}.ndf", index + 1),
        (Kind::Log, 0) => format!("templog{more}.ldf"),
        (Kind::Log, _) => format!("templog_{}{more}.ldf", index + 1),
    }
}

/// A size in whole mebibytes, rounded up: readable, and what `DBCC SHRINKFILE` takes.
pub(super) fn size(asked: Option<Bytes>) -> Result<Option<Size>, LayoutError> {
    let Some(Bytes(bytes)) = asked else {
        return Ok(None);
    };
    Ok(Some(Size::bytes(bytes.next_multiple_of(1 << 20))?))
}

pub(super) fn growth(asked: Bytes) -> Result<Growth, LayoutError> {
    Ok(size(Some(asked).filter(|bytes| bytes.0 > 0))?.map_or(Growth::Never, Growth::By))
}

/// tempdb's files as captured.
pub(super) fn captured(capture: &Capture) -> Result<Vec<TempdbFile>, LayoutError> {
    let files: Result<Vec<TempdbFile>, _> = capture.tempdb().map(TempdbFile::of).collect();
    let files = files?;
    if files.is_empty() {
        let asked = capture.unanswered.first();
        let why = asked.map_or(String::new(), |asked| {
            format!(" (\"{}\": {})", asked.question, asked.why)
        });
        return Err(LayoutError::Capture(format!(
            "the capture has no files of tempdb{why}; take it again with VIEW ANY DEFINITION or ALTER ANY DATABASE"
        )));
    }
    Ok(files)
}

/// tempdb's files as created by the smallest setup.
///
/// Source: <https://learn.microsoft.com/sql/relational-databases/databases/tempdb-database>, read 2026-11: 8 MB
/// each, growing by 64 MB. The folder is that of SQL Server 2022.
pub(super) fn assumed(style: Style) -> Result<Vec<TempdbFile>, LayoutError> {
    let folder = match style {
        Style::Windows => {
            "C:\\Program Files\\Microsoft SQL Server\\MSSQL16.MSSQLSERVER\\MSSQL\\DATA\\"
        }
        Style::Unix => "/var/opt/mssql/data/",
    };
    let file = |id, kind, name: &str, file: &str| -> Result<TempdbFile, LayoutError> {
        Ok(TempdbFile {
            id,
            kind,
            name: Name::new(name)?,
            path: Some(FilePath::new(format!("{folder}{file}"))?),
            size: Size::mib(8)?,
            max: MaxSize::Unlimited,
            growth: Growth::By(Size::mib(64)?),
        })
    };
    Ok(vec![
        file(1, Kind::Data, "tempdev", "tempdb.mdf")?,
        file(2, Kind::Log, "templog", "templog.ldf")?,
    ])
}
