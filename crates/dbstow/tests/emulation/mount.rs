//! `dbstow mount`, `stat` and `unmount` on real mounts: needs root, FUSE and loop devices.
#![cfg(target_os = "linux")]

use std::fs;
use std::process::{Command, Stdio};

use serde_json::Value;
use testing::place::{self, Place, dbstow, failed, fails, succeeds, wait_for, write};

#[test]
fn a_mounted_disk_is_used_looked_at_and_taken_away() {
    let place = Place::new();
    let directory = place.text("disk");

    let said = succeeds(&["mount", "azure.premium.p30", &directory, "--size", "1GiB"]);
    assert!(said.contains("block mode, ext4"), "{said}");
    write(&place.path("disk/file"), &vec![7; 1 << 20]);

    let text = succeeds(&["stat", &directory]);
    assert!(
        text.contains("volume.1") && text.contains("disk.volume.1.iops"),
        "{text}"
    );
    let stat: Value =
        serde_json::from_str(&succeeds(&["stat", &directory, "--format", "json"])).expect("JSON");
    let written = stat["totals"]["disks"][0]["write_bytes"].as_u64();
    assert!(written >= Some(1 << 20), "{stat}");
    // The first sample covers all of it, this one what came after.
    assert_eq!(stat["volumes"][0]["directory"], directory.as_str());
    assert!(stat["span_s"].as_f64() < Some(30.0), "{stat}");

    let said = succeeds(&["unmount", &directory]);
    assert_eq!(said, format!("unmounted {directory}\n"));
    assert_eq!(place.mounts(), [""; 0]);
    assert!(!place.path("disk").exists(), "it was made by the mount");
    let (code, said) = fails(&["unmount", &directory]);
    assert!(
        code == 1 && said.contains("nothing that this user emulates"),
        "{said}"
    );
}

/// `stat` and `unmount` find a volume however its directory was, or is, spelled.
#[test]
fn a_volume_is_found_by_every_spelling_of_its_directory() {
    let place = Place::new();
    let inner = place.path("inner");
    fs::create_dir(&inner).expect("the folder is ours");
    std::os::unix::fs::symlink("inner", place.path("link")).expect("the folder is ours");
    let run = |arguments: &[&str]| {
        let mut command = dbstow(arguments);
        let output = command.current_dir(&inner).output().expect("it was built");
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.success(), "{arguments:?}: {said}");
    };
    let whole = place.text("new");
    let through = place.text("link/../new/");
    let spellings = ["../new", "../new/", "./../inner/../new", &through, &whole];
    for (turn, made) in spellings.iter().enumerate() {
        let found = |later: usize| spellings[(turn + later) % spellings.len()];
        run(&["mount", "unlimited", made, "--size", "512MiB"]);
        run(&["stat", found(1)]);
        run(&["unmount", found(2)]);
        assert_eq!(place.mounts(), [""; 0], "{made}");
        assert!(!place.path("new").exists(), "{made}");
    }
    // Created inside a link's target.
    run(&["mount", "unlimited", "../link/new", "--size", "512MiB"]);
    run(&["unmount", "new"]);
    assert_eq!(place.mounts(), [""; 0]);
}

#[test]
fn a_link_of_another_user_is_no_mount_point() {
    let place = Place::new();
    fs::create_dir(place.path("victim")).expect("the folder is ours");
    let link = place.path("link");
    std::os::unix::fs::symlink("victim", &link).expect("the folder is ours");
    // Only root can give a link away.
    if std::os::unix::fs::lchown(&link, Some(65_534), None).is_err() {
        testing::skip("only root can be attacked by another user");
        return;
    }
    let mount = dbstow(&[
        "mount",
        "unlimited",
        &place.text("link"),
        "--size",
        "512MiB",
    ])
    .output();
    let mount = mount.expect("it was built");
    let said = String::from_utf8_lossy(&mount.stderr).into_owned();
    assert_eq!(mount.status.code(), Some(2), "{said}");
    assert!(said.contains("symbolic link of user 65534"), "{said}");
    assert_eq!(place.mounts(), [""; 0]);
}

