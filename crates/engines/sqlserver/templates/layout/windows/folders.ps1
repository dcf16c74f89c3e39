# Makes the folders, and gives the service full control of them. Run as administrator.
$ErrorActionPreference = 'Stop'
{%- if let Some(local_disk) = local_disk %}
{{ local_disk }}
{%- endif %}
{% include "layout/windows/make-folders.ps1" %}
