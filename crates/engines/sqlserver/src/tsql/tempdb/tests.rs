use proptest::prelude::*;

use super::super::{Growth, MaxSize, script};
use super::model::Server;
use super::*;

fn name(text: &str) -> Name {
    Name::new(text).expect("a name")
}

fn path(text: &str) -> FilePath {
    FilePath::new(text).expect("a path")
}

fn mib(count: u32) -> Size {
    Size::mib(count).expect("a size")
}

fn present(id: i64, kind: Kind, called: &str, size: Size) -> TempdbFile {
    TempdbFile {
        id,
        kind,
        name: name(called),
        path: Some(path(&format!("C:\\Data\\{called}.ndf"))),
        size,
        max: MaxSize::Unlimited,
        growth: Growth::By(mib(64)),
    }
}

fn asked(called: &str, size: Option<Size>) -> FileSpec {
    FileSpec {
        path: Some(path(&format!("D:\\tempdb\\{called}.ndf"))),
        size,
        ..FileSpec::named(name(called))
    }
}

fn usual() -> Vec<TempdbFile> {
    vec![
        present(1, Kind::Data, "tempdev", mib(8)),
        present(2, Kind::Log, "templog", mib(8)),
    ]
}

#[test]
fn a_move_to_more_files_reads_as_a_dba_would_write_it() {
    let plan = TempdbMove {
        from: usual(),
        data: vec![
            asked("tempdev", Some(mib(64))),
            asked("temp2", Some(mib(64))),
        ],
        log: vec![asked("templog", None)],
    };
    let plan = plan.plan().expect("a move");
    insta::assert_snapshot!(script(&plan.apply), @r#"
    USE [tempdb];
    GO
    ALTER DATABASE [tempdb] MODIFY FILE (NAME = [tempdev], FILENAME = N'D:\tempdb\tempdev.ndf');
    GO
    IF NOT EXISTS (SELECT 1 FROM tempdb.sys.database_files WHERE name = N'temp2')
        ALTER DATABASE [tempdb] ADD FILE (NAME = [temp2], FILENAME = N'D:\tempdb\temp2.ndf', SIZE = 8MB);
    GO
    ALTER DATABASE [tempdb] MODIFY FILE (NAME = [templog], FILENAME = N'D:\tempdb\templog.ndf');
    GO
    "#);
    insta::assert_snapshot!(script(&plan.after_restart), @"
    USE [tempdb];
    GO
    IF EXISTS (SELECT 1 FROM tempdb.sys.database_files WHERE name = N'tempdev' AND size > 8192)
        DBCC SHRINKFILE (N'tempdev', 64) WITH NO_INFOMSGS;
    GO
    IF EXISTS (SELECT 1 FROM tempdb.sys.database_files WHERE name = N'tempdev' AND size < 8192)
        ALTER DATABASE [tempdb] MODIFY FILE (NAME = [tempdev], SIZE = 64MB);
    GO
    IF EXISTS (SELECT 1 FROM tempdb.sys.database_files WHERE name = N'temp2' AND size < 8192)
        ALTER DATABASE [tempdb] MODIFY FILE (NAME = [temp2], SIZE = 64MB);
    GO
    ");
    insta::assert_snapshot!(script(&plan.undo), @r#"
    USE [tempdb];
    GO
    IF EXISTS (SELECT 1 FROM tempdb.sys.database_files WHERE name = N'tempdev' AND size > 1024)
        DBCC SHRINKFILE (N'tempdev', 8) WITH NO_INFOMSGS;
    GO
    ALTER DATABASE [tempdb] MODIFY FILE (NAME = [tempdev], FILENAME = N'C:\Data\tempdev.ndf');
    GO
    ALTER DATABASE [tempdb] MODIFY FILE (NAME = [templog], FILENAME = N'C:\Data\templog.ndf');
    GO
    "#);
    insta::assert_snapshot!(script(&plan.after_undo), @"
    USE [tempdb];
    GO
    IF EXISTS (SELECT 1 FROM tempdb.sys.database_files WHERE name = N'temp2')
        DBCC SHRINKFILE (N'temp2', EMPTYFILE) WITH NO_INFOMSGS;
    GO
    IF EXISTS (SELECT 1 FROM tempdb.sys.database_files WHERE name = N'temp2')
        ALTER DATABASE [tempdb] REMOVE FILE [temp2];
    GO
    IF EXISTS (SELECT 1 FROM tempdb.sys.database_files WHERE name = N'tempdev' AND size > 1024)
        DBCC SHRINKFILE (N'tempdev', 8) WITH NO_INFOMSGS;
    GO
    IF EXISTS (SELECT 1 FROM tempdb.sys.database_files WHERE name = N'tempdev' AND size < 1024)
        ALTER DATABASE [tempdb] MODIFY FILE (NAME = [tempdev], SIZE = 8MB);
    GO
    ");
    insta::assert_snapshot!(script(&plan.rescue), @r#"
    ALTER DATABASE [tempdb] MODIFY FILE (NAME = [tempdev], FILENAME = N'C:\Data\tempdev.ndf');
    GO
    ALTER DATABASE [tempdb] MODIFY FILE (NAME = [templog], FILENAME = N'C:\Data\templog.ndf');
    GO
    ALTER DATABASE [tempdb] MODIFY FILE (NAME = [temp2], FILENAME = N'C:\Data\rescued-data-1.ndf');
    GO
    "#);
}

#[test]
fn a_managed_instance_is_told_no_path() {
    let nowhere = |mut file: TempdbFile| {
        file.path = None;
        file
    };
    let unplaced = |called: &str| FileSpec {
        path: None,
        ..asked(called, Some(mib(1024)))
    };
    let plan = TempdbMove {
        from: usual().into_iter().map(nowhere).collect(),
        data: vec![unplaced("tempdev"), unplaced("temp2")],
        log: vec![FileSpec::named(name("templog"))],
    };
    let plan = plan.plan().expect("a move");
    let all = [plan.apply, plan.after_restart, plan.undo, plan.after_undo].concat();
    assert!(!script(&all).contains("FILENAME"));
    assert_eq!(plan.rescue, []);
}

#[test]
fn impossible_moves_are_refused() {
    let refused = |data: Vec<FileSpec>, log: Vec<FileSpec>| {
        let from = [usual(), vec![present(3, Kind::Data, "temp2", mib(8))]].concat();
        let error = TempdbMove { from, data, log }.plan();
        error.expect_err("a mistake").to_string()
    };
    let log = || vec![asked("templog", None)];
    let first = refused(vec![asked("temp2", None)], log());
    assert!(first.contains("\"tempdev\", cannot be removed"), "{first}");
    let twice = refused(vec![asked("tempdev", None), asked("TEMPDEV", None)], log());
    assert!(twice.contains("two files of tempdb are called"), "{twice}");
    let mut there = asked("tempdev", None);
    there.path = Some(path("c:\\data\\TEMP2.ndf"));
    let taken = refused(vec![there], log());
    assert!(taken.contains("where \"temp2\" is now"), "{taken}");
    let mut alike = asked("temp2", None);
    alike.path = Some(path("D:\\tempdb\\TempDev.ndf"));
    let paths = refused(vec![asked("tempdev", None), alike], log());
    assert!(paths.contains("have the path"), "{paths}");
    assert!(refused(Vec::new(), log()).contains("no data file"));
    let no_log = refused(vec![asked("tempdev", None)], Vec::new());
    assert!(no_log.contains("no log file"), "{no_log}");
}

prop_compose! {
    fn sizes()(pages in 128_u64..4096) -> Size {
        Size::bytes(pages * 8192).expect("whole pages")
    }
}

fn growths() -> impl Strategy<Value = Growth> {
    prop_oneof![
        Just(Growth::Never),
        (1_u32..100).prop_map(Growth::Percent),
        sizes().prop_map(Growth::By),
    ]
}

prop_compose! {
    fn files_there()(
        data in prop::collection::vec((sizes(), growths(), any::<bool>()), 1..6),
        log in (sizes(), growths(), any::<bool>()),
    ) -> Vec<TempdbFile> {
        let one = |id: i64, kind, (size, growth, limited): (Size, Growth, bool)| {
            let called = match id { 1 => "tempdev".to_owned(), 2 => "templog".to_owned(), n => format!("t]em'p{n}") };
            TempdbFile {
                growth,
                max: if limited { MaxSize::At(size) } else { MaxSize::Unlimited },
                ..present(id, kind, &called, size)
            }
        };
        let ids = std::iter::once(1).chain(3..);
        let rows = ids.zip(data).map(|(id, file)| one(id, Kind::Data, file));
        rows.chain([one(2, Kind::Log, log)]).collect()
    }
}

prop_compose! {
    fn files_asked()(
        first in any::<bool>(),
        data in prop::collection::vec((0_u32..9, sizes(), growths(), any::<bool>()), 1..8),
        log in (sizes(), growths(), any::<bool>()),
        log_renamed in any::<bool>(),
    ) -> (Vec<FileSpec>, Vec<FileSpec>) {
        let one = |called: &str, (size, growth, limited): (Size, Growth, bool)| FileSpec {
            growth: Some(growth),
            max: Some(if limited { MaxSize::At(size) } else { MaxSize::Unlimited }),
            ..asked(called, Some(size))
        };
        let mut files: Vec<FileSpec> = Vec::new();
        for (index, (number, size, growth, limited)) in data.into_iter().enumerate() {
            let called = match (index, first) {
                (0, true) => "tempdev".to_owned(),
                (0, false) => "renamed".to_owned(),
                _ => format!("t]em'p{number}"),
            };
            if !files.iter().any(|file| file.name.text() == called) {
                files.push(one(&called, (size, growth, limited)));
            }
        }
        let log = one(if log_renamed { "log" } else { "templog" }, log);
        (files, vec![log])
    }
}

fn is_as_asked(server: &Server, files: &[FileSpec]) {
    for file in files {
        let is = server.in_use.get(file.name.text()).expect("it is there");
        assert_eq!(is.path.as_deref(), file.path.as_ref().map(FilePath::text));
        assert_eq!(Some(is.size), file.size);
        assert_eq!(Some(is.max), file.max);
        assert_eq!(Some(is.growth), file.growth);
    }
}

proptest! {
    #[test]
    fn a_move_arrives_and_undo_restores_everything(
        from in files_there(),
        (data, log) in files_asked(),
    ) {
        let asked = [data.clone(), log.clone()].concat();
        let plan = TempdbMove { from: from.clone(), data, log }.plan().expect("a move");
        let before = Server::of(&from);
        let mut server = before.clone();
        let at_home = server.bytes_at("C:");

        server.run(&plan.apply).expect("apply");
        prop_assert!(server.bytes_at("C:") <= at_home, "nothing grows at the old place");
        // Undone before the restart.
        let mut early = server.clone();
        early.run(&plan.undo).expect("undo at once");
        prop_assert!(early.bytes_at("C:") <= at_home);
        early.restart();
        early.run(&plan.after_undo).expect("after an early undo");
        prop_assert_eq!(&early.in_use, &before.in_use);
        prop_assert_eq!(&early.next, &before.next);

        server.restart();
        server.run(&plan.after_restart).expect("after the restart");
        is_as_asked(&server, &asked);
        prop_assert_eq!(server.in_use.len(), asked.len());
        prop_assert_eq!(&server.in_use, &server.next);
        let moved = server.clone();
        server.run(&plan.after_restart).expect("sizes once more");
        prop_assert_eq!(&server, &moved);

        server.work();
        server.run(&plan.undo).expect("undo");
        server.restart();
        prop_assert!(server.bytes_at("C:") <= at_home, "nothing grows at the old place");
        server.run(&plan.after_undo).expect("after undo");
        // Removed and recreated files are never first files.
        prop_assert_eq!(&server.in_use, &before.in_use);
        prop_assert_eq!(&server.next, &before.next);
    }

    #[test]
    fn a_rescue_leaves_nothing_at_the_new_place(
        from in files_there(),
        (data, log) in files_asked(),
    ) {
        let plan = TempdbMove { from: from.clone(), data, log }.plan().expect("a move");
        let mut server = Server::of(&from);
        server.run(&plan.apply).expect("apply");
        server.run(&plan.rescue).expect("rescue");
        server.restart();
        prop_assert_eq!(server.bytes_at("D:"), 0);
        server.run(&plan.undo).expect("undo");
        server.restart();
        server.run(&plan.after_undo).expect("after undo");
        prop_assert_eq!(&server.in_use, &Server::of(&from).in_use);
    }

    #[test]
    fn no_statement_has_a_name_without_brackets_or_quotes(
        odd in "[a-z]{2}[\\]';\\-\\[ ]{1,8}[a-z]{2}",
        from in files_there(),
    ) {
        let data = vec![asked("tempdev", Some(mib(3))), asked(&odd, Some(mib(3)))];
        let log = vec![asked("templog", Some(mib(3)))];
        let plan = TempdbMove { from, data, log }.plan().expect("a move");
        let all = [plan.apply, plan.after_restart, plan.undo, plan.after_undo, plan.rescue].concat();
        let bare = without_quoted(&script(&all));
        // What is left are words of ours.
        prop_assert!(!bare.contains(&odd[..2]) || bare_words().contains(&odd[..2]), "{}", bare);
        prop_assert!(!bare.contains(['\'', '[', ']']) && !bare.contains("--"), "{}", bare);
    }
}

/// Our own words, which may contain two letters of a name too.
fn bare_words() -> &'static str {
    "tempdb.sys.database_files name size"
}

/// The text without bracketed and quoted parts, as parsed by SQL Server.
fn without_quoted(text: &str) -> String {
    let mut rest = text.chars().peekable();
    let mut bare = String::new();
    while let Some(next) = rest.next() {
        let end = match next {
            '[' => ']',
            '\'' => '\'',
            _ => {
                bare.push(next);
                continue;
            }
        };
        while let Some(inside) = rest.next() {
            if inside == end && rest.next_if_eq(&end).is_none() {
                break;
            }
        }
    }
    bare
}
