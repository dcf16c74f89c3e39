//! A server on Linux, with and without a capture.

use layout::LayoutRequest;
use model::Bytes;

use crate::layout::{filled, made, request, server, text};

fn local() -> LayoutRequest {
    LayoutRequest {
        ephemeral: ["a".to_owned()].into(),
        log_size: Some(Bytes::mib(256)),
        ..request(
            "by hand",
            &[("a", "/nvme/it's 100%"), ("b", "/mnt/b")],
            2,
            Bytes::gib(1),
        )
    }
}

#[test]
fn a_whole_set_for_linux() {
    let capture = server(3, "Linux", "/var/opt/mssql/data/", 1);
    let scripts = made(&sqlserver::layout::Layout, &local(), Some(capture));
    let leave = ["README.md", "1-check.sql", "5-verify.sql"];
    insta::assert_snapshot!(filled(&scripts, &leave), @r#"
    ==> 0-folders.sh
    install -d -o mssql -g mssql -m 0750 -- /mnt/b
    install -d -o mssql -g mssql -m 0750 -- '/nvme/it'\''s 100%'
    ==> 2-apply.sql
           (name = N'tempdev' AND physical_name IN (N'/var/opt/mssql/data/tempdb.mdf', N'/nvme/it''s 100%/tempdb.mdf'))
        OR (name = N'templog' AND physical_name IN (N'/var/opt/mssql/data/templog.ldf', N'/nvme/it''s 100%/templog.ldf'))
        OR (name = N'temp2' AND physical_name IN (N'/mnt/b/tempdb_mssql_2.ndf', N'/var/opt/mssql/data/rescued-data-1.ndf'))))
    USE [tempdb];
    ALTER DATABASE [tempdb] MODIFY FILE (NAME = [tempdev], FILENAME = N'/nvme/it''s 100%/tempdb.mdf');
    IF NOT EXISTS (SELECT 1 FROM tempdb.sys.database_files WHERE name = N'temp2')
        ALTER DATABASE [tempdb] ADD FILE (NAME = [temp2], FILENAME = N'/mnt/b/tempdb_mssql_2.ndf', SIZE = 8MB, FILEGROWTH = 64MB);
    ALTER DATABASE [tempdb] MODIFY FILE (NAME = [templog], FILENAME = N'/nvme/it''s 100%/templog.ldf');
    ==> 3-restart.sh
    systemctl restart mssql-server
    systemctl --no-pager status mssql-server
    ==> 4-size.sql
    USE [tempdb];
    IF EXISTS (SELECT 1 FROM tempdb.sys.database_files WHERE name = N'tempdev' AND size > 131072)
        DBCC SHRINKFILE (N'tempdev', 1024) WITH NO_INFOMSGS;
    IF EXISTS (SELECT 1 FROM tempdb.sys.database_files WHERE name = N'tempdev' AND size < 131072)
        ALTER DATABASE [tempdb] MODIFY FILE (NAME = [tempdev], SIZE = 1024MB);
    IF EXISTS (SELECT 1 FROM tempdb.sys.database_files WHERE name = N'temp2' AND size < 131072)
        ALTER DATABASE [tempdb] MODIFY FILE (NAME = [temp2], SIZE = 1024MB);
    IF EXISTS (SELECT 1 FROM tempdb.sys.database_files WHERE name = N'templog' AND size > 32768)
        DBCC SHRINKFILE (N'templog', 256) WITH NO_INFOMSGS;
    IF EXISTS (SELECT 1 FROM tempdb.sys.database_files WHERE name = N'templog' AND size < 32768)
        ALTER DATABASE [tempdb] MODIFY FILE (NAME = [templog], SIZE = 256MB);
    ==> dbstow-folders.service
    RequiresMountsFor="/nvme/it's 100%%"
    Before=mssql-server.service
    ExecStart=/usr/bin/install -d -o mssql -g mssql -m 0750 -- "/nvme/it's 100%%"
    RequiredBy=mssql-server.service
    ==> rescue.sh
    systemctl stop mssql-server
    until sqlcmd -S localhost -U sa -C -b -x -l 2 -Q 'SELECT 1' >/dev/null 2>&1; do
    sqlcmd -S localhost -U sa -C -b -x -i rescue.sql || echo "rescue.sql failed; see above" >&2
    systemctl start mssql-server
    ==> rescue.sql
    ALTER DATABASE [tempdb] MODIFY FILE (NAME = [tempdev], FILENAME = N'/var/opt/mssql/data/tempdb.mdf');
    ALTER DATABASE [tempdb] MODIFY FILE (NAME = [templog], FILENAME = N'/var/opt/mssql/data/templog.ldf');
    ALTER DATABASE [tempdb] MODIFY FILE (NAME = [temp2], FILENAME = N'/var/opt/mssql/data/rescued-data-1.ndf');
    ==> undo-after-restart.sql
    USE [tempdb];
    IF EXISTS (SELECT 1 FROM tempdb.sys.database_files WHERE name = N'temp2')
        DBCC SHRINKFILE (N'temp2', EMPTYFILE) WITH NO_INFOMSGS;
    IF EXISTS (SELECT 1 FROM tempdb.sys.database_files WHERE name = N'temp2')
        ALTER DATABASE [tempdb] REMOVE FILE [temp2];
    IF EXISTS (SELECT 1 FROM tempdb.sys.database_files WHERE name = N'tempdev' AND size > 1024)
        DBCC SHRINKFILE (N'tempdev', 8) WITH NO_INFOMSGS;
    IF EXISTS (SELECT 1 FROM tempdb.sys.database_files WHERE name = N'tempdev' AND size < 1024)
        ALTER DATABASE [tempdb] MODIFY FILE (NAME = [tempdev], SIZE = 8MB);
    IF EXISTS (SELECT 1 FROM tempdb.sys.database_files WHERE name = N'templog' AND size > 1024)
        DBCC SHRINKFILE (N'templog', 8) WITH NO_INFOMSGS;
    IF EXISTS (SELECT 1 FROM tempdb.sys.database_files WHERE name = N'templog' AND size < 1024)
        ALTER DATABASE [tempdb] MODIFY FILE (NAME = [templog], SIZE = 8MB);
    ==> undo.sql
           (name = N'tempdev' AND physical_name IN (N'/var/opt/mssql/data/tempdb.mdf', N'/nvme/it''s 100%/tempdb.mdf'))
        OR (name = N'templog' AND physical_name IN (N'/var/opt/mssql/data/templog.ldf', N'/nvme/it''s 100%/templog.ldf'))
        OR (name = N'temp2' AND physical_name IN (N'/mnt/b/tempdb_mssql_2.ndf', N'/var/opt/mssql/data/rescued-data-1.ndf'))))
    USE [tempdb];
    IF EXISTS (SELECT 1 FROM tempdb.sys.database_files WHERE name = N'tempdev' AND size > 1024)
        DBCC SHRINKFILE (N'tempdev', 8) WITH NO_INFOMSGS;
    ALTER DATABASE [tempdb] MODIFY FILE (NAME = [tempdev], FILENAME = N'/var/opt/mssql/data/tempdb.mdf');
    IF EXISTS (SELECT 1 FROM tempdb.sys.database_files WHERE name = N'templog' AND size > 1024)
        DBCC SHRINKFILE (N'templog', 8) WITH NO_INFOMSGS;
    ALTER DATABASE [tempdb] MODIFY FILE (NAME = [templog], FILENAME = N'/var/opt/mssql/data/templog.ldf');
    "#);
}

#[test]
fn without_a_capture_it_says_what_it_took_for_granted() {
    let scripts = made(&sqlserver::layout::Layout, &local(), None);
    let readme = text(&scripts, "README.md");
    assert!(readme.contains("**No capture was given.**"), "{readme}");
    assert!(readme.contains("dbstow doctor"), "{readme}");
    let check = text(&scripts, "1-check.sql");
    assert!(
        check.contains("N'/var/opt/mssql/data/tempdb.mdf'"),
        "{check}"
    );
}

#[cfg(unix)]
#[test]
fn shell_scripts_parse() {
    let scripts = made(&sqlserver::layout::Layout, &local(), None);
    crate::layout::postgres::parse(&scripts);
}
