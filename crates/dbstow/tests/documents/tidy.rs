//! House rules that the compiler cannot check.

use std::fs;
use std::path::{Path, PathBuf};

use catalogue::Catalogue;

/// Sources with `unsafe` code, each with the reason; a folder ends in `/`.
const UNSAFE: [(&str, &str); 7] = [
    (
        "emulator/src/transport/uring/",
        "memory shared with the kernel",
    ),
    ("host/src/apart.rs", "a system call by its number"),
    ("host/src/child.rs", "code between fork and exec"),
    ("host/src/hangup.rs", "how a signal is handled"),
    ("host/src/network.rs", "a thread that leaves the network"),
    ("host/src/plain/linux/cache.rs", "mincore"),
    ("sqlite-vfs/src/", "SQLite's C interface, coroutines"),
];

#[test]
fn unsafe_code_is_where_it_may_be() {
    // A word of browsers' policies, which allows WebAssembly.
    let code = |code: &str| code.replace("'wasm-unsafe-eval'", "");
    let found = lines_with(|_, line| words(&code(line)).any(|word| word == "unsafe"));
    let is_in = |line: &String, place: &str| match place.ends_with('/') {
        true => line.starts_with(place),
        false => line.starts_with(&format!("{place}:")),
    };
    let elsewhere = found
        .iter()
        .filter(|line| !UNSAFE.iter().any(|(place, _)| is_in(line, place)));
    assert_eq!(elsewhere.collect::<Vec<_>>(), [""; 0], "unsafe code");
    let needless = UNSAFE
        .iter()
        .filter(|(place, _)| !found.iter().any(|line| is_in(line, place)));
    assert_eq!(needless.count(), 0, "{UNSAFE:?}");
}

/// Calls that create, replace or hand over files, or access what other users may have put in their place.
const WRITES: [&str; 22] = [
    "File::create",
    "File::options",
    "OpenOptions",
    "fs::write",
    "fs::rename",
    "fs::copy",
    "create_dir",
    "DirBuilder",
    "set_permissions",
    "chown(",
    "chownat(",
    "openat(",
    "temp_dir()",
    "UnixListener::bind",
    "TcpListener::bind",
    "tempfile::",
    ".persist(",
    "hard_link(",
    "linkat(",
    "mkdirat(",
    "mount::mount(",
    "remove_dir_all(",
];

/// Sources that may call them, each with the reason why it does not go through `files`. Each has a line in
/// docs/security.md, on what another user could put in the way, and what prevents it.
const WRITERS: &[(&str, &str)] = &[
    (
        "dbstow/src/command/emulated/mount.rs",
        "a random name, made by the emulator",
    ),
    (
        "dbstow/src/command/publish/listen.rs",
        "listens on the address that --listen names",
    ),
    (
        "dbstow/src/command/record/kept.rs",
        "the last folder for a recording that cannot be kept elsewhere: a new name, by `files`",
    ),
    (
        "engine/src/managed_server/directories.rs",
        "removes what a server made in its own directories",
    ),
    (
        "engine/src/own_directory.rs",
        "a random name, written down before it is made",
    ),
    (
        "engine/src/managed_server/run_directory.rs",
        "a private server's directory; its modes",
    ),
    (
        "engines/postgres/src/drill/moved.rs",
        "gives files on volumes that no other user can reach to the server's user; lchown",
    ),
    (
        "drill/src/faults.rs",
        "empties and fills volumes that no other user can reach",
    ),
    (
        "dbstow/src/command/drill/mod.rs",
        "removes the folder that it has just made",
    ),
    (
        "rehearse/src/run.rs",
        "removes the folder with copies that it has made",
    ),
    (
        "rehearse/src/restored.rs",
        "removes the folder with the restored database that it has made",
    ),
    (
        "engine/src/copies.rs",
        "gives copies of a backup to the server's user, by handles",
    ),
    (
        "engines/postgres/src/rehearse/copy.rs",
        "copies a backup to volumes that no other user can reach, by handles",
    ),
    (
        "engine/src/managed_server/memory.rs",
        "control groups, for root alone",
    ),
    ("engines/raw/src/fio.rs", "a file without a name"),
    (
        "engines/sqlserver/src/trial/journal.rs",
        "makes the state directory's parents",
    ),
    (
        "engines/sqlserver/src/trial/tempdb.rs",
        "a folder beside the journal",
    ),
    ("files/src/input.rs", "opens for reading only"),
    (
        "lab/src/trial/real/work_dir.rs",
        "removes the run's own directory",
    ),
    (
        "lab/src/trial/real/preflight.rs",
        "the default for --backing, claimed by `WorkDir`",
    ),
    (
        "sqlite-vfs/src/virtual_time/spool/slots.rs",
        "a file without a name",
    ),
    ("emulator/src/contents.rs", "a file without a name"),
    ("files/src/elsewhere.rs", "is files"),
    ("files/src/folder.rs", "is files"),
    ("files/src/folder/fill.rs", "is files"),
    ("files/src/folder/stream.rs", "is files"),
    ("files/src/folder/write.rs", "is files"),
    (
        "emulator/src/block.rs",
        "inside the emulator's own folder; the mode of a volume's root",
    ),
    (
        "emulator/src/file/attributes.rs",
        "what programs ask of a volume, beneath a handle",
    ),
    (
        "emulator/src/file/mod.rs",
        "the root of a volume, beneath its backing directory",
    ),
    (
        "emulator/src/file/tree.rs",
        "what programs ask of a volume, beneath a handle",
    ),
    (
        "emulator/src/process.rs",
        "inside the emulator's own folder",
    ),
    (
        "emulator/src/image.rs",
        "a sparse image that mkfs fills; O_EXCL, O_NOFOLLOW",
    ),
    (
        "host/src/orphans/clear.rs",
        "opens a mark to see whether it is locked; O_NOFOLLOW",
    ),
    (
        "host/src/orphans/mod.rs",
        "directories of a run, and its locked mark",
    ),
    (
        "host/src/orphans/state.rs",
        "the state directory, which checks its owner",
    ),
    ("host/src/orphans/state.rs", "names the state directory"),
    ("host/src/loop_device.rs", "attributes in /sys"),
    ("emulator/src/prepare.rs", "opens /dev/fuse"),
    (
        "host/src/orphans/elsewhere.rs",
        "a directory with a random name, 0700",
    ),
    ("host/src/plain/linux/cache.rs", "a switch in /proc"),
    (
        "sqlite-vfs/src/real_time/disks.rs",
        "opens a file once more that it has just made, without a cache",
    ),
];

