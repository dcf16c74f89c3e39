//! MariaDB: the set of scripts, what is refused, and the verdicts of shells and systemd on it. `mariadb_server` tests its
//! effect on a server.

use std::process::Command;

use experiment::spec::{File, Role};
use layout::{LayoutRequest, Script};
use model::Bytes;

use crate::layout::{filled, made, refused, request, text};

/// Every role: temporary files and data on two volumes, the rest on the second.
pub(crate) fn everything(a: &str, b: &str) -> LayoutRequest {
    let mut asked = request("by hand", &[("a", a), ("b", b)], 2, Bytes::gib(1));
    let second: Vec<File> = asked.files(Role::Temp)[1..].to_vec();
    asked
        .files
        .insert(Role::Data, asked.files(Role::Temp).to_vec());
    for role in [Role::Log, Role::Binlog, Role::Undo, Role::Doublewrite] {
        asked.files.insert(role, second.clone());
    }
    asked.roles = Role::ALL.into();
    asked
}

fn set() -> Vec<Script> {
    let mut asked = everything("/mnt/a", "/home/b");
    asked.ephemeral = ["a".to_owned()].into();
    made(&mariadb::layout::Layout, &asked, None)
}

#[test]
fn a_whole_set_for_mariadb() {
    let scripts = set();
    let places = text(&scripts, "places.sh");
    let end = places
        .find("# Files change places")
        .expect("functions follow");
    insta::assert_snapshot!(&places[..end], @r#"
    # by hand
    # What goes where, and what the other scripts share. They read this file; by itself it changes nothing.
    # For a server that is not the package's, set what differs in the environment:
    : "${MARIADB:=mariadb}"                 # client with its options, as a user with all privileges
    : "${MARIADBD:=mariadbd}"               # server with --defaults-file or the like: its configuration is printed
    : "${SYSTEMCTL:=systemctl}"             # starts and stops the service
    : "${CONFIGURATION:=}"                  # folder of drop-ins for my.cnf [default: Debian's or Red Hat's]
    : "${UNITS:=/etc/systemd/system}"       # folder of systemd's units
    : "${APPARMOR:=/etc/apparmor.d}"        # folder of AppArmor's profiles
    service=mariadb

    # Where files are to be; empty: they stay. None of these has a blank or a character that a shell knows.
    data=/mnt/a/dbstow_data_1
    log=/home/b/dbstow_log
    binlog=/home/b/dbstow_binlog
    undo=/home/b/dbstow_undo
    doublewrite=/home/b/dbstow_doublewrite
    tmpdir=/mnt/a/dbstow_temp_1:/home/b/dbstow_temp_2
    # All of them, and those of temporary files on volumes that come back empty.
    folders='/mnt/a/dbstow_data_1 /home/b/dbstow_data_2 /mnt/a/dbstow_temp_1 /home/b/dbstow_temp_2 /home/b/dbstow_log /home/b/dbstow_binlog /home/b/dbstow_undo /home/b/dbstow_doublewrite'
    ephemeral='/mnt/a/dbstow_temp_1'
    "#);
    let leave = [
        "places.sh",
        "system.sh",
        "1-check.sh",
        "2-apply.sh",
        "undo.sh",
    ];
    insta::assert_snapshot!(filled(&scripts, &leave), @r#"
    ==> README.md
    # MariaDB: by hand
    | data directory, or tables | `/mnt/a/dbstow_data_1` |
    | data directory, or tables | `/home/b/dbstow_data_2` |
    | temporary files | `/mnt/a/dbstow_temp_1` |
    | temporary files | `/home/b/dbstow_temp_2` |
    | redo log | `/home/b/dbstow_log` |
    | binary log | `/home/b/dbstow_binlog` |
    | undo tablespaces | `/home/b/dbstow_undo` |
    | system tablespace, with the doublewrite area | `/home/b/dbstow_doublewrite` |
      `CREATE TABLE t_new (..) DATA DIRECTORY = '/home/b/dbstow_data_2'`, `INSERT INTO t_new SELECT * FROM t`,
    - **WARNING**: the volume of data is empty after the machine was stopped or moved: **WHAT IS THERE IS LOST THEN, AND THE SERVER
    ==> dbstow-home.conf
    # Drop-in for mariadb: ProtectHome hides home directories from the server; it sees these folders of theirs alone.
    BindPaths="/home/b/dbstow_data_2"
    BindPaths="/home/b/dbstow_temp_2"
    BindPaths="/home/b/dbstow_log"
    BindPaths="/home/b/dbstow_binlog"
    BindPaths="/home/b/dbstow_undo"
    BindPaths="/home/b/dbstow_doublewrite"
    ==> dbstow-mariadb-folders.service
    RequiresMountsFor="/mnt/a/dbstow_temp_1"
    Before=mariadb.service
    ExecStart=/usr/bin/install -d -o mysql -g mysql -m 0750 -- "/mnt/a/dbstow_temp_1"
    ExecStart=-/usr/sbin/restorecon "/mnt/a/dbstow_temp_1"
    RequiredBy=mariadb.service
    ==> dbstow-places.conf
    # Drop-in for mariadb: the server starts only where the volumes of its files are mounted, and may write there
    RequiresMountsFor="/mnt/a/dbstow_data_1" "/home/b/dbstow_data_2" "/mnt/a/dbstow_temp_1" "/home/b/dbstow_temp_2" "/home/b/dbstow_log" "/home/b/dbstow_binlog" "/home/b/dbstow_undo" "/home/b/dbstow_doublewrite"
    ReadWritePaths="/mnt/a/dbstow_data_1"
    ReadWritePaths="/home/b/dbstow_data_2"
    ReadWritePaths="/mnt/a/dbstow_temp_1"
    ReadWritePaths="/home/b/dbstow_temp_2"
    ReadWritePaths="/home/b/dbstow_log"
    ReadWritePaths="/home/b/dbstow_binlog"
    ReadWritePaths="/home/b/dbstow_undo"
    ReadWritePaths="/home/b/dbstow_doublewrite"
    "#);
}

#[test]
fn a_volume_that_comes_back_empty_gets_its_folders_for_temporary_files_alone() {
    let scripts = set();
    let unit = text(&scripts, "dbstow-mariadb-folders.service");
    assert!(unit.contains("/mnt/a/dbstow_temp_1"), "{unit}");
    // An empty data directory would be taken for a new server.
    assert!(!unit.contains("dbstow_data"), "{unit}");
    assert!(text(&scripts, "README.md").contains("WHAT IS THERE IS LOST"));
    let kept = made(
        &mariadb::layout::Layout,
        &everything("/mnt/a", "/mnt/b"),
        None,
    );
    let names: Vec<&str> = kept.iter().map(|script| script.name.as_str()).collect();
    assert!(
        !names.contains(&"dbstow-mariadb-folders.service"),
        "{names:?}"
    );
    assert!(!names.contains(&"dbstow-home.conf"), "{names:?}");
}

#[test]
fn what_mariadb_or_its_surroundings_would_misread_is_refused() {
    let of = |change: &dyn Fn(&mut LayoutRequest)| {
        let mut asked = everything("/mnt/a", "/mnt/b");
        change(&mut asked);
        refused(&mariadb::layout::Layout, &asked, None)
    };
    let folder = |folder: &'static str| {
        of(&move |asked| {
            asked.folders.insert("a".to_owned(), folder.to_owned());
        })
    };
    for odd in ["/mnt/a b", "/mnt/a:b", "/mnt/it's", "/mnt/$x", "/mnt/a*"] {
        let said = folder(odd);
        assert!(said.contains("plain letters"), "{said}");
    }
    assert!(folder("D:\\data").contains("for Linux"));
    let missing = of(&|asked| drop(asked.files.remove(&Role::Undo)));
    assert!(missing.contains("placement.NAME.undo"), "{missing}");
    let database = of(&|asked| asked.database = Some("shop".to_owned()));
    assert!(database.contains("as a whole"), "{database}");
    let directory = of(&|asked| asked.data_directory = Some("/var/lib/mysql".to_owned()));
    assert!(directory.contains("ask the server"), "{directory}");
    let service = of(&|asked| asked.service = Some("mariadb; reboot".to_owned()));
    assert!(service.contains("not a unit of systemd"), "{service}");
}

#[cfg(unix)]
#[test]
fn shells_and_systemd_understand_every_file() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = |name: &str| folder.path().join(name);
    let drop_ins = path("mariadb.service.d");
    std::fs::create_dir(&drop_ins).expect("a folder");
    let service = "[Service]\nExecStart=/bin/true\nProtectHome=true\n";
    std::fs::write(path("mariadb.service"), service).expect("a file");
    let mut shells = 0;
    for script in set() {
        let at = match script.name.ends_with(".conf") {
            true => drop_ins.join(&script.name),
            false => path(&script.name),
        };
        std::fs::write(&at, &script.text).expect("a file");
        if script.name.ends_with(".sh") {
            shells += 1;
            silent(Command::new("sh").arg("-n").arg(&at));
            // SC2034, SC2154: variables that another of the files reads or sets.
            let check = ["--shell=sh", "--exclude=SC2034,SC2154"];
            silent(Command::new("shellcheck").args(check).arg(&at));
        }
    }
    assert_eq!(shells, 5);
    for unit in ["mariadb.service", "dbstow-mariadb-folders.service"] {
        let mut verify = Command::new("systemd-analyze");
        let units = format!("{}:", folder.path().display());
        verify.env("SYSTEMD_UNIT_PATH", units);
        silent(verify.args(["verify", "--man=no"]).arg(path(unit)));
    }
}

