//! A directory of dbstow's own inside one that a user gave.

use std::fs::{self, File, TryLockError};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// Marks a directory as dbstow's own. Locked while a run uses it, so that the mark of a killed run is
/// known as such.
pub(super) const MARK: &str = ".dbstow-volumes";

/// `DIR/dbstow-<plan>`: all of a run's volumes in `DIR`.
#[derive(Debug)]
pub(super) struct Ground {
    root: PathBuf,
    _mark: File,
    keep: bool,
}

/// Why a directory cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum GroundError {
    /// What the user gave is no directory.
    #[error("{0} is no directory; make it, or give another one")]
    NoDirectory(PathBuf),
    /// Somebody else's files are where ours would be.
    #[error("{0} is not empty and was not made by dbstow; move it away, or give another directory")]
    NotOurs(PathBuf),
    /// Another run is at work there.
    #[error(
        "another run of this plan uses {0} at this moment; wait for its end, or give another directory"
    )]
    InUse(PathBuf),
    /// The system refused something.
    #[error("{path}: {source}")]
    Io {
        /// Which file or directory.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
}

impl Ground {
    /// Makes `parent/dbstow-<plan>`, or takes over what a killed run of the same plan left there. With
    /// `keep`, it is there in the end too.
    pub(super) fn claim(parent: &Path, plan: &str, keep: bool) -> Result<Ground, GroundError> {
        if !parent.is_dir() {
            return Err(GroundError::NoDirectory(parent.to_owned()));
        }
        let root = Ground::path(parent, plan);
        let mark = root.join(MARK);
        if !mark.exists() {
            let at = at(&root);
            fs::create_dir_all(&root).map_err(&at)?;
            if fs::read_dir(&root).map_err(&at)?.next().is_some() {
                return Err(GroundError::NotOurs(root));
            }
        }
        let mut file = File::options()
            .create(true)
            .truncate(false)
            .write(true)
            .open(&mark)
            .map_err(at(&mark))?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => return Err(GroundError::InUse(root)),
            Err(TryLockError::Error(source)) => return Err(at(&mark)(source)),
        }
        let text = format!("Volumes of a run of dbstow, plan {plan}; removed at its end.\n");
        file.write_all(text.as_bytes()).map_err(at(&mark))?;
        let ground = Ground {
            root,
            _mark: file,
            keep,
        };
        ground.empty()?;
        Ok(ground)
    }

    /// Where it is.
    pub(super) fn path(parent: &Path, plan: &str) -> PathBuf {
        parent.join(format!("dbstow-{plan}"))
    }

    /// A new, empty directory in it.
    pub(super) fn make(&self, name: &Path) -> Result<PathBuf, GroundError> {
        let directory = self.root.join(name);
        fs::create_dir_all(&directory).map_err(at(&directory))?;
        Ok(directory)
    }

    /// Takes a directory that [`Ground::make`] made away, with all that is in it.
    pub(super) fn remove(&self, name: &Path) -> Result<(), GroundError> {
        let directory = self.root.join(name);
        if self.keep || !directory.exists() {
            return Ok(());
        }
        fs::remove_dir_all(&directory).map_err(at(&directory))
    }

    /// Takes away everything but the mark.
    fn empty(&self) -> Result<(), GroundError> {
        for entry in fs::read_dir(&self.root).map_err(at(&self.root))? {
            let path = entry.map_err(at(&self.root))?.path();
            if path.is_dir() && !path.is_symlink() {
                fs::remove_dir_all(&path).map_err(at(&path))?;
            } else if !path.ends_with(MARK) {
                fs::remove_file(&path).map_err(at(&path))?;
            }
        }
        Ok(())
    }

    /// Takes it away, unless it is to be kept.
    pub(super) fn close(self) -> Result<(), GroundError> {
        if self.keep {
            return Ok(());
        }
        fs::remove_dir_all(&self.root).map_err(at(&self.root))
    }
}

fn at(path: &Path) -> impl Fn(io::Error) -> GroundError + use<> {
    let path = path.to_owned();
    move |source| GroundError::Io {
        path: path.clone(),
        source,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_made_and_taken_away() {
        let parent = tempfile::tempdir().expect("a temporary folder");
        let ground = Ground::claim(parent.path(), "abc", false).expect("an empty folder");
        let made = ground.make(Path::new("0-one/d")).expect("a new name");
        assert!(made.starts_with(parent.path().join("dbstow-abc")));
        fs::write(made.join("file"), "x").expect("it is there");
        ground.remove(Path::new("0-one")).expect("it was made");
        assert!(!made.exists());
        ground.close().expect("it is ours");
        assert_eq!(fs::read_dir(parent.path()).expect("it is there").count(), 0);
    }

    #[test]
    fn somebody_elses_files_are_refused_and_left() {
        let parent = tempfile::tempdir().expect("a temporary folder");
        let theirs = parent.path().join("dbstow-abc/notes.txt");
        fs::create_dir(theirs.parent().expect("it has one")).expect("the folder is ours");
        fs::write(&theirs, "mine").expect("the folder is ours");
        let error = Ground::claim(parent.path(), "abc", false).expect_err("not ours");
        assert!(matches!(error, GroundError::NotOurs(_)), "{error}");
        assert_eq!(fs::read_to_string(theirs).expect("it is left"), "mine");
    }

    #[test]
    fn what_a_killed_run_left_is_taken_over_and_a_running_one_is_not() {
        let parent = tempfile::tempdir().expect("a temporary folder");
        let claim = || Ground::claim(parent.path(), "abc", false);
        let killed = claim().expect("an empty folder");
        let left = killed
            .make(Path::new("d"))
            .expect("a new name")
            .join("file");
        fs::write(&left, "x").expect("it is there");
        let error = claim().expect_err("the first still holds it");
        assert!(matches!(error, GroundError::InUse(_)), "{error}");
        drop(killed); // without `close`: as if killed
        let next = claim().expect("nobody holds it");
        assert!(!left.exists());
        next.close().expect("it is ours");
    }

    #[test]
    fn what_is_to_be_kept_is_kept_until_the_next_run() {
        let parent = tempfile::tempdir().expect("a temporary folder");
        let claim = |keep| Ground::claim(parent.path(), "abc", keep).expect("ours");
        let ground = claim(true);
        let made = ground.make(Path::new("d")).expect("a new name");
        ground.remove(Path::new("d")).expect("nothing to do");
        ground.close().expect("nothing to do");
        assert!(made.exists());
        claim(false).close().expect("it is ours");
        assert!(!made.exists());
    }
}
