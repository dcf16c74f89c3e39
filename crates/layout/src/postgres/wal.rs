//! The write-ahead log on another volume: a symbolic link, made while the server is stopped.
//!
//! Source: <https://www.postgresql.org/docs/current/wal-internals.html>, read 2026-11.

use super::super::Script;
use super::super::folder::Folder;
use super::super::quote::sh;

/// `4-move-wal.sh` and `undo-wal.sh`.
pub(super) fn scripts(service: &str, folder: &Folder, directory: &Folder) -> [Script; 2] {
    let service = sh(service);
    let new = sh(folder.text());
    let data = sh(directory.text());
    let start = |says: &str| {
        format!(
            "#!/bin/sh\n{says}\
             # Run as root; the server stops. dbstow took the data directory for granted where --data-directory was not\n\
             # given: SHOW data_directory tells.\n\
             set -eu\n\
             data={data}\n\
             new={new}\n\
             [ -f \"$data/PG_VERSION\" ] || {{ echo \"$data is no data directory; give --data-directory\" >&2; exit 1; }}\n"
        )
    };
    let stopped = format!(
        "systemctl stop {service}\n\
         [ ! -e \"$data/postmaster.pid\" ] || {{ echo \"a server still runs on $data\" >&2; exit 1; }}\n"
    );
    let apply = start(
        "# Moves the write-ahead log: copies it, and puts a symbolic link in its place. The old one stays beside it as\n\
         # pg_wal.before until you delete it. A new cluster has it simpler: initdb --waldir=FOLDER.\n",
    ) + "[ ! -L \"$data/pg_wal\" ] || { echo \"$data/pg_wal is a link already\" >&2; exit 1; }\n\
         [ -z \"$(ls -A \"$new\")\" ] || { echo \"$new is not empty\" >&2; exit 1; }\n\
         needed=$(du -sk \"$data/pg_wal\" | cut -f1)\n\
         free=$(df -Pk \"$new\" | awk 'NR == 2 { print $4 }')\n\
         [ \"$free\" -gt \"$needed\" ] || { echo \"$new has $free KiB free, and the log has $needed\" >&2; exit 1; }\n"
        + &stopped
        + &format!(
            "cp -a \"$data/pg_wal/.\" \"$new/\"\n\
             sync\n\
             mv \"$data/pg_wal\" \"$data/pg_wal.before\"\n\
             ln -s \"$new\" \"$data/pg_wal\"\n\
             chown -h postgres:postgres \"$data/pg_wal\"\n\
             systemctl start {service}\n"
        );
    let undo = start("# The way back: copies the log into the data directory again.\n")
        + "[ -L \"$data/pg_wal\" ] || { echo \"$data/pg_wal is no link\" >&2; exit 1; }\n"
        + &stopped
        + &format!(
            "rm -rf \"$data/pg_wal.back\"\n\
             cp -a \"$new/.\" \"$data/pg_wal.back\"\n\
             sync\n\
             rm \"$data/pg_wal\"\n\
             mv \"$data/pg_wal.back\" \"$data/pg_wal\"\n\
             systemctl start {service}\n\
             echo \"$new and $data/pg_wal.before can be deleted now\"\n"
        );
    [
        Script::new("4-move-wal.sh", apply),
        Script::new("undo-wal.sh", undo),
    ]
}
