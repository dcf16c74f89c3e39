# At every start of the machine: the disk may be new and empty. {% if local_disk.is_some() %}Formats it, makes{% else %}Makes{% endif %} the folders, then starts the service.
$ErrorActionPreference = 'Stop'
{%- if let Some(local_disk) = local_disk %}
{{ local_disk }}
{%- endif %}
foreach ($drive in @({% for drive in drives %}{{ drive|powershell }}{% if !loop.last %}, {% endif %}{% endfor %})) {
    for ($second = 0; -not (Test-Path -LiteralPath $drive); $second++) {
        if ($second -ge 120) { throw "$drive is not there" }
        Start-Sleep -Seconds 1
    }
}
{% include "layout/windows/make-folders.ps1" %}
Start-Service -Name '{{ service.name }}'
Start-Service -Name '{{ service.agent() }}'
