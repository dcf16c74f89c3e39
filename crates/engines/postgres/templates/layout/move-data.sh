#!/bin/sh
# Moves the data directory: copies it, and puts a symbolic link in its place, so that no setting changes. The old one stays
# beside the link, named .before, until you delete it.
# Run as root; the server stops. dbstow took the data directory for granted where --data-directory was not
# given: SHOW data_directory tells.
set -eu
data={{ placement.data_directory|sh }}
new={{ new|sh }}
stop() { echo "$*" >&2; exit 1; }
[ -f "$data/PG_VERSION" ] || stop "$data is not a data directory; give --data-directory"
[ ! -L "$data" ] || stop "$data is a link already"
[ -f "$data/postmaster.pid" ] || stop "no server runs on $data; start it, or give the --data-directory of the one that runs"
[ ! -e "$data.before" ] || stop "$data.before is there, of an earlier move; delete it first"
mounted=$(find "$data" -maxdepth 2 -type d -exec mountpoint -q {} \; -print | head -n 1)
[ -z "$mounted" ] || stop "$mounted is a mount point, which cannot be renamed; move it by hand"
[ -z "$(ls -A "$new")" ] || stop "$new is not empty"
needed=$(du -sk --exclude=pg_wal.before "$data" | cut -f1)
free=$(df -Pk "$new" | awk 'NR == 2 { print $4 }')
[ "$free" -gt "$needed" ] || stop "$new has $free KiB free, and the data directory has $needed"
# Until the new place counts, whatever fails: the server runs again where it was.
moved=no
back() {
    [ "$moved" = no ] || return 0
    if [ -e "$data.before" ]; then
        rm -f "$data"
        mv "$data.before" "$data"
    fi
    find "$new" -mindepth 1 -delete
    systemctl start {{ placement.service|sh }}
    echo "the data directory was not moved; the server runs as before" >&2
}
trap back EXIT
trap 'exit 1' HUP INT TERM
systemctl stop {{ placement.service|sh }}
[ ! -e "$data/postmaster.pid" ] || stop "a server still runs on $data"
find "$data" -mindepth 1 -maxdepth 1 ! -name pg_wal.before -exec cp -a -t "$new" {} +
chmod --reference="$data" "$new"
sync
mv "$data" "$data.before"
ln -s "$new" "$data"
chown -h postgres:postgres "$data"
moved=yes
systemctl start {{ placement.service|sh }}
for link in "$data/pg_wal" "$data"/pg_tblspc/*; do
    if [ -L "$link" ]; then echo "$(readlink "$link") stays where it is"; fi
done
