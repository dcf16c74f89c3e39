//! Manual pages: one for the program and for each of its commands, with all options.

use std::collections::BTreeSet;
use std::fs;

use testing::folder::{Folder, said};

/// Commands that `--help` lists, but for `help`.
fn commands() -> Vec<String> {
    let help = Folder::new().stdout(&["--help"]);
    let (_, list) = help.split_once("Commands:\n").expect("there are commands");
    let names = list
        .lines()
        .map_while(|line| line.strip_prefix("  ")?.split_whitespace().next());
    names
        .filter(|name| *name != "help")
        .map(str::to_owned)
        .collect()
}

/// Long options in `text`, which is `--help` or a page without its escapes.
fn options(text: &str) -> BTreeSet<String> {
    let words = text.split(|c: char| !(c.is_ascii_lowercase() || c == '-'));
    words
        .filter(|word| word.len() > 2 && word.starts_with("--"))
        .map(str::to_owned)
        .collect()
}

/// A page without fonts and escapes of roff.
fn plain(page: &str) -> String {
    page.replace(r"\-", "-")
        .replace(r"\fB", "")
        .replace(r"\fI", "")
        .replace(r"\fR", "")
}

fn written() -> Folder {
    let folder = Folder::new();
    folder.stdout(&["man", "--out", "."]);
    folder
}

#[test]
fn every_command_has_a_page_that_names_its_options() {
    let folder = written();
    let commands = commands();
    assert!(commands.contains(&"man".to_owned()), "{commands:?}");
    for command in &commands {
        let page = plain(&folder.read(&format!("dbstow-{command}.1")));
        let help = options(&folder.stdout(&[command, "--help"]));
        assert!(help.contains("--help"), "{command}: {help:?}");
        let missing: Vec<_> = help.difference(&options(&page)).cloned().collect();
        assert_eq!(missing, [""; 0], "dbstow-{command}.1 lacks");
    }
    let files = fs::read_dir(folder.root()).expect("a folder").count();
    assert_eq!(files, commands.len() + 1, "dbstow.1 and no more");
}

#[test]
fn the_page_of_the_program_names_its_commands() {
    let folder = written();
    let page = plain(&folder.read("dbstow.1"));
    let title = format!(
        ".TH dbstow 1 \" \" \"dbstow {}\" \"dbstow manual\"\n",
        env!("CARGO_PKG_VERSION")
    );
    assert!(page.contains(&title), "{page}");
    for command in commands() {
        assert!(page.contains(&format!("dbstow-{command}(1)")), "{page}");
    }
}

#[test]
fn a_page_is_printed_as_it_is_written() {
    let folder = written();
    assert_eq!(folder.stdout(&["man"]), folder.read("dbstow.1"));
    assert_eq!(folder.stdout(&["man", "run"]), folder.read("dbstow-run.1"));
}

#[test]
fn examples_keep_their_lines() {
    let folder = Folder::new();
    let page = plain(&folder.stdout(&["man", "disks"]));
    assert!(!page.contains(".SH EXTRA"), "{page}");
    let page = plain(&folder.stdout(&["man", "run"]));
    let (_, notes) = page
        .split_once(".SH NOTES\n.nf\n")
        .expect("there are examples");
    assert!(
        notes.contains("\n  dbstow run tempdb-ssd-vs-premium\n"),
        "{notes}"
    );
}

#[test]
fn a_page_of_no_command_is_a_mistake() {
    let folder = Folder::new();
    let assert = folder.dbstow(&["man", "rum"]).assert().code(2).stdout("");
    let text = said(&assert);
    assert!(
        text.contains("no command \"rum\"") && text.contains("run"),
        "{text}"
    );
    folder
        .dbstow(&["man", "--out", "no/such/folder"])
        .assert()
        .failure();
}
