//! A private MariaDB, with its scripts run as described in their README.

use std::fs;
use std::os::unix::fs::{PermissionsExt, chown};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use layout::LayoutRequest;
use nix::unistd::{User, geteuid};
use tempfile::TempDir;

use crate::layout::made;

pub(crate) struct Server {
    folder: TempDir,
}

impl Server {
    /// A running one with tables (`ROOT` in its settings is its folder); `None`, with a message, on a machine without
    /// MariaDB.
    pub(crate) fn start(settings: &str) -> Option<Server> {
        if !Path::new("/usr/sbin/mariadbd").exists() {
            let why = "no /usr/sbin/mariadbd; apt-get install mariadb-server";
            testing::skip(why);
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
        let settings = settings.replace("ROOT", &root.to_string());
        // Small, and with durable commits: the test checks the data after a restart.
        let configuration = format!(
            "[mysqld]\n{user}datadir = {root}/data\nsocket = {root}/run/s\npid-file = {root}/run/pid\nlog-error = {root}/run/log.err\n\
             skip-networking\nserver-id = 1\ninnodb_buffer_pool_size = 16M\ninnodb_log_file_size = 4M\n{settings}\
             !includedir {root}/conf.d\n"
        );
        fs::write(server.path("my.cnf"), configuration).expect("a file");
        // Like systemd, it reports a start once the server is ready.
        server.program(
            "systemctl",
            &format!(
                "#!/bin/sh\necho \"$*\" >>'{root}/calls'\ncase $1 in\n\
                 start)\n    [ ! -e '{root}/refuses' ] || exit 1\n    {MARIADBD} --defaults-file='{root}/my.cnf' </dev/null >/dev/null 2>&1 &\n\
                 until {client} -e 'SELECT 1' >/dev/null 2>&1; do kill -0 $! && sleep 0.1 || exit 1; done ;;\n\
                 stop)\n    pid=$(cat '{root}/run/pid' 2>/dev/null) || exit 0\n    kill \"$pid\"\n    while kill -0 \"$pid\" 2>/dev/null; do sleep 0.1; done ;;\n\
                 esac\n",
                client = server.client()
            ),
        );
        server.install();
        server.systemctl("start");
        server.sql("CREATE DATABASE shop");
        server.sql("CREATE TABLE shop.kept (n INT PRIMARY KEY, text TEXT) ENGINE = InnoDB");
        server.sql("CREATE TABLE shop.crash_safe (n INT) ENGINE = Aria");
        server.sql("USE shop; INSERT INTO kept SELECT seq, REPEAT('x', 1000) FROM seq_1_to_2000; FLUSH BINARY LOGS");
        server.sql("INSERT INTO shop.crash_safe VALUES (1); INSERT INTO shop.kept VALUES (10000, 'before')");
        Some(server)
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
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

    pub(crate) fn program(&self, name: &str, text: &str) {
        let path = self.path("bin").join(name);
        fs::write(&path, text).expect("a script");
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).expect("a script");
    }

    fn install(&self) {
        let mut command = Command::new("mariadb-install-db");
        let defaults = format!("--defaults-file={}", self.path("my.cnf").display());
        command.args([&defaults, "--auth-root-authentication-method=normal"]);
        // A starting server removes temporary tables that it finds, including those of another test's server.
        command.env("TMPDIR", self.path("run"));
        let output = command.output().expect("mariadb-install-db");
        assert!(output.status.success(), "{output:?}");
    }

    pub(crate) fn systemctl(&self, what: &str) {
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

    pub(crate) fn sql(&self, text: &str) -> String {
        let output = self.ask(text);
        assert!(output.status.success(), "{text}: {output:?}");
        String::from_utf8_lossy(&output.stdout).trim().to_owned()
    }

    /// A binary log as the server gives it to a replica that asks for it by its name.
    pub(crate) fn dump(&self, log: &str) -> String {
        let socket = format!("--socket={}", self.path("run/s").display());
        let asks = [
            "--no-defaults",
            "--read-from-remote-server",
            "--user=root",
            &socket,
            log,
        ];
        let output = Command::new("mariadb-binlog")
            .args(asks)
            .output()
            .expect("mariadb-binlog");
        assert!(output.status.success(), "{log}: {output:?}");
        String::from_utf8_lossy(&output.stdout).into_owned()
    }

    /// Writes a set to a folder.
    pub(crate) fn write(&self, name: &str, request: &LayoutRequest) {
        let folder = self.path(name);
        fs::create_dir(&folder).expect("a folder");
        for script in made(&mariadb::layout::Layout, request, None) {
            fs::write(folder.join(&script.name), &script.text).expect("a file");
        }
    }

    /// Runs a script as described in its README, with the values of `places.sh` for a server that is not the package's.
    pub(crate) fn run(&self, script: &str) -> Result<String, String> {
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
    pub(crate) fn names(&self, folder: &str) -> Vec<String> {
        let entries = fs::read_dir(self.path(folder)).expect(folder);
        let name = |entry: std::io::Result<fs::DirEntry>| entry.expect(folder).file_name();
        let mut names: Vec<String> = entries
            .map(|entry| name(entry).to_string_lossy().into_owned())
            .collect();
        names.sort();
        names
    }

    /// Asserts that all tables are intact and have this many rows.
    pub(crate) fn assert_whole(&self, rows: u32) {
        let checked =
            self.sql("CHECK TABLE shop.kept, shop.crash_safe, mysql.global_priv EXTENDED");
        assert_eq!(checked.matches("\tstatus\tOK").count(), 3, "{checked}");
        let counted = self.sql("SELECT COUNT(*) FROM shop.kept");
        assert_eq!(counted, rows.to_string());
        assert_eq!(self.sql("SELECT n FROM shop.crash_safe"), "1");
    }

    /// The server's own report of its directories.
    pub(crate) fn places(&self) -> String {
        self.sql(
            "SHOW GLOBAL VARIABLES WHERE Variable_name IN ('datadir', 'tmpdir', 'innodb_log_group_home_dir', 'log_bin_basename', \
             'innodb_undo_directory', 'innodb_undo_tablespaces', 'innodb_data_home_dir', 'innodb_data_file_path', \
             'innodb_temp_data_file_path', 'aria_log_dir_path')",
        )
    }

    pub(crate) fn calls(&self) -> String {
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
pub(crate) const ROWS: u32 = 2_001;
