# The machine's own disk comes back without a file system. A disk is formatted only if its name is that of a local disk of
# Azure, AWS or Google Cloud, and if it has no partition table; a disk that has one is never touched.
$models = '^({{ models }})\s*$'
foreach ($place in @({% for place in places %}{{ place|powershell }}{% if !loop.last %}, {% endif %}{% endfor %})) {
    $there = Get-Partition | Where-Object { $_.AccessPaths -contains $place } | Get-Disk
    if ($there) {
        if ($there.FriendlyName -notmatch $models) {
            throw "$place is on '$($there.FriendlyName)', which is no local disk; use another drive, or leave this check out if it is a stripe of local disks"
        }
        continue
    }
    for ($second = 0; $true; $second++) {
        $empty = @(Get-Disk | Where-Object {
            $_.FriendlyName -match $models -and $_.PartitionStyle -eq 'RAW' -and $_.NumberOfPartitions -eq 0 -and -not $_.IsBoot -and -not $_.IsSystem
        } | Sort-Object -Property Number)
        if ($empty.Count -gt 0) { break }
        if ($second -ge 120) {
            throw "there is no empty local disk for ${place}; disks: $((Get-Disk | ForEach-Object { "$($_.FriendlyName) ($($_.PartitionStyle))" }) -join ', ')"
        }
        Start-Sleep -Seconds 1
    }
    $disk = $empty[0].Number
    if ($empty.Count -gt 1) {
        Write-Warning "$($empty.Count) local disks are empty: disk $disk becomes $place, the others are left as they are"
    }
    if ($empty[0].IsOffline) { Set-Disk -Number $disk -IsOffline $false }
    if ($empty[0].IsReadOnly) { Set-Disk -Number $disk -IsReadOnly $false }
    Initialize-Disk -Number $disk -PartitionStyle GPT
    $partition = New-Partition -DiskNumber $disk -UseMaximumSize
    Format-Volume -Partition $partition -FileSystem NTFS -AllocationUnitSize {{ unit }} -NewFileSystemLabel 'local' -Confirm:$false | Out-Null
    if ($place.Length -gt 3) {
        # A folder on another drive: the mount point of the disk that is gone is in its place.
        & mountvol.exe $place /D | Out-Null
        [System.IO.Directory]::CreateDirectory($place) | Out-Null
    }
    Add-PartitionAccessPath -DiskNumber $disk -PartitionNumber $partition.PartitionNumber -AccessPath $place.TrimEnd('\')
}
