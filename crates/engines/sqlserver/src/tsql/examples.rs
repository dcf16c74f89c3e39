//! One text of every kind that this module generates, to be checked by parsers.

use super::tempdb::{Kind, TempdbFile, TempdbMove, tempdb};
use super::{
    Alter, Condition, CreateDatabase, DatabaseOption, Durability, FileChange, FilePath, FileSpec,
    Growth, MaxSize, Name, Restore, Size, Statement, script,
};

/// Names and texts of scripts, each with one batch or several separated by `GO`. Names and paths in them are as
/// hostile as SQL Server allows.
pub fn examples() -> Vec<(&'static str, String)> {
    let mut all: Vec<(&'static str, String)> = Vec::new();
    all.extend(databases().map(|(name, statement)| (name, statement.to_string())));
    all.extend(options().map(|(name, option)| (name, set(option))));
    all.extend(server().map(|(name, statement)| (name, statement.to_string())));
    all.extend(files().map(|(name, change)| {
        let file = odd();
        let alter = Alter::Modify { file, change };
        (name, Statement::alter(&tempdb(), alter).to_string())
    }));
    all.extend(moves());
    all.extend(restores().map(|(name, restore)| (name, restore.to_string())));
    all
}

fn restores() -> [(&'static str, Restore); 3] {
    [
        (
            "restore-headers",
            Restore::Headers(path("D:\\o'hara\\shop.bak")),
        ),
        ("restore-files", Restore::Files(path("/backup/shop.bak"), 2)),
        (
            "restore-database",
            Restore::Database {
                name: odd(),
                from: path("/backup/a b.bak"),
                position: 1,
                moves: vec![
                    (odd(), path("D:\\o'hara\\a.mdf")),
                    (odd(), path("/log/a.ldf")),
                ],
            },
        ),
    ]
}

const ODD: &str = "a]; DROP DATABASE [x]];--'$(x)\"/*";

fn odd() -> Name {
    Name::new(ODD).expect("odd, but a name")
}

fn path(text: &str) -> FilePath {
    FilePath::new(text).expect("a path")
}

fn size(bytes: u64) -> Size {
    Size::bytes(bytes).expect("a size in pages")
}

fn full(name: Name, at: &str) -> FileSpec {
    FileSpec {
        name,
        path: Some(path(at)),
        size: Some(size(3_170_304 * 1024)),
        max: Some(MaxSize::At(size(2 << 40))),
        growth: Some(Growth::By(size(64 << 20))),
    }
}

fn databases() -> [(&'static str, Statement); 7] {
    let log = Name::new("log").expect("a name");
    let alter = |alter| Statement::alter(&odd(), alter);
    [
        (
            "create-database",
            Statement::Create(CreateDatabase {
                name: odd(),
                data: vec![
                    full(odd(), "D:\\o'hara; --\\a.mdf"),
                    FileSpec {
                        max: Some(MaxSize::Unlimited),
                        growth: Some(Growth::Percent(10)),
                        ..full(Name::new("second").expect("a name"), "/nvme/a b/c.ndf")
                    },
                ],
                log: vec![full(log, "D:\\a.ldf")],
            }),
        ),
        (
            "create-database-without-files",
            Statement::Create(CreateDatabase {
                name: odd(),
                data: Vec::new(),
                log: Vec::new(),
            }),
        ),
        ("drop-database", Statement::Drop(odd())),
        ("add-file", alter(Alter::Add(full(odd(), "D:\\'\\a.ndf")))),
        (
            "add-file-without-path",
            alter(Alter::Add(FileSpec::named(odd()))),
        ),
        (
            "add-log-file",
            alter(Alter::AddLog(full(odd(), "D:\\a.ldf"))),
        ),
        ("remove-file", alter(Alter::Remove(odd()))),
    ]
}

fn files() -> [(&'static str, FileChange); 8] {
    [
        ("modify-file-name", FileChange::NewName(odd())),
        (
            "modify-file-path",
            FileChange::Path(path("D:\\it's\\a.mdf")),
        ),
        ("modify-file-size", FileChange::Size(size(8 << 20))),
        ("modify-file-size-in-pages", FileChange::Size(size(8192))),
        ("modify-file-size-large", FileChange::Size(size(16 << 40))),
        ("modify-file-max", FileChange::Max(MaxSize::Unlimited)),
        ("modify-file-growth-off", FileChange::Growth(Growth::Never)),
        (
            "modify-file-growth-percent",
            FileChange::Growth(Growth::Percent(10)),
        ),
    ]
}

fn set(option: DatabaseOption) -> String {
    Statement::alter(&odd(), Alter::Set(option)).to_string()
}

fn options() -> [(&'static str, DatabaseOption); 9] {
    use DatabaseOption as O;
    [
        ("set-recovery-simple", O::RecoverySimple),
        ("set-recovery-full", O::RecoveryFull),
        (
            "set-read-committed-snapshot",
            O::ReadCommittedSnapshot(true),
        ),
        ("set-allow-snapshot", O::AllowSnapshotIsolation(false)),
        (
            "set-durability-disabled",
            O::DelayedDurability(Durability::Disabled),
        ),
        (
            "set-durability-allowed",
            O::DelayedDurability(Durability::Allowed),
        ),
        (
            "set-durability-forced",
            O::DelayedDurability(Durability::Forced),
        ),
        ("set-single-user", O::SingleUser),
        ("set-multi-user", O::MultiUser),
    ]
}

fn server() -> [(&'static str, Statement); 7] {
    let shrink = Statement::Shrink {
        file: odd(),
        size: size(8 << 20),
    };
    [
        ("use", Statement::Use(odd())),
        ("checkpoint", Statement::Checkpoint),
        ("drop-clean-buffers", Statement::DropCleanBuffers),
        (
            "max-server-memory",
            Statement::MaxServerMemory { mib: 2048 },
        ),
        ("empty-file", Statement::Empty { file: odd() }),
        ("shrink-file", shrink.clone()),
        (
            "shrink-file-if-larger",
            shrink.only_if(Condition::Larger(odd(), size(8 << 20))),
        ),
    ]
}

/// A move of tempdb with every kind of step: two files become three, one goes, and one is renamed.
fn moves() -> Vec<(&'static str, String)> {
    let present = |id, kind, name: &str, at: &str| TempdbFile {
        id,
        kind,
        name: Name::new(name).expect("a name"),
        path: Some(path(at)),
        size: size(1 << 30),
        max: MaxSize::Unlimited,
        growth: Growth::Percent(10),
    };
    let to = |name: &str, at: &str| full(Name::new(name).expect("a name"), at);
    let plan = TempdbMove {
        from: vec![
            present(1, Kind::Data, "tempdev", "C:\\d'ata\\tempdb.mdf"),
            present(2, Kind::Log, "templog", "C:\\d'ata\\templog.ldf"),
            present(3, Kind::Data, ODD, "C:\\d'ata\\odd.ndf"),
        ],
        data: vec![
            to("temp1", "D:\\tempdb\\temp1.mdf"),
            to("temp]2", "D:\\tempdb\\temp2.ndf"),
        ],
        log: vec![FileSpec {
            size: Some(size(512 << 20)),
            ..to("templog", "D:\\tempdb\\templog.ldf")
        }],
    };
    let plan = plan.plan().expect("a move that can be");
    vec![
        ("tempdb-apply", script(&plan.apply)),
        ("tempdb-after-restart", script(&plan.after_restart)),
        ("tempdb-undo", script(&plan.undo)),
        ("tempdb-after-undo", script(&plan.after_undo)),
        ("tempdb-rescue", script(&plan.rescue)),
    ]
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn every_kind_of_text_has_an_example() {
        let all = examples();
        let names: BTreeSet<&str> = all.iter().map(|(name, _)| *name).collect();
        assert_eq!(names.len(), all.len(), "two examples of one name");
        let text: String = all.into_iter().map(|(_, text)| text).collect();
        for word in [
            "CREATE DATABASE",
            "DROP DATABASE",
            "ADD FILE",
            "ADD LOG FILE",
            "REMOVE FILE",
            "NEWNAME",
            "FILENAME",
            "MAXSIZE",
            "FILEGROWTH",
            "EMPTYFILE",
            "sp_configure",
            "CHECKPOINT",
            "NOT EXISTS",
        ] {
            assert!(text.contains(word), "no example has {word}");
        }
    }
}