/// Asserts that a checker has no complaints; one that this machine lacks is skipped.
#[cfg(unix)]
pub(crate) fn silent(command: &mut Command) {
    match command.output() {
        Ok(output) => {
            let said = [output.stdout, output.stderr].concat();
            let said = String::from_utf8_lossy(&said);
            assert!(
                output.status.success() && said.is_empty(),
                "{command:?}: {said}"
            );
        }
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            testing::skip(format!("{command:?}: {error}"));
        }
        Err(error) => panic!("{command:?}: {error}"),
    }
}

/// Runs a line of shell with the set's functions, and with stand-ins for the tools of a system that confines servers:
/// each logs its arguments.
#[cfg(unix)]
fn confined(folder: &std::path::Path, line: &str) -> String {
    let calls = folder.join("calls");
    let bin = folder.join("bin");
    std::fs::create_dir_all(&bin).expect("a folder");
    for tool in [
        "apparmor_parser",
        "semanage",
        "restorecon",
        "systemctl",
        "getenforce",
    ] {
        let text = format!("#!/bin/sh\necho {tool} \"$@\" >>'{}'\n", calls.display());
        std::fs::write(bin.join(tool), text).expect("a script");
        let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
        std::fs::set_permissions(bin.join(tool), mode).expect("a script");
    }
    let output = Command::new("sh")
        .args([
            "-euc",
            &format!("here=.; . ./places.sh; . ./system.sh; confined() {{ true; }}; {line}"),
        ])
        .current_dir(folder)
        .env("PATH", format!("{}:/usr/bin:/bin", bin.display()))
        .env("APPARMOR", folder.join("apparmor"))
        .env("UNITS", folder.join("units"))
        .output()
        .expect("a shell");
    assert!(output.status.success(), "{output:?}");
    let said = std::fs::read_to_string(&calls).unwrap_or_default();
    std::fs::write(calls, "").expect("a file");
    said
}

