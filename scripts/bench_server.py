"""What benchmarks of a server on modelled disks share: volumes that are mounted, a load on them, and a recording of it.

Needs root. SECONDS=.. sets how long each run takes (40), DBSTOW=.. the program.
"""
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
import tomllib

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
DBSTOW = os.environ.get("DBSTOW") or f"{ROOT}/target/release/dbstow"
OWN_NAME = os.path.basename(sys.argv[0])
SECONDS = int(os.environ.get("SECONDS", "40"))
WARM_UP = 30


def run(*command):
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"{OWN_NAME}: {' '.join(command)}: {done.stdout[-2000:]}{done.stderr[-2000:]}")
    return done.stdout


def build():
    """Builds dbstow, unless DBSTOW says where it is."""
    if os.environ.get("DBSTOW") is None:
        run("cargo", "build", "--release", "--quiet", "--package", "dbstow", "--manifest-path", f"{ROOT}/Cargo.toml")


def only(known, wanted, kind):
    """Those of `known` that the arguments name, or all."""
    unknown = [name for name in wanted if name not in known]
    if unknown:
        sys.exit(f"{OWN_NAME}: there is no {kind} \"{unknown[0]}\"; there are: {', '.join(known)}")
    return wanted or list(known)


def devices(mounted, volumes):
    """The block devices of volumes that are mounted."""
    sources = [run("findmnt", "--noheadings", "--output", "SOURCE", f"{mounted}/{volume}").strip() for volume in volumes]
    return [os.path.basename(source) for source in sources]


def set_write_cache(devices, mode):
    """Written through: these disks have no volatile write cache, so that Linux sends them no flush. A mounted volume has
    one, whose flush waits for all writes in flight, on a slow disk longer than the write that it follows took. A loop device
    keeps the mode for whoever uses it next, so that it has to be set back."""
    for device in devices:
        with open(f"/sys/block/{device}/queue/write_cache", "w") as file:
            file.write(mode)


def reads(devices):
    """Requests to read that the devices have served so far."""
    served = 0
    for device in devices:
        with open(f"/sys/block/{device}/stat") as file:
            served += int(file.read().split()[0])
    return served


class Memory:
    """A control group: its processes and the page cache of what they read and write have so many bytes at most, as on a machine
    that has no more."""

    # Where each version of control groups keeps the limit of a group's memory, and what keeps the group out of swap space.
    VERSIONS = {"/sys/fs/cgroup": ("memory.max", "memory.swap.max"),
                "/sys/fs/cgroup/memory": ("memory.limit_in_bytes", "memory.swappiness")}

    def __init__(self, limit):
        if os.path.exists("/sys/fs/cgroup/cgroup.controllers"):
            with open("/sys/fs/cgroup/cgroup.subtree_control", "w") as file:
                file.write("+memory")
        root = next((root for root in reversed(self.VERSIONS) if os.path.exists(f"{root}/cgroup.procs")), None)
        if root is None:
            sys.exit(f"{OWN_NAME}: there are no control groups below /sys/fs/cgroup; mount them, as a server's page cache is limited "
                     "by one")
        self.folder = f"{root}/{OWN_NAME}-{os.getpid()}"
        os.mkdir(self.folder)
        try:
            for name, value in zip(self.VERSIONS[root], (limit, 0)):
                # A kernel without swap space has no file for it.
                if value or os.path.exists(f"{self.folder}/{name}"):
                    with open(f"{self.folder}/{name}", "w") as file:
                        file.write(str(value))
        except OSError:
            self.end()
            raise

    def holding(self):
        """What to put before a command, so that it and what it starts is in the group."""
        return "sh", "-c", 'echo $$ > "$0" && exec "$@"', f"{self.folder}/cgroup.procs"

    def end(self):
        """Removes the group. Its processes have ended, of which the kernel may not know yet."""
        for _ in range(50):
            try:
                return os.rmdir(self.folder)
            except OSError:
                time.sleep(0.1)
        print(f"{OWN_NAME}: {self.folder} still has processes, and stays", file=sys.stderr)


