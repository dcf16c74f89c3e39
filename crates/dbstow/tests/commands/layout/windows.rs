//! A virtual machine with Windows, whose D: is empty after it was moved.

mod databases;
mod raw;

use experiment::spec::Role;
use layout::LayoutRequest;
use model::Bytes;

use crate::layout::{
    database, made, named_instance, refused, request, server, shown, text, volume,
};

/// The same where the disk comes back without a file system.
fn raw(folder: &str, disks: u32) -> LayoutRequest {
    LayoutRequest {
        folders: [("d".to_owned(), folder.to_owned())].into(),
        raw: [("d".to_owned(), disks)].into(),
        ..local(2)
    }
}

fn local(count: usize) -> LayoutRequest {
    LayoutRequest {
        ephemeral: ["d".to_owned()].into(),
        ..request(
            "tempdb-ssd-vs-premium, arm local-ssd",
            &[("d", "D:\\tempdb")],
            count,
            Bytes::mib(3096),
        )
    }
}

#[test]
fn a_whole_set_for_an_ephemeral_drive() {
    let mut capture = server(3, "Windows", "C:\\MSSQL\\DATA\\", 1);
    volume(&mut capture, "C:\\", Bytes::gib(20));
    let scripts = made(&sqlserver::layout::Layout, &local(2), Some(capture));
    insta::assert_snapshot!(shown(&scripts, &["README.md"]), @r#"
    ==> 0-folders.ps1
    # Makes the folders, and gives the service full control of them. Run as administrator.
    $ErrorActionPreference = 'Stop'
    foreach ($folder in @('D:\tempdb')) {
        [System.IO.Directory]::CreateDirectory($folder) | Out-Null
        & icacls.exe $folder /grant 'NT SERVICE\MSSQLSERVER:(OI)(CI)F'
        if ($LASTEXITCODE -ne 0) { throw "no rights on ${folder}: icacls ended with $LASTEXITCODE" }
    }
    ==> 1-check.sql
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
    IF ISNULL(IS_SRVROLEMEMBER(N'sysadmin'), 0) = 0
    BEGIN
        RAISERROR(N'This login cannot do it: moving tempdb requires a member of sysadmin.', 16, 1);
        SET @bad += 1;
    END;

    -- The files that these scripts were written for.
    DECLARE @expected TABLE (name nvarchar(128), path nvarchar(260), pages bigint, growth bigint, is_percent bit);
    INSERT INTO @expected VALUES (N'tempdev', N'C:\MSSQL\DATA\tempdb.mdf', 1024, 8192, 0);
    INSERT INTO @expected VALUES (N'templog', N'C:\MSSQL\DATA\templog.ldf', 1024, 8192, 0);
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

    -- Another database's file where one of tempdb is to be.
    SELECT @say = MAX(physical_name) FROM sys.master_files
    WHERE database_id <> DB_ID(N'tempdb') AND physical_name IN (
        N'D:\tempdb\tempdb.mdf',
        N'D:\tempdb\tempdb_mssql_2.ndf',
        N'D:\tempdb\templog.ldf');
    IF @say IS NOT NULL
    BEGIN
        RAISERROR(N'Another database has the file %s already. Give another folder with --volume.', 16, 1, @say);
        SET @bad += 1;
    END;

    -- Whether the service can write in the folders, and what is free there.
    DECLARE @need TABLE (name nvarchar(128), bytes bigint);
    DECLARE @short nvarchar(2000);
    IF DB_ID(N'dbstow-probe') IS NOT NULL
    BEGIN
        RAISERROR(N'There is a database dbstow-probe already, perhaps of a check that was interrupted. Drop it.', 16, 1);
        SET @bad += 1;
    END;
    ELSE IF @bad = 0
    BEGIN
        BEGIN TRY
            CREATE DATABASE [dbstow-probe]
            ON PRIMARY
                (NAME = [dbstow-probe-0], FILENAME = N'D:\tempdb\dbstow-probe-0.mdf')
            LOG ON
                (NAME = [dbstow-probe-log], FILENAME = N'D:\tempdb\dbstow-probe-log.ldf');
            INSERT INTO @need VALUES (N'dbstow-probe-0', 6501171200);
            SELECT TOP (1) @short = MIN(volume.volume_mount_point) + N' has '
                + CAST(MIN(volume.available_bytes) / 1048576 AS nvarchar(20)) + N' MiB free, and the files need '
                + CAST(SUM(need.bytes) / 1048576 AS nvarchar(20))
            FROM sys.master_files AS mf
            JOIN @need AS need ON need.name COLLATE DATABASE_DEFAULT = mf.name COLLATE DATABASE_DEFAULT
            CROSS APPLY sys.dm_os_volume_stats(mf.database_id, mf.file_id) AS volume
            WHERE mf.database_id = DB_ID(N'dbstow-probe')
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
        IF DB_ID(N'dbstow-probe') IS NOT NULL
            DROP DATABASE [dbstow-probe];
    END;
    IF @bad = 0
        PRINT N'All is well. Go on with 2-apply.sql.';
    GO
    ==> 2-apply.sql
    -- Says where tempdb's files are to be. Nothing moves before the restart; undo.sql takes it back.
    USE [master];
    GO
    SET NOCOUNT ON;
    GO
    IF EXISTS (SELECT 1 FROM sys.master_files WHERE database_id = DB_ID(N'tempdb') AND NOT (
           (name = N'tempdev' AND physical_name IN (N'C:\MSSQL\DATA\tempdb.mdf', N'D:\tempdb\tempdb.mdf'))
        OR (name = N'templog' AND physical_name IN (N'C:\MSSQL\DATA\templog.ldf', N'D:\tempdb\templog.ldf'))
        OR (name = N'temp2' AND physical_name IN (N'D:\tempdb\tempdb_mssql_2.ndf', N'C:\MSSQL\DATA\rescued-data-1.ndf'))))
    BEGIN
        RAISERROR(N'tempdb has a file that this script does not know. Run 1-check.sql, which says more.', 16, 1);
        SET NOEXEC ON;
    END;
    GO
    USE [tempdb];
    GO
    ALTER DATABASE [tempdb] MODIFY FILE (NAME = [tempdev], FILENAME = N'D:\tempdb\tempdb.mdf');
    GO
    IF NOT EXISTS (SELECT 1 FROM tempdb.sys.database_files WHERE name = N'temp2')
        ALTER DATABASE [tempdb] ADD FILE (NAME = [temp2], FILENAME = N'D:\tempdb\tempdb_mssql_2.ndf', SIZE = 8MB, FILEGROWTH = 64MB);
    GO
    ALTER DATABASE [tempdb] MODIFY FILE (NAME = [templog], FILENAME = N'D:\tempdb\templog.ldf');
    GO
    IF OBJECT_ID(N'tempdb.dbo.[dbstow waits for a restart]') IS NULL
        CREATE TABLE tempdb.dbo.[dbstow waits for a restart] (since datetime2 NOT NULL DEFAULT SYSDATETIME());
    GO
    PRINT N'If there is no error above: restart the service now, see 3-restart.';
    GO
    SET NOEXEC OFF;
    GO
    ==> 3-restart.ps1
    # Restarts the service; every connection ends. Run as administrator. On a failover cluster instance, take
    # the role offline and online again instead (Stop-ClusterGroup, Start-ClusterGroup).
    $ErrorActionPreference = 'Stop'
    $agent = Get-Service -Name 'SQLSERVERAGENT' -ErrorAction SilentlyContinue
    $agentRan = $agent -and $agent.Status -eq 'Running'
    Restart-Service -Name 'MSSQLSERVER' -Force
    if ($agentRan) { Start-Service -Name 'SQLSERVERAGENT' }
    Get-Service -Name 'MSSQLSERVER'
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
    IF EXISTS (SELECT 1 FROM tempdb.sys.database_files WHERE name = N'tempdev' AND size > 396288)
        DBCC SHRINKFILE (N'tempdev', 3096) WITH NO_INFOMSGS;
    GO
    IF EXISTS (SELECT 1 FROM tempdb.sys.database_files WHERE name = N'tempdev' AND size < 396288)
        ALTER DATABASE [tempdb] MODIFY FILE (NAME = [tempdev], SIZE = 3096MB);
    GO
    IF EXISTS (SELECT 1 FROM tempdb.sys.database_files WHERE name = N'temp2' AND size < 396288)
        ALTER DATABASE [tempdb] MODIFY FILE (NAME = [temp2], SIZE = 3096MB);
    GO
    PRINT N'If there is no error above: look now, 5-verify.sql.';
    GO
    SET NOEXEC OFF;
    GO
    ==> 5-verify.sql
    -- Whether tempdb is as it was asked for. Changes nothing.
    USE [master];
    GO
    SET NOCOUNT ON;
    DECLARE @asked TABLE (name nvarchar(128), path nvarchar(260), pages bigint);
    INSERT INTO @asked VALUES (N'tempdev', N'D:\tempdb\tempdb.mdf', 396288);
    INSERT INTO @asked VALUES (N'temp2', N'D:\tempdb\tempdb_mssql_2.ndf', 396288);
    INSERT INTO @asked VALUES (N'templog', N'D:\tempdb\templog.ldf', 1024);
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
    ==> rescue.cmd
    @echo off
    rem For a service that does not start because of tempdb's files. Run as administrator, in this folder.
    rem /f: as little as possible; /T3608: no database but master. One connection only: stop all that connects.
    chcp 65001 >nul
    cd /d "%~dp0"
    net stop "SQLSERVERAGENT"
    net stop "MSSQLSERVER"
    net start "MSSQLSERVER" /f /T3608 || exit /b 1
    sqlcmd -S . -E -C -b -x -f 65001 -i rescue.sql || echo rescue.sql failed, see above. What it changed before that is in effect.
    net stop "MSSQLSERVER" || exit /b 1
    net start "MSSQLSERVER" || exit /b 1
    echo The service runs. Now undo.sql, a restart, undo-after-restart.sql.
    ==> rescue.sql
    -- For a service that does not start with tempdb's new files; see rescue. Every file goes where the old
    -- ones were; first the first data file and the first log, since the server may know no others in this
    -- state. When the service runs again: undo.sql, restart, undo-after-restart.sql.
    ALTER DATABASE [tempdb] MODIFY FILE (NAME = [tempdev], FILENAME = N'C:\MSSQL\DATA\tempdb.mdf');
    GO
    ALTER DATABASE [tempdb] MODIFY FILE (NAME = [templog], FILENAME = N'C:\MSSQL\DATA\templog.ldf');
    GO
    ALTER DATABASE [tempdb] MODIFY FILE (NAME = [temp2], FILENAME = N'C:\MSSQL\DATA\rescued-data-1.ndf');
    GO
    ==> start-up-register.ps1
    # Registers start-up.ps1 as a task. From now on the task starts the service, not Windows. Run as
    # administrator in Windows PowerShell (powershell.exe), once. Not needed where the SQL Server IaaS Agent extension manages
    # tempdb's folder.
    # Back: Unregister-ScheduledTask -TaskName 'dbstow tempdb folders of MSSQLSERVER'; Set-Service -Name 'MSSQLSERVER' -StartupType Automatic
    $ErrorActionPreference = 'Stop'
    # SYSTEM runs what is in this folder, and every user may make folders in C:\ProgramData: it is made with its rights in one
    # step, and one that is there already is used only if nobody but SYSTEM and Administrators can change it.
    $folder = 'C:\ProgramData\dbstow'
    $trusted = @('S-1-5-18', 'S-1-5-32-544')
    $rights = New-Object System.Security.AccessControl.DirectorySecurity
    $rights.SetSecurityDescriptorSddlForm('O:BAG:BAD:PAI(A;OICI;FA;;;SY)(A;OICI;FA;;;BA)')
    [System.IO.Directory]::CreateDirectory($folder, $rights) | Out-Null
    $sid = [System.Security.Principal.SecurityIdentifier]
    $acl = Get-Acl -LiteralPath $folder
    $owner = $acl.GetOwner($sid).Value
    $others = @($acl.GetAccessRules($true, $true, $sid) | Where-Object {
        $_.AccessControlType -eq 'Allow' -and $trusted -notcontains $_.IdentityReference.Value
    } | ForEach-Object { $_.IdentityReference.Value })
    $isLink = (Get-Item -LiteralPath $folder -Force).Attributes -band [System.IO.FileAttributes]::ReparsePoint
    if ($isLink -or $trusted -notcontains $owner -or $others.Count -gt 0) {
        throw "$folder was there already, and is a link or others than SYSTEM and Administrators have rights on it (owner $owner; others: $($others -join ', ')); see what is in it, rename or delete it, and run this script again"
    }
    $target = Join-Path $folder 'start-up-MSSQLSERVER.ps1'
    # A file that is replaced keeps its rights; a new one has the folder's.
    if (Test-Path -LiteralPath $target) { Remove-Item -LiteralPath $target -Force }
    Copy-Item -LiteralPath (Join-Path $PSScriptRoot 'start-up.ps1') -Destination $target
    $action = New-ScheduledTaskAction -Execute 'powershell.exe' -Argument '-NoProfile -ExecutionPolicy Bypass -File "C:\ProgramData\dbstow\start-up-MSSQLSERVER.ps1"'
    $trigger = New-ScheduledTaskTrigger -AtStartup
    Register-ScheduledTask -TaskName 'dbstow tempdb folders of MSSQLSERVER' -Action $action -Trigger $trigger -User 'SYSTEM' -RunLevel Highest -Force
    Set-Service -Name 'MSSQLSERVER' -StartupType Manual
    Set-Service -Name 'SQLSERVERAGENT' -StartupType Manual
    ==> start-up.ps1
    # At every start of the machine: the disk may be new and empty. Makes the folders, then starts the service.
    $ErrorActionPreference = 'Stop'
    foreach ($drive in @('D:\')) {
        for ($second = 0; -not (Test-Path -LiteralPath $drive); $second++) {
            if ($second -ge 120) { throw "$drive is not there" }
            Start-Sleep -Seconds 1
        }
    }
    foreach ($folder in @('D:\tempdb')) {
        [System.IO.Directory]::CreateDirectory($folder) | Out-Null
        & icacls.exe $folder /grant 'NT SERVICE\MSSQLSERVER:(OI)(CI)F'
        if ($LASTEXITCODE -ne 0) { throw "no rights on ${folder}: icacls ended with $LASTEXITCODE" }
    }
    Start-Service -Name 'MSSQLSERVER'
    Start-Service -Name 'SQLSERVERAGENT'
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
           (name = N'tempdev' AND physical_name IN (N'C:\MSSQL\DATA\tempdb.mdf', N'D:\tempdb\tempdb.mdf'))
        OR (name = N'templog' AND physical_name IN (N'C:\MSSQL\DATA\templog.ldf', N'D:\tempdb\templog.ldf'))
        OR (name = N'temp2' AND physical_name IN (N'D:\tempdb\tempdb_mssql_2.ndf', N'C:\MSSQL\DATA\rescued-data-1.ndf'))))
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
    ALTER DATABASE [tempdb] MODIFY FILE (NAME = [tempdev], FILENAME = N'C:\MSSQL\DATA\tempdb.mdf');
    GO
    ALTER DATABASE [tempdb] MODIFY FILE (NAME = [templog], FILENAME = N'C:\MSSQL\DATA\templog.ldf');
    GO
    IF OBJECT_ID(N'tempdb.dbo.[dbstow waits for a restart]') IS NULL
        CREATE TABLE tempdb.dbo.[dbstow waits for a restart] (since datetime2 NOT NULL DEFAULT SYSDATETIME());
    GO
    PRINT N'If there is no error above: restart the service now, then run undo-after-restart.sql.';
    GO
    SET NOEXEC OFF;
    GO
    "#);
    insta::assert_snapshot!(text(&scripts, "README.md"), @r#"
    # tempdb: tempdb-ssd-vs-premium, arm local-ssd

    None of these scripts has run on a SQL Server yet; their T-SQL is parsed by Microsoft's own parser. Read them
    before you run them, and try them where it does not matter.

    | file | now | then | size now | then |
    |---|---|---|---|---|
    | `tempdev` | `C:\MSSQL\DATA\tempdb.mdf` | `D:\tempdb\tempdb.mdf` | 8MB | 3096MB |
    | `temp2` | - | `D:\tempdb\tempdb_mssql_2.ndf` | - | 3096MB |
    | `templog` | `C:\MSSQL\DATA\templog.ldf` | `D:\tempdb\templog.ldf` | 8MB | 8MB |

    - Written for the server as captured on 2026-11-20T10:00:00+00:00: Developer Edition (64-bit) 16.0.4135.4, windows.
    - What is free under `D:\tempdb` is not in the capture (no database has a file there); `1-check.sql` asks the server.

    ## Order

    0. `0-folders.ps1`: folders and rights, on the machine itself.
    1. `sqlcmd -S . -E -C -b -x -f 65001 -i 1-check.sql`: stops with a text where something is in the way. It changes nothing that stays.
    2. `sqlcmd -S . -E -C -b -x -f 65001 -i 2-apply.sql`: new paths, new files. Nothing moves yet; new files are in use at once.
    3. `3-restart.ps1`: the service restarts, and every connection ends.
    4. `sqlcmd -S . -E -C -b -x -f 65001 -i 4-size.sql`: sizes, growth, and files that go. At once after the restart, before there is work.
    5. `sqlcmd -S . -E -C -b -x -f 65001 -i 5-verify.sql`: looks whether all is as asked. Then delete the old files by hand.

    Scripts 2 to 5 can be run again. `sqlcmd -x` is needed: without it, `$(..)` in a name would be a variable.

    The disk is empty after the machine was deallocated or moved: run `start-up-register.ps1` before step 3. Without its folders the service does not start. Where the SQL Server IaaS Agent extension manages tempdb, it does this.

    ## What can go wrong

    - **The service does not start**: it cannot make its files in the new place (no folder, no rights, no space, a
      drive that is missing). See below.
    - The old files stay where they are until the restart, and nobody deletes them after it: 6.1 GiB are needed in the new
      place, and 16 MiB stay taken in the old one.
    - A file shrinks no further than what is in use; `5-verify.sql` says so. Run `4-size.sql` again at a quiet time.
    - A file that is to go is not empty: somebody used tempdb after the restart. Restart, and run `4-size.sql` first.
    - Without instant file initialization every byte is written at every start: large files make starts long. A log
      is always written.

    ## Roll back

    - While the server runs: `undo.sql`, restart, `undo-after-restart.sql`. The old place needs its space again.
    - When it does not start: `rescue.cmd` starts it with as little as possible, and `rescue.sql` says that all files are
      where the old ones were; then as above.

    Sources: <https://learn.microsoft.com/sql/relational-databases/databases/move-system-databases>,
    <https://learn.microsoft.com/sql/relational-databases/databases/tempdb-database>, read 2026-11.
    "#);
}

#[test]
fn a_named_instance_has_its_own_service_agent_and_address() {
    let mut capture = server(3, "Windows", "C:\\MSSQL\\DATA\\", 1);
    named_instance(&mut capture, "SALES");
    let scripts = made(&sqlserver::layout::Layout, &local(2), Some(capture));
    assert!(text(&scripts, "0-folders.ps1").contains("'NT SERVICE\\MSSQL$SALES:(OI)(CI)F'"));
    assert!(text(&scripts, "3-restart.ps1").contains("Restart-Service -Name 'MSSQL$SALES' -Force"));
    let rescue = text(&scripts, "rescue.cmd");
    assert!(
        rescue.contains("net start \"MSSQL$SALES\" /f /T3608"),
        "{rescue}"
    );
    assert!(rescue.contains("sqlcmd -S .\\SALES -E"), "{rescue}");
}

#[test]
fn files_that_go_are_removed_when_they_are_empty() {
    let capture = server(3, "Windows", "C:\\MSSQL\\DATA\\", 4);
    // On 8 processors.
    let error = refused(&sqlserver::layout::Layout, &local(2), Some(capture.clone()));
    assert!(
        error.contains("tempdb would have 2 data files instead of 4")
            && error.contains("--allow-fewer-files"),
        "{error}"
    );
    let meant = LayoutRequest {
        allow_fewer_files: true,
        ..local(2)
    };
    let scripts = made(&sqlserver::layout::Layout, &meant, Some(capture));
    let readme = text(&scripts, "README.md");
    assert!(readme.contains("2 of 4 data files go"), "{readme}");
    let apply = text(&scripts, "2-apply.sql");
    assert!(!apply.contains("REMOVE FILE"), "{apply}");
    let size = text(&scripts, "4-size.sql");
    let empty = size
        .find("SHRINKFILE (N'temp4', EMPTYFILE)")
        .expect("emptied");
    assert!(empty < size.find("REMOVE FILE [temp4]").expect("removed"));
    assert!(text(&scripts, "undo.sql").contains("ADD FILE (NAME = [temp4]"));
}

#[test]
fn a_log_goes_where_the_arm_has_it_only_when_asked() {
    let mut asked = request(
        "two volumes",
        &[("d", "D:\\t"), ("e", "E:\\l")],
        1,
        Bytes::gib(1),
    );
    asked.files.entry(Role::Log).or_default()[0].volume = "e".to_owned();
    let unused = refused(&sqlserver::layout::Layout, &asked, None);
    assert!(
        unused.contains("--volume e=..: no file that is asked for lives there"),
        "{unused}"
    );
    asked.roles.insert(Role::Log);
    let scripts = made(&sqlserver::layout::Layout, &asked, None);
    assert!(text(&scripts, "2-apply.sql").contains("FILENAME = N'E:\\l\\templog.ldf'"));
}

#[test]
fn a_file_in_the_right_folder_stays_and_a_path_in_use_is_not_taken_twice() {
    let mut capture = server(3, "Windows", "D:\\tempdb\\", 1);
    let mut other = capture.files[0].clone();
    other.database_id = 7;
    other.path = "d:\\TEMPDB\\tempdb_mssql_2.ndf".to_owned();
    capture.files.push(other);
    let scripts = made(&sqlserver::layout::Layout, &local(2), Some(capture));
    let apply = text(&scripts, "2-apply.sql");
    assert!(
        !apply.contains("MODIFY FILE (NAME = [tempdev], FILENAME"),
        "{apply}"
    );
    assert!(
        apply.contains("D:\\tempdb\\tempdb_mssql_2_1.ndf"),
        "{apply}"
    );
}

#[test]
fn hostile_names_stay_in_their_quotes() {
    let mut capture = server(3, "Windows", "C:\\it's\\", 1);
    capture.files[0].name = "a]; DROP DATABASE x;--".to_owned();
    let asked = request(
        "o'dd\nDROP",
        &[("d", "D:\\o'dd $(x) [y]")],
        2,
        Bytes::gib(1),
    );
    let scripts = made(&sqlserver::layout::Layout, &asked, Some(capture));
    let apply = text(&scripts, "2-apply.sql");
    assert!(
        apply.contains("NAME = [a]]; DROP DATABASE x;--]"),
        "{apply}"
    );
    assert!(
        apply.contains("N'D:\\o''dd $(x) [y]\\tempdb.mdf'"),
        "{apply}"
    );
    assert!(text(&scripts, "0-folders.ps1").contains("@('D:\\o''dd $(x) [y]')"));
    assert!(!text(&scripts, "README.md").contains("\nDROP"));
}

/// `"$folder: x"` is not a variable and a colon, but the variable `x` of a drive `folder`.
#[test]
fn no_variable_of_powershell_is_followed_by_a_colon() {
    let mut scripts = made(&sqlserver::layout::Layout, &local(2), None);
    scripts.extend(made(
        &sqlserver::layout::Layout,
        &raw("D:\\tempdb", 1),
        None,
    ));
    let shells = scripts
        .iter()
        .filter(|script| script.name.ends_with(".ps1"));
    for script in shells {
        for after in script.text.split('$').skip(1) {
            let end = after
                .find(|c: char| !c.is_alphanumeric())
                .unwrap_or(after.len());
            assert!(!after[end..].starts_with(':'), "{}: ${after}", script.name);
        }
    }
}

#[test]
fn what_cannot_be_is_refused_with_a_remedy() {
    let mut full = server(3, "Windows", "C:\\MSSQL\\DATA\\", 1);
    volume(&mut full, "D:\\", Bytes::gib(1));
    let space = refused(&sqlserver::layout::Layout, &local(2), Some(full));
    assert!(space.contains("D:\\ has 1 GiB free"), "{space}");
    let linux = server(3, "Linux", "/var/opt/mssql/data/", 1);
    let path = refused(&sqlserver::layout::Layout, &local(2), Some(linux));
    assert!(
        path.contains("path of Windows, and the server runs on Linux"),
        "{path}"
    );
    let mut nowhere = local(1);
    nowhere.folders.clear();
    let nowhere = refused(
        &sqlserver::layout::Layout,
        &nowhere,
        Some(server(3, "Windows", "C:\\", 1)),
    );
    assert!(nowhere.contains("add --volume d=D:\\tempdb"), "{nowhere}");
    let mut redacted = server(3, "Windows", "C:\\", 1);
    redacted.redacted = true;
    assert!(
        refused(&sqlserver::layout::Layout, &local(1), Some(redacted)).contains("names replaced")
    );
    let mut newer = server(3, "Windows", "C:\\", 1);
    newer.format = 99;
    assert!(
        refused(&sqlserver::layout::Layout, &local(1), Some(newer)).contains("take a newer dbstow")
    );
    let mut empty = server(3, "Windows", "C:\\", 1);
    empty.files.clear();
    assert!(
        refused(&sqlserver::layout::Layout, &local(1), Some(empty)).contains("no files of tempdb")
    );
    let azure = refused(
        &sqlserver::layout::Layout,
        &local(1),
        Some(server(5, "Windows", "C:\\", 1)),
    );
    assert!(azure.contains("no files to place"), "{azure}");
    let mut odd = local(1);
    odd.service = Some("a & b".to_owned());
    assert!(refused(&sqlserver::layout::Layout, &odd, None).contains("no service's name"));
}
