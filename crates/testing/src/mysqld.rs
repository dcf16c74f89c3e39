//! An external MariaDB or MySQL, on plain directories, with logins that have passwords.

use std::cell::RefCell;
use std::fs::{self, Permissions};
use std::net::TcpListener;
use std::os::unix::fs::{PermissionsExt, chown};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use crate::other_servers::{copy, other_servers};
use host::clock::Clock;
use nix::unistd::{User, geteuid};
use tempfile::TempDir;

/// The password of `boss`, who has all permissions, and of `guest`, who has none; and its form in a URL.
pub const PASSWORD: &str = "s3cr3t@w0rd";
pub const ENCODED: &str = "s3cr3t%40w0rd";

const UNDO_TABLESPACES: &str = "--loose-innodb-undo-tablespaces=3";

/// The product.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Product {
    /// This machine's MariaDB.
    Mariadb,
    /// The MySQL that `scripts/other-servers` fetches, or the `mysqld` that `DBSTOW_MYSQLD` names.
    Mysql,
}

/// The setting that lets MySQL create tables in a folder; MariaDB allows any folder, and does not know it.
pub fn taking_tables_in(folder: &Path) -> String {
    format!("--loose-innodb-directories={}", folder.display())
}

/// A server, ended with this value.
pub struct Mysqld {
    product: Product,
    folder: TempDir,
    port: u16,
    child: RefCell<Option<Child>>,
}

impl Mysqld {
    /// Creates a MariaDB with these settings, and starts it; `None`, with a message, on a machine without MariaDB.
    pub fn start(settings: &[&str]) -> Option<Mysqld> {
        Mysqld::start_of(Product::Mariadb, settings)
    }

    /// The same, of either product.
    pub fn start_of(product: Product, settings: &[&str]) -> Option<Mysqld> {
        if Command::new("mariadbd").arg("--version").output().is_err() {
            crate::skip("no mariadbd");
            return None;
        }
        let mysql = match product {
            Product::Mysql if std::env::var_os("DBSTOW_MYSQLD").is_none() => {
                Some(other_servers("mysql")?.remove(0).1)
            }
            Product::Mariadb | Product::Mysql => None,
        };
        let folder = tempfile::tempdir().expect("a folder");
        let free = TcpListener::bind("127.0.0.1:0").expect("a port");
        if let Some(mysql) = mysql {
            copy(&mysql, &folder.path().join("server"));
        }
        let server = Mysqld {
            product,
            folder,
            port: free.local_addr().expect("it is bound").port(),
            child: RefCell::default(),
        };
        drop(free);
        fs::set_permissions(server.folder.path(), Permissions::from_mode(0o755)).expect("ours");
        for name in ["data", "tmp", "run"] {
            fs::create_dir(server.path(name)).expect("a folder");
            server.hand_over(name);
        }
        // One statement per line.
        let user = |name: &str, more: &str| {
            format!("CREATE USER IF NOT EXISTS {name}@'%' IDENTIFIED BY '{PASSWORD}'{more};\n")
        };
        let logins = [
            &user("boss", ""),
            "GRANT ALL ON *.* TO boss@'%' WITH GRANT OPTION;\n",
            &user("guest", ""),
            &user("sealed", " REQUIRE SSL"),
            "GRANT PROCESS ON *.* TO sealed@'%';\n",
            "GRANT SELECT ON performance_schema.* TO sealed@'%';\n",
            "CREATE DATABASE IF NOT EXISTS sbtest;\n",
        ];
        let logins = logins.concat();
        fs::write(server.path("logins.sql"), logins).expect("a file");
        let mut install = match product {
            Product::Mariadb => Command::new("mariadb-install-db"),
            Product::Mysql => Command::new(server.program()),
        };
        install.arg("--no-defaults");
        install.arg(match product {
            Product::Mariadb => "--skip-test-db",
            Product::Mysql => "--initialize-insecure",
        });
        install
            .args(server.of_user())
            .arg(format!("--datadir={}", server.path("data").display()))
            // Later only behind a slow shutdown.
            .arg(UNDO_TABLESPACES)
            // A server removes what others left in its directory of temporary files, and another test may start one.
            .env("TMPDIR", server.path("tmp"));
        let output = install.output().expect("it comes with the server");
        assert!(output.status.success(), "{output:?}");
        server.up(settings);
        Some(server)
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Gives a file to the server's user.
    pub fn hand_over(&self, name: &str) {
        if geteuid().is_root() {
            let user = User::from_name("mysql").expect("a table of users");
            let user = user.expect("the package makes it");
            let (owner, group) = (user.uid.as_raw(), user.gid.as_raw());
            chown(self.path(name), Some(owner), Some(group)).expect("root may");
        }
    }

    fn of_user(&self) -> Option<&'static str> {
        geteuid().is_root().then_some("--user=mysql")
    }

