//! Doctor's output for scripted servers: no figure here was measured anywhere.

use super::super::{Capture, capture};
use crate::session::Scripted;
use rules::Captured;

/// An installed server whose login has every permission. A file of tempdb moves at the next start.
const EVERYTHING: &str = r"
# identity
version | edition | engine_edition | tempdb_metadata_in_memory | is_clustered | data_path | log_path | server_name | instance | database_name | login_name | taken | babelfish
16.0.4135.4 | Developer Edition (64-bit) | 3 | 0 | 0 | E:\data\ | L:\log\ | DB1\SQL2022 | 5D1E8A3C | master | ACME\eva | 2026-11-21T08:00:00+00:00 | NULL
# permissions
permission | allowed
VIEW SERVER STATE | 1
VIEW SERVER PERFORMANCE STATE | 1
VIEW SERVER SECURITY STATE | 1
VIEW ANY DEFINITION | 1
ALTER SERVER STATE | 1
ALTER SETTINGS | 1
CREATE ANY DATABASE | 1
ALTER ANY DATABASE | 1
CONTROL SERVER | 1
sysadmin | 1
# host
platform | distribution | release
Windows | Windows Server 2022 Standard | 10.0
# machine
processors | memory_kb | target_kb | started | virtual_machine
16 | 134217728 | 100663296 | 2026-11-20T21:00:00 | HYPERVISOR
# services
name | account | instant_file_initialization
SQL Server (SQL2022) | ACME\sqlservice | Y
# settings
name | value
max server memory (MB) | 98304
max degree of parallelism | 8
# databases
id | name | recovery | read_committed_snapshot | encrypted
1 | master | SIMPLE | 0 | 0
2 | tempdb | SIMPLE | 0 | 0
5 | Sales | FULL | 1 | 0
# files
database_id | id | kind | name | path | size_pages | max_pages | growth | percent_growth | state
2 | 1 | ROWS | tempdev | T:\tempdb\tempdb.mdf | 1048576 | -1 | 8192 | 0 | ONLINE
2 | 2 | LOG | templog | L:\log\templog.ldf | 131072 | 268435456 | 8192 | 0 | ONLINE
5 | 1 | ROWS | Sales | E:\data\Sales.mdf | 12800000 | -1 | 10 | 1 | ONLINE
5 | 2 | LOG | Sales_log | L:\log\Sales_log.ldf | 1310720 | 268435456 | 0 | 0 | ONLINE
# tempdb's files in use
id | kind | name | path | size_pages
1 | ROWS | tempdev | E:\data\tempdb.mdf | 2097152
2 | LOG | templog | L:\log\templog.ldf | 131072
# volumes
database_id | file_id | mount_point | label | file_system | total_bytes | available_bytes
2 | 1 | E:\ | DATA | NTFS | 1099511627776 | 858993459200
2 | 2 | L:\ | LOG | NTFS | 274877906944 | 236223201280
5 | 1 | E:\ | DATA | NTFS | 1099511627776 | 858993459200
5 | 2 | L:\ | LOG | NTFS | 274877906944 | 236223201280
# file statistics
database_id | file_id | reads | read_bytes | read_stall_ms | read_governed_ms | writes | written_bytes | write_stall_ms | write_governed_ms | size_bytes
5 | 1 | 100 | 819200 | 90 | 0 | 10 | 81920 | 20 | 0 | 104857600000
# waits
kind | tasks | wait_ms | signal_ms
WRITELOG | 10 | 20 | 1
# buffer pool
database_id | pages | dirty_pages
5 | 1000 | 10
# space in tempdb
total_pages | free_pages | user_pages | internal_pages | version_pages
2097152 | 2000000 | 90000 | 7152 | 0
# trace flags
TraceFlag | Status | Global | Session
3226 | 1 | 1 | 0
";

