//! Every target over its corpus, and over edited files of it: the bounded run that is part of `make test`.
//!
//! Edits are drawn by proptest from a fixed seed, so that the same ones are tried each time, and a failure is shrunk.
//! `PROPTEST_CASES=20000 PROPTEST_RNG_SEED=2 cargo test -p dbstow-fuzz` tries others; `make fuzz` searches for new paths.

use std::fs;
use std::path::{Path, PathBuf};

use dbstow_fuzz::{TARGETS, Target};
use proptest::prelude::*;
use proptest::sample::Index;
use proptest::test_runner::{Config, FileFailurePersistence, RngSeed, TestRunner};

/// Memory limit of these tests; a parser that trusts a length in the file asks for far more.
#[cfg(unix)]
const MEMORY_MAX: u64 = 4 << 30;
/// All corpora together.
const CORPUS_MAX: u64 = 1_000_000;

#[test]
fn captures() {
    bounded("capture");
}

#[test]
fn catalogues() {
    bounded("catalogue");
}

#[test]
fn drills() {
    bounded("drill");
}

#[test]
fn experiments() {
    bounded("experiment");
}

#[test]
fn fio() {
    bounded("fio");
}

#[test]
fn plans() {
    bounded("plan");
}

#[test]
fn imports() {
    bounded("import");
}

#[test]
fn postgres_logs() {
    bounded("postgres-log");
}

#[test]
fn prices() {
    bounded("prices");
}

#[test]
fn profiles() {
    bounded("profile");
}

#[test]
fn records() {
    bounded("record");
}

#[test]
fn recordings() {
    bounded("recording");
}

#[test]
fn scripts() {
    bounded("script");
}

#[test]
fn advice() {
    bounded("advice");
}

#[test]
fn layouts_of_today() {
    bounded("today");
}

/// A corpus of files that are all refused at their first line would test nothing.
#[test]
fn every_corpus_file_is_read_unless_its_name_says_that_it_is_refused() {
    for target in &TARGETS {
        assert!(!corpus(target).is_empty(), "{} has no corpus", target.name);
        for (path, text) in seeds(target) {
            let outcome = (target.read)(&text);
            let name = path.file_name().expect("a file").to_string_lossy();
            let refused = name.starts_with("refused-");
            assert_eq!(outcome.is_err(), refused, "{}: {outcome:?}", path.display());
        }
    }
}

#[test]
fn every_corpus_is_some_targets_and_all_are_small() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus");
    let mut folders: Vec<_> = root
        .read_dir()
        .expect("the corpora")
        .flatten()
        .map(|entry| entry.file_name().to_string_lossy().into_owned())
        .collect();
    folders.sort();
    assert_eq!(folders, TARGETS.map(|target| target.name));
    let files = TARGETS.iter().flat_map(corpus);
    let size: u64 = files.map(|(_, text)| text.len() as u64).sum();
    assert!(size < CORPUS_MAX, "{size} bytes");
}

/// Runs a target over edited files of its corpus.
fn bounded(name: &str) {
    limit_memory();
    let target = TARGETS.iter().find(|target| target.name == name);
    let target = target.expect("a target of this name");
    let seeds: Vec<String> = seeds(target).into_iter().map(|(_, text)| text).collect();
    let mut config = Config {
        source_file: Some(file!()),
        failure_persistence: Some(Box::new(FileFailurePersistence::WithSource("regressions"))),
        ..Config::default()
    };
    if config.rng_seed == RngSeed::Random {
        config.rng_seed = RngSeed::Fixed(1);
    }
    let cases = (any::<Index>(), prop::collection::vec(edit(), 1..5));
    let outcome = TestRunner::new(config).run(&cases, |(file, edits)| {
        let mut text = file.get(&seeds).clone();
        for edit in &edits {
            edit.apply(&mut text, &seeds);
        }
        reads_or_refuses(target, &text);
        Ok(())
    });
    if let Err(error) = outcome {
        panic!("{error}\nthe text is in {}", last(name).display());
    }
}

/// Keeps the text in a known place in case this process does not survive it.
fn reads_or_refuses(target: &Target, text: &str) {
    fs::write(last(target.name), text).expect("the target folder can be written");
    if let Err(why) = (target.read)(text) {
        assert!(!why.is_empty(), "it is refused without a word");
    }
}

fn last(name: &str) -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("fuzz-{name}"))
}

/// The files of a target's corpus.
fn corpus(target: &Target) -> Vec<(PathBuf, String)> {
    let own = Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus");
    texts(&own.join(target.name), "")
}

/// Those, and the repository's own files of the format.
fn seeds(target: &Target) -> Vec<(PathBuf, String)> {
    let mut seeds = corpus(target);
    if let Some((folder, end)) = target.seeds {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
        let more = texts(&root.join(folder), end);
        assert!(!more.is_empty(), "{folder} has no {end}");
        seeds.extend(more);
    }
    seeds
}

/// The texts with this suffix in a folder and its subfolders, sorted by name.
fn texts(folder: &Path, end: &str) -> Vec<(PathBuf, String)> {
    let entries = folder.read_dir().expect("a folder of the repository");
    let mut paths: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
    paths.sort();
    let mut found = Vec::new();
    for path in paths {
        if path.is_dir() {
            found.extend(texts(&path, end));
        } else if path.to_string_lossy().ends_with(end) {
            let text = fs::read_to_string(&path).expect("a file of a corpus is text");
            found.push((path, text));
        }
    }
    found
}