class Bench:
    """A product's server: USER runs it, SCRIPTS are its loads, whose client prints count, rate and latency of operations as PRINTED
    has them, `load` makes its database and `measured` runs it."""

    def __init__(self, parent):
        self.folder = f"{parent}/{self.USER}"
        os.mkdir(self.folder)
        for path in (parent, self.folder):
            os.chmod(path, 0o711)
        # Only root and the server's user may use the socket, which asks for no password.
        self.sockets = self.owned("sockets", 0o700)
        self.template = self.load()
        self.recordings = 0

    def owned(self, name, mode):
        path = f"{self.folder}/{name}"
        os.mkdir(path, mode)
        shutil.chown(path, self.USER, self.USER)
        return path

    def as_user(self):
        return "setpriv", f"--reuid={self.USER}", f"--regid={self.USER}", "--init-groups"

    def server(self, *command):
        return run(*self.as_user(), *command)

    def run_on(self, text, roles, script, sessions):
        """Operations a second, their mean latency in milliseconds, how often an operation reads from a disk, and the recording of
        the same time; on the volumes of `text`, a file that dbstow mounts."""
        spec, mounted = f"{self.folder}/volumes.toml", f"{self.folder}/volumes"
        with open(spec, "w") as file:
            file.write(text)
        backing = tempfile.mkdtemp(prefix="bench-", dir="/dev/shm")
        self.devices = []
        try:
            run(DBSTOW, "mount", spec, mounted, "--size", "4GiB", "--backing", backing)
            try:
                # That of the data first.
                self.devices = devices(mounted, dict.fromkeys((roles["data"], *roles.values())))
                set_write_cache(self.devices, "write through")
                on = {role: f"{mounted}/{volume}" for role, volume in roles.items()}
                for volume in on.values():
                    shutil.chown(volume, self.USER, self.USER)
                return self.measured(on, script, sessions)
            finally:
                set_write_cache(self.devices, "write back")
                run(DBSTOW, "unmount", mounted)
        finally:
            shutil.rmtree(backing)

    def run_layout(self, layout, script, sessions):
        """The same on a layout of a document of `advise`, without burst credits, as it was advised."""
        text = f'[machine]\ntype = "{layout["machine"]}"\ncredits = 0\n'
        roles = {}
        for volume in layout["volumes"]:
            text += f"[volume.{volume['name']}]\ndisk = {json.dumps(volume['disk'])}\ncredits = 0\n"
            if volume["count"] > 1:
                text += f"count = {volume['count']}\n"
            rates = {"size": f'"{volume["size"]} B"', "iops": volume["iops"], "throughput": f'"{volume["throughput"]} B/s"'}
            text += "".join(f"{key} = {rate}\n" for key, rate in rates.items() if volume[key] is not None)
            roles |= {role: volume["name"] for role in volume["roles"]}
        return self.run_on(text, roles, script, sessions)

    def forget(self):
        """Empties the page cache."""
        run("sync")
        with open("/proc/sys/vm/drop_caches", "w") as file:
            file.write("3")

    def record(self, url, seconds, load):
        """What `run_on` returns, of a load that runs as long."""
        self.recordings += 1
        before = reads(self.devices)
        running = load(seconds + 3)
        recording = self.watch(url, seconds)
        said = running.communicate()[0]
        count, rate, ms = (float(re.search(pattern, said)[1]) for pattern in self.PRINTED)
        return rate, ms, (reads(self.devices) - before) / count, recording

    def watch(self, url, seconds):
        """A recording of the server."""
        out = f"{self.folder}/recorded-{self.recordings}.toml"
        run(DBSTOW, "record", "--server", url, "--for", f"{seconds}s", "--every", "5s", "--out", out)
        return out


class Layouts:
    """The layouts of a file such as bench-profile.toml, and what a server did on each."""

    def __init__(self, path, bench):
        with open(path, "rb") as file:
            self.spec = tomllib.load(file)
        self.bench = bench
        self.done = {}

    def volumes(self, layout):
        """The layout's volumes, as a file that dbstow mounts, and which role is on which."""
        roles = {role: files["volumes"] for role, files in self.spec["placement"][layout].items()}
        machine = self.spec["machine"]
        text = f'[machine]\ncores = {machine["cores"]}\nmemory = "{machine["memory"]}"\n'
        for name in sorted(set(roles.values())):
            volume = dict(self.spec["volume"][name])
            override = volume.pop("override", {})
            text += f"[volume.{name}]\n" + "".join(f"{key} = {json.dumps(value)}\n" for key, value in volume.items())
            if override:
                text += f"[volume.{name}.override]\n"
                text += "".join(f"{key} = {json.dumps(value)}\n" for key, value in override.items())
        return text, roles

    def file(self, layout, name, extra=""):
        """The path of an experiment with one placement, the layout."""
        text, roles = self.volumes(layout)
        placement = "".join(f'{role} = {{ volumes = "{volume}" }}\n' for role, volume in roles.items())
        path = f"{self.bench.folder}/{name}.toml"
        with open(path, "w") as file:
            file.write(f"{extra}{text}[placement.{name}]\n{placement}")
        return path

    def measure(self, layout, script, sessions):
        """As `Bench.run_on`. A layout that was run before is not run again, nor one whose recording, layout and result are in the
        folder KEEP=FOLDER."""
        key = (layout, script, sessions)
        if key not in self.done:
            keep = os.environ.get("KEEP")
            kept = f"{keep}/{'-'.join(map(str, key))}"
            if keep and os.path.exists(f"{kept}.json"):
                with open(f"{kept}.json") as file:
                    result = json.load(file)
                if len(result) != 3:
                    sys.exit(f"{OWN_NAME}: {kept}.json is from before reads were counted; give KEEP another folder")
                self.done[key] = (*result, f"{kept}.toml")
                return self.done[key]
            print(f"{OWN_NAME}: {layout}, {script}, {sessions} sessions", file=sys.stderr)
            text, roles = self.volumes(layout)
            self.done[key] = self.bench.run_on(text, roles, script, sessions)
            if keep:
                os.makedirs(keep, exist_ok=True)
                *result, recording = self.done[key]
                shutil.copy(recording, f"{kept}.toml")
                shutil.copy(self.file(layout, "today"), f"{kept}.today.toml")
                with open(f"{kept}.json", "w") as file:
                    json.dump(result, file)
        return self.done[key]

    def predict(self, recording, recorded_on, layout, sessions):
        """The arm of the findings: what the recording on one layout predicts for another."""
        spec = self.file(layout, "predicted", f'name = "predicted"\nquestion = "{self.spec["question"]}"\n')
        said = run(DBSTOW, "run", spec, "--profile", recording, "--today", self.file(recorded_on, "today"), "--untested",
                   "--set", f"workload.sessions={sessions}", "--set", f"workload.warm_up={WARM_UP}s", "--format", "json",
                   "--out", f"{self.bench.folder}/results", "--fresh")
        return json.loads(said)["arms"][0]


def lock_share(recording):
    """The share of the time of operations that sessions waited for locks, as recorded."""
    with open(recording, "rb") as file:
        intervals = tomllib.load(file)["intervals"]
    waiting = intervals.get("waiting", {})
    length = intervals["length_s"]
    total = lambda values: sum(value * seconds for value, seconds in zip(values, length))  # noqa: E731
    busy = total(intervals["running"]) if "running" in intervals else sum(map(total, waiting.values()))
    return total(waiting.get("lock", [])) / busy if busy else 0.0
