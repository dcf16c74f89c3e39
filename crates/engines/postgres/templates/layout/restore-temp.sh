#!/bin/sh
# Before the server starts: makes again what CREATE TABLESPACE made on a disk that may be new; where that cannot be done, takes the
# tablespace out of temp_tablespaces, so that temporary files go where they would without it. Runs as the server's user.
set -eu
data={{ placement.data_directory|sh }}
version=$(cat "$data/PG_VERSION")
# Of pg_control, behind the system's identifier and the file's own version: the version of the catalog.
catalog=$(od -An -tu4 -j12 -N4 "$data/global/pg_control" | tr -d ' ')
there=
missing=

linked() {
    for link in "$data"/pg_tblspc/*; do
        [ "$(readlink "$link")" != "$1" ] || return 0
    done
    return 1
}

# Where a disk is not mounted, its folder is on the root's file system or the data's, which temporary files would fill.
mounted() {
    device=$(stat -c %d "$1") || return 1
    [ "$device" != "$(stat -c %d /)" ] && [ "$device" != "$(stat -L -c %d "$data")" ]
}

# A tablespace and its folder. One that was dropped is not a matter of ours.
restore() {
    linked "$2" || return 0
    inner=$2/PG_${version}_$catalog
    if mounted "$2" && { [ -d "$inner" ] || mkdir -m 0700 "$inner"; } && [ -w "$inner" ]; then
        there="$there${there:+, }$1"
    else
        echo "$2 is not mounted, or cannot be written: temporary files do not go there" >&2
        missing="$missing $1"
    fi
}

{%- for tablespace in placement.forgetting() %}
restore {{ tablespace.name|sh }} {{ tablespace.folder|sh }}
{%- endfor %}
[ -n "$there$missing" ] || exit 0

# What ALTER SYSTEM wrote, if it is of these tablespaces alone: whoever set or reset it otherwise keeps that.
file=$data/postgresql.auto.conf
line=$(grep '^temp_tablespaces = ' "$file" | tail -n 1)
now=${line#temp_tablespaces = \'}
now=${now%\'}
ours={{ all|sh }}
for name in $(printf '%s' "$now" | tr ',' ' '); do
    case $ours in
        *" $name "*) ;;
        *) line= ;;
    esac
done
{%- if !kept.is_empty() %}
there="$there${there:+, }"{{ kept|sh }}
{%- endif %}
if [ -n "$line" ] && [ "$now" != "$there" ]; then
    # Without another line, grep ends with 1; a full disk is another end, and leaves the file as it is.
    { grep -v '^temp_tablespaces = ' "$file" || [ $? -eq 1 ]; printf "temp_tablespaces = '%s'\n" "$there"; } >"$file.dbstow"
    chmod 0600 "$file.dbstow"
    sync "$file.dbstow"
    mv "$file.dbstow" "$file"
fi
# The unit is then shown as failed; the server starts all the same.
[ -z "$missing" ]
