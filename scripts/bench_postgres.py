"""What benchmarks of a PostgreSQL on modelled disks share: a database, its load, and recordings of it.

Needs root and PostgreSQL. SECONDS=.. sets how long each run takes (40), DBSTOW=.. the program.
"""
import glob
import os
import re
import shutil
import subprocess
import sys
import tempfile
import threading

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
DBSTOW = os.environ.get("DBSTOW") or f"{ROOT}/target/release/dbstow"
OWN_NAME = os.path.basename(sys.argv[0])
SECONDS = int(os.environ.get("SECONDS", "40"))
WARM_UP = 30
# Between two looks at what the page cache holds. What is read back from it is not asked of the disk, more of it on a fast
# disk than on a slow one: temporary files are read soon after they were written.
EMPTY_EVERY = {"update": 0.2, "insert": 0.2, "sort": 0.03}
# Sorts take seconds each.
LONGER = {"update": 1, "insert": 1, "sort": 2}

UPDATE = r"""
\set aid random(1, 4000000)
\set bid random(1, 4000000)
BEGIN;
UPDATE pgbench_accounts SET abalance = abalance + 1 WHERE aid = :aid;
SELECT abalance FROM pgbench_accounts WHERE aid = :bid;
INSERT INTO pgbench_history (tid, bid, aid, delta, mtime) VALUES (1, 1, :aid, 1, CURRENT_TIMESTAMP);
END;
"""
INSERT = r"""
\set aid random(1, 4000000)
INSERT INTO pgbench_history (tid, bid, aid, delta, mtime) VALUES (1, 1, :aid, 1, CURRENT_TIMESTAMP);
"""
SORT = r"""
\set aid random(1, 3500000)
SELECT count(*) FROM (SELECT aid, filler FROM pgbench_accounts WHERE aid BETWEEN :aid AND :aid + 400000
    ORDER BY filler, abalance, -aid OFFSET 0) AS sorted;
"""
SCRIPTS = {"update": UPDATE, "insert": INSERT, "sort": SORT}


def run(*command):
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"{OWN_NAME}: {' '.join(command)}: {done.stdout[-2000:]}{done.stderr[-2000:]}")
    return done.stdout


def binary(program):
    found = sorted(glob.glob(f"/usr/lib/postgresql/*/bin/{program}")) or [shutil.which(program)]
    if not found[-1]:
        sys.exit(f"{OWN_NAME}: there is no {program}; install PostgreSQL (scripts/packages)")
    return found[-1]


def set_write_cache(mounted, volumes, mode):
    """Written through: these disks have no volatile write cache, so that Linux sends them no flush. A mounted volume has
    one, whose flush waits for all writes in flight, on a slow disk longer than the write that it follows took. A loop device
    keeps the mode for whoever uses it next, so that it has to be set back."""
    for volume in volumes:
        device = os.path.basename(run("findmnt", "--noheadings", "--output", "SOURCE", f"{mounted}/{volume}").strip())
        with open(f"/sys/block/{device}/queue/write_cache", "w") as file:
            file.write(mode)


class Emptying:
    """Keeps tables, indexes and temporary files out of the page cache, which would hold all of them: a machine with little
    memory, but none whose sessions stop to look for a free page, as those of a memory cgroup do."""

    def __init__(self, every, *patterns):
        self.ended = threading.Event()
        self.thread = threading.Thread(target=self.run, args=(every, patterns))
        self.thread.start()

    def run(self, every, patterns):
        while not self.ended.wait(every):
            for path in (path for pattern in patterns for path in glob.glob(pattern)):
                try:
                    if os.path.getsize(path) > 1 << 20:
                        file = os.open(path, os.O_RDONLY)
                        os.posix_fadvise(file, 0, 0, os.POSIX_FADV_DONTNEED)
                        os.close(file)
                except FileNotFoundError:
                    pass

    def end(self):
        self.ended.set()
        self.thread.join()


AS_POSTGRES = ("setpriv", "--reuid=postgres", "--regid=postgres", "--init-groups")