/// The same server, seen by a login without permissions.
const NOTHING_ALLOWED: &str = r"
# permissions
permission | allowed
VIEW SERVER STATE | 0
VIEW SERVER PERFORMANCE STATE | 0
VIEW SERVER SECURITY STATE | 0
VIEW ANY DEFINITION | 0
ALTER SERVER STATE | 0
ALTER SETTINGS | 0
CREATE ANY DATABASE | 0
ALTER ANY DATABASE | 0
CONTROL SERVER | 0
sysadmin | 0
# host
error 300 VIEW SERVER PERFORMANCE STATE permission was denied on object 'server', database 'master'.
# machine
error 300 VIEW SERVER PERFORMANCE STATE permission was denied on object 'server', database 'master'.
# services
error 300 VIEW SERVER SECURITY STATE permission was denied on object 'server', database 'master'.
# files
database_id | id | kind | name | path | size_pages | max_pages | growth | percent_growth | state
# volumes
error 297 The user does not have permission to perform this action.
# file statistics
error 300 VIEW SERVER PERFORMANCE STATE permission was denied on object 'server', database 'master'.
# waits
error 300 VIEW SERVER PERFORMANCE STATE permission was denied on object 'server', database 'master'.
# buffer pool
error 300 VIEW SERVER PERFORMANCE STATE permission was denied on object 'server', database 'master'.
# space in tempdb
error 300 VIEW SERVER PERFORMANCE STATE permission was denied on object 'server', database 'master'.
# trace flags
error 2571 User 'ACME\eva' does not have permission to run DBCC TRACESTATUS.
";

/// Azure SQL Database, which has no files to show and is not queried for them.
const AZURE_DATABASE: &str = r"
# identity
version | edition | engine_edition | tempdb_metadata_in_memory | is_clustered | data_path | log_path | server_name | instance | database_name | login_name | taken | babelfish
12.0.2000.8 | SQL Azure | 5 | NULL | NULL | NULL | NULL | acme | 5D1E8A3C | web | eva | 2026-11-21T08:00:00+00:00 | NULL
# permissions
permission | allowed
VIEW SERVER STATE | NULL
sysadmin | 0
# databases
id | name | recovery | read_committed_snapshot | encrypted
1 | master | FULL | 0 | 0
7 | web | FULL | 1 | 1
# tempdb's files in use
id | kind | name | path | size_pages
1 | ROWS | tempdev | C:\data\tempdb.mdf | 2048
# file statistics
database_id | file_id | reads | read_bytes | read_stall_ms | read_governed_ms | writes | written_bytes | write_stall_ms | write_governed_ms | size_bytes
# waits
error 300 VIEW DATABASE PERFORMANCE STATE permission was denied in database 'web'.
# buffer pool
database_id | pages | dirty_pages
# space in tempdb
total_pages | free_pages | user_pages | internal_pages | version_pages
2048 | 1000 | 0 | 0 | 0
";

/// A managed instance.
const MANAGED_INSTANCE: &str = r"
# identity
version | edition | engine_edition | tempdb_metadata_in_memory | is_clustered | data_path | log_path | server_name | instance | database_name | login_name | taken | babelfish
12.0.2000.8 | SQL Azure | 8 | 0 | NULL | NULL | NULL | acme.database.windows.net | 5D1E8A3C | master | eva | 2026-11-21T08:00:00+00:00 | NULL
# volumes
database_id | file_id | mount_point | label | file_system | total_bytes | available_bytes
# services
name | account | instant_file_initialization
";

fn asked(tables: &[&str]) -> Capture {
    let mut session = Scripted::new();
    for table in tables {
        session.tables(table);
    }
    capture(&mut session).expect("every question has an answer")
}

fn shown(tables: &[&str]) -> String {
    let text = asked(tables).report();
    let wide = text.lines().filter(|line| line.chars().count() > 100);
    let wide: Vec<&str> = wide.collect();
    assert!(wide.is_empty(), "wider than 100 columns: {wide:?}");
    text
}

