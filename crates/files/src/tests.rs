use std::fs;
use std::io::Read as _;

use std::path::PathBuf;

use super::unfinished::unfinished_name;
use super::*;

fn folder() -> (tempfile::TempDir, Folder) {
    let directory = tempfile::tempdir().unwrap();
    let folder = Folder::open(directory.path()).unwrap();
    (directory, folder)
}

fn names(directory: &Path) -> Vec<String> {
    let entries = fs::read_dir(directory).unwrap().flatten();
    let mut names: Vec<String> = entries
        .map(|entry| entry.file_name().to_string_lossy().into_owned())
        .collect();
    names.sort();
    names
}

#[test]
fn a_file_is_replaced_whole_and_nothing_else_is_left() {
    let (directory, folder) = folder();
    let path = directory.path().join("report.html");
    fs::write(directory.path().join("report.part"), "notes").unwrap();

    write_whole(&path, b"one", Readers::Umask).unwrap();
    write_whole(&path, b"two", Readers::Umask).unwrap();
    assert_eq!(fs::read(&path).unwrap(), b"two");
    let name = OsStr::new("report.html");
    folder.write_often(name, b"three", Readers::Umask).unwrap();

    assert_eq!(fs::read(&path).unwrap(), b"three");
    assert_eq!(names(directory.path()), ["report.html", "report.part"]);
    let notes = fs::read_to_string(directory.path().join("report.part"));
    assert_eq!(notes.unwrap(), "notes");
}

#[test]
fn a_file_that_is_there_is_not_overwritten_as_a_new_one() {
    let (directory, _) = folder();
    let path = directory.path().join("apply.sql");
    write_new(&path, b"one", Readers::Umask).unwrap();

    let error = write_new(&path, b"two", Readers::Umask).unwrap_err();

    assert!(matches!(error, FileError::Exists(_)), "{error}");
    assert_eq!(fs::read(&path).unwrap(), b"one");
    assert_eq!(names(directory.path()), ["apply.sql"]);
}

#[test]
fn what_cannot_get_its_name_is_removed() {
    let (directory, _) = folder();
    let path = directory.path().join("taken");
    fs::create_dir(&path).unwrap();
    fs::write(path.join("inner"), "").unwrap();

    write_whole(&path, b"one", Readers::Umask).unwrap_err();

    assert_eq!(names(directory.path()), ["taken"]);
}

#[test]
fn names_of_unfinished_files_are_known_and_no_others() {
    assert!(is_unfinished(OsStr::new(&unfinished_name())));
    assert_ne!(unfinished_name(), unfinished_name());
    for other in [
        ".dbstow-volumes",
        ".dbstow-notes.part",
        "dbstow.json",
        "notes.part",
    ] {
        assert!(!is_unfinished(OsStr::new(other)), "{other}");
    }
}

