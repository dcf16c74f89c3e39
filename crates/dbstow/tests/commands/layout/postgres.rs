//! PostgreSQL: the set of scripts, bash's verdict on it, and its effect on a server.

#[cfg(unix)]
mod real;

use experiment::spec::{File, Role};
use layout::{LayoutProvider, LayoutRequest};
use model::Bytes;

use crate::layout::{filled, made, refused, request};

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
    insta::assert_snapshot!(filled(&scripts, &[]), @r#"
    ==> README.md
    # PostgreSQL: by hand
    4. `4-move-wal.sh`, as root: stops the server, moves the write-ahead log, starts it.
    Roll back: `psql -f undo.sql`, then `undo-wal.sh`, as root.
    ==> 0-folders.sh
    install -d -o postgres -g postgres -m 0700 -- '/mnt/a b/dbstow_temp_1'
    install -d -o postgres -g postgres -m 0700 -- '/mnt/a b/dbstow_data_1'
    install -d -o postgres -g postgres -m 0700 -- '/mnt/a b/pg_wal'
    ==> 1-check.sql
    DO $check0$
        IF EXISTS (SELECT 1 FROM pg_tablespace WHERE spcname IN ('dbstow_temp_1', 'dbstow_data_1')) THEN
                       WHERE d.datname = 'sales "x' AND t.spcname = 'pg_default') THEN
            RAISE EXCEPTION 'there is no database % in pg_default, where undo.sql would put it back', 'sales "x';
        IF current_database() = 'sales "x' OR EXISTS (SELECT 1 FROM pg_stat_activity WHERE datname = 'sales "x' AND pid <> pg_backend_pid()) THEN
            RAISE EXCEPTION 'somebody is connected to %; it moves only while nobody is', 'sales "x';
    $check0$;
    ==> 2-apply.sql
    -- by hand
    CREATE TABLESPACE dbstow_temp_1 LOCATION '/mnt/a b/dbstow_temp_1';
    CREATE TABLESPACE dbstow_data_1 LOCATION '/mnt/a b/dbstow_data_1';
    GRANT CREATE ON TABLESPACE dbstow_temp_1 TO PUBLIC;
    ALTER SYSTEM SET temp_tablespaces = dbstow_temp_1;
    ALTER DATABASE "sales ""x" SET TABLESPACE dbstow_data_1;
    ==> 3-verify.sql
    SELECT datname, spcname, spcname = 'dbstow_data_1' AS as_asked FROM pg_database d JOIN pg_tablespace t ON t.oid = d.dattablespace
    WHERE datname = 'sales "x';
    ==> 4-move-wal.sh
    data=/var/lib/postgresql/18/main
    new='/mnt/a b/pg_wal'
        systemctl start postgresql
    systemctl stop postgresql
    systemctl start postgresql
    ==> undo-wal.sh
    data=/var/lib/postgresql/18/main
    new='/mnt/a b/pg_wal'
        systemctl start postgresql
    systemctl stop postgresql
    systemctl start postgresql
    ==> undo.sql
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
