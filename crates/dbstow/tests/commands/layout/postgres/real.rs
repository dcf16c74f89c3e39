//! A private cluster, with `systemctl` and `psql` as its scripts call them.

use std::fs;
use std::os::unix::fs::{PermissionsExt, chown};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use experiment::spec::{File, Role};
use layout::{LayoutRequest, Script};
use model::Bytes;
use postgres::{Binaries, Owner, owner};
use tempfile::TempDir;

use crate::layout::{made, request, text};

struct Cluster {
    binaries: Binaries,
    owner: Option<Owner>,
    folder: TempDir,
}

impl Cluster {
    /// A running one; `None`, with a message, on a machine without PostgreSQL.
    fn start() -> Option<Cluster> {
        let binaries = testing::or_skip(Binaries::find(None))?;
        let folder = tempfile::Builder::new()
            .prefix("layout-")
            .tempdir_in("/tmp");
        let folder = folder.expect("a folder");
        let owner = owner().expect("a user");
        let cluster = Cluster {
            binaries,
            owner,
            folder,
        };
        cluster.give(cluster.folder.path());
        fs::create_dir(cluster.path("volume")).expect("a volume");
        cluster.give(&cluster.path("volume"));
        let data = cluster.path("data");
        let data = data.to_str().expect("text");
        cluster.run(
            "initdb",
            &[
                "--auth=trust",
                "--username=postgres",
                "--no-sync",
                "--pgdata",
                data,
            ],
        );
        cluster.systemctl();
        cluster.server("start");
        Some(cluster)
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn give(&self, path: &Path) {
        if let Some((user, group)) = self.owner {
            chown(path, Some(user), Some(group)).expect("its owner");
        }
    }

    fn own(&self, program: &Path, arguments: &[&str]) -> Command {
        let mut command = Command::new(program);
        command.current_dir("/").args(arguments);
        if let Some((user, group)) = self.owner {
            command.uid(user).gid(group);
        }
        command
    }

    fn run(&self, program: &str, arguments: &[&str]) {
        // Not captured: a server that keeps running would hold the pipe open.
        let said = fs::File::create(self.path("said")).expect("a file");
        let mut command = self.own(&self.binaries.program(program), arguments);
        let status = command
            .stdout(said.try_clone().expect("twice"))
            .stderr(said)
            .status();
        let said = fs::read_to_string(self.path("said")).unwrap_or_default();
        assert!(status.expect(program).success(), "{program}: {said}");
    }

    /// Starts and stops like systemd's, for any service.
    fn systemctl(&self) {
        let folder = self.path("bin");
        fs::create_dir(&folder).expect("a folder");
        let (user, group) = self.owner.unwrap_or((0, 0));
        let become_owner = match self.owner {
            Some(_) => format!("setpriv --reuid {user} --regid {group} --clear-groups"),
            None => String::new(),
        };
        let script = format!(
            "#!/bin/sh\ncd /\nexec {become_owner} '{}' \"$1\" --wait --mode=fast --pgdata '{}' --log '{}' \
             --options '-c listen_addresses= -k {}' >/dev/null 2>&1\n",
            self.binaries.program("pg_ctl").display(),
            self.path("data").display(),
            self.path("log").display(),
            self.folder.path().display()
        );
        fs::write(folder.join("systemctl"), script).expect("a script");
        let mode = fs::Permissions::from_mode(0o755);
        fs::set_permissions(folder.join("systemctl"), mode).expect("a script");
    }

    fn server(&self, what: &str) {
        let status = Command::new(self.path("bin/systemctl"))
            .args([what, "postgresql"])
            .status();
        assert!(status.expect("a shell").success(), "{what}");
    }

    /// Runs a shell script that succeeds.
    fn sh(&self, scripts: &[Script], name: &str) {
        self.shell(scripts, name)
            .unwrap_or_else(|said| panic!("{name}: {said}"));
    }

    /// Runs a shell script with our user in place of `postgres`. Returns what it prints, or its error.
    fn shell(&self, scripts: &[Script], name: &str) -> Result<String, String> {
        let text = text(scripts, name);
        let text = match self.owner {
            Some((user, group)) => text
                .replace("-o postgres -g postgres", &format!("-o {user} -g {group}"))
                .replace("postgres:postgres", &format!("{user}:{group}")),
            None => text
                .replace("-o postgres -g postgres ", "")
                .replace("chown -h postgres:postgres", "true"),
        };
        let bin = self.path("bin");
        let path = format!("{}:/usr/sbin:/usr/bin:/sbin:/bin", bin.display());
        let output = Command::new("sh")
            .args(["-c", &text])
            .env("PATH", path)
            .output();
        let output = output.expect("a shell");
        let of = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        match output.status.success() {
            true => Ok(of(&output.stdout)),
            false => Err(of(&output.stderr)),
        }
    }

    fn psql(&self, more: &[&str]) -> Result<String, String> {
        let folder = self.folder.path().to_str().expect("text").to_owned();
        let mut arguments = vec!["-XAt", "-h", &folder, "-U", "postgres", "-d", "postgres"];
        arguments.extend(more);
        let output = self
            .own(&self.binaries.program("psql"), &arguments)
            .output();
        let output = output.expect("psql");
        let of = |bytes: &[u8]| String::from_utf8_lossy(bytes).trim().to_owned();
        match output.status.success() {
            true => Ok(of(&output.stdout)),
            false => Err(of(&output.stderr)),
        }
    }

    fn sql(&self, text: &str) -> String {
        self.psql(&["-c", text])
            .unwrap_or_else(|error| panic!("{text}: {error}"))
    }

    fn file(&self, scripts: &[Script], name: &str) -> Result<String, String> {
        let path = self.path(name);
        fs::write(&path, text(scripts, name)).expect("a file");
        self.give(&path);
        self.psql(&["-f", path.to_str().expect("text")])
    }
}

impl Drop for Cluster {
    fn drop(&mut self) {
        let stop = Command::new(self.path("bin/systemctl"))
            .args(["stop", "postgresql"])
            .status();
        drop(stop);
    }
}

/// A memory disk, whose content is lost when it is unmounted.
struct Disk(PathBuf);

impl Disk {
    fn mount(&self) {
        self.mount_with("size=64m,mode=0755");
    }

