"""What benchmarks of rehearsals share: a PostgreSQL whose statements are logged, and pgbench on it."""
import os
import shutil

from bench_postgres import binary
from bench_server import run

SCALE = int(os.environ.get("SCALE", "50"))
SESSIONS = int(os.environ.get("SESSIONS", "8"))
USER = "postgres"


def as_user(*command):
    return run("setpriv", f"--reuid={USER}", f"--regid={USER}", "--init-groups", *command)


class Place:
    USER = USER

    def __init__(self, parent):
        self.folder = parent
        os.chmod(parent, 0o711)
        for name in ("sockets", "logs", "base"):
            os.mkdir(f"{parent}/{name}", 0o700)
            shutil.chown(f"{parent}/{name}", USER, USER)

    def control(self, data, *settings):
        options = f"-c listen_addresses= -k {self.folder}/sockets " + " ".join(f"-c {setting}" for setting in settings)
        as_user(binary("pg_ctl"), "start", "--wait", "--pgdata", data, "--log", f"{self.folder}/logs/start", "--options", options)

    def stop(self, data):
        as_user(binary("pg_ctl"), "stop", "--wait", "--mode=fast", "--pgdata", data)

    def pgbench(self, *arguments):
        return as_user(binary("pgbench"), "-h", f"{self.folder}/sockets", *arguments, "postgres")

    def load(self):
        """The data directory of a stopped server: the backup."""
        base = f"{self.folder}/base"
        as_user(binary("initdb"), "--auth=trust", "--no-sync", "--pgdata", base)
        self.control(base)
        self.pgbench("-i", "-q", "-s", str(SCALE))
        self.stop(base)
        return base
