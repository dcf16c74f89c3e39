#!/bin/sh
# Rollback, from wherever 2-apply.sh stopped, and again if this one stopped. Run as root; the server stops.
# Where my.cnf names the new places, their files are copied back, with all that was written since; where it does
# not yet, the old files were never touched.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=/dev/null
. "$here/places.sh"
# shellcheck source=/dev/null
. "$here/system.sh"
[ -e "$here/before.sh" ] || stop "there is no $here/before.sh: nothing was applied, or it was rolled back already"
# shellcheck source=/dev/null
. "$here/before.sh"
step="stopping $service"
trap 'code=$?; [ "$code" -eq 0 ] || echo "undo.sh failed while $step; nothing was deleted. Fix this and run it again" >&2' EXIT

if ask 'SELECT 1' >/dev/null 2>&1; then
    fast=1
    if moves undo; then fast=0; fi
    ask "SET GLOBAL innodb_fast_shutdown = $fast"
    pid=$(cat "$(variable pid_file)")
    $SYSTEMCTL stop "$service"
    has_ended
else
    # It failed to start, or the machine is about to try again.
    $SYSTEMCTL stop "$service"
fi

# Where a role's files were: each file of the system tablespace has its own folder.
old_place() {
    case $1 in
    log) echo "$old_log" ;;
    undo) echo "$old_undo" ;;
    binlog) echo "${old_binlog%/*}" ;;
    data) echo "$old_data" ;;
    doublewrite) dirname "$(system_files | cut -f 1 | while IFS= read -r path; do
        if [ "${path##*/}" = "${2##*/}" ]; then echo "$path"; fi
    done)" ;;
    esac
}

if [ -e "$cnf" ]; then
    step='renaming the old files'
    if moves data; then install -d -o "$user" -g "$group" -m 0750 -- "$old_data/.dbstow-before"; fi
    for role in $roles; do
        # 2-apply.sh leaves its list where it stopped.
        if [ -e "$here/$role.txt" ]; then set_aside "$role"; fi
    done
    at_new
    step='looking for room'
    full=$(for role in $roles; do
        if moves "$role"; then printf '%s\t%s\n' "$(size_of "$role")" "$(old_place "$role" "$(entries "$role" | head -n 1)")"; fi
    done | too_little)
    [ -z "$full" ] || stop "too little room: $full"
    for role in $roles; do
        moves "$role" || continue
        step="copying $role back"
        entries "$role" >"$here/$role.back.txt"
        while IFS= read -r path; do
            to=$(old_place "$role" "$path")/${path##*/}
            # Copied under another name, so that a copy that ends early is not taken for the file.
            rm -rf -- "$to.dbstow-back"
            cp -a -- "$path" "$to.dbstow-back"
        done <"$here/$role.back.txt"
    done
    sync
    step='renaming the copies'
    for role in $roles; do
        moves "$role" || continue
        while IFS= read -r path; do
            to=$(old_place "$role" "$path")/${path##*/}
            [ ! -e "$to" ] || stop "$to is there: a server has been started without $cnf, or an earlier undo.sh stopped here; move it away, and run this again"
        done <"$here/$role.back.txt"
    done
    for role in $roles; do
        moves "$role" || continue
        while IFS= read -r path; do
            to=$(old_place "$role" "$path")/${path##*/}
            mv -T -- "$to.dbstow-back" "$to"
        done <"$here/$role.back.txt"
        rm "$here/$role.back.txt"
    done
    if moves binlog; then
        write_index "$at_index" "$old_index" "$old_prefix"
    elif [ "$(after_move "$old_index")" != "$old_index" ]; then
        write_index "$old_index" "$old_index.new" "$old_prefix"
        mv -- "$old_index.new" "$old_index"
    fi
    if selinux; then
        for role in $roles; do
            if moves "$role"; then restorecon -RF "$(old_place "$role" "$(entries "$role" | head -n 1)")"; fi
        done
    fi
    sync
    # From here on the old places count.
    rm "$cnf"
fi
step='taking back what the system allowed'
rm -f "$cnf.new"
for role in $roles; do rm -f "$here/$role.txt"; done
disallow
step="starting $service"
$SYSTEMCTL start "$service"
wait_for_server
[ "$(variable datadir)" = "$old_data/" ] || stop "the server's data directory is $(variable datadir), and was $old_data"
mv "$here/before.sh" "$here/before.undone.sh"
echo "Rolled back. Once you are sure, delete: $folders, and what is named .dbstow-before at the old places"
