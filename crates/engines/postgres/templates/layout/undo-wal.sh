#!/bin/sh
# Rollback: copies the log into the data directory again.
# Run as root; the server stops. dbstow took the data directory for granted where --data-directory was not
# given: SHOW data_directory tells.
set -eu
data={{ placement.data_directory|sh }}
new={{ log|sh }}
[ -f "$data/PG_VERSION" ] || { echo "$data is not a data directory; give --data-directory" >&2; exit 1; }
[ -L "$data/pg_wal" ] || { echo "$data/pg_wal is not a link" >&2; exit 1; }
# Until the new place counts, whatever fails: the server runs again where it was.
moved=no
back() {
    [ "$moved" = no ] || return 0
    if [ ! -e "$data/pg_wal" ]; then ln -s "$new" "$data/pg_wal"; fi
    rm -rf "$data/pg_wal.back"
    systemctl start {{ placement.service|sh }}
    echo "the log was not moved; the server runs as before" >&2
}
trap back EXIT
trap 'exit 1' HUP INT TERM
systemctl stop {{ placement.service|sh }}
[ ! -e "$data/postmaster.pid" ] || { echo "a server still runs on $data" >&2; exit 1; }
rm -rf "$data/pg_wal.back"
cp -a "$new/." "$data/pg_wal.back"
sync
rm "$data/pg_wal"
mv "$data/pg_wal.back" "$data/pg_wal"
moved=yes
systemctl start {{ placement.service|sh }}
echo "$new and $data/pg_wal.before can be deleted now"