#[test]
fn files_are_written_where_docs_security_says() {
    let allowed: Vec<&str> = WRITERS.iter().map(|(file, _)| *file).collect();
    let found = lines_with(|path, code| {
        is_source(path)
            && !path.starts_with("tds-double")
            && !path.ends_with("tests.rs")
            && !allowed.iter().any(|file| path == Path::new(file))
            && WRITES.iter().any(|call| code.contains(call))
    });
    let found: Vec<String> = found
        .into_iter()
        .filter(|line| !is_in_a_test(line))
        .collect();
    assert_eq!(
        found, [""; 0],
        "use files, or give the file a line in docs/security.md and in WRITERS"
    );
    let page = crates().join("../docs/security.md");
    let page = fs::read_to_string(page).expect("docs/security.md is there");
    let missing = allowed.iter().filter(|file| {
        let below = file.replacen("/src/", "/", 1);
        !page.contains(&format!("`{below}`"))
    });
    let missing: Vec<_> = missing.collect();
    assert_eq!(missing, [&""; 0], "without a line in docs/security.md");
    let gone = allowed.iter().filter(|file| !crates().join(file).exists());
    assert_eq!(gone.count(), 0, "{allowed:?}");
}

/// Whether a line that [`lines_with`] found lies below its file's `#[cfg(test)]`, unless that is for a module in another file.
fn is_in_a_test(line: &str) -> bool {
    let mut parts = line.splitn(3, ':');
    let (Some(file), Some(number)) = (parts.next(), parts.next()) else {
        return false;
    };
    let number: usize = number.parse().expect("the number of a line");
    let text = fs::read_to_string(crates().join(file)).expect("a source is text");
    let lines: Vec<&str> = text.lines().collect();
    let tests = lines.windows(2).position(|pair| {
        let is_test = pair[0].starts_with("#[cfg(test)]") || pair[0].starts_with("#[cfg(all(test");
        is_test && !(pair[1].starts_with("mod ") && pair[1].ends_with(';'))
    });
    tests.is_some_and(|tests| tests < number)
}

/// Crates that know no product: a new one touches none of them. SQLite does not count, as simulate executes SQL with it.
const WITHOUT_PRODUCTS: [&str; 23] = [
    "advise",
    "analysis",
    "calibrate",
    "catalogue",
    "drill",
    "emulator",
    "engine",
    "experiment",
    "files",
    "host",
    "lab",
    "layout",
    "model",
    "paced",
    "profile",
    "reading",
    "rehearse",
    "replay",
    "resolve",
    "rules",
    "sqlite-vfs",
    "table",
    "workload",
];

