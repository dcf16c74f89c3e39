# {{ placement.request.title|line }}
# What goes where, and what the other scripts share. They read this file; by itself it changes nothing.
# For a server that is not the package's, set what differs in the environment:
: "${MARIADB:=mariadb}"                 # client with its options, as a user with all privileges
: "${MARIADBD:=mariadbd}"               # server with --defaults-file or the like: its configuration is printed
: "${SYSTEMCTL:=systemctl}"             # starts and stops the service
: "${CONFIGURATION:=}"                  # folder of drop-ins for my.cnf [default: Debian's or Red Hat's]
: "${UNITS:=/etc/systemd/system}"       # folder of systemd's units
: "${APPARMOR:=/etc/apparmor.d}"        # folder of AppArmor's profiles
service={{ placement.service|sh }}

# Where files are to be; empty: they stay. None of these has a blank or a character that a shell knows.
{%- for (role, folder) in placement.moves() %}
{{ role }}={{ folder|sh }}
{%- endfor %}
tmpdir={{ placement.tmpdir()|sh }}
# All of them, and those of temporary files on volumes that come back empty.
folders='{{ placement.folders()|join(" ") }}'
ephemeral='{{ placement.ephemeral()|join(" ") }}'

# Files change places in this order; the data directory is last, because it has what others left.
roles='log undo binlog doublewrite data'

stop() {
    echo "$(basename "$0"): $*" >&2
    exit 1
}

moves() { eval "[ -n \"\$$1\" ]"; }

ask() {
    # shellcheck disable=SC2086 # options of the client are words
    $MARIADB --batch --skip-column-names --raw -e "$1" </dev/null
}

variable() { ask "SELECT IFNULL(@@GLOBAL.$1, '')"; }

# An absolute path without a slash at its end: the server's own begin in its data directory.
absolute() {
    case $1 in
    /*) path=$1 ;;
    *) path=$old_data/${1#./} ;;
    esac
    path=${path%/.}
    printf '%s\n' "${path%/}"
}

# What the server has now.
look() {
    version=$(variable version) || stop "the server does not answer '$MARIADB'; start it, or set MARIADB (client and options)"
    old_data=$(variable datadir)
    old_data=${old_data%/}
    old_log=$(absolute "$(variable innodb_log_group_home_dir)")
    old_undo=$(absolute "$(variable innodb_undo_directory)")
    old_undo_count=$(variable innodb_undo_tablespaces)
    old_home=$(variable innodb_data_home_dir)
    old_system=$(variable innodb_data_file_path)
    old_temporary=$(variable innodb_temp_data_file_path)
    old_load=$(variable slave_load_tmpdir)
    old_binlog=$(variable log_bin_basename)
    old_index=$(variable log_bin_index)
    # How the index names the folder: a dot where log_bin is relative. The server finds no log by another name.
    old_prefix=
    if [ -n "$old_index" ]; then old_prefix=$(dirname "$(tail -n 1 "$old_index")"); fi
    old_error=$(variable log_error)
    pid=$(cat "$(absolute "$(variable pid_file)")")
    user=$(awk '$1 == "Uid:" { print $2 }' "/proc/$pid/status")
    group=$(awk '$1 == "Gid:" { print $2 }' "/proc/$pid/status")
}

# The same, as undo.sh reads it.
write_down() {
    for name in old_data old_log old_undo old_undo_count old_home old_system old_temporary old_load \
        old_binlog old_index old_prefix old_error user group cnf; do
        eval "value=\$$name"
        printf "%s='%s'\n" "$name" "$(printf '%s' "$value" | sed "s/'/'\\\\''/g")"
    done
}

# Where a file is once the data directory has moved.
after_move() {
    case ${data:+$1/} in
    "$old_data"/*) printf '%s\n' "$data${1#"$old_data"}" ;;
    *) printf '%s\n' "$1" ;;
    esac
}

# Files of the system tablespace as they are: path, a tab, size.
system_files() {
    printf '%s\n' "$old_system" | tr ';' '\n' | while IFS=: read -r name size; do
        case $old_home:$name in
        :/*) printf '%s\t%s\n' "$name" "$size" ;;
        *) printf '%s\t%s\n' "$(absolute "$old_home")/$name" "$size" ;;
        esac
    done
}

# The same as a setting, at the new places.
system_setting() {
    system_files | while IFS='	' read -r path size; do
        case $doublewrite in
        '') printf '%s:%s\n' "$(after_move "$path")" "$size" ;;
        *) printf '%s:%s\n' "$doublewrite/${path##*/}" "$size" ;;
        esac
    done | paste -s -d ';' -
}

