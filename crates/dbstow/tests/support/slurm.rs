//! A real Slurm of one node on the loopback interface, which ends with the test.

use std::fs;
use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::thread;

use model::{Duration, Instant};
use tempfile::TempDir;
use volume::clock::Clock;

/// Longest that is waited for anything: a machine may be very busy.
const PATIENCE: Duration = Duration::from_secs(240);

/// How often it is looked.
const LOOK_EVERY: Duration = Duration::from_millis(20);

/// The node's memory, which is claimed and not looked at.
const MEMORY_MIB: u32 = 1024;

/// Controller, node and the daemon by which they know each other.
pub(crate) struct Slurm {
    folder: TempDir,
    daemons: Vec<Child>,
}

impl Slurm {
    /// Starts it; `None` on a machine without the programs, which is said.
    pub(crate) fn start() -> Option<Slurm> {
        for program in ["munged", "slurmctld", "slurmd", "sbatch"] {
            if find(program).is_none() {
                let why = format!("{program} of slurm-wlm and munge is not installed");
                assert!(std::env::var_os("DBSTOW_SKIP_NOTHING").is_none(), "{why}");
                eprintln!("skipped: {why}");
                return None;
            }
        }
        let folder = tempfile::tempdir().unwrap();
        // munged wants the way to its socket to be open to all users.
        fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o755)).unwrap();
        let mut slurm = Slurm {
            folder,
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
    pub(crate) fn work(&self) -> PathBuf {
        self.path("work")
    }

    /// Submits a script.
    pub(crate) fn submit(&self, script: &Path) {
        let output = self.client("sbatch", &[&script.display().to_string()]);
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{said}{}", self.logs());
    }

    /// Waits until no task is queued or runs.
    pub(crate) fn wait_until_idle(&self) {
        wait("the end of all tasks", || {
            self.answer("squeue", &["--noheader"]).trim().is_empty()
        });
    }

    /// What the tasks printed, all of them.
    pub(crate) fn outputs(&self) -> String {
        let entries = fs::read_dir(self.work()).unwrap().flatten();
        let outputs = entries.filter(|entry| {
            let name = entry.file_name();
            name.to_string_lossy().starts_with("slurm-")
        });
        outputs
            .map(|entry| fs::read_to_string(entry.path()).unwrap())
            .collect()
    }

    /// What the daemons logged.
    pub(crate) fn logs(&self) -> String {
        let log = |name: &str| fs::read_to_string(self.path(name)).unwrap_or_default();
        ["slurmctld.log", "slurmd.log"].map(log).concat()
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn write_key(&self) {
        let key = self.path("key-file");
        let bytes: Vec<u8> = (0..64)
            .flat_map(|_| files::unique_name("").into_bytes())
            .collect();
        fs::write(&key, &bytes[..1024]).unwrap();
        fs::set_permissions(&key, fs::Permissions::from_mode(0o600)).unwrap();
    }

    /// A task that is put back may start after `cred_expire`, for which 5 s are the least.
    ///
    /// Source: slurm.conf(5) of Slurm 22.05.
    fn configuration(&self) -> String {
        let host = gethostname::gethostname().to_string_lossy().into_owned();
        let host = host.split('.').next().unwrap_or_default();
        let user = Command::new("id").arg("-un").output().unwrap().stdout;
        let user = String::from_utf8(user).unwrap();
        let user = user.trim();
        let [controller, node] = free_ports();
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
        let mut command = Command::new(find(program).unwrap());
        command
            .args(arguments)
            .env("SLURM_CONF", self.path("slurm.conf"))
            .stdin(Stdio::null())
            .stdout(log.try_clone().unwrap())
            .stderr(log);
        self.daemons.push(command.spawn().unwrap());
    }

    fn client(&self, program: &str, arguments: &[&str]) -> Output {
        Command::new(program)
            .args(arguments)
            .env("SLURM_CONF", self.path("slurm.conf"))
            .current_dir(self.work())
            .output()
            .unwrap()
    }

    fn answer(&self, program: &str, arguments: &[&str]) -> String {
        let output = self.client(program, arguments);
        match output.status.success() {
            true => String::from_utf8(output.stdout).unwrap(),
            // The controller may not be there yet.
            false => "no answer".to_owned(),
        }
    }
}

impl Drop for Slurm {
    fn drop(&mut self) {
        // Tasks outlive the daemon that started them.
        let user = Command::new("id").arg("-un").output();
        let user = user.map(|output| String::from_utf8_lossy(&output.stdout).trim().to_owned());
        if let (3, Ok(user)) = (self.daemons.len(), user) {
            self.client("scancel", &["--user", &user]);
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
/// When that takes too long.
pub(crate) fn wait(what: &str, mut is_there: impl FnMut() -> bool) {
    let clock = Clock::start();
    while !is_there() {
        assert!(
            clock.now().since(Instant::ZERO) < PATIENCE,
            "{what} did not come"
        );
        Clock::sleep(LOOK_EVERY);
    }
}

/// Two ports that nobody has.
fn free_ports() -> [u16; 2] {
    let listeners = [(); 2].map(|()| TcpListener::bind("127.0.0.1:0").unwrap());
    listeners.map(|listener| listener.local_addr().unwrap().port())
}

/// A program, also where only root has it in the path.
fn find(program: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let places = std::env::split_paths(&path).chain(["/usr/sbin".into(), "/sbin".into()]);
    places
        .map(|place| place.join(program))
        .find(|file| file.exists())
}
