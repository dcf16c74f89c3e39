//! An existing file of tempdb.

use std::fmt;

use super::super::{
    FilePath, FileSpec, Growth, MaxSize, Name, NameError, PathError, Size, SizeError,
};
use crate::capture::{self, FileKind};

/// Kind of a tempdb file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Kind {
    /// Pages.
    Data,
    /// The log.
    Log,
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Kind::Data => "data",
            Kind::Log => "log",
        })
    }
}

/// A file of tempdb as it is, or will be after the next start.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TempdbFile {
    /// Its number; 1 is the first data file, 2 the first log.
    pub id: i64,
    /// Its kind.
    pub kind: Kind,
    /// Its logical name.
    pub name: Name,
    /// Its path; `None` if it cannot be chosen, as on a managed instance.
    pub path: Option<FilePath>,
    /// Its initial size at a start.
    pub size: Size,
    /// Its maximum size.
    pub max: MaxSize,
    /// Its growth step.
    pub growth: Growth,
}

/// An invalid captured file.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("file {id} of tempdb in the capture: {why}")]
pub struct PresentError {
    /// Its number.
    pub id: i64,
    /// What is wrong with it.
    pub why: Fault,
}

/// What is wrong with a captured file.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Fault {
    /// Its name.
    #[error(transparent)]
    Name(#[from] NameError),
    /// Its path.
    #[error(transparent)]
    Path(#[from] PathError),
    /// One of its sizes.
    #[error(transparent)]
    Size(#[from] SizeError),
    /// A number below zero.
    #[error("{0} bytes cannot be; take the capture again")]
    Negative(i64),
    /// Neither data nor log.
    #[error("tempdb has data files and logs only; take the capture again")]
    Kind,
}

impl TempdbFile {
    /// A file of tempdb that was captured.
    ///
    /// # Errors
    /// When the capture contains impossible values.
    pub fn of(file: &capture::File) -> Result<TempdbFile, PresentError> {
        let id = file.id;
        read(file).map_err(|why| PresentError { id, why })
    }

    /// The specification to recreate the file.
    pub fn spec(&self) -> FileSpec {
        FileSpec {
            name: self.name.clone(),
            path: self.path.clone(),
            size: Some(self.size),
            max: Some(self.max),
            growth: Some(self.growth),
        }
    }
}

fn read(file: &capture::File) -> Result<TempdbFile, Fault> {
    let size = |bytes: i64| -> Result<Size, Fault> {
        let bytes = u64::try_from(bytes).map_err(|_| Fault::Negative(bytes))?;
        Ok(Size::bytes(bytes)?)
    };
    Ok(TempdbFile {
        id: file.id,
        kind: match file.kind {
            FileKind::Rows => Kind::Data,
            FileKind::Log => Kind::Log,
            FileKind::Filestream | FileKind::FullText => return Err(Fault::Kind),
        },
        name: Name::new(&file.name)?,
        path: match file.path.as_str() {
            "" => None,
            path => Some(FilePath::new(path)?),
        },
        size: size(file.size_bytes)?,
        max: match file.max_bytes {
            None => MaxSize::Unlimited,
            Some(bytes) => MaxSize::At(size(bytes)?),
        },
        growth: match file.growth {
            capture::Growth::None => Growth::Never,
            capture::Growth::Bytes(bytes) => Growth::By(size(bytes)?),
            capture::Growth::Percent(percent) => {
                Growth::Percent(u32::try_from(percent).map_err(|_| Fault::Negative(percent))?)
            }
        },
    })
}

/// An unused path in the folder of `home`.
pub(super) fn beside(home: &FilePath, kind: Kind, number: usize) -> Option<FilePath> {
    let end = home.text().rfind(['/', '\\'])?;
    let folder = &home.text()[..=end];
    FilePath::new(format!("{folder}rescued-{kind}-{number}.ndf")).ok()
}
