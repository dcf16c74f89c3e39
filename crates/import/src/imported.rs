//! What an import gives.

use super::format::Format;
use profile::Profile;

/// An imported profile.
#[derive(Clone, Debug, PartialEq)]
pub struct Imported {
    /// The tool that wrote the files.
    pub format: Format,
    /// The profile.
    pub profile: Profile,
    /// What was left out, by name, and options without effect; for the user, not for the profile.
    pub notes: Vec<String>,
}
