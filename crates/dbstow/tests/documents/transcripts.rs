//! Transcripts match the program's output.
//!
//! A block ```` ```console ```` contains commands after `$` and their stdout; those of dbstow are run here, and a line
//! `[...]` stands for any lines; with `DBSTOW_WRITE_DOCUMENTS=1` in the environment, blocks that differ are rewritten, so
//! that the difference can be reviewed before it is committed. Transcripts of real time, which no run reproduces, are
//! ```` ```text ````: of those, only the commands are checked.

mod bills;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::sync::LazyLock;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use testing::folder::{Folder, stdout};

use super::documents::{blocks, pages, read, root, shown, words};

/// What a command printed, and the advice that it wrote.
struct Ran {
    printed: String,
    advice: Option<String>,
}

/// Every command of a transcript, run once.
static RAN: LazyLock<BTreeMap<String, Ran>> = LazyLock::new(|| {
    let texts = pages().into_iter().map(|file| read(&file));
    let commands = texts.flat_map(|text| of_page(&text));
    let commands: BTreeSet<String> = commands.map(|(command, _)| command).collect();
    let commands: Vec<String> = commands.into_iter().collect();

    let next = AtomicUsize::new(0);
    let take = || -> Vec<(String, Ran)> {
        let rest = std::iter::from_fn(|| commands.get(next.fetch_add(1, Ordering::Relaxed)));
        rest.map(|command| (command.clone(), ran(command)))
            .collect()
    };
    let threads = thread::available_parallelism().map_or(1, usize::from);
    thread::scope(|scope| {
        let workers: Vec<_> = (0..threads).map(|_| scope.spawn(take)).collect();
        let done = workers.into_iter();
        done.flat_map(|worker| worker.join().expect("every command succeeds"))
            .collect()
    })
});

#[test]
#[ignore = "long: runs every command of the documents"]
fn transcripts_are_what_the_program_prints() {
    let write = std::env::var_os("DBSTOW_WRITE_DOCUMENTS").is_some();
    let mut seen = 0;
    for file in pages() {
        let mut text = read(&file);
        for (command, expected) in of_page(&text) {
            seen += 1;
            let actual = &RAN[&command].printed;
            match matches(&expected, actual) {
                Ok(()) => {}
                Err(_) if write => {
                    let line = format!("$ dbstow {command}\n");
                    text = match expected.as_str() {
                        // A new one.
                        "" => text.replacen(&line, &format!("{line}{actual}"), 1),
                        _ => text.replacen(&expected, &renewed(&expected, actual), 1),
                    };
                    fs::write(&file, &text).expect("a document of ours");
                }
                Err(missing) => panic!(
                    "{}: {command}\ndoes not print\n{missing}\n\nbut\n{actual}\n(DBSTOW_WRITE_DOCUMENTS=1 \
                     writes it anew)",
                    shown(&file)
                ),
            }
        }
    }
    assert!(seen >= 8, "only {seen} transcripts found");
}

#[test]
fn an_elision_stands_for_any_lines() {
    let actual = "a\nb\nc\nd\n";
    for fits in [
        "a\nb\nc\nd",
        "a\n[...]",
        "[...]\nd",
        "a\n[...]\nc\nd",
        "[...]\nb\n[...]",
    ] {
        assert_eq!(matches(fits, actual), Ok(()), "{fits}");
    }
    for differs in [
        "a",
        "b\n[...]",
        "[...]\nc",
        "a\n[...]\nd\n[...]\nc\n[...]",
        "a\nd",
    ] {
        assert!(matches(differs, actual).is_err(), "{differs}");
    }
}

#[test]
fn a_transcript_is_written_anew_with_its_elisions() {
    let actual = "title\n\ntable\n\n= x: 3x\n  more\n= y\n\nend\n";
    for (before, after) in [
        ("old\n", actual),
        ("title\n[...]\n", "title\n[...]\n"),
        (
            "[...]\n= x: 2x\n[...]\n",
            "[...]\n= x: 3x\n  more\n= y\n[...]\n",
        ),
        (
            "title\n[...]\n= x: 2x\n\nold\n",
            "title\n[...]\n= x: 3x\n  more\n= y\n\nend\n",
        ),
    ] {
        assert_eq!(renewed(before, actual), after, "{before}");
    }
}

