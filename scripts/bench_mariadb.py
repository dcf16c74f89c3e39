"""A MariaDB on modelled disks: its database, its loads, and recordings of it.

Needs MariaDB and sysbench, beside what `bench_server` needs.
"""
import os
import shutil
import subprocess
import sys
import time

from bench_server import OWN_NAME, SECONDS, WARM_UP, Bench, run

ROWS = int(os.environ.get("ROWS", "2000000"))
# InnoDB writes and reads its data past the page cache; memory is a third of the data.
SETTINGS = """[mariadbd]
innodb_buffer_pool_size = 128M
innodb_log_file_size = 512M
innodb_flush_method = O_DIRECT
performance_schema = ON
performance_schema_instrument = 'transaction=ON'
performance_schema_consumer_events_transactions_current = ON
performance_schema_consumer_events_waits_current = ON
skip_networking
"""
# sysbench's names.
SCRIPTS = {"my-update": "oltp_update_non_index", "my-insert": "oltp_insert", "my-mixed": "oltp_read_write"}


class MariaDb(Bench):
    USER = "mysql"
    PRINTED = (r"transactions: *(\d+)", r"transactions: *\d+ *\(([\d.]+) per sec", r"avg: *([\d.]+)")

    def program(self, name):
        found = shutil.which(name, path=f"{os.environ['PATH']}:/usr/sbin:/sbin")
        return found or sys.exit(f"{OWN_NAME}: there is no {name}; install MariaDB and sysbench (scripts/packages)")

    def start(self, data, log, more=""):
        settings, socket = f"{self.folder}/my.cnf", f"{self.sockets}/socket"
        with open(settings, "w") as file:
            file.write(f"{SETTINGS}datadir = {data}\ninnodb_log_group_home_dir = {log}\ntmpdir = {data}\n"
                       f"socket = {socket}\npid_file = {self.sockets}/pid\n{more}")
        os.chmod(settings, 0o644)
        with open(f"{self.folder}/log", "ab") as file:
            server = subprocess.Popen([*self.as_user(), self.program("mariadbd"), f"--defaults-file={settings}"],
                                      stdout=file, stderr=file)
        while subprocess.run([self.program("mariadb-admin"), "--no-defaults", f"--socket={socket}", "--user=root", "ping"],
                             capture_output=True).returncode:
            if server.poll() is not None:
                with open(f"{self.folder}/log") as file:
                    sys.exit(f"{OWN_NAME}: MariaDB did not start: {file.read()[-2000:]}")
            time.sleep(0.2)
        return server

    def stop(self, server):
        run(self.program("mariadb-admin"), "--no-defaults", f"--socket={self.sockets}/socket", "--user=root", "shutdown")
        server.wait()

    def sysbench(self, script, sessions, *more):
        return [self.program("sysbench"), script, f"--mysql-socket={self.sockets}/socket", "--mysql-user=root",
                "--mysql-db=sbtest", f"--table-size={ROWS}", f"--threads={sessions}", *more]

    def load(self):
        data = self.owned("template", 0o700)
        self.server(self.program("mariadb-install-db"), "--no-defaults", f"--datadir={data}",
                    "--auth-root-authentication-method=normal", "--skip-test-db")
        server = self.start(data, data)
        run(self.program("mariadb"), "--no-defaults", f"--socket={self.sockets}/socket", "--user=root",
            "--execute", "CREATE DATABASE sbtest")
        run(*self.sysbench("oltp_read_write", 1, "prepare"))
        self.stop(server)
        return data

    def measured(self, on, script, sessions):
        data, log = f"{on['data']}/data", f"{on['data']}/data"
        run("cp", "--archive", self.template, data)
        if on["log"] != on["data"]:
            log = f"{on['log']}/log"
            os.mkdir(log, 0o700)
            shutil.chown(log, self.USER, self.USER)
            run("mv", f"{data}/ib_logfile0", log)
        self.forget()
        server = self.start(data, log)
        try:
            load = lambda seconds: subprocess.Popen(  # noqa: E731
                self.sysbench(SCRIPTS[script], sessions, f"--time={seconds}", "run"), stdout=subprocess.PIPE, text=True)
            load(WARM_UP).communicate()
            return self.record(f"mysql://root@localhost/?socket={self.sockets}/socket", SECONDS, load)
        finally:
            server.kill()  # its database is thrown away
            server.wait()
