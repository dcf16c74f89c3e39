//! MariaDB: the set of scripts, what is refused, and the verdicts of shells and systemd on it. `mariadb_server` tests its
//! effect on a server.

use std::process::Command;

use experiment::spec::{File, Role};
use layout::{LayoutRequest, Script};
use model::Bytes;

use crate::layout::{made, refused, request, shown, text};

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
    insta::assert_snapshot!(shown(&scripts, &leave), @r#"
    ==> README.md
    # MariaDB: by hand

    For MariaDB 10.6 to 11.8 on Linux. `places.sh` says what goes where; the other scripts read it.

    ## Order

    1. `sh 1-check.sh`, as root, while the server runs: stops with a text where something is in the way, and prints the drop-in
       for my.cnf that would be written. Changes nothing.
    2. `sh 2-apply.sh`, as root: **stops the server**, copies files, writes `z-dbstow.cnf`, starts it, and compares what the
       server says with what was asked. Back up first.

    Roll back: `sh undo.sh`, as root, from wherever `2-apply.sh` stopped. It copies back what was written since.

    | files | go to |
    |---|---|
    | data directory, or tables | `/mnt/a/dbstow_data_1` |
    | data directory, or tables | `/home/b/dbstow_data_2` |
    | temporary files | `/mnt/a/dbstow_temp_1` |
    | temporary files | `/home/b/dbstow_temp_2` |
    | redo log | `/home/b/dbstow_log` |
    | binary log | `/home/b/dbstow_binlog` |
    | undo tablespaces | `/home/b/dbstow_undo` |
    | system tablespace, with the doublewrite area | `/home/b/dbstow_doublewrite` |

    ## What to know

    - Nothing is deleted. Until `z-dbstow.cnf` is there, the old files are complete and in use; afterwards the new ones are, and
      the old ones are named `.dbstow-before`. `2-apply.sh` lists what you can delete once you are sure.
    - The server is down while files are copied: their size by the slower volume's throughput. `1-check.sh` prints the size.
    - `MARIADB`, `MARIADBD`, `SYSTEMCTL` and others at the top of `places.sh` are for servers that are not the package's. A node of
      a Galera cluster, instances of `mariadb@.service` and containers are not covered.
    - A systemd drop-in has the server wait for the mounts, and lets it write there (ProtectSystem). Without it, a server whose
      volume is not mounted does not start, or fills the disk below.
    - AppArmor (`local/`) and SELinux (`mysqld_db_t`) are told of the new folders where they are on. This was never tried on a
      system that has them on.
    - Undo: the server stops slowly (`innodb_fast_shutdown = 0`), which purges all undo records first and can take long. Where undo is
      in the system tablespace, the server gets undo tablespaces (10.11 does that; an older one that cannot fails to start or says
      so, and `undo.sh` restores it).
    - MariaDB has the doublewrite area in the system tablespace, so that `ibdata1` moves, with whatever else is in it.
    - The data directory moves as a whole. It keeps its old path for a socket, a process id or an error log that are there.
      After a rollback MariaDB lists `.dbstow-before` in it as a database, until you delete it.
    - The other folders for data take single tables. InnoDB ignores `ALTER TABLE .. DATA DIRECTORY`, so a table is made anew:
      `CREATE TABLE t_new (..) DATA DIRECTORY = '/home/b/dbstow_data_2'`, `INSERT INTO t_new SELECT * FROM t`,
      `RENAME TABLE t TO t_old, t_new TO t` (foreign keys and triggers by hand).
    - Binary logs keep their names and numbers, and the index is rewritten: replicas and `CHANGE MASTER` need no change.
    - Temporary files take the directories of `tmpdir` in turn; InnoDB's temporary tables (`ibtmp1`) are in the first one.
    - `dbstow-mariadb-folders.service` makes the folders of temporary files again on a volume that comes back empty,
      before the server starts.
    - **WARNING**: the volume of data is empty after the machine was stopped or moved: **WHAT IS THERE IS LOST THEN, AND THE SERVER
      DOES NOT START**. It is for tests only.

    ## MySQL 8

    `1-check.sh` refuses MySQL. By hand, these differ:

    | | MariaDB 10.6 to 11.8 | MySQL 8.0 and 8.4 |
    |---|---|---|
    | redo log | `ib_logfile0` in `innodb_log_group_home_dir` | folder `#innodb_redo` there (8.0.30) |
    | doublewrite | in the system tablespace | own files, `innodb_doublewrite_dir` (8.0.20) |
    | undo | `undo001` .. in `innodb_undo_directory`; as many as `innodb_undo_tablespaces` | `undo_001`, `undo_002`; also found by `innodb_directories` |
    | temporary tables of sessions | in `ibtmp1` | `innodb_temp_tablespaces_dir`, and `ibtmp1` |
    | a table elsewhere | any folder | a folder that `innodb_directories` names (8.0.21) |
    | AppArmor | no profile in Debian 12 | `usr.sbin.mysqld` in Ubuntu |
    ==> dbstow-home.conf
    # Drop-in for mariadb: ProtectHome hides home directories from the server; it sees these folders of theirs alone.
    # systemd.exec(5), ProtectHome= and BindPaths=.
    [Service]
    ProtectHome=tmpfs
    BindPaths="/home/b/dbstow_data_2"
    BindPaths="/home/b/dbstow_temp_2"
    BindPaths="/home/b/dbstow_log"
    BindPaths="/home/b/dbstow_binlog"
    BindPaths="/home/b/dbstow_undo"
    BindPaths="/home/b/dbstow_doublewrite"
    ==> dbstow-mariadb-folders.service
    # At every start of the machine: the disk may be new and empty. 2-apply.sh installs and enables this.
    # The disk itself is formatted and mounted by others (/etc/fstab with nofail, cloud-init): that depends on the
    # machine. 2-apply.sh writes the server's user in place of mysql.
    [Unit]
    Description=Folders of MariaDB on a disk that may be new
    RequiresMountsFor="/mnt/a/dbstow_temp_1"
    Before=mariadb.service

    [Service]
    Type=oneshot
    RemainAfterExit=yes
    ExecStart=/usr/bin/install -d -o mysql -g mysql -m 0750 -- "/mnt/a/dbstow_temp_1"
    ExecStart=-/usr/sbin/restorecon "/mnt/a/dbstow_temp_1"

    [Install]
    RequiredBy=mariadb.service
    ==> dbstow-places.conf
    # Drop-in for mariadb: the server starts only where the volumes of its files are mounted, and may write there
    # whatever ProtectSystem says. systemd.unit(5), systemd.exec(5).
    [Unit]
    RequiresMountsFor="/mnt/a/dbstow_data_1" "/home/b/dbstow_data_2" "/mnt/a/dbstow_temp_1" "/home/b/dbstow_temp_2" "/home/b/dbstow_log" "/home/b/dbstow_binlog" "/home/b/dbstow_undo" "/home/b/dbstow_doublewrite"

    [Service]
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
    assert!(service.contains("no unit of systemd"), "{service}");
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