#[test]
fn volumes_of_a_file_share_a_machine_and_end_together() {
    let place = Place::new();
    let spec = "[machine]\ntype = \"azure.DS14_v2\"\ncores = 4\n[volume.d]\ndisk = \"local\"\ninterleave = \"1 MiB\"\n\
                [volume.f]\ndisk = \"azure.premium.p30\"\ncount = 2\n";
    fs::write(place.path("disks.toml"), spec).expect("the folder is ours");
    let (file, directory) = (place.text("disks.toml"), place.text("disks"));
    let backing = place.text("bytes");

    succeeds(&[
        "mount",
        &file,
        &directory,
        "--size",
        "512MiB",
        "--backing",
        &backing,
    ]);
    assert_eq!(place.mounts().len(), 2);
    write(&place.path("disks/f/kept"), b"kept");
    let stat: Value =
        serde_json::from_str(&succeeds(&["stat", &directory, "--format", "json"])).expect("JSON");
    let disks = stat["disks"].as_array().expect("a list").iter();
    let disks: Vec<_> = disks.map(|disk| disk["name"].as_str()).collect();
    assert_eq!(disks, [Some("d.1"), Some("f.1"), Some("f.2")]);
    let limits = stat["limits"].as_array().expect("a list").iter();
    let shared = |limit: &Value| {
        limit["name"]
            .as_str()
            .is_some_and(|name| name.starts_with("machine."))
    };
    assert!(limits.clone().any(shared), "{stat}");

    // One of them names all of them.
    succeeds(&["unmount", &place.text("disks/d")]);
    assert_eq!(place.mounts(), [""; 0]);

    // The kept data is there again.
    let mut mount = dbstow(&[
        "mount",
        &file,
        &directory,
        "--size",
        "512MiB",
        "--backing",
        &backing,
    ]);
    let mounted = mount.output().expect("it starts");
    let said = String::from_utf8_lossy(&mounted.stderr).into_owned();
    assert!(mounted.status.success(), "{said}");
    for part in [
        "without effect: machine.cores (processors and memory are those of the machine that runs it)",
        "without effect: volume.d.interleave (one disk is not striped)",
    ] {
        assert!(said.contains(part), "no {part}: {said}");
    }
    assert_eq!(
        fs::read(place.path("disks/f/kept")).expect("it was kept"),
        b"kept"
    );
    succeeds(&["unmount", &directory]);
}

#[test]
fn a_busy_volume_stays_and_says_who_uses_it() {
    let place = Place::new();
    let directory = place.text("disk");
    succeeds(&["mount", "unlimited", &directory, "--size", "512MiB"]);
    let mut user = Command::new("sleep")
        .arg("60")
        .current_dir(&directory)
        .spawn()
        .expect("sleep is everywhere");

    let (code, said) = fails(&["unmount", &directory]);

    let name = format!("sleep ({})", user.id());
    assert!(code == 1 && said.contains(&name), "{said}");
    write(&place.path("disk/still"), b"there");
    user.kill().expect("it runs");
    user.wait().expect("it ends");
    succeeds(&["unmount", &directory]);
}

#[test]
fn signals_end_the_foreground_and_leave_nothing() {
    for signal in ["-INT", "-TERM", "-HUP"] {
        let place = Place::new();
        let directory = place.text("disk");
        let mut command = dbstow(&[
            "mount",
            "unlimited",
            &directory,
            "--size",
            "512MiB",
            "--foreground",
        ]);
        let mut child = command.stdout(Stdio::null()).spawn().expect("it was built");
        wait_for("the mount", || !place.mounts().is_empty());

        let pid = child.id().to_string();
        let status = Command::new("kill").args([signal, &pid]).status();

        assert!(status.expect("kill is everywhere").success());
        assert!(child.wait().expect("it ends").success(), "{signal}");
        assert_eq!(place.mounts(), [""; 0], "{signal}");
        assert!(!place.path("disk").exists(), "{signal}");
    }
}

#[test]
fn file_mode_traces_each_request_by_its_file() {
    let place = Place::new();
    let (directory, trace) = (place.text("disk"), place.text("requests.jsonl"));
    let owner = "--owner=65534:65534";
    let mount = [
        "mount",
        "unlimited",
        &directory,
        "--size=1GiB",
        "--front=file",
        owner,
    ];
    let said = succeeds(&[&mount[..], &["--trace", &trace]].concat());
    assert!(said.contains("file mode"), "{said}");
    let metadata = fs::metadata(place.path("disk")).expect("it is mounted");
    assert_eq!(std::os::unix::fs::MetadataExt::uid(&metadata), 65534);

    write(&place.path("disk/file"), &[1; 8192]);

    succeeds(&["unmount", &directory]);
    let trace = fs::read_to_string(trace).expect("it was written");
    let lines = trace
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).expect("JSON"));
    let writes = lines.filter(|line| line["operation"] == "write" && line["path"] == "file");
    let bytes: u64 = writes
        .filter_map(|line| line["length_bytes"].as_u64())
        .sum();
    assert_eq!(bytes, 8192, "{trace}");
}

