//! `1-check.sql`: whether the move can be run, asked of the server itself.

use sqlserver::tsql::tempdb::TempdbFile;
use sqlserver::tsql::{CreateDatabase, FilePath, FileSpec, Growth, Name, Statement, literal};

use super::super::Script;
use super::super::folder::Folder;
use super::kit::Kit;

/// The database that is made and dropped to see whether the service can write.
const PROBE: &str = "dbstow-probe";

/// The script. It changes nothing that stays.
pub(super) fn script(kit: &Kit<'_>) -> Script {
    let mut text = String::from(HEAD);
    text += &present(&kit.moved.from);
    text += &clashes(kit);
    text += &probe(kit);
    text += "IF @bad = 0\n    PRINT N'All is well. Go on with 2-apply.sql.';\nGO\n";
    Script::new("1-check.sql", text)
}

const HEAD: &str = "\
-- Whether 2-apply.sql can be run. Nothing that this changes stays: it makes a small database in the
-- folders, to see that the service can write there, and drops it.
USE [master];
GO
SET NOCOUNT ON;
DECLARE @bad int = 0, @say nvarchar(2000);

IF CAST(SERVERPROPERTY('EngineEdition') AS int) NOT IN (1, 2, 3, 4)
BEGIN
    RAISERROR(N'This is not SQL Server on a machine of its own, and these scripts are for that. Write others with --on.', 16, 1);
    SET @bad += 1;
END;
IF ISNULL(HAS_PERMS_BY_NAME(N'tempdb', N'DATABASE', N'ALTER'), 0) = 0
   OR ISNULL(HAS_PERMS_BY_NAME(NULL, NULL, N'CREATE ANY DATABASE'), 0) = 0
BEGIN
    RAISERROR(N'This login may not do it: it needs ALTER on tempdb and CREATE ANY DATABASE. Take a member of sysadmin.', 16, 1);
    SET @bad += 1;
END;
";

/// Whether the files are those that the scripts were written for.
fn present(files: &[TempdbFile]) -> String {
    let mut text = String::from(
        "
-- The files that these scripts were written for.
DECLARE @expected TABLE (name nvarchar(128), path nvarchar(260), pages bigint, growth bigint, is_percent bit);
",
    );
    for file in files {
        let path = file.path.as_ref().map_or("", FilePath::text);
        let (growth, is_percent) = match file.growth {
            Growth::Never => (0, 0),
            Growth::By(size) => (size.pages(), 0),
            Growth::Percent(percent) => (u64::from(percent), 1),
        };
        text += &format!(
            "INSERT INTO @expected VALUES ({}, {}, {}, {growth}, {is_percent});\n",
            literal(file.name.text()),
            literal(path),
            file.size.pages(),
        );
    }
    text + "\
IF EXISTS (SELECT name COLLATE DATABASE_DEFAULT, physical_name COLLATE DATABASE_DEFAULT, size, growth, is_percent_growth
           FROM sys.master_files WHERE database_id = DB_ID(N'tempdb')
           EXCEPT SELECT name COLLATE DATABASE_DEFAULT, path COLLATE DATABASE_DEFAULT, pages, growth, is_percent FROM @expected)
   OR EXISTS (SELECT name COLLATE DATABASE_DEFAULT, path COLLATE DATABASE_DEFAULT, pages, growth, is_percent FROM @expected
           EXCEPT SELECT name COLLATE DATABASE_DEFAULT, physical_name COLLATE DATABASE_DEFAULT, size, growth, is_percent_growth
           FROM sys.master_files WHERE database_id = DB_ID(N'tempdb'))
BEGIN
    SELECT name, physical_name, size AS pages, growth, is_percent_growth
    FROM sys.master_files WHERE database_id = DB_ID(N'tempdb') ORDER BY file_id;
    RAISERROR(N'tempdb has other files, at the next start, than those that these scripts were written for. Take a capture with dbstow doctor, and write the scripts again with --capture.', 16, 1);
    SET @bad += 1;
END;
"
}

