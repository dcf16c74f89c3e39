#!/bin/sh
# For a service that does not start because of tempdb's files. Run as root, in this folder, with sa's
# password in SQLCMDPASSWORD. -f: as little as possible; -T3608: no database but master.
# Microsoft describes this way for Windows; on Linux it is not checked. One connection only: stop all that
# connects.
set -eu
: "${SQLCMDPASSWORD:?put the password of sa into it}"
systemctl stop {{ service.name|sh }}
runuser -u mssql -- /opt/mssql/bin/sqlservr -f -T3608 >rescue.log 2>&1 &
server=$!
left=60
until {{ service.sqlcmd }} -l 2 -Q 'SELECT 1' >/dev/null 2>&1; do
    left=$((left - 1))
    if [ "$left" -eq 0 ] || ! kill -0 "$server"; then
        echo "the server does not answer; see rescue.log" >&2
        kill "$server" 2>/dev/null || true
        exit 1
    fi
    sleep 2
done
{{ service.sqlcmd }} -i rescue.sql || echo "rescue.sql failed; see above" >&2
kill "$server"
wait "$server" || true
systemctl start {{ service.name|sh }}
echo 'The service was started. Now undo.sql, a restart, undo-after-restart.sql.'
