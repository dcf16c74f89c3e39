//! A backup as the server sees it: which database it is of, and its files.

use super::execute::in_words;
use crate::capture::Product;
use crate::session::{Batch, Missing, Row, Session};
use crate::tsql::{FilePath, Name, Restore};
use engine::EngineError;

/// `BackupType` of a full backup of a database.
///
/// Source: <https://learn.microsoft.com/sql/t-sql/statements/restore-statements-headeronly-transact-sql>, read 2026-11-29.
const FULL: i64 = 1;

/// A full backup of a database.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Backup {
    /// Where it is.
    pub(super) path: FilePath,
    /// Which of those there.
    pub(crate) position: i64,
    /// How large it is.
    pub(crate) bytes: i64,
    /// The database that it is of.
    pub(crate) database: String,
    /// The server's version.
    pub(crate) version: String,
    major: i64,
    pub(crate) files: Vec<BackupFile>,
}

/// A file of a database in a backup.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct BackupFile {
    /// Its logical name.
    pub(crate) name: Name,
    pub(crate) is_log: bool,
    pub(crate) bytes: u64,
}

impl Backup {
    /// Asks a server what is in the backup at `path`, the last full one if there are several.
    ///
    /// # Errors
    /// When the server cannot read it, or cannot restore it as placements say; with the remedy.
    pub(crate) fn read(session: &mut dyn Session, path: &str) -> Result<Backup, EngineError> {
        let wrong = |why: String| EngineError::Missing(format!("--backup {path}: {why}"));
        let file = FilePath::new(path).map_err(|error| wrong(error.to_string()))?;
        let headers = ask(session, &Restore::Headers(file.clone()), |row| {
            Ok((
                row.count("BackupType")?,
                [row.count("Position")?, row.count("BackupSize")?],
                row.word("DatabaseName")?,
                [
                    row.count("SoftwareVersionMajor")?,
                    row.count("SoftwareVersionMinor")?,
                    row.count("SoftwareVersionBuild")?,
                ],
            ))
        });
        let headers = headers.map_err(|error| wrong(error.to_string()))?;
        let full = headers.into_iter().rfind(|(kind, ..)| *kind == FULL);
        let (_, [position, bytes], database, version) = full.ok_or_else(|| {
            wrong("it has no full backup of a database; take one by BACKUP DATABASE".to_owned())
        })?;
        let files = ask(session, &Restore::Files(file.clone(), position), |row| {
            let bytes = u64::try_from(row.count("Size")?).unwrap_or(0);
            Ok((row.word("LogicalName")?, row.word("Type")?, bytes))
        });
        let files = files.map_err(|error| wrong(error.to_string()))?;
        let known = |(name, kind, bytes): (String, String, u64)| {
            let is_log = match kind.as_str() {
                "D" => false,
                "L" => true,
                other => {
                    return Err(wrong(format!(
                        "its file {name} is of type {other} (FILESTREAM, memory-optimized tables or full text), which is not placed \
                         yet; rehearse a database without it"
                    )));
                }
            };
            let name = Name::new(name).map_err(|error| wrong(error.to_string()))?;
            Ok(BackupFile {
                name,
                is_log,
                bytes,
            })
        };
        let files: Vec<BackupFile> = files.into_iter().map(known).collect::<Result<_, _>>()?;
        let [major, minor, build] = version;
        Ok(Backup {
            path: file,
            position,
            bytes,
            database,
            version: format!("{major}.{minor}.{build}"),
            major,
            files,
        })
    }

    /// Checks that a server of this product and version can restore it beside its own databases.
    ///
    /// # Errors
    /// What is in the way, with the remedy.
    pub(crate) fn check(
        &self,
        product: Product,
        major: u32,
        databases: &[String],
    ) -> Result<(), EngineError> {
        let missing = |why: String| Err(EngineError::Missing(why));
        if product != Product::Boxed {
            return missing(
                "--server: a rehearsal restores a backup to files that a layout places, which SQL Server on a machine of its own does; \
                 managed instances, Azure SQL Database and Babelfish do not"
                    .to_owned(),
            );
        }
        if self.major > i64::from(major) {
            return missing(format!(
                "--backup: it is of version {}, and the server is version {major}: SQL Server restores no backup of a later one; rehearse \
                 on a server of that version",
                self.version
            ));
        }
        // Statements and procedures may name it.
        let mut same = databases.iter();
        match same.find(|name| name.eq_ignore_ascii_case(&self.database)) {
            None => Ok(()),
            Some(name) => missing(format!(
                "--server has a database {name}, as the backup: statements and procedures that name it would reach that one; rehearse on \
                 a server without it"
            )),
        }
    }
}

fn ask<T>(
    session: &mut dyn Session,
    question: &Restore,
    row: impl Fn(Row<'_>) -> Result<T, Missing>,
) -> Result<Vec<T>, EngineError> {
    let answer = session.batch(&question.to_string(), Some(session.answer_limit()));
    let answer = answer.and_then(Batch::refused);
    let answer = answer.map_err(|failure| EngineError::Missing(in_words(&failure)))?;
    let rows: Result<Vec<T>, Missing> = answer.rows().map(row).collect();
    rows.map_err(|error| EngineError::Missing(error.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn backup() -> Backup {
        Backup {
            path: FilePath::new("D:\\shop.bak").unwrap(),
            position: 1,
            bytes: 0,
            database: "shop".to_owned(),
            version: "15.0.4430".to_owned(),
            major: 15,
            files: Vec::new(),
        }
    }

    #[test]
    fn a_backup_is_restored_beside_other_databases_and_by_no_older_server() {
        let own = |name: &str| vec!["master".to_owned(), name.to_owned()];
        let check = |product, major, name| {
            let checked = backup().check(product, major, &own(name));
            checked.map_err(|error| error.to_string())
        };
        assert_eq!(check(Product::Boxed, 15, "other"), Ok(()));
        for (product, major, name, why) in [
            (
                Product::Boxed,
                14,
                "other",
                "restores no backup of a later one",
            ),
            (Product::Boxed, 16, "SHOP", "a server without it"),
            (Product::Babelfish, 16, "other", "Babelfish do not"),
            (Product::ManagedInstance, 16, "other", "managed instances"),
        ] {
            let error = check(product, major, name).unwrap_err();
            assert!(error.contains(why), "{error}");
        }
    }
}
