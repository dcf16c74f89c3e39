foreach ($folder in @({% for folder in folders %}{{ folder|powershell }}{% if !loop.last %}, {% endif %}{% endfor %})) {
    [System.IO.Directory]::CreateDirectory($folder) | Out-Null
    & icacls.exe $folder /grant 'NT SERVICE\{{ service.name }}:(OI)(CI)F'
    if ($LASTEXITCODE -ne 0) { throw "no rights on ${folder}: icacls ended with $LASTEXITCODE" }
}
