//! PostgreSQL: the set of scripts, bash's verdict on it, and its effect on a server.

#[cfg(unix)]
mod real;

use experiment::spec::{File, Role};
use layout::{LayoutProvider, LayoutRequest};
use model::Bytes;

use crate::layout::{made, refused, request, shown};

fn asked(folder: &str) -> LayoutRequest {
    let mut asked = request("by hand", &[("a", folder)], 2, Bytes::gib(1));
    asked
        .files
        .insert(Role::Data, asked.files(Role::Temp).to_vec());
    asked.roles = Role::COMMON.into();
    asked.database = Some("sales \"x".to_owned());
    asked
}

#[test]
fn a_whole_set_for_postgresql() {
    let scripts = made(&postgres::layout::Layout, &asked("/mnt/a b"), None);
    insta::assert_snapshot!(shown(&scripts, &[]), @r#"
    ==> README.md
    # PostgreSQL: by hand

    ## Order

    0. `0-folders.sh`, as root: folders that belong to the server's user alone.
    1. `psql -f 1-check.sql`: stops with a text where something is in the way. Changes nothing.
    2. `psql -f 2-apply.sql`: makes tablespaces and has them used. No restart.
    3. `psql -f 3-verify.sql`: shows what there is now.
    4. `4-move-wal.sh`, as root: stops the server, moves the write-ahead log, starts it.

    Roll back: `psql -f undo.sql`, then `undo-wal.sh`, as root.

    ## What to know

    - psql connects as a superuser, most often `sudo -u postgres psql`; `-v ON_ERROR_STOP=1` is set inside.
    - PostgreSQL has no number of files to choose: each volume has one tablespace, however many files the
      placement has there.
    - `temp_tablespaces` is set for the whole server and holds for new sessions and, after the reload, for old
      ones; a transaction takes one of them at random and goes on in turn.
    - **A tablespace belongs to the cluster.** PostgreSQL's manual warns of one on a disk that can vanish: if it is
      lost, the server may not start, or the cluster may be unreadable. Where the disk is empty after a stop, `--ephemeral VOLUME` adds a
      systemd unit that makes the folders again before the server starts. Source:
      <https://www.postgresql.org/docs/current/manage-ag-tablespaces.html>, read 2026-11.
    - **The data directory stays where it is**, with the catalogues, `pg_xact` and all other databases: its volume is needed, and paid,
      as before. On one volume and without `--database`, scripts for data move all of it.
    - The log must never be on a disk that loses its content: without it the cluster does not start.
    ==> 0-folders.sh
    #!/bin/sh
    # Makes the folders for the server's user. Run as root.
    set -eu
    install -d -o postgres -g postgres -m 0700 -- '/mnt/a b/dbstow_temp_1'
    install -d -o postgres -g postgres -m 0700 -- '/mnt/a b/dbstow_data_1'
    install -d -o postgres -g postgres -m 0700 -- '/mnt/a b/pg_wal'
    ==> 1-check.sql
    -- Whether 2-apply.sql can be run. Changes nothing.
    \set ON_ERROR_STOP on
    DO $check0$
    BEGIN
        IF NOT (SELECT rolsuper FROM pg_roles WHERE rolname = current_user) THEN
            RAISE EXCEPTION 'tablespaces are made by a superuser; connect as one';
        END IF;
        IF EXISTS (SELECT 1 FROM pg_tablespace WHERE spcname IN ('dbstow_temp_1', 'dbstow_data_1')) THEN
            RAISE EXCEPTION 'a tablespace of this name is there already; run undo.sql first';
        END IF;
        IF (SELECT setting FROM pg_settings WHERE name = 'temp_tablespaces') <> '' THEN
            RAISE EXCEPTION 'temp_tablespaces is set already (%), and undo.sql would not set it again; reset it first, or change undo.sql',
                current_setting('temp_tablespaces');
        END IF;
        IF NOT EXISTS (SELECT 1 FROM pg_database d JOIN pg_tablespace t ON t.oid = d.dattablespace
                       WHERE d.datname = 'sales "x' AND t.spcname = 'pg_default') THEN
            RAISE EXCEPTION 'there is no database % in pg_default, where undo.sql would put it back', 'sales "x';
        END IF;
        IF current_database() = 'sales "x' OR EXISTS (SELECT 1 FROM pg_stat_activity WHERE datname = 'sales "x' AND pid <> pg_backend_pid()) THEN
            RAISE EXCEPTION 'somebody is connected to %; it moves only while nobody is', 'sales "x';
        END IF;
    END
    $check0$;
    ==> 2-apply.sql
    -- by hand
    \set ON_ERROR_STOP on
    CREATE TABLESPACE dbstow_temp_1 LOCATION '/mnt/a b/dbstow_temp_1';
    CREATE TABLESPACE dbstow_data_1 LOCATION '/mnt/a b/dbstow_data_1';

    -- Sorts, hashes and temporary tables of everybody; who may not use a tablespace stays where it was.
    GRANT CREATE ON TABLESPACE dbstow_temp_1 TO PUBLIC;
    ALTER SYSTEM SET temp_tablespaces = dbstow_temp_1;
    SELECT pg_reload_conf();

    -- Copies all of it, while nobody is connected to it.
    ALTER DATABASE "sales ""x" SET TABLESPACE dbstow_data_1;
    ==> 3-verify.sql
    -- What there is now. Changes nothing.
    SELECT spcname, pg_tablespace_location(oid) AS location FROM pg_tablespace ORDER BY 1;
    SHOW temp_tablespaces;
    SELECT datname, spcname, spcname = 'dbstow_data_1' AS as_asked FROM pg_database d JOIN pg_tablespace t ON t.oid = d.dattablespace
    WHERE datname = 'sales "x';
    ==> 4-move-wal.sh
    #!/bin/sh
    # Moves the write-ahead log: copies it, and puts a symbolic link in its place. The old one stays beside it as
    # pg_wal.before until you delete it. A new cluster has it simpler: initdb --waldir=FOLDER.
    # Run as root; the server stops. dbstow took the data directory for granted where --data-directory was not
    # given: SHOW data_directory tells.
    set -eu
    data=/var/lib/postgresql/18/main
    new='/mnt/a b/pg_wal'
    [ -f "$data/PG_VERSION" ] || { echo "$data is no data directory; give --data-directory" >&2; exit 1; }
    [ ! -L "$data/pg_wal" ] || { echo "$data/pg_wal is a link already" >&2; exit 1; }
    [ ! -e "$data/pg_wal.before" ] || { echo "$data/pg_wal.before is there, of an earlier move; delete it first" >&2; exit 1; }
    [ -z "$(ls -A "$new")" ] || { echo "$new is not empty" >&2; exit 1; }
    needed=$(du -sk "$data/pg_wal" | cut -f1)
    free=$(df -Pk "$new" | awk 'NR == 2 { print $4 }')
    [ "$free" -gt "$needed" ] || { echo "$new has $free KiB free, and the log has $needed" >&2; exit 1; }
    # Until the new place counts, whatever fails: the server runs again where it was.
    moved=no
    back() {
        [ "$moved" = no ] || return 0
        if [ -e "$data/pg_wal.before" ]; then
            rm -f "$data/pg_wal"
            mv "$data/pg_wal.before" "$data/pg_wal"
        fi
        find "$new" -mindepth 1 -delete
        systemctl start postgresql
        echo "the log was not moved; the server runs as before" >&2
    }
    trap back EXIT
    trap 'exit 1' HUP INT TERM
    systemctl stop postgresql
    [ ! -e "$data/postmaster.pid" ] || { echo "a server still runs on $data" >&2; exit 1; }
    cp -a "$data/pg_wal/." "$new/"
    sync
    mv "$data/pg_wal" "$data/pg_wal.before"
    ln -s "$new" "$data/pg_wal"
    chown -h postgres:postgres "$data/pg_wal"
    moved=yes
    systemctl start postgresql
    ==> undo-wal.sh
    #!/bin/sh
    # Rollback: copies the log into the data directory again.
    # Run as root; the server stops. dbstow took the data directory for granted where --data-directory was not
    # given: SHOW data_directory tells.
    set -eu
    data=/var/lib/postgresql/18/main
    new='/mnt/a b/pg_wal'
    [ -f "$data/PG_VERSION" ] || { echo "$data is no data directory; give --data-directory" >&2; exit 1; }
    [ -L "$data/pg_wal" ] || { echo "$data/pg_wal is no link" >&2; exit 1; }
    # Until the new place counts, whatever fails: the server runs again where it was.
    moved=no
    back() {
        [ "$moved" = no ] || return 0
        if [ ! -e "$data/pg_wal" ]; then ln -s "$new" "$data/pg_wal"; fi
        rm -rf "$data/pg_wal.back"
        systemctl start postgresql
        echo "the log was not moved; the server runs as before" >&2
    }
    trap back EXIT
    trap 'exit 1' HUP INT TERM
    systemctl stop postgresql
    [ ! -e "$data/postmaster.pid" ] || { echo "a server still runs on $data" >&2; exit 1; }
    rm -rf "$data/pg_wal.back"
    cp -a "$new/." "$data/pg_wal.back"
    sync
    rm "$data/pg_wal"
    mv "$data/pg_wal.back" "$data/pg_wal"
    moved=yes
    systemctl start postgresql
    echo "$new and $data/pg_wal.before can be deleted now"
    ==> undo.sql
    -- Rollback. A tablespace goes only when nothing is in it: sessions that use temporary files have to end.
    \set ON_ERROR_STOP on
    ALTER SYSTEM RESET temp_tablespaces;
    SELECT pg_reload_conf();
    ALTER DATABASE "sales ""x" SET TABLESPACE pg_default;
    DROP TABLESPACE IF EXISTS dbstow_temp_1;
    DROP TABLESPACE IF EXISTS dbstow_data_1;
    "#);
}

/// The steps of a README, and the scripts that have one in their name.
fn steps(scripts: &[layout::Script]) -> (Vec<u32>, Vec<u32>) {
    let number = |text: &str, then: char| -> Option<u32> { text.split_once(then)?.0.parse().ok() };
    let readme = crate::layout::text(scripts, "README.md");
    let (_, order) = readme.split_once("## Order").expect("it has an order");
    let (order, _) = order.split_once("Roll back").expect("and a way back");
    let mut names: Vec<u32> = scripts
        .iter()
        .filter_map(|script| number(&script.name, '-'))
        .collect();
    names.sort_unstable();
    (
        order.lines().filter_map(|line| number(line, '.')).collect(),
        names,
    )
}

#[test]
fn steps_are_numbered_one_after_the_other_and_as_the_scripts_are() {
    let one = |volume: &str| {
        vec![File {
            volume: volume.to_owned(),
            size: None,
        }]
    };
    // Temporary files are on `a`; data and log on other volumes.
    let of = |roles: &[Role], ephemeral: bool, log: &str| LayoutRequest {
        roles: roles.iter().copied().collect(),
        files: [
            (Role::Temp, one("a")),
            (Role::Data, one("b")),
            (Role::Log, one(log)),
        ]
        .into(),
        folders: ["a", "b", "c"]
            .map(|volume| (volume.to_owned(), format!("/mnt/{volume}")))
            .into_iter()
            .filter(|(volume, _)| {
                let temp = volume == "a" && roles.contains(&Role::Temp);
                let data = volume == "b" && roles.contains(&Role::Data);
                temp || data || volume == log && roles.contains(&Role::Log)
            })
            .collect(),
        ephemeral: ephemeral.then(|| "a".to_owned()).into_iter().collect(),
        database: None,
        ..asked("/mnt/a")
    };
    for (asked, last, named) in [
        (of(&Role::COMMON, false, "c"), 5, 5),
        (of(&Role::COMMON, false, "b"), 4, 4),
        (of(&[Role::Data, Role::Log], false, "b"), 1, 1),
        (of(&[Role::Log], false, "c"), 1, 1),
        (of(&[Role::Temp], false, "c"), 3, 3),
        (of(&[Role::Temp], true, "c"), 4, 3),
        (of(&Role::COMMON, true, "c"), 6, 5),
    ] {
        let scripts = made(&postgres::layout::Layout, &asked, None);
        let (steps, names) = steps(&scripts);
        assert_eq!(steps, (0..=last).collect::<Vec<_>>(), "{:?}", asked.roles);
        assert_eq!(names, (0..=named).collect::<Vec<_>>(), "{:?}", asked.roles);
    }
}

#[test]
fn a_disk_that_comes_back_raw_is_left_to_others_and_said_first() {
    let both: [&dyn LayoutProvider; 2] = [&postgres::layout::Layout, &mariadb::layout::Layout];
    for engine in both {
        let raw = LayoutRequest {
            ephemeral: ["a".to_owned()].into(),
            raw: [("a".to_owned(), 1)].into(),
            ..request("by hand", &[("a", "/mnt/a")], 1, Bytes::gib(1))
        };
        let scripts = made(engine, &raw, None);
        let readme = crate::layout::text(&scripts, "README.md");
        let said = readme.find("Volume a comes back without a file system");
        assert!(said.is_some() && said < readme.find("## Order"), "{readme}");
        let kept = made(
            engine,
            &request("by hand", &[("a", "/mnt/a")], 1, Bytes::gib(1)),
            None,
        );
        assert!(!crate::layout::text(&kept, "README.md").contains("comes back without"));
    }
}

#[test]
fn what_postgresql_refuses_is_refused_before() {
    let quote = refused(&postgres::layout::Layout, &asked("/mnt/it's"), None);
    assert!(
        quote.contains("allows no ' in a tablespace's path"),
        "{quote}"
    );
    let windows = refused(&postgres::layout::Layout, &asked("D:\\data"), None);
    assert!(windows.contains("for Linux"), "{windows}");
}

/// Checks the syntax of every shell script with bash.
#[cfg(unix)]
pub(crate) fn parse(scripts: &[layout::Script]) {
    let shells: Vec<_> = scripts
        .iter()
        .filter(|script| script.name.ends_with(".sh"))
        .collect();
    assert!(!shells.is_empty());
    for script in shells {
        let parsed = std::process::Command::new("bash")
            .args(["-n", "-c", &script.text])
            .output();
        let parsed = parsed.expect("bash");
        let said = String::from_utf8_lossy(&parsed.stderr);
        assert!(
            parsed.status.success(),
            "{}: {said}\n{}",
            script.name,
            script.text
        );
    }
}

#[cfg(unix)]
#[test]
fn shell_scripts_parse() {
    parse(&made(
        &postgres::layout::Layout,
        &asked("/mnt/it $(x) \"b"),
        None,
    ));
}

/// Temporary files on a volatile volume, and on a persistent one.
fn forgetting(folder: &str) -> LayoutRequest {
    LayoutRequest {
        ephemeral: ["a".to_owned()].into(),
        data_directory: Some("/var/lib/postgresql/15/main".to_owned()),
        ..request(
            "by hand",
            &[("a", folder), ("b", "/mnt/b")],
            2,
            Bytes::gib(1),
        )
    }
}

#[test]
fn a_volume_that_comes_back_empty_gets_its_tablespace_back_before_the_server_starts() {
    let scripts = made(&postgres::layout::Layout, &forgetting("/mnt/a b"), None);
    insta::assert_snapshot!(crate::layout::text(&scripts, "dbstow-postgres-temp.service"), @r#"
    # At every start of the machine: the disk may be new and empty. README.md says how to install it. The server starts whether
    # this succeeds or not.
    # The disk itself is formatted and mounted by others (/etc/fstab with nofail, cloud-init): that depends on the machine.
    [Unit]
    Description=Temporary tablespaces of PostgreSQL on a disk that may be new
    Wants=mnt-a\x20b-dbstow_temp_1.mount mnt-a\x20b.mount mnt.mount
    After=local-fs.target mnt-a\x20b-dbstow_temp_1.mount mnt-a\x20b.mount mnt.mount
    Before=postgresql.service postgresql@15-main.service

    [Service]
    Type=oneshot
    RemainAfterExit=yes
    User=postgres
    ExecStartPre=-+/usr/bin/install -d -o postgres -g postgres -m 0700 -- "/mnt/a b/dbstow_temp_1"
    ExecStart=/usr/local/lib/dbstow/restore-temp.sh

    [Install]
    WantedBy=postgresql.service postgresql@15-main.service
    "#);
    let restore = crate::layout::text(&scripts, "restore-temp.sh");
    assert!(
        restore.contains("\nrestore dbstow_temp_1 '/mnt/a b/dbstow_temp_1'\n"),
        "{restore}"
    );
    // What is on a persistent volume stays in use whatever happens to the other.
    assert!(!restore.contains("restore dbstow_temp_2"), "{restore}");
    assert!(
        restore.contains("there=\"$there${there:+, }\"dbstow_temp_2"),
        "{restore}"
    );
    let check = crate::layout::text(&scripts, "1-check.sql");
    assert!(
        check.contains("current_setting('data_directory') <> '/var/lib/postgresql/15/main'"),
        "{check}"
    );
    let kept = LayoutRequest {
        ephemeral: Default::default(),
        ..forgetting("/mnt/a")
    };
    let kept = made(&postgres::layout::Layout, &kept, None);
    assert!(kept.iter().all(|script| script.name != "restore-temp.sh"));
    assert!(crate::layout::text(&kept, "README.md").contains("--ephemeral VOLUME"));
}

#[cfg(unix)]
#[test]
fn shells_and_systemd_understand_what_runs_at_every_start() {
    use std::process::Command;

    use crate::layout::mariadb::silent;

    let folder = tempfile::tempdir().expect("a folder");
    let scripts = made(
        &postgres::layout::Layout,
        &forgetting("/mnt/100% of it"),
        None,
    );
    let write = |name: &str, text: &str| {
        let path = folder.path().join(name);
        std::fs::write(&path, text).expect("a file");
        path
    };
    let restore = write(
        "restore-temp.sh",
        crate::layout::text(&scripts, "restore-temp.sh"),
    );
    silent(Command::new("sh").arg("-n").arg(&restore));
    silent(Command::new("shellcheck").arg("--shell=sh").arg(&restore));
    let name = "dbstow-postgres-temp.service";
    // It is not installed here.
    let unit = crate::layout::text(&scripts, name)
        .replace("/usr/local/lib/dbstow/restore-temp.sh", "/bin/true");
    let unit = write(name, &unit);
    let mut verify = Command::new("systemd-analyze");
    silent(verify.args(["verify", "--man=no"]).arg(unit));
}
