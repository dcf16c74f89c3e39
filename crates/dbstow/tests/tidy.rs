//! House rules that the compiler does not know.

use std::fs;
use std::path::{Path, PathBuf};

use dbstow::catalogue::Catalogue;

/// Modules of dbstow in the order in which data flows through them.
const FLOW: [&str; 18] = [
    "input",
    "catalogue",
    "spec",
    "workload",
    "plan",
    "engine",
    "calibrate",
    "trial",
    "record",
    "quantity",
    "stats",
    "findings",
    "results",
    "lint",
    "report",
    "layout",
    "inventory",
    "command",
];

/// Modules whose wire types may be used from everywhere, as `lib.rs` says.
const WIRE: [&str; 2] = ["record", "findings"];

#[test]
fn unsafe_code_lives_in_volume_only() {
    let found = lines_with(|path, code| {
        !path.starts_with("volume/src") && words(code).any(|word| word == "unsafe")
    });
    assert_eq!(found, [""; 0], "unsafe code outside of crates/volume/src");
}

#[test]
fn all_that_is_printed_passes_the_edge() {
    // `eprintln!` holds `println!`, and `eprint!` holds `print!`; indicatif writes to stderr by itself, and
    // so does clap's `parse`.
    let ways = ["println!(", "print!(", "indicatif::", "Arguments::parse()"];
    let streams = ["io::stdout()", "io::stderr()"];
    let prints = |code: &str| {
        let stream = streams.iter().any(|stream| code.contains(stream));
        stream && !code.contains(".is_terminal()") || ways.iter().any(|way| code.contains(way))
    };
    let edge = [
        "dbstow/src/command/output.rs",
        "dbstow/src/command/progress.rs",
        // One line of JSON to the process that started it.
        "dbstow/src/command/emulated/emulator.rs",
        // A server for tests.
        "tds-double/src/main.rs",
    ];
    let found = lines_with(|path, code| {
        let inside = path.components().any(|part| part.as_os_str() == "src");
        inside && !edge.iter().any(|edge| path == Path::new(edge)) && prints(code)
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

#[test]
fn modules_import_along_the_flow_of_data_only() {
    let found = lines_with(|path, code| {
        let Ok(inside) = path.strip_prefix("dbstow/src") else {
            return false;
        };
        let Some(own) = place(&module_of(inside)) else {
            return false;
        };
        imports(code).any(|other| !WIRE.contains(&other) && place(other).is_none_or(|at| at > own))
    });
    assert_eq!(found, [""; 0], "imports against the flow {FLOW:?}");
}

#[test]
fn every_module_of_dbstow_has_its_place_in_the_flow() {
    let folder = crates().join("dbstow/src");
    let entries = folder.read_dir().expect("the sources").flatten();
    let unplaced: Vec<String> = entries
        .map(|entry| module_of(Path::new(&entry.file_name())))
        .filter(|module| !["lib", "main"].contains(&module.as_str()))
        .filter(|module| place(module).is_none())
        .collect();
    assert_eq!(unplaced, [""; 0]);
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

/// `path:line: code` of every line of code for which `wrong` holds; paths are seen from `crates`, and
/// comments are not code.
fn lines_with(wrong: impl Fn(&Path, &str) -> bool) -> Vec<String> {
    let root = crates();
    let mut files = Vec::new();
    sources(&root, &mut files);
    assert!(files.len() > 100, "only {} sources found", files.len());
    let mut found = Vec::new();
    for file in files.iter().filter(|file| !file.ends_with("tidy.rs")) {
        let path = file.strip_prefix(&root).expect("it was found there");
        let text = fs::read_to_string(file).expect("a source is text");
        for (number, line) in (1..).zip(text.lines()) {
            let code = line.trim_start();
            if !code.starts_with("//") && wrong(path, code) {
                found.push(format!("{}:{number}: {code}", path.display()));
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

/// The module that a path inside `dbstow/src` belongs to.
fn module_of(path: &Path) -> String {
    let first = path.components().next().expect("a path");
    let name = first.as_os_str().to_string_lossy();
    name.trim_end_matches(".rs").to_owned()
}

fn place(module: &str) -> Option<usize> {
    FLOW.iter().position(|known| *known == module)
}

/// Modules of dbstow that a line names from the crate's root. A group such as `crate::{a, b}` names none
/// that is known, so that it counts as wrong.
fn imports(code: &str) -> impl Iterator<Item = &str> {
    let after = code.match_indices("crate::").filter(|(at, _)| {
        !code[..*at].ends_with(|c: char| c.is_alphanumeric() || c == '$' || c == '_')
    });
    after.map(|(at, prefix)| {
        let rest = &code[at + prefix.len()..];
        let end = rest
            .find(|c: char| !c.is_alphanumeric() && c != '_')
            .unwrap_or(rest.len());
        &rest[..end]
    })
}