/// Whether another database has a file where one is to be.
fn clashes(kit: &Kit<'_>) -> String {
    let paths = kit.to().filter_map(|file| file.path.as_ref());
    let paths: Vec<String> = paths.map(ToString::to_string).collect();
    format!(
        "
-- Another database's file where one of tempdb is to be.
SELECT @say = MAX(physical_name) FROM sys.master_files
WHERE database_id <> DB_ID(N'tempdb') AND physical_name IN (
    {});
IF @say IS NOT NULL
BEGIN
    RAISERROR(N'Another database has the file %s already. Give another folder with --volume.', 16, 1, @say);
    SET @bad += 1;
END;
",
        paths.join(",\n    ")
    )
}

/// Whether the service can write in the folders, and how much is free there: `sys.dm_os_volume_stats` knows
/// only volumes that hold a file of a database.
fn probe(kit: &Kit<'_>) -> String {
    let files: Vec<(FileSpec, u64)> = kit
        .needs
        .iter()
        .enumerate()
        .filter_map(|(index, (folder, bytes))| Some((probe_file(folder, index)?, *bytes)))
        .collect();
    let Some(log) = kit.needs.keys().next().and_then(probe_log) else {
        return String::new();
    };
    let create = Statement::Create(CreateDatabase {
        name: probe_name(),
        data: files.iter().map(|(file, _)| file.clone()).collect(),
        log: vec![log],
    });
    let needs: String = files
        .iter()
        .map(|(file, bytes)| {
            let name = literal(file.name.text());
            format!("        INSERT INTO @need VALUES ({name}, {bytes});\n")
        })
        .collect();
    let name = literal(PROBE);
    let drop = Statement::Drop(probe_name());
    let create = create.to_string().replace('\n', "\n        ");
    format!(
        "
-- Whether the service can write in the folders, and what is free there.
DECLARE @need TABLE (name nvarchar(128), bytes bigint);
DECLARE @short nvarchar(2000);
IF DB_ID({name}) IS NOT NULL
BEGIN
    RAISERROR(N'There is a database {PROBE} already, perhaps of a check that was interrupted. Drop it.', 16, 1);
    SET @bad += 1;
END;
ELSE IF @bad = 0
BEGIN
    BEGIN TRY
        {create}
{needs}        SELECT TOP (1) @short = MIN(volume.volume_mount_point) + N' has '
            + CAST(MIN(volume.available_bytes) / 1048576 AS nvarchar(20)) + N' MiB free, and the files need '
            + CAST(SUM(need.bytes) / 1048576 AS nvarchar(20))
        FROM sys.master_files AS mf
        JOIN @need AS need ON need.name COLLATE DATABASE_DEFAULT = mf.name COLLATE DATABASE_DEFAULT
        CROSS APPLY sys.dm_os_volume_stats(mf.database_id, mf.file_id) AS volume
        WHERE mf.database_id = DB_ID({name})
        GROUP BY volume.volume_id
        HAVING SUM(need.bytes) > MIN(CAST(volume.available_bytes AS decimal(38)));
        IF @short IS NOT NULL
            SET @bad += 1;
    END TRY
    BEGIN CATCH
        SET @say = ERROR_MESSAGE();
        SET @bad += 1;
        RAISERROR(N'The service cannot make files in the folders, or this login may not see what is free (VIEW SERVER STATE): %s', 16, 1, @say);
    END CATCH;
    IF @short IS NOT NULL
        RAISERROR(N'Too little space: %s MiB. Ask for smaller files (--size, --log-size), or another volume.', 16, 1, @short);
    IF DB_ID({name}) IS NOT NULL
        {drop}
END;
"
    )
}

fn probe_name() -> Name {
    Name::new(PROBE).expect("a name of ours")
}

fn probe_file(folder: &Folder, index: usize) -> Option<FileSpec> {
    let end = if index == 0 { "mdf" } else { "ndf" };
    file(folder, &format!("{PROBE}-{index}"), end)
}

fn probe_log(folder: &Folder) -> Option<FileSpec> {
    file(folder, &format!("{PROBE}-log"), "ldf")
}

fn file(folder: &Folder, name: &str, end: &str) -> Option<FileSpec> {
    let path = FilePath::new(folder.file(&format!("{name}.{end}"))).ok()?;
    Some(FileSpec {
        path: Some(path),
        ..FileSpec::named(Name::new(name).ok()?)
    })
}
