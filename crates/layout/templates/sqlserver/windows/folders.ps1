# Makes the folders, and gives the service full control of them. Run as administrator.
$ErrorActionPreference = 'Stop'
{% include "sqlserver/windows/make-folders.ps1" %}