#[cfg(unix)]
mod unix {
    use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, symlink};
    use std::os::unix::net::UnixListener;
    use std::process::Command;

    use super::*;

    fn mode(path: &Path) -> u32 {
        fs::symlink_metadata(path).unwrap().permissions().mode() & 0o7777
    }

    fn fifo(path: &Path) {
        let made = Command::new("mkfifo").arg(path).status().unwrap();
        assert!(made.success());
    }

    #[test]
    fn a_link_is_replaced_and_what_it_leads_to_is_left() {
        let (directory, _) = folder();
        let (target, path) = (directory.path().join("t"), directory.path().join("p"));
        fs::write(&target, "theirs").unwrap();
        symlink(&target, &path).unwrap();

        write_named(&path, b"ours").unwrap();

        assert_eq!(fs::read_to_string(&target).unwrap(), "theirs");
        assert_eq!(fs::read_to_string(&path).unwrap(), "ours");
        assert!(!path.is_symlink());
        // As with a stream.
        fs::remove_file(&path).unwrap();
        symlink(&target, &path).unwrap();
        create_named(&path).unwrap().write_all(b"ours").unwrap();
        assert_eq!(fs::read_to_string(&target).unwrap(), "theirs");
        assert_eq!(fs::read_to_string(&path).unwrap(), "ours");
        // A new file is not created through a dangling link.
        let nowhere = directory.path().join("nowhere");
        symlink(directory.path().join("made"), &nowhere).unwrap();
        write_new(&nowhere, b"ours", Readers::Umask).unwrap_err();
        assert!(!directory.path().join("made").exists());
    }

    #[test]
    fn a_private_file_is_for_its_owner_alone() {
        let (directory, _) = folder();
        let path = directory.path().join("journal.json");
        write_whole(&path, b"{}", Readers::OwnerOnly).unwrap();
        assert_eq!(mode(&path), 0o600);
    }

    #[test]
    fn a_fifo_of_the_users_choice_is_written_to_and_one_of_ours_replaced() {
        let (directory, _) = folder();
        let path = directory.path().join("pipe");
        fifo(&path);
        let reader = path.clone();
        let reading = std::thread::spawn(move || fs::read_to_string(reader).unwrap());

        assert!(is_stream(&path));
        write_named(&path, b"page").unwrap();

        assert_eq!(reading.join().unwrap(), "page");
        write_whole(&path, b"page", Readers::Umask).unwrap();
        assert!(path.is_file());
    }

    #[test]
    fn a_device_is_written_to_and_a_socket_refused() {
        let (directory, _) = folder();
        write_named(Path::new("/dev/null"), b"page").unwrap();
        assert!(is_stream(Path::new("/dev/null")));
        assert!(!Path::new("/dev/null").is_file());
        // The creator of a link must not choose what is written to.
        let path = directory.path().join("null");
        for target in ["/dev/null", "/dev/stdout", "/proc/self/fd/1"] {
            symlink(target, &path).unwrap();
            assert!(!is_stream(&path), "{target}");
            write_named(&path, b"page").unwrap();
            assert_eq!(fs::read(&path).unwrap(), b"page");
            fs::remove_file(&path).unwrap();
        }

        let path = directory.path().join("socket");
        let _listener = UnixListener::bind(&path).unwrap();
        let error = write_named(&path, b"page").unwrap_err().to_string();
        assert!(error.contains("a socket"), "{error}");
    }

    #[test]
    fn an_open_file_of_a_process_is_written_to() {
        let (directory, _) = folder();
        let mut file = File::options()
            .create_new(true)
            .read(true)
            .append(true)
            .open(directory.path().join("out"))
            .unwrap();
        use std::os::fd::AsRawFd as _;
        let path = PathBuf::from(format!("/proc/self/fd/{}", file.as_raw_fd()));
        if path.exists() {
            write_named(&path, b"page").unwrap();
            let mut text = String::new();
            io::Seek::rewind(&mut file).unwrap();
            file.read_to_string(&mut text).unwrap();
            assert_eq!(text, "page");
        }
    }

    #[test]
    fn a_file_of_ours_is_no_link_no_fifo_and_has_one_name() {
        let (directory, folder) = folder();
        let target = directory.path().join("target");
        fs::write(&target, "theirs").unwrap();
        symlink(&target, directory.path().join("link")).unwrap();
        fs::hard_link(&target, directory.path().join("hard")).unwrap();
        fifo(&directory.path().join("fifo"));

        let refused = |name: &str| folder.own_file(name.as_ref()).unwrap_err().to_string();
        let said = refused("link");
        assert!(
            said.contains("symbolic link") && said.contains("remove it"),
            "{said}"
        );
        assert!(refused("hard").contains("2 names"), "{}", refused("hard"));
        assert!(refused("fifo").contains("FIFO"), "{}", refused("fifo"));
        assert_eq!(fs::read_to_string(&target).unwrap(), "theirs");

        folder.own_file("mark".as_ref()).unwrap();
        assert_eq!(mode(&directory.path().join("mark")), 0o600);
        folder.own_file("mark".as_ref()).unwrap();
    }

    #[test]
    fn a_folder_of_ours_is_no_link_and_closed_to_others() {
        let (directory, folder) = folder();
        let elsewhere = directory.path().join("elsewhere");
        fs::create_dir(&elsewhere).unwrap();
        symlink(&elsewhere, directory.path().join("link")).unwrap();
        let error = folder.own_folder("link".as_ref(), 0o711).unwrap_err();
        assert!(error.to_string().contains("symbolic link"), "{error}");

        folder.own_folder("own".as_ref(), 0o711).unwrap();
        let own = directory.path().join("own");
        assert_eq!(mode(&own), 0o711);
        folder.own_folder("own".as_ref(), 0o711).unwrap();
        // An existing one keeps its mode, regardless of the requested one.
        for found in [0o700, 0o755] {
            fs::set_permissions(&own, fs::Permissions::from_mode(found)).unwrap();
            let error = folder.own_folder("own".as_ref(), 0o711).unwrap_err();
            assert!(error.to_string().contains("run `chmod 711`"), "{error}");
            assert_eq!(mode(&own), found);
        }
        fs::set_permissions(&own, fs::Permissions::from_mode(0o777)).unwrap();
        let error = folder.own_folder("own".as_ref(), 0o711).unwrap_err();
        assert!(error.to_string().contains("mode 777"), "{error}");

        fs::set_permissions(directory.path(), fs::Permissions::from_mode(0o777)).unwrap();
        let error = folder.check_parent().unwrap_err();
        assert!(error.to_string().contains("chmod +t"), "{error}");
    }

    #[test]
    fn no_name_leads_out_of_a_folder() {
        let (directory, _) = folder();
        fs::create_dir_all(directory.path().join("in/deep")).unwrap();
        fs::write(directory.path().join("in/deep/file"), "theirs").unwrap();
        fs::set_permissions(directory.path(), fs::Permissions::from_mode(0o750)).unwrap();
        let folder = Folder::open(&directory.path().join("in")).unwrap();
        let absolute = directory.path().join("new").into_os_string();
        for name in [
            "",
            ".",
            "..",
            "../new",
            "deep/",
            "deep/new",
            "deep/file",
            "deep/..",
            "/",
        ] {
            let name = std::ffi::OsStr::new(name);
            for name in [name, &absolute] {
                let refused = |what: &str, error: FileError| {
                    assert!(
                        matches!(error, FileError::NotPlain(_)),
                        "{what} {name:?}: {error}"
                    );
                };
                refused("own_folder", folder.own_folder(name, 0o700).unwrap_err());
                refused("new_folder", folder.new_folder(name).unwrap_err());
                refused("folder", folder.folder(name).unwrap_err());
                refused("inner", folder.inner(name).unwrap_err());
                for readers in [Readers::Umask, Readers::OwnerOnly] {
                    refused("write", folder.write(name, b"x", readers).unwrap_err());
                    refused(
                        "often",
                        folder.write_often(name, b"x", readers).unwrap_err(),
                    );
                    refused("new", folder.write_new(name, b"x", readers).unwrap_err());
                }
                refused("create", folder.create(name).unwrap_err());
                refused("own_file", folder.own_file(name).unwrap_err());
                refused("found_file", folder.found_file(name).unwrap_err());
                refused("regular_file", folder.regular_file(name).unwrap_err());
                refused("remove_file", folder.remove_file(name).unwrap_err());
                assert!(!folder.holds(name), "{name:?}");
                assert!(!folder.is_unfinished_file(name, name.to_str()), "{name:?}");
            }
        }
        assert_eq!(names(directory.path()), ["in"]);
        assert_eq!(names(&directory.path().join("in/deep")), ["file"]);
        assert_eq!(mode(directory.path()), 0o750);
    }

    #[test]
    fn a_new_folder_is_no_link_and_nothing_that_is_there() {
        let (directory, folder) = folder();
        let precious = directory.path().join("precious");
        fs::create_dir(&precious).unwrap();
        symlink(&precious, directory.path().join("link")).unwrap();
        symlink(precious.join("file"), directory.path().join("file")).unwrap();

        for name in ["link", "precious"] {
            let error = folder.new_folder(name.as_ref()).unwrap_err();
            assert!(matches!(error, FileError::Exists(_)), "{error}");
        }
        let error = folder.write_new("file".as_ref(), b"text", Readers::Umask);
        assert!(matches!(error, Err(FileError::Exists(_))), "{error:?}");
        assert_eq!(names(&precious), [""; 0]);

        let group = fs::metadata(directory.path()).unwrap().gid();
        folder.new_folder("new".as_ref()).unwrap();
        assert_eq!(mode(&directory.path().join("new")), 0o700);
        folder
            .write_new("open".as_ref(), b"text", Readers::Group(group))
            .unwrap();
        let open = fs::metadata(directory.path().join("open")).unwrap();
        assert_eq!((open.mode() & 0o7777, open.gid()), (0o640, group));
        folder.new_file("private".as_ref()).unwrap();
        assert_eq!(mode(&directory.path().join("private")), 0o600);
        let error = folder.new_file("file".as_ref()).unwrap_err();
        assert!(matches!(error, FileError::Exists(_)), "{error}");
    }

    #[test]
    fn remains_are_regular_files_of_ours_by_their_name() {
        let (directory, folder) = folder();
        let name = unfinished_name();
        fs::write(directory.path().join(&name), "half").unwrap();
        fs::write(directory.path().join("dbstow.part"), "half").unwrap();
        let link = unfinished_name();
        symlink("/etc/passwd", directory.path().join(&link)).unwrap();

        assert!(folder.is_unfinished_file(name.as_ref(), None));
        assert!(!folder.is_unfinished_file("dbstow.part".as_ref(), None));
        assert!(folder.is_unfinished_file("dbstow.part".as_ref(), Some("dbstow.part")));
        assert!(!folder.is_unfinished_file(link.as_ref(), None));
    }
}