class Bench:
    def __init__(self, folder):
        self.folder = folder
        os.chmod(folder, 0o711)
        # Only root and the server's user may use the socket, which asks for no password.
        self.sockets = self.owned("sockets", 0o700)
        self.scripts = {}
        for name, text in SCRIPTS.items():
            self.scripts[name] = f"{folder}/{name}.sql"
            with open(self.scripts[name], "w") as file:
                file.write(text)
        self.template = self.load()
        self.recordings = 0

    def owned(self, name, mode):
        path = f"{self.folder}/{name}"
        os.mkdir(path, mode)
        shutil.chown(path, "postgres", "postgres")
        return path

    def server(self, *command):
        return run(*AS_POSTGRES, *command)

    def control(self, data, *more):
        options = f"-c listen_addresses= -k {self.sockets}"
        log = f"{self.sockets}/log"
        self.server(binary("pg_ctl"), "start", "--wait", "--pgdata", data, "--log", log, "--options", options, *more)

    def query(self, *statements):
        each = [part for statement in statements for part in ("--command", statement)]
        return self.server(binary("psql"), "--quiet", "--no-psqlrc", "--host", self.sockets, *each, "postgres")

    def load(self):
        """A database with its log's files made, as those of a server that has run for a while."""
        data = self.owned("template", 0o700)
        self.server(binary("initdb"), "--pgdata", data, "--no-sync", "--auth=trust", "--username=postgres")
        with open(f"{data}/postgresql.conf", "a") as file:
            file.write("shared_buffers = 128MB\ncheckpoint_timeout = 30s\nmax_wal_size = 4GB\nmin_wal_size = 768MB\n"
                       "autovacuum = off\ntrack_io_timing = on\ntrack_wal_io_timing = on\nwork_mem = 1MB\n"
                       "max_parallel_workers_per_gather = 0\nfsync = off\n")
        self.control(data)
        self.server(binary("pgbench"), "--quiet", "--initialize", "--scale", "40", "--host", self.sockets, "postgres")
        self.query(*["SELECT pg_switch_wal() FROM txid_current()"] * 60, "CHECKPOINT", "CHECKPOINT")
        self.server(binary("pg_ctl"), "stop", "--wait", "--pgdata", data)
        with open(f"{data}/postgresql.conf", "a") as file:
            file.write("fsync = on\n")
        return data

    def run_on(self, text, roles, script, sessions):
        """Transactions a second, their mean latency in milliseconds, and the recording of the same time; on the volumes of
        `text`, a file that dbstow mounts."""
        spec, mounted = f"{self.folder}/volumes.toml", f"{self.folder}/volumes"
        with open(spec, "w") as file:
            file.write(text)
        backing = tempfile.mkdtemp(prefix="bench-", dir="/dev/shm")
        try:
            run(DBSTOW, "mount", spec, mounted, "--size", "4GiB", "--backing", backing)
            try:
                set_write_cache(mounted, set(roles.values()), "write through")
                return self.measured(mounted, roles, script, sessions)
            finally:
                set_write_cache(mounted, set(roles.values()), "write back")
                run(DBSTOW, "unmount", mounted)
        finally:
            shutil.rmtree(backing)

    def measured(self, mounted, roles, script, sessions):
        on = {role: f"{mounted}/{volume}" for role, volume in roles.items()}
        for volume in on.values():
            shutil.chown(volume, "postgres", "postgres")
        data = f"{on['data']}/data"
        run("cp", "--archive", self.template, data)
        if on["log"] != on["data"]:
            run("mv", f"{data}/pg_wal", f"{on['log']}/pg_wal")
            os.symlink(f"{on['log']}/pg_wal", f"{data}/pg_wal")
        run("sync")
        with open("/proc/sys/vm/drop_caches", "w") as file:
            file.write("3")
        self.control(data)
        emptying = Emptying(EMPTY_EVERY[script], f"{data}/base/*/*", f"{on['temp']}/temp/*/pgsql_tmp/*")
        seconds = LONGER[script] * SECONDS
        try:
            if on["temp"] != on["data"]:
                os.mkdir(f"{on['temp']}/temp", 0o700)
                shutil.chown(f"{on['temp']}/temp", "postgres", "postgres")
                self.query(f"CREATE TABLESPACE temp LOCATION '{on['temp']}/temp'",
                           "ALTER SYSTEM SET temp_tablespaces = 'temp'", "SELECT pg_reload_conf()")
            self.pgbench(script, sessions, WARM_UP).communicate()
            self.recordings += 1
            out = f"{self.folder}/recorded-{self.recordings}.toml"
            bench = self.pgbench(script, sessions, seconds + 3)
            run(DBSTOW, "record", "--server", f"postgresql://postgres@/postgres?host={self.sockets}", "--for",
                f"{seconds}s", "--every", "5s", "--out", out)
            said = bench.communicate()[0]
        finally:
            emptying.end()
            self.server(binary("pg_ctl"), "stop", "--wait", "--mode", "immediate", "--pgdata", data)
        return (float(re.search(r"tps = ([\d.]+)", said)[1]), float(re.search(r"latency average = ([\d.]+)", said)[1]), out)

    def pgbench(self, script, sessions, seconds):
        command = [*AS_POSTGRES, binary("pgbench"), "--no-vacuum", "--host", self.sockets, "--client", str(sessions),
                   "--jobs", "1", "--time", str(seconds), "--file", self.scripts[script], "postgres"]
        return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)


def build():
    """Builds dbstow, unless DBSTOW says where it is."""
    if os.environ.get("DBSTOW") is None:
        run("cargo", "build", "--release", "--quiet", "--package", "dbstow", "--manifest-path", f"{ROOT}/Cargo.toml")
