"""A PostgreSQL on modelled disks: its database, its loads, and recordings of it.

Needs PostgreSQL, beside what `bench_server` needs.
"""
import glob
import os
import shutil
import subprocess
import sys

from bench_server import OWN_NAME, SECONDS, WARM_UP, Bench, Memory, run

# Of a server's memory some 30 MiB are left for the page cache, beside buffers, processes, and what a session takes itself (a sort
# merges through buffers for each of its runs).
BUFFERS = 128 << 20
SERVER = BUFFERS + (48 << 20)
SESSION = 2 << 20
SESSION_OF = {"sort": 16 << 20}
# A page that was written is given to the disk soon: while it is not, it stays in the page cache, and the more of them a disk that
# is full leaves there, the fewer are read from it.
FLUSH = "64kB"
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


class Postgres(Bench):
    USER = "postgres"
    PRINTED = (r"actually processed: (\d+)", r"tps = ([\d.]+)", r"latency average = ([\d.]+)")

    def start(self, data, *before):
        options = f"-c listen_addresses= -k {self.sockets}"
        run(*before, *self.as_user(), binary("pg_ctl"), "start", "--wait", "--pgdata", data, "--log", f"{self.sockets}/log",
            "--options", options)

    def query(self, *statements):
        each = [part for statement in statements for part in ("--command", statement)]
        return self.server(binary("psql"), "--quiet", "--no-psqlrc", "--host", self.sockets, *each, "postgres")

    def load(self):
        """A database with its log's files made, as those of a server that has run for a while."""
        data = self.owned("template", 0o700)
        self.server(binary("initdb"), "--pgdata", data, "--no-sync", "--auth=trust", "--username=postgres")
        with open(f"{data}/postgresql.conf", "a") as file:
            file.write(f"shared_buffers = {BUFFERS >> 20}MB\ncheckpoint_timeout = 30s\nmax_wal_size = 4GB\nmin_wal_size = 768MB\n"
                       "autovacuum = off\ntrack_io_timing = on\ntrack_wal_io_timing = on\nwork_mem = 1MB\n"
                       "max_parallel_workers_per_gather = 0\nfsync = off\n"
                       f"backend_flush_after = {FLUSH}\nbgwriter_flush_after = {FLUSH}\ncheckpoint_flush_after = {FLUSH}\n")
        self.start(data)
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
        memory = Memory(SERVER + sessions * SESSION_OF.get(script, SESSION))
        try:
            return self.measured_within(memory, data, on["temp"] if on["temp"] != on["data"] else None, script, sessions)
        finally:
            memory.end()

    def measured_within(self, memory, data, temp, script, sessions):
        seconds = LONGER.get(script, 1) * SECONDS
        try:
            self.start(data, *memory.holding())
            if temp:
                os.mkdir(f"{temp}/temp", 0o700)
                shutil.chown(f"{temp}/temp", "postgres", "postgres")
                self.query(f"CREATE TABLESPACE temp LOCATION '{temp}/temp'",
                           "ALTER SYSTEM SET temp_tablespaces = 'temp'", "SELECT pg_reload_conf()")
            self.pgbench(script, sessions, WARM_UP).communicate()
            return self.record(f"postgresql://postgres@/postgres?host={self.sockets}", seconds,
                               lambda seconds: self.pgbench(script, sessions, seconds))
        finally:
            # A server that did not start in time is there all the same.
            if os.path.exists(f"{data}/postmaster.pid"):
                self.server(binary("pg_ctl"), "stop", "--wait", "--mode", "immediate", "--pgdata", data)

    def pgbench(self, script, sessions, seconds):
        path = f"{self.folder}/{script}.sql"
        with open(path, "w") as file:
            file.write(SCRIPTS[script])
        command = [*self.as_user(), binary("pgbench"), "--no-vacuum", "--host", self.sockets, "--client", str(sessions),
                   "--jobs", "1", "--time", str(seconds), "--file", path, "postgres"]
        return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