    fn mount_with(&self, options: &str) {
        let mut mount = Command::new("mount");
        let mount = mount.args(["-t", "tmpfs", "-o", options, "dbstow-test"]);
        let status = mount.arg(&self.0).status().expect("mount");
        assert!(status.success(), "mount {}", self.0.display());
    }

    fn unmount(&self) {
        let status = Command::new("umount").arg(&self.0).status();
        assert!(status.expect("umount").success(), "{}", self.0.display());
    }
}

impl Drop for Disk {
    fn drop(&mut self) {
        // It may not be mounted.
        let mut umount = Command::new("umount");
        drop(umount.arg("-l").arg(&self.0).output());
    }
}

impl Cluster {
    /// Runs the unit's commands, as systemd would: `+` as root, the rest as the server's user. Returns whether they
    /// succeeded, and their output.
    fn unit(&self, scripts: &[Script]) -> (bool, String) {
        let (user, group) = self.owner.expect("as root");
        let unit = text(scripts, "dbstow-postgres-temp.service");
        let prepare = unit
            .lines()
            .filter_map(|line| line.strip_prefix("ExecStartPre=-+"));
        for command in prepare {
            let owned =
                command.replace("-o postgres -g postgres", &format!("-o {user} -g {group}"));
            // Its failure is ignored.
            let done = Command::new("sh").args(["-c", &owned]).output();
            drop(done.expect("a shell"));
        }
        assert!(unit.contains("\nUser=postgres\n"), "{unit}");
        let start = "\nExecStart=/usr/local/lib/dbstow/restore-temp.sh\n";
        assert!(unit.contains(start), "{unit}");
        let script = text(scripts, "restore-temp.sh");
        let output = self.own(Path::new("/bin/sh"), &["-c", script]).output();
        let output = output.expect("a shell");
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        (output.status.success(), said)
    }

