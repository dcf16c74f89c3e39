//! The folder of advice: page, document, and an experiment with the finalists.

use std::ffi::OsStr;
use std::fs;
use std::path::{Component, Path, PathBuf};

use analysis::report::advice::document::Advice;
use anyhow::{Context, Result};
use files::{Folder, Readers};

use super::args::Args;
use super::{UsageError, advised};

/// The experiment of the finalists.
pub(super) const FINALISTS: &str = "finalists.toml";

/// A name that no file has, to see whether one could be made.
const PROBE: &str = ".dbstow-advice-probe";

/// Files of the folder: the page, the document, the experiment of the finalists.
const FILES: [&str; 3] = [advised::PAGE, advised::DOCUMENT, FINALISTS];

/// The location of the folder.
pub(super) fn name(args: &Args) -> PathBuf {
    match &args.out {
        Some(out) => out.clone(),
        None => {
            let stem = args.profile.file_stem().unwrap_or(OsStr::new("profile"));
            let mut name = stem.to_owned();
            name.push("-advice");
            PathBuf::from(name)
        }
    }
}

/// Refuses a folder that already contains an answer, whose finalists may have been edited by hand, and one that cannot be written:
/// before anything is searched for it.
///
/// # Errors
/// When it has one, unless `--force` allows replacing it, or cannot be written.
pub(super) fn check_free(args: &Args) -> Result<()> {
    let folder = name(args);
    let there = folder.ancestors().find(|folder| folder.exists());
    let there = there.unwrap_or(Path::new("."));
    files::check_new(&there.join(PROBE)).context("--out")?;
    let there = FILES.iter().find(|name| folder.join(name).exists());
    match there.filter(|_| !args.force) {
        None => Ok(()),
        Some(name) => Err(UsageError(format!(
            "{} is there already; give another folder with --out, or --force to replace it",
            folder.join(name).display()
        ))
        .into()),
    }
}

/// The folder, created if missing.
///
/// # Errors
/// When it is not writable, or does not belong to this user.
pub(super) fn made(args: &Args) -> Result<Folder> {
    Ok(Folder::to_fill(&name(args), Readers::Umask)?)
}

/// Writes the experiment of the finalists alone.
///
/// # Errors
/// When it cannot be written.
pub(super) fn write_finalists(folder: &Folder, text: &str) -> Result<()> {
    Ok(folder.write(FINALISTS.as_ref(), text.as_bytes(), Readers::Umask)?)
}

/// Writes the page, the document and the experiment of the finalists.
///
/// # Errors
/// When they cannot be written.
pub(super) fn write(folder: &Folder, advice: &Advice, finalists: &str, page: &str) -> Result<()> {
    let json = advice.json();
    for (name, text) in FILES.into_iter().zip([page, json.as_str(), finalists]) {
        folder.write(name.as_ref(), text.as_bytes(), Readers::Umask)?;
    }
    Ok(())
}

/// `file` relative to `folder`, so that both can be used from any directory, and moved together. An absolute path given
/// by the user stays absolute.
pub(super) fn seen_from(folder: &Path, file: &Path) -> String {
    let relative = match file.is_absolute() {
        true => None,
        false => relative(folder, file),
    };
    relative
        .unwrap_or_else(|| file.to_owned())
        .display()
        .to_string()
}

/// `file` relative to `folder`; `None` where there is no such path, or one of them cannot be resolved. Links are
/// followed: `..` of a link's target is not `..` of the link.
fn relative(folder: &Path, file: &Path) -> Option<PathBuf> {
    let parent = match file.parent()? {
        parent if parent.as_os_str().is_empty() => Path::new("."),
        parent => parent,
    };
    let from = fs::canonicalize(folder).ok()?;
    let to = fs::canonicalize(parent).ok()?.join(file.file_name()?);
    let (from, to): (Vec<_>, Vec<_>) = (from.components().collect(), to.components().collect());
    let common = from.iter().zip(&to).take_while(|(one, other)| one == other);
    let common = common.count();
    // Without a common root there is no path from one to the other: two drives.
    (common > 0).then(|| {
        let up = from[common..].iter().map(|_| Component::ParentDir);
        up.chain(to[common..].iter().copied()).collect()
    })
}
