//! Converts paths in an experiment's file, which are relative to that file, to paths relative to the current folder.

use std::fs;
use std::path::{Component, Path, PathBuf};

use files::input;
use toml_edit::{DocumentMut, TableLike, Value};

use super::document::line_of;
use super::error::SpecError;

/// Keys with a path, in `[workload]` or in a section that sets keys of others.
const KEYS: [&str; 2] = ["workload.folder", "workload.profile"];

/// An experiment's text whose paths are relative to the current folder.
#[derive(Debug)]
pub struct Located {
    /// The text, on the same lines.
    pub text: String,
    /// Paths that only resolve from the current folder, as in files of older versions: a sentence each.
    pub notes: Vec<String>,
}

/// `text` of `file`, with paths relative to the file converted to the current folder. A path that only resolves from the current
/// folder is kept. A pipe or device has no folder, so its paths are unchanged.
///
/// # Errors
/// A path that resolves differently from the file and from the current folder.
pub fn located(file: &str, text: String) -> Result<Located, SpecError> {
    located_from(Path::new(""), file, text)
}

fn located_from(here: &Path, file: &str, text: String) -> Result<Located, SpecError> {
    let is_regular = fs::metadata(file).is_ok_and(|metadata| metadata.is_file());
    let folder = Path::new(file).parent().filter(|_| is_regular);
    let document = text.parse::<DocumentMut>();
    let mut located = Located {
        text,
        notes: Vec::new(),
    };
    // Invalid TOML is rejected, with its line, when it is parsed.
    let (Some(folder), Ok(mut document)) = (folder, document) else {
        return Ok(located);
    };
    let mut paths = Vec::new();
    collect(document.as_table_mut(), &[], &mut paths);
    let mut is_changed = false;
    for (key, value) in paths {
        let Some(path) = value.as_str().map(str::to_owned) else {
            continue;
        };
        let at = || (line_of(&located.text, &key), key.join("."), &path);
        match from(here, folder, &path) {
            Seen::AsItIs => {}
            Seen::Beside(seen) => {
                let decor = value.decor().clone();
                *value = Value::from(seen);
                *value.decor_mut() = decor;
                is_changed = true;
            }
            Seen::Here => {
                let (line, key, path) = at();
                located.notes.push(format!(
                    "{file}:{line}: {key} = \"{path}\" is relative to the current folder; paths are relative to the file \
                     they are in: change it"
                ));
            }
            Seen::Two(beside) => {
                let (line, key, path) = at();
                let message = format!(
                    "{key} = \"{path}\" is {}, relative to this file, and another {path} is in the current folder, which \
                     older versions of dbstow read; rename one of them, or give the absolute path",
                    beside.display()
                );
                return Err(SpecError::File {
                    file: file.to_owned(),
                    line,
                    message,
                });
            }
        }
    }
    if is_changed {
        located.text = document.to_string();
    }
    Ok(located)
}

/// How a path of a file resolves from the current folder.
enum Seen {
    /// The same.
    AsItIs,
    /// To this path: it is relative to the file.
    Beside(String),
    /// The same, since it only resolves from there.
    Here,
    /// It resolves from both: this is the path from the file.
    Two(PathBuf),
}

fn from(here: &Path, folder: &Path, path: &str) -> Seen {
    let (beside, there) = (folder.join(path), here.join(path));
    if path.is_empty() || beside == there {
        return Seen::AsItIs;
    }
    match (beside.exists(), there.exists()) {
        (true, true) if !is_same(&beside, &there) => Seen::Two(beside),
        (false, true) => Seen::Here,
        (true, _) | (false, false) => Seen::Beside(short(&beside).display().to_string()),
    }
}

/// Whether it is the same file or folder, or a file with the same text.
fn is_same(one: &Path, other: &Path) -> bool {
    let text = |path: &Path| input::regular(path, input::BYTES_MAX).ok();
    is_one(one, other) || text(one).is_some_and(|one| text(other) == Some(one))
}

fn is_one(one: &Path, other: &Path) -> bool {
    let real = |path: &Path| fs::canonicalize(path).ok();
    real(one).is_some_and(|one| real(other) == Some(one))
}

/// The path without `folder/..`, if that leads to the same file: after a link it may not.
fn short(path: &Path) -> PathBuf {
    let mut short = PathBuf::new();
    for part in path.components() {
        let is_below = matches!(short.components().next_back(), Some(Component::Normal(_)));
        match part {
            Component::CurDir => {}
            Component::ParentDir if is_below => {
                short.pop();
            }
            Component::ParentDir
            | Component::Normal(_)
            | Component::RootDir
            | Component::Prefix(_) => short.push(part),
        }
    }
    match is_one(&short, path) {
        true => short,
        false => path.to_owned(),
    }
}