#[test]
fn a_login_that_may_do_everything() {
    insta::assert_snapshot!(shown(&[EVERYTHING]), @r#"
    SQL Server 2022 (16.0.4135.4), Developer Edition (64-bit)
    asked as: ACME\eva in master of DB1\SQL2022
    host: Windows (Windows Server 2022 Standard 10.0), 16 processors, 128 GiB of memory, the server
          means to take 96 GiB, virtual machine: HYPERVISOR
    taken: 2026-11-21T08:00:00+00:00; the service started 2026-11-20T21:00:00
    SQL Server: T-SQL and client run against Babelfish 4.4 (all loads equal to SQLite's); not yet run on
    SQL Server

     what dbstow does                     can it   why
    ───────────────────────────────────────────────────────────────────────────────────────────────────
     see counters                         yes      every question was answered
     see the files of all databases       yes      the login has one of the permissions that show all
                                                   of sys.master_files
     make and drop databases to measure   yes      who makes a database owns it, and may drop it
     empty the cache (CHECKPOINT, DBCC    yes      the login is a member of sysadmin
     DROPCLEANBUFFERS)
     set max server memory                yes      sp_configure, then RECONFIGURE; at once, without a
                                                   restart
     move tempdb                          yes      the new places are used from the next start on, and
                                                   no T-SQL starts a server

     database   file              path                       size   growth     max
    ───────────────────────────────────────────────────────────────────────────────
     tempdb     tempdev           T:\tempdb\tempdb.mdf      8 GiB   64 MiB       -
                templog (log)     L:\log\templog.ldf        1 GiB   64 MiB   2 TiB
     Sales      Sales             E:\data\Sales.mdf      97.7 GiB     10 %       -
                Sales_log (log)   L:\log\Sales_log.ldf     10 GiB     none   2 TiB

     file of tempdb   in use now           after the next start   size now    then
    ───────────────────────────────────────────────────────────────────────────────
     tempdev          E:\data\tempdb.mdf   T:\tempdb\tempdb.mdf     16 GiB   8 GiB
    tempdb: a restart is pending: 1 file will be elsewhere after it

     volume   label   file system      size      free   free   files
    ─────────────────────────────────────────────────────────────────
     E:\      DATA    NTFS            1 TiB   800 GiB   78 %       2
     L:\      LOG     NTFS          256 GiB   220 GiB   86 %       2

     setting                            value
    ──────────────────────────────────────────
     max degree of parallelism              8
     max server memory (MB)             98304
     tempdb's system tables in memory      no
     trace flags                         3226

    service: SQL Server (SQL2022) runs as ACME\sqlservice; makes files without zeroing them
    "#);
}

#[test]
fn a_login_without_permissions_is_told_the_grants() {
    insta::assert_snapshot!(shown(&[EVERYTHING, NOTHING_ALLOWED]), @r#"
    SQL Server 2022 (16.0.4135.4), Developer Edition (64-bit)
    asked as: ACME\eva in master of DB1\SQL2022
    taken: 2026-11-21T08:00:00+00:00
    SQL Server: T-SQL and client run against Babelfish 4.4 (all loads equal to SQLite's); not yet run on
    SQL Server

     what dbstow does                     can it   why
    ──────────────────────────────────────────────────────────────────────────────────────────────────
     see counters                         no       no question about the server's state was answered
     see the files of all databases       partly   sys.master_files leaves out what the login may not
                                                   see, and does not say so
     make and drop databases to measure   no       the login lacks CREATE ANY DATABASE
     empty the cache (CHECKPOINT, DBCC    no       the login lacks ALTER SERVER STATE
     DROPCLEANBUFFERS)
     set max server memory                no       the login lacks ALTER SETTINGS
     move tempdb                          no       the login is not a member of sysadmin, which
                                                   shrinking and removing files of tempdb requires

    An administrator can let it do more; [login] is [ACME\eva]:
      GRANT VIEW SERVER PERFORMANCE STATE TO [login];
      GRANT VIEW ANY DEFINITION TO [login];
      GRANT CREATE ANY DATABASE TO [login];
      GRANT ALTER SERVER STATE TO [login];
      GRANT ALTER SETTINGS TO [login];
      ALTER SERVER ROLE sysadmin ADD MEMBER [login];

    files: the server showed none; what helps is above: GRANT VIEW ANY DEFINITION TO [login]

     setting                            value
    ──────────────────────────────────────────
     max degree of parallelism              8
     max server memory (MB)             98304
     tempdb's system tables in memory      no

    Without an answer
    - host, machine, file statistics, waits, buffer pool, space in tempdb: error 300, class 14, line 1:
      VIEW SERVER PERFORMANCE STATE permission was denied on object 'server', database 'master'; what
      helps: GRANT VIEW SERVER PERFORMANCE STATE TO [login]
    - services: error 300, class 14, line 1: VIEW SERVER SECURITY STATE permission was denied on object
      'server', database 'master'; what helps: GRANT VIEW SERVER SECURITY STATE TO [login]
    - trace flags: error 2571, class 14, line 1: User 'ACME\eva' does not have permission to run DBCC
      TRACESTATUS
    - volumes: error 297, class 14, line 1: The user does not have permission to perform this action;
      what helps: GRANT VIEW SERVER PERFORMANCE STATE TO [login]
    "#);
}

#[test]
fn azure_sql_database_has_nothing_to_place() {
    insta::assert_snapshot!(shown(&[AZURE_DATABASE]), @r#"
    Azure SQL Database (12.0.2000.8), SQL Azure
    asked as: eva in web of acme
    taken: 2026-11-21T08:00:00+00:00
    SQL Server: T-SQL and client run against Babelfish 4.4 (all loads equal to SQLite's); not yet run on
    SQL Server

     what dbstow does                     can it      why
    ────────────────────────────────────────────────────────────────────────────────────────────────────
     see counters                         partly      without an answer: waits
     see the files of all databases       no          Azure SQL Database places its files itself and
                                                      shows no paths
     make and drop databases to measure   not known   a database is made in master, by a member of
                                                      dbmanager, and costs money; none has files to
                                                      place
     empty the cache (CHECKPOINT, DBCC    not known   a member of ##MS_ServerStateManager## may; it
     DROPCLEANBUFFERS)                                empties the cache of this database, in an elastic
                                                      pool of all of its databases
     set max server memory                no          the service objective decides it
     move tempdb                          no          the service places tempdb; another service
                                                      objective is what can be compared

    An administrator can let it do more; [login] is [eva]:
      ALTER SERVER ROLE ##MS_ServerStateReader## ADD MEMBER [login];
      ALTER SERVER ROLE ##MS_ServerStateManager## ADD MEMBER [login];

    Without an answer
    - host, machine, services, settings, trace flags, files, volumes: Azure SQL Database does not have
      it
    - waits: error 300, class 14, line 1: VIEW DATABASE PERFORMANCE STATE permission was denied in
      database 'web'; what helps: ALTER SERVER ROLE ##MS_ServerStateReader## ADD MEMBER [login]
    "#);
}

#[test]
fn a_managed_instance_has_numbers_and_sizes_to_choose() {
    insta::assert_snapshot!(shown(&[EVERYTHING, MANAGED_INSTANCE]), @r#"
    Azure SQL Managed Instance (12.0.2000.8), SQL Azure
    asked as: eva in master of acme.database.windows.net
    host: Windows (Windows Server 2022 Standard 10.0), 16 processors, 128 GiB of memory, the server
          means to take 96 GiB, virtual machine: HYPERVISOR
    taken: 2026-11-21T08:00:00+00:00; the service started 2026-11-20T21:00:00
    SQL Server: T-SQL and client run against Babelfish 4.4 (all loads equal to SQLite's); not yet run on
    SQL Server

     what dbstow does                     can it   why
    ────────────────────────────────────────────────────────────────────────────────────────────────────
     see counters                         yes      every question was answered
     see the files of all databases       yes      the login has one of the permissions that show all
                                                   of sys.master_files
     make and drop databases to measure   partly   with file groups and files added afterwards; the
                                                   service chooses their places
     empty the cache (CHECKPOINT, DBCC    yes      the login is a member of sysadmin
     DROPCLEANBUFFERS)
     set max server memory                no       the instance's number of cores decides it
     move tempdb                          partly   number, size and growth of its files can be changed,
                                                   not their place

     database   file              path                       size   growth     max
    ───────────────────────────────────────────────────────────────────────────────
     tempdb     tempdev           T:\tempdb\tempdb.mdf      8 GiB   64 MiB       -
                templog (log)     L:\log\templog.ldf        1 GiB   64 MiB   2 TiB
     Sales      Sales             E:\data\Sales.mdf      97.7 GiB     10 %       -
                Sales_log (log)   L:\log\Sales_log.ldf     10 GiB     none   2 TiB

     file of tempdb   in use now           after the next start   size now    then
    ───────────────────────────────────────────────────────────────────────────────
     tempdev          E:\data\tempdb.mdf   T:\tempdb\tempdb.mdf     16 GiB   8 GiB
    tempdb: a restart is pending: 1 file will be elsewhere after it

     setting                            value
    ──────────────────────────────────────────
     max degree of parallelism              8
     max server memory (MB)             98304
     tempdb's system tables in memory      no
     trace flags                         3226
    "#);
}

#[test]
fn a_missing_column_is_a_defect_and_the_rest_is_shown() {
    let waits = "# waits\nkind | tasks | wait_ms\nWRITELOG | 1 | 1\n";
    let text = shown(&[EVERYTHING, waits]);
    let (_, unanswered) = text
        .split_once("Without an answer\n")
        .expect("there is one");
    insta::assert_snapshot!(unanswered, @r#"
    - waits: the server's answer has no whole number in a column signal_ms (its columns: kind, tasks,
      wait_ms); what helps: this is a defect of dbstow: report it with this capture
    "#);
    assert!(text.contains("Sales_log"), "{text}");
}

#[test]
fn a_redacted_capture_shows_stand_ins() {
    let text = asked(&[EVERYTHING, NOTHING_ALLOWED]).redacted().report();
    for name in ["Sales", "ACME", "eva", "DB1", "SQL2022"] {
        assert!(!text.contains(name), "{name} is in {text}");
    }
    assert!(text.contains("redacted"), "{text}");
}

#[test]
fn a_capture_keeps_to_its_schema_redacted_or_not() {
    const SCHEMA: &str = include_str!("../../../../../../schema/capture.json");
    let schema = serde_json::from_str(SCHEMA).expect("a schema is JSON");
    let validator = jsonschema::validator_for(&schema).expect("a valid schema");
    for tables in [
        &[EVERYTHING][..],
        &[EVERYTHING, NOTHING_ALLOWED],
        &[AZURE_DATABASE],
    ] {
        let capture = asked(tables);
        for capture in [capture.redacted(), capture] {
            let value = serde_json::to_value(&capture).expect("its keys are texts");
            let wrong: Vec<String> = validator
                .iter_errors(&value)
                .map(|error| error.to_string())
                .collect();
            assert_eq!(wrong, [""; 0]);
        }
    }
}

#[test]
fn what_a_server_counts_as_zero_is_not_shown_and_no_help_is_promised_that_is_not_there() {
    // As Babelfish answers a login with every permission.
    let zero = r"
# machine
processors | memory_kb | target_kb | started | virtual_machine
0 | 0 | 0 | 2026-11-20T21:00:00 | NONE
# files
database_id | id | kind | name | path | size_pages | max_pages | growth | percent_growth | state
";
    let text = shown(&[EVERYTHING, zero]);
    assert!(
        !text.contains("0 processors") && !text.contains("0 B"),
        "{text}"
    );
    assert!(
        text.contains("files: the server showed none, and does not say why"),
        "{text}"
    );
    let refused = "# files\nerror 208 Invalid object name 'sys.master_files'.\n";
    let text = shown(&[EVERYTHING, refused]);
    let (told, reasons) = text.split_once("Without an answer\n").expect("one is");
    assert!(
        told.contains("why is under \"Without an answer\""),
        "{text}"
    );
    assert!(reasons.contains("- files: error 208"), "{reasons}");
}