    fn program(&self) -> PathBuf {
        let named = std::env::var_os("DBSTOW_MYSQLD").map(PathBuf::from);
        match self.product {
            Product::Mariadb => PathBuf::from("mariadbd"),
            Product::Mysql => named.unwrap_or_else(|| self.path("server/bin/mysqld")),
        }
    }

    /// Starts it, with these settings besides its own.
    pub fn up(&self, settings: &[&str]) {
        let place = |name: &str| self.path(name).display().to_string();
        let log = fs::File::create(self.path("log")).expect("a file");
        let child = Command::new(self.program())
            .arg("--no-defaults")
            .args(self.of_user())
            .arg(format!("--datadir={}", place("data")))
            .arg(format!("--tmpdir={}", place("tmp")))
            .arg(format!("--socket={}", place("run/s.sock")))
            .arg(format!("--pid-file={}", place("run/pid")))
            .arg(format!("--init-file={}", place("logins.sql")))
            .arg(format!("--port={}", self.port))
            .args(["--bind-address=127.0.0.1", "--innodb-buffer-pool-size=16M"])
            .args([UNDO_TABLESPACES, "--log-bin=binlog"])
            .args(["--sync-binlog=1", "--innodb-flush-method=O_DIRECT"])
            // MySQL's alone: a second protocol, and a directory of the package's.
            .args(["--loose-mysqlx=OFF", "--loose-secure-file-priv="])
            .args(settings)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(log)
            .spawn()
            .expect("it was found");
        *self.child.borrow_mut() = Some(child);
        let clock = Clock::start();
        while self.try_sql("SELECT 1").is_none() {
            let log = || fs::read_to_string(self.path("log")).unwrap_or_default();
            assert!(clock.now().as_secs_f64() < 60.0, "{}", log());
            let mut child = self.child.borrow_mut();
            let ended = child.as_mut().expect("started").try_wait();
            assert!(ended.expect("it is ours").is_none(), "{}", log());
        }
    }

    /// Shuts it down.
    pub fn down(&self) {
        let child = self.child.borrow_mut().take();
        let mut child = child.expect("it runs");
        let process = nix::unistd::Pid::from_raw(child.id().cast_signed());
        nix::sys::signal::kill(process, nix::sys::signal::Signal::SIGTERM).expect("it runs");
        child.wait().expect("it is ours");
    }

    /// A URL of a login at this host or address.
    pub fn url(&self, login: &str, host: &str, parameters: &str) -> String {
        format!("mysql://{login}@{host}:{}/{parameters}", self.port)
    }

    /// A URL of its socket.
    pub fn socket_url(&self) -> String {
        let socket = self.path("run/s.sock");
        format!(
            "mysql://boss:{ENCODED}@localhost/?socket={}",
            socket.display()
        )
    }

    pub fn port(&self) -> u16 {
        self.port
    }

    /// Its answer, one line per row.
    pub fn sql(&self, statement: &str) -> String {
        self.try_sql(statement).expect(statement)
    }

    fn try_sql(&self, statement: &str) -> Option<String> {
        let output = Command::new("mariadb")
            .args(["--no-defaults", "--skip-column-names", "--user=boss"])
            .arg(format!("--socket={}", self.path("run/s.sock").display()))
            .args(["--execute", statement])
            .env("MYSQL_PWD", PASSWORD)
            .output()
            .expect("the client");
        let text = String::from_utf8(output.stdout).expect("text");
        output.status.success().then(|| text.trim().to_owned())
    }

    /// Sysbench's transactions on 4 tables; `more`: operation and duration.
    pub fn sysbench(&self, more: &[&str]) -> Child {
        Command::new("sysbench")
            .arg("oltp_read_write")
            .arg(format!(
                "--mysql-socket={}",
                self.path("run/s.sock").display()
            ))
            .args(["--mysql-user=boss", &format!("--mysql-password={PASSWORD}")])
            .args(["--tables=4", "--table-size=40000", "--threads=4"])
            .args(more)
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("sysbench")
    }

    /// Bytes that its process has read from and written to disks.
    pub fn bytes(&self) -> (f64, f64) {
        let process = fs::read_to_string(self.path("run/pid")).expect("it runs");
        let io = fs::read_to_string(format!("/proc/{}/io", process.trim())).expect("it runs");
        let of = |name: &str| -> f64 {
            let line = io.lines().find_map(|line| line.strip_prefix(name));
            line.expect(name).trim().parse().expect("a number")
        };
        (of("read_bytes:"), of("write_bytes:"))
    }
}

impl Drop for Mysqld {
    fn drop(&mut self) {
        if let Some(mut child) = self.child.borrow_mut().take() {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}
