# The machine's own disk comes back without a file system. A disk is formatted only if its name is that of a local disk of
# Azure, AWS or Google Cloud, and if it has no partition table; a disk that has one is never touched.
$models = '^({{ models }})\s*$'
foreach ($place in @({% for place in places %}{{ place|powershell }}{% if !loop.last %}, {% endif %}{% endfor %})) {
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
        Format-Volume -Partition $partition -FileSystem NTFS -AllocationUnitSize {{ unit }} -NewFileSystemLabel 'local' -Confirm:$false | Out-Null
        Add-PartitionAccessPath -DiskNumber $disk -PartitionNumber $partition.PartitionNumber -AccessPath $place.TrimEnd('\')
    } catch {
        # The disk was empty and Initialize-Disk has just succeeded: it is cleared again, so that the next start finds it empty.
        Clear-Disk -Number $disk -RemoveData -Confirm:$false -ErrorAction Continue
        throw
    }
}
