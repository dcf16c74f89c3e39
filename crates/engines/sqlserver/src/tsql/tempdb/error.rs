//! Why a move of tempdb is impossible.

use super::file::Kind;

/// An impossible move.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TempdbError {
    /// The existing files lack the first data file or a log.
    #[error(
        "the files of tempdb as they are lack a {0} file; list all of `sys.master_files` where database_id = 2"
    )]
    Incomplete(Kind),
    /// No files of a kind are requested.
    #[error("tempdb is to have no {0} file; ask for one at least")]
    None(Kind),
    /// The first file would have to be removed.
    #[error(
        "the first {kind} file of tempdb, \"{name}\", cannot be removed; keep it among the files that there are to be"
    )]
    First {
        /// Its kind.
        kind: Kind,
        /// Its logical name.
        name: String,
    },
    /// Two files have one name.
    #[error("two files of tempdb are called \"{0}\"; give each a name of its own")]
    NameTwice(String),
    /// Two files have one path.
    #[error("two files of tempdb have the path \"{0}\"; give each a path of its own")]
    PathTwice(String),
    /// The target path of a file is used by another one.
    #[error(
        "\"{file}\" is to be at \"{path}\", where \"{other}\" is now; both would be in use until the restart, so \
         take another path"
    )]
    PathTaken {
        /// The file.
        file: String,
        /// Its target path.
        path: String,
        /// The file at that path.
        other: String,
    },
}
