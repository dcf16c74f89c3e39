//! All outcomes of each capture: a change of any rule shows here.

use dbstow_sqlserver::capture::Capture;
use dbstow_sqlserver::lint::{self, LintRequest, Outcome};

use crate::support::{azure, capture, good, line};

/// All that is neither fine nor for other servers, a line each.
fn standing(capture: &Capture) -> String {
    let mut lines = Vec::new();
    for judged in lint::judge(capture, &LintRequest::default()) {
        for outcome in &judged.outcomes {
            match outcome {
                Outcome::Fine { .. } | Outcome::NotApplicable { .. } => {}
                Outcome::Finding(_) | Outcome::Exempt { .. } | Outcome::CannotTell { .. } => {
                    lines.push(format!("{} {}", judged.rule.id, line(outcome)));
                }
            }
        }
    }
    lines.join("\n")
}

#[test]
fn good_layout() {
    insta::assert_snapshot!(standing(&good()), @r#"
    volume-allocation-unit exempt (system-volume): C:\ is the volume of Windows, formatted by setup
    volume-allocation-unit cannot tell: the allocation unit of E:\; --host FILE with allocation_unit_bytes for each volume; on the host `fsutil fsinfo ntfsinfo VOLUME` shows it
    volume-allocation-unit cannot tell: the allocation unit of L:\; --host FILE with allocation_unit_bytes for each volume; on the host `fsutil fsinfo ntfsinfo VOLUME` shows it
    volume-allocation-unit cannot tell: the allocation unit of T:\; --host FILE with allocation_unit_bytes for each volume; on the host `fsutil fsinfo ntfsinfo VOLUME` shows it
    file-max-size exempt (log-default-maximum): 5 logs have the default limit of a log, 2 TiB
    "#);
}

#[test]
fn azure_vm_with_its_host_told() {
    insta::assert_snapshot!(standing(&azure()), @r#"
    volume-allocation-unit exempt (system-volume): C:\ is the volume of Windows, formatted by setup
    volume-allocation-unit exempt (temporary-disk): D:\ is a temporary disk; its 4 KiB are accepted
    data-and-log-together note: data and log of archive share F:\
    growth-percent low: 1 file grows by per cent of its size
    file-max-size exempt (log-default-maximum): 6 logs have the default limit of a log, 2 TiB
    page-latch-waits note: sessions wait more for reads than for pages in memory: more tempdb files on the same volume will not help
    azure-temp-disk-folder medium: the folder of tempdb is on a temporary disk, which is empty after a move to another host
    azure-log-cache low: F:\ holds data too, for which a read-only cache is right; a log wants none, so one of the two rules is broken while both are here
    azure-cached-limit-shared note: tempdb on D:\ and cached reads of F:\ share the machine's cached limit
    "#);
}

#[test]
fn linux_container() {
    insta::assert_snapshot!(standing(&capture("linux-2022-container")), @r#"
    tempdb-file-count medium: tempdb has 1 data file for 8 logical processors; setup on Linux makes one file by default
    tempdb-shares-volume cannot tell: the volumes that the files are on; --host FILE with mount_point for each volume, or capture again as a login with VIEW SERVER STATE (2022 and later: VIEW SERVER PERFORMANCE STATE)
    tempdb-files-own-disks cannot tell: the volumes that the files are on; --host FILE with mount_point for each volume, or capture again as a login with VIEW SERVER STATE (2022 and later: VIEW SERVER PERFORMANCE STATE)
    tempdb-grown low: tempdb has grown from 8 MiB to 6 GiB since the last start
    tempdb-initial-size medium: tempdev starts with 8 MiB, as setup leaves it
    data-on-system-volume exempt (linux-no-drive-letters): paths of Linux have no drive letters, and T-SQL does not show what disk a mount point is on
    data-and-log-together cannot tell: the volumes that the files are on; --host FILE with mount_point for each volume, or capture again as a login with VIEW SERVER STATE (2022 and later: VIEW SERVER PERFORMANCE STATE)
    volume-nearly-full cannot tell: the volumes that the files are on; --host FILE with mount_point for each volume, or capture again as a login with VIEW SERVER STATE (2022 and later: VIEW SERVER PERFORMANCE STATE)
    ephemeral-volume-holds-data cannot tell: the volumes that the files are on; --host FILE with mount_point for each volume, or capture again as a login with VIEW SERVER STATE (2022 and later: VIEW SERVER PERFORMANCE STATE)
    file-max-size exempt (log-default-maximum): 5 logs have the default limit of a log, 2 TiB
    max-server-memory exempt (linux-memory-limit): not set, but on Linux the server keeps to memory.memorylimitmb, 80 % of memory by default
    page-latch-waits medium: sessions wait more for pages in memory than for reads, which no disk makes shorter
    azure-tempdb-local-disk cannot tell: whether this is a virtual machine of Azure; --host FILE with azure = true or azure = false
    azure-temp-disk-folder cannot tell: whether this is a virtual machine of Azure; --host FILE with azure = true or azure = false
    azure-data-cache cannot tell: whether this is a virtual machine of Azure; --host FILE with azure = true or azure = false
    azure-log-cache cannot tell: whether this is a virtual machine of Azure; --host FILE with azure = true or azure = false
    azure-cached-limit-shared cannot tell: whether this is a virtual machine of Azure; --host FILE with azure = true or azure = false
    azure-disk-class cannot tell: whether this is a virtual machine of Azure; --host FILE with azure = true or azure = false
    "#);
}

#[test]
fn managed_instance() {
    insta::assert_snapshot!(standing(&capture("managed-instance")), @r#"
    managed-file-size low: crm gets 500 IOPS from 1 data file, in the General Purpose tier
    governed-io medium: 42 % of the time that files took was governance
    "#);
}

#[test]
fn azure_sql_database() {
    insta::assert_snapshot!(standing(&capture("azure-sql-database")), @r#"
    azure-database-placement exempt (azure-sql-database): Azure SQL Database places its files itself; compare service objectives instead of layouts
    "#);
}

#[test]
fn bad_layout() {
    insta::assert_snapshot!(standing(&capture("standalone-2016-bad-layout")), @r#"
    tempdb-file-count medium: tempdb has 2 data files for 12 logical processors
    tempdb-shares-volume medium: tempdb shares C:\ with erp
    tempdb-pending-restart medium: 2 files of tempdb will be different after the next start
    tempdb-trace-flags low: trace flag 1118 is on, and does nothing from 2016 on
    tempdb-sizes-alike medium: tempdb's data files will start with 8 MiB to 4 GiB
    tempdb-skewed-in-use medium: tempdb's data files now have 4 GiB to 9 GiB
    tempdb-grown low: tempdb has grown from 4.01 GiB to 13 GiB since the last start
    tempdb-initial-size medium: tempdev starts with 8 MiB, as setup leaves it
    tempdb-growth-alike medium: some of tempdb's data files grow by 10 %, others by 64 MiB
    tempdb-growth-percent low: 1 file of tempdb grows by per cent
    volume-allocation-unit exempt (system-volume): C:\ is the volume of Windows, formatted by setup
    volume-allocation-unit cannot tell: the allocation unit of C:\mnt\data\; --host FILE with allocation_unit_bytes for each volume; on the host `fsutil fsinfo ntfsinfo VOLUME` shows it
    volume-allocation-unit cannot tell: the allocation unit of T:\; --host FILE with allocation_unit_bytes for each volume; on the host `fsutil fsinfo ntfsinfo VOLUME` shows it
    data-on-system-volume medium: tempdb, erp are on C:\, the volume of the operating system
    data-and-log-together note: data and log of erp share C:\
    data-and-log-together note: data and log of old share C:\mnt\data\
    volume-nearly-full high: the next growth of erp.erp, 4 GiB, does not fit C:\
    growth-step-large medium: erp.erp_log grows by more than 1 GiB at once; a log is always zeroed when it grows by so much
    growth-step-large medium: erp.erp grows by more than 1 GiB at once; the new part is zeroed: instant file initialization is off
    growth-off low: the data files of old cannot grow
    growth-off low: the log of old cannot grow
    file-max-size note: 1 file has a largest size: old.old_log
    file-max-size exempt (log-default-maximum): 6 logs have the default limit of a log, 2 TiB
    log-several-files low: erp has 2 log files
    instant-file-initialization high: data files are zeroed when they are made and when they grow: instant file initialization is off
    max-server-memory medium: max server memory was never set: the server takes what it can get
    page-latch-waits note: sessions wait more for reads than for pages in memory: more tempdb files on the same volume will not help
    "#);
}
