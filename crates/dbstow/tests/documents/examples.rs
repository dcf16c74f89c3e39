//! The crates' examples run, and print what they promise. `cargo test --workspace` builds them.

use std::path::PathBuf;
use std::process::Command;

use assert_cmd::prelude::*;
use testing::folder::{Folder, stdout};

/// What an example prints. Cargo puts examples beside the folder of the tests.
fn printed(example: &str, arguments: &[&str]) -> String {
    let own = std::env::current_exe().expect("a test is a file");
    let deps = own.parent().expect("it lies in a folder");
    let examples: PathBuf = deps.with_file_name("examples");
    let program = examples.join(format!("{example}{}", std::env::consts::EXE_SUFFIX));
    assert!(
        program.exists(),
        "{} is not built; run `cargo build --workspace --examples`",
        program.display()
    );
    stdout(&Command::new(program).args(arguments).assert().success())
}

#[test]
fn quickstart_prints_a_table_with_a_verdict() {
    let table = printed("quickstart", &[]);
    assert!(
        table.contains("local-ssd") && table.contains("p30"),
        "{table}"
    );
    assert!(
        table.contains("p30 and local-ssd tie (within 5 %)"),
        "{table}"
    );
}

#[test]
fn sweep_says_where_more_iops_stop_helping() {
    let steps = printed("sweep", &[]);
    assert_eq!(steps.lines().count(), 6, "{steps}");
    let last = steps.lines().last().expect("six lines");
    assert!(
        last.contains("16000 IOPS") && last.ends_with("gains less than 5 %"),
        "{steps}"
    );
    let first = steps.lines().next().expect("six lines");
    assert!(!first.contains("no longer"), "{steps}");
    let page = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/library.md");
    let page = std::fs::read_to_string(page).expect("the library's page");
    for step in steps.lines() {
        assert!(
            page.contains(step.trim_end()),
            "not in docs/library.md: {step}"
        );
    }
}

#[test]
fn own_disk_holds_it_against_a_p30() {
    let table = printed("own_disk", &[]);
    assert!(table.contains("corner") && table.contains("p30"), "{table}");
}

#[test]
fn read_records_prints_what_a_run_found() {
    let folder = Folder::new();
    let results = folder.text("results");
    folder.stdout(&["run", "tempdb-ssd-vs-premium", "--quick", "--out", &results]);

    let compared = printed("read_records", &[&results]);

    assert!(
        compared.starts_with("p30 against local-ssd: elapsed_s "),
        "{compared}"
    );
    assert!(compared.contains("95 % CI"), "{compared}");
}

#[test]
fn page_prints_the_page_around_a_module() {
    let folder = Folder::new();
    folder.write("module.wasm.gz", "a module");
    folder.write("web.js", "let wasm_bindgen;");
    let examples = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples");
    let [module, bindings] = ["module.wasm.gz", "web.js"].map(|name| folder.text(name));

    let page = printed("page", &[&module, &bindings, examples]);

    assert!(page.starts_with("<!DOCTYPE html>"));
    // The module in base64, the catalogue, both examples.
    for part in ["YSBtb2R1bGU=", "azure.premium.p30", "Example: a shop"] {
        assert!(page.contains(part), "{part}");
    }
    assert_eq!(page.matches("class=\"example\"").count(), 2);
}

#[test]
fn readmes_of_crates_have_no_code_that_is_not_compiled() {
    let crates = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("..");
    let folders = [crates.clone(), crates.join("engines")].map(|folder| {
        let entries = folder.read_dir().expect("a folder of crates").flatten();
        entries.map(|entry| entry.path().join("README.md"))
    });
    let readmes = folders.into_iter().flatten();
    let texts = readmes.filter_map(|file| Some((std::fs::read_to_string(&file).ok()?, file)));
    let texts: Vec<_> = texts.collect();
    assert!(texts.len() > 20, "only {} were found", texts.len());
    for (text, file) in texts {
        // Examples are in the documentation of a crate's root, or in its `examples`.
        assert!(!text.contains("```rust"), "{}", file.display());
    }
}
