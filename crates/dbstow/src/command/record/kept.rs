//! The file of a recording: rewritten repeatedly while it runs, and written elsewhere once that fails.
//!
//! A recording cannot be repeated, so a folder that vanishes, a full disk, or another program's file under its name must
//! not end it.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard};

use anyhow::Result;
use files::{FileError, Folder, Readers};
use profile::Profile;

/// The location of a recording.
pub(super) struct Kept {
    place: Mutex<Place>,
    /// Fallback folders, tried in turn once the file cannot be written.
    elsewhere: Vec<PathBuf>,
}

struct Place {
    file: PathBuf,
    /// Whether the existing file is this recording's.
    is_written: bool,
    /// Why it is not the requested file, if it is not.
    moved: Option<String>,
}

/// The outcome of writing a recording.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Written {
    /// It is still at the same path.
    There,
    /// From now on it is in another file, for this reason.
    Elsewhere(String),
}

impl Kept {
    /// In `file`; otherwise next to it under another name, in the current folder, the user's, or the temporary one.
    pub(super) fn new(file: &Path) -> Kept {
        let parent = file.parent().filter(|path| !path.as_os_str().is_empty());
        let parent = parent.map(Path::to_owned);
        let home = ["HOME", "USERPROFILE"]
            .into_iter()
            .find_map(std::env::var_os);
        let current = PathBuf::from(".");
        let places = [
            parent,
            Some(current),
            home.map(PathBuf::from),
            Some(std::env::temp_dir()),
        ];
        Kept::or_in(file, places.into_iter().flatten().collect())
    }

    fn or_in(file: &Path, elsewhere: Vec<PathBuf>) -> Kept {
        let place = Place {
            file: file.to_owned(),
            is_written: false,
            moved: None,
        };
        Kept {
            place: Mutex::new(place),
            elsewhere,
        }
    }

    /// Its current path.
    pub(super) fn file(&self) -> PathBuf {
        self.place().file.clone()
    }

    /// Whether some of it was written.
    pub(super) fn is_written(&self) -> bool {
        self.place().is_written
    }

    /// Why it is not in the requested file, if it is not.
    pub(super) fn moved(&self) -> Option<String> {
        self.place().moved.clone()
    }

    /// Writes the recording so far, replacing what was written of it before.
    ///
    /// # Errors
    /// When it cannot be written anywhere: the error for its current path.
    pub(super) fn write(&self, profile: &Profile) -> Result<Written> {
        let mut place = self.place();
        let text = profile::write(&place.file.display().to_string(), profile)?;
        let Err(error) = written(&place, text.as_bytes()) else {
            place.is_written = true;
            return Ok(Written::There);
        };
        let name = other_name(&place.file);
        let saved = self.elsewhere.iter().find(|folder| {
            let folder = Folder::that_keeps(folder);
            let written = folder.and_then(|folder| {
                folder.write_new(name.as_ref(), text.as_bytes(), Readers::OwnerOnly)
            });
            written.is_ok()
        });
        let Some(folder) = saved else {
            return Err(error.into());
        };
        let why = error.to_string();
        *place = Place {
            file: folder.join(name),
            is_written: true,
            moved: Some(place.moved.take().unwrap_or_else(|| why.clone())),
        };
        Ok(Written::Elsewhere(why))
    }

    fn place(&self) -> MutexGuard<'_, Place> {
        self.place.lock().expect("no thread panics with it")
    }
}

fn written(place: &Place, bytes: &[u8]) -> Result<(), FileError> {
    match (files::is_stream(&place.file), place.is_written) {
        (true, _) => files::write_named(&place.file, bytes),
        // Others keep their read permission.
        (false, true) if place.moved.is_some() => {
            files::write_whole(&place.file, bytes, Readers::OwnerOnly)
        }
        (false, true) => files::write_whole(&place.file, bytes, Readers::Umask),
        (false, false) => files::write_new(&place.file, bytes, Readers::Umask),
    }
}

/// An unused name similar to that of the file.
fn other_name(file: &Path) -> String {
    let stem = file.file_stem().unwrap_or(OsStr::new("profile"));
    files::unique_name(&format!("{}-", stem.to_string_lossy())) + ".toml"
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    const SHOP: &str = include_str!("../../../../../examples/shop.toml");

    fn shop() -> Profile {
        profile::read("shop.toml", SHOP).expect("it is an example")
    }

    fn read(file: &Path) -> Profile {
        let text = fs::read_to_string(file).expect("it is written");
        profile::read("shop.toml", &text).expect("whole")
    }

    #[test]
    fn a_recording_whose_folder_vanishes_is_kept_elsewhere() {
        let place = tempfile::tempdir().expect("there is room");
        let (asked, other) = (place.path().join("asked"), place.path().join("other"));
        fs::create_dir(&asked).expect("it is new");
        fs::create_dir(&other).expect("it is new");
        let file = asked.join("shop.toml");
        let kept = Kept::or_in(&file, vec![asked.clone(), other.clone()]);
        assert_eq!(kept.write(&shop()).expect("it is there"), Written::There);
        assert_eq!(read(&file), shop());

        fs::remove_dir_all(&asked).expect("it is ours");
        let Written::Elsewhere(why) = kept.write(&shop()).expect("the other is there") else {
            panic!("its folder is gone");
        };
        assert!(why.contains("asked/shop.toml"), "{why}");
        assert_eq!(kept.file().parent(), Some(other.as_path()));
        assert_eq!(read(&kept.file()), shop());
        // It stays there.
        assert_eq!(kept.write(&shop()).expect("as before"), Written::There);
        assert_eq!(fs::read_dir(&other).expect("it is ours").count(), 1);
        assert_eq!(kept.moved(), Some(why));
    }

    #[test]
    fn a_name_that_somebody_took_meanwhile_is_theirs_and_the_recording_is_beside_it() {
        let place = tempfile::tempdir().expect("there is room");
        let file = place.path().join("shop.toml");
        let kept = Kept::or_in(&file, vec![place.path().to_owned()]);
        fs::write(&file, "theirs").expect("the folder is ours");
        let written = kept.write(&shop()).expect("there is another name");
        assert!(matches!(written, Written::Elsewhere(_)), "{written:?}");
        assert_eq!(fs::read_to_string(&file).expect("it stays"), "theirs");
        let name = kept.file();
        let name = name.file_name().expect("a file").to_string_lossy();
        assert!(
            name.starts_with("shop-") && name.ends_with(".toml"),
            "{name}"
        );
        assert_eq!(read(&kept.file()), shop());
    }

    #[test]
    fn a_recording_that_can_be_kept_nowhere_is_an_error_with_the_file_that_was_asked_for() {
        let kept = Kept::or_in(Path::new("/nowhere/shop.toml"), vec!["/nowhere".into()]);
        let error = kept.write(&shop()).expect_err("nothing is there");
        assert!(error.to_string().contains("/nowhere/shop.toml"), "{error}");
        assert!(!kept.is_written());
    }
}
