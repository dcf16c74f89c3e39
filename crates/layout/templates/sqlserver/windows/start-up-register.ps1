# Registers start-up.ps1 as a task. From now on the task starts the service, not Windows. Run as
# administrator, once. Not needed where the SQL Server IaaS Agent extension manages tempdb's folder.
# Back: Unregister-ScheduledTask -TaskName 'dbstow tempdb folders of {{ service.name }}'; Set-Service -Name '{{ service.name }}' -StartupType Automatic
$ErrorActionPreference = 'Stop'
[System.IO.Directory]::CreateDirectory('C:\ProgramData\dbstow') | Out-Null
& icacls.exe 'C:\ProgramData\dbstow' /inheritance:r /grant '*S-1-5-18:(OI)(CI)F' '*S-1-5-32-544:(OI)(CI)F'
if ($LASTEXITCODE -ne 0) { throw "icacls ended with $LASTEXITCODE" }
Copy-Item -LiteralPath (Join-Path $PSScriptRoot 'start-up.ps1') -Destination 'C:\ProgramData\dbstow\start-up-{{ service.name }}.ps1' -Force
$action = New-ScheduledTaskAction -Execute 'powershell.exe' -Argument '-NoProfile -ExecutionPolicy Bypass -File "C:\ProgramData\dbstow\start-up-{{ service.name }}.ps1"'
$trigger = New-ScheduledTaskTrigger -AtStartup
Register-ScheduledTask -TaskName 'dbstow tempdb folders of {{ service.name }}' -Action $action -Trigger $trigger -User 'SYSTEM' -RunLevel Highest -Force
Set-Service -Name '{{ service.name }}' -StartupType Manual
Set-Service -Name '{{ service.agent() }}' -StartupType Manual
