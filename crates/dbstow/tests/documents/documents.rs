//! The documents are correct: links lead to files, commands and options exist.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use catalogue::Catalogue;
use testing::folder::Folder;

const README_LINES_MAX: usize = 120;

/// Lines of a terminal's or a page's first screen.
const SCREEN_LINES: usize = 28;

/// Text required on each page that shows dbstow on SQL Server.
const SQL_SERVER: &str = "t-sql and client run against babelfish 4.4 (all loads equal to sqlite's); not yet run on sql server";

#[test]
fn readme_has_at_most_120_lines() {
    let lines = read(&root().join("README.md")).lines().count();
    assert!(lines <= README_LINES_MAX, "README.md has {lines} lines");
}

#[test]
fn the_first_screen_of_the_readme_has_demo_and_test_each_with_its_time() {
    let readme = read(&root().join("README.md"));
    for command in ["make demo ", "make test "] {
        let mut first = readme.lines().take(SCREEN_LINES);
        let line = first.find(|line| line.starts_with(command));
        assert!(
            line.is_some_and(|line| line.contains(" minutes")),
            "{command}: {line:?}"
        );
    }
}

/// The fifth experiment takes longer than the four together.
#[cfg(target_os = "linux")]
#[test]
fn demo_runs_the_experiments_of_the_published_table_and_demo_all_the_others() {
    let page = read(&root().join("docs/validation/articles.md"));
    let (_, table) = (page.split_once("Printed by `make demo`")).expect("the table's line");
    let (table, _) = table.split_once("\n\nWhy some").expect("the text below it");
    let named = table.lines().filter_map(|line| line.strip_prefix("| `"));
    let published: BTreeSet<&str> = named.filter_map(|rest| rest.split('`').next()).collect();
    assert_eq!(published.len(), 4, "{published:?}");
    assert_eq!(runs_of("demo"), owned(&published));

    // Only a real server has asynchronous reads.
    let mut every: BTreeSet<&str> = experiment::spec::builtin_names().into_iter().collect();
    every.remove("postgres-io-method");
    assert_eq!(runs_of("demo-all"), owned(&every));
}

#[cfg(target_os = "linux")]
fn owned(names: &BTreeSet<&str>) -> BTreeSet<String> {
    names.iter().map(|name| (*name).to_owned()).collect()
}

/// The experiments that `make` would run for this target.
#[cfg(target_os = "linux")]
fn runs_of(target: &str) -> BTreeSet<String> {
    let mut make = std::process::Command::new("make");
    // Not those of a `make test` that this runs in.
    make.env_remove("MAKEFLAGS").env_remove("MFLAGS");
    let make = make.args(["--dry-run", target]).current_dir(root());
    let output = make.output().expect("Linux builds dbstow with make");
    let printed = String::from_utf8(output.stdout).expect("commands are text");
    let loops = printed.lines().filter_map(|line| {
        let (_, names) = line.split_once("for name in ")?;
        names.split_once("; do")
    });
    let names = loops.flat_map(|(names, _)| names.split_whitespace());
    names.map(str::to_owned).collect()
}

#[test]
fn the_settings_of_sqlite_to_install_with_are_those_of_a_checkout() {
    let config = read(&root().join(".cargo/config.toml"));
    let setting = config
        .lines()
        .find_map(|line| line.strip_prefix("LIBSQLITE3_FLAGS = "))
        .expect("the checkout sets them");
    let page = read(&root().join("docs/install.md"));
    assert!(
        page.contains(&format!("export LIBSQLITE3_FLAGS={setting}\n")),
        "{setting}"
    );
}

#[test]
fn links_lead_to_files_and_headings() {
    let mut broken = Vec::new();
    for file in documents() {
        for link in links(&prose(&read(&file))) {
            if link.contains("://") || link.starts_with("mailto:") {
                continue;
            }
            let (path, heading) = link.split_once('#').unwrap_or((&link, ""));
            let target = match path {
                "" => file.clone(),
                path => file.with_file_name("").join(path),
            };
            let found = target.exists()
                && (heading.is_empty() || headings(&read(&target)).contains(heading));
            if !found {
                broken.push(format!("{}: {link}", shown(&file)));
            }
        }
    }
    assert_eq!(broken, [""; 0], "links to nothing");
}

#[test]
fn pages_that_show_sql_server_say_what_was_tested() {
    for file in pages() {
        let text = read(&file).to_lowercase();
        let words: Vec<&str> = text.split_whitespace().collect();
        // `sqlserver/` is a folder of the source.
        let claims = text.replace("sqlserver/", "").contains("sqlserver");
        assert!(
            !claims || words.join(" ").contains(SQL_SERVER),
            "{} shows SQL Server and does not say: {SQL_SERVER}",
            shown(&file)
        );
    }
}

