//! Names of files that are being written.

use std::ffi::OsStr;
use std::hash::{BuildHasher, Hasher, RandomState};

/// Prefix of a file that is being written, so that the files of a killed process are recognised.
const PREFIX: &str = ".dbstow-";

/// Its suffix.
const SUFFIX: &str = ".part";

/// `prefix` and an unpredictable number.
pub fn unique_name(prefix: &str) -> String {
    // The keys of a hash map's hasher are std's only source of random numbers.
    format!(
        "{prefix}{:016x}",
        RandomState::new().build_hasher().finish()
    )
}

/// Whether the name is that of a file whose writer was killed.
pub fn is_unfinished(name: &OsStr) -> bool {
    let name = name.to_string_lossy();
    let number = name
        .strip_prefix(PREFIX)
        .and_then(|rest| rest.strip_suffix(SUFFIX));
    number.is_some_and(|number| {
        number.len() == 16 && number.bytes().all(|byte| byte.is_ascii_hexdigit())
    })
}

pub(crate) fn unfinished_name() -> String {
    unique_name(PREFIX) + SUFFIX
}
