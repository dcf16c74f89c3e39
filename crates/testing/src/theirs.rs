//! A user's own PostgreSQL, which is there before dbstow comes.

use std::fs;
use std::net::TcpListener;
use std::os::unix::fs::{PermissionsExt, chown};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use postgres::{self, Binaries, Owner};
use tempfile::TempDir;

pub const PASSWORD: &str = "correct-horse%battery";
/// The same in a URL.
pub const ENCODED: &str = "correct-horse%25battery";

/// A user's own server, which asks for a password, with a database of theirs.
pub struct Theirs {
    server: Binaries,
    /// `psql` and `pgbench`, which another version may lend.
    clients: Binaries,
    owner: Option<Owner>,
    folder: TempDir,
    /// Where its data directory is, if not in the folder.
    data: Option<PathBuf>,
    port: u16,
}

impl Theirs {
    pub fn start(binaries: &Binaries) -> Theirs {
        Theirs::with_clients(binaries, binaries, &[])
    }

    /// The same with its data in a directory that its user may write to.
    pub fn start_on(binaries: &Binaries, volume: &Path) -> Theirs {
        let owner = postgres::owner().expect("a user");
        if let Some((user, group)) = owner {
            chown(volume, Some(user), Some(group)).unwrap();
        }
        let theirs = Theirs::made_in(binaries, binaries, Some(volume.join("data")));
        theirs.up(&[]);
        theirs
    }

    /// With `settings` of the server, such as `ssl=on`.
    pub fn with_clients(server: &Binaries, clients: &Binaries, settings: &[&str]) -> Theirs {
        let theirs = Theirs::made(server, clients);
        theirs.up(settings);
        theirs
    }

    /// Its files, without a server on them yet: [`Theirs::up`].
    pub fn made(server: &Binaries, clients: &Binaries) -> Theirs {
        Theirs::made_in(server, clients, None)
    }

    fn made_in(server: &Binaries, clients: &Binaries, data: Option<PathBuf>) -> Theirs {
        let folder = tempfile::Builder::new()
            .prefix("theirs-")
            .tempdir_in("/tmp")
            .unwrap();
        let theirs = Theirs {
            server: server.clone(),
            clients: clients.clone(),
            owner: postgres::owner().expect("a user"),
            folder,
            data,
            port: free_port(),
        };
        let password = theirs.path("password");
        fs::write(&password, PASSWORD).unwrap();
        for path in [theirs.folder.path(), &password] {
            theirs.hand_over(path);
        }
        theirs.run("initdb", |command| {
            command
                .args([
                    "--auth=scram-sha-256",
                    "--username=boss",
                    "--no-sync",
                    "--pgdata",
                ])
                .arg(theirs.data())
                .arg("--pwfile")
                .arg(&password)
        });
        fs::remove_file(&password).unwrap();
        let passes = theirs.path("pgpass");
        fs::write(&passes, format!("*:*:*:*:{PASSWORD}\n")).unwrap();
        fs::set_permissions(&passes, fs::Permissions::from_mode(0o600)).unwrap();
        theirs
    }

    /// Starts the server, or starts it again with other settings.
    pub fn up(&self, settings: &[&str]) {
        let mut options = format!(
            "-c listen_addresses= -p {} -k {}",
            self.port,
            self.folder.path().display()
        );
        for setting in settings {
            options.push_str(&format!(" -c {setting}"));
        }
        self.run("pg_ctl", |command| {
            command
                .args(["restart", "--wait", "--mode=fast", "--pgdata"])
                .arg(self.data())
                .arg("--log")
                .arg(self.path("log"))
                .args(["--options", &options])
        });
    }

    /// Where it listens, on a socket and, where its settings say so, at that address.
    pub fn port(&self) -> u16 {
        self.port
    }

    /// Hands a file of the test to the user that the server runs as.
    pub fn hand_over(&self, path: &Path) {
        if let Some((user, group)) = self.owner {
            chown(path, Some(user), Some(group)).unwrap();
        }
    }

    fn data(&self) -> PathBuf {
        self.data.clone().unwrap_or_else(|| self.path("data"))
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub fn url(&self, password: &str) -> String {
        let folder = self.folder.path().display();
        let port = self.port;
        format!("postgresql://boss:{password}@/postgres?host={folder}&port={port}")
    }

    pub fn run(&self, program: &str, arguments: impl FnOnce(&mut Command) -> &mut Command) {
        let mut command = Command::new(self.server.program(program));
        command.current_dir("/");
        // Not captured: a server that stays would hold the pipe open.
        let output = fs::File::create(self.folder.path().join("output")).unwrap();
        command.stdout(output.try_clone().unwrap()).stderr(output);
        if let Some((user, group)) = self.owner {
            command.uid(user).gid(group);
        }
        let status = arguments(&mut command).status().expect(program);
        let said = fs::read_to_string(self.path("output")).unwrap_or_default();
        assert!(status.success(), "{program}: {said}");
    }

    /// `pgbench` on it, which must succeed; returns its output.
    pub fn pgbench(&self, arguments: &[&str]) -> String {
        let output = self.pgbench_command(arguments).output().expect("pgbench");
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        assert!(output.status.success(), "{text}");
        text
    }

    pub fn pgbench_command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(self.clients.program("pgbench"));
        command
            .arg("-h")
            .arg(self.folder.path())
            .args(["-p", &self.port.to_string(), "-U", "boss"])
            .args(arguments)
            .arg("postgres")
            .env("PGPASSFILE", self.path("pgpass"));
        command
    }

    /// Names of its databases and tablespaces.
    pub fn content(&self) -> String {
        self.sql(
            "SELECT string_agg(name, ' ' ORDER BY name) FROM \
             (SELECT datname AS name FROM pg_database UNION ALL SELECT spcname FROM pg_tablespace) AS all_names",
        )
    }

    /// What a query answers.
    pub fn sql(&self, sql: &str) -> String {
        let output = self.psql_command().args(["-XAtc", sql]).output();
        let printed = output.expect("psql").stdout;
        String::from_utf8(printed).unwrap().trim().to_owned()
    }

    /// `psql` on it, to which options are added.
    pub fn psql_command(&self) -> Command {
        let mut command = Command::new(self.clients.program("psql"));
        command
            .arg("-h")
            .arg(self.folder.path())
            .args(["-p", &self.port.to_string(), "-U", "boss", "-d", "postgres"])
            // Not in its environment: a parallel test checks whether the password is in any.
            .env("PGPASSFILE", self.path("pgpass"));
        command
    }
}

impl Drop for Theirs {
    fn drop(&mut self) {
        let data = self.data();
        self.run("pg_ctl", |command| {
            command
                .args(["stop", "--wait", "--mode=immediate", "--pgdata"])
                .arg(data)
        });
    }
}

/// A free port: parallel tests need one each for their servers.
fn free_port() -> u16 {
    let listener = TcpListener::bind(("127.0.0.1", 0)).expect("a port");
    listener.local_addr().expect("its address").port()
}
