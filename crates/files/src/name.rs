//! A name of one directory entry.

use std::ffi::OsStr;
use std::path::{Component, Path};

use super::FileError;

/// A name of one directory entry: not empty, neither `.` nor `..`, without separator and prefix. Joined to a directory,
/// it stays in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PlainName<'a>(&'a OsStr);

impl<'a> PlainName<'a> {
    /// `name`, if it is plain.
    ///
    /// # Errors
    /// When it would lead elsewhere.
    pub fn new<N: AsRef<OsStr> + ?Sized>(name: &'a N) -> Result<PlainName<'a>, FileError> {
        let name = name.as_ref();
        let mut parts = Path::new(name).components();
        match (parts.next(), parts.next()) {
            // A component has no trailing separator.
            (Some(Component::Normal(part)), None) if part == name => Ok(PlainName(name)),
            (_, _) => Err(FileError::NotPlain(name.into())),
        }
    }

    /// The name.
    pub fn as_os_str(self) -> &'a OsStr {
        self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_one_component_and_nothing_else() {
        for plain in ["d", "..d", ".dbstow-volumes", "a b", "-", "..."] {
            assert_eq!(PlainName::new(plain).unwrap().as_os_str(), plain);
        }
        for other in [
            "", ".", "..", "/", "d/", "/d", "d/e", "d/..", "../d", "./d", "d/.",
        ] {
            let error = PlainName::new(other).unwrap_err().to_string();
            assert!(error.starts_with(&format!("\"{other}\" is not")), "{error}");
        }
    }
}