    /// Where a temporary table is, or why it cannot be created.
    fn temporary_table(&self) -> Result<String, String> {
        self.psql(&[
            "-q",
            "-c",
            "CREATE TEMP TABLE t AS SELECT 1 AS one; SELECT pg_relation_filepath('t')",
        ])
    }
}

#[test]
fn temporary_tables_work_after_the_disk_was_wiped_and_while_it_is_missing() {
    let Some(cluster) = Cluster::start() else {
        return;
    };
    if cluster.owner.is_none() {
        testing::skip("mounting needs root");
        return;
    }
    let volume = cluster.path("volume");
    let disk = Disk(volume.clone());
    disk.mount();
    let folder = volume.to_str().expect("text");
    let request = LayoutRequest {
        ephemeral: ["a".to_owned()].into(),
        data_directory: Some(cluster.path("data").to_str().expect("text").to_owned()),
        ..request("real", &[("a", folder)], 1, Bytes::gib(1))
    };
    let scripts = made(&postgres::layout::Layout, &request, None);
    cluster.sh(&scripts, "0-folders.sh");
    cluster
        .file(&scripts, "1-check.sql")
        .expect("nothing in the way");
    cluster.file(&scripts, "2-apply.sql").expect("applied");
    assert_eq!(cluster.unit(&scripts), (true, String::new()));
    let stopped = |change: &dyn Fn()| {
        cluster.server("stop");
        change();
        cluster.server("start");
    };
    let wipe = || {
        disk.unmount();
        disk.mount();
    };
    let is_on_disk = || {
        let path = cluster.temporary_table().expect("a temporary table");
        path.starts_with("pg_tblspc/")
    };
    assert!(is_on_disk());

    // The symptom: the server starts, but no session can create a temporary table.
    stopped(&wipe);
    let error = cluster.temporary_table().expect_err("its folder is gone");
    assert!(error.contains("could not create directory"), "{error}");

    stopped(&|| {
        wipe();
        assert_eq!(cluster.unit(&scripts), (true, String::new()));
    });
    assert!(is_on_disk());
    assert_eq!(cluster.sql("SHOW temp_tablespaces"), "dbstow_temp_1");

    // A missing disk means the default tablespace, not a full root file system.
    stopped(&|| {
        disk.unmount();
        let (is_restored, said) = cluster.unit(&scripts);
        assert!(!is_restored);
        assert!(said.contains("is not mounted"), "{said}");
    });
    assert_eq!(cluster.sql("SHOW temp_tablespaces"), "");
    assert!(!is_on_disk());

    stopped(&|| {
        disk.mount();
        assert_eq!(cluster.unit(&scripts), (true, String::new()));
    });
    assert!(is_on_disk());

    // Manual changes to the setting stay.
    for (by_hand, shown) in [
        ("SET temp_tablespaces = pg_default", "pg_default"),
        ("RESET temp_tablespaces", ""),
    ] {
        cluster.sql(&format!("ALTER SYSTEM {by_hand}"));
        stopped(&|| assert!(cluster.unit(&scripts).0));
        assert_eq!(cluster.sql("SHOW temp_tablespaces"), shown);
    }
    // After the rollback the unit would not touch it, even if it still existed.
    cluster.file(&scripts, "undo.sql").expect("undone");
    stopped(&|| {
        wipe();
        assert_eq!(cluster.unit(&scripts), (true, String::new()));
    });
    assert!(!is_on_disk());
}

#[test]
fn a_unit_for_another_data_directory_is_refused() {
    let Some(cluster) = Cluster::start() else {
        return;
    };
    let folder = cluster.path("volume");
    let request = LayoutRequest {
        ephemeral: ["a".to_owned()].into(),
        ..request(
            "real",
            &[("a", folder.to_str().expect("text"))],
            1,
            Bytes::gib(1),
        )
    };
    let scripts = made(&postgres::layout::Layout, &request, None);
    let error = cluster.file(&scripts, "1-check.sql");
    let error = error.expect_err("its data is not where Debian has it");
    assert!(error.contains("with --data-directory"), "{error}");
}

const DATABASE: &str = "o'dd \"$check0$\\ name";

fn requested(cluster: &Cluster) -> LayoutRequest {
    let volume = cluster.path("volume/a b");
    let mut request = request(
        "real",
        &[("a", volume.to_str().expect("text"))],
        2,
        Bytes::gib(1),
    );
    request
        .files
        .insert(Role::Data, request.files(Role::Temp).to_vec());
    request.roles = Role::COMMON.into();
    request.database = Some(DATABASE.to_owned());
    request.data_directory = Some(cluster.path("data").to_str().expect("text").to_owned());
    request
}

#[test]
fn a_server_takes_the_scripts_and_is_as_before_after_the_way_back() {
    let Some(cluster) = Cluster::start() else {
        return;
    };
    let scripts = made(&postgres::layout::Layout, &requested(&cluster), None);
    let check = |scripts| cluster.file(scripts, "1-check.sql");
    let missing = check(&scripts).expect_err("there is no such database");
    assert!(missing.contains("there is no database"), "{missing}");
    let quoted = DATABASE.replace('"', "\"\"");
    cluster.sql(&format!("CREATE DATABASE \"{quoted}\""));
    let spaces = "SELECT string_agg(spcname, ' ' ORDER BY 1) FROM pg_tablespace";
    let before = cluster.sql(spaces);

    check(&scripts).expect("nothing in the way");
    cluster.sh(&scripts, "0-folders.sh");
    cluster.file(&scripts, "2-apply.sql").expect("applied");
    assert_eq!(cluster.sql("SHOW temp_tablespaces"), "dbstow_temp_1");
    let verified = cluster.file(&scripts, "3-verify.sql").expect("verified");
    assert!(verified.contains("|dbstow_data_1|t"), "{verified}");
    let again = check(&scripts).expect_err("it is done already");
    assert!(again.contains("is there already"), "{again}");
    // A temporary table lives on the volume.
    let lives =
        cluster.sql("CREATE TEMP TABLE t AS SELECT 1 AS one; SELECT pg_relation_filepath('t')");
    assert!(lives.contains("pg_tblspc"), "{lives}");

    cluster.sql("CREATE TABLE kept AS SELECT generate_series(1, 1000) AS n");
    cluster.sh(&scripts, "4-move-wal.sh");
    let wal = cluster.path("data/pg_wal");
    let link = fs::read_link(&wal).expect("a link");
    assert_eq!(link, cluster.path("volume/a b/pg_wal"));
    assert_eq!(cluster.sql("SELECT count(*) FROM kept"), "1000");

    cluster.sh(&scripts, "undo-wal.sh");
    assert!(!wal.is_symlink());
    assert_eq!(cluster.sql("SELECT count(*) FROM kept"), "1000");
    cluster.file(&scripts, "undo.sql").expect("undone");
    assert_eq!(cluster.sql(spaces), before);
    assert_eq!(cluster.sql("SHOW temp_tablespaces"), "");
    check(&scripts).expect("as before");
}

#[test]
fn the_data_directory_moves_with_everything_in_it_and_comes_back_with_what_was_written() {
    let Some(cluster) = Cluster::start() else {
        return;
    };
    let (data, before) = (cluster.path("data"), cluster.path("data.before"));
    let logs = cluster.path("logs");
    fs::create_dir(&logs).expect("a volume");
    cluster.give(&logs);
    let mut request = LayoutRequest {
        database: None,
        ..requested(&cluster)
    };
    let log = File {
        volume: "b".to_owned(),
        size: None,
    };
    request.files.insert(Role::Log, vec![log]);
    let logs = logs.to_str().expect("text").to_owned();
    request.folders.insert("b".to_owned(), logs);
    let scripts = made(&postgres::layout::Layout, &request, None);
    // Temporary files go to the volume of the data directory.
    assert!(scripts.iter().all(|script| !script.name.ends_with(".sql")));

    cluster.sql("CREATE DATABASE other");
    cluster.sql("CREATE TABLE kept AS SELECT generate_series(1, 1000) AS n");
    cluster.sh(&scripts, "0-folders.sh");
    cluster.sh(&scripts, "1-move-wal.sh");
    let said = cluster.shell(&scripts, "2-move-data.sh").expect("it moves");
    assert!(said.contains("logs/pg_wal stays where it is"), "{said}");
    let new = cluster.path("volume/a b/pg_data");
    assert_eq!(fs::read_link(&data).expect("a link"), new);
    assert!(before.join("PG_VERSION").exists() && !new.join("pg_wal.before").exists());
    // Nothing of it is needed any more.
    fs::remove_dir_all(&before).expect("the old directory");
    assert_eq!(cluster.sql("SELECT count(*) FROM kept"), "1000");
    let others = "SELECT count(*) FROM pg_database WHERE datname = 'other'";
    assert_eq!(cluster.sql(others), "1");
    cluster.sql("INSERT INTO kept VALUES (0)");
    let again = cluster.shell(&scripts, "2-move-data.sh");
    let again = again.expect_err("it moved already");
    assert!(again.contains("is a link already"), "{again}");

    cluster.sh(&scripts, "undo-data.sh");
    assert!(!data.is_symlink());
    fs::remove_dir_all(&new).expect("the copy");
    assert_eq!(cluster.sql("SELECT count(*) FROM kept"), "1001");
    cluster.sh(&scripts, "undo-wal.sh");
    assert!(!cluster.path("data/pg_wal").is_symlink());
    assert_eq!(cluster.sql("SELECT count(*) FROM kept"), "1001");
    let again = cluster.shell(&scripts, "undo-data.sh");
    assert!(again.expect_err("it is back").contains("is not a link"));
}

#[test]
fn a_server_runs_again_where_it_was_if_a_copy_of_its_data_fails() {
    let Some(cluster) = Cluster::start() else {
        return;
    };
    if cluster.owner.is_none() {
        testing::skip("mounting needs root");
        return;
    }
    let volume = cluster.path("volume");
    let disk = Disk(volume.clone());
    // Enough space for a copy, but not for as many files: cp fails in the middle.
    disk.mount_with("size=512m,mode=0755,nr_inodes=200");
    fs::create_dir(volume.join("a b")).expect("a folder");
    let request = LayoutRequest {
        database: None,
        ..requested(&cluster)
    };
    let scripts = made(&postgres::layout::Layout, &request, None);
    cluster.sql("CREATE TABLE kept AS SELECT generate_series(1, 1000) AS n");
    cluster.sh(&scripts, "0-folders.sh");
    let said = cluster.shell(&scripts, "1-move-data.sh");
    let said = said.expect_err("there is no room for all files");
    assert!(said.contains("No space left on device"), "{said}");
    let end = "the data directory was not moved; the server runs as before";
    assert!(said.trim_end().ends_with(end), "{said}");
    assert!(!cluster.path("data").is_symlink() && !cluster.path("data.before").exists());
    let left = fs::read_dir(volume.join("a b/pg_data")).expect("its folder");
    assert_eq!(left.count(), 0, "the partial copy is removed");
    assert_eq!(cluster.sql("SELECT count(*) FROM kept"), "1000");
}

#[test]
fn a_data_directory_of_a_server_that_does_not_run_is_not_moved() {
    let Some(cluster) = Cluster::start() else {
        return;
    };
    let request = LayoutRequest {
        database: None,
        ..requested(&cluster)
    };
    let scripts = made(&postgres::layout::Layout, &request, None);
    cluster.sh(&scripts, "0-folders.sh");
    cluster.server("stop");
    let refused = cluster.shell(&scripts, "1-move-data.sh");
    let refused = refused.expect_err("it may be another server's");
    assert!(refused.contains("no server runs on"), "{refused}");
    assert!(!cluster.path("data").is_symlink());
}
