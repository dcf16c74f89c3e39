//! A folder that dbstow runs in, and what it prints.

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{self, Output};

use assert_cmd::Command;
use assert_cmd::assert::Assert;
use serde_json::Value;
use tempfile::TempDir;

/// A file of the folder `examples`.
pub fn example(name: &str) -> PathBuf {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.join("../../examples").join(name)
}

/// A temporary folder.
pub struct Folder(TempDir);

impl Folder {
    pub fn new() -> Folder {
        Folder(tempfile::tempdir().expect("a temporary folder"))
    }

    /// A folder with these files: name and text of each.
    pub fn with<T: AsRef<[u8]>>(files: &[(&str, T)]) -> Folder {
        let folder = Folder::new();
        for (name, text) in files {
            folder.write(name, text);
        }
        folder
    }

    pub fn root(&self) -> &Path {
        self.0.path()
    }

    pub fn path(&self, name: impl AsRef<Path>) -> PathBuf {
        self.root().join(name)
    }

    /// The path as an argument.
    pub fn text(&self, name: &str) -> String {
        self.path(name).to_str().expect("it is text").to_owned()
    }

    #[track_caller]
    pub fn write(&self, name: &str, text: impl AsRef<[u8]>) {
        fs::write(self.path(name), text).expect("the folder is ours");
    }

    #[track_caller]
    pub fn read(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
    }

    #[track_caller]
    pub fn make_folder(&self, name: &str) {
        fs::create_dir(self.path(name)).expect("the folder is ours");
    }

    /// The program in this folder.
    pub fn dbstow<S: AsRef<OsStr>>(&self, arguments: &[S]) -> Command {
        Command::from_std(self.process(arguments))
    }

    /// The same, to be spawned.
    pub fn process<S: AsRef<OsStr>>(&self, arguments: &[S]) -> process::Command {
        let mut command = process::Command::new(crate::program());
        command.current_dir(self.root()).args(arguments);
        command
    }

    /// Exit code and output.
    #[track_caller]
    pub fn printed<S: AsRef<OsStr>>(&self, arguments: &[S]) -> Printed {
        Printed::from(self.dbstow(arguments).output().expect("it starts"))
    }

    /// Stdout of a command that succeeds.
    #[track_caller]
    pub fn stdout<S: AsRef<OsStr>>(&self, arguments: &[S]) -> String {
        stdout(&self.dbstow(arguments).assert().success())
    }

    /// The JSON document printed by a command that succeeds.
    #[track_caller]
    pub fn json<S: AsRef<OsStr>>(&self, arguments: &[S]) -> Value {
        json(&self.dbstow(arguments).assert().success())
    }

    /// Stderr of a command that must exit with `code`.
    #[track_caller]
    pub fn fails<S: AsRef<OsStr>>(&self, arguments: &[S], code: i32) -> String {
        said(&self.dbstow(arguments).assert().code(code))
    }

    /// The error message of a command that exits with 2: one line, and nothing on stdout.
    #[track_caller]
    pub fn refused<S: AsRef<OsStr>>(&self, arguments: &[S]) -> String {
        let said = said(&self.dbstow(arguments).assert().code(2).stdout(""));
        assert_eq!(said.lines().count(), 1, "{said}");
        said
    }

    /// As [`Folder::refused`], with `parts` in the message.
    #[track_caller]
    pub fn refuses<S: AsRef<OsStr>>(&self, arguments: &[S], parts: &[&str]) {
        contains(&self.refused(arguments), parts);
    }
}

/// What a program printed before it exited.
pub struct Printed {
    pub code: i32,
    pub stdout: String,
    pub stderr: String,
}

impl From<Output> for Printed {
    #[track_caller]
    fn from(output: Output) -> Printed {
        let text = |bytes| String::from_utf8(bytes).expect("it prints text");
        let stderr = text(output.stderr);
        let code = output.status.code();
        Printed {
            code: code.unwrap_or_else(|| panic!("{}: {stderr}", output.status)),
            stdout: text(output.stdout),
            stderr,
        }
    }
}

/// All that a program printed.
pub fn text(output: &Output) -> String {
    let printed = [&output.stdout, &output.stderr].map(|bytes| String::from_utf8_lossy(bytes));
    printed.concat()
}

#[track_caller]
pub fn contains(text: &str, parts: &[&str]) {
    for part in parts {
        assert!(text.contains(part), "no {part:?} in: {text}");
    }
}

/// What a program said on stderr.
pub fn said(assert: &Assert) -> String {
    String::from_utf8_lossy(&assert.get_output().stderr).into_owned()
}

#[track_caller]
pub fn stdout(assert: &Assert) -> String {
    String::from_utf8(assert.get_output().stdout.clone()).expect("it prints text")
}

/// Stdout of a program that prints one JSON document.
#[track_caller]
pub fn json(assert: &Assert) -> Value {
    serde_json::from_slice(&assert.get_output().stdout).expect("it prints JSON")
}
