//! Files of a database, for `CREATE DATABASE` and `ALTER DATABASE`.

use std::fmt;

use super::{Growth, MaxSize, Name, Size, literal};

/// Longest path: `sys.master_files.physical_name` is `nvarchar(260)`.
///
/// Source: <https://learn.microsoft.com/sql/relational-databases/system-catalog-views/sys-master-files-transact-sql>,
/// read 2026-11.
const PATH_MAX: usize = 260;

/// Path of a file as the server sees it. Whether it is valid on the server's system is not checked.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FilePath(String);

/// Why a text is not a path.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PathError {
    /// It is empty.
    #[error("a path is empty; give a folder and a file name")]
    Empty,
    /// It is longer than SQL Server stores.
    #[error("the path \"{path}\" has {length} characters; SQL Server takes {PATH_MAX} at most")]
    Long {
        /// The path.
        path: String,
        /// Its length in UTF-16 units.
        length: usize,
    },
    /// It has a control character.
    #[error("the path {path:?} has a control character in it; leave it out")]
    Control {
        /// The path.
        path: String,
    },
}

impl FilePath {
    /// Accepts any text that SQL Server stores as a path, except for control characters.
    ///
    /// # Errors
    /// When it is empty, too long, or has control characters in it.
    pub fn new(path: impl Into<String>) -> Result<FilePath, PathError> {
        let path = path.into();
        let length = path.encode_utf16().count();
        if length == 0 {
            return Err(PathError::Empty);
        }
        if path.chars().any(char::is_control) {
            return Err(PathError::Control { path });
        }
        if length > PATH_MAX {
            return Err(PathError::Long { path, length });
        }
        Ok(FilePath(path))
    }

    /// The path itself, without quotes.
    pub fn text(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for FilePath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&literal(&self.0))
    }
}

/// A file to create: `(NAME = .., FILENAME = .., SIZE = .., MAXSIZE = .., FILEGROWTH = ..)`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileSpec {
    /// Its logical name.
    pub name: Name,
    /// Its path; not accepted by a managed instance.
    pub path: Option<FilePath>,
    /// Initial size; by default that of model's, or 8 MiB.
    pub size: Option<Size>,
    /// Maximum size; unlimited by default.
    pub max: Option<MaxSize>,
    /// Growth step; 64 MiB by default.
    pub growth: Option<Growth>,
}

impl FileSpec {
    /// A file whose properties except the name are chosen by the server.
    pub fn named(name: Name) -> FileSpec {
        FileSpec {
            name,
            path: None,
            size: None,
            max: None,
            growth: None,
        }
    }
}

impl fmt::Display for FileSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "(NAME = {}", self.name)?;
        option(f, "FILENAME", self.path.as_ref())?;
        option(f, "SIZE", self.size.as_ref())?;
        option(f, "MAXSIZE", self.max.as_ref())?;
        option(f, "FILEGROWTH", self.growth.as_ref())?;
        f.write_str(")")
    }
}

/// One property of an existing file. SQL Server accepts several at once; one at a time shows which was refused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FileChange {
    /// Another logical name.
    NewName(Name),
    /// Another path: for tempdb from the next start on, for others when the database is online again.
    Path(FilePath),
    /// A larger size, at once. SQL Server refuses one that is not larger than the present size.
    Size(Size),
    /// Another limit of its growth.
    Max(MaxSize),
    /// Another step of its growth.
    Growth(Growth),
}

impl fmt::Display for FileChange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            FileChange::NewName(name) => write!(f, "NEWNAME = {name}"),
            FileChange::Path(path) => write!(f, "FILENAME = {path}"),
            FileChange::Size(size) => write!(f, "SIZE = {size}"),
            FileChange::Max(max) => write!(f, "MAXSIZE = {max}"),
            FileChange::Growth(growth) => write!(f, "FILEGROWTH = {growth}"),
        }
    }
}

fn option(
    f: &mut fmt::Formatter<'_>,
    name: &str,
    value: Option<&impl fmt::Display>,
) -> fmt::Result {
    match value {
        Some(value) => write!(f, ", {name} = {value}"),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_written_with_what_is_known_of_it() {
        let mut file = FileSpec::named(Name::new("temp]2").expect("a name"));
        assert_eq!(file.to_string(), "(NAME = [temp]]2])");
        file.path = Some(FilePath::new("D:\\o'hara\\temp2.ndf").expect("a path"));
        file.size = Some(Size::mib(8).expect("a size"));
        file.max = Some(MaxSize::Unlimited);
        file.growth = Some(Growth::Percent(10));
        assert_eq!(
            file.to_string(),
            "(NAME = [temp]]2], FILENAME = N'D:\\o''hara\\temp2.ndf', SIZE = 8MB, \
             MAXSIZE = UNLIMITED, FILEGROWTH = 10%)"
        );
    }

    #[test]
    fn what_is_no_path_is_refused() {
        assert_eq!(FilePath::new(""), Err(PathError::Empty));
        assert!(FilePath::new("x".repeat(260)).is_ok());
        assert!(matches!(
            FilePath::new("x".repeat(261)),
            Err(PathError::Long { length: 261, .. })
        ));
        assert!(matches!(
            FilePath::new("D:\\a\nGO\n"),
            Err(PathError::Control { .. })
        ));
    }
}
