use super::super::made::Work;
use super::super::process::Identity;
use super::*;

fn gone() -> Made {
    let mut owner = Identity::own().unwrap();
    owner.start_ticks += 1;
    Made::of(owner)
}

fn listed(made: &Made) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    made.write(folder.path()).unwrap();
    folder
}

fn directory(path: &Path, with_contents: bool) -> Directory {
    Directory {
        path: path.to_owned(),
        inode: Some(Inode::of(&fs::metadata(path).unwrap())),
        mark: None,
        with_contents,
    }
}

#[test]
fn directories_go_inner_ones_first_and_foreign_contents_stay() {
    let place = tempfile::tempdir().unwrap();
    let (outer, used) = (place.path().join("outer"), place.path().join("used"));
    let inner = outer.join("inner");
    fs::create_dir_all(&inner).unwrap();
    fs::create_dir_all(&used).unwrap();
    fs::write(used.join("theirs"), "").unwrap();
    fs::write(inner.join("ours"), "").unwrap();
    let mut made = gone();
    for (path, with_contents) in [(&outer, false), (&inner, true), (&used, false)] {
        made.directories.push(directory(path, with_contents));
    }
    let folder = listed(&made);

    let cleared = undo(&made, folder.path());

    assert!(!outer.exists());
    assert!(used.join("theirs").exists());
    assert!(cleared.failed.len() == 1 && cleared.failed[0].contains("used"));
    // What could not be done stays registered.
    assert!(folder.path().join(FILE).exists());
}

#[test]
fn a_directory_that_took_the_place_of_ours_stays() {
    let place = tempfile::tempdir().unwrap();
    let ours = place.path().join("ours");
    fs::create_dir(&ours).unwrap();
    let mut made = gone();
    made.directories.push(directory(&ours, true));
    fs::rename(&ours, place.path().join("away")).unwrap();
    fs::create_dir(&ours).unwrap();
    let folder = listed(&made);

    let cleared = undo(&made, folder.path());

    assert_eq!(cleared, Cleared::default());
    assert!(ours.exists());
    assert!(!folder.path().exists());
    fs::create_dir(folder.path()).unwrap(); // for its own removal
}

#[test]
fn what_another_run_has_taken_over_stays_with_all_beneath_it() {
    let place = tempfile::tempdir().unwrap();
    let volumes = place.path().join("volumes");
    fs::create_dir_all(volumes.join("data")).unwrap();
    let other_run = fs::File::create(volumes.join("mark")).unwrap();
    other_run.try_lock().unwrap();
    let mut server = std::process::Command::new("sleep");
    let mut server = server
        .arg("600")
        .current_dir(volumes.join("data"))
        .spawn()
        .unwrap();
    let mut made = gone();
    made.directories.push(Directory {
        mark: Some("mark".to_owned()),
        ..directory(&volumes, true)
    });
    made.work.push(Work {
        name: "a server".to_owned(),
        directory: volumes.join("data"),
        user: geteuid().as_raw(),
    });
    let folder = listed(&made);

    let cleared = undo(&made, folder.path());

    assert_eq!(cleared, Cleared::default());
    assert!(volumes.join("data").exists());
    assert!(server.try_wait().unwrap().is_none(), "its server was ended");
    assert!(!folder.path().exists(), "it is no longer listed");
    fs::create_dir(folder.path()).unwrap(); // for its own removal

    // Once that run is gone as well, both go.
    drop(other_run);
    let folder = listed(&made);
    let cleared = undo(&made, folder.path());
    server.kill().unwrap();
    server.wait().unwrap();
    assert!(cleared.failed.is_empty(), "{:?}", cleared.failed);
    assert!(!volumes.exists());
    fs::create_dir(folder.path()).unwrap();
}

#[test]
fn a_mount_of_another_source_is_not_touched() {
    let mut made = gone();
    made.mounts.push(Mount {
        directory: "/proc".into(),
        source: "dbstow".to_owned(),
    });
    let folder = listed(&made);

    let cleared = undo(&made, folder.path());

    assert_eq!(cleared, Cleared::default());
    assert!(mounts::at(Path::new("/proc")).unwrap().is_some());
    fs::create_dir(folder.path()).unwrap();
}

#[test]
fn a_directory_that_was_only_about_to_be_made_goes_if_it_is_empty_and_not_in_use() {
    let place = tempfile::tempdir().unwrap();
    let names = ["never", "empty", "marked", "used", "locked"];
    let paths = names.map(|name| place.path().join(name));
    for path in &paths[1..] {
        fs::create_dir(path).unwrap();
    }
    fs::write(paths[2].join("mark"), "").unwrap();
    fs::write(paths[3].join("theirs"), "").unwrap();
    let lock = fs::File::create(paths[4].join("mark")).unwrap();
    lock.lock().unwrap();
    let mut made = gone();
    for path in &paths {
        made.directories.push(Directory {
            path: path.clone(),
            inode: None,
            mark: Some("mark".to_owned()),
            with_contents: true,
        });
    }
    let folder = listed(&made);

    let cleared = undo(&made, folder.path());

    assert_eq!(cleared.failed, [""; 0]);
    assert_eq!(
        paths.map(|path| path.exists()),
        [false, false, false, true, true]
    );
    fs::create_dir(folder.path()).unwrap();
}

#[test]
fn a_folder_with_a_half_written_list_goes() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("newAbC"), "{").unwrap();

    remove_folder(folder.path()).unwrap();

    assert!(!folder.path().exists());
    fs::create_dir(folder.path()).unwrap();
}

#[test]
fn a_folder_that_somebody_else_has_removed_is_removed() {
    let state = tempfile::tempdir().unwrap();
    let folder = state.path().join("1-2-001");
    fs::create_dir(&folder).unwrap();
    fs::write(folder.join(FILE), "{}").unwrap();
    remove_folder(&folder).unwrap();
    assert!(!folder.exists());
    remove_folder(&folder).unwrap();
}
