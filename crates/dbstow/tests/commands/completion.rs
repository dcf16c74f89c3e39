//! Completions that a shell offers at TAB: built-in names, options, and files.

#![cfg(unix)]

use std::process::Command;

use assert_cmd::prelude::*;
use testing::folder::{Folder, stdout};

/// bash's completions for a line with an incomplete last word, in a folder with `mine.toml` and `notes.txt`.
fn bash(words: &[&str]) -> Vec<String> {
    // As bash does at TAB: COMP_WORDS and COMP_CWORD, then the function that is registered for the program.
    let script = r#"
        program=$1; shift
        eval "$("$program" completions bash)"
        registered=$(complete -p dbstow) || exit 9
        [[ $registered =~ -F\ ([^ ]+) ]] || exit 8
        COMP_WORDS=("$@")
        COMP_CWORD=$(($# - 1))
        COMP_LINE="$*"
        COMP_POINT=${#COMP_LINE}
        COMP_TYPE=9
        "${BASH_REMATCH[1]}" dbstow "${COMP_WORDS[COMP_CWORD]}" "${COMP_WORDS[COMP_CWORD-1]}" || exit 7
        printf '%s\n' "${COMPREPLY[@]}"
    "#;
    let folder = folder();
    let mut shell = Command::new("bash");
    shell
        .args(["--norc", "--noprofile", "-c", script, "bash"])
        .arg(testing::program())
        .args(words)
        .current_dir(folder.root());
    lines(&mut shell)
}

/// The same as [`bash`] for a shell that may not be installed: what its script asks the program.
fn asked(shell: &str, words: &[&str]) -> Vec<String> {
    let folder = folder();
    let mut program = folder.process(&["--"]);
    program
        .env("DBSTOW_COMPLETE", shell)
        .env("_CLAP_IFS", "\n")
        .env("_CLAP_COMPLETE_INDEX", (words.len() - 1).to_string())
        .args(words);
    lines(&mut program)
}

fn lines(command: &mut Command) -> Vec<String> {
    let assert = command.assert().success().stderr("");
    stdout(&assert).lines().map(str::to_owned).collect()
}

fn folder() -> Folder {
    Folder::with(&[("mine.toml", ""), ("notes.txt", "")])
}

#[test]
fn run_offers_the_experiments_and_files() {
    let found = bash(&["dbstow", "run", "tempdb-"]);
    let expected = [
        "tempdb-mixes",
        "tempdb-scale-out",
        "tempdb-spill",
        "tempdb-ssd-vs-premium",
    ];
    assert_eq!(found, expected);
    assert_eq!(bash(&["dbstow", "run", "mi"]), ["mine.toml"]);
    let all = bash(&["dbstow", "check", ""]);
    for name in ["volume-alone", "mine.toml", "--mode"] {
        assert!(all.iter().any(|found| found == name), "{name}: {all:?}");
    }
    assert!(!all.iter().any(|found| found == "notes.txt"), "{all:?}");
}

#[test]
fn disks_machines_and_workloads_are_offered() {
    for (words, expected) in [
        (["dbstow", "disks", "azure.prem"], "azure.premium.p30"),
        (["dbstow", "machines", "azure.DS14"], "azure.DS14_v2"),
        (["dbstow", "workloads", "tra"], "trade"),
        (["dbstow", "experiments", "ul"], "ultra-vs-premium-pool"),
        (["dbstow", "layout", "ul"], "ultra-vs-premium-pool"),
    ] {
        let found = bash(&words);
        let begins = |name: &String| name.starts_with(words[2]);
        assert!(found.iter().all(begins), "{words:?}: {found:?}");
        let offered = found.iter().any(|name| name == expected);
        assert!(offered, "{words:?}: {found:?}");
    }
}

#[cfg(target_os = "linux")]
#[test]
fn mount_offers_disks_and_files() {
    let found = bash(&["dbstow", "mount", "azure.premium.p3"]);
    assert_eq!(found, ["azure.premium.p3", "azure.premium.p30"]);
    assert_eq!(bash(&["dbstow", "mount", "mi"]), ["mine.toml"]);
}

#[test]
fn commands_options_and_their_values_are_offered() {
    assert_eq!(bash(&["dbstow", "exp"]), ["experiments"]);
    assert_eq!(bash(&["dbstow", "run", "x", "--qu"]), ["--quick"]);
    let modes = bash(&["dbstow", "run", "x", "--mode", ""]);
    assert_eq!(modes, ["simulate", "emulate", "measure"]);
    let shells = bash(&["dbstow", "completions", "z"]);
    assert_eq!(shells, ["zsh"]);
    let files = bash(&["dbstow", "run", "x", "--html", "no"]);
    assert_eq!(files, ["notes.txt"]);
}

#[test]
fn other_shells_show_a_line_about_each_name() {
    let question = "Does spreading 8 tempdb data files over 1, 2 or 4 data disks raise throughput?";
    let fish = asked("fish", &["dbstow", "run", "tempdb-scale"]);
    assert_eq!(fish, [format!("tempdb-scale-out\t{question}")]);
    let zsh = asked("zsh", &["dbstow", "run", "tempdb-scale"]);
    assert_eq!(zsh, [format!("tempdb-scale-out:{question}")]);
    let disk = asked("fish", &["dbstow", "disks", "azure.premium.p30"]);
    assert_eq!(disk, ["azure.premium.p30\tPremium SSD P30"]);
}

#[test]
fn a_path_of_a_volume_is_completed_behind_its_name() {
    let found = asked("fish", &["dbstow", "run", "x", "--disk", "f=mi"]);
    assert_eq!(found, ["f=mine.toml"]);
}

#[test]
fn every_shell_has_a_script_that_asks_the_program() {
    for shell in ["bash", "elvish", "fish", "powershell", "zsh"] {
        let script = lines(&mut Folder::new().process(&["completions", shell])).join("\n");
        assert!(script.contains("DBSTOW_COMPLETE"), "{shell}: {script}");
    }
}
