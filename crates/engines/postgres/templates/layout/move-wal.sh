#!/bin/sh
# Moves the write-ahead log: copies it, and puts a symbolic link in its place. The old one stays beside it as
# pg_wal.before until you delete it. A new cluster has it simpler: initdb --waldir=FOLDER.
# Run as root; the server stops. dbstow took the data directory for granted where --data-directory was not
# given: SHOW data_directory tells.
set -eu
data={{ placement.data_directory|sh }}
new={{ log|sh }}
[ -f "$data/PG_VERSION" ] || { echo "$data is not a data directory; give --data-directory" >&2; exit 1; }
[ ! -L "$data/pg_wal" ] || { echo "$data/pg_wal is a link already" >&2; exit 1; }
[ ! -e "$data/pg_wal.before" ] || { echo "$data/pg_wal.before is there, of an earlier move; delete it first" >&2; exit 1; }
[ -z "$(ls -A "$new")" ] || { echo "$new is not empty" >&2; exit 1; }
needed=$(du -sk "$data/pg_wal" | cut -f1)
free=$(df -Pk "$new" | awk 'NR == 2 { print $4 }')
[ "$free" -gt "$needed" ] || { echo "$new has $free KiB free, and the log has $needed" >&2; exit 1; }
# Until the new place counts, whatever fails: the server runs again where it was.
moved=no
back() {
    [ "$moved" = no ] || return 0
    if [ -e "$data/pg_wal.before" ]; then
        rm -f "$data/pg_wal"
        mv "$data/pg_wal.before" "$data/pg_wal"
    fi
    find "$new" -mindepth 1 -delete
    systemctl start {{ placement.service|sh }}
    echo "the log was not moved; the server runs as before" >&2
}
trap back EXIT
trap 'exit 1' HUP INT TERM
systemctl stop {{ placement.service|sh }}
[ ! -e "$data/postmaster.pid" ] || { echo "a server still runs on $data" >&2; exit 1; }
cp -a "$data/pg_wal/." "$new/"
sync
mv "$data/pg_wal" "$data/pg_wal.before"
ln -s "$new" "$data/pg_wal"
chown -h postgres:postgres "$data/pg_wal"
moved=yes
systemctl start {{ placement.service|sh }}
