# At every start of the machine: the disk may be new and empty. Makes the folders, then starts the service.
# A machine whose local disk comes raw (newer sizes with NVMe) has to initialise and format it here first:
# that depends on the machine and is not written for it.
$ErrorActionPreference = 'Stop'
foreach ($drive in @({% for drive in drives %}{{ drive|powershell }}{% if !loop.last %}, {% endif %}{% endfor %})) {
    for ($second = 0; -not (Test-Path -LiteralPath $drive); $second++) {
        if ($second -ge 120) { throw "$drive is not there" }
        Start-Sleep -Seconds 1
    }
}
{% include "sqlserver/windows/make-folders.ps1" %}
Start-Service -Name '{{ service.name }}'
Start-Service -Name '{{ service.agent() }}'
