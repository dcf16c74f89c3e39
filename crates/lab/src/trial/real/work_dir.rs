//! dbstow's own directory inside one given by the user.
//!
//! Its name is predictable, so that a run finds what a killed one left. In a directory that others can
//! write to, such as `/tmp`, another user may have created something there: it is used only if it is owned
//! by this user, and no link is followed on the way.

use std::ffi::OsStr;
use std::fs::{self, File, TryLockError};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use files::{FileError, Folder, PlainName};

use engine::Users;

/// Marks a directory as dbstow's own. Locked while a run uses it, so that the mark of a killed run is
/// recognised.
pub(super) const MARK: &str = ".dbstow-volumes";

/// Who has access to a directory besides this user and root.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Open {
    /// No other user.
    ToNobody,
    /// A server that runs as another user can traverse it, as can every user who knows the names in it; no other user
    /// can list it.
    ToPass,
}

impl Open {
    /// For `users` of its content.
    pub(super) fn to(users: Users) -> Open {
        match users {
            Users::Own => Open::ToNobody,
            Users::Server => Open::ToPass,
        }
    }

    fn mode(self) -> u32 {
        match self {
            Open::ToNobody => 0o700,
            Open::ToPass => 0o711,
        }
    }
}

/// `DIR/dbstow-<plan>`: all of a run's volumes in `DIR`.
#[derive(Debug)]
pub(super) struct WorkDir {
    root: PathBuf,
    folder: Folder,
    open: Open,
    _mark: File,
    keep: bool,
}

/// Why a directory cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum WorkDirError {
    /// The path given by the user is not a directory.
    #[error("{0} is not a directory; make it, or give another one")]
    NoDirectory(PathBuf),
    /// Other files are where ours would be.
    #[error("{0} is not empty and was not made by dbstow; move it away, or give another directory")]
    NotOurs(PathBuf),
    /// Another run is using it.
    #[error(
        "another run of this plan uses {0} at this moment; wait for its end, or give another directory"
    )]
    InUse(PathBuf),
    /// A directory or mark of another user is where ours would be.
    #[error(transparent)]
    File(#[from] FileError),
    /// A system call failed.
    #[error("{path}: {source}")]
    Io {
        /// The file or directory.
        path: PathBuf,
        /// The cause.
        source: io::Error,
    },
}

impl WorkDir {
    /// Creates `parent/dbstow-<plan>`, with access as in `open`, or takes over what a killed run of the same plan left
    /// there. With `keep`, it stays at the end.
    pub(super) fn claim(
        parent: &Path,
        plan: &str,
        open: Open,
        keep: bool,
    ) -> Result<WorkDir, WorkDirError> {
        if !parent.is_dir() {
            return Err(WorkDirError::NoDirectory(parent.to_owned()));
        }
        let parent = Folder::open(parent)?;
        parent.check_parent()?;
        let name = WorkDir::name(plan);
        let root = parent.path().join(&name);
        let folder = match parent.own_folder(name.as_ref(), open.mode()) {
            // Its owner is more informative than its mode.
            Err(FileError::OtherMode { .. }) if is_foreign(&parent.inner(name.as_ref())?)? => {
                return Err(WorkDirError::NotOurs(root));
            }
            folder => folder?,
        };
        if is_foreign(&folder)? {
            return Err(WorkDirError::NotOurs(root));
        }
        let mark = root.join(MARK);
        let mut file = folder.own_file(MARK.as_ref())?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => return Err(WorkDirError::InUse(root)),
            Err(TryLockError::Error(source)) => return Err(at(&mark)(source)),
        }
        let text = format!("Volumes of a run of dbstow, plan {plan}; removed at its end.\n");
        file.set_len(0).map_err(at(&mark))?;
        file.write_all(text.as_bytes()).map_err(at(&mark))?;
        let work_dir = WorkDir {
            root,
            folder,
            open,
            _mark: file,
            keep,
        };
        work_dir.empty()?;
        Ok(work_dir)
    }

    /// Its path.
    pub(super) fn path(parent: &Path, plan: &str) -> PathBuf {
        parent.join(WorkDir::name(plan))
    }

    fn name(plan: &str) -> String {
        format!("dbstow-{plan}")
    }

    /// A new, empty directory for a volume of `trial`; `part` specifies its purpose and access.
    pub(super) fn make(
        &self,
        trial: PlainName<'_>,
        (part, open): (&str, Open),
        volume: PlainName<'_>,
    ) -> Result<PathBuf, WorkDirError> {
        let trial = self
            .folder
            .own_folder(trial.as_os_str(), self.open.mode())?;
        let part = trial.own_folder(part.as_ref(), open.mode())?;
        let made = part.own_folder(volume.as_os_str(), self.open.mode())?;
        Ok(made.path().to_owned())
    }

    /// Gives access to the users that the whole directory is open to.
    #[cfg(any(all(target_os = "linux", feature = "emulator"), all(test, unix)))]
    pub(super) fn let_in(&self, trial: PlainName<'_>, part: &str) -> Result<(), WorkDirError> {
        let part = self.folder.inner(trial.as_os_str())?.inner(part.as_ref())?;
        Ok(part.change_mode(self.open.mode())?)
    }

    /// Removes a directory that [`WorkDir::make`] created, with its content.
    pub(super) fn remove(&self, name: PlainName<'_>) -> Result<(), WorkDirError> {
        let name = name.as_os_str();
        if self.keep || !self.folder.holds(name) {
            return Ok(());
        }
        unmount_within(&self.root.join(name))?;
        self.remove_tree(name)
    }

    /// Removes everything but the mark.
    fn empty(&self) -> Result<(), WorkDirError> {
        unmount_within(&self.root)?;
        let names = self.folder.names()?;
        let mut others = names.iter().filter(|name| *name != OsStr::new(MARK));
        others.try_for_each(|name| self.remove_tree(name))
    }

    /// Removes whatever has that name; links are removed, not followed.
    fn remove_tree(&self, name: &OsStr) -> Result<(), WorkDirError> {
        let path = self.root.join(name);
        let metadata = fs::symlink_metadata(&path).map_err(at(&path))?;
        match metadata.is_dir() {
            true => fs::remove_dir_all(&path).map_err(at(&path)),
            false => Ok(self.folder.remove_file(name)?),
        }
    }

    /// Removes it, unless it is to be kept. The mark goes last: what cannot be removed is recognised as
    /// ours by the next run of the plan.
    pub(super) fn close(self) -> Result<(), WorkDirError> {
        if self.keep {
            return Ok(());
        }
        self.empty()?;
        self.folder.remove_file(MARK.as_ref())?;
        fs::remove_dir(&self.root).map_err(at(&self.root))
    }
}

