//! The page in a browser.

use std::path::Path;

#[cfg(feature = "open")]
use anyhow::Context;
use anyhow::Result;

#[cfg(not(feature = "open"))]
use crate::command::UsageError;

/// Opens a page in the browser.
///
/// # Errors
/// When there is no browser, or this build cannot start one.
#[cfg(feature = "open")]
pub(in crate::command) fn open(page: &Path) -> Result<()> {
    open::that(page).with_context(|| format!("{}: no browser would show it", page.display()))
}

/// The same in a build that cannot start a browser.
#[cfg(not(feature = "open"))]
pub(in crate::command) fn open(page: &Path) -> Result<()> {
    let page = page.display();
    let message = format!(
        "--open: this dbstow was built without it (cargo feature `open`); open {page} yourself"
    );
    Err(UsageError(message).into())
}
