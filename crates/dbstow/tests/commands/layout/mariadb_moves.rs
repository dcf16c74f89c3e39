//! What a private MariaDB does with its scripts: files move, nothing is lost, and the rollback restores the server, also after a
//! script that failed half-way.

use std::fs;
use std::os::unix::fs::MetadataExt;

use experiment::spec::Role;
use layout::LayoutRequest;

use crate::layout::mariadb::everything;
use crate::layout::mariadb_server::{ROWS, Server};

fn asked(server: &Server, roles: &[Role]) -> LayoutRequest {
    let (a, b) = (server.path("a"), server.path("b"));
    let mut asked = everything(a.to_str().expect("text"), b.to_str().expect("text"));
    asked.roles = roles.iter().copied().collect();
    let used = |volume: &String| {
        let files = roles.iter().flat_map(|role| asked.files(*role));
        files.into_iter().any(|file| file.volume == *volume)
    };
    let unused: Vec<String> = asked.folders.keys().filter(|v| !used(v)).cloned().collect();
    for volume in unused {
        asked.folders.remove(&volume);
    }
    asked
}

#[test]
fn a_server_moves_with_every_file_and_comes_back_with_what_was_written_since() {
    let Some(server) = Server::start("log-bin = mysql-bin\n") else {
        return;
    };
    let mut asked = asked(&server, &Role::ALL);
    asked.ephemeral = ["a".to_owned()].into();
    server.write("set", &asked);
    let (before, files) = (server.places(), server.names("data"));

    let checked = server.run("set/1-check.sh").expect("nothing in the way");
    assert!(checked.contains("innodb_undo_tablespaces = 3"), "{checked}");
    assert!(checked.contains("MiB are copied"), "{checked}");
    assert_eq!(server.names("conf.d"), [""; 0], "a check changes nothing");

    let applied = server.run("set/2-apply.sh").expect("applied");
    assert!(applied.contains("data/.dbstow-before"), "{applied}");
    server.assert_whole(ROWS);
    assert_eq!(server.names("b/dbstow_log"), ["ib_logfile0"]);
    assert_eq!(server.names("b/dbstow_doublewrite"), ["ibdata1"]);
    // MariaDB has made them: they were in the system tablespace.
    assert_eq!(
        server.names("b/dbstow_undo"),
        ["undo001", "undo002", "undo003"]
    );
    assert_eq!(server.names("a/dbstow_temp_1"), ["ibtmp1"]);
    // Two from before, one since the restart.
    assert_eq!(
        server.names("b/dbstow_binlog"),
        [
            "mysql-bin.000001",
            "mysql-bin.000002",
            "mysql-bin.000003",
            "mysql-bin.index"
        ]
    );
    assert_eq!(server.sql("SHOW BINARY LOGS").lines().count(), 3);
    assert!(server.dump("mysql-bin.000002").contains("shop"));
    let data = server.names("a/dbstow_data_1");
    for (name, is_there) in [
        ("shop", true),
        ("aria_log_control", true),
        ("ibdata1", false),
        ("ib_logfile0", false),
        ("mysql-bin.index", false),
    ] {
        assert_eq!(
            data.contains(&name.to_owned()),
            is_there,
            "{name}: {data:?}"
        );
    }
    // Nothing that the server could start on by mistake.
    let left = server.names("data");
    assert!(!left.contains(&"ibdata1".to_owned()), "{left:?}");
    let owner = |path: &str| fs::metadata(server.path(path)).expect(path).uid();
    assert_eq!(owner("b/dbstow_log"), owner("run"));
    let unit = fs::read_to_string(server.path("units/dbstow-mariadb-folders.service"))
        .expect("it was installed");
    assert!(unit.contains(&format!(" -o {} ", owner("run"))), "{unit}");
    assert!(
        server
            .calls()
            .contains("enable dbstow-mariadb-folders.service")
    );
    // A table on the second volume, by the statements of README.md.
    let second = server.path("b/dbstow_data_2");
    let second = second.display();
    server.sql(&format!(
        "USE shop; CREATE TABLE kept_new (n INT PRIMARY KEY, text TEXT) DATA DIRECTORY = '{second}'; \
         INSERT INTO kept_new SELECT * FROM kept; RENAME TABLE kept TO kept_old, kept_new TO kept"
    ));
    assert_eq!(server.names("b/dbstow_data_2/shop"), ["kept.ibd"]);
    server.sql("USE shop; DROP TABLE kept; RENAME TABLE kept_old TO kept");

    let again = server
        .run("set/2-apply.sh")
        .expect_err("it is done already");
    assert!(again.contains("nothing was changed"), "{again}");

    server.sql("INSERT INTO shop.kept VALUES (10001, 'since'); FLUSH BINARY LOGS");
    server.run("set/undo.sh").expect("rolled back");
    server.assert_whole(ROWS + 1);
    assert_eq!(server.places(), before);
    let now = server.names("data");
    for file in files.iter().filter(|file| !file.starts_with("mysql-bin")) {
        assert!(now.contains(file), "no {file} in {now:?}");
    }
    // Four, and one since the restart.
    assert_eq!(server.sql("SHOW BINARY LOGS").lines().count(), 5);
    assert!(server.dump("mysql-bin.000003").contains("shop"));
    assert_eq!(server.names("conf.d"), [""; 0]);
    assert_eq!(server.names("units/mariadb.service.d"), [""; 0]);
    let nothing = server.run("set/undo.sh").expect_err("it is done already");
    assert!(nothing.contains("rolled back already"), "{nothing}");
}

