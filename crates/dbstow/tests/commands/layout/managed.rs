//! A managed instance: number, size and growth, never a path.

use experiment::spec::{File, Role};
use layout::LayoutRequest;
use model::Bytes;
use sqlserver::capture::Capture;

use crate::layout::{database, filled, made, refused, request, server, shown, text};

fn instance() -> Capture {
    let mut capture = server(8, "", "https://storage/", 2);
    capture.identity.version = "12.0.2000.8".to_owned();
    capture.identity.edition = "SQL Azure".to_owned();
    database(&mut capture, 5, "sales");
    let mut own = capture.files[0].clone();
    own.database_id = 5;
    own.name = "data_0".to_owned();
    own.size_bytes = 1536 << 20;
    capture.files.push(own);
    capture
}

fn asked(count: usize) -> LayoutRequest {
    let file = |size| File {
        volume: String::new(),
        size,
    };
    let mut asked = LayoutRequest {
        roles: [Role::Temp, Role::Data].into(),
        database: Some("sales".to_owned()),
        folders: Default::default(),
        ..request(
            "managed-instance-files, arm user-4-files-2",
            &[("", "")],
            count,
            Bytes::gib(1),
        )
    };
    asked.files.insert(Role::Data, vec![file(None); 3]);
    asked
}

#[test]
fn a_whole_set_without_any_path() {
    let scripts = made(&sqlserver::layout::Layout, &asked(3), Some(instance()));
    insta::assert_snapshot!(filled(&scripts, &["README.md"]), @"
    ==> data-apply.sql
    IF DB_ID(N'sales') IS NULL
    ALTER DATABASE [sales] ADD FILE (NAME = [data2], SIZE = 1536MB, FILEGROWTH = 64MB);
    ALTER DATABASE [sales] ADD FILE (NAME = [data3], SIZE = 1536MB, FILEGROWTH = 64MB);
    SELECT name, physical_name, CAST(size AS bigint) * 8 / 1024 AS mib FROM [sales].sys.database_files;
    ==> data-undo.sql
    IF DB_ID(N'sales') IS NULL
    USE [sales];
    DBCC SHRINKFILE (N'data2', EMPTYFILE) WITH NO_INFOMSGS;
    ALTER DATABASE [sales] REMOVE FILE [data2];
    DBCC SHRINKFILE (N'data3', EMPTYFILE) WITH NO_INFOMSGS;
    ALTER DATABASE [sales] REMOVE FILE [data3];
    ==> tempdb-1-apply.sql
    USE [tempdb];
    IF NOT EXISTS (SELECT 1 FROM tempdb.sys.database_files WHERE name = N'temp3')
        ALTER DATABASE [tempdb] ADD FILE (NAME = [temp3], SIZE = 8MB, FILEGROWTH = 64MB);
    ==> tempdb-2-size.sql
    USE [tempdb];
    IF EXISTS (SELECT 1 FROM tempdb.sys.database_files WHERE name = N'tempdev' AND size > 131072)
        DBCC SHRINKFILE (N'tempdev', 1024) WITH NO_INFOMSGS;
    IF EXISTS (SELECT 1 FROM tempdb.sys.database_files WHERE name = N'tempdev' AND size < 131072)
        ALTER DATABASE [tempdb] MODIFY FILE (NAME = [tempdev], SIZE = 1024MB);
    IF EXISTS (SELECT 1 FROM tempdb.sys.database_files WHERE name = N'temp2' AND size > 131072)
        DBCC SHRINKFILE (N'temp2', 1024) WITH NO_INFOMSGS;
    IF EXISTS (SELECT 1 FROM tempdb.sys.database_files WHERE name = N'temp2' AND size < 131072)
        ALTER DATABASE [tempdb] MODIFY FILE (NAME = [temp2], SIZE = 1024MB);
    IF EXISTS (SELECT 1 FROM tempdb.sys.database_files WHERE name = N'temp3' AND size < 131072)
        ALTER DATABASE [tempdb] MODIFY FILE (NAME = [temp3], SIZE = 1024MB);
    ==> tempdb-undo-1.sql
    USE [tempdb];
    IF EXISTS (SELECT 1 FROM tempdb.sys.database_files WHERE name = N'tempdev' AND size > 1024)
        DBCC SHRINKFILE (N'tempdev', 8) WITH NO_INFOMSGS;
    IF EXISTS (SELECT 1 FROM tempdb.sys.database_files WHERE name = N'temp2' AND size > 1024)
        DBCC SHRINKFILE (N'temp2', 8) WITH NO_INFOMSGS;
    ==> tempdb-undo-2.sql
    USE [tempdb];
    IF EXISTS (SELECT 1 FROM tempdb.sys.database_files WHERE name = N'temp3')
        DBCC SHRINKFILE (N'temp3', EMPTYFILE) WITH NO_INFOMSGS;
    IF EXISTS (SELECT 1 FROM tempdb.sys.database_files WHERE name = N'temp3')
        ALTER DATABASE [tempdb] REMOVE FILE [temp3];
    IF EXISTS (SELECT 1 FROM tempdb.sys.database_files WHERE name = N'tempdev' AND size > 1024)
        DBCC SHRINKFILE (N'tempdev', 8) WITH NO_INFOMSGS;
    IF EXISTS (SELECT 1 FROM tempdb.sys.database_files WHERE name = N'tempdev' AND size < 1024)
        ALTER DATABASE [tempdb] MODIFY FILE (NAME = [tempdev], SIZE = 8MB);
    IF EXISTS (SELECT 1 FROM tempdb.sys.database_files WHERE name = N'temp2' AND size > 1024)
        DBCC SHRINKFILE (N'temp2', 8) WITH NO_INFOMSGS;
    IF EXISTS (SELECT 1 FROM tempdb.sys.database_files WHERE name = N'temp2' AND size < 1024)
        ALTER DATABASE [tempdb] MODIFY FILE (NAME = [temp2], SIZE = 8MB);
    ");
    insta::assert_snapshot!(text(&scripts, "README.md"), @"
    # Managed instance: managed-instance-files, arm user-4-files-2

    None of these scripts has run on a managed instance yet; their T-SQL is parsed by Microsoft's own parser.
    Written for the instance as captured on 2026-11-20T10:00:00+00:00: SQL Azure 12.0.2000.8, 1 files besides tempdb's, of the
    280 that General Purpose allows.

    tempdb is on a local SSD (at most 24 GiB a virtual processor, 1 to 128 data files, names of
    16 characters at most); number, growth and MAXSIZE outlive restarts and failovers. Where files are is the
    instance's business: `FILENAME` is refused.

    Order, each with `sqlcmd -b -x -i FILE` or in Management Studio:

    - tempdb: `tempdb-1-apply.sql`, `tempdb-2-size.sql`. Back: `tempdb-undo-1.sql`, a failover,
      `tempdb-undo-2.sql`.
    - Data: `data-apply.sql`, once; then rebuild the indexes. Back: `data-undo.sql`.

    On General Purpose every data file is a remote disk of its own, and its size decides what it may do:

    | file up to | IOPS | throughput |
    |---|---|---|
    | 128 GiB | 500 | 100 MiB/s |
    | 512 GiB | 2300 | 150 MiB/s |
    | 1 TiB | 5000 | 200 MiB/s |
    | 2 TiB | 7500 | 250 MiB/s |
    | 4 TiB | 7500 | 250 MiB/s |
    | 8 TiB | 12500 | 250 MiB/s |

    So 3 files have 3 times the IOPS of one of their size. 128 GiB are taken behind the scenes by every file,
    however small, hence the limit of 280.

    - One file is enough for one reader at a time: a published test (dbstow's experiment `managed-instance-files`) read
      as fast from 4 small files as from 1 with one worker. With two workers 4 files took 37 s instead of 77 s.
    - A larger file is the other way to more IOPS, and its empty space is paid for. The same test saw nothing of it
      from 1.5 to 132 GB, though the table promises it: measure.
    - Files of one size and one growth are filled alike. More files than virtual processors are seldom of use.

    The table is dbstow's catalogue entry `azure.mi_gp_file`; the next-gen General Purpose tier shares IOPS among files
    and Business Critical has a local SSD: neither has this table.
    ");
    assert!(!shown(&scripts, &["README.md"]).contains("FILENAME"));
}

#[test]
fn its_limits_are_kept() {
    let many = refused(&sqlserver::layout::Layout, &asked(200), Some(instance()));
    assert!(many.contains("allows 128"), "{many}");
    // 8 virtual processors x 24 GiB = 192 GiB.
    let mut large = asked(100);
    for file in large.files.entry(Role::Temp).or_default() {
        file.size = Some(Bytes::gib(2));
    }
    let large = refused(&sqlserver::layout::Layout, &large, Some(instance()));
    assert!(
        large.contains("192 GiB free, and the new files need 200 GiB"),
        "{large}"
    );
    let mut files = asked(2);
    let more = vec![files.files(Role::Data)[0].clone(); 300];
    files.files.insert(Role::Data, more);
    let files = refused(&sqlserver::layout::Layout, &files, Some(instance()));
    assert!(files.contains("280"), "{files}");
    let mut placed = asked(2);
    placed.folders.insert("d".to_owned(), "D:\\x".to_owned());
    let placed = refused(&sqlserver::layout::Layout, &placed, Some(instance()));
    assert!(placed.contains("decides where its files are"), "{placed}");
    let mut other = asked(2);
    other.database = Some("sale".to_owned());
    let other = refused(&sqlserver::layout::Layout, &other, Some(instance()));
    assert!(other.contains("no such database (sales)"), "{other}");
}
