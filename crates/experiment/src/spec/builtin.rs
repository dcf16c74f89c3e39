//! The experiments and drills embedded in the program.

use include_dir::{Dir, include_dir};

use super::error::{SpecError, remedy};

static FOLDER: Dir<'_> = include_dir!("$CARGO_MANIFEST_DIR/experiments");

static DRILLS: Dir<'_> = include_dir!("$CARGO_MANIFEST_DIR/drills");

/// Names of the built-in experiments, sorted.
pub fn builtin_names() -> Vec<&'static str> {
    names_in(&FOLDER)
}

/// Names of the built-in drills, sorted.
pub fn drill_names() -> Vec<&'static str> {
    names_in(&DRILLS)
}

/// The text of the drill `name`, as in its file; `None` if it does not exist.
pub fn drill_text(name: &str) -> Option<&'static str> {
    DRILLS.get_file(format!("{name}.toml"))?.contents_utf8()
}

fn names_in(folder: &'static Dir<'static>) -> Vec<&'static str> {
    let mut names: Vec<&str> = folder
        .files()
        .filter_map(|file| file.path().file_name()?.to_str()?.strip_suffix(".toml"))
        .collect();
    names.sort_unstable();
    names
}

/// The text of the experiment `name`, as in its file.
///
/// # Errors
/// When it does not exist, with the nearest name.
pub fn builtin_text(name: &str) -> Result<&'static str, SpecError> {
    FOLDER
        .get_file(format!("{name}.toml"))
        .and_then(|file| file.contents_utf8())
        .ok_or_else(|| SpecError::Unknown {
            name: name.to_owned(),
            remedy: remedy(name, "built in", builtin_names()),
        })
}