/// Products and what only they have, in lower case.
const PRODUCTS: [&str; 10] = [
    "babelfish",
    "innodb",
    "mariadb",
    "mssql",
    "mysql",
    "postgres",
    "sql server",
    "sql-server",
    "sqlserver",
    "tempdb",
];

/// Sources that name one all the same, each with the reason.
const NAMING: &[(&str, &str)] = &[
    (
        "experiment/src/examples.rs",
        "records of a server, for tests",
    ),
    (
        "experiment/src/kind.rs",
        "a built-in experiment as an example",
    ),
    (
        "experiment/src/spec/wire.rs",
        "the key of a section in experiments",
    ),
    (
        "layout/src/folder.rs",
        "examples of folders, and the separator of a server for both systems",
    ),
];

/// A line in lower case; a comment without addresses and titles, which cite a product's documents.
fn without_citations(line: &str) -> String {
    let mut rest = line.to_lowercase();
    let citations: &[_] = match line.starts_with("//") {
        true => &[("<http", '>'), (" *", '*')],
        false => &[],
    };
    for (open, close) in citations {
        while let Some(start) = rest.find(open) {
            let end = rest[start + open.len()..].find(*close);
            let end = end.map_or(rest.len(), |end| start + open.len() + end + 1);
            rest.replace_range(start..end, "");
        }
    }
    rest
}

#[test]
fn crates_for_all_products_name_none() {
    let names_one = |line: &str| {
        let line = without_citations(line);
        PRODUCTS.iter().any(|product| line.contains(product))
    };
    let found = all_lines_with(|path, line| {
        let is_neutral = |name: &&str| path.starts_with(Path::new(name).join("src"));
        WITHOUT_PRODUCTS.iter().any(is_neutral) && names_one(line) && !is_for_tests(path)
    });
    let found: Vec<String> = found
        .into_iter()
        .filter(|line| !is_in_a_test(line))
        .collect();
    let is_known = |line: &String, file: &str| line.starts_with(&format!("{file}:"));
    let unknown =
        (found.iter()).filter(|line| !NAMING.iter().any(|(file, _)| is_known(line, file)));
    let unknown: Vec<&String> = unknown.collect();
    assert_eq!(
        unknown, [""; 0],
        "what is of a product belongs in its crate, behind a trait, or in a table of `products`"
    );
    let needless =
        (NAMING.iter()).filter(|(file, _)| !found.iter().any(|line| is_known(line, file)));
    assert_eq!(needless.count(), 0, "{NAMING:?}");
}

/// Sources that start programs without `host::child`, each with the reason.
const STARTERS: [(&str, &str); 2] = [
    ("host/src/child.rs", "is the place"),
    (
        "dbstow/src/command/record.rs",
        "a command of clap, no process",
    ),
];

#[test]
fn children_start_with_the_environment_that_docs_security_says() {
    let starts = [
        "Command::new(",
        "process::Command::",
        "posix_spawn",
        "execv",
    ];
    let found = lines_with(|path, code| {
        is_source(path)
            && !path.starts_with("tds-double")
            && !path.ends_with("tests.rs")
            && !STARTERS.iter().any(|(file, _)| path == Path::new(file))
            && starts.iter().any(|start| code.contains(start))
    });
    let found: Vec<String> = found
        .into_iter()
        .filter(|line| !is_in_a_test(line))
        .collect();
    assert_eq!(
        found, [""; 0],
        "use child::command, which hands on no secret"
    );
    let needless = STARTERS.iter().filter(|(file, _)| {
        let text = fs::read_to_string(crates().join(file)).unwrap_or_default();
        !text.contains("Command::new(")
    });
    assert_eq!(needless.count(), 0, "{STARTERS:?}");
}

#[test]
fn all_that_is_printed_passes_the_edge() {
    // `eprintln!` contains `println!`, and `eprint!` contains `print!`; indicatif writes to stderr itself, and so does
    // clap's `parse`.
    let ways = ["println!(", "print!(", "indicatif::", "Arguments::parse()"];
    let streams = ["io::stdout()", "io::stderr()"];
    let prints = |code: &str| {
        let stream = streams.iter().any(|stream| code.contains(stream));
        stream && !code.contains(".is_terminal()") || ways.iter().any(|way| code.contains(way))
    };
    let edge = [
        "dbstow/src/command/output.rs",
        "dbstow/src/command/progress.rs",
        // A page or capture that the user wants at /dev/stdout.
        "files/src/folder/stream.rs",
        // One line of JSON to the process that started it.
        "dbstow/src/command/emulated/emulator.rs",
        // A server for tests.
        "tds-double/src/main.rs",
    ];
    let found = lines_with(|path, code| {
        is_source(path) && !edge.iter().any(|edge| path == Path::new(edge)) && prints(code)
    });
    assert_eq!(found, [""; 0], "printing past command/output.rs");
}

