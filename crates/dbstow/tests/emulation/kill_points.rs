//! A run killed at any of its system calls leaves nothing behind, once dbstow has run again.
//!
//! A tracer stops dbstow, on all of its threads, before or after each system call that can change something outside of
//! the process, and kills it there. The same command must then succeed, and leave no process, directory, mount, loop
//! device or control group of either run.
//!
//! `DBSTOW_KILL_POINTS=300` tries that many points of each run; the default is a handful, spread evenly.
#![cfg(all(target_os = "linux", target_arch = "x86_64"))]

use std::fs::{self, File};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use nix::errno::Errno;
use nix::libc;
use nix::sys::ptrace::{self, Options};
use nix::sys::signal::{Signal, kill};
use nix::sys::wait::{WaitPidFlag, WaitStatus, waitpid};
use nix::unistd::{Pid, geteuid};
use tempfile::TempDir;

/// Two very short arms, one trial.
const SMALL: &str = r#"name = "small"
question = "Does a kill leave anything?"

[machine]
cores = 4
memory = "8 GiB"

[volume.d]
disk = "azure.premium.p30"

[volume.e]
disk = "azure.premium.p30"

[placement.one]
data = { volumes = "d" }
temp = { volumes = "e" }
log = { volumes = "e" }

[placement.two]
data = { volumes = "e" }
temp = { volumes = "d" }
log = { volumes = "d" }

[workload]
name = "write-only"
operations = 5

[workload.parameters]
rows = 50

[engine]
memory = "64 MiB"

[protocol]
blocks = 1
metric = "elapsed_s"
"#;

/// Default number of points per run.
const POINTS: usize = 4;

#[test]
fn a_run_on_real_directories_leaves_nothing() {
    leaves_nothing(&[
        "--mode=measure",
        "--engine=postgres",
        "--volume=d=vd",
        "--volume=e=ve",
    ]);
}

#[test]
fn a_run_on_modelled_block_devices_leaves_nothing() {
    leaves_nothing(&["--mode=emulate", "--engine=postgres", "--backing=vd"]);
}

#[test]
#[ignore = "long: kills a run of MariaDB at each step; runs of PostgreSQL are killed always"]
fn a_run_of_mariadb_on_modelled_block_devices_leaves_nothing() {
    leaves_nothing(&["--mode=emulate", "--engine=mariadb", "--backing=vd"]);
}

#[test]
fn a_run_on_modelled_files_leaves_nothing() {
    leaves_nothing(&["--mode=emulate", "--engine=sqlite", "--backing=vd"]);
}

/// Kills a run at points that are spread over its effective system calls, and checks what remains each time.
fn leaves_nothing(options: &[&str]) {
    if !geteuid().is_root() {
        testing::skip("this needs root");
        return;
    }
    let asked = std::env::var("DBSTOW_KILL_POINTS").ok();
    let points = asked.map_or(POINTS, |text| text.parse().expect("a number of points"));
    let whole = Bench::new();
    let run = traced(&mut whole.run(options), None);
    assert_eq!(run.status, Some(0), "{}", whole.said());
    assert_eq!(whole.left(&[run.process]), [""; 0], "a run that ended well");

    let mut failures = Vec::new();
    for point in 0..points {
        let at = run.calls * (2 * point + 1) / (2 * points);
        let bench = Bench::new();
        let killed = traced(&mut bench.run(options), Some(at));
        let next = bench.run_to_the_end(options);
        let left = bench.left(&[killed.process, next.process]);
        eprintln!(
            "{options:?}: killed at {at} of {} (system call {}), {} things left",
            run.calls,
            killed.last_call,
            left.len()
        );
        if next.status != Some(0) || !left.is_empty() {
            failures.push(format!(
                "killed at {at} (system call {}): the next run ended with {:?} and left {left:#?}\n{}",
                killed.last_call,
                next.status,
                bench.said()
            ));
        }
    }
    let failed = failures.len();
    assert_eq!(failed, 0, "of {points} points:\n{}", failures.join("\n"));
}

/// A folder with the experiment, directories for its volumes, and one for temporary files.
struct Bench {
    folder: TempDir,
}

