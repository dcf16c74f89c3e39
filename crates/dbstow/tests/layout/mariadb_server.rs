//! What a private MariaDB does with its scripts: files move, nothing is lost, and the rollback restores the server, also after a
//! script that failed half-way.

use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt, chown};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use experiment::spec::Role;
use layout::{Engine, LayoutRequest};
use nix::unistd::{User, geteuid};
use tempfile::TempDir;

use crate::made;
use crate::mariadb::everything;

struct Server {
    folder: TempDir,
}

impl Server {
    /// One that runs and has tables, or `None` on a machine without MariaDB, which is said.
    fn start(settings: &str) -> Option<Server> {
        if !Path::new("/usr/sbin/mariadbd").exists() {
            let why = "no /usr/sbin/mariadbd; apt-get install mariadb-server";
            assert!(std::env::var_os("DBSTOW_SKIP_NOTHING").is_none(), "{why}");
            eprintln!("skipped: {why}");
            return None;
        }
        let folder = tempfile::Builder::new()
            .prefix("layout-")
            .tempdir_in("/tmp")
            .expect("a folder");
        let server = Server { folder };
        server.give(server.folder.path());
        for name in ["a", "b", "run", "conf.d", "units", "bin"] {
            fs::create_dir(server.path(name)).expect("a folder");
            server.give(&server.path(name));
        }
        let root = server.folder.path().display();
        let user = match geteuid().is_root() {
            true => "user = mysql\n",
            false => "",
        };
        // Small, and with durable commits: what is checked is what is there after a restart.
        let configuration = format!(
            "[mysqld]\n{user}datadir = {root}/data\nsocket = {root}/run/s\npid-file = {root}/run/pid\nlog-error = {root}/run/log.err\n\
             skip-networking\nserver-id = 1\ninnodb_buffer_pool_size = 16M\ninnodb_log_file_size = 4M\n{settings}\
             !includedir {root}/conf.d\n"
        );
        fs::write(server.path("my.cnf"), configuration).expect("a file");
        server.program(
            "systemctl",
            &format!(
                "#!/bin/sh\necho \"$*\" >>'{root}/calls'\ncase $1 in\n\
                 start)\n    [ ! -e '{root}/refuses' ] || exit 1\n    {MARIADBD} --defaults-file='{root}/my.cnf' </dev/null >/dev/null 2>&1 & ;;\n\
                 stop)\n    pid=$(cat '{root}/run/pid' 2>/dev/null) || exit 0\n    kill \"$pid\"\n    while kill -0 \"$pid\" 2>/dev/null; do sleep 0.1; done ;;\n\
                 esac\n"
            ),
        );
        server.install();
        server.systemctl("start");
        server.wait();
        server.sql("CREATE DATABASE shop");
        server.sql("CREATE TABLE shop.kept (n INT PRIMARY KEY, text TEXT) ENGINE = InnoDB");
        server.sql("CREATE TABLE shop.crash_safe (n INT) ENGINE = Aria");
        server.sql("USE shop; INSERT INTO kept SELECT seq, REPEAT('x', 1000) FROM seq_1_to_2000; FLUSH BINARY LOGS");
        server.sql("INSERT INTO shop.crash_safe VALUES (1); INSERT INTO shop.kept VALUES (10000, 'before')");
        Some(server)
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn give(&self, path: &Path) {
        if geteuid().is_root() {
            let user = User::from_name("mysql")
                .expect("users")
                .expect("the package makes it");
            let (user, group) = (user.uid.as_raw(), user.gid.as_raw());
            chown(path, Some(user), Some(group)).expect("its owner");
        }
    }

    fn program(&self, name: &str, text: &str) {
        let path = self.path("bin").join(name);
        fs::write(&path, text).expect("a script");
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).expect("a script");
    }

    fn install(&self) {
        let mut command = Command::new("mariadb-install-db");
        let defaults = format!("--defaults-file={}", self.path("my.cnf").display());
        command.args([&defaults, "--auth-root-authentication-method=normal"]);
        let output = command.output().expect("mariadb-install-db");
        assert!(output.status.success(), "{output:?}");
    }

    fn systemctl(&self, what: &str) {
        let mut command = Command::new(self.path("bin/systemctl"));
        let status = command.args([what, "mariadb"]).status();
        assert!(status.expect("a shell").success(), "{what}");
    }

    fn client(&self) -> String {
        let socket = self.path("run/s");
        format!(
            "mariadb --no-defaults --user=root --socket={}",
            socket.display()
        )
    }

    fn ask(&self, text: &str) -> Output {
        let client = self.client();
        let mut words = client.split(' ');
        let mut command = Command::new(words.next().expect("a program"));
        command.args(words).args(["-NBe", text]);
        command.stdin(Stdio::null()).output().expect("mariadb")
    }

    fn sql(&self, text: &str) -> String {
        let output = self.ask(text);
        assert!(output.status.success(), "{text}: {output:?}");
        String::from_utf8_lossy(&output.stdout).trim().to_owned()
    }

    fn wait(&self) {
        let until = std::time::Instant::now() + std::time::Duration::from_secs(60);
        while !self.ask("SELECT 1").status.success() {
            let log = fs::read_to_string(self.path("run/log.err")).unwrap_or_default();
            assert!(std::time::Instant::now() < until, "{log}");
            std::thread::sleep(std::time::Duration::from_millis(50));
        }
    }