#[cfg(unix)]
#[test]
fn a_file_inside_a_folder_is_a_regular_one_of_bounded_size_and_no_link() {
    let (directory, folder) = folder();
    let path = |name: &str| directory.path().join(name);
    fs::write(path("file"), "12345").unwrap();
    std::os::unix::fs::symlink("file", path("link")).unwrap();
    fs::create_dir(path("directory")).unwrap();
    let made = std::process::Command::new("mkfifo")
        .arg(path("pipe"))
        .status();
    assert!(made.unwrap().success());
    let _socket = std::os::unix::net::UnixListener::bind(path("socket")).unwrap();

    assert_eq!(input::inside(&folder, "file", 5).unwrap(), "12345");
    for (name, why) in [
        ("link", "a symbolic link, no regular file"),
        ("directory", "a directory, no regular file"),
        ("pipe", "a FIFO, no regular file"),
        ("socket", "a socket, no regular file"),
        ("none", "No such file"),
    ] {
        let error = input::inside(&folder, name, 5).unwrap_err().to_string();
        assert!(error.contains(why) && error.contains(name), "{error}");
    }
    let error = input::inside(&folder, "file", 4).unwrap_err().to_string();
    assert!(error.contains("larger than the limit of 4 B"), "{error}");
}

#[cfg(unix)]
#[test]
fn a_folder_of_our_own_is_one_that_nobody_else_writes_to() {
    use std::os::unix::fs::{PermissionsExt as _, chown};
    let (directory, folder) = folder();
    let mode = |mode| fs::set_permissions(directory.path(), fs::Permissions::from_mode(mode));
    mode(0o755).unwrap();
    folder.check_own().unwrap();
    mode(0o775).unwrap();
    let error = folder.check_own().unwrap_err().to_string();
    assert!(error.contains("can be written by others"), "{error}");
    mode(0o755).unwrap();
    // Only root can give a directory away.
    if rustix::process::geteuid().is_root() {
        chown(directory.path(), Some(65_534), None).unwrap();
        let error = folder.check_own().unwrap_err().to_string();
        assert!(error.contains("belongs to user 65534"), "{error}");
    }
}

