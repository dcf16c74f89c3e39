# What the system allows the server: labels, profiles and units for the new folders. Read by the other scripts.

selinux() { command -v getenforce >/dev/null && [ "$(getenforce)" != Disabled ]; }

# A pattern of semanage: a dot is any letter there.
pattern() { printf '%s(/.*)?\n' "$1" | sed 's/\([^(/]\)\./\1\\./g'; }

confined() { grep -Eq '\((enforce|complain)\)' "/proc/$pid/attr/current" 2>/dev/null; }

# The profile of the server that reads local rules, and the name of their file.
profile() { grep -ls '<local/' "$APPARMOR"/*mariadbd* "$APPARMOR"/*mysqld* | head -n 1 | grep .; }
local_rules() { sed -n 's/.*<local\/\([^>]*\)>.*/\1/p' "$1" | head -n 1; }

# Lets the server use the new folders.
allow() {
    if selinux; then
        for folder in $folders; do
            semanage fcontext -a -t mysqld_db_t "$(pattern "$folder")"
            restorecon -R "$folder"
        done
    fi
    if confined; then
        profile=$(profile)
        {
            echo '# dbstow begin'
            for folder in $folders; do printf '%s/ r,\n%s/** rwk,\n' "$folder" "$folder"; done
            echo '# dbstow end'
        } >>"$APPARMOR/local/$(local_rules "$profile")"
        apparmor_parser -r "$profile"
    fi
    install -d "$UNITS/$service.service.d"
    install -m 0644 "$here/dbstow-places.conf" "$UNITS/$service.service.d/"
    if [ -e "$here/dbstow-home.conf" ] && [ "$($SYSTEMCTL show -p ProtectHome "$service")" != ProtectHome=no ]; then
        install -m 0644 "$here/dbstow-home.conf" "$UNITS/$service.service.d/"
    fi
    if [ -n "$ephemeral" ]; then
        # The server's user is known here alone.
        sed "s/ -o mysql -g mysql / -o $user -g $group /" "$here/dbstow-mariadb-folders.service" >"$UNITS/dbstow-mariadb-folders.service"
        chmod 0644 "$UNITS/dbstow-mariadb-folders.service"
    fi
    $SYSTEMCTL daemon-reload
    if [ -n "$ephemeral" ]; then $SYSTEMCTL enable dbstow-mariadb-folders.service; fi
}

# Takes it back; may be run twice.
disallow() {
    if [ -e "$UNITS/dbstow-mariadb-folders.service" ]; then
        $SYSTEMCTL disable dbstow-mariadb-folders.service
        rm "$UNITS/dbstow-mariadb-folders.service"
    fi
    rm -f "$UNITS/$service.service.d/dbstow-places.conf" "$UNITS/$service.service.d/dbstow-home.conf"
    $SYSTEMCTL daemon-reload
    if profile=$(profile) && rules=$APPARMOR/local/$(local_rules "$profile") && grep -qs '^# dbstow begin' "$rules"; then
        rest=$(sed '/^# dbstow begin/,/^# dbstow end/d' "$rules")
        printf '%s\n' "$rest" >"$rules"
        apparmor_parser -r "$profile"
    fi
    if selinux; then
        for folder in $folders; do
            semanage fcontext -d "$(pattern "$folder")" 2>/dev/null || true
        done
    fi
}
