#!/bin/sh
# Moves the server's files: stops it, copies them, says so in my.cnf, and starts it. Run as root.
# The old files keep their places until the copies are whole and my.cnf names them; then they get names that
# MariaDB does not read (.dbstow-before). Nothing is deleted.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=/dev/null
. "$here/places.sh"
# shellcheck source=/dev/null
. "$here/system.sh"
sh "$here/1-check.sh" >"$here/check.txt" || stop "1-check.sh found something in the way; nothing was changed"
cnf=$(sed -n 's/^==> //p' "$here/check.txt")
look

step='writing down what there is'
trap 'code=$?; [ "$code" -eq 0 ] || echo "2-apply.sh failed while $step; nothing was deleted. Roll back: sh $here/undo.sh" >&2' EXIT
write_down >"$here/before.sh.new"
mv "$here/before.sh.new" "$here/before.sh"

step='making folders'
for folder in $folders; do install -d -o "$user" -g "$group" -m 0750 -- "$folder"; done
allow

step="stopping $service"
# 0: purges all undo records first, which can take long; 1: what a clean shutdown is by default.
fast=1
if moves undo; then fast=0; fi
ask "SET GLOBAL innodb_fast_shutdown = $fast"
$SYSTEMCTL stop "$service"
has_ended

at_old
for role in $roles; do
    if moves "$role"; then entries "$role" >"$here/$role.txt"; fi
done
for role in $roles; do
    moves "$role" || continue
    step="copying $role"
    eval "to=\$$role"
    while IFS= read -r path; do cp -a -- "$path" "$to/"; done <"$here/$role.txt"
done
if moves binlog; then
    write_index "$old_index" "$binlog/${old_binlog##*/}.index" "$binlog"
elif [ "$(after_move "$old_index")" != "$old_index" ]; then
    write_index "$old_index" "$(after_move "$old_index")" "$(dirname "$(after_move "$old_binlog")")"
fi
# cp has kept the labels of the old places.
if selinux; then for folder in $folders; do restorecon -RF "$folder"; done; fi
sync

step="writing $cnf"
settings >"$cnf.new"
# The server reads it as its own user.
chmod 0644 "$cnf.new"
mv "$cnf.new" "$cnf"
# A setting that is read later than the drop-in would win, and the server would make empty files at the old places.
if ! (wins "$cnf"); then
    rm "$cnf"
    exit 1
fi
# It has to be on its disk before an old file gets another name.
sync

# From here on the new places count, also for a machine that starts again by itself.
step='renaming the old files'
if moves data; then install -d -o "$user" -g "$group" -m 0750 -- "$old_data/.dbstow-before"; fi
if moves binlog; then printf '%s\n' "$old_index" >>"$here/binlog.txt"; fi
for role in $roles; do
    if moves "$role"; then set_aside "$role"; fi
done

step="starting $service"
$SYSTEMCTL start "$service"
wait_for_server
step='verifying what the server says'
is_as "$cnf"
echo "Done. Roll back: sh $here/undo.sh. Once you are sure, delete what is named .dbstow-before:"
left_over
