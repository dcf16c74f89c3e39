//! A server on Linux, with and without a capture.

use layout::LayoutRequest;
use model::Bytes;

use crate::layout::{made, request, server, shown, text};

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
    insta::assert_snapshot!(shown(&scripts, &leave), @r#"
    ==> 0-folders.sh
    #!/bin/sh
    # Makes the folders for the service's user. Run as root. In a container: mount the volume first; the user
    # there is mssql (10001), whom the folder on the host has to belong to.
    set -eu
    install -d -o mssql -g mssql -m 0750 -- /mnt/b
    install -d -o mssql -g mssql -m 0750 -- '/nvme/it'\''s 100%'
    ==> 2-apply.sql
    -- Says where tempdb's files are to be. Nothing moves before the restart; undo.sql takes it back.
    USE [master];
    GO
    SET NOCOUNT ON;
    GO
    IF EXISTS (SELECT 1 FROM sys.master_files WHERE database_id = DB_ID(N'tempdb') AND NOT (
           (name = N'tempdev' AND physical_name IN (N'/var/opt/mssql/data/tempdb.mdf', N'/nvme/it''s 100%/tempdb.mdf'))
        OR (name = N'templog' AND physical_name IN (N'/var/opt/mssql/data/templog.ldf', N'/nvme/it''s 100%/templog.ldf'))
        OR (name = N'temp2' AND physical_name IN (N'/mnt/b/tempdb_mssql_2.ndf', N'/var/opt/mssql/data/rescued-data-1.ndf'))))
    BEGIN
        RAISERROR(N'tempdb has a file that this script does not know. Run 1-check.sql, which says more.', 16, 1);
        SET NOEXEC ON;
    END;
    GO
    USE [tempdb];
    GO
    ALTER DATABASE [tempdb] MODIFY FILE (NAME = [tempdev], FILENAME = N'/nvme/it''s 100%/tempdb.mdf');
    GO
    IF NOT EXISTS (SELECT 1 FROM tempdb.sys.database_files WHERE name = N'temp2')
        ALTER DATABASE [tempdb] ADD FILE (NAME = [temp2], FILENAME = N'/mnt/b/tempdb_mssql_2.ndf', SIZE = 8MB, FILEGROWTH = 64MB);
    GO
    ALTER DATABASE [tempdb] MODIFY FILE (NAME = [templog], FILENAME = N'/nvme/it''s 100%/templog.ldf');
    GO
    IF OBJECT_ID(N'tempdb.dbo.[dbstow waits for a restart]') IS NULL
        CREATE TABLE tempdb.dbo.[dbstow waits for a restart] (since datetime2 NOT NULL DEFAULT SYSDATETIME());
    GO
    PRINT N'If there is no error above: restart the service now, see 3-restart.';
    GO
    SET NOEXEC OFF;
    GO
    ==> 3-restart.sh
    #!/bin/sh
    # Restarts the service; every connection ends. Run as root. A container is restarted from its host, with the
    # new folders mounted: docker restart NAME
    set -eu
    systemctl restart mssql-server
    systemctl --no-pager status mssql-server
    ==> 4-size.sql
    -- Sizes and growth, at the new place, right after the restart.
    USE [master];
    GO
    SET NOCOUNT ON;
    GO
    IF OBJECT_ID(N'tempdb.dbo.[dbstow waits for a restart]') IS NOT NULL
    BEGIN
        RAISERROR(N'The service has not been restarted yet, so that the old files are still in use. Restart it first.', 16, 1);
        SET NOEXEC ON;
    END;
    GO
    USE [tempdb];
    GO
    IF EXISTS (SELECT 1 FROM tempdb.sys.database_files WHERE name = N'tempdev' AND size > 131072)
        DBCC SHRINKFILE (N'tempdev', 1024) WITH NO_INFOMSGS;
    GO
    IF EXISTS (SELECT 1 FROM tempdb.sys.database_files WHERE name = N'tempdev' AND size < 131072)
        ALTER DATABASE [tempdb] MODIFY FILE (NAME = [tempdev], SIZE = 1024MB);
    GO
    IF EXISTS (SELECT 1 FROM tempdb.sys.database_files WHERE name = N'temp2' AND size < 131072)
        ALTER DATABASE [tempdb] MODIFY FILE (NAME = [temp2], SIZE = 1024MB);
    GO
    IF EXISTS (SELECT 1 FROM tempdb.sys.database_files WHERE name = N'templog' AND size > 32768)
        DBCC SHRINKFILE (N'templog', 256) WITH NO_INFOMSGS;
    GO
    IF EXISTS (SELECT 1 FROM tempdb.sys.database_files WHERE name = N'templog' AND size < 32768)
        ALTER DATABASE [tempdb] MODIFY FILE (NAME = [templog], SIZE = 256MB);
    GO
    PRINT N'If there is no error above: look now, 5-verify.sql.';
    GO
    SET NOEXEC OFF;
    GO
    ==> dbstow-folders.service
    # At every start of the machine: the disk may be new and empty.
    # As root: cp dbstow-folders.service /etc/systemd/system/ && systemctl enable dbstow-folders.service
    # The disk itself is formatted and mounted by others (/etc/fstab with nofail, cloud-init): that depends on the
    # machine.
    [Unit]
    Description=Folders of tempdb on a disk that may be new
    RequiresMountsFor="/nvme/it's 100%%"
    Before=mssql-server.service

    [Service]
    Type=oneshot
    RemainAfterExit=yes
    ExecStart=/usr/bin/install -d -o mssql -g mssql -m 0750 -- "/nvme/it's 100%%"

    [Install]
    RequiredBy=mssql-server.service
    ==> rescue.sh
    #!/bin/sh
    # For a service that does not start because of tempdb's files. Run as root, in this folder, with sa's
    # password in SQLCMDPASSWORD. -f: as little as possible; -T3608: no database but master.
    # Microsoft describes this way for Windows; on Linux it is not checked. One connection only: stop all that
    # connects.
    set -eu
    : "${SQLCMDPASSWORD:?put the password of sa into it}"
    systemctl stop mssql-server
    runuser -u mssql -- /opt/mssql/bin/sqlservr -f -T3608 >rescue.log 2>&1 &
    server=$!
    left=60
    until sqlcmd -S localhost -U sa -C -b -x -l 2 -Q 'SELECT 1' >/dev/null 2>&1; do
        left=$((left - 1))
        if [ "$left" -eq 0 ] || ! kill -0 "$server"; then
            echo "the server does not answer; see rescue.log" >&2
            kill "$server" 2>/dev/null || true
            exit 1
        fi
        sleep 2
    done
    sqlcmd -S localhost -U sa -C -b -x -i rescue.sql || echo "rescue.sql failed; see above" >&2
    kill "$server"
    wait "$server" || true
    systemctl start mssql-server
    echo 'The service was started. Now undo.sql, a restart, undo-after-restart.sql.'
    ==> rescue.sql
    -- For a service that does not start with tempdb's new files; see rescue. Every file goes where the old
    -- ones were; first the first data file and the first log, since the server may know no others in this
    -- state. When the service runs again: undo.sql, restart, undo-after-restart.sql.
    ALTER DATABASE [tempdb] MODIFY FILE (NAME = [tempdev], FILENAME = N'/var/opt/mssql/data/tempdb.mdf');
    GO
    ALTER DATABASE [tempdb] MODIFY FILE (NAME = [templog], FILENAME = N'/var/opt/mssql/data/templog.ldf');
    GO
    ALTER DATABASE [tempdb] MODIFY FILE (NAME = [temp2], FILENAME = N'/var/opt/mssql/data/rescued-data-1.ndf');
    GO
    ==> undo-after-restart.sql
    -- The rest of the rollback: files that were added go, sizes and growth are as they were.
    USE [master];
    GO
    SET NOCOUNT ON;
    GO
    IF OBJECT_ID(N'tempdb.dbo.[dbstow waits for a restart]') IS NOT NULL
    BEGIN
        RAISERROR(N'The service has not been restarted yet, so that the old files are still in use. Restart it first.', 16, 1);
        SET NOEXEC ON;
    END;
    GO
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
    IF EXISTS (SELECT 1 FROM tempdb.sys.database_files WHERE name = N'templog' AND size > 1024)
        DBCC SHRINKFILE (N'templog', 8) WITH NO_INFOMSGS;
    GO
    IF EXISTS (SELECT 1 FROM tempdb.sys.database_files WHERE name = N'templog' AND size < 1024)
        ALTER DATABASE [tempdb] MODIFY FILE (NAME = [templog], SIZE = 8MB);
    GO
    PRINT N'If there is no error above: tempdb is as it was.';
    GO
    SET NOEXEC OFF;
    GO
    ==> undo.sql
    -- Takes 2-apply.sql and 4-size.sql back, at whatever point. Nothing moves before the restart.
    USE [master];
    GO
    SET NOCOUNT ON;
    GO
    IF EXISTS (SELECT 1 FROM sys.master_files WHERE database_id = DB_ID(N'tempdb') AND NOT (
           (name = N'tempdev' AND physical_name IN (N'/var/opt/mssql/data/tempdb.mdf', N'/nvme/it''s 100%/tempdb.mdf'))
        OR (name = N'templog' AND physical_name IN (N'/var/opt/mssql/data/templog.ldf', N'/nvme/it''s 100%/templog.ldf'))
        OR (name = N'temp2' AND physical_name IN (N'/mnt/b/tempdb_mssql_2.ndf', N'/var/opt/mssql/data/rescued-data-1.ndf'))))
    BEGIN
        RAISERROR(N'tempdb has a file that this script does not know. Run 1-check.sql, which says more.', 16, 1);
        SET NOEXEC ON;
    END;
    GO
    USE [tempdb];
    GO
    IF EXISTS (SELECT 1 FROM tempdb.sys.database_files WHERE name = N'tempdev' AND size > 1024)
        DBCC SHRINKFILE (N'tempdev', 8) WITH NO_INFOMSGS;
    GO
    ALTER DATABASE [tempdb] MODIFY FILE (NAME = [tempdev], FILENAME = N'/var/opt/mssql/data/tempdb.mdf');
    GO
    IF EXISTS (SELECT 1 FROM tempdb.sys.database_files WHERE name = N'templog' AND size > 1024)
        DBCC SHRINKFILE (N'templog', 8) WITH NO_INFOMSGS;
    GO
    ALTER DATABASE [tempdb] MODIFY FILE (NAME = [templog], FILENAME = N'/var/opt/mssql/data/templog.ldf');
    GO
    IF OBJECT_ID(N'tempdb.dbo.[dbstow waits for a restart]') IS NULL
        CREATE TABLE tempdb.dbo.[dbstow waits for a restart] (since datetime2 NOT NULL DEFAULT SYSDATETIME());
    GO
    PRINT N'If there is no error above: restart the service now, then run undo-after-restart.sql.';
    GO
    SET NOEXEC OFF;
    GO
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
