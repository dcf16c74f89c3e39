"""A PostgreSQL on modelled disks: its database, its loads, and recordings of it.

Needs PostgreSQL, beside what `bench_server` needs.
"""
import glob
import os
import re
import shutil
import subprocess
import sys
import threading

from bench_server import OWN_NAME, SECONDS, WARM_UP, Bench, run

# Between two looks at what the page cache holds. What is read back from it is not asked of the disk, more of it on a fast
# disk than on a slow one: temporary files are read soon after they were written.
EMPTY_EVERY = {"sort": 0.03}
# Sorts take seconds each.
LONGER = {"sort": 2}

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
# Ten rows that all sessions change: a session has one until its commit is durable.
LOCKS = r"""
\set aid random(1, 4000000)
\set bid random(1, 10)
BEGIN;
UPDATE pgbench_accounts SET abalance = abalance + 1 WHERE aid = :aid;
UPDATE pgbench_branches SET bbalance = bbalance + 1 WHERE bid = :bid;
INSERT INTO pgbench_history (tid, bid, aid, delta, mtime) VALUES (1, :bid, :aid, 1, CURRENT_TIMESTAMP);
END;
"""
SCRIPTS = {"update": UPDATE, "insert": INSERT, "sort": SORT, "locks": LOCKS}


def binary(program):
    found = sorted(glob.glob(f"/usr/lib/postgresql/*/bin/{program}")) or [shutil.which(program)]
    if not found[-1]:
        sys.exit(f"{OWN_NAME}: there is no {program}; install PostgreSQL (scripts/packages)")
    return found[-1]


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


class Postgres(Bench):
    USER = "postgres"

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

    def measured(self, on, script, sessions):
        data = f"{on['data']}/data"
        run("cp", "--archive", self.template, data)
        if on["log"] != on["data"]:
            run("mv", f"{data}/pg_wal", f"{on['log']}/pg_wal")
            os.symlink(f"{on['log']}/pg_wal", f"{data}/pg_wal")
        self.forget()
        self.control(data)
        emptying = Emptying(EMPTY_EVERY.get(script, 0.2), f"{data}/base/*/*", f"{on['temp']}/temp/*/pgsql_tmp/*")
        seconds = LONGER.get(script, 1) * SECONDS
        try:
            if on["temp"] != on["data"]:
                os.mkdir(f"{on['temp']}/temp", 0o700)
                shutil.chown(f"{on['temp']}/temp", "postgres", "postgres")
                self.query(f"CREATE TABLESPACE temp LOCATION '{on['temp']}/temp'",
                           "ALTER SYSTEM SET temp_tablespaces = 'temp'", "SELECT pg_reload_conf()")
            self.pgbench(script, sessions, WARM_UP).communicate()
            said, out = self.record(f"postgresql://postgres@/postgres?host={self.sockets}", seconds,
                                    lambda seconds: self.pgbench(script, sessions, seconds))
        finally:
            emptying.end()
            self.server(binary("pg_ctl"), "stop", "--wait", "--mode", "immediate", "--pgdata", data)
        return (float(re.search(r"tps = ([\d.]+)", said)[1]), float(re.search(r"latency average = ([\d.]+)", said)[1]), out)

    def pgbench(self, script, sessions, seconds):
        path = f"{self.folder}/{script}.sql"
        with open(path, "w") as file:
            file.write(SCRIPTS[script])
        command = [*self.as_user(), binary("pgbench"), "--no-vacuum", "--host", self.sockets, "--client", str(sessions),
                   "--jobs", "1", "--time", str(seconds), "--file", path, "postgres"]
        return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