#[test]
fn commands_in_documents_exist() {
    let mut helps = BTreeMap::new();
    let mut wrong = Vec::new();
    let mut seen = 0;
    for file in documents() {
        for command in commands(&read(&file)) {
            seen += 1;
            let words = words(&command);
            let Some(subcommand) = words.first().filter(|word| !word.starts_with('-')) else {
                continue;
            };
            let help = helps
                .entry(subcommand.clone())
                .or_insert_with(|| help(subcommand));
            let unknown = words[1..]
                .iter()
                .filter_map(|word| word.split('=').next())
                .filter(|word| word.starts_with("--"))
                .find(|option| !help.contains(*option));
            if help.is_empty() {
                wrong.push(format!("{}: no subcommand: {command}", shown(&file)));
            } else if let Some(option) = unknown {
                wrong.push(format!("{}: no option {option}: {command}", shown(&file)));
            }
        }
    }
    assert!(seen > 40, "only {seen} commands found");
    assert_eq!(wrong, [""; 0]);
}

/// Help of a subcommand, or nothing if it does not exist. `mount` and the like exist only on Linux.
fn help(subcommand: &str) -> String {
    if cfg!(not(target_os = "linux")) && ["mount", "stat", "unmount"].contains(&subcommand) {
        return "--".to_owned();
    }
    let printed = Folder::new().printed(&[subcommand, "--help"]);
    match printed.code {
        0 => printed.stdout,
        _ => String::new(),
    }
}

#[test]
fn disks_and_machines_in_commands_exist() {
    let catalogue = Catalogue::builtin();
    let mut subcommands = BTreeSet::new();
    let mut used = BTreeSet::new();
    for file in documents() {
        for command in commands(&read(&file)) {
            let words = words(&command);
            subcommands.extend(words.first().cloned());
            used.extend(words.into_iter().map(|word| (shown(&file), word)));
        }
    }
    for subcommand in subcommands {
        let help = help(&subcommand);
        let examples = help.split_once("Examples:").unwrap_or_default().1;
        let words = examples.split_whitespace();
        used.extend(words.map(|word| (format!("{subcommand} --help"), word.to_owned())));
    }
    let clouds = ["azure.", "aws.", "gcp."];
    used.retain(|(_, word)| clouds.iter().any(|cloud| word.starts_with(cloud)));
    assert!(used.len() > 5, "{used:?}");
    used.retain(|(_, name)| catalogue.disk(name).is_err() && catalogue.machine(name).is_err());
    assert_eq!(used, BTreeSet::new(), "not in the catalogue");
}

#[test]
fn makes_of_documents_are_targets() {
    let makefile = read(&root().join("Makefile"));
    for file in documents() {
        let blocks = blocks(&read(&file));
        let lines = blocks.iter().flat_map(|block| block.text.lines());
        for target in lines.filter_map(|line| line.strip_prefix("make ")) {
            let target = target.split_whitespace().next().expect("a word");
            assert!(
                makefile
                    .lines()
                    .any(|line| line.starts_with(&format!("{target}:"))),
                "{}: make {target}",
                shown(&file)
            );
        }
    }
}

#[test]
fn rust_of_the_library_page_is_that_of_the_examples() {
    let mut examples = String::new();
    for folder in ["crates/lab/examples", "crates/analysis/examples"] {
        let entries = fs::read_dir(root().join(folder)).expect("a folder of examples");
        for entry in entries.flatten() {
            examples.push_str(&without_margin(&read(&entry.path())));
        }
    }
    let page = read(&root().join("docs/library.md"));
    let rust: Vec<Block> = blocks(&page)
        .into_iter()
        .filter(|block| block.kind == "rust")
        .collect();
    assert!(!rust.is_empty());
    for block in rust {
        assert!(
            examples.contains(&without_margin(&block.text)),
            "in no example:\n{}",
            block.text
        );
    }
}

/// A code block: the first word behind its fence, `indented`, or nothing.
pub(super) struct Block {
    pub(super) kind: String,
    pub(super) text: String,
}