/// A larger request ends the process, and so the test.
fn limit_memory() {
    #[cfg(unix)]
    {
        use rustix::process::{Resource, getrlimit, setrlimit};
        let limit = rustix::process::Rlimit {
            current: Some(MEMORY_MAX),
            ..getrlimit(Resource::As)
        };
        setrlimit(Resource::As, limit).expect("a process may take less");
    }
}

/// A mutation of a file.
#[derive(Clone, Debug)]
enum Edit {
    /// A text inserted somewhere.
    Insert(Index, String),
    /// Some characters removed.
    Delete(Index, usize),
    /// A number replaced by another one.
    Number(Index, String),
    /// A line replaced by one of a file of the corpus.
    Line(Index, Index, Index),
    /// A line duplicated.
    Twice(Index),
    /// Truncated at a position.
    Cut(Index),
}

impl Edit {
    fn apply(&self, text: &mut String, corpus: &[String]) {
        match self {
            Edit::Insert(at, new) => text.insert_str(place(text, *at), new),
            Edit::Delete(at, count) => {
                let start = place(text, *at);
                let end = text[start..].char_indices().nth(*count);
                let end = end.map_or(text.len(), |(at, _)| start + at);
                text.replace_range(start..end, "");
            }
            Edit::Number(which, new) => {
                if let Some((start, end)) = pick(&numbers(text), *which) {
                    text.replace_range(start..end, new);
                }
            }
            Edit::Line(which, file, line) => {
                let source: &String = file.get(corpus);
                let new =
                    pick(&lines(source), *line).map_or("", |(start, end)| &source[start..end]);
                if let Some((start, end)) = pick(&lines(text), *which) {
                    text.replace_range(start..end, new);
                }
            }
            Edit::Twice(which) => {
                if let Some((start, end)) = pick(&lines(text), *which) {
                    let line = text[start..end].to_owned();
                    text.insert_str(start, &line);
                }
            }
            Edit::Cut(at) => text.truncate(place(text, *at)),
        }
    }
}

fn edit() -> impl Strategy<Value = Edit> {
    let index = any::<Index>;
    prop_oneof![
        4 => (index(), number()).prop_map(|(which, new)| Edit::Number(which, new)),
        2 => (index(), token()).prop_map(|(at, new)| Edit::Insert(at, new)),
        2 => (index(), 1..12_usize).prop_map(|(at, count)| Edit::Delete(at, count)),
        2 => (index(), index(), index()).prop_map(|(which, file, line)| Edit::Line(which, file, line)),
        1 => index().prop_map(Edit::Twice),
        1 => index().prop_map(Edit::Cut),
    ]
}

/// Numbers at the limits of types, and some that are not numbers.
fn number() -> impl Strategy<Value = String> {
    let known = [
        "0",
        "-1",
        "1",
        "0.5",
        "65535",
        "65536",
        "4294967295",
        "4294967296",
        "9223372036854775807",
        "9223372036854775808",
        "-9223372036854775808",
        "18446744073709551615",
        "18446744073709551616",
        "1e-7",
        "1e-320",
        "1e19",
        "1e308",
        "-1e308",
        "nan",
        "inf",
        "null",
        "\"\"",
        "[]",
        "{}",
        "true",
    ];
    prop_oneof![
        3 => prop::sample::select(known.map(str::to_owned).to_vec()),
        1 => any::<i64>().prop_map(|number| number.to_string()),
        1 => any::<f64>().prop_map(|number| format!("{number:e}")),
    ]
}

/// Building blocks of formats, and text that no format expects.
fn token() -> impl Strategy<Value = String> {
    let known = [
        "\"",
        "'",
        "{",
        "}",
        "[",
        "]",
        "(",
        ")",
        ",",
        ":",
        ";",
        "=",
        "#",
        "--",
        "\\",
        "\\if ",
        "\\set x ",
        ":x",
        "$1",
        "@p1",
        "\n",
        "\r\n",
        "\0",
        "\u{1b}[31m",
        "\u{202e}",
        "\u{feff}",
        "\u{10ffff}",
        "null",
        " TiB",
        " MB/s",
        " ms",
        "GO\n",
    ];
    prop_oneof![
        4 => prop::sample::select(known.map(str::to_owned).to_vec()),
        1 => "\\PC{0,12}",
        1 => (prop::sample::select(vec!["[", "(", "{\"a\":", "x", "9", " "]), 1..3_000_usize)
            .prop_map(|(piece, times)| piece.repeat(times)),
    ]
}

/// Character boundaries, including the end.
fn place(text: &str, at: Index) -> usize {
    let mut place = at.index(text.len() + 1);
    while !text.is_char_boundary(place) {
        place -= 1;
    }
    place
}

fn pick(ranges: &[(usize, usize)], which: Index) -> Option<(usize, usize)> {
    (!ranges.is_empty()).then(|| *which.get(ranges))
}

fn lines(text: &str) -> Vec<(usize, usize)> {
    let mut end = 0;
    let ranges = text.split_inclusive('\n').map(|line| {
        end += line.len();
        (end - line.len(), end)
    });
    ranges.collect()
}

fn numbers(text: &str) -> Vec<(usize, usize)> {
    let mut ranges: Vec<(usize, usize)> = Vec::new();
    for (at, _) in text.match_indices(|c: char| c.is_ascii_digit()) {
        match ranges.last_mut() {
            Some((_, end)) if *end == at => *end += 1,
            _ => ranges.push((at, at + 1)),
        }
    }
    ranges
}
