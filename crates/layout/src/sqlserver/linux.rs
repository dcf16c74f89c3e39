//! What Linux has to do for a move: folders and rights, a restart, a way back for a service that does not
//! start, and folders that come back with an empty disk.

use super::super::Script;
use super::super::folder::Folder;
use super::super::quote::{sh, systemd_command, systemd_path};
use super::kit::Kit;
use super::service::Service;

/// `0-folders.sh`: the service's user and nobody else.
pub(super) fn folders(_: &Service, folders: &[Folder]) -> Script {
    let make: String = folders
        .iter()
        .map(|folder| format!("{}\n", install(&sh(folder.text()))))
        .collect();
    let text = format!(
        "#!/bin/sh\n\
         # Makes the folders for the service's user. Run as root. In a container: mount the volume first; the user\n\
         # there is mssql (10001), whom the folder on the host has to belong to.\n\
         set -eu\n{make}"
    );
    Script::new("0-folders.sh", text)
}

fn install(folder: &str) -> String {
    format!("install -d -o mssql -g mssql -m 0750 -- {folder}")
}

/// Everything but the folders.
pub(super) fn scripts(kit: &Kit<'_>) -> Vec<Script> {
    let mut scripts = vec![restart(&kit.service), rescue(kit)];
    if !kit.ephemeral.is_empty() {
        scripts.push(start_up(&kit.service, &kit.ephemeral));
    }
    scripts
}

fn restart(service: &Service) -> Script {
    let name = sh(&service.name);
    let text = format!(
        "#!/bin/sh\n\
         # Restarts the service; every connection ends. Run as root. A container is restarted from its host, with the\n\
         # new folders mounted: docker restart NAME\n\
         set -eu\n\
         systemctl restart {name}\n\
         systemctl --no-pager status {name}\n"
    );
    Script::new("3-restart.sh", text)
}

fn rescue(kit: &Kit<'_>) -> Script {
    let name = sh(&kit.service.name);
    let sqlcmd = kit.sqlcmd("rescue.sql");
    let ask = sqlcmd.replace("-i rescue.sql", "-l 2 -Q 'SELECT 1'");
    let text = format!(
        "#!/bin/sh\n\
         # For a service that does not start because of tempdb's files. Run as root, in this folder, with sa's\n\
         # password in SQLCMDPASSWORD. -f: as little as possible; -T3608: no database but master.\n\
         # Microsoft describes this way for Windows; on Linux it is not checked. One connection only: stop all that\n\
         # connects.\n\
         set -eu\n\
         : \"${{SQLCMDPASSWORD:?put the password of sa into it}}\"\n\
         systemctl stop {name}\n\
         runuser -u mssql -- /opt/mssql/bin/sqlservr -f -T3608 >rescue.log 2>&1 &\n\
         server=$!\n\
         left=60\n\
         until {ask} >/dev/null 2>&1; do\n    \
             left=$((left - 1))\n    \
             if [ \"$left\" -eq 0 ] || ! kill -0 \"$server\"; then\n        \
                 echo \"the server does not answer; see rescue.log\" >&2\n        \
                 kill \"$server\" 2>/dev/null || true\n        \
                 exit 1\n    \
             fi\n    \
             sleep 2\n\
         done\n\
         {sqlcmd} || echo \"rescue.sql failed; see above\" >&2\n\
         kill \"$server\"\n\
         wait \"$server\" || true\n\
         systemctl start {name}\n\
         echo 'The service was started. Now undo.sql, a restart, undo-after-restart.sql.'\n"
    );
    Script::new("rescue.sh", text)
}

/// A unit that makes the folders before the service starts; without them it does not.
///
/// Source: systemd.unit(5), `RequiresMountsFor=`, `Before=`, `RequiredBy=`.
fn start_up(service: &Service, folders: &[Folder]) -> Script {
    let unit = if service.name.ends_with(".service") {
        service.name.clone()
    } else {
        format!("{}.service", service.name)
    };
    let paths: Vec<String> = folders
        .iter()
        .map(|folder| systemd_path(folder.text()))
        .collect();
    let make: String = folders
        .iter()
        .map(|folder| {
            let folder = systemd_command(folder.text());
            format!("ExecStart=/usr/bin/{}\n", install(&folder))
        })
        .collect();
    let text = format!(
        "# At every start of the machine: the disk may be new and empty.\n\
         # As root: cp dbstow-folders.service /etc/systemd/system/ && systemctl enable dbstow-folders.service\n\
         # The disk itself is formatted and mounted by others (/etc/fstab with nofail, cloud-init): that depends on the\n\
         # machine.\n\
         [Unit]\n\
         Description=Folders of tempdb on a disk that may be new\n\
         RequiresMountsFor={}\n\
         Before={unit}\n\
         \n\
         [Service]\n\
         Type=oneshot\n\
         RemainAfterExit=yes\n\
         {make}\
         \n\
         [Install]\n\
         RequiredBy={unit}\n",
        paths.join(" ")
    );
    Script::new("dbstow-folders.service", text)
}
