//! A private PostgreSQL for a benchmark.

use std::fs;
use std::os::unix::fs::chown;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use host::clock::Clock;
use nix::unistd::User;
use postgres::Binaries;

use crate::bench::{run, text};

/// Who runs the server: it refuses to run as root.
const USER: &str = "postgres";

/// A server with its own data and socket; stopped when dropped.
pub(crate) struct Server {
    binaries: Binaries,
    data: PathBuf,
    socket: String,
    running: bool,
}

impl Server {
    /// Makes a cluster at `data`, and starts it with its socket in `folder`.
    pub(crate) fn start(data: &Path, folder: &Path) -> Result<Server> {
        let user =
            User::from_name(USER)?.context("there is no user postgres: install PostgreSQL")?;
        let own = |path: &Path| -> Result<()> {
            fs::create_dir_all(path)?;
            chown(path, Some(user.uid.as_raw()), Some(user.gid.as_raw()))?;
            Ok(())
        };
        let socket = folder.join("socket");
        own(&socket)?;
        own(data)?;
        let mut server = Server {
            binaries: Binaries::find(None)?,
            data: data.to_owned(),
            socket: text(&socket)?.to_owned(),
            running: false,
        };
        server.run(
            "initdb",
            &["-D", text(data)?, "--auth=trust", "--no-instructions"],
        )?;
        let options = format!(
            "-c listen_addresses='' -c unix_socket_directories={} -c max_wal_size=4GB",
            server.socket
        );
        let log = folder.join("postgres.log");
        let log = format!("--log={}", text(&log)?);
        fs::write(folder.join("postgres.log"), "")?;
        chown(folder.join("postgres.log"), Some(user.uid.as_raw()), None)?;
        server.run(
            "pg_ctl",
            &["start", "-w", "-D", text(data)?, &log, "-o", &options],
        )?;
        server.running = true;
        server.run("createdb", &["-h", &server.socket, "bench"])?;
        Ok(server)
    }

    /// Loads pgbench's tables: the seconds it took.
    pub(crate) fn load(&self, scale: u32) -> Result<f64> {
        let scale = scale.to_string();
        let clock = Clock::start();
        self.run(
            "pgbench",
            &["-i", "-q", "-s", &scale, "-h", &self.socket, "bench"],
        )?;
        Ok(clock.now().as_secs_f64())
    }

    /// Transactions per second that pgbench achieves.
    pub(crate) fn transactions(&self, seconds: u32, options: &[&str]) -> Result<f64> {
        let seconds = seconds.to_string();
        let common = ["-n", "-T", &seconds, "-h", &self.socket, "bench"];
        let output = self.run("pgbench", &[options, &common].concat())?;
        let rate = output.lines().find_map(|line| line.strip_prefix("tps = "));
        let rate = rate.and_then(|rest| rest.split(' ').next()?.parse().ok());
        rate.with_context(|| format!("pgbench says no tps: {output}"))
    }

    /// Stops the server and removes its data.
    pub(crate) fn stop(mut self) -> Result<()> {
        self.running = false;
        self.run(
            "pg_ctl",
            &["stop", "-w", "-m", "fast", "-D", text(&self.data)?],
        )?;
        fs::remove_dir_all(&self.data)?;
        Ok(())
    }

    fn run(&self, program: &str, arguments: &[&str]) -> Result<String> {
        let program = self.binaries.program(program);
        let start = ["-u", USER, "--", text(&program)?];
        run("runuser", &[&start, arguments].concat())
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        if self.running {
            let data = self.data.to_string_lossy();
            let stopped = self.run("pg_ctl", &["stop", "-w", "-m", "immediate", "-D", &data]);
            if let Err(error) = stopped {
                eprintln!("PostgreSQL in {data} is not stopped: {error:#}");
            }
        }
    }
}
