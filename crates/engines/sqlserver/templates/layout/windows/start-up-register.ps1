# Registers start-up.ps1 as a task. From now on the task starts the service, not Windows. Run as
# administrator in Windows PowerShell (powershell.exe), once. Not needed where the SQL Server IaaS Agent extension manages
# tempdb's folder.
# Back: Unregister-ScheduledTask -TaskName 'dbstow tempdb folders of {{ service.name }}'; Set-Service -Name '{{ service.name }}' -StartupType Automatic
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
$target = Join-Path $folder 'start-up-{{ service.name }}.ps1'
# A file that is replaced keeps its rights; a new one has the folder's.
if (Test-Path -LiteralPath $target) { Remove-Item -LiteralPath $target -Force }
Copy-Item -LiteralPath (Join-Path $PSScriptRoot 'start-up.ps1') -Destination $target
$action = New-ScheduledTaskAction -Execute 'powershell.exe' -Argument '-NoProfile -ExecutionPolicy Bypass -File "C:\ProgramData\dbstow\start-up-{{ service.name }}.ps1"'
$trigger = New-ScheduledTaskTrigger -AtStartup
Register-ScheduledTask -TaskName 'dbstow tempdb folders of {{ service.name }}' -Action $action -Trigger $trigger -User 'SYSTEM' -RunLevel Highest -Force
Set-Service -Name '{{ service.name }}' -StartupType Manual
Set-Service -Name '{{ service.agent() }}' -StartupType Manual
