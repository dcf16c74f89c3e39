# Restarts the service; every connection ends. Run as administrator. On a failover cluster instance, take
# the role offline and online again instead (Stop-ClusterGroup, Start-ClusterGroup).
$ErrorActionPreference = 'Stop'
$agent = Get-Service -Name '{{ service.agent() }}' -ErrorAction SilentlyContinue
$agentRan = $agent -and $agent.Status -eq 'Running'
Restart-Service -Name '{{ service.name }}' -Force
if ($agentRan) { Start-Service -Name '{{ service.agent() }}' }
Get-Service -Name '{{ service.name }}'