/// How a run ended.
struct Ran {
    process: i32,
    /// Its exit code; `None` if it was killed.
    status: Option<i32>,
    /// Stops at system calls that can change something.
    calls: usize,
    /// Number of the last system call that it was stopped at.
    last_call: i64,
}

impl Bench {
    fn new() -> Bench {
        // The server's own user must be able to traverse it.
        let mut folder = tempfile::Builder::new();
        folder.permissions(PermissionsExt::from_mode(0o755));
        let folder = folder.tempdir().expect("a temporary folder");
        for name in ["vd", "ve", "tmp"] {
            fs::create_dir(folder.path().join(name)).expect("the folder is ours");
        }
        fs::write(folder.path().join("small.toml"), SMALL).expect("the folder is ours");
        Bench { folder }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// The run as a command that stops itself before dbstow starts, so that it can be traced from there.
    fn run(&self, options: &[&str]) -> Command {
        let said = File::create(self.path("said")).expect("the folder is ours");
        let mut command = Command::new("sh");
        command
            .args(["-c", "kill -STOP $$ && exec \"$@\"", "sh"])
            .arg(testing::program())
            .args(["run", "small.toml", "--out=out"])
            .args(options)
            .current_dir(self.folder.path())
            .env("TMPDIR", self.path("tmp"))
            .stdin(Stdio::null())
            .stdout(said.try_clone().expect("a descriptor"))
            .stderr(said);
        command
    }

    /// The same command once more, without a tracer.
    fn run_to_the_end(&self, options: &[&str]) -> Ran {
        traced(&mut self.run(options), None)
    }

    /// Output of the last run.
    fn said(&self) -> String {
        fs::read_to_string(self.path("said")).expect("it was made")
    }

    /// Remains of the runs of these processes.
    fn left(&self, processes: &[i32]) -> Vec<String> {
        let mut left = Vec::new();
        for name in ["vd", "ve", "tmp"] {
            left.extend(entries(&self.path(name)));
        }
        let ours = |name: &str, between: &str| {
            let parts = processes
                .iter()
                .map(|process| format!("{between}{process}-"));
            parts.into_iter().any(|part| name.contains(&part))
        };
        let registered = entries(Path::new("/run/dbstow"));
        left.extend(registered.into_iter().filter(|name| ours(name, "/")));
        for root in ["/sys/fs/cgroup", "/sys/fs/cgroup/memory"] {
            let groups = entries(Path::new(root)).into_iter();
            left.extend(groups.filter(|name| ours(name, "/dbstow-")));
        }
        let folder = self.folder.path().to_str().expect("a name of ours");
        let here = |text: &str| text.contains(folder) || ours(text, "/run/dbstow/");
        let mounts = fs::read_to_string("/proc/self/mountinfo").expect("Linux tells");
        left.extend(mounts.lines().filter(|line| here(line)).map(str::to_owned));
        for device in entries(Path::new("/sys/block")) {
            let backing = Path::new(&device).join("loop/backing_file");
            let backing = fs::read_to_string(backing).unwrap_or_default();
            left.extend(here(&backing).then(|| format!("{device}: {backing}")));
        }
        for process in entries(Path::new("/proc")) {
            let process = Path::new(&process);
            let command = fs::read(process.join("cmdline")).unwrap_or_default();
            let command = String::from_utf8_lossy(&command).replace('\0', " ");
            let directory = fs::read_link(process.join("cwd")).unwrap_or_default();
            if here(&command) || here(&directory.to_string_lossy()) {
                left.push(format!("process {}: {command}", process.display()));
            }
        }
        left
    }
}

fn entries(directory: &Path) -> Vec<String> {
    let entries = fs::read_dir(directory).into_iter().flatten().flatten();
    entries
        .map(|entry| entry.path().display().to_string())
        .collect()
}

/// Runs a command that stops itself first; kills it at the stop numbered `at`.
fn traced(command: &mut Command, at: Option<usize>) -> Ran {
    // Waited for below: a tracer is notified of each thread.
    #[expect(clippy::zombie_processes, reason = "`waitpid` below is the wait")]
    let child = command.spawn().expect("there is a shell");
    let process = Pid::from_raw(child.id().cast_signed());
    let stopped = waitpid(process, Some(WaitPidFlag::WUNTRACED)).expect("it is our child");
    assert!(matches!(stopped, WaitStatus::Stopped(..)), "{stopped:?}");
    let options = Options::PTRACE_O_TRACESYSGOOD
        | Options::PTRACE_O_TRACECLONE
        | Options::PTRACE_O_TRACEEXEC
        | Options::PTRACE_O_EXITKILL;
    ptrace::seize(process, options).expect("root may trace its child");
    let mut ran = Ran {
        process: process.as_raw(),
        status: None,
        calls: 0,
        last_call: -1,
    };
    loop {
        // Other tests have children as well, in their own threads.
        let flags = WaitPidFlag::__WALL | WaitPidFlag::__WNOTHREAD;
        let status = match waitpid(None, Some(flags)) {
            Err(Errno::EINTR) => continue,
            status => status.expect("the run has not ended"),
        };
        let (thread, signal) = match status {
            WaitStatus::Exited(ended, code) if ended == process => {
                ran.status = Some(code);
                return ran;
            }
            WaitStatus::Signaled(ended, ..) if ended == process => return ran,
            WaitStatus::PtraceSyscall(thread) => {
                if let Some(call) = effective(thread) {
                    ran.calls += 1;
                    ran.last_call = call;
                    if at.is_some_and(|at| ran.calls > at) {
                        kill(process, Signal::SIGKILL).expect("it is stopped");
                    }
                }
                (thread, None)
            }
            // A group stop is also reported as a signal, which must not be delivered.
            WaitStatus::PtraceEvent(thread, ..) => (thread, None),
            WaitStatus::Stopped(thread, signal) => (thread, Some(signal)),
            _ => continue,
        };
        match ptrace::syscall(thread, signal) {
            // It was killed in the meantime.
            Ok(()) | Err(Errno::ESRCH) => {}
            Err(error) => panic!("tracing {thread}: {error}"),
        }
    }
}

/// The number of the system call at which a thread is stopped, if it can have an effect outside of the process.
fn effective(thread: Pid) -> Option<i64> {
    let text = fs::read_to_string(format!("/proc/{thread}/syscall")).ok()?;
    let mut words = text.split_whitespace();
    let call = words.next()?.parse().ok()?;
    let inner = match call {
        libc::SYS_openat => {
            let flags = words.nth(2)?.trim_start_matches("0x");
            let flags = i32::from_str_radix(flags, 16).ok()?;
            flags & (libc::O_CREAT | libc::O_WRONLY | libc::O_RDWR) == 0
        }
        call => INNER.contains(&call),
    };
    (!inner).then_some(call)
}

/// System calls that read, wait, or change only the process: a kill there equals one at the previous call.
const INNER: [i64; 41] = [
    -1,
    libc::SYS_access,
    libc::SYS_brk,
    libc::SYS_close,
    libc::SYS_clock_nanosleep,
    libc::SYS_epoll_wait,
    libc::SYS_faccessat,
    libc::SYS_fcntl,
    libc::SYS_fstat,
    libc::SYS_futex,
    libc::SYS_getcwd,
    libc::SYS_getdents64,
    libc::SYS_getpid,
    libc::SYS_getrandom,
    libc::SYS_gettid,
    libc::SYS_lseek,
    libc::SYS_lstat,
    libc::SYS_madvise,
    libc::SYS_mmap,
    libc::SYS_mprotect,
    libc::SYS_mremap,
    libc::SYS_munmap,
    libc::SYS_newfstatat,
    libc::SYS_poll,
    libc::SYS_ppoll,
    libc::SYS_pread64,
    libc::SYS_read,
    libc::SYS_readlink,
    libc::SYS_readlinkat,
    libc::SYS_recvfrom,
    libc::SYS_rseq,
    libc::SYS_rt_sigaction,
    libc::SYS_rt_sigprocmask,
    libc::SYS_sched_getaffinity,
    libc::SYS_sched_yield,
    libc::SYS_set_robust_list,
    libc::SYS_sigaltstack,
    libc::SYS_stat,
    libc::SYS_statfs,
    libc::SYS_statx,
    libc::SYS_uname,
];
