#!/bin/sh
# Whether 2-apply.sh can be run, and what it would write. Changes nothing. Run as root; the server has to run.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=/dev/null
. "$here/places.sh"
# shellcheck source=/dev/null
. "$here/system.sh"

note() { echo "note: $*"; }

[ ! -e "$here/before.sh" ] || stop "$here/before.sh is there: these scripts were applied already; run undo.sh first"
look
case $version in
10.[6-9].*MariaDB* | 10.1[01].*MariaDB* | 11.[0-8].*MariaDB*) ;;
*MariaDB*) stop "$version is not known to these scripts; they are for MariaDB 10.6 to 11.8" ;;
*) stop "$version is not MariaDB; README.md says what differs for MySQL" ;;
esac
[ "$(id -u)" -eq 0 ] || [ "$(id -u)" = "$user" ] || stop "run this as root"
[ -z "$(ask "SHOW GLOBAL VARIABLES WHERE Variable_name = 'wsrep_on' AND Value = 'ON'")" ] || stop "this is a node of a Galera cluster, which these scripts do not move"

# What wins over a drop-in, or would still point into a data directory that has moved.
if tr '\0' '\n' <"/proc/$pid/cmdline" | grep -Eq '^--(datadir|tmpdir|log[-_]bin|innodb[-_](log_group|undo_dir|data|temp_data).*|defaults-group-suffix)='; then
    stop "the server's command line (/proc/$pid/cmdline) sets places itself; move them to my.cnf first"
fi
if moves data; then
    fine='datadir|socket|pid[-_]file|log[-_](error|bin|bin[-_]index)|innodb[-_](log_group_home_dir|undo_directory|data_home_dir|data_file_path|temp_data_file_path)'
    if moves tmpdir; then fine="$fine|tmpdir|slave[-_]load[-_]tmpdir"; fi
    fixed=$($MARIADBD --print-defaults 2>/dev/null | tr ' ' '\n' | sed 's|/*$|/|' | grep -F -- "=$old_data/" | grep -Ev -- "^--($fine)=" | paste -s -d ' ' -)
    [ -z "$fixed" ] || stop "the data directory moves, and these settings have paths in it: $fixed; make them relative first"
    relay=$(variable relay_log_index)
    if [ -n "$relay" ] && [ -e "$relay" ] && grep -Fq -- "$old_data/" "$relay"; then
        stop "$relay has absolute paths in the data directory, which moves; set relay_log to a relative name first"
    fi
    device=$(stat -c %d -- "$old_data/")
    find "$old_data/" -mindepth 1 -maxdepth 1 -type d | while IFS= read -r path; do
        [ "$(stat -c %d -- "$path")" = "$device" ] || stop "$path is another filesystem, mounted inside the data directory; unmount it, or leave data out (--role)"
    done
fi
if [ -z "$CONFIGURATION" ]; then
    for folder in /etc/mysql/mariadb.conf.d /etc/my.cnf.d; do
        if [ -d "$folder" ]; then
            CONFIGURATION=$folder
            break
        fi
    done
fi
[ -d "$CONFIGURATION" ] || stop "no folder of drop-ins for my.cnf; set CONFIGURATION to the one that !includedir names"
cnf=$CONFIGURATION/z-dbstow.cnf
[ ! -e "$cnf" ] || stop "$cnf is there already; run the undo.sh that came with it"

# Files that are there to be moved.
if moves binlog && [ -z "$old_binlog" ]; then
    stop "the server writes no binary log; set log_bin and restart it, or leave binlog out (--role)"
fi
case $old_system in
*raw*) if moves data || moves tmpdir || moves doublewrite; then stop "the system tablespace is on a raw device ($old_system), which these scripts do not move"; fi ;;
esac
if moves undo && [ "$old_undo_count" = 0 ]; then
    note "undo is in the system tablespace; innodb_undo_tablespaces becomes {{ UNDO_TABLESPACES }}, which takes MariaDB a slow shutdown"
fi

left=$(left_over | paste -s -d ' ' -)
[ -z "$left" ] || stop "an earlier move left $left; delete them first"

# Folders.
for folder in $folders; do
    above=$(dirname "$folder")
    [ -d "$above" ] || stop "$above does not exist; mount the volume and make the folder"
    if [ -d "$folder" ] && [ -n "$(ls -A -- "$folder")" ]; then
        stop "$folder is not empty; delete what an earlier attempt left there, or give another folder"
    fi
    case $folder/ in
    "$old_data"/*) stop "$folder is inside the data directory, where MariaDB takes it for a database; give another folder" ;;
    esac
    if [ "$(id -u)" -eq 0 ]; then
        setpriv --reuid "$user" --regid "$group" --clear-groups test -x "$above" ||
            stop "the server's user cannot pass through $above; chmod o+x it and the folders above"
    fi
done
for above in $(for folder in $folders; do dirname "$folder"; done | sort -u); do
    mountpoint -q -- "$above" || mountpoint -q -- "$(dirname "$above")" || note "$above is not a mount point; is its volume mounted?"
done

# Room.
at_old
needs=$(for role in $roles; do
    if moves "$role"; then eval "printf '%s\t%s\n' \"\$(size_of $role)\" \"\$$role\""; fi
done)
full=$(printf '%s\n' "$needs" | too_little)
[ -z "$full" ] || stop "too little room: $full"
[ -z "$needs" ] || note "$(printf '%s\n' "$needs" | awk '{ kib += $1 } END { print int(kib / 1024) }') MiB are copied while the server is stopped"

# Who else is concerned.
if [ -n "$(ask 'SHOW ALL SLAVES STATUS')" ]; then note "this server is a replica; its threads stop and start with it"; fi
replicas=$(ask "SELECT COUNT(*) FROM information_schema.PROCESSLIST WHERE COMMAND LIKE 'Binlog Dump%'")
[ "$replicas" = 0 ] || note "$replicas replicas are connected; they wait, and connect again"

# What the system allows the server.
case $($SYSTEMCTL show -p PrivateTmp "$service" 2>/dev/null || true) in
*yes*) for folder in $folders; do
    case $folder in
    /tmp/* | /var/tmp/*) stop "$service has a /tmp of its own (PrivateTmp), so that it does not see $folder; give another folder" ;;
    esac
done ;;
esac
$SYSTEMCTL show -p ProtectHome -p ProtectSystem -p ReadWritePaths "$service" 2>/dev/null | sed 's/^/note: systemd: /'
if selinux; then
    command -v semanage >/dev/null || stop "SELinux is on and semanage is missing; install policycoreutils-python-utils"
    note "SELinux: the new folders are labelled mysqld_db_t"
fi
if confined; then
    profile=$(profile) || stop "AppArmor confines the server, and no profile of it in $APPARMOR includes a file of local/; allow the new folders there first"
    command -v apparmor_parser >/dev/null || stop "apparmor_parser is missing; install apparmor"
    note "AppArmor: the new folders are allowed in $APPARMOR/local/$(local_rules "$profile")"
fi
echo "==> $cnf"
settings