/// The values of `table` that are paths, with their keys.
fn collect<'a>(
    table: &'a mut dyn TableLike,
    above: &[String],
    found: &mut Vec<(Vec<String>, &'a mut Value)>,
) {
    for (name, item) in table.iter_mut() {
        let key = [above, &[name.get().to_owned()]].concat();
        if item.is_table_like() {
            collect(item.as_table_like_mut().expect("it is one"), &key, found);
        } else if let Some(value) = item.as_value_mut()
            && is_path(&key)
        {
            found.push((key, value));
        }
    }
}

/// Whether a key is one of [`KEYS`], directly or in a section that sets keys of others: `quick."workload.folder"`.
fn is_path(key: &[String]) -> bool {
    let key = key.join(".");
    let before = KEYS.iter().find_map(|path| key.strip_suffix(*path));
    before.is_some_and(|before| before.is_empty() || before.ends_with('.'))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A folder `a` with an experiment, below a current folder.
    struct Place {
        here: tempfile::TempDir,
        file: String,
    }

    impl Place {
        fn new() -> Place {
            let here = tempfile::tempdir().expect("there is room");
            let file = here.path().join("a/mine.toml");
            fs::create_dir(here.path().join("a")).expect("it is new");
            fs::write(&file, "").expect("the folder is ours");
            let file = file.display().to_string();
            Place { here, file }
        }

        fn with(self, path: &str, text: &str) -> Place {
            fs::write(self.here.path().join(path), text).expect("the folder is ours");
            self
        }

        fn located(&self, text: &str) -> Result<Located, SpecError> {
            located_from(self.here.path(), &self.file, text.to_owned())
        }

        fn shown(&self, path: &str) -> String {
            self.here.path().join(path).display().to_string()
        }
    }

    const PROFILE: &str = "# mine\n[workload]\nprofile = \"shop.toml\" # recorded\n";

    #[test]
    fn a_path_is_relative_to_its_file() {
        let place = Place::new().with("a/shop.toml", "");
        let located = place.located(PROFILE).expect("there is one");
        let profile = place.shown("a/shop.toml");
        assert_eq!(
            located.text,
            format!("# mine\n[workload]\nprofile = \"{profile}\" # recorded\n")
        );
        assert!(located.notes.is_empty(), "{:?}", located.notes);
    }

    #[test]
    fn a_path_that_leads_nowhere_is_relative_to_its_file() {
        let place = Place::new();
        let located = place.located(PROFILE).expect("there is none");
        assert!(
            located.text.contains(&place.shown("a/shop.toml")),
            "{located:?}"
        );
    }

    #[test]
    fn a_file_of_older_versions_keeps_its_meaning_and_that_is_said() {
        let place = Place::new().with("shop.toml", "");
        let located = place.located(PROFILE).expect("there is one");
        assert_eq!(located.text, PROFILE);
        let [note] = located.notes.as_slice() else {
            panic!("{:?}", located.notes);
        };
        let said =
            "mine.toml:3: workload.profile = \"shop.toml\" is relative to the current folder";
        assert!(note.contains(said), "{note}");
    }

    #[test]
    fn two_files_that_differ_are_refused_and_two_alike_are_not() {
        let place = Place::new()
            .with("a/shop.toml", "one")
            .with("shop.toml", "two");
        let error = place.located(PROFILE).expect_err("which one is meant?");
        let error = error.to_string();
        assert!(error.contains("mine.toml:3: workload.profile"), "{error}");
        assert!(error.contains("rename one of them"), "{error}");

        let place = place.with("shop.toml", "one");
        place.located(PROFILE).expect("it is the same load");
    }

    #[test]
    fn every_section_that_sets_keys_is_looked_at() {
        let text = "\
            quick = { \"workload.folder\" = \"w\" }\n\
            [real-time]\n\
            \"workload.profile\" = 'w'\n\
            [arm.x]\n\
            set.\"workload.folder\" = \"w\"\n\
            [arm.y.set]\n\
            \"workload.folder\" = \"/w\"\n\
            \"workload.parameters.folder\" = \"w\"\n";
        let place = Place::new();
        let located = place.located(text).expect("there is none");
        let path = place.shown("a/w");
        let text = text.replace("'w'", "\"w\"");
        let wanted = text.replace("= \"w\"", &format!("= \"{path}\""));
        let parameter = format!("parameters.folder\" = \"{path}\"");
        assert_eq!(
            located.text,
            wanted.replace(&parameter, "parameters.folder\" = \"w\"")
        );
    }

    #[test]
    fn a_way_through_the_parent_folder_is_shortened() {
        let place = Place::new().with("shop.toml", "");
        let text = "workload.profile = \"../shop.toml\"\n";
        let located = place.located(text).expect("there is one");
        let path = place.shown("shop.toml");
        assert_eq!(located.text, format!("workload.profile = \"{path}\"\n"));
    }
}
