//! A real Slurm of one node, which ends with the test.
//!
//! Its daemons listen on all interfaces (slurm.conf(5)), so it has its own network namespace with only the loopback
//! interface: it is unreachable from outside, and its ports are free.

use std::fs;
use std::io::{self, Read as _, Write as _};
use std::os::unix::fs::{OpenOptionsExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::thread;

use host::clock::Clock;
use model::{Duration, Instant};
use tempfile::TempDir;

use crate::place::Running;

/// Timeout of any wait: a machine may be very busy.
const PATIENCE: Duration = Duration::from_secs(240);

/// Polling interval.
const LOOK_EVERY: Duration = Duration::from_millis(20);

/// The node's memory, as declared, which is not checked.
const MEMORY_MIB: u32 = 1024;

/// Ports of the controller and of the node's daemon.
const PORTS: [u16; 2] = [6817, 6818];

/// Controller, node and the daemon by which they know each other.
pub struct Slurm {
    folder: TempDir,
    network: Network,
    daemons: Vec<Child>,
}

impl Slurm {
    /// Starts it; `None`, with a message, for other users than root and on a machine without the programs.
    pub fn start() -> Option<Slurm> {
        if let Some(why) = missing() {
            crate::skip(why);
            return None;
        }
        let folder = tempfile::tempdir().unwrap();
        // munged requires the path to its socket to be open to all users.
        fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o755)).unwrap();
        let mut slurm = Slurm {
            folder,
            network: Network::start(),
            daemons: Vec::new(),
        };
        for name in ["run", "state", "spool", "work"] {
            fs::create_dir(slurm.path(name)).unwrap();
        }
        fs::set_permissions(slurm.path("run"), fs::Permissions::from_mode(0o755)).unwrap();
        slurm.write_key();
        fs::write(slurm.path("slurm.conf"), slurm.configuration()).unwrap();

        let munge = ["key-file", "socket", "pid-file", "log-file", "seed-file"];
        let options = munge.map(|option| match option {
            "socket" => format!("--socket={}", slurm.path("run/munge").display()),
            _ => format!("--{option}={}", slurm.path(option).display()),
        });
        slurm.daemon(
            "munged",
            ["--foreground", "--force"]
                .map(str::to_owned)
                .into_iter()
                .chain(options),
        );
        wait("munge's socket", || slurm.path("run/munge").exists());
        slurm.daemon("slurmctld", ["-D".to_owned()]);
        slurm.daemon("slurmd", ["-D".to_owned()]);
        wait("an idle node", || {
            let states = slurm.answer("sinfo", &["--noheader", "--format=%t"]);
            states.trim() == "idle"
        });
        Some(slurm)
    }

    /// The directory from which jobs are submitted.
    pub fn work(&self) -> PathBuf {
        self.path("work")
    }

    /// Submits a script.
    pub fn submit(&self, script: &Path) {
        let output = self.client("sbatch", &[&script.display().to_string()]);
        let output = output.unwrap();
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{said}{}", self.logs());
    }

    /// Waits until no task is queued or runs.
    pub fn wait_until_idle(&self) {
        wait("the end of all tasks", || {
            self.answer("squeue", &["--noheader"]).trim().is_empty()
        });
    }

    /// Output of all tasks.
    pub fn outputs(&self) -> String {
        let entries = fs::read_dir(self.work()).unwrap().flatten();
        let outputs = entries.filter(|entry| {
            let name = entry.file_name();
            name.to_string_lossy().starts_with("slurm-")
        });
        outputs
            .map(|entry| fs::read_to_string(entry.path()).unwrap())
            .collect()
    }

    /// Log of the daemons.
    pub fn logs(&self) -> String {
        let log = |name: &str| fs::read_to_string(self.path(name)).unwrap_or_default();
        ["slurmctld.log", "slurmd.log"].map(log).concat()
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn write_key(&self) {
        let key = fs::OpenOptions::new()
            .write(true)
            .create_new(true)
            .mode(0o600)
            .open(self.path("key-file"));
        let bytes: Vec<u8> = (0..64)
            .flat_map(|_| files::unique_name("").into_bytes())
            .collect();
        key.unwrap().write_all(&bytes[..1024]).unwrap();
    }

    /// A requeued task may start after `cred_expire`, whose minimum is 5 s.
    ///
    /// Source: slurm.conf(5) of Slurm 22.05.
    fn configuration(&self) -> String {
        let host = sysinfo::System::host_name().unwrap();
        let host = host.split('.').next().unwrap_or_default();
        let user = Command::new("id").arg("-un").output().unwrap().stdout;
        let user = String::from_utf8(user).unwrap();
        let user = user.trim();
        let [controller, node] = PORTS;
        let at = |name: &str| self.path(name).display().to_string();
        let cores = thread::available_parallelism().map_or(1, usize::from);
        let lines = [
            "ClusterName=dbstow".to_owned(),
            format!("SlurmctldHost={host}(127.0.0.1)"),
            format!("SlurmctldPort={controller}"),
            format!("SlurmdPort={node}"),
            format!("SlurmUser={user}"),
            format!("SlurmdUser={user}"),
            "AuthType=auth/munge".to_owned(),
            "CredType=cred/munge".to_owned(),
            format!("AuthInfo=socket={},cred_expire=5", at("run/munge")),
            format!("StateSaveLocation={}", at("state")),
            format!("SlurmdSpoolDir={}", at("spool")),
            format!("SlurmctldPidFile={}", at("slurmctld.pid")),
            format!("SlurmdPidFile={}", at("slurmd.pid")),
            format!("SlurmctldLogFile={}", at("slurmctld.log")),
            format!("SlurmdLogFile={}", at("slurmd.log")),
            "ProctrackType=proctrack/linuxproc".to_owned(),
            "TaskPlugin=task/none".to_owned(),
            "JobAcctGatherType=jobacct_gather/none".to_owned(),
            "AccountingStorageType=accounting_storage/none".to_owned(),
            "SelectType=select/cons_tres".to_owned(),
            "SelectTypeParameters=CR_Core".to_owned(),
            "SchedulerParameters=sched_interval=1,bf_interval=1,sched_min_interval=100000"
                .to_owned(),
            "SlurmdParameters=config_overrides".to_owned(),
            "MpiDefault=none".to_owned(),
            "PropagateResourceLimits=NONE".to_owned(),
            format!("NodeName={host} NodeAddr=127.0.0.1 CPUs={cores} RealMemory={MEMORY_MIB}"),
            format!("PartitionName=main Nodes={host} Default=YES State=UP MaxTime=INFINITE"),
        ];
        lines.join("\n") + "\n"
    }

    fn daemon(&mut self, program: &str, arguments: impl IntoIterator<Item = String>) {
        let log = fs::File::create(self.path(&format!("{program}.out"))).unwrap();
        let mut command = self.network.command(&find(program).unwrap());
        command
            .args(arguments)
            .env("SLURM_CONF", self.path("slurm.conf"))
            .stdin(Stdio::null())
            .stdout(log.try_clone().unwrap())
            .stderr(log);
        self.daemons.push(command.spawn().unwrap());
    }

    fn client(&self, program: &str, arguments: &[&str]) -> io::Result<Output> {
        self.network
            .command(Path::new(program))
            .args(arguments)
            .env("SLURM_CONF", self.path("slurm.conf"))
            .current_dir(self.work())
            .output()
    }

    fn answer(&self, program: &str, arguments: &[&str]) -> String {
        match self.client(program, arguments) {
            Ok(output) if output.status.success() => {
                String::from_utf8_lossy(&output.stdout).into_owned()
            }
            // The controller may not be running yet.
            Ok(_) | Err(_) => "no answer".to_owned(),
        }
    }
}