#[test]
fn model_does_without_std() {
    let root = fs::read_to_string(crates().join("model/src/lib.rs")).expect("the model's root");
    assert!(root.lines().any(|line| line == "#![no_std]"));
    let found = lines_with(|path, code| path.starts_with("model/src") && code.contains("std::"));
    assert_eq!(found, [""; 0], "the model uses std");
}

/// Most lines of a file of product code.
const LINES_MAX: usize = 500;

#[test]
fn files_of_product_code_have_at_most_500_lines() {
    let root = crates();
    let mut files = Vec::new();
    sources(&root, &mut files);
    let is_for_tests = |path: &Path| {
        path.starts_with("tds-double")
            || path.ends_with("tests.rs")
            || path.components().any(|part| part.as_os_str() == "tests")
    };
    let long = files.iter().filter_map(|file| {
        let path = file.strip_prefix(&root).expect("it was found there");
        let text = fs::read_to_string(file).expect("a source is text");
        let lines = text.lines().count();
        let is_long = lines > LINES_MAX && is_source(path) && !is_for_tests(path);
        is_long.then(|| format!("{}: {lines} lines", path.display()))
    });
    let long: Vec<String> = long.collect();
    assert_eq!(
        long, [""; 0],
        "cut by subject, or move the tests to a tests.rs"
    );
}

#[test]
fn every_catalogue_entry_has_a_dated_source() {
    let catalogue = Catalogue::builtin();
    let disks = catalogue.disks().map(|disk| (&disk.name, &disk.sources));
    let machines = catalogue
        .machines()
        .map(|machine| (&machine.name, &machine.sources));
    let entries: Vec<_> = disks.chain(machines).collect();
    assert!(!entries.is_empty());
    for (name, sources) in entries {
        assert!(!sources.is_empty(), "{name} has no source");
        let dated = sources.iter().all(|source| !source.date.is_empty());
        assert!(dated, "a source of {name} has no date");
    }
}

/// Whether a file belongs to a program or library, and not to tests or to what they share.
fn is_source(path: &Path) -> bool {
    let has = |name: &str| path.components().any(|part| part.as_os_str() == name);
    has("src") && !has("tests") && !path.starts_with("testing")
}

/// Whether a file is compiled for tests alone: by its name, or by how the module above declares it.
fn is_for_tests(path: &Path) -> bool {
    let stem = path.file_stem().and_then(|stem| stem.to_str());
    let declared = format!("#[cfg(test)]\nmod {};", stem.unwrap_or_default());
    let folder = crates().join(path).with_file_name("");
    let above = ["mod.rs", "lib.rs"].map(|file| fs::read_to_string(folder.join(file)));
    let is_below_tests = path.components().any(|part| part.as_os_str() == "tests");
    is_below_tests
        || path.ends_with("tests.rs")
        || above.iter().flatten().any(|text| text.contains(&declared))
}

/// `path:line: code` of every line of code for which `wrong` holds; paths are relative to `crates`.
fn lines_with(wrong: impl Fn(&Path, &str) -> bool) -> Vec<String> {
    all_lines_with(|path, line| !line.starts_with("//") && wrong(path, line))
}

/// The same, comments included.
fn all_lines_with(wrong: impl Fn(&Path, &str) -> bool) -> Vec<String> {
    let root = crates();
    let mut files = Vec::new();
    sources(&root, &mut files);
    assert!(files.len() > 100, "only {} sources found", files.len());
    let mut found = Vec::new();
    for file in files.iter().filter(|file| !file.ends_with("tidy.rs")) {
        let path = file.strip_prefix(&root).expect("it was found there");
        let text = fs::read_to_string(file).expect("a source is text");
        for (number, line) in (1..).zip(text.lines()) {
            let line = line.trim_start();
            if wrong(path, line) {
                found.push(format!("{}:{number}: {line}", path.display()));
            }
        }
    }
    found
}

fn crates() -> PathBuf {
    let own = Path::new(env!("CARGO_MANIFEST_DIR"));
    own.parent().expect("it lies in crates").to_owned()
}

fn sources(folder: &Path, files: &mut Vec<PathBuf>) {
    let entries = folder.read_dir().expect("a folder of the repository");
    for path in entries.flatten().map(|entry| entry.path()) {
        if path.is_dir() {
            sources(&path, files);
        } else if path.extension().is_some_and(|end| end == "rs") {
            files.push(path);
        }
    }
    files.sort();
}

fn words(code: &str) -> impl Iterator<Item = &str> {
    code.split(|c: char| !c.is_alphanumeric() && c != '_')
}