/// The commands of a document's transcripts, each with the output below it.
fn of_page(text: &str) -> Vec<(String, String)> {
    let transcripts = blocks(text).into_iter();
    let transcripts = transcripts.filter(|block| block.kind == "console");
    transcripts.flat_map(|block| steps(&block.text)).collect()
}

/// Commands of dbstow in a transcript, each with the output below it.
fn steps(transcript: &str) -> Vec<(String, String)> {
    let mut steps: Vec<(String, String)> = Vec::new();
    let mut continued = false;
    for line in transcript.lines() {
        if let Some(command) = line.strip_prefix("$ dbstow ") {
            continued = command.ends_with('\\');
            steps.push((command.trim_end_matches('\\').to_owned(), String::new()));
            continue;
        }
        let (command, output) = steps
            .last_mut()
            .expect("a transcript begins with `$ dbstow`");
        if continued {
            continued = line.ends_with('\\');
            command.push_str(line.trim_end_matches('\\').trim_start());
        } else {
            output.push_str(line);
            output.push('\n');
        }
    }
    steps
}

/// Runs a command in a separate folder, from which it sees the sources as from the repository.
fn ran(command: &str) -> Ran {
    let folder = Folder::new();
    for name in ["crates", "examples"] {
        std::os::unix::fs::symlink(root().join(name), folder.path(name))
            .expect("a link in a folder of ours");
    }
    let words = words(command);
    let mut program = folder.dbstow(&words);
    let printed = stdout(&program.env_remove("COLUMNS").assert().success());
    let out = words.iter().skip_while(|word| *word != "--out").nth(1);
    let advice = out.filter(|_| words[0] == "advise");
    let advice = advice.map(|out| folder.read(&format!("{out}/advice.json")));
    Ran { printed, advice }
}

/// Whether `actual` matches `expected`, where a line `[...]` stands for any lines; otherwise the part that is missing.
fn matches(expected: &str, actual: &str) -> Result<(), String> {
    let expected: Vec<&str> = expected.trim_end().lines().collect();
    let mut left: Vec<&str> = actual.trim_end().lines().collect();
    let parts: Vec<&[&str]> = expected.split(|line| *line == "[...]").collect();
    let last = parts.len() - 1;
    for (number, part) in parts.into_iter().enumerate() {
        let at = if number == 0 {
            left.starts_with(part).then_some(0)
        } else if number == last {
            left.ends_with(part).then(|| left.len() - part.len())
        } else {
            let mut starts = 0..=left.len().saturating_sub(part.len());
            starts.find(|at| left[*at..].starts_with(part))
        };
        let at = at.ok_or_else(|| part.join("\n"))?;
        left.drain(..at + part.len());
    }
    match left.as_slice() {
        [] => Ok(()),
        left => Err(format!("an end before: {}", left[0])),
    }
}

/// `expected` with the current output. A part between elisions that is still printed stays; another begins at the line
/// that begins like its first one, and has as many paragraphs as before.
fn renewed(expected: &str, actual: &str) -> String {
    let expected: Vec<&str> = expected.trim_end().lines().collect();
    let mut left: Vec<&str> = actual.trim_end().lines().collect();
    let parts: Vec<&[&str]> = expected.split(|line| *line == "[...]").collect();
    let last = parts.len() - 1;
    let mut renewed: Vec<String> = Vec::new();
    for (number, part) in parts.into_iter().enumerate() {
        let first = part.first().copied().unwrap_or_default();
        let key: String = first.chars().take_while(|c| *c != ':').take(12).collect();
        let start = match number {
            0 => 0,
            _ => left
                .iter()
                .position(|line| line.starts_with(&key))
                .unwrap_or(0),
        };
        left.drain(..start);
        let length = if part.is_empty() || number < last && left.starts_with(part) {
            part.len()
        } else if number == last {
            left.len()
        } else {
            let blank = |line: &&&str| line.is_empty();
            let ends = left.iter().enumerate().filter(|(_, line)| line.is_empty());
            let mut ends = ends
                .map(|(at, _)| at)
                .skip(part.iter().filter(blank).count());
            ends.next().unwrap_or(left.len())
        };
        let lines: Vec<&str> = left.drain(..length).collect();
        renewed.push(lines.iter().map(|line| format!("{line}\n")).collect());
    }
    renewed.join("[...]\n")
}