#[test]
fn a_data_directory_takes_along_what_is_in_it() {
    // Relative names come along; the error log has an absolute one, and stays.
    let server = Server::start(
        "log-bin = mysql-bin\ninnodb_undo_tablespaces = 3\nlog-error = ROOT/data/own.err\n",
    );
    let Some(server) = server else {
        return;
    };
    server.write("set", &asked(&server, &[Role::Data]));
    let before = server.places();
    let other = server.path("conf.d/other.cnf");
    for (setting, inside) in [
        ("slow_query_log_file", "data/slow.log"),
        ("aria_log_dir_path", "data"),
    ] {
        let inside = server.path(inside).display().to_string();
        fs::write(&other, format!("[mysqld]\n{setting} = {inside}\n")).expect("a file");
        let fixed = server.run("set/1-check.sh").expect_err("a path in it");
        assert!(fixed.contains(&format!("{setting}={inside}/")), "{fixed}");
    }
    fs::remove_file(other).expect("it is ours");

    server.run("set/2-apply.sh").expect("applied");
    server.assert_whole(ROWS);
    let moved = server.names("a/dbstow_data_1");
    for name in [
        "ib_logfile0",
        "ibdata1",
        "mysql-bin.000002",
        "undo003",
        "shop",
    ] {
        assert!(moved.contains(&name.to_owned()), "no {name} in {moved:?}");
    }
    assert_eq!(server.sql("SHOW BINARY LOGS").lines().count(), 3);
    assert!(server.dump("mysql-bin.000002").contains("shop"));
    assert_eq!(server.names("data"), [".dbstow-before", "own.err"]);
    server.run("set/undo.sh").expect("rolled back");
    server.assert_whole(ROWS);
    assert_eq!(server.places(), before);
    assert_eq!(server.sql("SHOW BINARY LOGS").lines().count(), 4);
    let left = server
        .run("set/1-check.sh")
        .expect_err("old files are left");
    assert!(left.contains(".dbstow-before"), "{left}");
}

#[test]
fn a_script_that_fails_says_how_to_roll_back_and_nothing_is_lost() {
    let Some(server) = Server::start("") else {
        return;
    };
    let roles = [Role::Log, Role::Doublewrite, Role::Temp];
    let before = server.places();
    let rolled_back = |attempt: &str, rows: u32| {
        server
            .run(&format!("{attempt}/undo.sh"))
            .unwrap_or_else(|said| panic!("{attempt}: {said}"));
        server.assert_whole(rows);
        assert_eq!(server.places(), before, "{attempt}");
        assert_eq!(server.names("conf.d"), [""; 0], "{attempt}");
        for volume in ["a", "b"] {
            for folder in server.names(volume) {
                fs::remove_dir_all(server.path(volume).join(folder)).expect("copies");
            }
        }
    };

    server.write("binlog", &asked(&server, &[Role::Binlog]));
    let none = server.run("binlog/1-check.sh").expect_err("there is none");
    assert!(none.contains("writes no binary log"), "{none}");

    // A copy that ends early, as on a full disk: the old files were never touched.
    server.write("copy", &asked(&server, &roles));
    server.program(
        "cp",
        "#!/bin/sh\ncase $* in *ibdata1*) exit 1 ;; esac\nexec /bin/cp \"$@\"\n",
    );
    let said = server.run("copy/2-apply.sh").expect_err("no copy");
    assert!(said.contains("failed while copying doublewrite"), "{said}");
    assert!(said.contains("Roll back: sh "), "{said}");
    assert!(server.path("data/ibdata1").exists());
    fs::remove_file(server.path("bin/cp")).expect("it is ours");
    rolled_back("copy", ROWS);

    // A file of settings that is read later: the server would begin an empty system tablespace at its old place.
    server.write("loses", &asked(&server, &roles));
    let later = server.path("conf.d/zz.cnf");
    fs::write(&later, "[mysqld]\ninnodb-data-home-dir = /nowhere\ninnodb_data_file_path = ibdata1:12M:autoextend\n").expect("a file");
    let said = server.run("loses/2-apply.sh").expect_err("it loses");
    assert!(said.contains("innodb_data_file_path would be"), "{said}");
    fs::remove_file(later).expect("it is ours");
    rolled_back("loses", ROWS);

    // Interrupted once the new files count, as by a power cut: the machine starts on them, and their rows come back.
    server.write("rename", &asked(&server, &roles));
    server.program(
        "mv",
        "#!/bin/sh\ncase $* in *ibdata1.dbstow-before) exit 1 ;; esac\nexec /bin/mv \"$@\"\n",
    );
    let said = server.run("rename/2-apply.sh").expect_err("no rename");
    assert!(
        said.contains("failed while renaming the old files"),
        "{said}"
    );
    assert!(server.path("data/ibdata1").exists());
    fs::remove_file(server.path("bin/mv")).expect("it is ours");
    server.systemctl("start");
    server.sql("INSERT INTO shop.kept VALUES (10002, 'on the new files')");
    rolled_back("rename", ROWS + 1);
    for old in ["ibdata1", "ib_logfile0"] {
        fs::remove_file(server.path(&format!("data/{old}.dbstow-before")))
            .expect("they were set aside");
    }

    // A server that does not start: the new files count by then, and are copied back.
    server.write("start", &asked(&server, &roles));
    fs::write(server.path("refuses"), "").expect("a file");
    let said = server.run("start/2-apply.sh").expect_err("no start");
    assert!(said.contains("failed while starting mariadb"), "{said}");
    assert!(!server.path("data/ibdata1").exists());
    let undone = server.run("start/undo.sh").expect_err("it still refuses");
    assert!(undone.contains("run it again"), "{undone}");
    fs::remove_file(server.path("refuses")).expect("it is ours");
    rolled_back("start", ROWS + 1);
}
