#!/bin/sh
# Rollback: copies the data directory back, with all that was written since.
# Run as root; the server stops. dbstow took the data directory for granted where --data-directory was not
# given: SHOW data_directory tells.
set -eu
data={{ placement.data_directory|sh }}
new={{ new|sh }}
stop() { echo "$*" >&2; exit 1; }
[ -L "$data" ] || stop "$data is not a link"
[ -f "$data/PG_VERSION" ] || stop "$data is not a data directory; is the volume of $new mounted?"
[ ! -e "$data.back" ] || stop "$data.back is there, of a rollback that was interrupted; delete it first"
needed=$(du -sk "$new" | cut -f1)
free=$(df -Pk "$(dirname "$data")" | awk 'NR == 2 { print $4 }')
[ "$free" -gt "$needed" ] || stop "$(dirname "$data") has $free KiB free, and the data directory has $needed; delete $data.before first"
# Until the new place counts, whatever fails: the server runs again where it was.
moved=no
back() {
    [ "$moved" = no ] || return 0
    if [ ! -e "$data" ]; then ln -s "$new" "$data"; fi
    rm -rf "$data.back"
    systemctl start {{ placement.service|sh }}
    echo "the data directory was not moved; the server runs as before" >&2
}
trap back EXIT
trap 'exit 1' HUP INT TERM
systemctl stop {{ placement.service|sh }}
[ ! -e "$data/postmaster.pid" ] || stop "a server still runs on $data"
cp -a "$new/." "$data.back"
sync
rm "$data"
mv "$data.back" "$data"
moved=yes
systemctl start {{ placement.service|sh }}
echo "$new and $data.before can be deleted now"