/// Whether it is not empty and has no mark of ours.
fn is_foreign(folder: &Folder) -> Result<bool, FileError> {
    Ok(!folder.holds(MARK.as_ref()) && !folder.names()?.is_empty())
}

/// Unmounts what emulators that no longer run left below `directory`: removing what is mounted there
/// would fail, or delete a user's files.
#[cfg(target_os = "linux")]
fn unmount_within(directory: &Path) -> Result<(), WorkDirError> {
    host::mounts::unmount_within(directory).map_err(at(directory))
}

#[cfg(not(target_os = "linux"))]
fn unmount_within(_directory: &Path) -> Result<(), WorkDirError> {
    Ok(())
}

fn at(path: &Path) -> impl Fn(io::Error) -> WorkDirError + use<> {
    let path = path.to_owned();
    move |source| WorkDirError::Io {
        path: path.clone(),
        source,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plain(name: &str) -> PlainName<'_> {
        PlainName::new(name).expect("it is plain")
    }

    fn make(work_dir: &WorkDir, trial: &str) -> Result<PathBuf, WorkDirError> {
        work_dir.make(plain(trial), ("bytes", Open::ToPass), plain("d"))
    }

    /// A directory with the mode of dbstow's own.
    fn make_like_ours(path: &Path) {
        fs::create_dir(path).expect("the name is free");
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt as _;
            let mode = fs::Permissions::from_mode(Open::ToPass.mode());
            fs::set_permissions(path, mode).expect("it is ours");
        }
    }

    #[cfg(unix)]
    #[test]
    fn others_pass_through_it_only_where_a_server_has_to_and_only_once_they_may() {
        use std::os::unix::fs::PermissionsExt as _;

        let mode = |path: &Path| {
            let metadata = fs::metadata(path).expect("it is there");
            metadata.permissions().mode() & 0o7777
        };
        for (open, wanted) in [(Open::ToNobody, 0o700), (Open::ToPass, 0o711)] {
            let parent = tempfile::tempdir().expect("a temporary folder");
            let work_dir = WorkDir::claim(parent.path(), "abc", open, false).expect("ours");
            let trial = plain("0-one");
            let make = |part| work_dir.make(trial, part, plain("d")).expect("a new name");
            let (bytes, mounts) = (make(("bytes", open)), make(("volumes", Open::ToNobody)));
            let root = parent.path().join("dbstow-abc");
            assert_eq!(mode(&root), wanted);
            assert_eq!(mode(&root.join(MARK)), 0o600);
            assert_eq!(mode(&root.join("0-one")), wanted);
            assert_eq!(mode(&root.join("0-one/bytes")), wanted);
            assert_eq!(mode(&root.join("0-one/volumes")), 0o700);
            assert_eq!((mode(&bytes), mode(&mounts)), (wanted, wanted));
            work_dir.let_in(trial, "volumes").expect("it is ours");
            assert_eq!(mode(&root.join("0-one/volumes")), wanted);
            work_dir.close().expect("it is ours");
        }
    }

    #[test]
    fn it_is_made_and_taken_away() {
        let parent = tempfile::tempdir().expect("a temporary folder");
        let work_dir =
            WorkDir::claim(parent.path(), "abc", Open::ToPass, false).expect("an empty folder");
        let made = make(&work_dir, "0-one").expect("a new name");
        assert!(made.starts_with(parent.path().join("dbstow-abc")));
        fs::write(made.join("file"), "x").expect("it is there");
        work_dir.remove(plain("0-one")).expect("it was made");
        assert!(!made.exists());
        work_dir.close().expect("it is ours");
        assert_eq!(fs::read_dir(parent.path()).expect("it is there").count(), 0);
    }

    #[test]
    fn somebody_elses_files_are_refused_and_left() {
        let parent = tempfile::tempdir().expect("a temporary folder");
        let theirs = parent.path().join("dbstow-abc/notes.txt");
        make_like_ours(theirs.parent().expect("it has one"));
        fs::write(&theirs, "mine").expect("the folder is ours");
        let error =
            WorkDir::claim(parent.path(), "abc", Open::ToPass, false).expect_err("not ours");
        assert!(matches!(error, WorkDirError::NotOurs(_)), "{error}");
        assert_eq!(fs::read_to_string(theirs).expect("it is left"), "mine");
    }

    #[test]
    fn what_a_killed_run_left_is_taken_over_and_a_running_one_is_not() {
        let parent = tempfile::tempdir().expect("a temporary folder");
        let claim = || WorkDir::claim(parent.path(), "abc", Open::ToPass, false);
        let killed = claim().expect("an empty folder");
        let left = make(&killed, "0-one").expect("a new name").join("file");
        fs::write(&left, "x").expect("it is there");
        let error = claim().expect_err("the first still holds it");
        assert!(matches!(error, WorkDirError::InUse(_)), "{error}");
        drop(killed); // without `close`: as if killed
        let next = claim().expect("nobody holds it");
        assert!(!left.exists());
        next.close().expect("it is ours");
    }

    #[cfg(unix)]
    #[test]
    fn what_is_under_its_name_and_not_ours_is_refused_and_left() {
        use std::os::unix::fs::{PermissionsExt as _, symlink};

        let parent = tempfile::tempdir().expect("a temporary folder");
        let (root, target) = (parent.path().join("dbstow-abc"), parent.path().join("t"));
        let refused = |part: &str| {
            let error =
                WorkDir::claim(parent.path(), "abc", Open::ToPass, false).expect_err("not ours");
            let said = error.to_string();
            assert!(
                said.contains(part) && said.contains("choose another"),
                "{said}"
            );
            assert_eq!(fs::read_to_string(&target).expect("it is left"), "theirs");
        };
        fs::write(&target, "theirs").expect("the folder is ours");
        fs::create_dir(parent.path().join("d")).expect("the folder is ours");

        symlink(parent.path().join("d"), &root).expect("the name is free");
        refused("symbolic link");
        fs::remove_file(&root).expect("it is a link");

        make_like_ours(&root);
        symlink(&target, root.join(MARK)).expect("it is empty");
        refused("symbolic link");
        fs::remove_file(root.join(MARK)).expect("it is a link");
        fs::hard_link(&target, root.join(MARK)).expect("it is empty");
        refused("hard link");
        fs::remove_file(root.join(MARK)).expect("it is a link");

        fs::set_permissions(&root, fs::Permissions::from_mode(0o777)).expect("it is ours");
        refused("written by others");
    }

    #[cfg(unix)]
    #[test]
    fn links_in_it_are_removed_and_not_followed_and_the_mark_goes_last() {
        use std::os::unix::fs::symlink;

        let parent = tempfile::tempdir().expect("a temporary folder");
        let elsewhere = parent.path().join("elsewhere");
        fs::create_dir(&elsewhere).expect("the folder is ours");
        fs::write(elsewhere.join("file"), "theirs").expect("the folder is ours");
        let work_dir =
            WorkDir::claim(parent.path(), "abc", Open::ToPass, false).expect("an empty folder");
        symlink(&elsewhere, work_dir.root.join("000-one")).expect("a new name");
        make(&work_dir, "000-one").expect_err("it is a link");
        work_dir.close().expect("it is ours");
        assert!(elsewhere.join("file").exists());
        assert!(!parent.path().join("dbstow-abc").exists());
    }

    #[test]
    fn what_is_to_be_kept_is_kept_until_the_next_run() {
        let parent = tempfile::tempdir().expect("a temporary folder");
        let claim = |keep| WorkDir::claim(parent.path(), "abc", Open::ToPass, keep).expect("ours");
        let work_dir = claim(true);
        let made = make(&work_dir, "0-one").expect("a new name");
        work_dir.remove(plain("0-one")).expect("nothing to do");
        work_dir.close().expect("nothing to do");
        assert!(made.exists());
        claim(false).close().expect("it is ours");
        assert!(!made.exists());
    }
}