    /// Writes a set to a folder.
    fn write(&self, name: &str, wish: &LayoutRequest) {
        let folder = self.path(name);
        fs::create_dir(&folder).expect("a folder");
        for script in made(Engine::Mariadb, wish, None) {
            fs::write(folder.join(&script.name), &script.text).expect("a file");
        }
    }

    /// Runs a script as its README says, with what `places.sh` names for a server that is not the package's.
    fn run(&self, script: &str) -> Result<String, String> {
        let path = |name: &str| self.path(name).display().to_string();
        let mut command = Command::new("sh");
        command
            .arg(self.path(script))
            .current_dir("/")
            .env("MARIADB", self.client())
            .env(
                "MARIADBD",
                format!("{MARIADBD} --defaults-file={}", path("my.cnf")),
            )
            .env("SYSTEMCTL", path("bin/systemctl"))
            .env("CONFIGURATION", path("conf.d"))
            .env("UNITS", path("units"))
            .env("APPARMOR", path("apparmor"))
            .env(
                "PATH",
                format!("{}:/usr/sbin:/usr/bin:/sbin:/bin", path("bin")),
            );
        let output = command.output().expect("a shell");
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        match output.status.success() {
            true => Ok(text(&output.stdout)),
            false => Err(text(&output.stderr)),
        }
    }

    /// Names in a folder, sorted.
    fn names(&self, folder: &str) -> Vec<String> {
        let entries = fs::read_dir(self.path(folder)).expect(folder);
        let name = |entry: std::io::Result<fs::DirEntry>| entry.expect(folder).file_name();
        let mut names: Vec<String> = entries
            .map(|entry| name(entry).to_string_lossy().into_owned())
            .collect();
        names.sort();
        names
    }

    /// Asserts that all tables are whole and have so many rows.
    fn assert_whole(&self, rows: u32) {
        let checked =
            self.sql("CHECK TABLE shop.kept, shop.crash_safe, mysql.global_priv EXTENDED");
        assert_eq!(checked.matches("\tstatus\tOK").count(), 3, "{checked}");
        let counted = self.sql("SELECT COUNT(*) FROM shop.kept");
        assert_eq!(counted, rows.to_string());
        assert_eq!(self.sql("SELECT n FROM shop.crash_safe"), "1");
    }

    /// What the server says of its places.
    fn places(&self) -> String {
        self.sql(
            "SHOW GLOBAL VARIABLES WHERE Variable_name IN ('datadir', 'tmpdir', 'innodb_log_group_home_dir', 'log_bin_basename', \
             'innodb_undo_directory', 'innodb_undo_tablespaces', 'innodb_data_home_dir', 'innodb_data_file_path', \
             'innodb_temp_data_file_path', 'aria_log_dir_path')",
        )
    }

    fn calls(&self) -> String {
        fs::read_to_string(self.path("calls")).expect("systemctl was called")
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let mut command = Command::new(self.path("bin/systemctl"));
        drop(command.args(["stop", "mariadb"]).status());
    }
}

const MARIADBD: &str = "/usr/sbin/mariadbd";

/// Rows that [`Server::start`] has left.
const ROWS: u32 = 2_001;

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
    // By its name, as a replica asks for one.
    let events = server.sql("SHOW BINLOG EVENTS IN 'mysql-bin.000003' LIMIT 20");
    assert!(events.contains("shop"), "{events}");
    assert_eq!(server.names("conf.d"), [""; 0]);
    assert_eq!(server.names("units/mariadb.service.d"), [""; 0]);
    let nothing = server.run("set/undo.sh").expect_err("it is done already");
    assert!(nothing.contains("rolled back already"), "{nothing}");
}

#[test]
fn a_data_directory_takes_along_what_is_in_it() {
    // Absolute and relative names: each follows in a way of its own.
    let server = Server::start("log-bin = mysql-bin\ninnodb_undo_tablespaces = 3\n");
    let Some(server) = server else {
        return;
    };
    server.write("set", &asked(&server, &[Role::Data]));
    let before = server.places();
    let other = server.path("conf.d/other.cnf");
    let inside = server.path("data/slow.log").display().to_string();
    fs::write(
        &other,
        format!("[mysqld]\nslow_query_log_file = {inside}\n"),
    )
    .expect("a file");
    let fixed = server.run("set/1-check.sh").expect_err("a path in it");
    assert!(fixed.contains(&inside), "{fixed}");
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
    let events = server.sql("SHOW BINLOG EVENTS IN 'mysql-bin.000002' LIMIT 20");
    assert!(events.contains("shop"), "{events}");
    assert_eq!(server.names("data"), [".dbstow-before"]);
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

    // A server that does not start: the new files count by then, and are copied back.
    server.write("start", &asked(&server, &roles));
    fs::write(server.path("refuses"), "").expect("a file");
    let said = server.run("start/2-apply.sh").expect_err("no start");
    assert!(said.contains("failed while starting mariadb"), "{said}");
    assert!(!server.path("data/ibdata1").exists());
    let undone = server.run("start/undo.sh").expect_err("it still refuses");
    assert!(undone.contains("run it again"), "{undone}");
    fs::remove_file(server.path("refuses")).expect("it is ours");
    rolled_back("start", ROWS);
}