/// Code blocks of a document, fenced and indented ones.
pub(super) fn blocks(text: &str) -> Vec<Block> {
    let mut blocks: Vec<Block> = Vec::new();
    let mut fenced = false;
    let mut indented = false;
    let mut before = "";
    for line in text.lines() {
        if let Some(info) = line.trim_start().strip_prefix("```") {
            fenced = !fenced;
            if fenced {
                let kind = info.split_whitespace().next().unwrap_or("").to_owned();
                let text = String::new();
                blocks.push(Block { kind, text });
            }
            indented = false;
        } else if fenced {
            let block = blocks.last_mut().expect("one was opened");
            block.text.push_str(line);
            block.text.push('\n');
        } else if let Some(code) = line
            .strip_prefix("    ")
            .filter(|_| indented || before.is_empty())
        {
            if !indented {
                let kind = "indented".to_owned();
                let text = String::new();
                blocks.push(Block { kind, text });
            }
            let block = blocks.last_mut().expect("one was opened");
            block.text.push_str(code);
            block.text.push('\n');
            indented = true;
        } else {
            indented = false;
        }
        before = line;
    }
    blocks
}

/// A document without its fenced blocks and code in a line.
fn prose(text: &str) -> String {
    let mut prose = String::new();
    let mut fenced = false;
    for line in text.lines() {
        if line.trim_start().starts_with("```") {
            fenced = !fenced;
        } else if !fenced {
            // Every second part is code: links around code keep their target.
            let parts = line.split('`').step_by(2);
            prose.push_str(&parts.collect::<Vec<_>>().join("code"));
            prose.push('\n');
        }
    }
    prose
}

fn links(prose: &str) -> Vec<String> {
    let targets = prose.split("](").skip(1);
    targets
        .filter_map(|rest| rest.split_once(')'))
        .map(|(link, _)| link.to_owned())
        .collect()
}

/// The names that a forge gives to headings.
fn headings(text: &str) -> BTreeSet<String> {
    let titles = text.lines().filter(|line| line.starts_with('#'));
    titles
        .map(|title| {
            let title = title.trim_start_matches('#').trim().to_lowercase();
            let kept = title
                .chars()
                .filter(|c| c.is_alphanumeric() || " -_".contains(*c));
            kept.map(|c| if c == ' ' { '-' } else { c }).collect()
        })
        .collect()
}

/// Commands of dbstow in the code blocks of a document, without the program's name.
fn commands(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    for block in blocks(text) {
        let mut lines = block.text.lines();
        while let Some(line) = lines.next() {
            let line = line.strip_prefix("$ ").unwrap_or(line);
            let line = line.strip_prefix("SQLCMDPASSWORD=.. ").unwrap_or(line);
            // In a drawing, more than one blank follows the name.
            let Some(rest) = line
                .strip_prefix("dbstow ")
                .filter(|rest| !rest.starts_with(' '))
            else {
                continue;
            };
            let mut command = rest.to_owned();
            while let Some(part) = command.strip_suffix('\\') {
                let next = lines.next().unwrap_or("");
                command = format!("{part}{}", next.trim_start());
            }
            found.push(command);
        }
    }
    found
}

pub(super) fn words(command: &str) -> Vec<String> {
    shell_words::split(command).unwrap_or_else(|error| panic!("{command}: {error}"))
}

/// Lines without their context.
fn without_margin(text: &str) -> String {
    text.lines()
        .map(|line| format!("{}\n", line.trim()))
        .collect()
}

pub(super) fn read(file: &Path) -> String {
    fs::read_to_string(file).unwrap_or_else(|error| panic!("{}: {error}", file.display()))
}

/// All documents of the repository.
pub(super) fn documents() -> Vec<PathBuf> {
    let mut found = pages();
    found.extend(
        markdown(&root())
            .into_iter()
            .filter(|file| !file.ends_with("README.md")),
    );
    let crates = fs::read_dir(root().join("crates")).expect("the crates");
    for folder in crates.flatten().map(|entry| entry.path()) {
        found.extend(markdown(&folder));
    }
    assert!(found.len() > 20, "only {found:?}");
    found
}

/// The README and the files in `docs` and its folder.
pub(super) fn pages() -> Vec<PathBuf> {
    let mut pages = vec![root().join("README.md")];
    pages.extend(markdown(&root().join("docs")));
    pages.extend(markdown(&root().join("docs/validation")));
    pages
}

fn markdown(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).expect("a folder of the repository");
    let mut files: Vec<PathBuf> = entries
        .flatten()
        .map(|entry| entry.path())
        .filter(|path| path.extension().is_some_and(|end| end == "md"))
        .collect();
    files.sort();
    files
}

pub(super) fn root() -> PathBuf {
    let own = Path::new(env!("CARGO_MANIFEST_DIR"));
    own.ancestors()
        .nth(2)
        .expect("it lies in crates")
        .to_owned()
}

pub(super) fn shown(file: &Path) -> String {
    let below = file.strip_prefix(root()).unwrap_or(file);
    below.display().to_string()
}