# The drop-in for my.cnf. Once it is there, the new places count.
settings() {
    echo '# Written by 2-apply.sh; undo.sh deletes it.' {{ placement.request.title|line|sh }}
    echo '[mysqld]'
    if moves data; then echo "datadir = $data"; fi
    directory log innodb_log_group_home_dir "$old_log"
    directory undo innodb_undo_directory "$old_undo"
    if moves undo && [ "$old_undo_count" = 0 ]; then echo "innodb_undo_tablespaces = {{ UNDO_TABLESPACES }}"; fi
    if moves data || moves doublewrite || moves tmpdir; then
        # Absolute paths of InnoDB's files need an empty home.
        echo "innodb_data_home_dir ="
        echo "innodb_data_file_path = $(system_setting)"
    fi
    if moves tmpdir; then
        echo "innodb_temp_data_file_path = ${tmpdir%%:*}/ibtmp1:${old_temporary#*:}"
        echo "tmpdir = $tmpdir"
        # A replica needs these files after a restart.
        echo "slave_load_tmpdir = $(after_move "$old_load")"
    fi
    if moves binlog; then
        echo "log_bin = $binlog/${old_binlog##*/}"
        echo "log_bin_index = $binlog/${old_binlog##*/}.index"
    elif [ "$(after_move "$old_binlog")" != "$old_binlog" ]; then
        echo "log_bin = $(after_move "$old_binlog")"
        echo "log_bin_index = $(after_move "$old_index")"
    fi
}

# The setting of a role's directory, where it moves by itself or with the data directory.
directory() {
    if moves "$1"; then
        eval "echo \"$2 = \$$1\""
    elif [ "$(after_move "$3")" != "$3" ]; then
        echo "$2 = $(after_move "$3")"
    fi
}

# Which places entries() lists: as the server had them, or as it has them since 2-apply.sh.
at_old() { at=old at_log=$old_log at_undo=$old_undo at_data=$old_data at_index=$old_index; }
at_new() { at=new at_log=$log at_undo=$undo at_data=$data at_index=$binlog/${old_binlog##*/}.index; }

# The files and folders of a role that are copied, one a line.
entries() {
    case $1 in
    log) existing "$at_log"/ib_logfile* ;;
    undo) existing "$at_undo"/undo[0-9][0-9][0-9] ;;
    binlog)
        while IFS= read -r name; do
            path=$(absolute "$name")
            existing "$path" "$path.idx"
        done <"$at_index"
        existing "${at_index%/*}/${old_binlog##*/}.state"
        ;;
    doublewrite)
        system_files | while IFS='	' read -r path size; do
            if [ "$at" = old ]; then echo "$path"; else echo "$doublewrite/${path##*/}"; fi
        done
        ;;
    data)
        others=$(for role in log undo binlog doublewrite; do
            if moves "$role"; then entries "$role"; fi
        done
        if moves binlog; then echo "$at_index"; fi)
        find "$at_data/" -mindepth 1 -maxdepth 1 | while IFS= read -r path; do
            case ${path##*/} in
            lost+found | .dbstow-* | *.dbstow-before) continue ;;
            esac
            # A log that has an absolute path stays where the server goes on writing it.
            if [ "$path" = "$old_error" ] || [ -S "$path" ]; then continue; fi
            printf '%s\n' "$others" | grep -Fxq -- "$path" || printf '%s\n' "$path"
        done
        ;;
    esac
}

existing() {
    for path in "$@"; do
        if [ -e "$path" ]; then printf '%s\n' "$path"; fi
    done
}

