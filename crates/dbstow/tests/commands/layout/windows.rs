//! A virtual machine with Windows, whose D: is empty after it was moved.

mod databases;
mod raw;

use experiment::spec::Role;
use layout::LayoutRequest;
use model::Bytes;

use crate::layout::{
    database, filled, made, named_instance, refused, request, server, text, volume,
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
    insta::assert_snapshot!(filled(&scripts, &["README.md"]), @r#"
    ==> 0-folders.ps1
    foreach ($folder in @('D:\tempdb')) {
        & icacls.exe $folder /grant 'NT SERVICE\MSSQLSERVER:(OI)(CI)F'
    ==> 1-check.sql
    IF ISNULL(IS_SRVROLEMEMBER(N'sysadmin'), 0) = 0
        RAISERROR(N'This login cannot do it: moving tempdb requires a member of sysadmin.', 16, 1);
    INSERT INTO @expected VALUES (N'tempdev', N'C:\MSSQL\DATA\tempdb.mdf', 1024, 8192, 0);
    INSERT INTO @expected VALUES (N'templog', N'C:\MSSQL\DATA\templog.ldf', 1024, 8192, 0);
        N'D:\tempdb\tempdb.mdf',
        N'D:\tempdb\tempdb_mssql_2.ndf',
        N'D:\tempdb\templog.ldf');
    IF DB_ID(N'dbstow-probe') IS NOT NULL
        RAISERROR(N'There is a database dbstow-probe already, perhaps of a check that was interrupted. Drop it.', 16, 1);
            CREATE DATABASE [dbstow-probe]
            ON PRIMARY
                (NAME = [dbstow-probe-0], FILENAME = N'D:\tempdb\dbstow-probe-0.mdf')
            LOG ON
                (NAME = [dbstow-probe-log], FILENAME = N'D:\tempdb\dbstow-probe-log.ldf');
            INSERT INTO @need VALUES (N'dbstow-probe-0', 6501171200);
            WHERE mf.database_id = DB_ID(N'dbstow-probe')
        IF DB_ID(N'dbstow-probe') IS NOT NULL
            DROP DATABASE [dbstow-probe];
    ==> 2-apply.sql
           (name = N'tempdev' AND physical_name IN (N'C:\MSSQL\DATA\tempdb.mdf', N'D:\tempdb\tempdb.mdf'))
        OR (name = N'templog' AND physical_name IN (N'C:\MSSQL\DATA\templog.ldf', N'D:\tempdb\templog.ldf'))
        OR (name = N'temp2' AND physical_name IN (N'D:\tempdb\tempdb_mssql_2.ndf', N'C:\MSSQL\DATA\rescued-data-1.ndf'))))
    USE [tempdb];
    ALTER DATABASE [tempdb] MODIFY FILE (NAME = [tempdev], FILENAME = N'D:\tempdb\tempdb.mdf');
    IF NOT EXISTS (SELECT 1 FROM tempdb.sys.database_files WHERE name = N'temp2')
        ALTER DATABASE [tempdb] ADD FILE (NAME = [temp2], FILENAME = N'D:\tempdb\tempdb_mssql_2.ndf', SIZE = 8MB, FILEGROWTH = 64MB);
    ALTER DATABASE [tempdb] MODIFY FILE (NAME = [templog], FILENAME = N'D:\tempdb\templog.ldf');
    ==> 3-restart.ps1
    $agent = Get-Service -Name 'SQLSERVERAGENT' -ErrorAction SilentlyContinue
    Restart-Service -Name 'MSSQLSERVER' -Force
    if ($agentRan) { Start-Service -Name 'SQLSERVERAGENT' }
    Get-Service -Name 'MSSQLSERVER'
    ==> 4-size.sql
    USE [tempdb];
    IF EXISTS (SELECT 1 FROM tempdb.sys.database_files WHERE name = N'tempdev' AND size > 396288)
        DBCC SHRINKFILE (N'tempdev', 3096) WITH NO_INFOMSGS;
    IF EXISTS (SELECT 1 FROM tempdb.sys.database_files WHERE name = N'tempdev' AND size < 396288)
        ALTER DATABASE [tempdb] MODIFY FILE (NAME = [tempdev], SIZE = 3096MB);
    IF EXISTS (SELECT 1 FROM tempdb.sys.database_files WHERE name = N'temp2' AND size < 396288)
        ALTER DATABASE [tempdb] MODIFY FILE (NAME = [temp2], SIZE = 3096MB);
    ==> 5-verify.sql
    INSERT INTO @asked VALUES (N'tempdev', N'D:\tempdb\tempdb.mdf', 396288);
    INSERT INTO @asked VALUES (N'temp2', N'D:\tempdb\tempdb_mssql_2.ndf', 396288);
    INSERT INTO @asked VALUES (N'templog', N'D:\tempdb\templog.ldf', 1024);
    ==> rescue.cmd
    net stop "SQLSERVERAGENT"
    net stop "MSSQLSERVER"
    net start "MSSQLSERVER" /f /T3608 || exit /b 1
    sqlcmd -S . -E -C -b -x -f 65001 -i rescue.sql || echo rescue.sql failed, see above. What it changed before that is in effect.
    net stop "MSSQLSERVER" || exit /b 1
    net start "MSSQLSERVER" || exit /b 1
    ==> rescue.sql
    ALTER DATABASE [tempdb] MODIFY FILE (NAME = [tempdev], FILENAME = N'C:\MSSQL\DATA\tempdb.mdf');
    ALTER DATABASE [tempdb] MODIFY FILE (NAME = [templog], FILENAME = N'C:\MSSQL\DATA\templog.ldf');
    ALTER DATABASE [tempdb] MODIFY FILE (NAME = [temp2], FILENAME = N'C:\MSSQL\DATA\rescued-data-1.ndf');
    ==> start-up-register.ps1
    # Back: Unregister-ScheduledTask -TaskName 'dbstow tempdb folders of MSSQLSERVER'; Set-Service -Name 'MSSQLSERVER' -StartupType Automatic
    $target = Join-Path $folder 'start-up-MSSQLSERVER.ps1'
    $action = New-ScheduledTaskAction -Execute 'powershell.exe' -Argument '-NoProfile -ExecutionPolicy Bypass -File "C:\ProgramData\dbstow\start-up-MSSQLSERVER.ps1"'
    Register-ScheduledTask -TaskName 'dbstow tempdb folders of MSSQLSERVER' -Action $action -Trigger $trigger -User 'SYSTEM' -RunLevel Highest -Force
    Set-Service -Name 'MSSQLSERVER' -StartupType Manual
    Set-Service -Name 'SQLSERVERAGENT' -StartupType Manual
    ==> start-up.ps1
    # At every start of the machine: the disk may be new and empty. Makes the folders, then starts the service.
    foreach ($drive in @('D:\')) {
    foreach ($folder in @('D:\tempdb')) {
        & icacls.exe $folder /grant 'NT SERVICE\MSSQLSERVER:(OI)(CI)F'
    Start-Service -Name 'MSSQLSERVER'
    Start-Service -Name 'SQLSERVERAGENT'
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
    ==> undo.sql
           (name = N'tempdev' AND physical_name IN (N'C:\MSSQL\DATA\tempdb.mdf', N'D:\tempdb\tempdb.mdf'))
        OR (name = N'templog' AND physical_name IN (N'C:\MSSQL\DATA\templog.ldf', N'D:\tempdb\templog.ldf'))
        OR (name = N'temp2' AND physical_name IN (N'D:\tempdb\tempdb_mssql_2.ndf', N'C:\MSSQL\DATA\rescued-data-1.ndf'))))
    USE [tempdb];
    IF EXISTS (SELECT 1 FROM tempdb.sys.database_files WHERE name = N'tempdev' AND size > 1024)
        DBCC SHRINKFILE (N'tempdev', 8) WITH NO_INFOMSGS;
    ALTER DATABASE [tempdb] MODIFY FILE (NAME = [tempdev], FILENAME = N'C:\MSSQL\DATA\tempdb.mdf');
    ALTER DATABASE [tempdb] MODIFY FILE (NAME = [templog], FILENAME = N'C:\MSSQL\DATA\templog.ldf');
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
    assert!(refused(&sqlserver::layout::Layout, &odd, None).contains("not a service's name"));
}