#[test]
fn whether_a_file_can_be_written_is_known_before_and_leaves_nothing() {
    let folder = tempfile::tempdir().expect("there is room");
    let file = folder.path().join("shop.toml");
    check_new(&file).expect("the folder is ours");
    assert_eq!(fs::read_dir(folder.path()).expect("it is ours").count(), 0);

    fs::write(&file, "").expect("the folder is ours");
    let error = check_new(&file).expect_err("it is there");
    assert!(matches!(error, FileError::Exists(_)), "{error}");
    let error = check_new(&folder.path().join("none/shop.toml")).expect_err("no such folder");
    assert!(error.to_string().contains("none/shop.toml"), "{error}");
}

/// Its target may appear at any time.
#[cfg(unix)]
#[test]
fn a_link_that_leads_nowhere_is_a_file_that_is_there() {
    let folder = tempfile::tempdir().expect("there is room");
    let file = folder.path().join("shop.toml");
    std::os::unix::fs::symlink("nowhere", &file).expect("the folder is ours");
    let error = check_new(&file).expect_err("a link is there");
    assert!(matches!(error, FileError::Exists(_)), "{error}");
}

/// Not even root can create a file in `/proc`.
#[cfg(target_os = "linux")]
#[test]
fn a_folder_in_which_no_file_can_be_made_is_refused_before() {
    check_new(Path::new("/proc/shop.toml")).expect_err("no file can be made there");
}