#[cfg(unix)]
#[test]
fn rules_and_labels_of_new_folders_come_and_go() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = |name: &str| folder.path().join(name);
    let mut asked = request(
        "$(touch hit)`touch hit`'",
        &[("a", "/mnt/v1.5")],
        1,
        Bytes::gib(1),
    );
    asked.roles = [Role::Temp].into();
    for script in made(&mariadb::layout::Layout, &asked, None) {
        std::fs::write(path(&script.name), &script.text).expect("a file");
    }
    std::fs::create_dir_all(path("apparmor/local")).expect("a folder");
    let profile = "/usr/sbin/mariadbd {\n  include if exists <local/usr.sbin.mariadbd>\n}\n";
    std::fs::write(path("apparmor/usr.sbin.mariadbd"), profile).expect("a file");
    let local = path("apparmor/local/usr.sbin.mariadbd");
    let own = "# ours\n/srv/dumps/** r,\n";
    std::fs::write(&local, own).expect("a file");
    let rules = || std::fs::read_to_string(&local).expect("a file");

    let said = confined(folder.path(), "allow");
    assert_eq!(
        rules(),
        format!(
            "{own}# dbstow begin\n/mnt/v1.5/dbstow_temp_1/ r,\n/mnt/v1.5/dbstow_temp_1/** rwk,\n# dbstow end\n"
        )
    );
    // A dot would be any letter in semanage's pattern.
    let label = "semanage fcontext -a -t mysqld_db_t /mnt/v1\\.5/dbstow_temp_1(/.*)?\n";
    assert!(said.contains(label), "{said}");
    assert!(said.contains("apparmor_parser -r"), "{said}");
    assert!(path("units/mariadb.service.d/dbstow-places.conf").exists());

    let said = confined(folder.path(), "disallow");
    assert_eq!(rules(), own);
    assert!(
        said.contains("semanage fcontext -d /mnt/v1\\.5/dbstow_temp_1(/.*)?\n"),
        "{said}"
    );
    assert!(said.contains("apparmor_parser -r"), "{said}");
    let again = confined(folder.path(), "disallow");
    assert!(!again.contains("apparmor_parser"), "{again}");
    assert_eq!(rules(), own);

    // A title is an experiment's, and a shell reads it as root.
    confined(
        folder.path(),
        "old_system= old_home= old_data=/x old_temporary=ibtmp1:12M old_load=/tmp old_undo_count=0 old_binlog= old_log=/x/l old_undo=/x/u; settings",
    );
    assert!(!path("hit").exists());
}
