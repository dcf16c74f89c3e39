//! The scripts that change something, with what they ask before they do, and the one that looks afterwards.

use sqlserver::tsql::{Alter, FileChange, FilePath, Name, Statement, literal};

use super::super::Script;
use super::batches;
use super::kit::Kit;

/// A table in tempdb that a restart takes away, as everything in it: while it is there, the server has not
/// started anew.
const MARK: &str = "tempdb.dbo.[dbstow waits for a restart]";

/// `2-apply.sql`, `4-size.sql`, `5-verify.sql`, `undo.sql`, `undo-after-restart.sql`, `rescue.sql`.
pub(super) fn scripts(kit: &Kit<'_>) -> Vec<Script> {
    let plan = &kit.plan;
    let guarded = |name: &str, says: &str, guard: &str, body: &str, next: &str| {
        let text = format!(
            "{says}USE [master];\nGO\nSET NOCOUNT ON;\nGO\n{guard}{body}PRINT N'{next}';\nGO\nSET NOEXEC OFF;\nGO\n"
        );
        Script::new(name, text)
    };
    let marked = |statements| batches(statements) + &mark();
    vec![
        guarded(
            "2-apply.sql",
            "-- Says where tempdb's files are to be. Nothing moves before the restart; undo.sql takes it back.\n",
            &known(kit),
            &marked(&plan.apply),
            "If there is no error above: restart the service now, see 3-restart.",
        ),
        guarded(
            "4-size.sql",
            "-- Sizes and growth, at the new place, right after the restart.\n",
            &restarted(),
            &batches(&plan.after_restart),
            "If there is no error above: look now, 5-verify.sql.",
        ),
        Script::new("5-verify.sql", verify(kit)),
        guarded(
            "undo.sql",
            "-- Takes 2-apply.sql and 4-size.sql back, at whatever point. Nothing moves before the restart.\n",
            &known(kit),
            &marked(&plan.undo),
            "If there is no error above: restart the service now, then run undo-after-restart.sql.",
        ),
        guarded(
            "undo-after-restart.sql",
            "-- The rest of the way back: files that were added go, sizes and growth are as they were.\n",
            &restarted(),
            &batches(&plan.after_undo),
            "If there is no error above: tempdb is as it was.",
        ),
        Script::new(
            "rescue.sql",
            format!(
                "-- For a service that does not start with tempdb's new files; see rescue. Every file goes where the old\n\
                 -- ones were. When the service runs again: undo.sql, restart, undo-after-restart.sql.\n{}",
                batches(&plan.rescue)
            ),
        ),
    ]
}

fn mark() -> String {
    format!(
        "IF OBJECT_ID(N'{MARK}') IS NULL\n    CREATE TABLE {MARK} (since datetime2 NOT NULL DEFAULT SYSDATETIME());\nGO\n"
    )
}

fn restarted() -> String {
    stop_if(
        &format!("OBJECT_ID(N'{MARK}') IS NOT NULL"),
        "The service has not been restarted yet, so that the old files are still in use. Restart it first.",
    )
}

/// Stops where tempdb has a file that the scripts know nothing of, or in another place than both of ours.
fn known(kit: &Kit<'_>) -> String {
    let mut files: Vec<(&Name, Vec<&FilePath>)> = Vec::new();
    let from = kit
        .moved
        .from
        .iter()
        .map(|file| (&file.name, file.path.as_ref()));
    let to = kit.to().map(|file| (&file.name, file.path.as_ref()));
    let rescued = kit
        .plan
        .rescue
        .iter()
        .filter_map(|statement| match statement {
            Statement::Alter {
                alter:
                    Alter::Modify {
                        file,
                        change: FileChange::Path(path),
                    },
                ..
            } => Some((file, Some(path))),
            _ => None,
        });
    for (name, path) in from.chain(to).chain(rescued) {
        let at = files.iter().position(|(other, _)| *other == name);
        let at = at.unwrap_or_else(|| {
            files.push((name, Vec::new()));
            files.len() - 1
        });
        let paths = &mut files[at].1;
        paths.extend(path.filter(|path| !paths.contains(path)));
    }
    let one = |(name, paths): &(&Name, Vec<&FilePath>)| {
        let name = literal(name.text());
        let paths: Vec<String> = paths.iter().map(ToString::to_string).collect();
        format!(
            "(name = {name} AND physical_name IN ({}))",
            paths.join(", ")
        )
    };
    let known: Vec<String> = files.iter().map(one).collect();
    let condition = format!(
        "EXISTS (SELECT 1 FROM sys.master_files WHERE database_id = DB_ID(N'tempdb') AND NOT (\n       {}))",
        known.join("\n    OR ")
    );
    stop_if(
        &condition,
        "tempdb has a file that this script does not know. Run 1-check.sql, which says more.",
    )
}

/// Nothing after it is executed: `SET NOEXEC` holds for the rest of the script, in any client.
pub(super) fn stop_if(condition: &str, why: &str) -> String {
    format!(
        "IF {condition}\nBEGIN\n    RAISERROR({}, 16, 1);\n    SET NOEXEC ON;\nEND;\nGO\n",
        literal(why)
    )
}

fn verify(kit: &Kit<'_>) -> String {
    let mut text = String::from(
        "-- Whether tempdb is as it was asked for. Changes nothing.\nUSE [master];\nGO\nSET NOCOUNT ON;\n\
         DECLARE @asked TABLE (name nvarchar(128), path nvarchar(260), pages bigint);\n",
    );
    for file in kit.to() {
        let path = file
            .path
            .as_ref()
            .map_or("N''".to_owned(), ToString::to_string);
        let pages = file
            .size
            .map_or("NULL".to_owned(), |size| size.pages().to_string());
        let name = literal(file.name.text());
        text += &format!("INSERT INTO @asked VALUES ({name}, {path}, {pages});\n");
    }
    text += "\
SELECT used.file_id, used.type_desc, used.name, used.physical_name AS in_use, mf.physical_name AS next_start,
       CAST(used.size AS bigint) * 8 / 1024 AS in_use_mib, CAST(mf.size AS bigint) * 8 / 1024 AS next_start_mib,
       mf.growth, mf.is_percent_growth
FROM tempdb.sys.database_files AS used
LEFT JOIN sys.master_files AS mf ON mf.database_id = DB_ID(N'tempdb') AND mf.file_id = used.file_id
ORDER BY used.file_id;
IF EXISTS (SELECT 1 FROM @asked AS asked
           FULL JOIN (SELECT * FROM sys.master_files WHERE database_id = DB_ID(N'tempdb')) AS mf
             ON mf.name COLLATE DATABASE_DEFAULT = asked.name COLLATE DATABASE_DEFAULT
           WHERE mf.name IS NULL OR asked.name IS NULL
              OR mf.physical_name COLLATE DATABASE_DEFAULT <> asked.path COLLATE DATABASE_DEFAULT
              OR mf.size <> asked.pages)
    RAISERROR(N'tempdb is not as it was asked for: see the files above. Run 4-size.sql again, or undo.sql.', 16, 1);
ELSE
    PRINT N'tempdb is as it was asked for. The old files can be deleted now.';
GO
";
    text
}
