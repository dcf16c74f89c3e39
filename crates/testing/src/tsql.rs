//! Microsoft's own parser for T-SQL, for tests: `scripts/parse-tsql`.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The script's exit code where it could not parse.
const UNABLE: i32 = 2;

/// The parser's complaints about these texts, as `name:line:column: number message`.
///
/// `None` where it cannot run: the test is skipped.
pub fn complaints(texts: &[(impl AsRef<str>, impl AsRef<str>)]) -> Option<Vec<String>> {
    let folder = tempfile::tempdir().expect("a folder");
    // Numbers, because a name may be anything.
    let files: Vec<PathBuf> = (0..texts.len())
        .map(|number| folder.path().join(format!("{number}.sql")))
        .collect();
    for (file, (_, text)) in files.iter().zip(texts) {
        fs::write(file, text.as_ref()).expect("a file");
    }
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scripts/parse-tsql/run");
    let output = Command::new(&script)
        .args(&files)
        .output()
        .expect("bash starts");
    let why = String::from_utf8_lossy(&output.stderr);
    if output.status.code() == Some(UNABLE) {
        crate::skip(why);
        return None;
    }
    let printed = String::from_utf8(output.stdout).expect("UTF-8");
    let mut complaints = Vec::new();
    for line in printed.lines() {
        let rest = line
            .strip_prefix(&format!("{}/", folder.path().display()))
            .unwrap_or_else(|| panic!("a place in {line}"));
        let (number, rest) = rest.split_once(".sql").expect("a file");
        let number: usize = number.parse().expect("its number");
        complaints.push(format!("{}{rest}", texts[number].0.as_ref()));
    }
    let expected = i32::from(!complaints.is_empty());
    assert_eq!(output.status.code(), Some(expected), "{printed}{why}");
    Some(complaints)
}

/// Asserts that the parser accepts all of these texts, given with a name each, as T-SQL.
pub fn parses(texts: &[(impl AsRef<str>, impl AsRef<str>)]) {
    assert!(!texts.is_empty(), "nothing to parse");
    if let Some(complaints) = complaints(texts) {
        assert_eq!(complaints, [""; 0], "what the parser complains of");
    }
}
