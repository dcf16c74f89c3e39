//! What Windows has to do for a move: folders and rights, a restart, a way back for a service that does not
//! start, and folders that come back with an empty disk.

use super::super::Script;
use super::super::folder::Folder;
use super::super::quote::powershell;
use super::kit::Kit;
use super::service::Service;

/// Where the start-up task has its script.
const HOME: &str = "C:\\ProgramData\\dbstow";

/// `0-folders.ps1`. A service's own account (`NT SERVICE\..`) is among those of the service, whichever account
/// it runs as.
///
/// Source: <https://learn.microsoft.com/sql/database-engine/configure-windows/configure-file-system-permissions-for-database-engine-access>,
/// read 2026-11.
pub(super) fn folders(service: &Service, folders: &[Folder]) -> Script {
    let text = format!(
        "# Makes the folders, and gives the service full control of them. Run as administrator.\n\
         $ErrorActionPreference = 'Stop'\n{}",
        make(service, folders)
    );
    Script::new("0-folders.ps1", script(text))
}

fn make(service: &Service, folders: &[Folder]) -> String {
    let list: Vec<String> = folders
        .iter()
        .map(|folder| powershell(folder.text()))
        .collect();
    let account = powershell(&format!("NT SERVICE\\{}:(OI)(CI)F", service.name));
    format!(
        "foreach ($folder in @({})) {{\n    \
             [System.IO.Directory]::CreateDirectory($folder) | Out-Null\n    \
             & icacls.exe $folder /grant {account}\n    \
             if ($LASTEXITCODE -ne 0) {{ throw \"no rights on ${{folder}}: icacls ended with $LASTEXITCODE\" }}\n\
         }}\n",
        list.join(", ")
    )
}

/// Everything but the folders.
pub(super) fn scripts(kit: &Kit<'_>) -> Vec<Script> {
    let mut scripts = vec![restart(&kit.service), rescue(kit)];
    if !kit.ephemeral.is_empty() {
        scripts.extend(start_up(&kit.service, &kit.ephemeral));
    }
    scripts
}

/// The Agent depends on the service: it is stopped with it, and started again if it ran.
fn restart(service: &Service) -> Script {
    let name = powershell(&service.name);
    let agent = powershell(service.agent.as_deref().unwrap_or_default());
    let text = format!(
        "# Restarts the service; every connection ends. Run as administrator. On a failover cluster instance, take\n\
         # the role offline and online again instead (Stop-ClusterGroup, Start-ClusterGroup).\n\
         $ErrorActionPreference = 'Stop'\n\
         $agent = Get-Service -Name {agent} -ErrorAction SilentlyContinue\n\
         $agentRan = $agent -and $agent.Status -eq 'Running'\n\
         Restart-Service -Name {name} -Force\n\
         if ($agentRan) {{ Start-Service -Name {agent} }}\n\
         Get-Service -Name {name}\n"
    );
    Script::new("3-restart.ps1", script(text))
}

/// Source: <https://learn.microsoft.com/sql/relational-databases/databases/move-system-databases> (failure
/// recovery), read 2026-11.
fn rescue(kit: &Kit<'_>) -> Script {
    let Service { name, agent, .. } = &kit.service;
    let agent = agent.as_deref().unwrap_or_default();
    let sqlcmd = kit.sqlcmd("rescue.sql");
    let lines = [
        "@echo off".to_owned(),
        "rem For a service that does not start because of tempdb's files. Run as administrator, in this folder."
            .to_owned(),
        "rem /f: as little as possible; /T3608: no database but master. One connection only: stop all that connects."
            .to_owned(),
        "chcp 65001 >nul".to_owned(),
        "cd /d \"%~dp0\"".to_owned(),
        format!("net stop \"{agent}\""),
        format!("net stop \"{name}\""),
        format!("net start \"{name}\" /f /T3608 || exit /b 1"),
        format!("{sqlcmd} || (net stop \"{name}\" & exit /b 1)"),
        format!("net stop \"{name}\" || exit /b 1"),
        format!("net start \"{name}\" || exit /b 1"),
        "echo The service runs. Now undo.sql, a restart, undo-after-restart.sql.".to_owned(),
    ];
    Script::new("rescue.cmd", lines.join("\r\n") + "\r\n")
}

/// A task at start-up makes the folders and then starts the service, which no longer starts by itself.
fn start_up(service: &Service, folders: &[Folder]) -> [Script; 2] {
    let drives: Vec<String> = folders
        .iter()
        .map(|folder| {
            folder
                .text()
                .chars()
                .take_while(|c| *c != '\\')
                .collect::<String>()
                + "\\"
        })
        .map(|drive| powershell(&drive))
        .collect();
    let name = powershell(&service.name);
    let agent = powershell(service.agent.as_deref().unwrap_or_default());
    let make = make(service, folders);
    let start = format!(
        "# At every start of the machine: the disk may be new and empty. Makes the folders, then starts the service.\n\
         # A machine whose local disk comes raw (newer sizes with NVMe) has to initialise and format it here first:\n\
         # that depends on the machine and is not written for it.\n\
         $ErrorActionPreference = 'Stop'\n\
         foreach ($drive in @({})) {{\n    \
             for ($second = 0; -not (Test-Path -LiteralPath $drive); $second++) {{\n        \
                 if ($second -ge 120) {{ throw \"$drive is not there\" }}\n        \
                 Start-Sleep -Seconds 1\n    \
             }}\n\
         }}\n\
         {make}\
         Start-Service -Name {name}\n\
         Start-Service -Name {agent}\n",
        drives.join(", ")
    );
    let home = powershell(HOME);
    let task = powershell(&format!("dbstow tempdb folders of {}", service.name));
    let file = format!("{HOME}\\start-up-{}.ps1", service.name);
    let action = powershell(&format!(
        "-NoProfile -ExecutionPolicy Bypass -File \"{file}\""
    ));
    let file = powershell(&file);
    let register = format!(
        "# Registers start-up.ps1 as a task. From now on the task starts the service, not Windows. Run as\n\
         # administrator, once. Not needed where the SQL Server IaaS Agent extension manages tempdb's folder.\n\
         # Back: Unregister-ScheduledTask -TaskName {task}; Set-Service -Name {name} -StartupType Automatic\n\
         $ErrorActionPreference = 'Stop'\n\
         [System.IO.Directory]::CreateDirectory({home}) | Out-Null\n\
         & icacls.exe {home} /inheritance:r /grant '*S-1-5-18:(OI)(CI)F' '*S-1-5-32-544:(OI)(CI)F'\n\
         if ($LASTEXITCODE -ne 0) {{ throw \"icacls ended with $LASTEXITCODE\" }}\n\
         Copy-Item -LiteralPath (Join-Path $PSScriptRoot 'start-up.ps1') -Destination {file} -Force\n\
         $action = New-ScheduledTaskAction -Execute 'powershell.exe' -Argument {action}\n\
         $trigger = New-ScheduledTaskTrigger -AtStartup\n\
         Register-ScheduledTask -TaskName {task} -Action $action -Trigger $trigger -User 'SYSTEM' -RunLevel Highest -Force\n\
         Set-Service -Name {name} -StartupType Manual\n\
         Set-Service -Name {agent} -StartupType Manual\n"
    );
    [
        Script::new("start-up.ps1", script(start)),
        Script::new("start-up-register.ps1", script(register)),
    ]
}

/// Windows PowerShell reads UTF-8 only behind a byte order mark.
fn script(text: String) -> String {
    match text.is_ascii() {
        true => text,
        false => format!("\u{feff}{text}"),
    }
}