#[test]
fn mistakes_are_named_with_their_remedy() {
    let place = Place::new();
    let directory = place.text("disk");
    fs::create_dir(place.path("full")).expect("the folder is ours");
    fs::write(place.path("full/theirs"), "").expect("the folder is ours");
    fs::write(
        place.path("bad.toml"),
        "[volume.d]\ndisk = \"local\"\ncuont = 2\n",
    )
    .expect("ours");
    fs::write(place.path("local.toml"), "[volume.d]\ndisk = \"local\"\n").expect("ours");
    let (full, bad, local) = (
        place.text("full"),
        place.text("bad.toml"),
        place.text("local.toml"),
    );
    let backing = format!("--backing={full}");
    for (arguments, code, expected) in [
        (vec!["azure.premium.p31", &directory], 2, "azure.premium.p3"),
        (vec!["unlimited", &directory], 2, "--size 10GiB"),
        (vec!["nowhere.toml", &directory], 2, "[volume.NAME]"),
        (
            vec![&bad, &directory],
            2,
            "bad.toml:3: there is no key \"cuont\"; did you mean \"count\"?",
        ),
        (vec![&local, &directory], 2, "has none"),
        (
            vec!["unlimited", &directory, "--size=10MiB"],
            1,
            "at least 300 MiB",
        ),
        (
            vec![
                "unlimited",
                &directory,
                "--size=1GiB",
                "--owner=nobody-known",
            ],
            2,
            "there is no user",
        ),
        (
            vec!["unlimited", &full, "--size=1GiB"],
            1,
            "it is not empty",
        ),
        (
            vec!["unlimited", &directory, "--size=1GiB", &backing],
            1,
            "it is not empty",
        ),
    ] {
        let (found, said) = fails(&[vec!["mount"], arguments.clone()].concat());
        assert!(said.contains(expected), "{arguments:?}: {said}");
        assert_eq!(found, code, "{arguments:?}: {said}");
        assert_eq!(place.mounts(), [""; 0]);
        assert!(!place.path("disk").exists(), "{arguments:?}");
    }
    assert!(place.path("full/theirs").exists());
}

#[test]
fn a_directory_is_mounted_once() {
    let place = Place::new();
    let directory = place.text("disk");
    succeeds(&["mount", "unlimited", &directory, "--size", "512MiB"]);

    let (code, said) = fails(&["mount", "unlimited", &directory, "--size", "512MiB"]);

    assert!(
        code == 1 && said.contains("a volume is mounted there"),
        "{said}"
    );
    assert_eq!(place.mounts().len(), 1);
    succeeds(&["unmount", &directory]);
}

#[test]
fn what_is_not_ours_is_not_unmounted() {
    let place = Place::new();
    fs::create_dir(place.path("theirs")).expect("the folder is ours");
    let theirs = place.text("theirs");
    let mounted = Command::new("mount")
        .args(["-t", "tmpfs", "none", &theirs])
        .status();
    assert!(mounted.expect("mount is everywhere").success());

    let (code, said) = fails(&["unmount", &theirs]);

    assert!(
        code == 1 && said.contains("nothing that this user emulates"),
        "{said}"
    );
    assert_eq!(place.mounts().len(), 1);
    let unmounted = Command::new("umount").arg(&theirs).status();
    assert!(unmounted.expect("umount is everywhere").success());
}

#[test]
fn without_dev_fuse_the_remedy_is_said() {
    let place = Place::new();
    // In a separate mount namespace, /dev is empty except for what the program itself needs.
    let script = format!(
        "mount -t tmpfs none /dev && exec {} mount unlimited {} --size 1GiB --front file",
        env!("CARGO_BIN_EXE_dbstow"),
        place.text("disk")
    );
    let mut command = Command::new("unshare");
    command
        .args(["--mount", "sh", "-c", &script])
        .stdin(Stdio::null());

    let (code, said) = failed(&mut command);

    assert!(
        code == 1 && said.contains("no /dev/fuse") && said.contains("modprobe"),
        "{said}"
    );
}

#[test]
fn block_mode_without_root_says_so_and_names_file_mode() {
    let place = Place::new();
    // Unreadable for all: the place, and the program, which is not in one.
    let program = place.path("dbstow");
    fs::copy(env!("CARGO_BIN_EXE_dbstow"), &program).expect("the folder is ours");
    let open = std::os::unix::fs::PermissionsExt::from_mode(0o1777);
    fs::set_permissions(place.root(), open).expect("the folder is ours");
    let mut command = Command::new("setpriv");
    command
        .args(["--reuid=65534", "--regid=65534", "--clear-groups"])
        .arg(&program)
        .args([
            "mount",
            "unlimited",
            &place.text("disk"),
            "--size=1GiB",
            "--front=block",
        ])
        .env_remove("XDG_RUNTIME_DIR")
        .env("TMPDIR", place.root())
        .stdin(Stdio::null());

    let (code, said) = failed(&mut command);

    assert!(
        code == 1 && said.contains("block mode needs root"),
        "{said}"
    );
    assert!(said.contains("file front"), "{said}");
    assert!(!place.path("disk").exists());
}