/// A network namespace with only the loopback interface, held by a process that ends with the test.
///
/// The interface also has an address of TEST-NET-1 (RFC 5737): where 127.0.0.1 is the only one, getaddrinfo(3) finds none
/// to listen on, because of `AI_ADDRCONFIG`.
struct Network(Running);

impl Network {
    fn start() -> Network {
        let up = "ip link set lo up && ip address add 192.0.2.1/32 dev lo && echo up && exec cat";
        let mut command = Command::new("unshare");
        command.args(["--net", "sh", "-c", up]);
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut network = Network(Running(command.spawn().unwrap()));
        let mut said = [0; 3];
        let output = network.0.0.stdout.as_mut().unwrap();
        output.read_exact(&mut said).unwrap();
        assert_eq!(&said, b"up\n");
        network
    }

    /// A program in it.
    fn command(&self, program: &Path) -> Command {
        let mut command = Command::new("nsenter");
        command.arg(format!("--net=/proc/{}/ns/net", self.0.0.id()));
        command.arg("--").arg(program);
        command
    }
}

impl Drop for Slurm {
    fn drop(&mut self) {
        // Without a panic, which would leave the daemons if it occurred during another one. Tasks outlive the daemon that
        // started them.
        let user = Command::new("id").arg("-un").output();
        let user = user.map(|output| String::from_utf8_lossy(&output.stdout).trim().to_owned());
        if let (3, Ok(user)) = (self.daemons.len(), user) {
            let _ = self.client("scancel", &["--user", &user]);
            let clock = Clock::start();
            let is_empty = || self.answer("squeue", &["--noheader"]).trim().is_empty();
            while !is_empty() && clock.now().since(Instant::ZERO) < Duration::from_secs(10) {
                Clock::sleep(LOOK_EVERY);
            }
        }
        for mut daemon in self.daemons.drain(..).rev() {
            let _ = daemon.kill();
            let _ = daemon.wait();
        }
    }
}

/// Waits until `is_there`.
///
/// # Panics
/// On a timeout.
pub fn wait(what: &str, mut is_there: impl FnMut() -> bool) {
    let clock = Clock::start();
    while !is_there() {
        assert!(
            clock.now().since(Instant::ZERO) < PATIENCE,
            "{what} did not come"
        );
        Clock::sleep(LOOK_EVERY);
    }
}

/// A prerequisite that is missing here, if any.
fn missing() -> Option<String> {
    if !nix::unistd::geteuid().is_root() {
        return Some("a network namespace needs root".to_owned());
    }
    let programs = [
        "munged",
        "slurmctld",
        "slurmd",
        "sbatch",
        "unshare",
        "nsenter",
        "ip",
    ];
    let missing = programs.iter().find(|program| find(program).is_none())?;
    let packages = "slurm-wlm, munge, util-linux and iproute2";
    Some(format!("{missing} of {packages} is not installed"))
}

/// A program, also where only root has it in the path.
fn find(program: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let places = std::env::split_paths(&path).chain(["/usr/sbin".into(), "/sbin".into()]);
    places
        .map(|place| place.join(program))
        .find(|file| file.exists())
}