# Gives the old files of a role names that MariaDB does not read; goes on where it was interrupted.
set_aside() {
    while IFS= read -r path; do
        case $1 in
        data) aside=$old_data/.dbstow-before/${path##*/} ;;
        *) aside=$path.dbstow-before ;;
        esac
        if { [ -e "$path" ] || [ -L "$path" ]; } && [ ! -e "$aside" ]; then mv -- "$path" "$aside"; fi
    done <"$here/$1.txt"
    rm "$here/$1.txt"
}

# Old files that nobody has deleted yet.
left_over() {
    if moves data; then existing "$old_data/.dbstow-before"; fi
    {
        for folder in "$old_data" "$old_log" "$old_undo" "${old_index%/*}"; do existing "$folder"/*.dbstow-before; done
        system_files | while IFS='	' read -r path size; do existing "$path.dbstow-before"; done
    } | sort -u
}

# KiB of what a role's files need.
size_of() {
    entries "$1" | while IFS= read -r path; do du -sk -- "$path"; done | awk '{ kib += $1 } END { print kib + 0 }'
}

# Free KiB and mount point of a folder, or of the nearest folder above it that there is.
room() {
    path=$1
    while [ ! -d "$path" ]; do path=$(dirname "$path"); done
    df -Pk -- "$path" | awk 'NR == 2 { free = $4; sub(/^([^ ]+ +){5}/, ""); print free "\t" $0 }'
}

# Reads lines of: KiB needed, a tab, folder. Prints what does not fit.
too_little() {
    while IFS='	' read -r kib folder; do printf '%s\t%s\n' "$kib" "$(room "$folder")"; done |
        awk -F '\t' '{ need[$3] += $1; free[$3] = $2 }
            END { for (at in need) if (need[at] >= free[at]) print at " has " free[at] " KiB free, and " need[at] " KiB are needed" }'
}

# Two servers on the same files would destroy them.
has_ended() {
    ! kill -0 "$pid" 2>/dev/null || stop "the server still runs (process $pid), although $service was stopped; stop it"
}

# The service is up once the server answers; systemd may report it earlier.
wait_for_server() {
    left=60
    until ask 'SELECT 1' >/dev/null 2>&1; do
        left=$((left - 1))
        [ "$left" -gt 0 ] || stop "the server does not answer; see its error log (journalctl -u $service)"
        sleep 1
    done
}

# Whether the server would be started with the settings of a drop-in: one that is read later wins.
wins() {
    defaults=$($MARIADBD --print-defaults 2>/dev/null | tr ' ' '\n')
    while IFS= read -r line; do
        name=${line%% = *} value=${line#* = }
        # Values with a blank are not told apart from options here; is_as() compares them.
        case $line in
        *' = '*' '*) continue ;;
        *' = '*) ;;
        *) continue ;;
        esac
        is=$(printf '%s\n' "$defaults" | awk -v name="--$name=" '{
            option = $0; sub(/=.*/, "=", option); gsub(/-/, "_", option); gsub(/-/, "_", name)
            if (option == name) last = substr($0, length(option) + 1)
        } END { print last }')
        [ "$is" = "$value" ] || stop "$name would be '$is' and not '$value'; remove it from the files that are read after $1 ($MARIADBD --help --verbose lists them)"
    done <"$1"
}

# Whether the server says what a drop-in asks for.
is_as() {
    while IFS= read -r line; do
        name=${line%% = *} value=${line#* = }
        case $line in
        *' = '*) ;;
        *) continue ;;
        esac
        if [ "$name" = log_bin ]; then name=log_bin_basename; fi
        is=$(variable "$name")
        [ "${is%/}" = "${value%/}" ] || stop "$name is '$is' and not '$value'"
    done <"$1"
}

# An index of binary logs for another folder: $1 from, $2 to, $3 the folder.
write_index() {
    awk -v folder="$3" '{ sub(/^.*\//, ""); print folder "/" $0 }' "$1" >"$2"
    chown "$user:$group" "$2"
    chmod 0660 "$2"
}