#[test]
fn an_emulator_that_hangs_is_named_by_stat_and_unmount() {
    let place = Place::new();
    let directory = place.text("disk");
    succeeds(&["mount", "unlimited", &directory, "--size", "512MiB"]);
    let pid = place::emulator_of(&directory).to_string();
    let signal = |name: &str| {
        let sent = Command::new("kill").args([name, &pid]).status();
        assert!(sent.expect("kill is there").success());
    };
    signal("-STOP");
    let state = || fs::read_to_string(format!("/proc/{pid}/stat")).expect("it is there");
    wait_for("its stop", || state().contains(") T "));

    let answers = ["stat", "unmount"].map(|command| fails(&[command, &directory]));

    signal("-CONT");
    for (code, said) in answers {
        assert_eq!(code, 1, "{said}");
        assert!(said.contains(&format!("process {pid}")), "{said}");
        assert!(said.contains("has not answered for 5 s"), "{said}");
        assert!(said.contains(&format!("kill -CONT {pid}")), "{said}");
    }
    succeeds(&["stat", &directory]);
    succeeds(&["unmount", &directory]);
}

/// What it writes back then are requests to itself, which are no longer answered.
#[test]
fn an_emulator_killed_while_it_writes_back_ends_and_leaves_nothing_that_hangs() {
    let place = Place::new();
    let directory = place.text("disk");
    let spec = place.path("slow.toml");
    let slow = "[machine]\ncores = 2\nmemory = \"4 GiB\"\n[volume.d]\ndisk = \"aws.gp3\"\nsize = \"100 GiB\"\n\
                [volume.d.override]\niops_limit = 100\nthroughput_limit = \"1 MB/s\"\n";
    fs::write(&spec, slow).expect("the folder is ours");
    let spec = spec.to_str().expect("it is text");
    // Never over io_uring: a kernel of 6.18 would hang until it is restarted (METHODOLOGY, "Emulate").
    let size = ["--size", "1GiB", "--transport", "fuser"];
    succeeds(&[&["mount", spec, &directory], &size[..]].concat());
    // Two minutes of this disk.
    fs::write(place.path("disk/d/file"), vec![7; 128 << 20]).expect("the cache takes it");
    let pid = place::emulator_of(&directory).to_string();
    let unmount = dbstow(&["unmount", &directory])
        .stderr(Stdio::piped())
        .spawn();
    let unmount = unmount.expect("it was built");
    let waits_in_the_kernel = || {
        let tasks = fs::read_dir(format!("/proc/{pid}/task"))
            .into_iter()
            .flatten()
            .flatten();
        let stats = tasks.filter_map(|task| fs::read_to_string(task.path().join("stat")).ok());
        stats.into_iter().any(|stat| stat.contains(") D "))
    };
    wait_for("its wait", waits_in_the_kernel);

    let killed = Command::new("kill").args(["-KILL", &pid]).status();

    assert!(killed.expect("kill is there").success());
    wait_for("its end", || !place::is_alive(&pid));
    let output = unmount.wait_with_output().expect("it ends");
    assert!(!output.status.success(), "{}", place::said(&output));
    let (_, said) = fails(&["unmount", &directory]);
    // Another test's mount may clean up after killed ones before this.
    let is_cleared = said.contains("nothing that this user emulates is mounted");
    assert!(is_cleared || said.contains("a run was killed"), "{said}");
    assert_eq!(place.mounts(), [""; 0]);
}

#[test]
fn what_mount_keeps_is_for_its_user_alone() {
    use std::os::unix::fs::PermissionsExt as _;

    let place = Place::new();
    let (directory, backing) = (place.text("disk"), place.text("bytes"));
    let mount = format!(
        "umask 000; exec '{}' mount unlimited '{directory}' --size 512MiB --backing '{backing}'",
        env!("CARGO_BIN_EXE_dbstow")
    );
    let mounted = Command::new("sh").args(["-c", &mount]).output();
    let mounted = mounted.expect("there is a shell");
    assert!(mounted.status.success(), "{}", place::said(&mounted));
    let mode = |name: &str| {
        let metadata = fs::metadata(place.path(name)).expect("it is there");
        metadata.permissions().mode() & 0o777
    };
    assert_eq!(mode("bytes"), 0o700);
    assert_eq!(mode("bytes/files/image"), 0o600);
    assert_eq!(mode("bytes/dbstow-volume"), 0o600);
    succeeds(&["unmount", &directory]);
}
