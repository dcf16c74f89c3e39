//! Disks that come back without a file system.

use super::*;

#[test]
fn a_disk_that_comes_back_raw_is_formatted_only_if_it_is_local_and_empty() {
    let scripts = made(&sqlserver::layout::Layout, &raw("D:\\tempdb", 1), None);
    insta::assert_snapshot!(text(&scripts, "start-up.ps1"), @r#"
    # At every start of the machine: the disk may be new and empty. Formats it, makes the folders, then starts the service.
    $ErrorActionPreference = 'Stop'
    # The machine's own disk comes back without a file system. A disk is formatted only if its name is that of a local disk of
    # Azure, AWS or Google Cloud, and if it has no partition table; a disk that has one is never touched.
    $models = '^(Microsoft NVMe Direct Disk( v[0-9]+)?|NVMe Amazon EC2 NVMe|(NVMe )?nvme_card[0-9]*|Google EphemeralDisk)\s*$'
    foreach ($place in @('D:\')) {
        $there = Get-Partition | Where-Object { $_.AccessPaths -contains $place } | Get-Disk
        if ($there) {
            if ($there.FriendlyName -notmatch $models) {
                throw "$place is on '$($there.FriendlyName)', which is not a local disk; use another drive, or leave this check out if it is a stripe of local disks"
            }
            continue
        }
        for ($second = 0; $true; $second++) {
            $empty = @(Get-Disk | Where-Object {
                $_.FriendlyName -match $models -and $_.PartitionStyle -eq 'RAW' -and $_.NumberOfPartitions -eq 0 -and -not $_.IsBoot -and -not $_.IsSystem
            } | Sort-Object -Property Number)
            if ($empty.Count -gt 0) { break }
            if ($second -ge 120) {
                throw "there is no empty local disk for ${place}; disks: $((Get-Disk | ForEach-Object { "$($_.Number) $($_.FriendlyName) ($($_.PartitionStyle))" }) -join ', '); if a local disk has a partition table because a start was interrupted, clear it with Clear-Disk -RemoveData"
            }
            Start-Sleep -Seconds 1
        }
        $disk = $empty[0].Number
        if ($empty.Count -gt 1) {
            Write-Warning "$($empty.Count) local disks are empty: disk $disk becomes $place, the others are left as they are"
        }
        # Whether the place is free, before the disk is changed.
        if ($place.Length -gt 3) {
            # A folder on another drive: the mount point of the disk that is gone may be in its place.
            & mountvol.exe $place /D | Out-Null
            [System.IO.Directory]::CreateDirectory($place) | Out-Null
            if (@(Get-ChildItem -LiteralPath $place -Force).Count -gt 0) { throw "$place has files; move them, or give another folder" }
        } elseif ([System.IO.Directory]::GetLogicalDrives() -contains $place) {
            throw "$place is the letter of another drive; give that another letter, or use another drive here"
        }
        if ($empty[0].IsOffline) { Set-Disk -Number $disk -IsOffline $false }
        if ($empty[0].IsReadOnly) { Set-Disk -Number $disk -IsReadOnly $false }
        Initialize-Disk -Number $disk -PartitionStyle GPT
        try {
            $partition = New-Partition -DiskNumber $disk -UseMaximumSize
            Format-Volume -Partition $partition -FileSystem NTFS -AllocationUnitSize 65536 -NewFileSystemLabel 'local' -Confirm:$false | Out-Null
            Add-PartitionAccessPath -DiskNumber $disk -PartitionNumber $partition.PartitionNumber -AccessPath $place.TrimEnd('\')
        } catch {
            # The disk was empty and Initialize-Disk has just succeeded: it is cleared again, so that the next start finds it empty.
            Clear-Disk -Number $disk -RemoveData -Confirm:$false -ErrorAction Continue
            throw
        }
    }
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
    "#);
    let first = text(&scripts, "0-folders.ps1");
    assert!(first.contains("Format-Volume"), "{first}");
    // Before the folder is created on it.
    assert!(first.find("Format-Volume") < first.find("CreateDirectory($folder)"));
    let readme = text(&scripts, "README.md");
    assert!(
        readme.find("comes back without a file system") < readme.find("| file | now |"),
        "{readme}"
    );
    assert!(
        !text(
            &made(&sqlserver::layout::Layout, &local(2), None),
            "start-up.ps1"
        )
        .contains("Format")
    );
}

/// A failure before or in `Initialize-Disk` leaves a disk unchanged; a failure after it leaves it empty again.
#[test]
fn a_disk_is_cleared_only_by_the_run_that_has_initialised_it() {
    let scripts = made(&sqlserver::layout::Layout, &raw("D:\\tempdb", 1), None);
    for name in ["0-folders.ps1", "start-up.ps1"] {
        let script = text(&scripts, name);
        let at = |part: &str| {
            let mut found = script.match_indices(part).map(|(at, _)| at);
            let first = found
                .next()
                .unwrap_or_else(|| panic!("no {part} in {script}"));
            assert_eq!(found.next(), None, "{part} stands twice in {script}");
            first
        };
        let order = [
            "GetLogicalDrives() -contains $place",
            "    Initialize-Disk -Number $disk",
            "    try {",
            "New-Partition -DiskNumber $disk",
            "Format-Volume -Partition",
            "Add-PartitionAccessPath -DiskNumber $disk",
            "    } catch {",
            "        Clear-Disk -Number $disk",
            "        throw\n",
        ];
        let places: Vec<usize> = order.into_iter().map(at).collect();
        assert!(places.is_sorted(), "{script}");
    }
}

/// SYSTEM runs the script in it: anyone who can write there becomes SYSTEM.
#[test]
fn the_folder_of_the_start_up_script_is_checked_before_anything_is_put_there() {
    let scripts = made(&sqlserver::layout::Layout, &local(2), None);
    let script = text(&scripts, "start-up-register.ps1");
    let at = |part: &str| {
        script
            .find(part)
            .unwrap_or_else(|| panic!("no {part} in {script}"))
    };
    let checked = at("if ($isLink -or $trusted -notcontains $owner -or $others.Count -gt 0)");
    assert!(at("CreateDirectory($folder, $rights)") < checked);
    assert!(checked < at("Remove-Item") && checked < at("Copy-Item"));
    assert!(!script.contains("icacls"), "{script}");
}

#[test]
fn a_raw_disk_without_a_drive_is_mounted_at_the_volumes_folder() {
    let scripts = made(&sqlserver::layout::Layout, &raw("C:\\mnt\\nvme", 1), None);
    let start_up = text(&scripts, "start-up.ps1");
    assert!(
        start_up.contains("foreach ($place in @('C:\\mnt\\nvme\\'))"),
        "{start_up}"
    );
}

#[test]
fn a_stripe_of_raw_disks_is_left_to_others_and_said_first() {
    let scripts = made(&sqlserver::layout::Layout, &raw("D:\\tempdb", 4), None);
    assert!(!text(&scripts, "start-up.ps1").contains("Format-Volume"));
    let readme = text(&scripts, "README.md");
    assert!(
        readme.find("Volume d is a stripe") < readme.find("| file | now |"),
        "{readme}"
    );
}

/// By the names that the clouds' own tools know them by; `grep -E` reads this pattern as PowerShell does.
#[cfg(unix)]
#[test]
fn the_pattern_of_local_disks_is_of_no_remote_disk() {
    let scripts = made(&sqlserver::layout::Layout, &raw("D:\\tempdb", 1), None);
    let script = text(&scripts, "start-up.ps1");
    let pattern = script
        .lines()
        .find_map(|line| line.strip_prefix("$models = '")?.strip_suffix('\''))
        .expect("a pattern");
    let is_match = |name: &str| {
        let mut grep = std::process::Command::new("grep");
        grep.args(["-Eiq", pattern]);
        grep.stdin(std::process::Stdio::piped());
        let mut grep = grep.spawn().expect("grep");
        let mut stdin = grep.stdin.take().expect("it was asked for");
        std::io::Write::write_all(&mut stdin, name.as_bytes()).expect("it reads");
        drop(stdin);
        grep.wait().expect("it ends").success()
    };
    for local in [
        "Microsoft NVMe Direct Disk",
        "Microsoft NVMe Direct Disk v2",
        "NVMe Amazon EC2 NVMe",
        "nvme_card",
        "nvme_card15",
        "NVMe nvme_card",
        "Google EphemeralDisk",
    ] {
        assert!(is_match(local), "{local}");
    }
    for remote in [
        "MSFT NVMe Accelerator v1.0",
        "Msft Virtual Disk",
        "NVMe Amazon Elastic B",
        "nvme_card-pd",
        "Google PersistentDisk",
    ] {
        assert!(!is_match(remote), "{remote}");
    }
}
