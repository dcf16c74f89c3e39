//! Manual pages: one for the program and for each of its commands, with all options.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use assert_cmd::Command;
use tempfile::TempDir;

fn dbstow(arguments: &[&str]) -> Command {
    let mut command = Command::cargo_bin("dbstow").expect("it was built");
    command.args(arguments);
    command
}

fn stdout(arguments: &[&str]) -> String {
    let assert = dbstow(arguments).assert().success();
    String::from_utf8(assert.get_output().stdout.clone()).expect("output is text")
}

/// Commands that `--help` lists, but for `help`.
fn commands() -> Vec<String> {
    let help = stdout(&["--help"]);
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

fn written() -> TempDir {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().to_str().expect("a short path");
    dbstow(&["man", "--out", path]).assert().success();
    folder
}

fn page(folder: &Path, name: &str) -> String {
    fs::read_to_string(folder.join(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
}

#[test]
fn every_command_has_a_page_that_names_its_options() {
    let folder = written();
    let commands = commands();
    assert!(commands.contains(&"man".to_owned()), "{commands:?}");
    for command in &commands {
        let page = plain(&page(folder.path(), &format!("dbstow-{command}.1")));
        let help = options(&stdout(&[command, "--help"]));
        assert!(help.contains("--help"), "{command}: {help:?}");
        let missing: Vec<_> = help.difference(&options(&page)).cloned().collect();
        assert_eq!(missing, [""; 0], "dbstow-{command}.1 lacks");
    }
    let files = fs::read_dir(folder.path()).expect("a folder").count();
    assert_eq!(files, commands.len() + 1, "dbstow.1 and no more");
}

#[test]
fn the_page_of_the_program_names_its_commands() {
    let folder = written();
    let page = plain(&page(folder.path(), "dbstow.1"));
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
    assert_eq!(stdout(&["man"]), page(folder.path(), "dbstow.1"));
    assert_eq!(stdout(&["man", "run"]), page(folder.path(), "dbstow-run.1"));
}

#[test]
fn examples_keep_their_lines() {
    let page = plain(&stdout(&["man", "disks"]));
    assert!(!page.contains(".SH EXTRA"), "{page}");
    let page = plain(&stdout(&["man", "run"]));
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
    let assert = dbstow(&["man", "rum"]).assert().code(2).stdout("");
    let text = String::from_utf8_lossy(&assert.get_output().stderr).into_owned();
    assert!(
        text.contains("no command \"rum\"") && text.contains("run"),
        "{text}"
    );
    dbstow(&["man", "--out", "no/such/folder"])
        .assert()
        .failure();
}
